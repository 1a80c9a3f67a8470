"""The live chart: records per second in and mapped; below it, on its own scale, filtered and set aside."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.run.rates import LINES, Rates

_WORDS = {"in": "in", "mapped": "mapped", "filtered": "filtered", "set_aside": "set aside"}


class RateChart(QFrame):
    """Two plots over one time axis and a legend with the latest values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.setAccessibleName("Records per second")
        self.rates = Rates()
        self._canvas = pg.GraphicsLayoutWidget()
        self._canvas.setBackground(None)
        self._canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # there is nothing to do in it by keys
        grid: Any = self._canvas.ci  # its methods are made at run time, so there are no types to read
        self._upper = grid.addPlot(row=0, col=0)
        self._lower = grid.addPlot(row=1, col=0)
        self._lower.setXLink(self._upper)
        grid.setContentsMargins(0, 0, 0, 0)
        self._upper.hideAxis("bottom")  # the time axis below stands for both
        grid.layout.setRowStretchFactor(0, 3)
        grid.layout.setRowStretchFactor(1, 2)
        self._curves = {}
        for name in LINES:
            plot = self._upper if name in ("in", "mapped") else self._lower
            self._curves[name] = plot.plot([], [])
        for plot in (self._upper, self._lower):
            plot.setMouseEnabled(x=False, y=False)
            plot.hideButtons()
            plot.setMenuEnabled(False)
            plot.getAxis("left").setWidth(58)
            plot.getAxis("left").setTickDensity(0.5)
            plot.getAxis("bottom").enableAutoSIPrefix(False)
            plot.getAxis("left").enableAutoSIPrefix(False)
            plot.getAxis("left").tickStrings = _amounts
            plot.getAxis("bottom").tickStrings = _seconds
            plot.setLimits(xMin=0, yMin=0)
        self._legend = {name: QLabel() for name in LINES}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 10, 14, 6)
        layout.addLayout(self._head())
        layout.addWidget(self._canvas, 1)
        self.dress()

    def show_rates(self, rates: Rates) -> None:
        """Draw the course of a run."""
        self.rates = rates
        theme = themes.current()
        for name in LINES:
            seconds, values = rates.line(name)
            self._curves[name].setData(seconds, values)
            colour = theme.chart[name].name()
            words = f"{_WORDS[name]} <b>{amount(rates.latest(name))}</b>"
            self._legend[name].setText(f"<span style='color:{colour}'>▬</span> {words}")
        last = rates.points[-1].seconds
        self._upper.setXRange(0, max(last, 2.0), padding=0.01)
        for plot, names in ((self._upper, ("in", "mapped")), (self._lower, ("filtered", "set_aside"))):
            top = max(max(rates.line(name)[1]) for name in names)
            plot.setYRange(0, max(top * 1.12, 10.0), padding=0)

    def dress(self) -> None:
        """Take the colours of the theme."""
        theme = themes.current()
        self._canvas.setBackground(theme.panel)
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
        self.show_rates(self.rates)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        title = QLabel("Records per second")
        title.setProperty("kind", "heading")
        row.addWidget(title)
        row.addSpacing(16)
        for label in self._legend.values():
            label.setProperty("kind", "dim")
            row.addWidget(label)
            row.addSpacing(10)
        row.addStretch(1)
        return row


def amount(value: float) -> str:
    """Write a number for people: 812 k, 3.66 M."""
    for least, unit in ((1e6, " M"), (1e4, " k")):
        if value >= least:
            return f"{value / (1e6 if unit == ' M' else 1e3):,.3g}{unit}"
    return f"{value:,.0f}"


def _amounts(values: list[float], _scale: float, _spacing: float) -> list[str]:
    return [amount(value) for value in values]


def _seconds(values: list[float], _scale: float, _spacing: float) -> list[str]:
    return [f"{value:g} s" for value in values]
