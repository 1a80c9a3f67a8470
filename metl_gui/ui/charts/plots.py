"""Two plots over one time axis, drawn by pyqtgraph, with a line at the moment that is pointed at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent

from metl_gui.ui.charts.series import RECORDS, ChartView, Floats, ProgressSeries, SeriesMark, SeriesSpan, pen_of
from metl_gui.ui.project.text import duration
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.plain_text import plain_label

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -20, Qt.Key.Key_PageDown: 20}
_LEAST_TOP = 10.0
_AXIS_PX = 62
_MOST_MARKS = 12
_FEW_POWERS = 2.5
_LINE_PX = 14
"""How far words beside a scale are from each other at least."""
_ABOVE_POWER = 0.2
_BESIDE = [(0, 0), (0, 0)]
"""Words of a mark stand at the right of its line."""


class Plots(pg.GraphicsLayoutWidget):
    """The plots of a chart; made when a chart is first seen, because pyqtgraph takes a while to load.

    Signals:
        pointed: the second of the run below the mouse, ``None`` for none.
        stepped: so many points to the left (-) or right, by the keyboard.
    """

    pointed = Signal(object)
    stepped = Signal(object)

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # pyqtgraph has no types
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Chart")
        self.setMouseTracking(True)
        grid: Any = self.ci  # its methods are made at run time, so there are no types to read
        self._upper = grid.addPlot(row=0, col=0)
        self._lower = grid.addPlot(row=1, col=0)
        self._lower.setXLink(self._upper)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.layout.setRowStretchFactor(0, 3)
        grid.layout.setRowStretchFactor(1, 2)
        self._values = plain_label("", "readout", self)
        self._values.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._values.hide()
        self.view = RECORDS
        self._from_end = False
        self._zero = 0.0
        self._stretch = SeriesSpan(0.0, 1.0)
        self._curves: dict[str, Any] = {}
        self._marks: list[Any] = []
        self._cursors = [pg.InfiniteLine(angle=90, movable=False) for _ in range(2)]
        for plot, cursor in zip((self._upper, self._lower), self._cursors, strict=True):
            self._set_up(plot)
            cursor.hide()
            plot.addItem(cursor, ignoreBounds=True)
        self.dress()

    def show_course(
        self, course: ProgressSeries, view: ChartView, stretch: SeriesSpan, hidden: Iterable[str], from_end: bool
    ) -> None:
        """Draw a part of a run.

        Args:
            course: the run.
            view: which lines.
            stretch: which part.
            hidden: lines that a person does not want to see.
            from_end: count the seconds back from the end of the part.
        """
        self._from_end, self._stretch = from_end, stretch
        if view != self.view or not self._curves:
            self._take(view)
        shown = [name for name in view.lines if name not in set(hidden)]
        values = {name: course.line(name, stretch) for name in shown}
        self._zero = stretch.stop if from_end else 0.0  # so that the scale has round numbers
        for name, curve in self._curves.items():
            curve.setVisible(name in values)
            if name in values:
                curve.setData(values[name][0] - self._zero, self._heights(name, values[name][1]))
        self._upper.setXRange(stretch.start - self._zero, stretch.stop - self._zero, padding=0)
        for plot, names in ((self._upper, view.upper), (self._lower, view.lower)):
            heights = (self._heights(name, values[name][1]) for name in names if name in values)
            top = max((float(height.max()) for height in heights), default=0.0)
            least = _LEAST_TOP if view.id == RECORDS.id else 1.0
            is_by_powers = view.is_by_powers and plot is self._upper
            plot.setYRange(0, max(top + _ABOVE_POWER if is_by_powers else top * 1.12, least), padding=0)

    def point_at(self, second: float | None) -> None:
        """Draw the line at a moment."""
        for cursor in self._cursors:
            cursor.setVisible(second is not None)
            if second is not None:
                cursor.setValue(second - self._zero)

    def show_marks(self, marks: Sequence[SeriesMark]) -> None:
        """Draw what happened in the part that is shown as lines with words; of many the last ones."""
        marks = marks[-_MOST_MARKS:]
        while len(self._marks) < len(marks):
            line = pg.InfiniteLine(angle=90, movable=False, label="", labelOpts={"position": 0.94, "anchors": _BESIDE})
            self._upper.addItem(line, ignoreBounds=True)
            self._marks.append(line)
            self._dress_mark(line)
        for line, mark in zip(self._marks, marks, strict=False):
            line.setValue(mark.second - self._zero)
            line.label.setFormat(mark.words)
        for at, line in enumerate(self._marks):
            line.setVisible(at < len(marks))

    def _dress_mark(self, line: Any) -> None:
        theme = themes.current()
        line.setPen(pg.mkPen(theme.dim, width=self.devicePixelRatioF(), style=Qt.PenStyle.DashLine))
        line.label.setColor(theme.dim)
        line.label.fill = pg.mkBrush(theme.panel)
        line.label.textItem.setFont(themes.scaled(0.85))

    def read_out(self, words: str) -> None:
        """Write values over the plot; nothing hides them."""
        self._values.setText(words)
        self._values.adjustSize()
        self._values.setFixedWidth(min(self._values.sizeHint().width(), self.width() - themes.px(_AXIS_PX + 16)))
        self._values.move(themes.px(_AXIS_PX + 8), 0)
        self._values.setVisible(bool(words))

    def dress(self) -> None:
        """Take the colours of the theme."""
        theme = themes.current()
        self.setBackground(theme.panel)  # type: ignore[no-untyped-call] # as above
        for name, curve in self._curves.items():
            colour, width, style = pen_of(theme, self.view, name)
            width *= self.devicePixelRatioF()  # pyqtgraph counts the pixels of the screen
            curve.setPen(pg.mkPen(colour, width=width, style=style))
        for cursor in self._cursors:
            cursor.setPen(pg.mkPen(theme.dim, width=1))
        for line in self._marks:
            self._dress_mark(line)
        for plot in (self._upper, self._lower):
            plot.getAxis("left").setWidth(themes.px(_AXIS_PX))
            for side in ("left", "bottom"):
                axis = plot.getAxis(side)
                axis.setPen(pg.mkPen(QColor(0, 0, 0, 0)))
                axis.setTextPen(pg.mkPen(theme.dim))
                axis.setStyle(tickFont=themes.scaled(0.85), tickLength=0, maxTickLevel=0)
                axis.setTickPen(pg.mkPen(None))
            plot.getAxis("left").setGrid(160)
            plot.getAxis("left").setTickPen(pg.mkPen(theme.line))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell which moment is pointed at."""
        super().mouseMoveEvent(event)  # type: ignore[no-untyped-call] # as above
        scene = self.mapToScene(event.position().toPoint())
        second = float(self._upper.vb.mapSceneToView(scene).x()) + self._zero
        is_within = self._stretch.start <= second <= self._stretch.stop
        self.pointed.emit(second if is_within else None)

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)  # type: ignore[no-untyped-call] # as above
        self.pointed.emit(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point by arrows; Esc leaves."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.stepped.emit(_STEPS[key])
        elif key == Qt.Key.Key_Escape:
            self.pointed.emit(None)
        else:
            event.ignore()

    def _take(self, view: ChartView) -> None:
        """Show other lines."""
        for plot in (self._upper, self._lower):
            for curve in list(plot.listDataItems()):
                plot.removeItem(curve)
        self.view = view
        self._curves = {
            name: (self._upper if name in view.upper else self._lower).plot([], [], antialias=True)
            for name in view.lines
        }
        self._lower.setVisible(bool(view.lower))
        grid: Any = self.ci
        grid.layout.setRowStretchFactor(1, 2 if view.lower else 0)
        self._lower.setMaximumHeight(themes.NO_LIMIT_PX if view.lower else 0)
        self._upper.getAxis("bottom").setVisible(not view.lower)  # else the axis below stands for both
        upper = self._upper.getAxis("left")
        upper.tickStrings = _writer(_of_power(view.upper_words) if view.is_by_powers else view.upper_words)
        upper.tickValues = _ticks_of_powers if view.is_by_powers else partial(_ticks_apart, upper)
        lower = self._lower.getAxis("left")
        lower.tickStrings = _writer(view.lower_words)
        lower.tickValues = partial(_ticks_apart, lower)
        for plot in (self._upper, self._lower):
            plot.getAxis("left").picture = None
        self.dress()

    def _heights(self, name: str, values: Floats) -> Floats:
        """Return how high the points of a line stand."""
        return _power_of(values) if self.view.is_by_powers and name in self.view.upper else values

    def _set_up(self, plot: Any) -> None:
        plot.setMouseEnabled(x=False, y=False)
        plot.hideButtons()
        plot.setMenuEnabled(False)
        plot.ctrlMenu.setParent(self, plot.ctrlMenu.windowFlags())  # made all the same: it is to go with the chart
        left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
        left.setTickDensity(0.5)
        bottom.enableAutoSIPrefix(False)
        left.enableAutoSIPrefix(False)
        bottom.tickStrings = self._moments

    def _moments(self, values: list[float], _scale: float, _spacing: float) -> list[str]:
        if self._from_end:
            return [_back(value) for value in values]
        return [duration(value) if value >= 10 else f"{value:g} s" for value in values]


def _back(seconds: float) -> str:
    if abs(seconds) < 0.5:
        return "now"
    return f"-{duration(-seconds)}" if seconds <= -10 else f"{seconds:.0f} s"


def _power_of(values: Floats) -> Floats:
    """Return to what power ten is the values; what is less than 1 stands at the foot."""
    return np.log10(np.maximum(values, 1.0))


def _of_power(words: Callable[[float], str]) -> Callable[[float], str]:
    return lambda power: words(10.0**power)


def _ticks_of_powers(least: float, most: float, _size: float) -> list[tuple[float, list[float]]]:
    """Return where the scale has words: at the powers of ten, and between them where there are few."""
    between = (1, 2, 5) if most - least < _FEW_POWERS else (1,)
    ticks = [power + float(np.log10(part)) for power in range(int(least), int(most) + 1) for part in between]
    return [(1.0, [tick for tick in ticks if least <= tick <= most])]


def _ticks_apart(axis: Any, least: float, most: float, size: float) -> list[tuple[float, list[float]]]:
    """Return where pyqtgraph has words on a scale, and where they would overlap only every second, or third.

    Args:
        axis: the scale.
        least, most: between which values it is.
        size: how long it is, in pixels.
    """
    levels: list[tuple[float, list[float]]] = type(axis).tickValues(axis, least, most, size)
    room = themes.px(_LINE_PX) * max(most - least, 0.0)
    apart = [level for level in levels if level[0] * size >= room]
    if apart or not levels or size <= 0:
        return apart
    spacing, ticks = levels[0]
    step = ceil(room / (spacing * size))
    return [(spacing * step, [tick for tick in ticks if round(tick / spacing) % step == 0])]


def _writer(words: Callable[[float], str]) -> Callable[[list[float], float, float], list[str]]:
    def strings(values: list[float], _scale: float, _spacing: float) -> list[str]:
        return [words(value) for value in values]

    return strings
