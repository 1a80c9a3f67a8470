"""Work that a run waits for, and no longer once it is cancelled: Spark ends a job when it gets to it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from metl_gui.errors import RunCancelled

_Result = TypeVar("_Result")

_LOOK_SECONDS = 0.05


def unless_cancelled(
    work: Callable[[], _Result], is_cancelled: threading.Event, end: Callable[[threading.Event], None]
) -> _Result:
    """Do work on a thread of its own and return what it returns, or leave it to its end when the run is cancelled.

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
    with_one = ThreadPoolExecutor(1, thread_name_prefix="work")
    future = with_one.submit(work)
    future.add_done_callback(lambda _future: is_over.set())
    with_one.shutdown(wait=False)
    while not wait([future], _LOOK_SECONDS).done:
        if is_cancelled.is_set():
            threading.Thread(target=end, args=(is_over,), name="cancel", daemon=True).start()
            raise RunCancelled("the run was cancelled")
    return future.result()
