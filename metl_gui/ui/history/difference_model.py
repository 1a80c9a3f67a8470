"""A difference as Qt sees it: groups with what differs below them."""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.ui import theme as themes
from metl_gui.ui.history.difference_rows import CAME, WENT, DifferenceGroup, DifferenceRow
from metl_gui.ui.plain import plain_tip

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_GROUP = 0
_HEADERS = ("What differs", "Where")


class DifferenceModel(QAbstractItemModel):
    """Groups with rows; the internal id of a group is 0, that of a row one more than its group's place."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups: tuple[DifferenceGroup, ...] = ()

    def show_groups(self, groups: tuple[DifferenceGroup, ...]) -> None:
        """Show another difference."""
        self.beginResetModel()
        self.groups = groups
        self.endResetModel()

    def row_of(self, index: Index) -> DifferenceRow | None:
        """Return what stands in a row, ``None`` for a group."""
        if not index.isValid() or index.internalId() == _GROUP:
            return None
        return self.groups[index.internalId() - 1].rows[index.row()]

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return a cell's index."""
        if row < 0 or not 0 <= column < len(_HEADERS) or row >= self.rowCount(parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else _GROUP)

    def parent(self, child: Index = QModelIndex()) -> Any:  # noqa: B008 - Qt overloads parent()
        """Return the group of a row."""
        if not child.isValid() or child.internalId() == _GROUP:
            return QModelIndex()
        return self.createIndex(child.internalId() - 1, 0, _GROUP)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count groups, or the rows of one."""
        if not parent.isValid():
            return len(self.groups)
        is_group = parent.internalId() == _GROUP and parent.column() == 0
        return len(self.groups[parent.row()].rows) if is_group else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the columns."""
        return len(_HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a heading."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[section]
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a cell; a group is bold, what came and what went has a sign and its colour."""
        if not index.isValid():
            return None
        row = self.row_of(index)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            if row is None:
                group = self.groups[index.row()]
                words = group.facts if index.column() else group.name
            else:
                words = row.where if index.column() else f"{row.sign}  {row.what}"
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.FontRole and row is None and index.column() == 0:
            return themes.scaled(1.0, bold=True)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(index, row)
        return None

    def _colour(self, index: Index, row: DifferenceRow | None) -> Any:
        theme = themes.current()
        if index.column():
            return theme.dim
        if row is None:
            return None
        return theme.good if row.sign == CAME else theme.bad if row.sign == WENT else theme.text
