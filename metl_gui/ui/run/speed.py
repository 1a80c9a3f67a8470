"""How fast the kernel maps: time a message over batches, its compiled column sets, and the same over the runs before.

Source: METL paper §7 (transformations, time of a mapping, size and use of the cache, evictions when the state changes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.engine.kernel_figures import STEPS, KernelFigures
from metl_gui.ui.elided import Elided
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.amounts import amount, duration_ns, share
from metl_gui.ui.run.bars import Bar, BarChart
from metl_gui.ui.run.run_words import kind_words, moment_words
from metl_gui.workbench.run_history import PastRun

_MOST_BARS = 40
_NO_FIGURES = "A run shows here how long the kernel took a message, batch by batch."
_NO_RUNS = "Runs stand here side by side, so that a slower state is seen. Start one with Test run."
_CELLS = (
    ("transformations", "records given to the kernel"),
    ("mean", "time a message, over all"),
    ("p50", "half of the batches took less a message"),
    ("p95", "95 of 100 batches took less a message"),
    ("p99", "99 of 100 batches took less a message"),
    ("column sets", "compiled: one for each schema version that was seen"),
    ("hit rate", "records mapped by a column set compiled before"),
    ("evictions", "column sets dropped, for another state or for room"),
    ("code", "machine code, or the reference where that is not there"),
)
_A_ROW = 5


class SpeedPanel(QWidget):
    """Figures above, two charts below.

    Signals:
        run_wanted: the id of a run that is to be shown.
    """

    run_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures = KernelFigures()
        self.values = {name: plain_label("-", "title") for name, _ in _CELLS}
        self.batches = BarChart("Batches by time a message", amount, _NO_FIGURES)
        self.runs = BarChart("Mean time a message of the last runs", duration_ns, _NO_RUNS)
        self._build()
        self.runs.taken.connect(self.run_wanted)

    def show_figures(self, kernel: Mapping[str, Any] | None) -> None:
        """Show the figures of a run, live or finished; ``None`` for no run."""
        self.figures = figures_of(kernel)
        told = self.figures
        is_known = told.records > 0
        words = {
            "transformations": f"{told.records:,}",
            "mean": duration_ns(told.mean_ns),
            "p50": duration_ns(told.quantile_ns(0.5)),
            "p95": duration_ns(told.quantile_ns(0.95)),
            "p99": duration_ns(told.quantile_ns(0.99)),
            "column sets": f"{told.column_sets:,}",
            "hit rate": share(told.hits, told.hits + told.misses),
            "evictions": f"{told.evictions:,}",
            "code": "compiled" if told.is_compiled else "reference",
        }
        for name, label in self.values.items():
            label.setText(words[name] if is_known else "-")
            label.setAccessibleName(f"{name} {label.text()}")
        self.batches.show_bars(_histogram(told))

    def show_runs(self, runs: Sequence[PastRun], shown: str) -> None:
        """Show the last runs side by side, the newest at the right.

        Args:
            runs: newest first.
            shown: id of the run that is shown.
        """
        known = [run for run in runs if run.report.kernel.records][:_MOST_BARS]
        self.runs.show_bars([_bar(run, run.run_id == shown) for run in reversed(known)])

    def _build(self) -> None:
        figures = QFrame()
        figures.setProperty("surface", "card")
        grid = QGridLayout(figures)
        grid.setContentsMargins(16, 10, 16, 10)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(10)
        for at, (name, meaning) in enumerate(_CELLS):
            cell = QVBoxLayout()
            cell.setSpacing(0)
            cell.addWidget(self.values[name])
            words = Elided(name, "dim")
            words.setToolTip(meaning)
            self.values[name].setToolTip(meaning)
            self.values[name].setAccessibleDescription(meaning)
            cell.addWidget(words)
            grid.addLayout(cell, at // _A_ROW, at % _A_ROW)
            grid.setColumnStretch(at % _A_ROW, 1)
        charts = QHBoxLayout()
        charts.setSpacing(12)
        charts.addWidget(_card("Batches by time a message", "how many batches took so long", self.batches), 1)
        meaning = "mean of each run, its state below; the line is p95"
        charts.addWidget(_card("Over the last runs", meaning, self.runs), 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(figures)
        layout.addLayout(charts, 1)


def figures_of(kernel: Mapping[str, Any] | None) -> KernelFigures:
    """Read figures back from a report; empty where a run has none, as before they were kept."""
    try:
        return msgspec.convert(dict(kernel or {}), KernelFigures, strict=False)
    except msgspec.ValidationError:
        return KernelFigures()


def _histogram(figures: KernelFigures) -> list[Bar]:
    """Return a bar for each step of time, empty ones between too; a few steps together where there are many."""
    buckets = figures.histogram
    if not buckets:
        return []
    low, high = min(buckets), max(buckets)
    step = -(-(high - low + 1) // _MOST_BARS)
    bars = []
    for first in range(low, high + 1, step):
        count = sum(buckets.get(bucket, 0) for bucket in range(first, first + step))
        least, most = 2 ** (first / STEPS), 2 ** ((first + step) / STEPS)
        words = f"{count:,} batches took {duration_ns(least)} to {duration_ns(most)} a message"
        bars.append(Bar(duration_ns(least), float(count), words))
    return bars


def _bar(run: PastRun, is_shown: bool) -> Bar:
    figures = run.report.kernel
    p95 = figures.quantile_ns(0.95)
    words = f"{kind_words(run.report.as_json())} of state {run.state}, {moment_words(run.when_ms)}: "
    words += f"mean {duration_ns(figures.mean_ns)}, p95 {duration_ns(p95)}, {figures.records:,} records"
    return Bar(f"{run.state}", figures.mean_ns, words, p95, run.run_id, is_shown)


def _card(title: str, meaning: str, chart: BarChart) -> QFrame:
    card = QFrame()
    card.setProperty("surface", "card")
    head = QHBoxLayout()
    head.addWidget(plain_label(title, "heading"))
    head.addSpacing(8)
    head.addWidget(Elided(meaning, "small"), 1)
    layout = QVBoxLayout(card)
    layout.setContentsMargins(14, 8, 10, 6)
    layout.addLayout(head)
    layout.addWidget(chart, 1)
    return card
