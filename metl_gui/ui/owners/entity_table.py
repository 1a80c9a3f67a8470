"""The attributes of an entity version as a table to change: path, type, key, required, documentation.

The delegates paint the cells of the CDM editor and take what is written into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.types import CHOICES, read_type, type_name
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.ui.widgets.rows import Index, paint_row_background
from metl_gui.ui.widgets.table import ColumnsModel

PATH, TYPE, KEY, REQUIRED, DOC = range(5)
_HEADS = ("Path", "Type", "Key", "Required", "Documentation")
_CHECKED = Qt.CheckState.Checked
_TICKS = {KEY: ("not in the key", "in the key"), REQUIRED: ("optional", "required")}
"""The columns that are ticked, with what screen readers say without and with a tick."""


class EntityTable(ColumnsModel):
    """The attributes, changed cell by cell; nothing of it is an edit yet.

    Signals:
        edited: something differs from before.
    """

    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent=parent)
        self.rows: list[AttributeDeclaration] = []
        self._types: list[str] = []
        self._key: list[int | None] = []
        """Of each attribute its place in the key, ``None`` where it is not in it; there may be gaps."""

    def show_attributes(self, attributes: Sequence[AttributeDeclaration], key: Sequence[str] = ()) -> None:
        """Begin with other attributes, some of them in the key."""
        self.beginResetModel()
        self.rows = list(attributes)
        self._types = [type_name(a) for a in self.rows]
        self._key = [key.index(a.path) if a.path in key else None for a in self.rows]
        self.endResetModel()

    @property
    def key(self) -> tuple[str, ...]:
        """The paths in the key: those of before in their order, then what was added to it."""
        places = [(place, a.path) for place, a in zip(self._key, self.rows, strict=True) if place is not None]
        return tuple(path for _, path in sorted(places, key=lambda found: found[0]))

    def declared(self) -> tuple[AttributeDeclaration, ...]:
        """Return the attributes as they are now.

        Raises:
            EditError: a type is none.
        """
        found = []
        for attribute, text in zip(self.rows, self._types, strict=True):
            type_, logical, scale = read_type(text)
            found.append(replace(attribute, type=type_, logical=logical, scale=scale))
        return tuple(found)

    def add(self, at: int) -> int:
        """Put a new attribute behind a row and return its row."""
        row = min(at + 1, len(self.rows))
        self.beginInsertRows(QModelIndex(), row, row)
        self.rows.insert(row, AttributeDeclaration("", "string"))
        self._types.insert(row, "string")
        self._key.insert(row, None)
        self.endInsertRows()
        self.edited.emit()
        return row

    def paste(self, at: int, attributes: Sequence[AttributeDeclaration], key: Sequence[str] = ()) -> int:
        """Put attributes behind a row, those whose path is not there yet, and return how many they are.

        Args:
            at: the row, -1 for the beginning.
            attributes: in order.
            key: the paths of those in the key.
        """
        known = {each.path for each in self.rows}
        fresh = [each for each in attributes if each.path not in known]
        if fresh:
            row = min(at + 1, len(self.rows))
            self.beginInsertRows(QModelIndex(), row, row + len(fresh) - 1)
            self.rows[row:row] = fresh
            self._types[row:row] = [type_name(each) for each in fresh]
            first = self._key_end()
            self._key[row:row] = [first + key.index(each.path) if each.path in key else None for each in fresh]
            self.endInsertRows()
            self.edited.emit()
        return len(fresh)

    def remove(self, row: int) -> None:
        """Take an attribute out."""
        if 0 <= row < len(self.rows):
            self.beginRemoveRows(QModelIndex(), row, row)
            del self.rows[row], self._types[row], self._key[row]
            self.endRemoveRows()
            self.edited.emit()

    def move(self, row: int, by: int) -> int:
        """Move an attribute up or down and return its row."""
        to = row + by
        if not (0 <= row < len(self.rows) and 0 <= to < len(self.rows)):
            return row
        self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), to + (by > 0))
        self.rows.insert(to, self.rows.pop(row))
        self._types.insert(to, self._types.pop(row))
        self._key.insert(to, self._key.pop(row))
        self.endMoveRows()
        self.edited.emit()
        return to

    # Qt's questions

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let every cell be changed."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        common = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return common | (Qt.ItemFlag.ItemIsUserCheckable if index.column() in _TICKS else Qt.ItemFlag.ItemIsEditable)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a cell."""
        if not index.isValid():
            return None
        attribute, column = self.rows[index.row()], index.column()
        if column in _TICKS:
            is_ticked = self._key[index.row()] is not None if column == KEY else not attribute.optional
            return _tick(is_ticked, _TICKS[column], role)
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
        before = self.rows[row], self._types[row], self._key[row]
        if column in _TICKS:
            if role != Qt.ItemDataRole.CheckStateRole:
                return False
            self._set_tick(row, column, Qt.CheckState(value) is _CHECKED)
        elif role != Qt.ItemDataRole.EditRole:
            return False
        elif column == TYPE:
            self._types[row] = str(value).strip()
        elif column == PATH:
            self.rows[row] = replace(self.rows[row], path=str(value).strip())
        else:
            self.rows[row] = replace(self.rows[row], doc=str(value))
        if (self.rows[row], self._types[row], self._key[row]) != before:
            self.dataChanged.emit(index, index)
            self.edited.emit()
        return True

    def _set_tick(self, row: int, column: int, is_ticked: bool) -> None:
        if column == REQUIRED:
            self.rows[row] = replace(self.rows[row], optional=not is_ticked)
        elif is_ticked != (self._key[row] is not None):
            self._key[row] = self._key_end() if is_ticked else None

    def _key_end(self) -> int:
        return max((place for place in self._key if place is not None), default=-1) + 1


