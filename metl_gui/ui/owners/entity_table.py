"""The attributes of an entity version as a table to change: path, type, required, documentation.

The delegates paint the cells of the CDM editor and take what is written into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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

PATH, TYPE, REQUIRED, DOC = range(4)
_HEADS = ("Path", "Type", "Required", "Documentation")
_CHECKED = Qt.CheckState.Checked


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

    def show_attributes(self, attributes: Sequence[AttributeDeclaration]) -> None:
        """Begin with other attributes."""
        self.beginResetModel()
        self.rows = list(attributes)
        self._types = [type_name(a) for a in self.rows]
        self.endResetModel()

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
        self.endInsertRows()
        self.edited.emit()
        return row

    def paste(self, at: int, attributes: Sequence[AttributeDeclaration]) -> int:
        """Put attributes behind a row, those whose path is not there yet, and return how many they are."""
        known = {each.path for each in self.rows}
        fresh = [each for each in attributes if each.path not in known]
        if fresh:
            row = min(at + 1, len(self.rows))
            self.beginInsertRows(QModelIndex(), row, row + len(fresh) - 1)
            self.rows[row:row] = fresh
            self._types[row:row] = [type_name(each) for each in fresh]
            self.endInsertRows()
            self.edited.emit()
        return len(fresh)

    def remove(self, row: int) -> None:
        """Take an attribute out."""
        if 0 <= row < len(self.rows):
            self.beginRemoveRows(QModelIndex(), row, row)
            del self.rows[row], self._types[row]
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
        self.endMoveRows()
        self.edited.emit()
        return to

    # Qt's questions

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
        attribute, column = self.rows[index.row()], index.column()
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
        before = self.rows[row], self._types[row]
        if column == REQUIRED:
            if role != Qt.ItemDataRole.CheckStateRole:
                return False
            self.rows[row] = replace(self.rows[row], optional=Qt.CheckState(value) is not _CHECKED)
        elif role != Qt.ItemDataRole.EditRole:
            return False
        elif column == TYPE:
            self._types[row] = str(value).strip()
        elif column == PATH:
            self.rows[row] = replace(self.rows[row], path=str(value).strip())
        else:
            self.rows[row] = replace(self.rows[row], doc=str(value))
        if (self.rows[row], self._types[row]) != before:
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


class RequiredDelegate(EntityCellDelegate):
    """Paints the check box in colours that stand out in every theme; the style takes its clicks and keys."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint ground, box and tick."""
        theme = themes.current()
        paint_row_background(painter, option)
        size = 14.0 * themes.scale()
        box = QRectF(option.rect.left() + themes.px(10), option.rect.center().y() - size / 2 + 1, size, size)
        is_required = index.data(Qt.ItemDataRole.CheckStateRole) == _CHECKED
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.accent if is_required else theme.dim, 1.4))
        painter.setBrush(theme.accent if is_required else theme.panel)
        painter.drawRoundedRect(box, 3, 3)
        if is_required:
            painter.setPen(QPen(theme.panel, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            points = ((0.24, 0.52), (0.43, 0.72), (0.77, 0.30))
            painter.drawPolyline([box.topLeft() + QPointF(x * size, y * size) for x, y in points])
        painter.restore()
        self.paint_focus(painter, option)
