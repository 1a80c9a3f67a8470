"""The progress series of one run (counts at moments, the rates between them), and what a chart can show of it.

For charts, for copying, for a crosshair. Counts only grow, so a rate over a stretch is a difference of two rows, and a
long run is drawn by leaving rows out: every rate that is shown is the mean over its stretch. A view of a chart says
which lines stand above, which below on their own scale, and in what words.

Cost: a frame costs what it shows, whatever the length of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from metl_gui.core.runs.events import BatchCommitted, EngineEvent, LaneProgressed, RunProgressed, StateChanged
from metl_gui.core.runs.report import Tally, Unit
from metl_gui.ui.project.text import amount, duration_ns, size
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

LINES = ("in", "mapped", "filtered", "set_aside")
BATCH_MS, BACKLOG = "batch_ms", "backlog"
_FIELDS = {"in": "read", "mapped": "mapped", "filtered": "filtered", "set_aside": "set_aside"}
_KERNEL = ("batches", "nanoseconds")
"""Counts of the kernel: how often it was given records, and how long it took."""
_WHOLE_BATCH = "batch"
"""The column of the milliseconds of the last batch, which only a run in batches has."""
_LEVELS = (BACKLOG, _WHOLE_BATCH)
"""Columns that are drawn as they stand; of counts the rates are drawn."""
_ENTITY = "entity "
OF = "\t"
"""Stands in the name of a line between what it says and what it is of, which is all that people read."""
_MOST_POINTS = 600
"""So many points of a line are drawn; a screen shows no more."""
Floats = NDArray[np.float64]


def entity_line(entity: str) -> str:
    """Name the line of an entity's messages."""
    return _ENTITY + entity


def line_words(name: str) -> str:
    """Return what people call a line."""
    words = {"set_aside": "set aside", BATCH_MS: "batch time", BACKLOG: "backlog"}
    return words.get(name, name.removeprefix(_ENTITY).rpartition(OF)[2])


class SeriesSpan(Value):
    """A part of a run.

    Units:
        start, stop: seconds since it began.
    """

    start: float
    stop: float


class SeriesMark(Value):
    """Something that happened at a moment of a run.

    Args:
        second: since it began.
        words: what, in two or three words.
    """

    second: float
    words: str


