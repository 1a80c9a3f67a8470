"""A row of the panel of suggestions: what, why, and how sure, as a bar with its number."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.row_background import paint_row_background
from metl_gui.ui.suggest.model import ROW_ROLE
from metl_gui.ui.suggest.rows import Row

ROW_PX = 46
_BAR_PX = 36


class SuggestionDelegate(QStyledItemDelegate):
    """Paints rows of suggestions."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Two lines high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        row = index.data(ROW_ROLE)
        if not isinstance(row, Row):
            return
        theme, px, box = themes.current(), themes.px, QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        painter.setPen(theme.line)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        left, right = box.left() + px(12), box.right() - px(12)
        first = QRectF(left, box.top() + px(4), right - left, px(20))
        second = QRectF(left, box.top() + px(23), right - left, px(18))
        if row.score is not None:
            first.setRight(_paint_number(painter, first, row.score) - px(8))
            second.setLeft(_paint_bar(painter, second, row.score) + px(8))
        painter.setFont(themes.scaled(1.0))
        painter.setPen(theme.text)
        _line(painter, first, row.title, Qt.TextElideMode.ElideMiddle)
        painter.setFont(themes.small())
        painter.setPen(theme.text if is_selected else theme.dim)
        _line(painter, second, row.facts, Qt.TextElideMode.ElideRight)
        painter.restore()


def _paint_number(painter: QPainter, line: QRectF, score: float) -> float:
    """Paint the number at the right end of a line and return where it begins."""
    painter.setFont(themes.mono())
    painter.setPen(themes.current().text)
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{score:.2f}")
    return line.right() - QFontMetricsF(painter.font()).horizontalAdvance("0.00")


def _paint_bar(painter: QPainter, line: QRectF, score: float) -> float:
    """Paint the score as a bar at the left end of a line and return where it ends."""
    theme, width, height = themes.current(), themes.px(_BAR_PX), themes.px(5)
    trough = QRectF(line.left(), line.center().y() - height / 2, width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.line)
    painter.drawRoundedRect(trough, height / 2, height / 2)
    painter.setBrush(theme.good)
    painter.drawRoundedRect(trough.adjusted(0, 0, -width * (1 - score), 0), height / 2, height / 2)
    return trough.right()


def _line(painter: QPainter, box: QRectF, words: str, mode: Qt.TextElideMode) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, mode, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
