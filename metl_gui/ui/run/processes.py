"""Processes that run mappings for the window: its own Spark, and production runs.

Its Spark is a process beside it, started in the background, with the run that is going on. Production runs are
processes of their own that the window starts, attaches to, and leaves alone: closing it ends none of them, it only
stops following them. Source: docs/guide/running.md, "Production over a folder".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from metl_gui.core.progress import Watch
from metl_gui.core.runs.events import EngineEvent, SessionFailed, SessionReady, SessionStarting
from metl_gui.core.runs.run_spec import Mode
from metl_gui.errors import MetlError, UserError
from metl_gui.ui.jobs.jobs import Job, JobOutcome, Jobs, NewestJob, Task
from metl_gui.values import Value
from metl_gui.workbench.profiles.saved_profiles import find_target
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, RunResult, background_spark, run_mapping
from metl_gui.workbench.runs.production import (
    EventFollower,
    LiveRun,
    live_runs,
    resume_production,
    start_production,
    stop_run,
)
from metl_gui.workbench.runs.replay import replay
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.workbench.loads.warehouse_loads import LoadedRun

T = TypeVar("T")
_READY = "ready"
_NOT_STARTED = "not started"
_STARTING = "starting"


class RunningLoad(Value):
    """A load of a warehouse that this window does.

    Args:
        mode: ``test`` or ``production``.
        target: as it was written.
        is_dry: it only finds out what a load would do.
    """

    mode: Mode
    target: str
    is_dry: bool = False

    @property
    def kind(self) -> str:
        """What it is called within a sentence: ``load of the warehouse``."""
        if self.is_dry:
            return "plan of a load"
        return "production load of the warehouse" if self.mode == PRODUCTION else "load of the warehouse"


class SparkRuns(QObject):
    """Starts Spark and runs mappings on it, one at a time.

    Signals:
        said: words on the target and the state of its session.
        stated: the state alone.
        told: an ``EngineEvent`` of the run that is going on.
        ended: a ``JobOutcome`` with a ``RunResult``.
        loaded: a ``JobOutcome`` with a ``LoadedRun``.
        load_progressed: how far the load is, a ``Progress``.
        busy: whether a run is going on.
    """

    said = Signal(object)
    stated = Signal(object)
    told = Signal(object)
    ended = Signal(object)
    loaded = Signal(object)
    load_progressed = Signal(object)
    busy = Signal(object)
    _came = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self.loading: RunningLoad | None = None
        self._choosing = NewestJob(jobs, self)
        self._came.connect(self._take)
        self.process = background_spark(self._came.emit)
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

        self._start(f"{request.mode.capitalize()} run", request.spark, task, self._ended)

    def replay(self, workbench: Workbench, request: RunRequest) -> None:
        """Map again what was set aside; does nothing while a run is going on."""
        aside = self._jobs.worker.call

        def task(watch: Watch) -> RunResult:
            return replay(workbench, request, self.process, self._came.emit, watch, aside)

        self._start("Replay", request.spark, task, self._ended)

    def load(self, workbench: Workbench, request: RunRequest, target: str, model: str, *, is_dry: bool = False) -> None:
        """Load a warehouse by a run, or only find out what that would do; does nothing while a run is going on."""

        def task(watch: Watch) -> LoadedRun:
            # Only who loads a warehouse waits for its database to be imported.
            from metl_gui.workbench.loads.warehouse_loads import load_warehouse

            return load_warehouse(workbench, request, target, model, self.process, watch, is_dry=is_dry)

        if self._job is not None:
            return
        self.loading = order = RunningLoad(request.mode, target, is_dry)
        job = self._start(order.kind.capitalize(), request.spark, task, self._loaded)
        if job is not None:
            job.progressed.connect(self.load_progressed)

    def stop(self) -> None:
        """Stop the run that is going on; it answers within a second."""
        if self._job is not None:
            self._job.cancel()

    def shut_down(self) -> None:
        """End the process."""
        self.stop()
        self.process.stop()

    def _start(self, title: str, target: str, task: Task[T], done: Callable[[JobOutcome[T]], None]) -> Job | None:
        if self._job is not None:
            return None
        self._choosing.cancel()
        self._chosen = target  # the run itself goes there
        self.busy.emit(True)
        job = self._jobs.start(title, task, done)
        self._job = job if job in self._jobs.running else None
        return job

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

    def _told_where(self, outcome: JobOutcome[None]) -> None:
        error = outcome.error
        self._say(_NOT_STARTED if error is None else error.title if isinstance(error, UserError) else str(error))

    def _say(self, state: str) -> None:
        self.state = state
        self.said.emit(f"{self.process.target} · {state}")
        self.stated.emit(state)

    def _ended(self, outcome: JobOutcome[RunResult]) -> None:
        self._finish()
        self.ended.emit(outcome)

    def _loaded(self, outcome: JobOutcome[LoadedRun]) -> None:
        self._finish()
        self.loaded.emit(outcome)

    def _finish(self) -> None:
        """Be ready for the next run."""
        self._job = self.loading = None
        if not self.process.is_ready and self.state == _READY:
            self._say(_NOT_STARTED)
        self.busy.emit(False)


_LOOK_MS = 2_000
_TELL_MS = 250
_STARTS = "Once its process is there it goes on without this window; if you stop before, nothing is started."


class ProductionRuns(QObject):
    """Starts, finds, follows and stops production runs of the open project.

    Signals:
        changed: other production runs go on than before.
        ticked: the same ones go on, and are some seconds older.
        started: the ``LiveRun`` that was asked for.
        told: an ``EngineEvent`` of the run that is followed.
        over: the ``LiveRun`` that was followed has ended.
        failed: a ``MetlError``: it could not be started, or told to stop.
    """

    changed = Signal()
    ticked = Signal()
    started = Signal(object)
    told = Signal(object)
    over = Signal(object)
    failed = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._project_id = ""
        self.live: tuple[LiveRun, ...] = ()
        self.followed: LiveRun | None = None
        self._follower: EventFollower | None = None
        self.is_starting = False
        self._look_timer, self._tell_timer = QTimer(self), QTimer(self)
        self._look_timer.setInterval(_LOOK_MS)
        self._tell_timer.setInterval(_TELL_MS)
        self._look_timer.timeout.connect(self.look)
        self._tell_timer.timeout.connect(self.tell)

    def watch(self, project_id: str) -> None:
        """Look from time to time which runs of a project go on; an empty id for none."""
        self.leave()
        self._project_id, self.live = project_id, ()
        if project_id:
            self.look()
            self._look_timer.start()
        else:
            self._look_timer.stop()

    def look(self) -> None:
        """Look now."""
        found = live_runs(self._project_id) if self._project_id else ()
        ids = [run.run_id for run in self.live]
        self.live = found
        if [run.run_id for run in found] != ids:
            self.changed.emit()
        elif found:
            self.ticked.emit()

    def start(self, workbench: Workbench, request: RunRequest) -> None:
        """Start a run as a process of its own."""
        self._begin("Starting the production run", lambda watch: start_production(workbench, request, watch))

    def resume(self, workbench: Workbench, run_id: str) -> None:
        """Go on with a run where its last batch ended."""
        self._begin("Going on with the production run", lambda watch: resume_production(workbench, run_id, watch))

    def stop(self, run: LiveRun) -> None:
        """Ask a run to end in order, between two batches."""
        self._jobs.start("Stopping the production run", lambda _watch: stop_run(run), self._stopped)

    def follow(self, run: LiveRun) -> None:
        """Give on what a run tells, from its beginning."""
        self.leave()
        self.followed, self._follower = run, EventFollower(run)
        self._tell_timer.start()
        self.tell()

    def leave(self) -> None:
        """Follow nothing any more; the run does not notice."""
        self._tell_timer.stop()
        self.followed = None
        if self._follower is not None:
            self._follower.close()
            self._follower = None

    def tell(self) -> None:
        """Give on what the followed run has told since the last time."""
        follower = self._follower
        if follower is None:
            return
        for event in follower.read():
            self.told.emit(event)
            if self._follower is not follower:
                return
        if follower.is_over:
            self.leave()
            self.look()
            self.over.emit(follower.run)

    def _begin(self, title: str, task: Task[LiveRun]) -> None:
        if not self.is_starting:
            self.is_starting = True
            self._jobs.start(title, task, self._began, cost=_STARTS)

    def _began(self, outcome: JobOutcome[LiveRun]) -> None:
        self.is_starting = False
        if outcome.value is not None:
            self.look()
            self.started.emit(outcome.value)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _stopped(self, outcome: JobOutcome[bool]) -> None:
        if outcome.error is not None:
            self._refuse(outcome.error)
        self.tell()
        self.look()

    def _refuse(self, error: MetlError) -> None:
        self.failed.emit(error)
