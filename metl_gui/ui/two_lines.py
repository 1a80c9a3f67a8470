"""A list row of two lines, a bold and a dim one, with a pill at the right: review list and run history."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui import theme as themes
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.place_label import fitted
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
        px = themes.px
        width = pill_width(words.pill) if words.pill else -8.0
        painter.setFont(themes.scaled(1.0, bold=True))
        painter.setPen(theme.text)
        whole, beside = box.width() - 28, box.width() - 36 - width
        title = _title(words, painter.fontMetrics(), beside)
        is_below = bool(words.pill) and title is None  # the title comes first: it gets the line for itself
        room = QRectF(box.left() + 14, box.top() + px(6), whole if is_below else beside, px(22))
        _line(painter, room, title or fitted(words.short or words.title, painter.fontMetrics(), room.width()))
        painter.setFont(themes.small())
        painter.setPen(theme.text if is_selected else theme.dim)
        facts = QRectF(box.left() + 14, box.top() + px(27), beside if is_below else whole, px(20))
        _line(painter, facts, words.facts)
        if words.pill:
            pill = QRectF(box.right() - width - 14, box.top() + px(29 if is_below else 8), width, px(18))
            paint_pill(painter, pill, words.pill, words.kind)
        painter.restore()


def _title(words: TwoLines, metrics: QFontMetrics, room: float) -> str | None:
    """Return the title, or the short one, that there is room for."""
    told = (each for each in (words.title, words.short) if each)
    return next((each for each in told if metrics.horizontalAdvance(each) <= room), None)


def _line(painter: QPainter, box: QRectF, words: str) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
