"""Work that a run waits for, and no longer once it is cancelled: Spark ends a job when it gets to it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from metl_gui.errors import RunCancelled

_Result = TypeVar("_Result")

_LOOK_SECONDS = 0.05
_HANGING_SECONDS = 10.0
"""How long Spark may take to hear that a job is to end, before it is taken to hang."""


def unless_cancelled(
    work: Callable[[], _Result], is_cancelled: threading.Event, end: Callable[[threading.Event], None]
) -> _Result:
    """Do work on a thread of its own and return what it returns, or leave it to its end when the run is cancelled.

    What tasks send to topics meanwhile is sent; what they write into folders is gone with the folders.

    Args:
        work: what may take long, as a job of Spark does.
        is_cancelled: set by whoever wants the run to end; looked at every 50 ms.
        end: ends the work, called on another thread. It is given an event that is set once the work is over, and
            tries until then: a job may be submitted after the run was cancelled.

    Raises:
        RunCancelled: the run was cancelled first; the work may go on for a moment.
        Exception: whatever the work raises.
    """
    is_over = threading.Event()
    future: Future[_Result] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the edge of a thread; raised again for who waits
            future.set_exception(error)
        is_over.set()

    threading.Thread(target=do, name="work", daemon=True).start()
    while not is_over.wait(_LOOK_SECONDS):
        if is_cancelled.is_set():
            threading.Thread(target=end, args=(is_over,), name="cancel", daemon=True).start()
            raise RunCancelled("the run was cancelled")
    return future.result()


def cancel_until_over(
    cancel: Callable[[], object], is_over: threading.Event, pause_seconds: float, give_up: Callable[[], object]
) -> None:
    """Cancel again and again until the work is over, or the session is given up.

    Args:
        cancel: asks Spark; what it raises says nothing, as the work ends in an error of its own then.
        is_over: set once the work is over.
        pause_seconds: between two times.
        give_up: called once Spark has not even heard for ten seconds: the next run would wait for it too.
    """
    hanging = threading.Timer(_HANGING_SECONDS, give_up)
    hanging.daemon = True
    hanging.start()
    while True:
        with contextlib.suppress(Exception):
            cancel()
        hanging.cancel()
        if is_over.wait(pause_seconds):
            return
