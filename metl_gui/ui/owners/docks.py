"""The docks of owners on the Map page, hidden at first: gaps and comments."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.dock import Dock
from metl_gui.ui.document import OpenProject
from metl_gui.ui.jobs import Jobs
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.owners.comment_panel import CommentPanel
from metl_gui.ui.owners.commented import MatrixComments
from metl_gui.ui.owners.gap_panel import GapPanel
from metl_gui.ui.selection import Selection

_COMMENTS_PX = 360


class OwnerDocks(QObject):
    """Gaps stand behind the block editor as a tab, comments under the canonical model.

    Args:
        page: gets the docks.
        beside: the dock that gaps stand behind.
        jobs: where gaps are looked for.
    """

    def __init__(
        self, page: MapPage, beside: QDockWidget, project: OpenProject, selection: Selection, jobs: Jobs
    ) -> None:
        super().__init__(page)
        self._page = page
        self._is_laid_out = False
        self.gaps = GapPanel(project, selection, jobs)
        self.comments = CommentPanel(project, selection)
        self.in_matrix = MatrixComments(project, page.matrix, self)
        self.gaps_dock = Dock("gapsDock", "Gaps", self.gaps)
        self.comments_dock = Dock("commentsDock", "Comments", self.comments)
        page.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.gaps_dock)
        page.tabifyDockWidget(beside, self.gaps_dock)
        page.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.comments_dock)
        for dock in (self.gaps_dock, self.comments_dock):
            dock.hide()
        self.gaps.told.connect(self._tell_gaps)
        self.comments.told.connect(self._tell_comments)

    def show_gaps(self) -> None:
        """Show the gaps with the keyboard on them."""
        _front(self.gaps_dock, self.gaps.view)

    def show_comments(self) -> None:
        """Show the comments on what is selected, ready to write one."""
        is_new = self.comments_dock.isHidden() and not self._is_laid_out
        _front(self.comments_dock, self.comments.text)
        if is_new:  # the tree above it would leave it no room; from then on it is as a person makes it
            self._is_laid_out = True
            self._page.resizeDocks([self.comments_dock], [themes.px(_COMMENTS_PX)], Qt.Orientation.Vertical)

    def _tell_gaps(self, facts: str) -> None:
        self.gaps_dock.say("Gaps", facts)

    def _tell_comments(self, facts: str) -> None:
        self.comments_dock.say("Comments", facts)


def _front(dock: Dock, panel: QWidget) -> None:
    dock.show()
    dock.raise_()
    panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
