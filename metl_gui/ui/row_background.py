"""What lies behind a row of a tree or list: the tint of selection and hover."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from metl_gui.ui import theme as themes


def paint_row_background(painter: QPainter, option: QStyleOptionViewItem) -> bool:
    """Paint the tint of one row and return whether the row is selected."""
    theme, box = themes.current(), QRectF(option.rect)
    is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
    if is_selected:
        painter.fillRect(box, theme.sel)
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(box, theme.band)
    return is_selected
