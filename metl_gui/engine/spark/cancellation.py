"""Work of a run on a thread of its own, waited for no longer once the run is cancelled: Spark ends jobs in its time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from metl_gui.errors import RunCancelled

_Result = TypeVar("_Result")

LOOK_SECONDS = 0.05
"""How long a run waits at a time, before it looks whether it was cancelled."""

_HANGING_SECONDS = 10.0
"""How long Spark may take to hear that a job is to end, before it is taken to hang."""


class Background(Generic[_Result]):
    """Work on a thread of its own, which begins at once.

    Args:
        work: what may take long, as a job of Spark does.
        name: of the thread.

    Attributes:
        is_over: set once it has returned or raised.
    """

    def __init__(self, work: Callable[[], _Result], name: str = "work") -> None:
        self.is_over = threading.Event()
        self._work = work
        self._future: Future[_Result] = Future()
        threading.Thread(target=self._do, name=name, daemon=True).start()

    @property
    def fault(self) -> BaseException | None:
        """What it raised; None while it goes on, too."""
        return self._future.exception() if self.is_over.is_set() else None

    def result(self) -> _Result:
        """Wait for its end and return what it returned.

        Raises:
            Exception: whatever the work raises.
        """
        return self._future.result()

    def end(self, end: Callable[[threading.Event], object]) -> None:
        """Have it ended, without waiting for that; nothing where it is over.

        Args:
            end: ends it, called on another thread. It is given the event that is set once the work is over, and tries
                until then: a job may be submitted after the run was cancelled.
        """
        if not self.is_over.is_set():
            threading.Thread(target=end, args=(self.is_over,), name="cancel", daemon=True).start()

    def _do(self) -> None:
        try:
            self._future.set_result(self._work())
        except BaseException as error:  # noqa: BLE001 - the edge of a thread; raised again for who waits
            self._future.set_exception(error)
        self.is_over.set()


def unless_cancelled(
    work: Callable[[], _Result], is_cancelled: threading.Event, end: Callable[[threading.Event], None]
) -> _Result:
    """Do work on a thread of its own and return what it returns, or leave it to its end when the run is cancelled.

    What tasks send to topics meanwhile is sent; what they write into folders is gone with the folders.

    Args:
        work: what may take long.
        is_cancelled: set by whoever wants the run to end; looked at every 50 ms.
        end: ends the work, as of ``Background.end``.

    Raises:
        RunCancelled: the run was cancelled first; the work may go on for a moment.
        Exception: whatever the work raises.
    """
    doing = Background(work)
    while not doing.is_over.wait(LOOK_SECONDS):
        if is_cancelled.is_set():
            doing.end(end)
            raise RunCancelled("the run was cancelled")
    return doing.result()


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
