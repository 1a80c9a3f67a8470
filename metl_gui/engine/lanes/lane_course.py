"""How far a lane is, four times a second, from what its tasks committed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from metl_gui.engine.events import EngineEvent, LaneProgressed, PartitionFigures, StateChanged
from metl_gui.engine.lanes.committed import Committed
from metl_gui.engine.lanes.lane_order import Place
from metl_gui.engine.lanes.latencies import figures_of, merged
from metl_gui.engine.lanes.offset_notes import OffsetNote
from metl_gui.engine.report import Tally

_RATE_SECONDS = 3.0
Notes = Mapping[Place, tuple[int, OffsetNote]]


class LaneCourse:
    """Tells how far one lane is.

    Args:
        run_id: the run.
        committed: what the lane committed.
        state: what it begins with.
        started: when it began, by the clock that only grows.
    """

    def __init__(self, run_id: str, committed: Committed, state: int, started: float) -> None:
        self.run_id = run_id
        self.committed = committed
        self.started = started
        self.states: list[int] = []
        self.state, self.hash = state, ""
        self.read = 0
        self._reads: deque[tuple[float, dict[Place, int]]] = deque()

    def tell(self, emit: Callable[[EngineEvent], None]) -> None:
        """Look and emit the progress.

        Raises:
            RunError: the servers do not answer.
        """
        # A load that is through is told of with its changes.
        known = self.committed.notes(self.run_id).items()
        notes = {place: (offset, note) for place, (offset, note) in known if not note.is_carried}
        self._note_states(notes, emit)
        now = time.monotonic()
        ends = self.committed.ends({*self.committed.places(), *notes})
        tallies = {place: self.committed.tally(place, note) for place, (_, note) in notes.items()}
        rates = self._rates(now, {place: tallies[place].read - note.loaded for place, (_, note) in notes.items()})
        figures = tuple(
            _figures(place, ends[place], notes.get(place), tallies.get(place), rates.get(place, 0.0))
            for place in sorted(ends)
        )
        total = Tally()
        for tally in tallies.values():
            total.add(msgspec.structs.replace(tally, by_version={}, by_attribute={}))
        self.read = total.read
        emit(
            LaneProgressed(
                run_id=self.run_id,
                seconds=round(now - self.started, 3),
                state=self.state,
                partitions=figures,
                tally=total,
                waiting=sum(one.waiting for one in figures),
                latency=figures_of(merged(note.latency for _, note in notes.values())),
            )
        )

    def _note_states(self, notes: Notes, emit: Callable[[EngineEvent], None]) -> None:
        for _, note in notes.values():
            for state in note.states:
                if state not in self.states:
                    self.states.append(state)
            if note.states and note.states[-1] != self.state and note.states[-1] == self.states[-1]:
                self.state, self.hash = note.states[-1], note.hash
                emit(StateChanged(self.run_id, self.state, self.hash, 0))

    def _rates(self, now: float, reads: dict[Place, int]) -> dict[Place, float]:
        """Return how many records a second each partition gave over the last seconds."""
        while len(self._reads) > 1 and now - self._reads[1][0] > _RATE_SECONDS:
            self._reads.popleft()
        self._reads.append((now, reads))
        before, then = self._reads[0]
        seconds = now - before
        if seconds <= 0:
            return {}
        return {place: round((read - then.get(place, 0)) / seconds, 1) for place, read in reads.items()}


def _figures(
    place: Place, end: int, known: tuple[int, OffsetNote] | None, tally: Tally | None, rate: float
) -> PartitionFigures:
    if known is None or tally is None:
        return PartitionFigures(topic=place.topic, partition=place.partition, end=end)
    position, note = known
    lag = max(end - position, 0)
    return PartitionFigures(
        topic=place.topic,
        partition=place.partition,
        task=note.task,
        position=position,
        end=end,
        lag=lag,
        read=tally.read,
        rate=rate,
        latency_ms=figures_of(note.latency),
        waiting=lag if note.is_waiting else 0,
    )
