"""The window's Spark: a process beside it, started in the background, and the run that is going on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from metl_gui.engine.client import SparkProcess
from metl_gui.engine.events import EngineEvent, SessionFailed, SessionReady, SessionStarting
from metl_gui.errors import UserError
from metl_gui.ui.jobs import Job, Jobs, Outcome
from metl_gui.ui.newest_job import NewestJob
from metl_gui.workbench.profiles import find_target
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.replaying import ReplayRequest, replay
from metl_gui.workbench.running import RunRequest, RunResult, run_mapping
from metl_gui.workbench.session import Workbench

_READY = "ready"
_NOT_STARTED = "not started"
_STARTING = "starting"


class SparkRuns(QObject):
    """Starts Spark and runs mappings on it, one at a time.

    Signals:
        said: words on the target and the state of its session.
        stated: the state alone.
        told: an ``EngineEvent`` of the run that is going on.
        ended: an ``Outcome`` with a ``RunResult``.
        busy: whether a run is going on.
    """

    said = Signal(object)
    stated = Signal(object)
    told = Signal(object)
    ended = Signal(object)
    busy = Signal(object)
    _came = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._choosing = NewestJob(jobs, self)
        self._came.connect(self._take)
        self.process = SparkProcess(low_priority=True, on_event=self._came.emit)
        self.state = _NOT_STARTED
        self._chosen = self.process.target

    @property
    def is_running(self) -> bool:
        """Whether a run is going on."""
        return self._job is not None

    def warm_up(self) -> None:
        """Start the session in the background."""
        if not self.process.is_ready:
            self._say(_STARTING)
            self.process.start()

    def choose(self, target: str) -> None:
        """Run on another target from now on; the session that there is ends. Does nothing while a run goes on."""
        if self._job is not None or target == self._chosen:
            return
        self._chosen = target
        self._choosing.start(
            "Choosing where to run", lambda _watch: self.process.use(find_target(target)), self._told_where
        )

    def run(self, workbench: Workbench, request: RunRequest) -> None:
        """Run a mapping on its target; does nothing while another one is going on."""
        aside = self._jobs.worker.call

        def task(watch: Watch) -> RunResult:
            return run_mapping(workbench, request, self.process, self._came.emit, watch, aside)

        self._start(f"{request.mode.capitalize()} run", request.spark, task)

    def replay(self, workbench: Workbench, request: ReplayRequest) -> None:
        """Map again what was set aside; does nothing while a run is going on."""
        aside = self._jobs.worker.call

        def task(watch: Watch) -> RunResult:
            return replay(workbench, request, self.process, self._came.emit, watch, aside)

        self._start("Replay", request.spark, task)

    def stop(self) -> None:
        """Stop the run that is going on; it answers within a second."""
        if self._job is not None:
            self._job.cancel()

    def shut_down(self) -> None:
        """End the process."""
        self.stop()
        self.process.stop()

    def _start(self, title: str, target: str, task: Callable[[Watch], RunResult]) -> None:
        if self._job is not None:
            return
        self._choosing.cancel()
        self._chosen = target  # the run itself goes there
        self.busy.emit(True)
        self._job = self._jobs.start(title, task, self._ended)

    def _take(self, event: EngineEvent) -> None:
        match event:
            case SessionStarting():
                self._say(_STARTING)
            case SessionReady():
                self._say(_READY)
            case SessionFailed(title=title):
                self._say(title)
            case _:
                self.told.emit(event)

    def _told_where(self, outcome: Outcome[None]) -> None:
        error = outcome.error
        self._say(_NOT_STARTED if error is None else error.title if isinstance(error, UserError) else str(error))

    def _say(self, state: str) -> None:
        self.state = state
        self.said.emit(f"{self.process.target} · {state}")
        self.stated.emit(state)

    def _ended(self, outcome: Outcome[Any]) -> None:
        self._job = None
        if not self.process.is_ready and self.state == _READY:
            self._say(_NOT_STARTED)
        self.busy.emit(False)
        self.ended.emit(outcome)
