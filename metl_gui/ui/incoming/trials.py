"""Tries schemas that are not live yet beside the window, and shows what they would do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog

from metl_gui.core.trees.nodes import Side
from metl_gui.registry.reading import Reading
from metl_gui.ui import asking
from metl_gui.ui.incoming.trial_sheet import TrialSheet
from metl_gui.ui.jobs import Outcome, Task
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.showing import show_about
from metl_gui.workbench.importing import read_sources
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.recognizing import Recognized, likely_side
from metl_gui.workbench.trying import Trial, try_reading

if TYPE_CHECKING:
    from metl_gui.ui.window import Window


class Trials(QObject):
    """The dry runs of one window."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._trying = NewestJob(window.jobs, self)
        self._reading = Reading()

    def ask_and_try(self) -> None:
        """Ask for schema files and try them."""
        workbench = self._window.project.workbench
        folder = str(workbench.path.parent) if workbench is not None else str(Path.home())
        names, _ = QFileDialog.getOpenFileNames(self._window, "Schemas to try, nothing is added", folder)
        if names:
            self.try_files([Path(name) for name in names])

    def try_files(self, paths: list[Path]) -> None:
        """Read files and try the versions in them."""
        aside = self._window.jobs.worker.call
        self._start(lambda watch: aside(partial(read_sources, tuple(paths), "auto"), watch))

    def try_reading(self, reading: Reading) -> None:
        """Try versions that were read already."""
        self._start(lambda _watch: reading)

    def _start(self, read: Task[Reading]) -> None:
        document = self._window.project.value
        if self._window.project.workbench is None:
            return
        refused = self._window.project.refused_renames()

        def task(watch: Watch) -> tuple[Reading, Side, Trial]:
            reading = read(watch)
            side = likely_side(reading, document)
            return reading, side, try_reading(document, side, reading, refused, watch)

        self._trying.start("Trying schemas", task, self._show)

    def _show(self, outcome: Outcome[tuple[Reading, Side, Trial]]) -> None:
        if outcome.error is not None:
            asking.tell(outcome.error, self._window)
        if outcome.value is None:
            return
        self._reading, side, trial = outcome.value
        why_not = self._window.project.why_not
        sheet = TrialSheet(trial, side, why_not, self._window)
        sheet.add_wanted.connect(self._add, Qt.ConnectionType.QueuedConnection)
        show_about(self._window.project, sheet)

    def _add(self, side: Side) -> None:
        self._window.commands.add_schemas(side, Recognized(schemas=self._reading))
