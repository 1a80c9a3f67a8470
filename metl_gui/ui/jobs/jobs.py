"""Jobs beside the window: plain functions from the workbench on threads of their own, with progress and cancel.

Every signal carries one frozen value and ends in a method of a QObject on the window's thread. ``NewestJob`` asks one
question at a time: asking again stops the job before, whose answer is dropped. ``CommandResult`` is what came of a
command, in words; ``work_out`` runs what may be too long between two events, such as the plan of a command, as a job.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from metl_gui.core.progress import Progress, Watch
from metl_gui.errors import BugError, MetlError, RunCancelled
from metl_gui.ui.jobs.worker import InlineWorker, Worker
from metl_gui.values import Value
from metl_gui.workbench.cancellable_queries import cancellable_queries

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")
Task: TypeAlias = Callable[[Watch], T]


class JobOutcome(Value, Generic[T]):
    """How a job ended.

    Args:
        value: what the task returned.
        error: why it did not.
        is_cancelled: somebody stopped it.
    """

    value: T | None = None
    error: MetlError | None = None
    is_cancelled: bool = False


class Job(QObject):
    """One piece of work.

    Args:
        title: what people call it.
        cost: what becomes of it when it is stopped; who leaves is asked first about a job that says so.

    Signals:
        progressed: a ``Progress``, on the window's thread.
        ended: (this job, its ``JobOutcome``), on the window's thread, once.
    """

    progressed = Signal(object)
    ended = Signal(object)
    _told = Signal(object)
    _over = Signal(object)

    def __init__(self, title: str, parent: QObject | None = None, cost: str = "") -> None:
        super().__init__(parent)
        self.title, self.cost = title, cost
        self._cancelled = threading.Event()
        self._told.connect(self._tell, Qt.ConnectionType.AutoConnection)
        self._over.connect(self._end, Qt.ConnectionType.AutoConnection)

    def cancel(self) -> None:
        """Ask the task to stop at its next step."""
        self._cancelled.set()

    def work(self, task: Task[Any]) -> None:
        """Do the task on the calling thread and tell how it ended."""
        watch = Watch(self._told.emit, self._cancelled.is_set)
        self._over.emit(_outcome(task, watch))

    def _tell(self, progress: Progress) -> None:
        self.progressed.emit(progress)

    def _end(self, outcome: JobOutcome[Any]) -> None:
        self.ended.emit((self, outcome))


def _outcome(task: Task[Any], watch: Watch) -> JobOutcome[Any]:
    try:
        with cancellable_queries(watch):
            return JobOutcome(task(watch))
    except RunCancelled:
        return JobOutcome(is_cancelled=True)
    except MetlError as error:
        return JobOutcome(error=error)
    except Exception as error:
        LOGGER.exception("a job failed in a way that nobody foresaw")
        return JobOutcome(error=BugError(f"{type(error).__name__}: {error}"))


def _nobody(_outcome: JobOutcome[Any]) -> None:
    """Take an outcome that comes after the window was closed: a message would keep the program from ending."""


class Jobs(QObject):
    """Owns every thread of the window and its worker process.

    Signals:
        changed: the running ``Job`` to show, or ``None``.
        broke: the ``BugError`` of a job that failed in a way nobody foresaw, whoever hears its outcome.
    """

    changed = Signal(object)
    broke = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.worker = self._make_worker()
        self._running: dict[Job, threading.Thread | None] = {}
        self._done: dict[Job, Callable[[JobOutcome[Any]], None]] = {}
        self._quiet: set[Job] = set()

    @property
    def running(self) -> list[Job]:
        """The jobs that have not ended, oldest first."""
        return list(self._running)

    @property
    def lasting(self) -> Job | None:
        """The oldest job that nobody leaves without being asked."""
        return next((job for job in self._running if job.cost), None)

    def start(
        self,
        title: str,
        task: Task[T],
        done: Callable[[JobOutcome[T]], None],
        *,
        is_quiet: bool = False,
        cost: str = "",
    ) -> Job:
        """Start a task.

        Args:
            title: what the status bar calls it.
            task: the work; it must touch nothing of the window.
            done: called on the window's thread when it has ended.
            is_quiet: the status bar says nothing of it, as it comes again and again.
            cost: see ``Job``.
        """
        job = Job(title, self, cost)
        if is_quiet:
            self._quiet.add(job)
        self._done[job] = done
        job.ended.connect(self._ended)
        self._begin(job, task)
        self._tell_changed()
        return job

    def stop(self, seconds: float = 10.0) -> None:
        """Cancel everything and wait until it has ended; nobody is told any more how it did."""
        self._done = dict.fromkeys(self._done, _nobody)
        for job in self._running:
            job.cancel()
        self.worker.stop()
        for thread in list(self._running.values()):
            if thread is not None:
                thread.join(seconds)

    def _make_worker(self) -> Worker:
        return Worker()

    def _tell_changed(self) -> None:
        self.changed.emit(next((job for job in self._running if job not in self._quiet), None))

    def _begin(self, job: Job, task: Task[Any]) -> None:
        thread = threading.Thread(target=job.work, args=(task,), name=f"job: {job.title}", daemon=True)
        self._running[job] = thread
        thread.start()

    def _ended(self, end: tuple[Job, JobOutcome[Any]]) -> None:
        job, outcome = end
        thread = self._running.pop(job, None)
        if thread is not None:
            thread.join()
        self._quiet.discard(job)
        self._tell_changed()
        done = self._done.pop(job)
        if isinstance(outcome.error, BugError) and done is not _nobody:
            self.broke.emit(outcome.error)
        done(outcome)
        job.deleteLater()


class SynchronousJobs(Jobs):
    """The twin for tests: a task has ended when ``start`` returns."""

    def _make_worker(self) -> Worker:
        return InlineWorker()

    def _begin(self, job: Job, task: Task[Any]) -> None:
        self._running[job] = None
        job.work(task)


class NewestJob:
    """The job of what was asked last.

    Args:
        jobs: where it is done.
        asker: who hears the answer; when it is destroyed, nothing is asked any more.
    """

    def __init__(self, jobs: Jobs, asker: QObject) -> None:
        self._jobs = jobs
        self._job: Job | None = None
        self._asked: object = None
        asker.destroyed.connect(self.cancel)

    def start(
        self,
        title: str,
        task: Task[T],
        done: Callable[[JobOutcome[T]], None],
        *,
        is_quiet: bool = False,
        cost: str = "",
    ) -> Job:
        """Ask; see ``Jobs.start``. An outcome that is not of the newest question is dropped."""
        self.cancel()
        mine = self._asked = object()

        def ended(outcome: JobOutcome[T]) -> None:
            if mine is self._asked:
                self._asked = self._job = None
                done(outcome)

        job = self._jobs.start(title, task, ended, is_quiet=is_quiet, cost=cost)
        if mine is self._asked:
            self._job = job
        return job

    def cancel(self) -> None:
        """Ask nothing any more."""
        job, self._asked, self._job = self._job, None, None
        if job is not None:
            job.cancel()


class CommandResult(Value):
    """What came of a command.

    Args:
        text: in words.
        action: words of what else one may want, empty for nothing.
        callback: what that does.
        is_good: whether something was done.
    """

    text: str
    action: str = ""
    callback: Callable[[], object] | None = None
    is_good: bool = True


def work_out(jobs: Jobs | None, title: str, work: Callable[[], T], done: Callable[[T], object]) -> None:
    """Work something out: as a job where there is one to do it, else at once."""
    if jobs is None:
        done(work())
        return

    def ended(outcome: JobOutcome[T]) -> None:
        if outcome.value is not None:
            done(outcome.value)

    jobs.start(title, lambda _watch: work(), ended)
