"""What marks elements and attributes: shape first, colour second. Used by the matrix, the trees and the legend alike.

Source: docs/guide/mapping.md, "Look".
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.theming.theme import Theme


class MarkShape(StrEnum):
    """What a mark says."""

    MAPPED = "mapped"
    UNCONFIRMED = "mapped, block not confirmed"
    WAITS = "mapped, one of its elements was lost"
    LOST = "lost in this version"
    NEW = "new"
    HOLLOW = "unmapped"
    IGNORED = "never to be mapped"
    RETIRED = "retired"
    SUGGESTED = "suggested"
    ADDED = "added since another state"


def paint_mark(painter: QPainter, box: QRectF, shape: MarkShape, theme: Theme) -> None:
    """Draw a mark into a square box."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    radius = box.width() * 0.22
    painter.setPen(Qt.PenStyle.NoPen)
    if shape is MarkShape.MAPPED:
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(box, radius, radius)
    elif shape is MarkShape.WAITS:
        _outlined(painter, box, radius, theme)
    elif shape is MarkShape.UNCONFIRMED:
        _half(painter, box, radius, theme.accent)
    elif shape is MarkShape.NEW:
        _notched(painter, box, theme.accent)
    elif shape is MarkShape.ADDED:
        _added(painter, box, radius, theme)
    else:
        _hollow(painter, box, radius, shape, theme)
    painter.restore()


def paint_cross(painter: QPainter, box: QRectF, theme: Theme, colour: QColor | None = None) -> None:
    """Draw the cross of an element over its square: a merge was in conflict about it."""
    _crossed(painter, box, theme.panel if colour is None else colour, max(1.4, box.width() * 0.13))


VERDICT_PX = 4.0
"""So far below its square the sign of a type reaches."""


def paint_verdict(painter: QPainter, box: QRectF, verdict: TypeVerdict, theme: Theme) -> None:
    """Draw at the square of an element what becomes of its values in a typed column.

    A red cross over it: some may be refused. A dim line below it: all are read, in another form.
    """
    if verdict is TypeVerdict.MAY_REFUSE:
        width = max(1.6, box.width() * 0.15)
        _crossed(painter, box, theme.panel, 2.2 * width)
        _crossed(painter, box, theme.bad, width)
    elif verdict is TypeVerdict.REINTERPRETED:
        painter.fillRect(QRectF(box.left(), box.bottom() + VERDICT_PX - 2.0, box.width(), 2.0), theme.dim)


def _crossed(painter: QPainter, box: QRectF, colour: QColor, width: float) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    inner = box.adjusted(box.width() * 0.27, box.width() * 0.27, -box.width() * 0.27, -box.width() * 0.27)
    painter.drawLine(inner.topLeft(), inner.bottomRight())
    painter.drawLine(inner.topRight(), inner.bottomLeft())
    painter.restore()


def _outlined(painter: QPainter, box: QRectF, radius: float, theme: Theme) -> None:
    colour, _ = theme.review_outline
    painter.setPen(QPen(colour, 1.2))
    painter.setBrush(theme.reviewmark)
    painter.drawRoundedRect(box.adjusted(0.6, 0.6, -0.6, -0.6), radius, radius)


def _added(painter: QPainter, box: QRectF, radius: float, theme: Theme) -> None:
    """Draw a plus over a filled square."""
    painter.setBrush(theme.good)
    painter.drawRoundedRect(box, radius, radius)
    painter.setPen(QPen(theme.panel, max(1.4, box.width() * 0.14), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    inner, centre = box.adjusted(*(box.width() * part for part in (0.25, 0.25, -0.25, -0.25))), box.center()
    painter.drawLine(QPointF(inner.left(), centre.y()), QPointF(inner.right(), centre.y()))
    painter.drawLine(QPointF(centre.x(), inner.top()), QPointF(centre.x(), inner.bottom()))


def _half(painter: QPainter, box: QRectF, radius: float, colour: QColor) -> None:
    path = QPainterPath()
    path.addRoundedRect(box, radius, radius)
    painter.save()
    painter.setClipPath(path)
    painter.fillRect(QRectF(box.left(), box.center().y(), box.width(), box.height()), colour)
    painter.restore()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, 1.4))
    painter.drawRoundedRect(box.adjusted(0.7, 0.7, -0.7, -0.7), radius, radius)


def _notched(painter: QPainter, box: QRectF, colour: QColor) -> None:
    cut = box.width() * 0.45
    corners = [
        box.topLeft(),
        QPointF(box.right() - cut, box.top()),
        QPointF(box.right(), box.top() + cut),
        box.bottomRight(),
        box.bottomLeft(),
    ]
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(corners))


def _hollow(painter: QPainter, box: QRectF, radius: float, shape: MarkShape, theme: Theme) -> None:
    pens = {
        MarkShape.LOST: QPen(theme.review_outline[0], 1.4, Qt.PenStyle.CustomDashLine),
        MarkShape.SUGGESTED: QPen(theme.good, 1.8),
    }
    pen = pens.get(shape, QPen(theme.dim, 1.2))
    if shape is MarkShape.LOST:
        pen.setDashPattern([2.0, 1.6])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = box.adjusted(0.8, 0.8, -0.8, -0.8)
    if shape is MarkShape.SUGGESTED:
        painter.drawEllipse(inner)
        return
    if shape is MarkShape.IGNORED:
        middle = box.center().y()
        painter.drawLine(QPointF(inner.left(), middle), QPointF(inner.right(), middle))
        return
    painter.drawRoundedRect(inner, radius, radius)
    if shape is MarkShape.RETIRED:
        painter.drawLine(QPointF(box.left() - 2, box.center().y()), QPointF(box.right() + 2, box.center().y()))


def paint_bubble(painter: QPainter, at: QPointF, theme: Theme) -> None:
    """Draw a small speech bubble: somebody commented on this."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.dim)
    painter.drawRoundedRect(QRectF(at.x(), at.y() - 5, 11, 8), 2, 2)
    x, y = at.x() + 2.5, at.y() + 2.5
    painter.drawPolygon(QPolygonF([QPointF(x, y), QPointF(x + 4, y), QPointF(x, y + 3.5)]))
