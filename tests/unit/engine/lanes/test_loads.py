"""Rows of a load never put a row back, whatever changes, and however often the task is killed."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple, cast

import pytest
from confluent_kafka import Message

from metl_gui.core.runs.report import Tally
from metl_gui.engine.lanes.loads import SUPERSEDED_PARTLY, LoadOrder, LoadShare
from metl_gui.engine.lanes.mapper import MappedMessages, StateMappers
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, PartitionCounts, read_metadata
from metl_gui.engine.lanes.order import PartitionId
from metl_gui.engine.lanes.partition_state import CommitContext, PartitionState
from metl_gui.engine.lanes.task import commits_of

NOTE = OffsetMetadata(run="run")
LIVE, ROWS = PartitionId("t", 0), PartitionId("rows", 0)


def record(offset: int, key: int, value: object) -> Message:
    text = None if value is None else json.dumps(value).encode()
    return Message(topic="t", partition=0, offset=offset, key=b"%d" % key, value=text, timestamp=(1, 1))


class Output:
    """Stands where the kernel and the sink are: keeps what is mapped, in its order."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int | None]] = []

    def map(self, _share: PartitionState, messages: list[Message]) -> MappedMessages:
        for message in messages:
            value = message.value()
            self.sent.append((int(message.key() or b""), None if value is None else int(json.loads(value))))
        return MappedMessages(messages, Tally(read=len(messages), mapped=len(messages)), [])


def _refuse(_number: int, _counts: bytes) -> None:
    raise AssertionError("counts so short fit")


class History(NamedTuple):
    """What a table went through.

    Args:
        changes: its topic: each change as key and count, None for a delete.
        rows: what was read of it at one moment.
        noted_from, after: places in the topic, as whoever reads the rows asks for them.
        now: what the table holds at the end.
    """

    changes: list[tuple[int, int | None]]
    rows: dict[int, int]
    noted_from: int
    after: int
    now: dict[int, int]


def a_history(choice: random.Random) -> History:
    """Invent a table that changes before, while and after its rows are read; the connector lags behind it."""
    table = dict.fromkeys(range(choice.randint(1, 12)), 0)
    changes: list[tuple[int, int | None]] = []
    marks = sorted(choice.randint(0, 60) for _ in range(3))
    rows: dict[int, int] = {}
    noted_from = after = 0
    for step in range(60):
        if step == marks[0]:
            noted_from = max(0, len(changes) - choice.randint(0, 8))  # what is not sent yet is asked for too early only
        if step == marks[1]:
            rows = dict(table)
        if step == marks[2]:
            after = len(changes)
        key = choice.randint(0, 14)
        if key in table and choice.random() < 0.15:
            del table[key]
            changes.append((key, None))
        elif key in table:
            table[key] += 1
            changes.append((key, table[key]))
        elif not any(one == key for one, _ in changes):  # a key that was deleted stays so, to be told apart
            table[key] = 0
            changes.append((key, 0))
    if marks[1] == 60:
        rows = dict(table)
    if marks[0] == 60:
        noted_from = len(changes)
    return History(changes, rows, noted_from, max(after, noted_from) if marks[2] < 60 else len(changes), table)


class Task:
    """Maps changes and rows of one partition as a task of a lane does; ``kill`` forgets what was not committed."""

    def __init__(self, history: History, choice: random.Random) -> None:
        self.history, self.choice = history, choice
        self.changes = [record(at, key, count) for at, (key, count) in enumerate(history.changes)]
        self.rows = [record(at, key, count) for at, (key, count) in enumerate(history.rows.items())]
        choice.shuffle(self.rows)
        self.rows = [
            record(at, int(row.key() or b""), json.loads(row.value() or b"")) for at, row in enumerate(self.rows)
        ]
        self.output = Output()
        self.committed: dict[PartitionId, tuple[int, str]] = {}
        self.begin()

    def begin(self) -> None:
        self.live = PartitionState(LIVE, *self._known(LIVE))
        order = LoadOrder(
            id="l", changes="t", rows="rows", progress="rows", partition=0, begin=0, end=len(self.rows),
            noted_from=self.history.noted_from, after=self.history.after,
        )  # fmt: skip
        self.load = LoadShare(order, self.live, *self._known(ROWS))

    def _known(self, place: PartitionId) -> tuple[int, OffsetMetadata, PartitionCounts]:
        position, metadata = self.committed.get(place, (0, ""))
        note = read_metadata(metadata) or NOTE
        return position, note, PartitionCounts(since=note.tally)

    @property
    def counted(self) -> int:
        """How many records a report says that the lane read."""
        notes = [read_metadata(metadata) for _, metadata in self.committed.values()]
        return sum(note.tally.read for note in notes if note is not None and not note.is_carried)

    @property
    def live_at(self) -> int:
        return self.committed.get(LIVE, (0, ""))[0]

    @property
    def load_at(self) -> int:
        return self.committed.get(ROWS, (0, ""))[0]

    def turn(self) -> None:
        live = self.changes[self.live_at : self.live_at + self.choice.randint(0, 3)]
        self.load.note_changes(live)
        self.load.advance()
        self._read()
        self.load.advance()
        rows = [self.load.arrived.pop(0) for _ in range(min(len(self.load.arrived), self.choice.randint(0, 3)))]
        before = len(self.output.sent)
        mapped: dict[PartitionState, MappedMessages] = {self.live: self.output.map(self.live, live)} if live else {}
        if rows or self.choice.random() < 0.1:
            mapped[self.load] = self.load.map(cast(StateMappers, self.output), rows)
        commits = commits_of(mapped, CommitContext("run", 0, 1, "hash"), lambda _share: _refuse)
        if self.choice.random() < 0.1:
            del self.output.sent[before:]  # the transaction was taken back
            self.begin()
            return
        for commit in commits:
            self.committed[commit.share.place] = commit.position, commit.metadata
            commit.share.took(commit)
        assert self.counted == self.live_at + self.load_at
        if self.choice.random() < 0.05:
            self.begin()

    def _read(self) -> None:
        reads: Any = self.load.reads
        if reads is None:
            return
        log = self.changes if reads.topic == "t" else self.rows
        some = log[reads.offset : reads.offset + self.choice.randint(0, 5)]
        for message in some:
            self.load.arrive(message)
        if not some and reads.offset >= len(log):
            self.load.ended(len(log))

    @property
    def is_done(self) -> bool:
        return self.live_at == len(self.changes) and self.load_at == len(self.rows)


