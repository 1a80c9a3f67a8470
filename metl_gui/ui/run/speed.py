"""How fast the kernel maps: time per message over batches, compiled column sets, the same over earlier runs.

A bar of the charts is pointed at by mouse or arrows, and taken by a click or Enter.
Source: METL paper §7 (transformations, time of a mapping, size and use of the cache, evictions when the state changes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from metl_gui.core.runs.report import STEPS, KernelFigures
from metl_gui.ui.project.text import amount, duration_ns, share
from metl_gui.ui.run.progress import kind_words, moment_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.values import Value
from metl_gui.workbench.runs.history import PastRun

_LEFT_PX, _BELOW_PX, _ABOVE_PX = 56, 22, 22
_WIDEST_PX, _GAP = 34, 0.2
_LINES = 4
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class Bar(Value):
    """One bar.

    Args:
        label: below it.
        value: its height.
        words: all of it in words.
        mark: a second value, drawn as a line above or across the bar; ``None`` for none.
        key: what it stands for.
        is_current: drawn in the accent, the others dimmer.
    """

    label: str
    value: float
    words: str
    mark: float | None = None
    key: str = ""
    is_current: bool = False


class BarChart(QWidget):
    """Bars over one scale that begins at 0.

    Args:
        name: what it shows.
        words: writes a value.
        nothing: what stands there without bars.

    Signals:
        taken: the ``key`` of a bar that has one.
    """

    taken = Signal(object)

    def __init__(self, name: str, words: Callable[[float], str], nothing: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._nothing, self._name = words, nothing, name
        self.bars: tuple[Bar, ...] = ()
        self.pointed: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_bars(self, bars: Sequence[Bar]) -> None:
        """Show other bars."""
        self.bars = tuple(bars)
        if self.pointed is not None and self.pointed >= len(self.bars):
            self.pointed = None
        self._say()

    def sizeHint(self) -> QSize:
        """Room for a few lines of the scale."""
        return QSize(themes.px(260), themes.px(150))

    def minimumSizeHint(self) -> QSize:
        """What can still be read."""
        return QSize(themes.px(160), themes.px(90))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at a bar."""
        self._point(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._point(None)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take the bar that is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._take(self._at(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from bar to bar by arrows, take one by Enter."""
        key = Qt.Key(event.key())
        if key in _STEPS and self.bars:
            last = len(self.bars) - 1
            self._point(last if self.pointed is None else min(max(self.pointed + _STEPS[key], 0), last))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._take(self.pointed)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint scale, bars, and words of the bar that is pointed at."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = themes.current()
        painter.setFont(themes.scaled(0.85))
        if not self.bars:
            painter.setPen(theme.dim)
            box = QRectF(self.rect()).adjusted(16, 0, -16, 0)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap), self._nothing)
        else:
            self._paint_scale(painter)
            for at in range(len(self.bars)):
                self._paint_bar(painter, at)
            self._paint_words(painter)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
        painter.end()

    @property
    def _frame(self) -> QRectF:
        px = themes.px
        return QRectF(self.rect()).adjusted(px(_LEFT_PX), px(_ABOVE_PX), -px(6), -px(_BELOW_PX))

    @property
    def _top(self) -> float:
        highest = max((max(bar.value, bar.mark or 0.0) for bar in self.bars), default=0.0) or 1.0
        return _LINES * _round_step(highest * 1.05 / _LINES)

    def _box(self, at: int) -> QRectF:
        """Return the column of a bar, from top to bottom."""
        frame = self._frame
        wide = min(frame.width() / max(len(self.bars), 1), themes.px(_WIDEST_PX) / (1 - _GAP))
        return QRectF(frame.left() + at * wide, frame.top(), wide, frame.height())

    def _at(self, spot: QPointF) -> int | None:
        return next(
            (at for at in range(len(self.bars)) if self._box(at).left() <= spot.x() < self._box(at).right()), None
        )

    def _paint_scale(self, painter: QPainter) -> None:
        theme, frame, top = themes.current(), self._frame, self._top
        for line in range(_LINES + 1):
            y = frame.bottom() - frame.height() * line / _LINES
            painter.setPen(theme.grid if line else theme.line)
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(theme.dim)
            box = QRectF(0, y - 9, frame.left() - 8, 18)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, self._words(top * line / _LINES) if line else "0")

    def _paint_bar(self, painter: QPainter, at: int) -> None:
        theme, bar, box = themes.current(), self.bars[at], self._box(at)
        frame, scale = self._frame, self._frame.height() / self._top
        high = max(bar.value * scale, 1.0)
        wide = box.width() * (1 - _GAP)
        body = QRectF(box.center().x() - wide / 2, frame.bottom() - high, wide, high)
        is_bright = bar.is_current or at == self.pointed
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent if is_bright else theme.tint(0.75))
        painter.drawRoundedRect(body, min(2.0, wide / 3), min(2.0, wide / 3))
        if bar.mark is not None:
            y = frame.bottom() - bar.mark * scale
            painter.setPen(QPen(theme.dim, 1.6))
            painter.drawLine(QPointF(body.left(), y), QPointF(body.right(), y))
            painter.drawLine(QPointF(body.center().x(), y), QPointF(body.center().x(), body.top()))
        label_wide = themes.text_width(bar.label, painter.font()) + 8
        every = max(1, -(-round(label_wide) // max(round(box.width()), 1)))
        if bar.label and (at % every == 0):
            painter.setPen(theme.dim)
            below = QRectF(box.center().x() - label_wide / 2, frame.bottom() + 3, label_wide, themes.px(18))
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, bar.label)

    def _paint_words(self, painter: QPainter) -> None:
        if self.pointed is None:
            return
        painter.setPen(themes.current().text)
        box = QRectF(themes.px(8), 1, self.width() - themes.px(12), themes.px(_ABOVE_PX - 3))
        words = painter.fontMetrics().elidedText(
            self.bars[self.pointed].words, Qt.TextElideMode.ElideRight, round(box.width())
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)

    def _point(self, at: int | None) -> None:
        if at != self.pointed:
            self.pointed = at
            has_key = at is not None and bool(self.bars[at].key)
            self.setCursor(Qt.CursorShape.PointingHandCursor if has_key else Qt.CursorShape.ArrowCursor)
            self._say()

    def _take(self, at: int | None) -> None:
        if at is not None and self.bars[at].key:
            self.taken.emit(self.bars[at].key)

    def _say(self) -> None:
        told = self.bars[self.pointed].words if self.pointed is not None else "Left and Right go from bar to bar."
        self.setAccessibleDescription(told if self.bars else self._nothing)
        self.update()


def _round_step(least: float) -> float:
    """Return the next round number: 1, 2, 5 and some between them times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= least * 0.9999)


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
