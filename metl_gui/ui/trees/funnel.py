"""The button beside a filter box that applies the filter to the matrix too."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QToolButton, QWidget

from metl_gui.ui import theme as themes

_SHAPE = ((-5.5, -5.0), (5.5, -5.0), (1.2, 0.6), (1.2, 5.0), (-1.2, 3.8), (-1.2, 0.6))


class Funnel(QToolButton):
    """A funnel: hollow while it does nothing, filled while the matrix is filtered."""

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setAccessibleName(f"Filter the matrix by {what} too")
        self.setToolTip("Show only what passes in the matrix too")

    def sizeHint(self) -> QSize:
        """A square as high as a box."""
        return QSize(themes.px(26), themes.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the funnel."""
        theme, scale = themes.current(), themes.scale()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(theme.accent if self.hasFocus() else theme.line, 2 if self.hasFocus() else 1))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        colour = theme.accent if self.isChecked() else theme.dim
        if not option.state & QStyle.StateFlag.State_Enabled:
            colour = theme.faint
        centre = QPointF(self.rect().center()) + QPointF(0.5, 0.5)
        painter.setPen(QPen(colour, 1.4 * scale, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(colour if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawPolygon(QPolygonF([centre + QPointF(x, y) * scale for x, y in _SHAPE]))
        painter.end()
