"""The entries of a chart's legend: a piece of the line, its name, its value; a press hides or shows the line."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.run.chart_views import ChartView, pen_of
from metl_gui.ui.run.course import line_words

_LINE_PX, _GAP_PX, _HEIGHT_PX = 16, 6, 22
_LONGEST_PX = 90


class LegendEntry(QAbstractButton):
    """One line of a chart.

    Args:
        view: the choice of lines.
        name: the line.
    """

    def __init__(self, view: ChartView, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view, self.name = view, name
        self.value, self._widest = "", "000 k"
        self.is_brief = False
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription("Hides or shows the line")

    def say(self, value: str, is_brief: bool, tip: str) -> None:
        """Show a value, unless there is no room for it."""
        if (value, is_brief) != (self.value, self.is_brief):
            bold = themes.scaled(1.0, bold=True)
            is_wider = themes.text_width(value, bold) > themes.text_width(self._widest, bold)
            if is_wider or is_brief != self.is_brief:
                self.updateGeometry()
            self.value, self.is_brief = value, is_brief
            self._widest = value if is_wider else self._widest
            self.update()
        self.setToolTip(tip)
        self.setAccessibleName(f"{line_words(self.name)} {value}")

    def sizeHint(self) -> QSize:
        """As wide as line, name and value."""
        return QSize(ceil(self._named_width if self.is_brief else self.whole_width), themes.px(_HEIGHT_PX))

    @property
    def whole_width(self) -> float:
        """How wide it is with its value. Digits come and go; the entries behind it shall not move for that."""
        value = themes.text_width(self._widest, themes.scaled(1.0, bold=True))
        return self._named_width + value + themes.px(_GAP_PX)

    def minimumSizeHint(self) -> QSize:
        """A long name may be cut."""
        return QSize(round(min(self._named_width, themes.px(_LONGEST_PX))), themes.px(_HEIGHT_PX))

    @property
    def _named_width(self) -> float:
        return themes.text_width(line_words(self.name), themes.scaled(1.0)) + themes.px(_LINE_PX + 2 * _GAP_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the entry; a line that is hidden has no piece of it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, middle = themes.current(), self.height() / 2
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        left = float(themes.px(_GAP_PX / 2))
        colour, width, style = pen_of(theme, self.view, self.name)
        if self.isChecked():
            painter.setPen(QPen(colour, max(width, 2.4), style))
            painter.drawLine(QPointF(left, middle), QPointF(left + themes.px(_LINE_PX), middle))
        left += themes.px(_LINE_PX + _GAP_PX)
        painter.setPen(theme.dim)
        painter.setFont(themes.scaled(1.0))
        bold = themes.scaled(1.0, bold=True)
        value = "" if self.is_brief or not self.isChecked() else self.value
        beside = themes.text_width(value, bold) + themes.px(_GAP_PX) if value else 0.0
        room = QRectF(left, 0, max(self.width() - left - beside, 0.0), self.height())
        words = painter.fontMetrics().elidedText(
            line_words(self.name), Qt.TextElideMode.ElideMiddle, round(room.width() + 1)
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)
        left += painter.fontMetrics().horizontalAdvance(words) + themes.px(_GAP_PX * 0.7)
        painter.setPen(theme.text)
        painter.setFont(bold)
        painter.drawText(QRectF(left, 0, self.width() - left, self.height()), Qt.AlignmentFlag.AlignVCenter, value)
        painter.end()
