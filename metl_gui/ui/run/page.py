"""The Run page: setup and history left; right the run that is shown, in several views."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from metl_gui.core.runs.events import EngineEvent, RunStarted
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import what_stays
from metl_gui.errors import MetlError, RunKilledError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.lanes.progress import FollowedLane
from metl_gui.ui.messages.decisions import CellDecisions
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.run.commands import RunLinks
from metl_gui.ui.run.head import FailureCard, RunHead
from metl_gui.ui.run.history import OWN, RunEntry, entry_of_own, entry_of_past
from metl_gui.ui.run.overview import RunBody
from metl_gui.ui.run.processes import ProductionRuns, SparkRuns
from metl_gui.ui.run.progress import DIED, FollowedRun, told_of
from metl_gui.ui.run.setup import RunSetup
from metl_gui.ui.run.setup_fields import KnownTargets
from metl_gui.ui.run.start import RunStart
from metl_gui.ui.run.views import COMPARE_VIEW, DETAILS_VIEW, LANE_VIEW, RUN_VIEW, SPEED_VIEW, RunViews
from metl_gui.ui.widgets.dock import Dock, Scrolled
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.runs.history import PastRun, RunStatus, runs
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest, RunResult
from metl_gui.workbench.runs.production import LiveRun
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder

_HISTORY = 100
_FIRST_COUNTS = 2
_NOT_OF_A_LANE = "A lane keeps no messages of its own: they are in its topics."


_LEAST_PX = (1000, 420)
"""Width and height at scale 1 that all panels need beside each other."""


class RunPage(PanelPage):
    """One of the four pages.

    Signals:
        shown: another run is shown, or what is known of it changed.
        found_versions: ``VersionTask``s that a run which has just ended brought up.
        noted: what a person should know of a run that has just ended, in sentences.
        compared: a ``ComparisonCell`` that leads beyond this page.
    """

    shown = Signal()
    found_versions = Signal(object)
    noted = Signal(object)
    compared = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        spark: SparkRuns,
        jobs: Jobs,
        settings: ViewSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("runPage", "Results", _LEAST_PX, parent)
        self._project, self._spark = project, spark
        self.production = ProductionRuns(jobs, self)
        self._reading, self._listing = NewestJob(jobs, self), NewestJob(jobs, self)
        self.report: Mapping[str, Any] | None = None
        self.own: FollowedRun | None = None
        self.followed: FollowedRun | None = None
        self.past: PastRun | None = None
        self.past_runs: tuple[PastRun, ...] = ()
        self._wanted = ""
        self._runs_for: Workbench | None = None
        self.last_request: RunRequest | None = None
        self.setup, self.head, self.failure = RunSetup(), RunHead(), FailureCard()
        self.targets = KnownTargets(settings, self.setup.target)
        self.body = RunBody(lambda: project.newest, jobs)
        self.figures, self.chart, self.messages = self.body.figures, self.body.chart, self.body.messages
        self.aside, self.by_entity = self.body.aside, self.body.entities
        self.decisions = CellDecisions(project, jobs, self)
        self.messages.sides.decision = self.decisions.words
        self.decisions.read.connect(self.messages.sides.say_again)
        self.views, self.starting = RunViews(self.body), RunStart(jobs, self)
        self.dock = Dock("runSetupDock", "Run", self.setup)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.dock)
        self.setCentralWidget(Scrolled(self._central(), gives_way=True))
        self._connect()
        RunLinks(self)

    # starting

    def run(self) -> None:
        """Map the chosen messages with what is on the screen."""
        self._run(self.setup.test_request)

    def run_chosen(self) -> None:
        """Map the chosen messages in the mode that is chosen; production is asked about once."""
        self._run(self.setup.request)

    def run_again(self) -> None:
        """Start what was started last once more."""
        if self.last_request is not None:
            again = self.replay if self.last_request.is_replay else self._run
            again(self.last_request)

    def replay(self, request: RunRequest) -> None:
        """Map again what a run set aside."""
        workbench = self._begin(request, "Replay in production" if request.mode == PRODUCTION else "Replay")
        if workbench is not None:
            self.messages.end_only_aside()
            self._spark.replay(workbench, request)

    def _run(self, request: RunRequest) -> None:
        """Begin a run, unless one goes on or is about to."""
        is_busy = self.production.is_starting if request.mode == PRODUCTION else self._spark.is_running
        if self._project.workbench is not None and not is_busy:
            self.starting.begin(self._project.workbench, request, self.setup.mode.live)

    def _run_test(self, request: RunRequest) -> None:
        workbench = self._begin(request, request.mode.capitalize())
        if workbench is not None:  # a test maps with what is on the screen, an earlier state too
            self._spark.run(workbench, replace(request, state=self._project.looks_back))

    def _run_production(self, request: RunRequest) -> None:
        """Start a process that outlives the window."""
        workbench = self._project.workbench
        if workbench is None or self.production.is_starting:
            return
        self.targets.remember(request.spark)
        self.last_request = request
        self._show_nothing()
        self.head.say("Production", "is being started", "starting", "accent")
        self.production.start(workbench, request)

    def _begin(self, request: RunRequest, kind: str) -> Workbench | None:
        """Clear the page for a run; None while another one goes on."""
        workbench = self._project.workbench
        if workbench is None or self._spark.is_running:
            return None
        self.last_request, self._runs_for = request, workbench
        self.targets.remember(request.spark)
        title = kind if request.mode == PRODUCTION else f"{kind} · state {self._project.value.state:,}"
        self.own = FollowedRun(title)
        self._list()
        self.show_own()
        return workbench

    @property
    def is_running(self) -> bool:
        """Whether a run of this window goes on."""
        return self._spark.is_running

    # what is shown

    def show_view(self, number: int) -> None:
        """Show another view of the run."""
        self.views.show_view(number)
        self.head.show_view(number)
        self._fill_view()

    def show_details(self, entity: str = "") -> None:
        """Show which versions were read and how far attributes are filled."""
        self.show_view(DETAILS_VIEW)
        if entity:
            self.views.details.show_entity(entity)

    @property
    def is_lane(self) -> bool:
        """Whether what is shown is a lane."""
        return self.head.views[LANE_VIEW].isVisibleTo(self.head)

    def show_lane(self) -> None:
        """Show how far the lane is."""
        self.show_view(LANE_VIEW)

    def show_speed(self) -> None:
        """Show how fast the kernel was."""
        self.show_view(SPEED_VIEW)

    def show_whole(self) -> None:
        """Show the figures and messages of the run."""
        self.show_view(RUN_VIEW)

    def show_compared(self) -> None:
        """Show the runs that were compared last."""
        self.show_view(COMPARE_VIEW)

    def show_comparison(self) -> None:
        """Show two runs side by side, those that are selected in the history where there are two."""
        self.show_view(COMPARE_VIEW)
        if len(self.setup.history.selected) > 1:
            self.setup.history.compare_selected()

    def show_own(self) -> None:
        """Show the run that this window does just now."""
        if self.own is not None:
            self._show_nothing()
            self.followed = self.own
            self.setup.history.select(OWN)
            self._show_folder()
            self._show_followed()

    def show_entry(self, entry: RunEntry) -> None:
        """Show a run of the history."""
        if isinstance(entry.run, FollowedRun):
            self.show_own()
        elif isinstance(entry.run, PastRun):
            live = next((run for run in self.production.live if run.run_id == entry.run_id), None)
            if live is not None:
                self.attach(live)
            else:
                self.show_past(entry.run)

    @property
    def run_id(self) -> str:
        """The id of the run that is shown, empty for none, or for one that has none yet."""
        if self.followed is not None:
            return self.followed.run_id
        return self.past.run_id if self.past is not None else str((self.report or {}).get("run_id", ""))

    def show_run(self, run_id: str) -> bool:
        """Show a run by its id; tell whether there is one."""
        entry = next((each for each in self.setup.history.model.rows if each.run_id == run_id), None)
        if entry is not None:
            self.setup.history.select(run_id)
            self.show_view(RUN_VIEW)
            self.show_entry(entry)
        return entry is not None

    def show_live(self) -> None:
        """Show the production run that goes on; each call the next one where there are several."""
        live, followed = self.production.live, self.production.followed
        if not live:
            return
        ids = [run.run_id for run in live]
        here = ids.index(followed.run_id) if followed is not None and followed.run_id in ids else -1
        run = live[(here + 1) % len(live)]
        self.setup.history.select(run.run_id)
        self.show_view(RUN_VIEW)
        if followed is None or run.run_id != followed.run_id:
            self.attach(run)
        elif self.is_lane:
            self.show_lane()

    def attach(self, run: LiveRun) -> None:
        """Follow a production run that goes on in a process of its own."""
        self._show_nothing()
        spec = run.order.spec
        is_fast = spec.is_lane
        self.followed = FollowedRun(
            f"Production · state {spec.mapping.state:,}", run.run_id, spec.source.follow, True, is_fast
        )
        self._show_folder()
        self.head.offer("Stop this run")
        if is_fast and self.views.currentIndex() == RUN_VIEW:
            self.show_view(LANE_VIEW)
        if is_kafka(spec.sink.errors):
            self.aside.follow(spec.sink.errors, spec.policy.mode)
        self.production.follow(run)
        self._show_followed()

    def show_past(self, run: PastRun) -> None:
        """Show a run that is over."""
        workbench = self._project.workbench
        if workbench is None:
            return
        self._show_nothing()
        self.past = run
        report = run.report.as_json()
        self._show_report(report, run.folder)
        self.head.say_past(run)
        if run.report.outcome and not run.report.outputs:
            self.messages.show_run(None, nothing=what_stays("", in_batches=False))
        self.head.offer("Go on" if run.can_go_on else "")
        if run.report.failure:
            words = DIED if run.status is RunStatus.DIED else run.report.failure
            self.failure.show_words("The run ended before its time.", words, can_run_again=False)
        self._reading.start(
            "Reading the course of the run", lambda _watch: told_of(workbench, run.run_id, report), self._draw
        )

    def _show_nothing(self) -> None:
        self._reading.cancel()
        self.production.leave()
        self.report = self.followed = self.past = None
        self.body.clear()
        self.views.show_lane(FollowedLane(), is_live=False)
        self.failure.hide()
        self.head.clear()
        self._fill_view()
        self.shown.emit()

    def _show_followed(self) -> None:
        """Show the state of a run that goes on."""
        run = self.followed
        if run is None:
            return
        self.head.say_followed(run, is_own=run is self.own)
        self.chart.show_course(run.course, is_live=True)
        self._show_lane(run)
        counts = run.counts
        if counts is not None:
            self.body.show_counts(counts, run.course.latest("in"))
            self._fill_view()

    def _show_folder(self) -> None:
        """Look for messages of the run that goes on, once its id is known."""
        workbench, run = self._project.workbench, self.followed
        if run is not None and run.is_lane:
            live = self.production.followed
            self.messages.show_run(None, live.order.spec.sink.errors if live is not None else "", _NOT_OF_A_LANE)
        elif workbench is not None and run is not None and run.run_id:
            self.messages.show_live(run_folder(workbench.project_id, run.run_id))

    def _draw(self, outcome: JobOutcome[FollowedRun]) -> None:
        """Draw the course of a run that is over."""
        if outcome.value is not None:
            self.chart.show_course(outcome.value.course)
            self._show_lane(outcome.value)

    def _show_lane(self, run: FollowedRun) -> None:
        """Offer the view of a lane where the run is one, and fill it while it is in front."""
        self.head.offer_lane(run.is_lane)
        is_in_front = self.views.currentIndex() == LANE_VIEW
        if is_in_front and not run.is_lane:
            self.show_view(RUN_VIEW)
        elif is_in_front or not self.views.has_told_of(run.lane):
            self.views.show_lane(run.lane, is_live=run is self.followed)

    def _show_report(self, report: Mapping[str, Any], folder: Path) -> None:
        self.report = report
        self.body.show_counts(report, report["records_per_second"])
        self.messages.show_run(folder, str(report.get("errors") or ""))
        self.aside.show_report(report)
        self._fill_view()
        self.shown.emit()

    def _fill_view(self) -> None:
        """Fill the view in front; the others are filled when they come there."""
        counts = self.report or (self.followed.counts if self.followed is not None else None)
        view = self.views.currentIndex()
        if view == DETAILS_VIEW:
            self.views.details.show_counts(counts, self._project.newest)
        elif view == LANE_VIEW and self.followed is not None:
            self.views.show_lane(self.followed.lane, is_live=True)
        elif view == SPEED_VIEW:
            self.views.speed.show_figures(counts.get("kernel") if counts is not None else None)
            self.views.speed.show_runs(self.past_runs, str((self.report or {}).get("run_id", "")))

    # following

    def _take(self, event: EngineEvent) -> None:
        """Follow the run that this window does."""
        if self.own is not None and self._runs_for is self._project.workbench:
            self._take_of(self.own, event)

    def _take_production(self, event: EngineEvent) -> None:
        """Follow the production run that is attached."""
        if self.followed is not None and self.followed is not self.own:
            self._take_of(self.followed, event)

    def _take_of(self, run: FollowedRun, event: EngineEvent) -> None:
        is_new = run.take(event)
        if run is not self.followed:
            return
        if isinstance(event, RunStarted):
            self._show_folder()
        if is_new or isinstance(event, RunStarted):
            self._show_followed()
            if len(run.course) == _FIRST_COUNTS:
                self.shown.emit()  # from now on there is something to copy
            self.messages.look_again()

    def stop(self) -> None:
        """Stop the run that this window does."""
        self._spark.stop()
        if self.own is not None:
            self.own.is_stopping = True
            self._show_followed()

    def _act(self) -> None:
        """Stop the production run that is shown, or go on with it."""
        workbench = self._project.workbench
        if self.production.followed is not None and self.followed is not None:
            self.followed.is_stopping = True
            self.head.offer("")
            self._show_followed()
            self.production.stop(self.production.followed)
        elif self.past is not None and workbench is not None:
            self.head.offer("")
            self.production.resume(workbench, self.past.run_id)

    def _ended(self, outcome: JobOutcome[RunResult]) -> None:
        runs_for, self._runs_for = self._runs_for, None
        own, self.own = self.own, None
        if runs_for is not self._project.workbench or own is None:
            return
        is_shown = self.followed is own
        if outcome.value is None:
            self._show_entries()
            self._tell_unfinished(own, outcome.error, is_shown)
            self._list()
            return
        result = outcome.value
        report = result.report.as_json()
        if is_shown:
            self.followed = None
            own.course.finish(report)
            self.chart.show_course(own.course)
            self._show_report(report, result.folder)
            self.head.say_ended(result.report)
            self._wanted = result.report.run_id
        self._list()
        if result.report.problems:
            self.noted.emit(result.report.problems)
        if result.version_tasks:
            self.found_versions.emit(result.version_tasks)

    def _tell_unfinished(self, own: FollowedRun, error: MetlError | None, is_shown: bool) -> None:
        """Say within the page that a run was cancelled or failed; what it counted until then stays to be seen."""
        if not is_shown:
            if error is not None:
                self._project.refused.emit(error)
            return
        self.followed = None
        self.head.show_progress(None)
        self.chart.show_course(own.course)
        stays = self._what_stays()
        self.messages.show_run(None, nothing=stays)
        if error is None:
            self.head.say(own.title, stays, "cancelled")
            self._wanted = own.run_id
        else:
            state = "killed" if isinstance(error, RunKilledError) else "failed"
            self.head.say(own.title, stays, state, "bad")
            self.failure.show_error(error)

    def _what_stays(self) -> str:
        request = self.last_request
        if request is None:
            return what_stays("", in_batches=False)
        return what_stays(request.sink.address, in_batches=request.in_batches)

    def _production_started(self, run: LiveRun) -> None:
        self._wanted = run.run_id
        self._list()
        self.attach(run)

    def _production_failed(self, error: MetlError) -> None:
        if self.followed is None and self.past is None:
            self.head.say("Production", "was not started", "failed", "bad")
        self.failure.show_error(error)

    def _production_over(self, run: LiveRun) -> None:
        """Show what became of the run that was followed, once the history has it."""
        self._wanted = run.run_id
        self.followed = None
        self.head.offer("")
        self._list()

    # the project

    def _opened(self, _workbench: object) -> None:
        workbench = self._project.workbench
        self._spark.stop()  # the project that it would be kept with is closed
        self.starting.forget()
        self.own, self.past_runs = None, ()
        self.production.watch(workbench.project_id if workbench is not None else "")
        self._show_nothing()
        self.views.forget_comparison()
        self.show_view(RUN_VIEW)
        self.head.offer_lane(False)
        self.setup.history.show_entries(())
        if workbench is None:
            return
        captured = SampleFolder(workbench.path.parent).messages
        self.setup.source.setText(str(captured) if captured.is_dir() else "")
        self._list()

    def _list(self) -> None:
        """Read the history again; the row of a run that has just ended stays until then."""
        workbench = self._project.workbench
        if self.own is not None:
            self._show_entries()
        if workbench is not None:
            self._listing.start("Reading the runs", lambda _watch: runs(workbench, _HISTORY), self._listed)

    def _listed(self, outcome: JobOutcome[tuple[PastRun, ...]]) -> None:
        if outcome.value is None:
            if outcome.error is not None:
                self.failure.show_error(outcome.error)
            return
        is_first = not self.past_runs and self.report is None and self.followed is None and not self.head.title.text()
        self.past_runs = outcome.value
        self._show_entries()
        wanted, self._wanted = self._wanted, ""
        run = next((run for run in self.past_runs if run.run_id == wanted), None)
        if run is not None:
            self.setup.history.select(wanted)
            if self.followed is None and (self.report or {}).get("run_id") != wanted:
                self.show_past(run)
        elif is_first and self.past_runs:
            self.setup.history.select(self.past_runs[0].run_id)
            self.show_entry(entry_of_past(self.past_runs[0]))
        self._fill_view()

    def _show_entries(self) -> None:
        own = [entry_of_own(self.own, self.setup.source.text())] if self.own is not None else []
        past = sorted(self.past_runs, key=lambda run: run.status is not RunStatus.RUNNING)  # those that go on first
        self.setup.history.show_entries([*own, *(entry_of_past(run) for run in past)])

    def showEvent(self, event: QShowEvent) -> None:
        """Offer the profiles that there are now."""
        super().showEvent(event)
        self.targets.refresh()

    # building

    def _connect(self) -> None:
        project, spark = self._project, self._spark
        self.setup.run_wanted.connect(self.run_chosen)
        self.setup.stop_wanted.connect(self.stop)
        self.setup.history.chosen.connect(self.show_entry)
        self.setup.target.chosen.connect(spark.choose)
        self.head.view_wanted.connect(self.show_view)
        self.starting.test_ready.connect(self._run_test)
        self.starting.production_ready.connect(self._run_production)
        self.starting.refused.connect(project.refused)
        self.head.acted.connect(self._act)
        self.failure.again_wanted.connect(self.run_again)
        self.body.run_wanted.connect(self.run)
        self.by_entity.filled_wanted.connect(self.show_details)
        self.views.run_wanted.connect(self.show_run)
        self.production.changed.connect(self._list)
        self.production.ticked.connect(self._show_entries)
        self.production.started.connect(self._production_started)
        self.production.failed.connect(self._production_failed)
        self.production.told.connect(self._take_production)
        self.production.over.connect(self._production_over)
        project.opened.connect(self._opened)
        PanelUpdater(project, self, self.messages.refresh, lambda changed: not changed.same_trees)
        project.looked.connect(self.messages.refresh)
        spark.stated.connect(self.setup.target.show_state)
        spark.told.connect(self._take)
        spark.busy.connect(self.setup.show_busy)
        spark.busy.connect(self.aside.show_busy)
        spark.ended.connect(self._ended)

    def _central(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(18, 10, 18, 14)
        layout.setSpacing(10)
        layout.addWidget(self.head)
        layout.addWidget(self.failure)
        layout.addWidget(self.views, 1)
        return page
