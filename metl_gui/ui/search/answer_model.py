"""What a search found as Qt sees it: schemas or entities with their elements below."""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.blocks import Status
from metl_gui.core.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.naming import number_of
from metl_gui.ui.plain import plain_tip
from metl_gui.ui.search.answer_rows import AnswerGroup, AnswerRow

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_GROUP = 0


class AnswerModel(QAbstractItemModel):
    """Groups with rows; the internal id of a group is 0, that of a row one more than its group's place.

    Args:
        asked: the tree of the node that is asked for.
    """

    def __init__(self, asked: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: list[AnswerGroup] = []
        other = "Schema" if asked is Side.CDM else "Entity"
        self._headers = (other, "Attribute", "CDM attribute", "Status")
        self._asked = asked

    def show_groups(self, groups: list[AnswerGroup]) -> None:
        """Show other answers; what was found so far only grows, so groups that stay keep their rows."""
        self.beginResetModel()
        self._groups = groups
        self.endResetModel()

    def row_of(self, index: Index) -> AnswerRow | None:
        """Return the element of a row, ``None`` for a group."""
        if not index.isValid() or index.internalId() == _GROUP:
            return None
        return self._groups[index.internalId() - 1].rows[index.row()]

    def group_of(self, index: Index) -> AnswerGroup | None:
        """Return the group of a row or of itself."""
        if not index.isValid():
            return None
        return self._groups[index.row() if index.internalId() == _GROUP else index.internalId() - 1]

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return a cell's index."""
        if row < 0 or not 0 <= column < len(self._headers) or row >= self.rowCount(parent):
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
            return len(self._groups)
        is_group = parent.internalId() == _GROUP and parent.column() == 0
        return len(self._groups[parent.row()].rows) if is_group else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the columns."""
        return len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Return a heading."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        return None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return the words of a cell; a group is bold, a block that waits has its colour."""
        if not index.isValid():
            return None
        row = self.row_of(index)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            words = self._group_words(index) if row is None else self._row_words(row, index.column())
            return plain_tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.FontRole and row is None and index.column() == 0:
            return themes.scaled(1.0, bold=True)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(index, row)
        return None

    def _group_words(self, index: Index) -> str:
        group = self._groups[index.row()]
        match index.column():
            case 0:
                return group.name
            case 1:
                count = len({row.block.version for row in group.rows})
                return number_of(count, "version")
            case 2:
                return number_of(len(group.rows), "element")
            case _:
                return f"{group.waiting:,} need{'s' if group.waiting == 1 else ''} review" if group.waiting else ""

    def _row_words(self, row: AnswerRow, column: int) -> str:
        label = f"version {row.version}"
        if self._asked is Side.EXTRACTION:
            label = f"version {row.entity_version}, from version {row.version}"
        target = row.target if self._asked is Side.EXTRACTION else f"{row.target}  ·  {row.entity} {row.entity_version}"
        return (label, row.source, target, row.status)[column]

    def _colour(self, index: Index, row: AnswerRow | None) -> Any:
        theme = themes.current()
        if row is None:
            return theme.review if index.column() == 3 else theme.dim if index.column() else None
        if index.column() == 3 and row.block.status is Status.NEEDS_REVIEW:
            return theme.review
        return theme.dim if index.column() == 0 else None
