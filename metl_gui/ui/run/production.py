"""Production runs as the window sees them: processes of their own that it starts, attaches to, and leaves alone.

Closing the window ends nothing here but the looking. Source: ux.md §7.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from metl_gui.engine.event_tail import EventTail
from metl_gui.errors import MetlError
from metl_gui.ui.jobs import Jobs, Outcome, Task
from metl_gui.workbench.production import LiveRun, live_runs, resume_production, start_production, stop_run
from metl_gui.workbench.running import RunRequest
from metl_gui.workbench.session import Workbench

_LOOK_MS = 2_000
_TELL_MS = 250


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
        self._project = ""
        self.live: tuple[LiveRun, ...] = ()
        self.followed: LiveRun | None = None
        self._tail: EventTail | None = None
        self.is_starting = False
        self._look_timer, self._tell_timer = QTimer(self), QTimer(self)
        self._look_timer.setInterval(_LOOK_MS)
        self._tell_timer.setInterval(_TELL_MS)
        self._look_timer.timeout.connect(self.look)
        self._tell_timer.timeout.connect(self.tell)

    def watch(self, project_id: str) -> None:
        """Look from time to time which runs of a project go on; an empty id for none."""
        self.leave()
        self._project, self.live = project_id, ()
        if project_id:
            self.look()
            self._look_timer.start()
        else:
            self._look_timer.stop()

    def look(self) -> None:
        """Look now."""
        found = live_runs(self._project) if self._project else ()
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
        self.followed, self._tail = run, EventTail(run.folder / "events.jsonl")
        self._tell_timer.start()
        self.tell()

    def leave(self) -> None:
        """Follow nothing any more; the run does not notice."""
        self._tell_timer.stop()
        self.followed = None
        if self._tail is not None:
            self._tail.close()
            self._tail = None

    def tell(self) -> None:
        """Give on what the followed run has told since the last time."""
        run, tail = self.followed, self._tail
        if run is None or tail is None:
            return
        goes_on = run.is_alive  # asked first: what it tells at its end is read then
        for event in tail.read():
            self.told.emit(event)
            if self.followed is not run:
                return
        if not goes_on:
            self.leave()
            self.look()
            self.over.emit(run)

    def _begin(self, title: str, task: Task[LiveRun]) -> None:
        if not self.is_starting:
            self.is_starting = True
            self._jobs.start(title, task, self._began)

    def _began(self, outcome: Outcome[LiveRun]) -> None:
        self.is_starting = False
        if outcome.value is not None:
            self.look()
            self.started.emit(outcome.value)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _stopped(self, outcome: Outcome[bool]) -> None:
        if outcome.error is not None:
            self._refuse(outcome.error)
        self.tell()
        self.look()

    def _refuse(self, error: MetlError) -> None:
        self.failed.emit(error)
