"""How SQLite's work ends early: when a job is cancelled, or when somebody presses Ctrl+C.

A query runs in C, where Python neither answers signals nor looks at anything. So every connection calls back now and
then; the call alone lets Python answer a signal, and it asks whether the work of its thread was cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metl_gui.errors import RunCancelled

if TYPE_CHECKING:
    import sqlite3

STEPS = 1_000_000
"""After so many steps of SQLite's machine it calls back, every 10 to 50 ms: too seldom to be measured."""


class _Cancellation(threading.local):
    """What this thread works on."""

    is_cancelled: Callable[[], bool] | None = None


_work = _Cancellation()


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let what is asked of project files on this thread end in ``RunCancelled`` once the work was cancelled."""
    before = _work.is_cancelled
    _work.is_cancelled = is_cancelled
    try:
        yield
    finally:
        _work.is_cancelled = before


def install_progress_handler(connection: sqlite3.Connection) -> None:
    """Make a connection call back while it works."""
    connection.set_progress_handler(_must_stop, STEPS)


def stop_here() -> None:
    """End here if the work of this thread was cancelled.

    Raises:
        RunCancelled: it was.
    """
    if _must_stop():
        raise RunCancelled("Stopped.")


def was_stopped() -> BaseException | None:
    """Return what an interrupted query of this thread ends in; ``None`` if nobody can have asked for it.

    What a signal's handler raises while SQLite calls back is lost in it; on the main thread it was Ctrl+C.
    """
    if _must_stop():
        return RunCancelled("Stopped.")
    return KeyboardInterrupt() if threading.current_thread() is threading.main_thread() else None


def _must_stop() -> bool:
    return _work.is_cancelled is not None and _work.is_cancelled()
