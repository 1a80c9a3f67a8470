"""What is left of a tree while it is folded: a narrow strip with its name, which unfolds it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle, QStyleOptionButton, QWidget

from metl_gui.ui import theme as themes

STRIP_PX = 34


class Strip(QAbstractButton):
    """A button as high as the panel, its words turned by a quarter.

    Args:
        words: the name of the panel.
        is_left: whether the panel lies at the left edge of the window.
    """

    def __init__(self, words: str, is_left: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = ""
        self._is_left = is_left
        self.setText(words)
        self.setAccessibleName(f"Unfold the {words.lower()} tree")
        self.setToolTip(f"Show the {words.lower()} tree")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def say(self, facts: str) -> None:
        """Show other facts behind the name."""
        self.facts = facts
        self.update()

    def sizeHint(self) -> QSize:
        """Narrow."""
        return QSize(themes.px(STRIP_PX), 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint an arrow, and the words from top to bottom."""
        theme, option = themes.current(), QStyleOptionButton()
        option.initFrom(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(self.rect(), theme.band)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(2, 2, -2, -2), 4, 4)
        painter.setPen(QPen(theme.text, 1.4))
        x, y, sign = self.width() / 2, 16.0, 1 if self._is_left else -1
        for shift in (-2.5, 2.5):
            painter.drawPolyline([QPointF(x + sign * (shift - 2), y - 4), QPointF(x + sign * (shift + 2), y)])
            painter.drawPolyline([QPointF(x + sign * (shift + 2), y), QPointF(x + sign * (shift - 2), y + 4)])
        painter.translate(self.width() / 2, 34)
        painter.rotate(90)
        painter.setFont(themes.small(bold=True))
        painter.setPen(theme.text)
        painter.drawText(_baseline(painter), self.text())
        painter.translate(QFontMetricsF(painter.font()).horizontalAdvance(self.text()) + 10, 0)
        painter.setFont(themes.small())
        painter.setPen(theme.dim)
        painter.drawText(_baseline(painter), self.facts)
        painter.end()


def _baseline(painter: QPainter) -> QPointF:
    """Return where text starts that is to lie on the middle line."""
    metrics = QFontMetricsF(painter.font())
    return QPointF(0, (metrics.ascent() - metrics.descent()) / 2)
