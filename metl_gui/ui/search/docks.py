"""The lists beside the matrix as docks of the Map page: hidden at first, one tab beside the other."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.search.answer_panel import AnswerPanel
from metl_gui.ui.search.progression import ProgressionPanel
from metl_gui.ui.table.panel import MappingPanel
from metl_gui.ui.widgets.dock import Dock


class ListDocks(QObject):
    """Mapping list, reverse search, forward search and version progression.

    Signals:
        said: what came of copying or clearing, for a notice.

    Args:
        page: gets the docks.
        beside: the dock they stand behind, as tabs.
        jobs: where large projects are sorted.
        settings: where columns are kept.
    """

    said = Signal(object)

    def __init__(
        self,
        page: QMainWindow,
        beside: QDockWidget,
        project: OpenProject,
        selection: Selection,
        jobs: Jobs,
        settings: ViewSettings,
    ) -> None:
        super().__init__(page)
        self.mapping = MappingPanel(project, selection, jobs, settings)
        self.reverse = AnswerPanel(Side.CDM, project, selection)
        self.forward = AnswerPanel(Side.EXTRACTION, project, selection)
        self.progression = ProgressionPanel(project, selection)
        self.mapping_dock = Dock("mappingDock", "Mapping list", self.mapping)
        self.reverse_dock = Dock("reverseDock", "Reverse search", self.reverse)
        self.forward_dock = Dock("forwardDock", "Forward search", self.forward)
        self.progression_dock = Dock("progressionDock", "Version progression", self.progression)
        for dock in (self.mapping_dock, self.reverse_dock, self.forward_dock, self.progression_dock):
            page.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
            page.tabifyDockWidget(beside, dock)
            dock.hide()
        self.mapping.told.connect(self._tell_mapping)
        self.mapping.said.connect(self.said)
        self.reverse.told.connect(self._tell_reverse)
        self.forward.told.connect(self._tell_forward)
        self.progression.told.connect(self._tell_progression)

    def show_mapping(self) -> None:
        """Show the mapping list with the keyboard on it."""
        _front(self.mapping_dock, self.mapping.view)

    def show_reverse(self) -> None:
        """Show what feeds the selected CDM node."""
        self.reverse.bar.pin.setChecked(False)
        _front(self.reverse_dock, self.reverse.view)

    def show_forward(self) -> None:
        """Show where the selected extraction node goes."""
        self.forward.bar.pin.setChecked(False)
        _front(self.forward_dock, self.forward.view)

    def show_progression(self) -> None:
        """Show how the mapping of the selected schema changed."""
        self.progression.bar.pin.setChecked(False)
        _front(self.progression_dock, self.progression.view)

    def _tell_mapping(self, facts: str) -> None:
        self.mapping_dock.say("Mapping list", facts)

    def _tell_reverse(self, told: tuple[str, str]) -> None:
        self.reverse_dock.say(*told)

    def _tell_forward(self, told: tuple[str, str]) -> None:
        self.forward_dock.say(*told)

    def _tell_progression(self, told: tuple[str, str]) -> None:
        self.progression_dock.say(*told)


def _front(dock: Dock, view: QWidget) -> None:
    dock.show()
    dock.raise_()
    view.setFocus(Qt.FocusReason.ShortcutFocusReason)