def _tick(is_ticked: bool, words: tuple[str, str], role: int) -> Any:
    if role == Qt.ItemDataRole.CheckStateRole:
        return _CHECKED if is_ticked else Qt.CheckState.Unchecked
    if role == Qt.ItemDataRole.AccessibleTextRole:
        return words[is_ticked]
    return None


class EntityCellDelegate(QStyledItemDelegate):
    """Frames the cell that the keyboard is on, as F2 and letters write there."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the cell, then its frame."""
        super().paint(painter, option, index)
        self.paint_focus(painter, option)

    def paint_focus(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        """Paint the frame where the cell has the focus."""
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.save()
            painter.setPen(QPen(themes.current().accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(option.rect).adjusted(1, 1, -1, -1))
            painter.restore()


class TypeDelegate(EntityCellDelegate):
    """Offers the types, and takes any that is written."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Make the list of types."""
        box = ThemedComboBox(parent)
        box.setEditable(True)
        box.addItems(CHOICES)
        box.setAccessibleName("Type")
        return box

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Choose the type of the cell."""
        if isinstance(editor, QComboBox):
            editor.setCurrentText(str(index.data(Qt.ItemDataRole.EditRole)))
            line = editor.lineEdit()
            if line is not None:
                line.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        """Take what was chosen or written."""
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentText(), int(Qt.ItemDataRole.EditRole))


class TickDelegate(EntityCellDelegate):
    """Paints the check box in colours that stand out in every theme; the style takes its clicks and keys."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint ground, box and tick."""
        theme = themes.current()
        paint_row_background(painter, option)
        size = 14.0 * themes.scale()
        box = QRectF(option.rect.left() + themes.px(10), option.rect.center().y() - size / 2 + 1, size, size)
        is_ticked = index.data(Qt.ItemDataRole.CheckStateRole) == _CHECKED
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.accent if is_ticked else theme.dim, 1.4))
        painter.setBrush(theme.accent if is_ticked else theme.panel)
        painter.drawRoundedRect(box, 3, 3)
        if is_ticked:
            painter.setPen(QPen(theme.panel, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            points = ((0.24, 0.52), (0.43, 0.72), (0.77, 0.30))
            painter.drawPolyline([box.topLeft() + QPointF(x * size, y * size) for x, y in points])
        painter.restore()
        self.paint_focus(painter, option)
