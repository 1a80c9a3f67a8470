"""What is known of a lane: how far it is, who maps with the same matrix, and what went wrong lately.

``LaneSeries`` keeps what a lane measures several times a second, for days, in bounded room. The last minutes are kept
as they came; of what is older one row is kept for each stretch of a length that doubles when there is no room for more.
Where rows are left out the largest value stays, so that a peak of lag or latency is seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.counted import number_of
from metl_gui.core.runs.events import EngineEvent, LaneProgressed, LaneTroubled, MembersChanged
from metl_gui.core.runs.lanes import LatencyFigures, MemberFigures
from metl_gui.ui.charts.series import OF, Floats, ProgressSeries, SeriesSpan
from metl_gui.ui.project.text import amount, duration, duration_ns
from metl_gui.values import Value

LAG, WAITING, RATE = "lag", "waiting", "rate"
LATENCIES = ("p50", "p95", "p99")
_DENSE, _COARSE = 2_048, 1_024
_FIRST_GAP_SECONDS = 1.0


def partition_line(line: str, partition: str) -> str:
    """Name the line of one partition."""
    return f"{line}{OF}{partition}"


class LaneSeries(ProgressSeries):
    """The course of one lane; all of its lines are values, none is a rate of counts.

    Shape:
        As of a ``ProgressSeries``; at most ``_DENSE + 2 * _COARSE`` rows.
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

    def line(self, name: str, stretch: SeriesSpan | None = None) -> tuple[Floats, Floats]:
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


_MOST_TROUBLES = 50
_NAMED = 3
STARTS = "its tasks are being started, or nothing came yet"


class LaneTrouble(Value):
    """Something that went wrong.

    Args:
        second: of the run, as far as the lane had told by then.
        text: what.
        times: how often it was said in a row.
    """

    second: float
    text: str
    times: int = 1


class FollowedLane:
    """A lane as its events tell it."""

    def __init__(self) -> None:
        self.course = LaneSeries()
        self.progress: LaneProgressed | None = None
        self.members: tuple[MemberFigures, ...] = ()
        self.troubles: list[LaneTrouble] = []

    @property
    def is_known(self) -> bool:
        """Whether the run has told that it is a lane."""
        return self.progress is not None or bool(self.members) or bool(self.troubles)

    @property
    def lag(self) -> int:
        """How many records lie before it."""
        return sum(each.lag for each in self.progress.partitions) if self.progress is not None else 0

    @property
    def has_begun(self) -> bool:
        """Whether tasks of it have committed something."""
        known = self.progress
        return known is not None and (known.tally.read > 0 or any(each.task is not None for each in known.partitions))

    @property
    def is_troubled(self) -> bool:
        """Whether the last trouble came after the last progress: it cannot go on for now."""
        return bool(self.troubles) and (self.progress is None or self.troubles[-1].second >= self.progress.seconds)

    @property
    def facts(self) -> str:
        """How long it goes on, how far it is behind, how fast it is; and what keeps it."""
        known = self.progress
        if known is None:
            return self.troubles[-1].text if self.troubles else "waits for Spark"
        begins = f"lag {amount(self.lag)}" if self.has_begun else STARTS
        parts = [duration(known.seconds), begins]
        if known.latency.p99 is not None:
            parts.append(f"p99 {duration_ns(known.latency.p99 * 1e6)}")
        if known.waiting:
            parts.append(f"{amount(known.waiting)} waiting")
        if self.is_troubled:
            parts.append(self.troubles[-1].text)
        return " · ".join(parts)

    def take(self, event: EngineEvent) -> bool:
        """Take what a run tells, and return whether something of its lane is to be shown anew."""
        match event:
            case LaneProgressed():
                self.progress = event
                self.course.take(event)
            case MembersChanged(members=members):
                self.members = members
            case LaneTroubled(text=text):
                self._note(text)
            case _:
                return False
        return True

    def _note(self, text: str) -> None:
        last = self.troubles[-1] if self.troubles else None
        if last is not None and last.text == text:
            self.troubles[-1] = LaneTrouble(self.course.seconds, text, last.times + 1)
        else:
            self.troubles = [*self.troubles[-_MOST_TROUBLES + 1 :], LaneTrouble(self.course.seconds, text)]


def newest_of(members: Sequence[MemberFigures]) -> int:
    """Return the newest state that a member maps with or is ready for, 0 while there is none."""
    return max((max(each.state or 0, each.ready_for or 0) for each in members), default=0)


def members_words(members: Sequence[MemberFigures]) -> str:
    """Say in a sentence what the members on a matrix wait for."""
    alive = [each for each in members if each.is_alive]
    if not alive:
        return "Nobody maps with this matrix now."
    newest = newest_of(alive)
    if all(each.state == newest for each in alive):
        words = "The only member maps" if len(alive) == 1 else f"All {len(alive):,} members map"
        return f"{words} with state {newest:,}."
    unready = [each.instance for each in alive if max(each.ready_for or 0, each.state or 0) < newest]
    if not unready:
        return f"State {newest:,} is being taken up: {number_of(len(alive), 'member')} ready for it."
    named = ", ".join(unready[:_NAMED]) + (f" and {len(unready) - _NAMED:,} more" if len(unready) > _NAMED else "")
    ready = f"{len(alive) - len(unready):,} of {number_of(len(alive), 'member')}"
    return f"State {newest:,} waits for {named}: {ready} ready."
