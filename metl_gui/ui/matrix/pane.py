"""A rectangle of the matrix's scene that is painted by a function: the whole plane is one item, as are the headers."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget


class Pane(QGraphicsItem):
    """One painted rectangle.

    Args:
        paint_into: called with a painter whose origin is the pane's top left, and the pane's size.
        depth: panes of a greater depth lie above others.
    """

    def __init__(self, paint_into: Callable[[QPainter, QRectF], None], depth: float) -> None:
        super().__init__()
        self._paint_into = paint_into
        self._size = QRectF()
        self.setZValue(depth)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsToShape)

    def place(self, box: QRectF) -> None:
        """Put the pane at a box of the scene."""
        self.prepareGeometryChange()
        self._size = QRectF(0, 0, max(box.width(), 0.0), max(box.height(), 0.0))
        self.setPos(box.topLeft())

    def box(self) -> QRectF:
        """Return where the pane lies in the scene."""
        return self._size.translated(self.pos())

    def boundingRect(self) -> QRectF:
        """Return the pane's size, as Qt asks for it."""
        return self._size

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint through the function."""
        if not self._size.isEmpty():
            self._paint_into(painter, self._size)


def fill_around(painter: QPainter, area: QRectF, inner: QRectF, colour: QColor) -> None:
    """Fill an area but for a part of it that is painted anyway."""
    inner = inner.intersected(area)
    if inner.isEmpty():
        painter.fillRect(area, colour)
        return
    for part in (
        QRectF(area.left(), area.top(), area.width(), inner.top() - area.top()),
        QRectF(area.left(), inner.top(), inner.left() - area.left(), inner.height()),
        QRectF(inner.right(), inner.top(), area.right() - inner.right(), inner.height()),
        QRectF(area.left(), inner.bottom(), area.width(), area.bottom() - inner.bottom()),
    ):
        painter.fillRect(part, colour)
