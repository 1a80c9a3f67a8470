"""The legend below the plane: the marks that can be met, each with its words."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from metl_gui.ui import theme as themes
from metl_gui.ui.marks import MarkShape, paint_cross, paint_mark
from metl_gui.ui.theme import Theme

HEIGHT_PX = 26.0
_ENTRIES = ("mapped", "not confirmed", "needs review", "lost element", "type differs")


def paint_legend(painter: QPainter, size: QRectF, theme: Theme) -> None:
    """Paint the entries from left to right, as many as fit."""
    font = themes.small()
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    x = 6.0
    for words in _ENTRIES:
        width = 20 + metrics.horizontalAdvance(words) + 16
        if x + width > size.width():
            return
        _paint_sign(painter, words, QRectF(x, size.center().y() - 6, 12, 12), theme)
        painter.setPen(theme.dim)
        painter.drawText(QRectF(x + 18, 0, width, size.height()), Qt.AlignmentFlag.AlignVCenter, words)
        x += width


def _paint_sign(painter: QPainter, words: str, box: QRectF, theme: Theme) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if words == "needs review":
        painter.setPen(QPen(theme.review_outline[0], theme.review_outline[1]))
        painter.setBrush(theme.reviewbg)
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 2, 2)
    elif words == "lost element":
        pen = QPen(theme.review_outline[0], 1.6, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2.4, 1.8])
        painter.setPen(pen)
        painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))
    else:
        shape = MarkShape.UNCONFIRMED if words == "not confirmed" else MarkShape.MAPPED
        paint_mark(painter, box, shape, theme)
        if words == "type differs":
            paint_cross(painter, box, theme)
