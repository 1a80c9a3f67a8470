"""What a task of a lane knows of one partition that it has, and how long the records of it took.

A latency runs from the broker's time of the record to the moment its transaction is known to be committed. The second
time is that of the computer that mapped it, so clocks that disagree show in the figure.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, TopicPartition

from metl_gui.core.runs.lanes import LatencyFigures
from metl_gui.core.runs.report import STEPS, Tally, bucket_of, quantile
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, PartitionCounts
from metl_gui.engine.lanes.order import PartitionId

if TYPE_CHECKING:
    from confluent_kafka import Message


WINDOW_SECONDS = 3.0
_NANOSECONDS = 1_000_000
_LEAST_MS = 0.1
_FEW = 100
"""So many are faster counted one by one."""


class Latencies:
    """The times of the last seconds, in buckets an eighth of a doubling wide (``report``)."""

    def __init__(self) -> None:
        self._parts: deque[tuple[float, dict[int, int]]] = deque()

    def add(self, milliseconds: Sequence[float]) -> None:
        """Keep how long some records took."""
        if milliseconds:
            buckets = _in_python(milliseconds) if len(milliseconds) < _FEW else _in_numpy(milliseconds)
            self._parts.append((time.monotonic(), buckets))

    def histogram(self) -> dict[int, int]:
        """Return how many records of the last seconds are in each bucket."""
        oldest = time.monotonic() - WINDOW_SECONDS
        while self._parts and self._parts[0][0] < oldest:
            self._parts.popleft()
        return merged(part for _, part in self._parts)


def _in_python(milliseconds: Sequence[float]) -> dict[int, int]:
    return dict(Counter([bucket_of(max(one, _LEAST_MS) * _NANOSECONDS) for one in milliseconds]))


def _in_numpy(milliseconds: Sequence[float]) -> dict[int, int]:
    nanoseconds = np.maximum(np.array(milliseconds, np.float64), _LEAST_MS) * _NANOSECONDS
    buckets, counts = np.unique(np.floor(np.log2(nanoseconds) * STEPS).astype(np.int64), return_counts=True)
    return dict(zip(buckets.tolist(), counts.tolist(), strict=True))


def merged(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Add histograms up."""
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return dict(total)


def figures_of(histogram: Mapping[int, int]) -> LatencyFigures:
    """Return the figures of a histogram."""
    records = sum(histogram.values())
    if not records:
        return LatencyFigures()
    p50, p95, p99 = (round(quantile(histogram, share) / _NANOSECONDS, 1) for share in (0.5, 0.95, 0.99))
    return LatencyFigures(p50, p95, p99, records)


Version = tuple[str, str]
"""A version that is not known yet: its schema, and what is told of it."""

_NOTE_SECONDS = 0.25
_REST_SECONDS = 0.3
_MOST_STATES = 60


class CommitContext(NamedTuple):
    """What stands in every note of a task.

    Args:
        run, task: whose it is.
        state, hash: what it maps with.
    """

    run: str
    task: int
    state: int
    hash: str


class Commit(NamedTuple):
    """What is committed of a partition.

    Args:
        share: the partition.
        position: the next record.
        counts, note: as of then.
        metadata: what stands with the offset.
        messages: what was mapped.
    """

    share: PartitionState
    position: int
    counts: PartitionCounts
    note: OffsetMetadata
    metadata: str
    messages: list[Message]

    @property
    def offset(self) -> TopicPartition:
        """The offset as a transaction takes it."""
        return TopicPartition(*self.share.place, self.position, self.metadata)


