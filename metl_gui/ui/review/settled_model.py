"""The rows of what was settled: one line each, put into words when it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.settled import Settled
from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.moments import clock
from metl_gui.ui.naming import block_words, version_words
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.place_label import fitted
from metl_gui.ui.plain import plain_tip
from metl_gui.ui.row_background import paint_row_background
from metl_gui.ui.two_lines import WORDS_ROLE

ROW_PX = 28
_PAD = 14
_GAP = 10


@dataclass(frozen=True)
class OneLine:
    """What a row says.

    Args:
        title: the block.
        short: the block without the groups that its schema is in.
        who, when: who settled it, and when.
        pill: how.
    """

    title: str
    short: str
    who: str
    when: str
    pill: str


def line_of(document: Document, settled: Settled) -> OneLine:
    """Put a settled block into words."""
    title = block_words(document, settled.key)
    schema = version_words(document, Side.EXTRACTION, settled.key[0]).rpartition(" ")[0]
    _, dot, _ = schema.rpartition(".")
    short = f"…{title[schema.rindex('.') + 1 :]}" if dot else title
    return OneLine(title, short, settled.who, clock(settled.when_ms), settled.how.value)


class SettledModel(QAbstractListModel):
    """Settled blocks, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Settled, ...] = ()
        self._document = Document()
        self._at: dict[BlockKey, int] = {}

    def show(self, document: Document, rows: tuple[Settled, ...]) -> None:
        """Show other rows."""
        if rows == self.rows:
            self._document = document
            return
        self.beginResetModel()
        self._document, self.rows = document, rows
        self._at = {each.key: at for at, each in enumerate(rows)}
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row, or its words."""
        settled = self.at(index.row()) if index.isValid() else None
        if settled is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return settled
        if role == WORDS_ROLE:
            return line_of(self._document, settled)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            line = line_of(self._document, settled)
            words = f"{line.title}, {line.pill}, {line.who}, {line.when}"
            return words if role == Qt.ItemDataRole.DisplayRole else plain_tip(f"{words}\n{settled.title}")
        return None

    def at(self, row: int) -> Settled | None:
        """Return what stands in a row."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def row_of(self, key: BlockKey) -> int | None:
        """Return the row of a block."""
        return self._at.get(key)


class SettledDelegate(QStyledItemDelegate):
    """Paints the block, who and when, and a pill; the block comes first where there is not room for all."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One line high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        line = index.data(WORDS_ROLE)
        if not isinstance(line, OneLine):
            return
        theme, box = themes.current(), QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        width = pill_width(line.pill)
        paint_pill(painter, QRectF(box.right() - width - _PAD, box.top(), width, box.height()), line.pill, "plain")
        box.adjust(_PAD, 0, -(width + _PAD + _GAP), 0)
        painter.setPen(theme.text if is_selected else theme.dim)
        normal, small = themes.scaled(1.0), themes.small()
        measure, measure_small = QFontMetricsF(normal), QFontMetricsF(small)
        said = f"{line.who}, {line.when}" if line.who else line.when
        tries = [(line.title, said), (line.short, said), (line.title, line.when), (line.short, line.when)]
        sizes = ((t, s, measure.horizontalAdvance(t) + _GAP + measure_small.horizontalAdvance(s)) for t, s in tries)
        title, told = next(((t, s) for t, s, size in sizes if size <= box.width()), (line.short, line.when))
        painter.setFont(small)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, told)
        box.setRight(box.right() - measure_small.horizontalAdvance(told) - _GAP)
        painter.setFont(normal)
        title = fitted(title, measure, box.width())  # the versions stay, else rows of one schema read the same
        title = measure.elidedText(title, Qt.TextElideMode.ElideMiddle, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        painter.restore()
