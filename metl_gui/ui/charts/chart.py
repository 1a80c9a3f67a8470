"""The chart of a run: which lines, of which time, live or standing still, with the values below the mouse.

An entry of its legend is a piece of the line, its name and its value; a press hides or shows the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from metl_gui.ui.charts.series import (
    ENTITIES,
    RECORDS,
    VIEWS,
    ChartView,
    ProgressSeries,
    SeriesSpan,
    line_words,
    pen_of,
)
from metl_gui.ui.project.text import duration
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip

if TYPE_CHECKING:
    from metl_gui.ui.charts.plots import Plots


_LINE_PX, _GAP_PX, _HEIGHT_PX = 16, 6, 22
_LONGEST_PX = 90


class LegendEntry(QAbstractButton):
    """One line of a chart.

    Args:
        view: the choice of lines.
        name: the line.

    Signals:
        switched: the name of the line, which is to be hidden, or shown again.
    """

    switched = Signal(object)

    def __init__(self, view: ChartView, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.toggled.connect(self._switch)
        self.view, self.name = view, name
        self.value, self._widest = "", "000 k"
        self.is_brief = False
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription("Hides or shows the line")

    def _switch(self) -> None:
        self.switched.emit(self.name)

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


_NOTHING = "A run maps your messages and draws its course here."
WINDOWS = (("last 60 s", 60.0), ("last 5 min", 300.0), ("whole run", None))
_BESIDE_PX = 470
"""What stands in the head line beside the legend."""
_WHOLE = 2
_TOLD = 5
"""So many of the last marks are read aloud."""


class RunChart(QFrame):
    """A card with a head line, a legend and two plots.

    Draws only while it is seen and not paused; a frame costs what is drawn, however long the run is.

    Args:
        choices: the views that are offered, the first one shown.
        nothing: what stands there before there is anything to draw.
        can_start: whether a test run is offered meanwhile.

    Signals:
        copied: the shown data was put on the clipboard: how many rows.
        run_wanted: the button of the empty chart was pressed.
    """

    copied = Signal(object)
    run_wanted = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        choices: Sequence[ChartView] = VIEWS,
        nothing: str = _NOTHING,
        can_start: bool = True,
    ) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.setAccessibleName("Course of the run")
        self._choices, self._can_start = tuple(choices), can_start
        self.course = ProgressSeries()
        self.is_live = False
        self.hidden: set[str] = set()
        self._chosen = ""
        self._held: SeriesSpan | None = None
        self._pointed: float | None = None
        self._plots: Plots | None = None
        self._needs_drawing = False
        self.view: ChartView = self._choices[0]
        self.views, self.window_choice = ThemedComboBox(), ThemedComboBox()
        self.views.setAccessibleName("What the chart shows")
        self.views.addItems([view.title for view in self._choices])
        self.window_choice.setAccessibleName("Time that the chart shows")
        self.window_choice.addItems([words for words, _ in WINDOWS])
        self.window_choice.setCurrentIndex(_WHOLE)
        self.pause, self.copy = KeyButton("Pause", kind="switch"), KeyButton("Copy data", kind="switch")
        self.pause.setCheckable(True)
        self.pause.setAccessibleDescription("Keeps the chart still while the run goes on")
        self.moment = plain_label("", "small")
        self.nothing, self._nothing_words = QWidget(), nothing
        self.start = KeyButton("Test run", "F5")
        self.start.setAccessibleDescription("Maps the chosen messages with what is on the screen")
        self.entries: list[LegendEntry] = []
        self._build()
        self._show_legend()
        self.views.currentIndexChanged.connect(self._choose_view)
        self.window_choice.currentIndexChanged.connect(self._choose_window)
        self.pause.toggled.connect(self._pause)
        self.copy.clicked.connect(self.copy_data)
        self.start.clicked.connect(self.run_wanted)
        self._say()

    def show_course(self, course: ProgressSeries, is_live: bool = False) -> None:
        """Draw the course of a run, at once if somebody looks.

        Args:
            course: the run.
            is_live: it goes on.
        """
        if course is not self.course:
            self._pointed = None
            self.pause.setChecked(False)
            if len(self.course) > 1 or is_live:
                self.window_choice.setCurrentIndex(0 if is_live else _WHOLE)
        elif self.is_live and not is_live:
            self.pause.setChecked(False)
            self.window_choice.setCurrentIndex(_WHOLE)
        self.course, self.is_live = course, is_live
        self.pause.setEnabled(is_live)
        self.refresh()

    def show_entity(self, entity: str) -> None:
        """Draw the messages of an entity among those of the largest."""
        self.show_chosen(ENTITIES, entity)

    def show_chosen(self, view: ChartView, chosen: str) -> None:
        """Draw a view that chooses its lines by the run, with a line of its own choice among them."""
        self._chosen = chosen
        if self.views.currentIndex() != self._choices.index(view):
            self.show_view(view)
        else:
            self._choose_view()

    def show_view(self, view: ChartView) -> None:
        """Draw other lines."""
        self.views.setCurrentIndex(self._choices.index(view))

    @property
    def stretch(self) -> SeriesSpan:
        """The part of the run that is shown."""
        if self._held is not None:
            return self._held
        seconds = WINDOWS[self.window_choice.currentIndex()][1]
        return self.course.whole() if seconds is None else self.course.last(seconds)

    def refresh(self) -> None:
        """Draw what has come in, unless nobody sees it or it is to stand still."""
        if self._held is not None:
            return
        if not self.isVisible() or self.window().isMinimized():
            self._needs_drawing = True
            return
        self._draw()

    def copy_data(self) -> None:
        """Put what is drawn on the clipboard, as a table with tabs."""
        names = [name for name in self.view.lines if name not in self.hidden]
        table = self.course.table(names, self.stretch)
        QGuiApplication.clipboard().setText(table)
        self.copied.emit(table.count("\n") - 1)

    def dress(self) -> None:
        """Take the colours of the theme."""
        if self._plots is not None:
            self._plots.dress()
        self._say()

    def showEvent(self, event: QShowEvent) -> None:
        """Make the plots when the chart is seen for the first time, and draw what came in unseen."""
        super().showEvent(event)
        if self._plots is None:
            from metl_gui.ui.charts.plots import Plots  # loads pyqtgraph, which no page before this one needs

            self._plots = Plots()
            self._layout.addWidget(self._plots, 1)
            self._plots.pointed.connect(self._point)
            self._plots.stepped.connect(self._step)
            QWidget.setTabOrder(self.copy, self._plots)
            self._needs_drawing = True
        if self._needs_drawing:
            self._draw()

    def hideEvent(self, event: QHideEvent) -> None:
        """Point at nothing."""
        super().hideEvent(event)
        self._pointed = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave values out of the legend where there is no room."""
        super().resizeEvent(event)
        self._say()

    def _draw(self) -> None:
        self._needs_drawing = False
        if self.view.fill is not None:
            self._take_view(self.view.fill(self.course, self._chosen))
        is_empty = len(self.course) < 2
        self.nothing.setVisible(is_empty)
        self.start.setVisible(self._can_start and not self.is_live)
        if self._plots is not None:
            self._plots.setVisible(not is_empty)
            from_end = self.is_live and self.window_choice.currentIndex() != _WHOLE
            self._plots.show_course(self.course, self.view, self.stretch, self.hidden, from_end)
            self._plots.show_marks(self.course.marks_in(self.stretch))
            self._plots.point_at(self._pointed)
        self._say()

    def _say(self) -> None:
        """Write the values of the legend: those at the moment that is pointed at, or the latest."""
        is_brief = sum(entry.whole_width for entry in self.entries) > self.width() - themes.px(_BESIDE_PX)
        stretch = self.stretch
        values: dict[str, float] = {}
        if self._pointed is not None:
            moment, values = self.course.at(self._pointed, self.view.lines, stretch)
            self.moment.setText(f"at {duration(moment)}")
        else:
            self.moment.setText("")
        for entry in self.entries:
            value = values[entry.name] if values else self._usual(entry.name)
            words = self.view.words(entry.name, value) if len(self.course) > 1 else ""
            total = f"{self.course.total(entry.name, stretch):,} in the time shown" if self._is_counted else ""
            entry.say(words, is_brief, plain_tip(f"{line_words(entry.name)}: {words}\n{total}".strip()))
        self.copy.setEnabled(len(self.course) > 1)
        if self._plots is not None:
            self._plots.setAccessibleDescription(self._spoken())
            self._plots.read_out(self._values_there() if values and is_brief else "")

    def _usual(self, name: str) -> float:
        """Return what the legend says of a line: its last value while the run goes on, then its mean."""
        return self.course.latest(name) if self.is_live else self.course.mean(name, self.stretch)

    def _values_there(self) -> str:
        """Return the values at the moment that is pointed at, for where the legend has no room for them."""
        return "   ".join(f"{line_words(entry.name)} {entry.value}" for entry in self.entries if entry.isChecked())

    @property
    def _is_counted(self) -> bool:
        return self.view.id in (RECORDS.id, ENTITIES.id) and len(self.course) > 1

    def _spoken(self) -> str:
        told = ", ".join(entry.accessibleName() for entry in self.entries)
        marks = self.course.marks_in(self.stretch)[-_TOLD:]
        happened = "".join(f" {mark.words} from {duration(mark.second)}." for mark in marks)
        return f"{self.moment.text()} {told}.{happened} Left and Right go from point to point.".strip()

    def _point(self, second: float | None) -> None:
        self._pointed = None
        if second is not None and len(self.course) > 1:
            self._pointed = self.course.at(second, (), self.stretch)[0]
        if self._plots is not None:
            self._plots.point_at(self._pointed)
        self._say()

    def _step(self, by: int) -> None:
        if not self.view.lines or len(self.course) < 2:
            return
        seconds = self.course.line(self.view.lines[0], self.stretch)[0]
        here = self._pointed if self._pointed is not None else float(seconds[-1])
        at = int(np.abs(seconds - here).argmin()) + (by if self._pointed is not None else 0)
        self._point(float(seconds[min(max(at, 0), len(seconds) - 1)]))

    def _choose_view(self) -> None:
        self._take_view(self._choices[self.views.currentIndex()])
        self._redraw()

    def _take_view(self, view: ChartView) -> None:
        if view != self.view:
            self.view = view
            self._show_legend()

    def _choose_window(self) -> None:
        self._held = None
        self.pause.setChecked(False)
        self._redraw()

    def _pause(self, is_paused: bool) -> None:
        self._held = self.stretch if is_paused else None
        self.pause.setText("Go on" if is_paused else "Pause")
        self.pause.updateGeometry()
        if not is_paused:
            self.refresh()

    def _redraw(self) -> None:
        if self.isVisible():
            self._draw()
        else:
            self._needs_drawing = True

    def _toggle(self, name: str) -> None:
        self.hidden.symmetric_difference_update({name})
        self._redraw()

    def _show_legend(self) -> None:
        for entry in self.entries:
            self._legend.removeWidget(entry)
            entry.hide()
            entry.deleteLater()
        self.entries = [LegendEntry(self.view, name) for name in self.view.lines]
        for entry in self.entries:
            entry.setChecked(entry.name not in self.hidden)
            entry.switched.connect(self._toggle)
            self._legend.addWidget(entry)
        for before, after in pairwise((self.views, *self.entries, self.window_choice)):
            QWidget.setTabOrder(before, after)
        self._say()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self.views)
        head.addSpacing(6)
        self._legend = QHBoxLayout()
        self._legend.setSpacing(2)
        head.addLayout(self._legend)
        head.addStretch(1)
        head.addWidget(self.moment)
        head.addWidget(self.window_choice)
        for button in (self.pause, self.copy):
            button.set_height(24)
            head.addWidget(button)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(14, 8, 10, 6)
        self._layout.setSpacing(4)
        self._layout.addLayout(head)
        inside = QVBoxLayout(self.nothing)
        inside.addStretch(1)
        inside.addWidget(plain_label(self._nothing_words, "dim"), 0, Qt.AlignmentFlag.AlignCenter)
        inside.addWidget(self.start, 0, Qt.AlignmentFlag.AlignCenter)
        inside.addStretch(1)
        self._layout.addWidget(self.nothing, 1)