class PartitionState:
    """One partition.

    Args:
        place: which.
        position: the next record, as committed; negative where nothing was committed.
        note: what was committed with it.
        counts: of the run in the partition.

    Attributes:
        end: where there was nothing more for the moment; it may lie behind the last record.
        held: messages that wait, the first of them for its version.
        given_up: versions that were waited for in vain.
        is_retry_due: what is held may have its version now.
        topic: the topic that its records name, where it is another.
        topic_id: of the topic whose offsets these are; empty where it is not known.
    """

    def __init__(self, place: PartitionId, position: int, note: OffsetMetadata, counts: PartitionCounts) -> None:
        self.place = place
        self.position = position
        self.note = note
        self.counts = counts
        self.end = -1
        self.held: list[Message] = []
        self.given_up: set[Version] = set()
        self.is_retry_due = False
        self.topic = ""
        self.topic_id = note.topic_id
        self._waits_for: Version | None = None
        self._held_since = 0.0
        self._latencies = Latencies()
        self._touched = self._noted = time.monotonic()
        # Whoever has it now commits soon, so that everybody knows.
        self._is_told = False

    @property
    def is_due(self) -> bool:
        """Whether something is to be committed though no message comes: its end, or how long the last ones took."""
        if self.held or time.monotonic() - self._touched < _REST_SECONDS:
            return False
        return self.end > self.position or (self.position >= 0 and not self._is_told)

    def hold(self, messages: list[Message], version: Version) -> None:
        """Keep messages until the version of the first is known, or was waited for long enough."""
        if self._waits_for != version:
            self._waits_for, self._held_since = version, time.monotonic()
        self.held = messages

    def release(self, wait_seconds: float) -> list[Message]:
        """Return what was held, to be tried again; a version that was waited for long enough is given up."""
        if self._waits_for is not None and time.monotonic() - self._held_since >= wait_seconds:
            self.given_up.add(self._waits_for)
            self._waits_for = None
        held, self.held, self.is_retry_due = self.held, [], False
        return held

    def is_overdue(self, wait_seconds: float) -> bool:
        """Whether what is held was waited for long enough."""
        return bool(self.held) and time.monotonic() - self._held_since >= wait_seconds

    def retry_held(self) -> None:
        """Retry held messages, and wait anew for versions that were given up, as there is a new state."""
        self.given_up.clear()
        self.is_retry_due = bool(self.held)

    def commit(
        self,
        messages: list[Message],
        tally: Tally,
        facts: CommitContext,
        keep: Callable[[int, bytes], None],
        loaded: Commit | None = None,
    ) -> Commit:
        """Return what is committed when some messages were mapped.

        Args:
            messages: the next of it; none to tell only how things stand.
            tally: what was counted of them.
            facts: of the task.
            keep: takes counts that are too long for the metadata.
            loaded: the last of a load, whose counts and states are this partition's from now on.
        """
        states, counts, rows = self.note.states, self.counts, self.note.loaded
        if loaded is not None:
            states = tuple(dict.fromkeys((*states, *loaded.note.states)))[-_MOST_STATES:]
            counts, rows = counts.after(loaded.counts.total), rows + loaded.counts.read
        if messages and states[-1:] != (facts.state,):
            states = (*states, facts.state)[-_MOST_STATES:]
        position = (messages[-1].offset() or 0) + 1 if messages else max(self.position, self.end)
        if self.held:
            position = self.held[0].offset() or 0
        note = OffsetMetadata(
            run=facts.run,
            states=states,
            order=self.note.order,
            is_carried=self._is_through(position),
            loaded=rows,
        )
        return self._commit(position, counts.after(tally), facts, note, messages, keep)

    def rewind(self, offset: int, order: str, facts: CommitContext, keep: Callable[[int, bytes], None]) -> Commit:
        """Return what is committed when the partition is set back by an order."""
        self.held, self.end = [], -1
        note = OffsetMetadata(run=facts.run, states=self.note.states, order=order, loaded=self.note.loaded)
        return self._commit(offset, self.counts.after(Tally()), facts, note, [], keep)

    def took(self, commit: Commit) -> None:
        """Note that it is committed, at this moment."""
        self.position, self.counts, self.note = commit.position, commit.counts, commit.note
        self._touched = time.monotonic()
        if commit.messages:
            now = time.time() * 1000
            times = [message.timestamp() for message in commit.messages]
            self._latencies.add([now - at for kind, at in times if kind != TIMESTAMP_NOT_AVAILABLE])
            self._is_told = False

    def _is_through(self, _position: int) -> bool:
        """Whether nothing comes any more behind a position."""
        return False

    def _commit(
        self,
        position: int,
        counts: PartitionCounts,
        facts: CommitContext,
        note: OffsetMetadata,
        messages: list[Message],
        keep: Callable[[int, bytes], None],
    ) -> Commit:
        note = msgspec.structs.replace(
            note,
            task=facts.task,
            hash=facts.hash,
            topic_id=self.topic_id,
            latency=self._latency(is_last=not messages),
            is_waiting=bool(self.held),
        )
        return Commit(self, position, counts, note, counts.written(note, keep), messages)

    def _latency(self, *, is_last: bool) -> dict[int, int]:
        now = time.monotonic()
        if not is_last and now - self._noted < _NOTE_SECONDS:
            return self.note.latency
        self._noted, self._is_told = now, True
        return self._latencies.histogram()
