"""How far a lane is, four times a second, and its report: both from what its tasks committed.

So there is a report of a lane that was killed too, from any computer that reaches Kafka.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping

import msgspec

from metl_gui.core.runs.events import EngineEvent, LaneProgressed, StateChanged
from metl_gui.core.runs.kafka import KafkaServers, parse_address
from metl_gui.core.runs.lanes import PartitionFigures
from metl_gui.core.runs.report import RunReport, Tally, check_sums, report_of
from metl_gui.core.runs.run_spec import ROLES, RunSpec
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.lanes.committed_offsets import Committed
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata
from metl_gui.engine.lanes.order import PartitionId, group_of
from metl_gui.engine.lanes.partition_state import figures_of, merged
from metl_gui.errors import RunError


def _committed_of(spec: RunSpec) -> Committed:
    servers = spec.servers_of("source")
    if servers is None:
        raise no_topics("source", spec.source.address)
    return Committed(
        Lister(servers, parse_address(spec.source.address), is_strict=False), group_of(spec.source.group, spec.run_id)
    )


def lane_report(
    spec: RunSpec,
    target: str,
    *,
    is_stopped: bool = False,
    seconds: float = 0.0,
    problems: tuple[str, ...] = (),
    failure: str = "",
) -> RunReport:
    """Return what the transactions of a lane put in place so far.

    Args:
        spec: the run, with its servers.
        target: the Spark target.
        is_stopped: somebody stopped it, or it died.
        seconds: how long it ran.
        problems: what a person should know.
        failure: why it ended before its time.

    Raises:
        RunError: the servers do not answer.
        BugError: the counts do not add up.
    """
    tally, states = Tally(), []
    with contextlib.closing(_committed_of(spec)) as asked:
        known = {place: note for place, (_, note) in sorted(asked.all_notes().items())}
        notes = [note for note in known.values() if note.run == spec.run_id]
        for place, note in known.items():
            if note.run == spec.run_id:
                tally.add(asked.tally(place, note))
                states += [state for state in note.states if state not in states]
    check_sums(tally)
    newest = next((note for note in notes if states and note.states[-1:] == (states[-1],)), None)
    report = report_of(spec, target, tally, seconds, (*problems, *_others(spec, known)))
    return msgspec.structs.replace(
        report,
        state=states[-1] if states else report.state,
        hash=newest.hash if newest is not None else report.hash,
        states=tuple(states) if len(states) > 1 else (),
        is_stopped=is_stopped,
        failure=failure,
    )


def _others(spec: RunSpec, known: Mapping[PartitionId, OffsetMetadata]) -> tuple[str, ...]:
    """Tell of partitions that hold the counts of another run of the group."""
    others = [note.run for note in known.values() if note.run != spec.run_id and not note.is_carried]
    if not others:
        return ()
    told = (
        f"In {len(others)} of {len(known)} partitions run {', '.join(sorted(set(others)))} counted last, in the same "
        f"group {spec.source.group}: what this run counted there before is not among these figures."
    )
    return (told,)


def no_topics(what: str, place: str) -> RunError:
    """Return the error that a fast lane goes from topics to topics."""
    return RunError(
        "A fast lane goes from Kafka topics to Kafka topics.",
        f"Its {what} is {place or 'not given'}.",
        f"Give kafka://host:port/topic as its {what}, or use --lane batch.",
    )


def servers_of_lane(spec: RunSpec) -> tuple[KafkaServers, KafkaServers, KafkaServers]:
    """Return the servers of source, sink and errors.

    Raises:
        RunError: one of them is not in Kafka.
    """
    found = []
    for role in ROLES:
        servers = spec.servers_of(role)
        if servers is None:
            raise no_topics("error topic" if role == "errors" else role, spec.address_of(role))
        found.append(servers)
    source, sink, errors = found
    return source, sink, errors


_RATE_SECONDS = 3.0
Notes = Mapping[PartitionId, tuple[int, OffsetMetadata]]


class LaneProgress:
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
        self._reads: deque[tuple[float, dict[PartitionId, int]]] = deque()

    def emit_progress(self, emit: Callable[[EngineEvent], None]) -> None:
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

    def _rates(self, now: float, reads: dict[PartitionId, int]) -> dict[PartitionId, float]:
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
    place: PartitionId, end: int, known: tuple[int, OffsetMetadata] | None, tally: Tally | None, rate: float
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