@pytest.mark.parametrize("seed", range(300))
def test_whatever_changes_no_row_is_lost_and_none_goes_back(seed: int) -> None:
    choice = random.Random(seed)
    history = a_history(choice)
    task = Task(history, choice)
    for _ in range(10_000):
        if task.is_done:
            break
        task.turn()
    assert task.is_done
    task.committed.pop(ROWS, None)  # as Kafka does with offsets of a topic that is removed
    assert task.counted == len(task.changes) + len(task.rows)
    told: dict[int, list[int | None]] = {}
    for key, count in task.output.sent:
        told.setdefault(key, []).append(count)
    assert {key: counts[-1] for key, counts in told.items() if counts[-1] is not None} == history.now
    for counts in told.values():
        numbers = [count for count in counts if count is not None]
        assert numbers == sorted(numbers)
        assert None not in counts[:-1]


def test_a_row_is_counted_apart_when_its_changes_left_out_a_large_value_and_not_once_one_said_it() -> None:
    live = PartitionState(PartitionId("t", 0), 0, NOTE, PartitionCounts())
    order = LoadOrder(
        id="l", changes="t", rows="rows", progress="rows", partition=0, begin=0, end=2, noted_from=0, after=0
    )
    load = LoadShare(order, live, 0, NOTE, PartitionCounts())
    left_out = {"text": "__debezium_unavailable_value"}
    load.note_changes([record(0, 1, left_out), record(1, 2, 5), record(2, 2, left_out)])
    tally = load.map(cast(StateMappers, Output()), [record(0, 1, 0), record(1, 2, 0)]).tally
    assert (tally.read, tally.skipped, tally.by_skip) == (2, 2, {SUPERSEDED_PARTLY: 1, "superseded": 1})


def test_a_row_that_waits_for_its_version_at_the_end_of_a_load_is_left_out_when_its_change_comes_meanwhile() -> None:
    live = PartitionState(PartitionId("t", 0), 0, NOTE, PartitionCounts())
    order = LoadOrder(
        id="l", changes="t", rows="rows", progress="rows", partition=0, begin=0, end=1, noted_from=0, after=0
    )
    load, row = LoadShare(order, live, 0, NOTE, PartitionCounts()), record(0, 1, 0)
    load.advance()
    load.arrive(row)
    load.arrived.clear()
    load.hold([row], ("t", "unknown"))
    load.advance()
    load.note_changes([record(0, 1, 5)])
    output = Output()
    done = load.map(cast(StateMappers, output), load.release(0.0))
    assert (output.sent, done.tally.skipped) == ([], 1)


def test_a_load_that_is_through_reads_nothing_again_when_a_task_takes_it_up() -> None:
    live = PartitionState(PartitionId("t", 0), 9, NOTE, PartitionCounts())
    order = LoadOrder(
        id="l", changes="t", rows="rows", progress="rows", partition=0, begin=0, end=4, noted_from=0, after=5
    )
    load = LoadShare(order, live, 4, NOTE, PartitionCounts())
    assert (load.reads, load.advance(), load.is_due) == (None, False, False)


def test_a_load_maps_no_row_once_changes_were_gone_before_their_keys_were_noted() -> None:
    live = PartitionState(PartitionId("t", 0), 9, NOTE, PartitionCounts())
    order = LoadOrder(
        id="l", changes="t", rows="rows", progress="rows", partition=0, begin=0, end=4, noted_from=2, after=5
    )
    load = LoadShare(order, live, 0, NOTE, PartitionCounts())
    told = load.gone(6)
    assert (load.reads, load.advance(), "load the table again" in told) == (None, False, True)


def test_a_load_of_a_topics_beginning_goes_on_behind_rows_that_retention_took() -> None:
    live = PartitionState(PartitionId("t", 0), 9, NOTE, PartitionCounts())
    order = LoadOrder(id="l", changes="t", rows="t", progress="p", partition=0, begin=0, end=9, noted_from=9, after=9)
    load = LoadShare(order, live, 0, NOTE, PartitionCounts())
    assert load.advance()
    told = load.gone(6)
    assert load.reads is not None
    assert (load.reads.offset, "6 records from 0 on" in told) == (6, True)
