"""Two plots over one time axis, drawn by pyqtgraph: the rates in and mapped, and below them filtered and set aside."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from metl_gui.ui import theme as themes
from metl_gui.ui.run.amounts import amount
from metl_gui.ui.run.rates import LINES, Rates

_UPPER, _LOWER = ("in", "mapped"), ("filtered", "set_aside")


class Plots(pg.GraphicsLayoutWidget):
    """The plots of a chart; made when a chart is first seen, because pyqtgraph takes a while to load."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # pyqtgraph has no types
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # there is nothing to do in it by keys
        grid: Any = self.ci  # its methods are made at run time, so there are no types to read
        self._upper = grid.addPlot(row=0, col=0)
        self._lower = grid.addPlot(row=1, col=0)
        self._lower.setXLink(self._upper)
        grid.setContentsMargins(0, 0, 0, 0)
        self._upper.hideAxis("bottom")  # the time axis below stands for both
        grid.layout.setRowStretchFactor(0, 3)
        grid.layout.setRowStretchFactor(1, 2)
        self._curves = {name: (self._upper if name in _UPPER else self._lower).plot([], []) for name in LINES}
        for plot in (self._upper, self._lower):
            _set_up(plot)
        self.dress()

    def show_rates(self, rates: Rates) -> None:
        """Draw the course of a run."""
        for name in LINES:
            self._curves[name].setData(*rates.line(name))
        self._upper.setXRange(0, max(rates.points[-1].seconds, 2.0), padding=0.01)
        for plot, names in ((self._upper, _UPPER), (self._lower, _LOWER)):
            top = max(max(rates.line(name)[1]) for name in names)
            plot.setYRange(0, max(top * 1.12, 10.0), padding=0)

    def dress(self) -> None:
        """Take the colours of the theme."""
        theme = themes.current()
        self.setBackground(theme.panel)  # type: ignore[no-untyped-call] # as above
        for name in LINES:
            style = Qt.PenStyle.DashLine if name == "filtered" else Qt.PenStyle.SolidLine
            self._curves[name].setPen(pg.mkPen(theme.chart[name], width=2, style=style))
        for plot in (self._upper, self._lower):
            for side in ("left", "bottom"):
                axis = plot.getAxis(side)
                axis.setPen(pg.mkPen(QColor(0, 0, 0, 0)))
                axis.setTextPen(pg.mkPen(theme.dim))
                axis.setStyle(tickFont=themes.scaled(0.85), tickLength=0, maxTickLevel=0)
                axis.setTickPen(pg.mkPen(None))
            plot.getAxis("left").setGrid(160)
            plot.getAxis("left").setTickPen(pg.mkPen(theme.line))


def _set_up(plot: Any) -> None:
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    plot.setMenuEnabled(False)
    left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
    left.setWidth(58)
    left.setTickDensity(0.5)
    bottom.enableAutoSIPrefix(False)
    left.enableAutoSIPrefix(False)
    left.tickStrings = _amounts
    bottom.tickStrings = _seconds
    plot.setLimits(xMin=0, yMin=0)


def _amounts(values: list[float], _scale: float, _spacing: float) -> list[str]:
    return [amount(value) for value in values]


def _seconds(values: list[float], _scale: float, _spacing: float) -> list[str]:
    return [f"{value:g} s" for value in values]
