"""One list of a block as Qt sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.block_lists import ListRow
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.words import row_words
from metl_gui.ui.plain import plain_tip

ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class ListModel(QAbstractListModel):
    """The attributes of one side of a block.

    Args:
        side: which one.
    """

    def __init__(self, side: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self.rows: tuple[ListRow, ...] = ()
        self.place: dict[int, int] = {}
        self.status: Status | None = None
        self.values: Mapping[int, str] = {}
        self.tips: Mapping[int, str] = {}

    def show_values(self, values: Mapping[int, str], tips: Mapping[int, str]) -> None:
        """Say other sample values of the attributes.

        Args:
            values: what stands beside the names, by attribute id; empty where values are not shown.
            tips: a line for the tooltip of each.
        """
        self.values, self.tips = values, tips
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def show(self, rows: tuple[ListRow, ...], status: Status | None) -> bool:
        """Show other rows; where they are the same attributes, only what is said of them changes.

        Returns:
            Whether they are others, which have to be laid out.
        """
        self.status = status
        if [row.id for row in rows] == [row.id for row in self.rows]:
            self.rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return False
        self.beginResetModel()
        self.rows = rows
        self.place = {row.id: at for at, row in enumerate(rows)}
        self.endResetModel()
        return True

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> ListRow | None:
        """Return what a row shows."""
        return self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None

    def index_of(self, attribute_id: int | None) -> QModelIndex:
        """Return the row of an attribute, an invalid one when the list does not show it."""
        at = self.place.get(attribute_id) if attribute_id is not None else None
        return QModelIndex() if at is None else self.index(at)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the attributes."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return an attribute's path, its words, or the row itself."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return row.attribute.path
        if role == ROW_ROLE:
            return row
        values = self.tips.get(row.id, "") if not row.note.is_masked else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row_words(row, self.side, "\n", values))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row_words(row, self.side, ", ", values)
        return None
