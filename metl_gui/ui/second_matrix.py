"""Joins the two views of the matrix: what is laid out and edited on the Map page is so on the Review page too."""

from __future__ import annotations

from PySide6.QtCore import QObject

from metl_gui.ui.map.page import MapPage
from metl_gui.ui.review.matrix_pane import MatrixPane


class SecondMatrix(QObject):
    """Feeds the pane of the Review page from the Map page, and takes its gestures to the same mapper.

    Args:
        page: the Map page.
        pane: the second view.
    """

    def __init__(self, page: MapPage, pane: MatrixPane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self._pane = pane
        page.planes.arranged.connect(self._show)
        page.planes.edited.connect(self._show)
        page.views.append(pane.matrix)
        pane.toggle_wanted.connect(page.mapper.toggle)
        pane.run_wanted.connect(page.mapper.run)
        pane.dropped.connect(page.drop)
        self._show()

    def _show(self) -> None:
        self._pane.show_content(self._page.planes.whole)
