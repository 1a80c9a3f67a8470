"""Suggestions on the Map page: the dock, and the ghosts in matrix and block editor."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from metl_gui.ui.dock import Dock
from metl_gui.ui.document import OpenProject
from metl_gui.ui.jobs import Jobs
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.selection import Selection
from metl_gui.ui.suggest.panel import Part, SuggestionPanel
from metl_gui.ui.suggest.suggestions import Suggestions


class SuggestionRoom(QObject):
    """Joins suggestions with the page.

    Signals:
        said: a ``Said``.

    Args:
        page: gets the dock, below the CDM tree.
        jobs: where suggestions of large blocks are worked out.
    """

    said = Signal(object)

    def __init__(self, page: MapPage, project: OpenProject, selection: Selection, jobs: Jobs) -> None:
        super().__init__(page)
        self._page = page
        self.suggestions = Suggestions(project, selection, jobs, self)
        self.panel = SuggestionPanel(project, self.suggestions)
        self.dock = Dock("suggestionDock", "Suggestions", self.panel)
        page.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        page.splitDockWidget(page.target_dock, self.dock, Qt.Orientation.Vertical)
        self.dock.hide()
        self.suggestions.ghosts_changed.connect(page.matrix.show_ghosts)
        self.suggestions.ghosts_changed.connect(page.block.show_ghosts)
        self.suggestions.moved.connect(page.matrix.announce)
        self.suggestions.said.connect(self.said)
        page.matrix.ghost_accepted.connect(self.suggestions.accept_ghost)
        page.matrix.ghosts_dismissed.connect(self.dismiss)
        self.panel.told.connect(self._tell)
        self.panel.left.connect(self._leave)

    def show(self) -> None:
        """Show the panel with the keyboard on it."""
        is_opening = self.dock.isHidden()
        self.dock.show()
        self.dock.raise_()
        if is_opening and not self.dock.isFloating():
            wish = self.panel.sizeHint().height()
            self._page.resizeDocks([self.dock], [wish], Qt.Orientation.Vertical)
        self.panel.take_focus()

    def show_refused(self) -> None:
        """Show what was refused."""
        self.show()
        self.panel.show_part(Part.REFUSED)

    def dismiss(self) -> None:
        """Take the ghosts away; without the panel nothing is looked for until somebody asks again."""
        if self.panel.isVisible():
            self.suggestions.dismiss()
        else:
            self.suggestions.want(False)

    def _leave(self) -> None:
        self._page.matrix.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, told: tuple[str, str]) -> None:
        self.dock.say(*told)
