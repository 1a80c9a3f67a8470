"""The warm worker process: work that would hold the window's interpreter for long is done there.

A thread of the window cannot do it: one call of ``json.loads`` on a large file stops every frame while it runs. Tasks
and what they return travel between two processes of this program only; nothing that a user opens is ever unpickled.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from metl_gui.core.progress import UNWATCHED, Progress, Watch
from metl_gui.errors import BugError, MetlError, RunCancelled

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")

_LOOK_SECONDS = 0.05
_END_SECONDS = 2.0
_NICENESS = 5


class Worker:
    """One process that does one task at a time; started with the first task, or ahead of it by ``warm_up``.

    Calls may come from any thread and are done one after the other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def warm_up(self) -> None:
        """Start the process, so that the first task need not wait for it; while it works there is nothing to do."""
        if self._lock.acquire(blocking=False):
            try:
                self._connect()
            finally:
                self._lock.release()

    def call(self, task: Callable[[Watch], T], watch: Watch = UNWATCHED) -> T:
        """Do a task in the worker process and wait for it.

        Args:
            task: a module's function, or a ``functools.partial`` of one with arguments that can be pickled.
            watch: told the task's progress; a cancel ends the process with what it does.

        Raises:
            MetlError: what the task raised.
            RunCancelled: it was stopped.
            BugError: the process ended, or raised something that nobody foresaw.
        """
        with self._lock:
            connection = self._connect()
            try:
                connection.send(task)
                found: T = self._follow(connection, watch)
                return found
            except RunCancelled:
                self._end()
                raise
            except (EOFError, OSError) as error:
                self._end()
                raise BugError("the worker process ended before its task was done") from error

    def stop(self) -> None:
        """End the process; a task that goes on is given up."""
        process = self._process
        if process is not None and process.is_alive():
            process.terminate()
        with self._lock:
            self._end()

    def _follow(self, connection: Connection, watch: Watch) -> Any:
        while True:
            if watch.is_cancelled:
                raise RunCancelled("Stopped.")
            if not connection.poll(_LOOK_SECONDS):
                continue
            kind, value = connection.recv()
            if kind == "told":
                watch.step(value.text, value.done, value.total)
            elif kind == "failed":
                raise value
            else:
                return value

    def _connect(self) -> Connection:
        if self._connection is None or self._process is None or not self._process.is_alive():
            self._end()
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), name="metl worker", daemon=True)
            self._process.start()
            theirs.close()
        return self._connection

    def _end(self) -> None:
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.terminate()
            process.join(_END_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()


class InlineWorker(Worker):
    """The twin for tests: a task is done on the calling thread."""

    def warm_up(self) -> None:
        """Do nothing."""

    def call(self, task: Callable[[Watch], T], watch: Watch = UNWATCHED) -> T:
        """Do a task."""
        return task(watch)


def _serve(connection: Connection) -> None:
    """Do tasks until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is the window's to answer
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    from metl_gui.workbench.mapping import table  # noqa: F401 - what most tasks need, loaded ahead of the first

    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(_answer(task, Watch(lambda progress: _tell(connection, progress))))


def _tell(connection: Connection, progress: Progress) -> None:
    connection.send(("told", progress))


def _answer(task: Callable[[Watch], Any], watch: Watch) -> tuple[str, Any]:
    try:
        return "done", task(watch)
    except MetlError as error:
        return "failed", error
    except Exception as error:
        LOGGER.exception("a task of the worker failed in a way that nobody foresaw")
        return "failed", BugError(f"{type(error).__name__}: {error}")
