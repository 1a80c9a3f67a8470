"""A list row of two lines, a bold and a dim one, with a pill at the right: review list and run history."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.row_background import paint_row_background

WORDS_ROLE = int(Qt.ItemDataRole.UserRole) + 7
ROW_PX = 54


@dataclass(frozen=True)
class TwoLines:
    """What a row says.

    Args:
        title: the bold line.
        facts: the dim one.
        pill, kind: at the right.
        short: what the bold line says where there is no room for the title; empty to cut the title.
    """

    title: str
    facts: str
    pill: str = ""
    kind: str = "plain"
    short: str = ""


class TwoLineDelegate(QStyledItemDelegate):
    """Paints rows from their ``TwoLines``."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Two lines high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        words = index.data(WORDS_ROLE)
        if not isinstance(words, TwoLines):
            return
        theme = themes.current()
        box = QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        painter.setPen(theme.line)
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        width = pill_width(words.pill) if words.pill else -8.0
        px = themes.px
        pill = QRectF(box.right() - width - 14, box.top() + px(8), width, px(18))
        painter.setFont(themes.scaled(1.0, bold=True))
        painter.setPen(theme.text)
        room = QRectF(box.left() + 14, box.top() + px(6), pill.left() - box.left() - 22, px(22))
        is_cut = words.short and QFontMetricsF(painter.font()).horizontalAdvance(words.title) > room.width()
        _line(painter, room, words.short if is_cut else words.title)
        painter.setFont(themes.small())
        painter.setPen(theme.text if is_selected else theme.dim)
        _line(painter, QRectF(box.left() + 14, box.top() + px(27), box.width() - 28, px(20)), words.facts)
        if words.pill:
            paint_pill(painter, pill, words.pill, words.kind)
        painter.restore()


def _line(painter: QPainter, box: QRectF, words: str) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideMiddle, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
