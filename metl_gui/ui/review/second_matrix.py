"""Joins the Map page and the Review page: a second view of the same plane there, and the cards of ghosts here."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction

from metl_gui.ui.map.matrix_menu import show_matrix_menu
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.review.matrix_pane import MatrixPane
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.widgets.dock import FocusRing


class SecondMatrix(QObject):
    """Feeds a pane of the Review page from the Map page, and takes its gestures to the same mapper.

    Args:
        project, selection: of the window.
        page: the Map page.
        review: the Review page, which makes the pane when it is first looked at.

    Signals:
        loss_picked: (block key, ``Loss``) of a ghost that was clicked in either view.
    """

    loss_picked = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        page: MapPage,
        review: ReviewPage,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._page = page
        self._review = review
        self.keys: tuple[QAction, ...] = ()
        """Actions of the Map page's matrix whose keys hold here, too."""
        self.pane: MatrixPane | None = None
        page.matrix.loss_picked.connect(self.loss_picked)
        page.planes.arranged.connect(self._show)
        page.planes.edited.connect(self._show)
        review.detail.add_matrix(self._make)
        review.detail.matrix_shown.connect(self._show_item)

    def _make(self) -> MatrixPane:
        pane = self.pane = MatrixPane(self._project, self._selection)
        FocusRing(pane.matrix)
        pane.matrix.addActions(self.keys)
        self._page.others.append(pane.matrix)
        pane.matrix.sight.beside = self._page.edits.words_at
        pane.matrix.show_refused(frozenset(self._page.refused.found))
        pane.refused = self._page.refused.words
        pane.toggle_wanted.connect(self._page.mapper.toggle)
        pane.run_wanted.connect(self._page.mapper.run)
        pane.dropped.connect(self._page.drop)
        pane.loss_picked.connect(self.loss_picked)
        own = (("Look at the decision", pane.look_at_item), ("Fit the whole matrix", pane.matrix.fit))
        pane.matrix.menu_wanted.connect(lambda wish: show_matrix_menu(pane.matrix, wish, own, is_beside_cards=True))
        self._show()
        return pane

    def _show(self) -> None:
        if self.pane is not None:
            self.pane.show_content(self._page.planes.whole)

    def _show_item(self, is_shown: bool) -> None:
        if self.pane is not None and is_shown:
            self.pane.show_item(self._project.value, self._review.item)
