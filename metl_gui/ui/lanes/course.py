"""The course of a lane: what it measures several times a second, for days, in bounded room.

The last minutes are kept as they came; of what is older one row is kept for each stretch of a length that doubles when
there is no room for more. Where rows are left out the largest value stays, so that a peak of lag or latency is seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.events import EngineEvent, LaneProgressed, LatencyFigures
from metl_gui.ui.run.course import OF, Course, Floats, Stretch

LAG, WAITING, RATE = "lag", "waiting", "rate"
LATENCIES = ("p50", "p95", "p99")
_DENSE, _COARSE = 2_048, 1_024
_FIRST_GAP_SECONDS = 1.0


def partition_line(line: str, partition: str) -> str:
    """Name the line of one partition."""
    return f"{line}{OF}{partition}"


class LaneCourse(Course):
    """The course of one lane; all of its lines are values, none is a rate of counts.

    Shape:
        As of a ``Course``; at most ``_DENSE + 2 * _COARSE`` rows.
    """

    def __init__(self) -> None:
        self._gap = _FIRST_GAP_SECONDS
        self.partitions: tuple[str, ...] = ()
        super().__init__()

    def take(self, event: EngineEvent) -> bool:
        """Take what a lane tells, and return whether there is something new to draw."""
        if not isinstance(event, LaneProgressed) or event.seconds <= self.seconds:
            return False
        row: dict[str, float] = dict.fromkeys((name for name in self._columns if name != "seconds"), 0.0)
        row |= {LAG: float(sum(each.lag for each in event.partitions)), WAITING: float(event.waiting)}
        row[RATE] = sum(each.rate for each in event.partitions)
        row |= dict(zip(LATENCIES, milliseconds_of(event.latency), strict=True))
        for each in event.partitions:
            name = f"{each.topic}/{each.partition}"
            row[partition_line(LAG, name)] = float(each.lag)
            row[partition_line(RATE, name)] = each.rate
            row[partition_line(LATENCIES[-1], name)] = milliseconds_of(each.latency_ms)[-1]
        self.partitions = tuple(f"{each.topic}/{each.partition}" for each in event.partitions)
        self._put(event.seconds, row)
        self.note_state(event.state)
        if self._rows > _DENSE + 2 * _COARSE:
            self._thin()
        return True

    def line(self, name: str, stretch: Stretch | None = None) -> tuple[Floats, Floats]:
        """Return (seconds, values) of one line; where rows are left out the largest value of them stands."""
        rows = self._rows_of(stretch or self.whole())
        starts = np.concatenate([rows[:1], rows[:-1] + 1])
        return self._columns["seconds"][rows], np.maximum.reduceat(self._column(name)[: rows[-1] + 1], starts)

    def _thin(self) -> None:
        old = self._rows - _DENSE
        seconds = self._columns["seconds"][:old]
        while len(kept := _first_of_each(seconds, self._gap)) > _COARSE:
            self._gap *= 2
        rows = len(kept) + _DENSE
        for name, column in self._columns.items():
            thinned = column[kept] if name == "seconds" else np.maximum.reduceat(column[:old], kept)
            column[:rows] = np.concatenate([thinned, column[old : self._rows]])
        self._rows = rows


def milliseconds_of(latency: LatencyFigures) -> tuple[float, float, float]:
    """Return what half, 95 and 99 of 100 records did not exceed, 0 while there were none.

    Units: milliseconds.
    """
    return latency.p50 or 0.0, latency.p95 or 0.0, latency.p99 or 0.0


def _first_of_each(seconds: Floats, gap: float) -> NDArray[np.intp]:
    """Return the first row of each stretch of a length."""
    slots = np.floor(seconds / gap)
    return np.flatnonzero(np.diff(slots, prepend=-1.0) > 0)
