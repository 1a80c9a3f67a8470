"""A box to choose one of a few words from, with an arrow that the style sheet leaves out."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox

from metl_gui.ui import theme as themes


class Choice(QComboBox):
    """A combo box of the theme."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box, then an arrow in the colour of secondary text."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = themes.current()
        painter.setPen(QPen(theme.dim if self.isEnabled() else theme.faint, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        x, y = self.width() - 13.0, self.height() / 2
        painter.drawPolyline([QPointF(x - 4, y - 2), QPointF(x, y + 2), QPointF(x + 4, y - 2)])
        painter.end()
