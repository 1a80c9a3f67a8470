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
_BAR_PX = 48


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
        right = box.right() - px(12)
        if row.score is not None:
            right = _paint_score(painter, box, row.score) - px(10)
        left = box.left() + px(12)
        painter.setFont(themes.scaled(1.0))
        painter.setPen(theme.text)
        _line(painter, QRectF(left, box.top() + px(4), right - left, px(20)), row.title, Qt.TextElideMode.ElideMiddle)
        painter.setFont(themes.small())
        painter.setPen(theme.text if is_selected else theme.dim)
        below = QRectF(left, box.top() + px(23), box.right() - px(12) - left, px(18))
        _line(painter, below, row.facts, Qt.TextElideMode.ElideRight)
        painter.restore()


def _paint_score(painter: QPainter, box: QRectF, score: float) -> float:
    """Paint bar and number into the right end of the first line and return where they begin."""
    theme, px, words = themes.current(), themes.px, f"{score:.2f}"
    painter.setFont(themes.mono())
    width = QFontMetricsF(painter.font()).horizontalAdvance("0.00")
    number = QRectF(box.right() - px(12) - width, box.top() + px(4), width, px(20))
    painter.setPen(theme.text)
    painter.drawText(number, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
    trough = QRectF(number.left() - px(6) - px(_BAR_PX), number.center().y() - px(2), px(_BAR_PX), px(5))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.line)
    painter.drawRoundedRect(trough, px(2), px(2))
    painter.setBrush(theme.good)
    painter.drawRoundedRect(
        QRectF(trough.topLeft(), trough.size()).adjusted(0, 0, -trough.width() * (1 - score), 0), 2, 2
    )
    return trough.left()


def _line(painter: QPainter, box: QRectF, words: str, mode: Qt.TextElideMode) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, mode, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
