"""Small tables of a run: messages by entity, records set aside by reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from metl_gui.ui import theme as themes
from metl_gui.ui.pill import paint_pill, pill_width
from metl_gui.ui.plain import plain_tip

SHARE_ROLE = int(Qt.ItemDataRole.UserRole)
PILL_ROLE = SHARE_ROLE + 1
HEADING_PX = 28
"""Height of the title line of a table, with or without a button in it."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class TableCell:
    """One cell.

    Args:
        words: what is read.
        is_number: stands at the right.
        share: draws a bar of 0 to 1 instead of words.
        pill: draws the words in a pill of this kind.
        is_link: somebody who clicks it is led somewhere.
        tip: what it says when it is pointed at, and to screen readers where it has no words.
    """

    words: str
    is_number: bool = False
    share: float | None = None
    pill: str = ""
    is_link: bool = False
    tip: str = ""


class TableModel(QAbstractTableModel):
    """Rows of cells under headers."""

    def __init__(self, headers: Sequence[TableCell], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headers = tuple(headers)
        self.rows: tuple[tuple[TableCell, ...], ...] = ()

    def show_rows(self, rows: Sequence[tuple[TableCell, ...]]) -> None:
        """Show other rows; rows come and go at the end, so that a live run does not reset the table."""
        old, new = len(self.rows), len(rows)
        if new > old:
            self.beginInsertRows(QModelIndex(), old, new - 1)
            self.rows = tuple(rows)
            self.endInsertRows()
        elif new < old:
            self.beginRemoveRows(QModelIndex(), new, old - 1)
            self.rows = tuple(rows)
            self.endRemoveRows()
        else:
            self.rows = tuple(rows)
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(new - 1, len(self._headers) - 1))

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the columns."""
        return 0 if parent.isValid() else len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a header's words and side."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(self._headers):
            return None
        header = self._headers[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return header.words
        if role == Qt.ItemDataRole.TextAlignmentRole:
            left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            return int(_RIGHT if header.is_number else left)
        return None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell's words, side, share or pill."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return None if cell.share is not None else cell.words
        if role == Qt.ItemDataRole.TextAlignmentRole and cell.is_number:
            return int(_RIGHT)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole) and cell.tip:
            return plain_tip(cell.tip) if role == Qt.ItemDataRole.ToolTipRole else cell.tip
        if role == SHARE_ROLE:
            return cell.share
        if role == Qt.ItemDataRole.ForegroundRole and cell.is_link:
            return themes.current().accent
        return cell.pill if role == PILL_ROLE else None


class CellDelegate(QStyledItemDelegate):
    """Paints bars and pills; the rest is the style's."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one cell."""
        share, pill = index.data(SHARE_ROLE), index.data(PILL_ROLE)
        box = QRectF(option.rect)
        if pill:
            words = str(index.data())
            width = min(pill_width(words), box.width() - 12)
            paint_pill(painter, QRectF(box.left() + 8, box.top(), width, box.height()), words, str(pill))
        elif share is not None:
            _paint_bar(painter, box, float(share))
        else:
            super().paint(painter, option, index)


def make_table(name: str, model: TableModel) -> QTableView:
    """Make a quiet table view of a model."""
    view = QTableView()
    view.setAccessibleName(name)
    view.setModel(model)
    view.setItemDelegate(CellDelegate(view))
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(themes.px(24))
    view.setTabKeyNavigation(False)
    view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    view.horizontalHeader().setHighlightSections(False)
    return view


def _paint_bar(painter: QPainter, box: QRectF, share: float) -> None:
    theme = themes.current()
    line = QRectF(box.left() + 10, box.center().y() - 3, box.width() - 22, 6)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.band)
    painter.drawRoundedRect(line, 3, 3)
    painter.setBrush(theme.accent)
    painter.drawRoundedRect(QRectF(line.left(), line.top(), max(4.0, line.width() * share), 6), 3, 3)
    painter.restore()