class ProgressSeries:
    """The course of one run.

    Shape:
        One growing column a count; the first row is the beginning, where all are 0.
    """

    def __init__(self) -> None:
        self.marks: list[SeriesMark] = []
        self.unit: Unit = "bytes"
        """What the source is measured in, and so the backlog."""
        self._state = -1
        self._columns: dict[str, Floats] = {}
        self._rows = 0
        self._batch_ms = 0.0
        self._put(0.0, {})

    def __len__(self) -> int:
        return self._rows

    @property
    def seconds(self) -> float:
        """How long the run has taken at its last moment."""
        return float(self._columns["seconds"][self._rows - 1])

    @property
    def entities(self) -> tuple[str, ...]:
        """The entities that got messages, the largest first."""
        names = [name for name in self._columns if name.startswith(_ENTITY)]
        names.sort(key=lambda name: -self._columns[name][self._rows - 1])
        return tuple(name.removeprefix(_ENTITY) for name in names)

    def take(self, event: EngineEvent) -> bool:
        """Take what a run tells, and return whether there is something new to draw."""
        match event:
            case RunProgressed():
                backlog = max(event.bytes_total - event.bytes_read, event.bytes_waiting)
                before = len(self)
                self.unit = event.unit
                self.add(event.seconds, event.tally, backlog)
                return len(self) > before
            case LaneProgressed():
                before = len(self)
                self.add(event.seconds, event.tally)
                self.note_state(event.state)
                return len(self) > before
            case BatchCommitted(seconds=seconds):
                self._batch_ms = seconds * 1000
                return False
            case StateChanged(state=state):
                self.note_state(state, is_change=True)
                return False
            case _:
                return False

    def add(self, seconds: float, tally: Tally, backlog: float = 0.0) -> None:
        """Take the counts at a later moment; what comes out of order is left out.

        Args:
            seconds: since the run began.
            tally: what is counted so far.
            backlog: how much of the source is still to be read, in its unit.
        """
        if seconds <= self.seconds:
            return
        counts = {name: getattr(tally, field) for name, field in _FIELDS.items()}
        counts |= {name: getattr(tally.kernel, name) for name in _KERNEL}
        counts |= {entity_line(name): count for name, count in tally.by_entity.items()}
        if self._batch_ms:
            counts[_WHOLE_BATCH] = self._batch_ms
        self._put(seconds, counts | {BACKLOG: backlog})

    def note_state(self, state: int, is_change: bool = False) -> None:
        """Take the state that is in use at the last moment, and mark the moment where it is another one.

        Args:
            state: its number.
            is_change: there was another one before, whether or not it was told.
        """
        if state != self._state and (is_change or self._state >= 0):
            self.marks.append(SeriesMark(self.seconds, f"state {state:,}"))
        self._state = state

    def finish(self, report: Mapping[str, Any]) -> None:
        """Draw a run that was over before it told its progress as one stretch."""
        if len(self) > 1 or report["seconds"] <= 0:
            return
        counts = {name: report[field] for name, field in _FIELDS.items()}
        counts |= {name: report.get("kernel", {}).get(name, 0) for name in _KERNEL}
        counts |= {entity_line(name): count for name, count in report["by_entity"].items()}
        self._put(float(report["seconds"]), counts)

    def last(self, seconds: float) -> SeriesSpan:
        """Return the last part of the run, so many seconds long however young the run is."""
        return SeriesSpan(self.seconds - seconds, self.seconds)

    def whole(self) -> SeriesSpan:
        """Return all of it."""
        return SeriesSpan(0.0, max(self.seconds, 1.0))

    def line(self, name: str, stretch: SeriesSpan | None = None) -> tuple[Floats, Floats]:
        """Return (seconds, values) of one line; a rate stands at the end of the time that it is the mean of.

        Args:
            name: of ``LINES`` or of an entity: records or messages per second; ``BATCH_MS``: milliseconds of the last
                batch of a run in batches, of any other run the mean of what is given to the kernel at a time;
                ``BACKLOG``: bytes, or records where topics are read.
            stretch: which part; all of it by default.
        """
        if name == BATCH_MS and _WHOLE_BATCH in self._columns:
            name = _WHOLE_BATCH
        rows = self._rows_of(stretch or self.whole())
        seconds = self._columns["seconds"][rows]
        if name in _LEVELS:
            return seconds, self._column(name)[rows]
        if len(rows) < 2:
            return seconds, np.zeros(len(rows))
        if name == BATCH_MS:
            grown, over = np.diff(self._column("nanoseconds")[rows]) / 1e6, np.diff(self._column("batches")[rows])
        else:
            grown, over = np.diff(self._column(name)[rows]), np.diff(seconds)
        values = np.divide(grown, over, out=np.zeros_like(grown), where=over > 0)
        return seconds, np.concatenate([values[:1], values])

    def marks_in(self, stretch: SeriesSpan) -> list[SeriesMark]:
        """Return what happened within a part of the run."""
        return [mark for mark in self.marks if stretch.start <= mark.second <= stretch.stop]

    def latest(self, name: str) -> float:
        """Return the last value of a line: over the last second where it is a rate."""
        return float(self.line(name, self.last(1.0))[1][-1])

    def mean(self, name: str, stretch: SeriesSpan) -> float:
        """Return the mean of a line over a part of the run, each moment counted for as long as it lasted."""
        seconds, values = self.line(name, stretch)
        if len(seconds) < 2 or seconds[-1] <= seconds[0]:
            return 0.0
        return float((values[1:] * np.diff(seconds)).sum() / (seconds[-1] - seconds[0]))

    def at(self, second: float, names: Iterable[str], stretch: SeriesSpan) -> tuple[float, dict[str, float]]:
        """Return the moment that is next to another one as it is drawn, and the values of some lines there."""
        rows = self._rows_of(stretch)
        moments = self._columns["seconds"][rows]
        at = int(np.abs(moments - second).argmin())
        return float(moments[at]), {name: float(self.line(name, stretch)[1][at]) for name in names}

    def total(self, name: str, stretch: SeriesSpan) -> int:
        """Return what was counted of a line within a part of the run."""
        rows = self._rows_of(stretch)
        column = self._column(name)[rows]
        return int(column[-1] - column[0])

    def table(self, names: Iterable[str], stretch: SeriesSpan) -> str:
        """Return lines as a table with tabs: seconds, then the values of each line."""
        names = tuple(names)
        lines = [self.line(name, stretch)[1] for name in names]
        moments = self._columns["seconds"][self._rows_of(stretch)]
        head = "\t".join(("seconds", *(line_words(name) for name in names)))
        rows = ("\t".join(f"{value:.3f}" for value in row) for row in zip(moments, *lines, strict=True))
        return "\n".join((head, *rows)) + "\n"

    def _column(self, name: str) -> Floats:
        return self._columns.get(name, np.zeros(self._rows))[: self._rows]

    def _rows_of(self, stretch: SeriesSpan) -> NDArray[np.intp]:
        """Return the rows of a part, with the one before it so that its first rate is known; not too many of them."""
        seconds = self._columns["seconds"][: self._rows]
        first = max(int(np.searchsorted(seconds, stretch.start)) - 1, 0)
        last = max(int(np.searchsorted(seconds, stretch.stop, side="right")) - 1, first)
        if last - first <= _MOST_POINTS:
            return np.arange(first, last + 1)
        step = 1 << (-(-(last - first) // _MOST_POINTS) - 1).bit_length()  # doubles now and then, and else stays
        # Counted from the beginning of the run, so that what is drawn does not change while it moves on.
        inner = np.arange(-(-first // step) * step, last, step)
        return np.unique(np.concatenate([[first], inner, [last]]))

    def _put(self, seconds: float, counts: Mapping[str, float]) -> None:
        row = {"seconds": seconds, **counts}
        for name in row.keys() - self._columns.keys():
            self._columns[name] = np.zeros(max(64, self._rows * 2))
        for name in self._columns:
            if len(self._columns[name]) <= self._rows:
                self._columns[name] = np.concatenate([self._columns[name], np.zeros(self._rows)])
            column = self._columns[name]
            column[self._rows] = row.get(name, column[self._rows - 1] if self._rows else 0.0)
        self._rows += 1


_MOST_ENTITIES = 6
_SOLID, _DASH, _DOT = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
_WIDTHS = {"in": 2.6, "mapped": 1.6}
"""The line of what came in shows on both sides of that of what was mapped, which mostly covers it."""


class ChartView(Value):
    """One choice of lines.

    Args:
        id: its name in code.
        title: what people choose.
        upper, lower: names of lines, one plot each; no lower plot when empty.
        upper_words, lower_words: write a value of either plot.
        is_by_powers: the upper plot goes up by powers of ten from 1, as a few values are far above the others; what is
            less stands at its foot.
        fill: chooses the lines by what the run has, and by the one that a person chose; ``None`` where they are fixed.
    """

    id: str
    title: str
    upper: tuple[str, ...]
    lower: tuple[str, ...] = ()
    upper_words: Callable[[float], str] = amount
    lower_words: Callable[[float], str] = amount
    is_by_powers: bool = False
    fill: Callable[[ProgressSeries, str], ChartView] | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines, the upper ones first."""
        return self.upper + self.lower

    def words(self, name: str, value: float) -> str:
        """Write a value of a line."""
        return (self.upper_words if name in self.upper else self.lower_words)(value)


def milliseconds(value: float) -> str:
    """Write so many milliseconds."""
    return duration_ns(value * 1e6) if value else "0"


def entities_of(course: ProgressSeries, chosen: str = "") -> ChartView:
    """Return the view of the largest entities, with the one that a person chose among them."""
    names = list(course.entities[:_MOST_ENTITIES])
    if chosen in course.entities and chosen not in names:
        names = [*names[: _MOST_ENTITIES - 1], chosen]
    return replace(ENTITIES, upper=tuple(entity_line(name) for name in names))


def backlog_of(course: ProgressSeries, _chosen: str) -> ChartView:
    """Return the view of batches with the backlog in what the source is measured in."""
    return replace(BATCHES, lower_words=size if course.unit == "bytes" else amount)


RECORDS = ChartView("records", "Records per second", LINES[:2], LINES[2:])
BATCHES = ChartView("batches", "Batch time, backlog", (BATCH_MS,), (BACKLOG,), milliseconds, size, fill=backlog_of)
ENTITIES = ChartView("entities", "Messages by entity", (), fill=entities_of)
VIEWS = (RECORDS, BATCHES, ENTITIES)


def pen_of(theme: Theme, view: ChartView, name: str) -> tuple[QColor, float, Qt.PenStyle]:
    """Return colour, width and style of a line: no two lines of a plot differ in colour alone."""
    if name in theme.chart:
        return theme.chart[name], _WIDTHS.get(name, 2.0), _DASH if name == "filtered" else _SOLID
    at = view.lines.index(name)
    colours = theme.accent, theme.good, theme.dim
    return colours[at % len(colours)], 2.0, (_SOLID, _DASH, _DOT)[(at + at // len(colours)) % 3]
