"""How the cells of the CDM editor are painted and written."""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from metl_gui.core.trees.types import CHOICES
from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.row_background import paint_row_background

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_CHECKED = Qt.CheckState.Checked


class CellDelegate(QStyledItemDelegate):
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


class TypeDelegate(CellDelegate):
    """Offers the types, and takes any that is written."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Make the list of types."""
        box = Choice(parent)
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


class RequiredDelegate(CellDelegate):
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
