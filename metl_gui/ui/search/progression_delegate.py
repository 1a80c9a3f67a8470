"""Paints a cell of a version progression: a tile with its number, and what changed as a shape and a word."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.core.search.lineage_search import Step
from metl_gui.ui import theme as themes
from metl_gui.ui.search.progression_model import CELL_ROLE, ProgressCell
from metl_gui.ui.theme import Theme


class ProgressDelegate(QStyledItemDelegate):
    """Tiles with numbers."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Every tile is as large as the others."""
        return QSize(themes.px(124), themes.px(30))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one tile."""
        theme, cell = themes.current(), index.data(CELL_ROLE)
        box = QRectF(option.rect).adjusted(2, 2, -2, -2)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(cell, ProgressCell):
            _tile(painter, box, cell, theme)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.band)
            painter.drawRoundedRect(box, 4, 4)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 4, 4)
        painter.restore()


def _tile(painter: QPainter, box: QRectF, cell: ProgressCell, theme: Theme) -> None:
    colour, width = theme.review_outline
    painter.setPen(QPen(colour, width) if cell.waits else QPen(theme.line, 1))
    painter.setBrush(theme.reviewbg if cell.waits else theme.accentbg if cell.elements else theme.panel)
    painter.drawRoundedRect(box, 4, 4)
    scale = themes.scale()
    painter.setPen(theme.text)
    painter.setFont(themes.scaled(1.0, bold=True))
    number = QRectF(box.left() + 8 * scale, box.top(), 30 * scale, box.height())
    painter.drawText(number, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(cell.elements))
    mark = QRectF(number.right() + 8 * scale, box.center().y() - 4 * scale, 8 * scale, 8 * scale)
    ink = change_colour(cell.change, theme)
    paint_change(painter, mark, cell.change, ink)
    painter.setPen(ink)
    painter.setFont(themes.scaled(0.92))
    words = QRectF(mark.right() + 5 * scale, box.top(), box.right() - mark.right() - 8 * scale, box.height())
    painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, cell.change.value)


def change_colour(change: Step, theme: Theme) -> QColor:
    """Return the colour of the words of a change."""
    match change:
        case Step.LARGER:
            return theme.good
        case Step.SMALLER | Step.EMPTIED:
            return theme.review
        case Step.OTHER:
            return theme.text
        case _:
            return theme.dim


def paint_change(painter: QPainter, box: QRectF, change: Step, colour: QColor) -> None:
    """Draw the shape of a change: a triangle up or down, two bars, a dot, a lozenge, a dashed square."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    left, right, top, bottom = box.left(), box.right(), box.top(), box.bottom()
    middle = box.center()
    match change:
        case Step.LARGER:
            painter.drawPolygon(QPolygonF([QPointF(middle.x(), top), QPointF(right, bottom), QPointF(left, bottom)]))
        case Step.SMALLER:
            painter.drawPolygon(QPolygonF([box.topLeft(), box.topRight(), QPointF(middle.x(), bottom)]))
        case Step.SAME:
            for at in (0.18, 0.62):
                painter.drawRect(QRectF(left, top + at * box.height(), box.width(), box.height() * 0.2))
        case Step.FIRST:
            painter.drawEllipse(box)
        case Step.OTHER:
            corners = (QPointF(middle.x(), top), QPointF(right, middle.y()), QPointF(middle.x(), bottom))
            painter.drawPolygon(QPolygonF([*corners, QPointF(left, middle.y())]))
        case _:
            painter.setPen(QPen(colour, 1.2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
