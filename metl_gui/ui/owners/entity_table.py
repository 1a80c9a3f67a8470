"""The attributes of an entity version as a table to change: path, type, required, documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFont

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.types import read_type, type_name
from metl_gui.ui.plain import plain_tip

Index: TypeAlias = QModelIndex | QPersistentModelIndex
PATH, TYPE, REQUIRED, DOC = range(4)
_HEADS = ("Path", "Type", "Required", "Documentation")
_CHECKED = Qt.CheckState.Checked


class EntityTable(QAbstractTableModel):
    """The attributes, changed cell by cell; nothing of it is an edit yet.

    Signals:
        edited: something differs from before.
    """

    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.attributes: list[AttributeDeclaration] = []
        self._types: list[str] = []

    def show_attributes(self, attributes: Sequence[AttributeDeclaration]) -> None:
        """Begin with other attributes."""
        self.beginResetModel()
        self.attributes = list(attributes)
        self._types = [type_name(a) for a in self.attributes]
        self.endResetModel()

    def declared(self) -> tuple[AttributeDeclaration, ...]:
        """Return the attributes as they are now.

        Raises:
            EditError: a type is none.
        """
        found = []
        for attribute, text in zip(self.attributes, self._types, strict=True):
            type_, logical, scale = read_type(text)
            found.append(replace(attribute, type=type_, logical=logical, scale=scale))
        return tuple(found)

    def add(self, at: int) -> int:
        """Put a new attribute behind a row and return its row."""
        row = min(at + 1, len(self.attributes))
        self.beginInsertRows(QModelIndex(), row, row)
        self.attributes.insert(row, AttributeDeclaration("", "string"))
        self._types.insert(row, "string")
        self.endInsertRows()
        self.edited.emit()
        return row

    def remove(self, row: int) -> None:
        """Take an attribute out."""
        if 0 <= row < len(self.attributes):
            self.beginRemoveRows(QModelIndex(), row, row)
            del self.attributes[row], self._types[row]
            self.endRemoveRows()
            self.edited.emit()

    def move(self, row: int, by: int) -> int:
        """Move an attribute up or down and return its row."""
        to = row + by
        if not (0 <= row < len(self.attributes) and 0 <= to < len(self.attributes)):
            return row
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), to + (by > 0))
        self.attributes.insert(to, self.attributes.pop(row))
        self._types.insert(to, self._types.pop(row))
        self.endMoveRows()
        self.edited.emit()
        return to

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the attributes."""
        return 0 if parent.isValid() else len(self.attributes)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Path, type, required, documentation."""
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> Any:
        """Name the columns."""
        if orientation is Qt.Orientation.Horizontal and 0 <= section < len(_HEADS):
            if role == Qt.ItemDataRole.DisplayRole:
                return _HEADS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let every cell be changed."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        common = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return common | (Qt.ItemFlag.ItemIsUserCheckable if index.column() == REQUIRED else Qt.ItemFlag.ItemIsEditable)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell."""
        if not index.isValid():
            return None
        attribute, column = self.attributes[index.row()], index.column()
        if column == REQUIRED:
            return self._required(attribute, role)
        texts = {PATH: attribute.path, TYPE: self._types[index.row()], DOC: attribute.doc}
        if role == Qt.ItemDataRole.DisplayRole:
            return " ".join(texts[column].split()) if column == DOC else texts[column]
        if role == Qt.ItemDataRole.EditRole:
            return texts[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(texts[column]) or None
        if role == Qt.ItemDataRole.FontRole and column == PATH and not attribute.equivalent_to:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Change a cell."""
        if not index.isValid():
            return False
        row, column = index.row(), index.column()
        before = self.attributes[row], self._types[row]
        if column == REQUIRED:
            if role != Qt.ItemDataRole.CheckStateRole:
                return False
            self.attributes[row] = replace(self.attributes[row], optional=Qt.CheckState(value) is not _CHECKED)
        elif role != Qt.ItemDataRole.EditRole:
            return False
        elif column == TYPE:
            self._types[row] = str(value).strip()
        elif column == PATH:
            self.attributes[row] = replace(self.attributes[row], path=str(value).strip())
        else:
            self.attributes[row] = replace(self.attributes[row], doc=str(value))
        if (self.attributes[row], self._types[row]) != before:
            self.dataChanged.emit(index, index)
            self.edited.emit()
        return True

    @staticmethod
    def _required(attribute: AttributeDeclaration, role: int) -> Any:
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Unchecked if attribute.optional else _CHECKED
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return "optional" if attribute.optional else "required"
        return None
