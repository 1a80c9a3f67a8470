"""Queries to project files that end when the work that asks them is cancelled."""

from __future__ import annotations

from contextlib import AbstractContextManager

from metl_gui.core.progress import Watch
from metl_gui.store.sqlite.cancellation import cancellable


def cancellable_queries(watch: Watch) -> AbstractContextManager[None]:
    """Let a cancel also end what a project file is asked on this thread, in ``RunCancelled``."""
    return cancellable(lambda: watch.is_cancelled)
