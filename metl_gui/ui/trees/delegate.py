"""Paints a row of a tree: mark, name, pill, and the type dim at the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.core.block_lists import Note
from metl_gui.ui import theme as themes
from metl_gui.ui.marks import paint_bubble, paint_mark
from metl_gui.ui.notes import NOTHING
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.row_background import paint_row_background
from metl_gui.ui.trees.facts import RowFacts
from metl_gui.ui.trees.model import FACTS_ROLE

ROW_PX = 24
_BUBBLE_PX = 16.0
_NAME, _NAME_BESIDE_MASKED = 0.9, 0.6
"""Share of a row that a name may take from the words beside it; that values are masked must be seen."""
_BETWEEN = "  ·  "
_LEAST_LETTERS = 4
"""Fewer letters of a type say nothing."""
Index: TypeAlias = QModelIndex | QPersistentModelIndex


def _is_nothing(_index: Index) -> bool:
    return False


def _no_note(_index: Index) -> Note:
    return NOTHING


def _no_value(_index: Index) -> str:
    return ""


class RowDelegate(QStyledItemDelegate):
    """Paints rows from their ``RowFacts``.

    ``is_implied`` tells which rows chosen cells imply; their tint is lighter than that of chosen rows. ``below`` is the
    row on which dragged fields would be dropped. ``note_of`` tells what people said of a row, ``value_of`` a sample
    value of it, which is shown where there is room for it beside the name and the type.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_implied: Callable[[Index], bool] = _is_nothing
        self.below: QPersistentModelIndex | None = None
        self.note_of: Callable[[Index], Note] = _no_note
        self.value_of: Callable[[Index], str] = _no_value

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Every row is equally high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        facts = index.data(FACTS_ROLE)
        if not isinstance(facts, RowFacts):
            return
        theme = themes.current()
        box = QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        if not is_selected and self.is_implied(index):
            painter.fillRect(box, theme.accentbg)
        if self.below is not None and self.below == index:
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRect(box.adjusted(1, 1, -1, -1))
        left = box.left() + 4
        if facts.mark is not None:
            size = 8.5 * themes.scale()
            paint_mark(painter, QRectF(left + 2, box.center().y() - size / 2, size, size), facts.mark, theme)
            left += themes.px(18)
        words = QRectF(left, box.top(), box.right() - left - 10, box.height())
        value = self.value_of(index) if facts.mark is not None else ""
        _paint_words(painter, words, facts, self.note_of(index), is_selected, value)
        painter.restore()


def _paint_words(
    painter: QPainter, box: QRectF, facts: RowFacts, note: Note, is_selected: bool, value: str = ""
) -> None:
    theme = themes.current()
    detail_font = themes.scaled(0.88)
    name_font = themes.scaled(1.0, bold=facts.is_strong)
    words, kind = facts.pill
    pill = pill_width(words) + 6 if words else 0.0
    pill += _BUBBLE_PX if note.comment else 0.0
    told = f"masked · {facts.detail}" if note.is_masked else facts.detail
    name_metrics, detail_metrics = QFontMetricsF(name_font), QFontMetricsF(detail_font)
    name_width = name_metrics.horizontalAdvance(facts.name)
    share = _NAME_BESIDE_MASKED if note.is_masked else _NAME
    detail_room = max(0.0, box.width() - min(name_width, box.width() * share) - pill - 10)
    with_value = f"{value}{_BETWEEN}{told}" if value and not note.is_masked else ""
    if with_value and detail_metrics.horizontalAdvance(with_value) <= detail_room:
        told = with_value
    detail = detail_metrics.elidedText(told, Qt.TextElideMode.ElideRight, detail_room)
    if detail != told and len(detail) < _LEAST_LETTERS:
        detail = ""
    detail_width = detail_metrics.horizontalAdvance(detail)
    room = box.width() - detail_width - pill - (8 if detail else 0)
    name = name_metrics.elidedText(facts.name, Qt.TextElideMode.ElideMiddle, room)
    painter.setFont(name_font)
    painter.setPen(theme.text)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
    at = box.left() + name_metrics.horizontalAdvance(name) + 8
    if note.comment:
        paint_bubble(painter, QPointF(at, box.center().y()), theme)
        at += _BUBBLE_PX
    if words:
        paint_pill(painter, QRectF(at, box.top(), pill_width(words), box.height()), words, kind)
    painter.setFont(detail_font)
    painter.setPen(theme.text if is_selected else theme.dim)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
