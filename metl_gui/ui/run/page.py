"""The Run page: setup and history left; figures, chart, tables and messages right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMainWindow, QVBoxLayout, QWidget

from metl_gui.engine.events import EngineEvent, RunProgressed, RunStarted, decode_event
from metl_gui.engine.runs import RunFolder
from metl_gui.errors import UserError
from metl_gui.store.runs import LoggedRun
from metl_gui.ui.dock import Dock
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.run.aside import HEADING_PX, AsidePanel
from metl_gui.ui.run.chart import RateChart
from metl_gui.ui.run.figures import Figures
from metl_gui.ui.run.message_panel import MessagePanel
from metl_gui.ui.run.rates import Rates
from metl_gui.ui.run.setup import RunSetup
from metl_gui.ui.run.spark import SparkRuns
from metl_gui.ui.run.tables import TableCell, TableModel, make_table
from metl_gui.workbench.places import run_folder
from metl_gui.workbench.replaying import ReplayRequest
from metl_gui.workbench.running import PRODUCTION, RunRequest, RunResult
from metl_gui.workbench.sample import SampleFolder
from metl_gui.workbench.session import Workbench

_HISTORY = 50


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

    def __init__(self, project: OpenProject, spark: SparkRuns, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setObjectName("runPage")
        self._project = project
        self._spark = spark
        self.rates = Rates()
        self.report: Mapping[str, Any] | None = None
        self._runs_for: Workbench | None = None
        self.setup = RunSetup()
        self.figures, self.chart = Figures(), RateChart()
        self.messages = MessagePanel(lambda: project.newest, jobs)
        self.by_entity = TableModel([TableCell("entity"), TableCell("messages", is_number=True), TableCell("")])
        self.aside = AsidePanel()
        self.dock = Dock("runSetupDock", "Run", self.setup)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.dock)
        self.setCentralWidget(self._central())
        self.setup.run_wanted.connect(self.run_chosen)
        self.aside.reason_chosen.connect(self.messages.show_reason)
        self.setup.stop_wanted.connect(spark.stop)
        self.setup.run_chosen.connect(self._show_logged)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        project.looked.connect(self.messages.refresh)
        spark.said.connect(self.setup.spark.setText)
        spark.told.connect(self._take)
        spark.busy.connect(self.setup.show_busy)
        spark.busy.connect(self.aside.show_busy)
        spark.ended.connect(self._ended)

    def run(self) -> None:
        """Map the chosen messages with what is on the screen."""
        self._run(self.setup.test_request)

    def run_chosen(self) -> None:
        """Map the chosen messages in the mode that is chosen."""
        self._run(self.setup.request)

    def replay(self, request: ReplayRequest) -> None:
        """Map again what a run set aside."""
        workbench = self._begin()
        if workbench is not None:
            self._spark.replay(workbench, request)

    def _run(self, request: RunRequest) -> None:
        if not request.source:
            missing = "Nothing to map yet.", "No messages are chosen.", "Choose a file or a folder under From."
        elif request.mode == PRODUCTION and not request.sink:
            missing = "Production needs a place for its messages.", "No folder is chosen.", "Choose one under To."
        else:
            workbench = self._begin()
            if workbench is not None:
                is_test = request.mode != PRODUCTION  # a test maps with what is on the screen, an earlier state too
                self._spark.run(workbench, replace(request, state=self._project.looks_back) if is_test else request)
            return
        if self._project.workbench is not None and not self._spark.is_running:
            self._project.refused.emit(UserError(*missing))

    def _begin(self) -> Workbench | None:
        """Clear the page for a run; None while another one goes on."""
        workbench = self._project.workbench
        if workbench is None or self._spark.is_running:
            return None
        self._clear()
        self._runs_for = workbench
        return workbench

    def _central(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        entities = make_table("Messages by entity", self.by_entity)
        tables = QHBoxLayout()
        tables.setSpacing(12)
        tables.addWidget(_card("By entity", entities), 1)
        tables.addWidget(self.aside, 1)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(18, 14, 18, 14)
        layout.setSpacing(12)
        layout.addWidget(self.figures)
        layout.addWidget(self.chart, 5)
        layout.addLayout(tables, 4)
        layout.addWidget(self.messages, 5)
        return page

    def _opened(self, _workbench: object) -> None:
        workbench = self._project.workbench
        self._spark.stop()  # the project that it would be kept with is closed
        self._clear()
        self.dock.say("Run", "")
        self.messages.show_run(None, None)
        if workbench is None:
            self.setup.show_history([])
            return
        captured = SampleFolder(workbench.path.parent).messages
        self.setup.source.setText(str(captured) if captured.is_dir() else "")
        runs = workbench.runs(_HISTORY)
        self.setup.show_history(runs)
        if runs:
            self._show_logged(runs[0])

    def _changed(self, changed: Changed) -> None:
        if not changed.same_trees:
            self.messages.refresh()

    def _clear(self) -> None:
        self.rates = Rates()
        self.report = None
        self.chart.show_rates(self.rates)
        self.figures.clear()
        self.by_entity.show_rows([])
        self.aside.clear()
        self.shown.emit()

    def _take(self, event: EngineEvent) -> None:
        """Follow a run that is going on."""
        if self._runs_for is not self._project.workbench:
            return
        self._take_course(event)
        if isinstance(event, RunProgressed):
            self.chart.show_rates(self.rates)
            self._show_counts(msgspec.to_builtins(event.tally), self.rates.latest("in"))

    def _take_course(self, event: EngineEvent) -> None:
        match event:
            case RunStarted():
                self.rates = Rates()
            case RunProgressed(seconds=seconds, tally=tally):
                self.rates.add(seconds, tally)
            case _:
                return

    def _ended(self, outcome: Outcome[RunResult]) -> None:
        runs_for, self._runs_for = self._runs_for, None
        if runs_for is not self._project.workbench:
            return
        if outcome.value is None:
            self.dock.say("Run", "stopped" if outcome.is_cancelled else "failed")
            if outcome.error is not None:
                self._project.refused.emit(outcome.error)
            return
        self.dock.say("Run", "")
        report = outcome.value.report.as_json()
        self._finish_course(report)
        self._show_report(report, outcome.value.folder)
        if self._project.workbench is not None:
            self.setup.show_history(self._project.workbench.runs(_HISTORY))
        if outcome.value.report.problems:
            self.noted.emit(outcome.value.report.problems)
        if outcome.value.version_tasks:
            self.found_versions.emit(outcome.value.version_tasks)

    def _finish_course(self, report: Mapping[str, Any]) -> None:
        """Draw a run that was over before it told its progress as one stretch."""
        if len(self.rates.points) == 1 and report["seconds"] > 0:
            self.rates.add_total(report["seconds"], report)
            self.chart.show_rates(self.rates)

    def _show_logged(self, run: LoggedRun) -> None:
        workbench = self._project.workbench
        if workbench is not None:
            self._clear()
            folder = RunFolder(run_folder(workbench.project_id, run.run_id))
            for line in folder.events():
                self._take_course(decode_event(line))
            self._finish_course(run.report)
            self.chart.show_rates(self.rates)
            self._show_report(run.report, folder.path)

    def _show_report(self, report: Mapping[str, Any], folder: Path) -> None:
        self.report = report
        self._show_counts(report, report["records_per_second"])
        errors = Path(report["errors"]) if report.get("errors") else None
        self.messages.show_run(folder, errors)
        self.aside.show_report(report)
        self.shown.emit()

    def _show_counts(self, counts: Mapping[str, Any], rate: float) -> None:
        self.figures.show_counts(counts, rate)
        entities = sorted(counts["by_entity"].items(), key=lambda pair: -pair[1])
        most = max((number for _, number in entities), default=1)
        self.by_entity.show_rows(
            [
                (TableCell(name), TableCell(f"{number:,}", is_number=True), TableCell("", share=number / most))
                for name, number in entities
            ]
        )
        self.aside.show_counts(counts["by_reason"])


def _card(words: str, panel: QWidget) -> QFrame:
    frame = QFrame()
    frame.setProperty("surface", "card")
    title = QLabel(words)
    title.setProperty("kind", "heading")
    title.setMinimumHeight(HEADING_PX)
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(14, 10, 14, 8)
    layout.addWidget(title)
    layout.addWidget(panel, 1)
    return frame
