"""The live chart: records per second in and mapped; below it, on its own scale, filtered and set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.run.amounts import amount
from metl_gui.ui.run.rates import LINES, Rates

if TYPE_CHECKING:
    from metl_gui.ui.run.plots import Plots

_WORDS = {"in": "in", "mapped": "mapped", "filtered": "filtered", "set_aside": "set aside"}


class RateChart(QFrame):
    """Two plots over one time axis and a legend with the latest values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.setAccessibleName("Records per second")
        self.rates = Rates()
        self._plots: Plots | None = None
        self._legend = {name: QLabel() for name in LINES}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(14, 10, 14, 6)
        self._layout.addLayout(self._head())
        self._layout.addStretch(1)
        self.dress()

    def show_rates(self, rates: Rates) -> None:
        """Draw the course of a run."""
        self.rates = rates
        theme = themes.current()
        for name in LINES:
            colour = theme.chart[name].name()
            words = f"{_WORDS[name]} <b>{amount(rates.latest(name))}</b>"
            self._legend[name].setText(f"<span style='color:{colour}'>▬</span> {words}")
        if self._plots is not None:
            self._plots.show_rates(rates)

    def dress(self) -> None:
        """Take the colours of the theme."""
        if self._plots is not None:
            self._plots.dress()
        self.show_rates(self.rates)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the plots when the chart is seen for the first time."""
        if self._plots is None:
            from metl_gui.ui.run.plots import Plots  # loads pyqtgraph, which no page before this one needs

            self._plots = Plots()
            self._layout.takeAt(self._layout.count() - 1)
            self._layout.addWidget(self._plots, 1)
            self._plots.show_rates(self.rates)
        super().showEvent(event)

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
