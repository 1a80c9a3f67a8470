"""The Run page: setup and history left; right the run that is shown, in several views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.engine.events import EngineEvent, RunStarted
from metl_gui.engine.runs import RunFolder
from metl_gui.errors import MetlError, UserError
from metl_gui.store.runs import LoggedRun
from metl_gui.ui.dock import Dock
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.run.body import RunBody
from metl_gui.ui.run.course import Course
from metl_gui.ui.run.details import DetailsPanel
from metl_gui.ui.run.entries import OWN, entry_of_logged, entry_of_own
from metl_gui.ui.run.figures import KERNEL, READ
from metl_gui.ui.run.followed import FollowedRun
from metl_gui.ui.run.head import VIEWS, FailureCard, RunHead
from metl_gui.ui.run.history_model import HistoryEntry
from metl_gui.ui.run.past_course import course_of
from metl_gui.ui.run.run_words import count_words, moment_words, source_words, title_words
from metl_gui.ui.run.setup import RunSetup
from metl_gui.ui.run.spark import SparkRuns
from metl_gui.ui.run.speed import SpeedPanel
from metl_gui.ui.run.target_box import without_secrets
from metl_gui.ui.settings import ViewSettings
from metl_gui.workbench.places import run_folder
from metl_gui.workbench.replaying import ReplayRequest
from metl_gui.workbench.running import PRODUCTION, TEST, RunRequest, RunResult
from metl_gui.workbench.sample import SampleFolder
from metl_gui.workbench.session import Workbench

_HISTORY = 100
_RUN, _DETAILS, _SPEED = (VIEWS.index(name) for name in ("Run", "Details", "Speed"))


class RunPage(QMainWindow):
    """One of the three pages.

    Signals:
        shown: another run is shown, or what is known of it changed.
        found_versions: ``VersionTask``s that a run which has just ended brought up.
        noted: what a person should know of a run that has just ended, in sentences.
    """

    shown = Signal()
    found_versions = Signal(object)
    noted = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        spark: SparkRuns,
        jobs: Jobs,
        settings: ViewSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("runPage")
        self._project, self._spark, self._settings = project, spark, settings
        self._reading = NewestJob(jobs, self)
        self.report: Mapping[str, Any] | None = None
        self.own: FollowedRun | None = None
        self.followed: FollowedRun | None = None
        self._runs: tuple[LoggedRun, ...] = ()
        self._runs_for: Workbench | None = None
        self._last: RunRequest | ReplayRequest | None = None
        self.setup, self.head, self.failure = RunSetup(), RunHead(), FailureCard()
        self.body = RunBody(lambda: project.newest, jobs)
        self.figures, self.chart, self.messages = self.body.figures, self.body.chart, self.body.messages
        self.aside, self.by_entity = self.body.aside, self.body.entities
        self.details, self.speed = DetailsPanel(), SpeedPanel()
        self.views = QStackedWidget()
        self.dock = Dock("runSetupDock", "Run", self.setup)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.dock)
        self.setCentralWidget(self._central())
        self._connect()
        self.setup.target.show_targets(settings.targets, ())

    # starting

    def run(self) -> None:
        """Map the chosen messages with what is on the screen."""
        self._run(self.setup.test_request)

    def run_chosen(self) -> None:
        """Map the chosen messages in the mode that is chosen."""
        self._run(self.setup.request)

    def run_again(self) -> None:
        """Start what was started last once more."""
        if isinstance(self._last, ReplayRequest):
            self.replay(self._last)
        elif self._last is not None:
            self._run(self._last)

    def replay(self, request: ReplayRequest) -> None:
        """Map again what a run set aside."""
        workbench = self._begin(request, "Replay in production" if request.mode == PRODUCTION else "Replay")
        if workbench is not None:
            self._spark.replay(workbench, request)

    def _run(self, request: RunRequest) -> None:
        if not request.source:
            missing = "Nothing to map yet.", "No messages are chosen.", "Choose a file or a folder under From."
        elif request.mode == PRODUCTION and not request.sink:
            missing = "Production needs a place for its messages.", "No folder is chosen.", "Choose one under To."
        else:
            workbench = self._begin(request, request.mode.capitalize())
            if workbench is not None:
                is_test = request.mode == TEST  # a test maps with what is on the screen, an earlier state too
                self._spark.run(workbench, replace(request, state=self._project.looks_back) if is_test else request)
            return
        if self._project.workbench is not None and not self._spark.is_running:
            self._project.refused.emit(UserError(*missing))

    def _begin(self, request: RunRequest | ReplayRequest, kind: str) -> Workbench | None:
        """Clear the page for a run; None while another one goes on."""
        workbench = self._project.workbench
        if workbench is None or self._spark.is_running:
            return None
        self._last, self._runs_for = request, workbench
        self._remember(request.spark)
        title = f"{kind} · state {self._project.value.state:,}" if request.mode == TEST else kind
        self.own = FollowedRun(title)
        self._show_history()
        self.show_own()
        return workbench

    def _remember(self, target: str) -> None:
        known = without_secrets(target)
        if known:
            self._settings.remember_target(known)
            self.setup.target.show_targets(self._settings.targets, ())

    # what is shown

    def show_view(self, number: int) -> None:
        """Show another view of the run."""
        self.views.setCurrentIndex(number)
        self.head.show_view(number)
        self._show_other_views()

    def show_speed(self) -> None:
        """Show how fast the kernel is."""
        self.show_view(_SPEED)

    def show_details(self, entity: str = "") -> None:
        """Show which versions were read and how far attributes are filled."""
        self.show_view(_DETAILS)
        if entity:
            self.details.show_entity(entity)

    def show_own(self) -> None:
        """Show the run that this window does just now."""
        if self.own is not None:
            self._clear()
            self.followed = self.own
            self.setup.history.select(OWN)
            self._show_followed()

    def show_entry(self, entry: HistoryEntry) -> None:
        """Show a run of the history."""
        if isinstance(entry.run, FollowedRun):
            self.show_own()
        elif isinstance(entry.run, LoggedRun):
            self._show_logged(entry.run)

    def show_run(self, run_id: str) -> None:
        """Show a run by its id."""
        run = next((run for run in self._runs if run.run_id == run_id), None)
        if run is not None:
            self.setup.history.select(run_id)
            self.show_view(_RUN)
            self._show_logged(run)

    def _clear(self) -> None:
        self._reading.cancel()
        self.report = self.followed = None
        self.body.clear()
        self.failure.hide()
        self.head.say("", "", "")
        self.head.show_progress(None)
        self._show_other_views()
        self.shown.emit()

    def _show_followed(self) -> None:
        """Show the state of a run that goes on."""
        run = self.followed
        if run is None:
            return
        self.head.say(run.title, run.facts, "live" if run.is_endless else "running", "accent")
        self.head.show_progress(None if run.is_endless else run.share)
        self.chart.show_course(run.course, is_live=True)
        counts = run.counts
        if counts is not None:
            self.body.show_counts(counts, run.course.latest("in"))
            self._show_other_views()

    def _show_logged(self, run: LoggedRun) -> None:
        workbench = self._project.workbench
        if workbench is None:
            return
        self._clear()
        folder = RunFolder(run_folder(workbench.project_id, run.run_id))
        self._show_report(run.report, folder.path)
        facts = f"{moment_words(run.when_ms)} · {source_words(str(run.report.get('source', '')))}"
        self._say_ended(run.report, facts)
        self._reading.start("Reading the course of the run", lambda _watch: course_of(folder, run.report), self._draw)

    def _draw(self, outcome: Outcome[Course]) -> None:
        if outcome.value is not None:
            self.chart.show_course(outcome.value)

    def _show_report(self, report: Mapping[str, Any], folder: Path) -> None:
        self.report = report
        self.body.show_counts(report, report["records_per_second"])
        errors = Path(report["errors"]) if report.get("errors") else None
        self.messages.show_run(folder, errors)
        self.aside.show_report(report)
        self._show_other_views()
        self.shown.emit()

    def _say_ended(self, report: Mapping[str, Any], facts: str) -> None:
        is_stopped = bool(report.get("is_stopped"))
        parts = " · ".join(part for part in (count_words(report), facts) if part)
        self.head.say(title_words(report), parts, "stopped" if is_stopped else "finished")

    def _show_other_views(self) -> None:
        """Fill the view in front; the others are filled when they come there."""
        counts = self.report or (self.followed.counts if self.followed is not None else None)
        view = self.views.currentIndex()
        if view == _DETAILS:
            self.details.show_counts(counts, self._project.newest)
        elif view == _SPEED:
            self.speed.show_figures(counts.get("kernel") if counts is not None else None)
            self.speed.show_runs(self._runs, str((self.report or {}).get("run_id", "")))

    # following

    def _take(self, event: EngineEvent) -> None:
        """Follow the run that this window does."""
        if self.own is None or self._runs_for is not self._project.workbench:
            return
        is_new = self.own.take(event)
        if isinstance(event, RunStarted) and self._project.workbench is not None:
            folder = run_folder(self._project.workbench.project_id, event.run_id)
            self.own.samples = folder / f".samples.{event.run_id}.partial"
            if self.followed is self.own:
                self.messages.show_live(self.own.samples)
        if self.followed is self.own and (is_new or isinstance(event, RunStarted)):
            self._show_followed()
            self.messages.look_again()

    def _stop(self) -> None:
        self._spark.stop()
        if self.own is not None:
            self.own.is_stopping = True
            self._show_followed()

    def _ended(self, outcome: Outcome[RunResult]) -> None:
        runs_for, self._runs_for = self._runs_for, None
        own, self.own = self.own, None
        if runs_for is not self._project.workbench or own is None:
            return
        is_shown = self.followed is own
        self._show_history()
        if outcome.value is None:
            self._tell_unfinished(own, outcome.error, is_shown)
            return
        result = outcome.value
        report = result.report.as_json()
        if is_shown:
            self.followed = None
            own.course.finish(report)
            self.chart.show_course(own.course)
            self.head.show_progress(None)
            self.setup.history.select(result.report.run_id)
            self._show_report(report, result.folder)
            self._say_ended(report, source_words(result.report.source))
        if result.report.problems:
            self.noted.emit(result.report.problems)
        if result.version_tasks:
            self.found_versions.emit(result.version_tasks)

    def _tell_unfinished(self, own: FollowedRun, error: MetlError | None, is_shown: bool) -> None:
        """Say within the page that a run was stopped or failed; what it counted until then stays to be seen."""
        if not is_shown:
            if error is not None:
                self._project.refused.emit(error)
            return
        self.followed = None
        self.head.show_progress(None)
        self.chart.show_course(own.course)
        self.messages.show_run(None, None)
        if error is None:
            self.head.say(own.title, "Nothing of it was kept.", "stopped")
        else:
            self.head.say(own.title, "Nothing of it was kept.", "failed", "bad")
            self.failure.show_error(error)

    # the project

    def _opened(self, _workbench: object) -> None:
        workbench = self._project.workbench
        self._spark.stop()  # the project that it would be kept with is closed
        self.own = None
        self._clear()
        self.show_view(_RUN)
        self._show_history()
        if workbench is None:
            return
        captured = SampleFolder(workbench.path.parent).messages
        self.setup.source.setText(str(captured) if captured.is_dir() else "")
        if self._runs:
            self.setup.history.select(self._runs[0].run_id)
            self._show_logged(self._runs[0])

    def _changed(self, changed: Changed) -> None:
        if not changed.same_trees:
            self.messages.refresh()

    def _show_history(self) -> None:
        workbench = self._project.workbench
        self._runs = tuple(workbench.runs(_HISTORY)) if workbench is not None else ()
        own = [entry_of_own(self.own, self.setup.source.text())] if self.own is not None else []
        self.setup.history.show_entries([*own, *(entry_of_logged(run) for run in self._runs)])

    def _follow_figure(self, figure: str) -> None:
        if figure == READ:
            self.show_details()
        elif figure == KERNEL:
            self.show_speed()

    # building

    def _connect(self) -> None:
        project, spark = self._project, self._spark
        self.setup.run_wanted.connect(self.run_chosen)
        self.setup.stop_wanted.connect(self._stop)
        self.setup.history.chosen.connect(self.show_entry)
        self.setup.target.chosen.connect(spark.choose)
        self.head.view_wanted.connect(self.show_view)
        self.failure.again_wanted.connect(self.run_again)
        self.figures.followed.connect(self._follow_figure)
        self.by_entity.filled_wanted.connect(self.show_details)
        self.speed.run_wanted.connect(self.show_run)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        project.looked.connect(self.messages.refresh)
        spark.stated.connect(self.setup.target.show_state)
        spark.told.connect(self._take)
        spark.busy.connect(self.setup.show_busy)
        spark.busy.connect(self.aside.show_busy)
        spark.ended.connect(self._ended)

    def _central(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        for view in (self.body, self.details, self.speed):
            self.views.addWidget(view)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(18, 10, 18, 14)
        layout.setSpacing(10)
        layout.addWidget(self.head)
        layout.addWidget(self.failure)
        layout.addWidget(self.views, 1)
        return page
