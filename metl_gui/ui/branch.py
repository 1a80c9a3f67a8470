"""The plain triangle beside a row that can be opened, in the colour of quiet text."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QTreeView, QWidget

from metl_gui.ui import theme as themes


def paint_branch(painter: QPainter, rect: QRect, is_open: bool) -> None:
    """Draw the triangle into the last part of a row's indentation."""
    x, y = rect.right() - 7.0, rect.center().y() + 0.5
    shape = [QPointF(x - 3.5, y - 2), QPointF(x + 3.5, y - 2), QPointF(x, y + 2.5)]
    if not is_open:
        shape = [QPointF(x - 2, y - 3.5), QPointF(x - 2, y + 3.5), QPointF(x + 2.5, y)]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().dim)
    painter.drawPolygon(shape)
    painter.restore()


class BranchView(QTreeView):
    """A tree view whose branches are those triangles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformRowHeights(True)
        self.setIndentation(14)

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw a triangle beside what can be opened, on the row's own ground."""
        if self.selectionModel().isSelected(index):
            painter.fillRect(rect, themes.current().sel)
        if self.model().hasChildren(index):
            paint_branch(painter, rect, self.isExpanded(index))
