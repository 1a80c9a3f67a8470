"""Ids of topics that a lane reads: asked for without waiting, kept with its offsets, compared with those of now."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Uuid

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kafka.offsets import topic_ids
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, PartitionCounts, read_metadata
from metl_gui.engine.lanes.order import PartitionId, start_key, topic_key
from metl_gui.engine.lanes.partition_state import CommitContext, PartitionState
from metl_gui.engine.lanes.start import LaneStart
from metl_gui.engine.lanes.task import LaneTask
from metl_gui.engine.lanes.transactional_client import TransactionalClient
from metl_gui.errors import RunError

_PLACE = PartitionId("t", 0)
_FACTS = CommitContext("run", 0, 1, "hash")


def answered(topic_id: Uuid | int) -> Future[Any]:
    """Return what servers answer about a topic: its id, or the number of an error."""
    future: Future[Any] = Future()
    if isinstance(topic_id, int):
        future.set_exception(KafkaException(KafkaError(topic_id)))
    else:
        future.set_result(SimpleNamespace(topic_id=topic_id))
    return future


def share_of(topic_id: str) -> PartitionState:
    return PartitionState(_PLACE, 10, OffsetMetadata(run="run", topic_id=topic_id), PartitionCounts())


def task_of(share: PartitionState, texts: list[str]) -> LaneTask:
    """Return a task that has one partition, asks nobody, and publishes into a list."""
    task = LaneTask.__new__(LaneTask)
    words = SimpleNamespace(publish=lambda key, value: texts.append(f"{key} {value.decode()}"))
    task.words, task.shares, task._gone = cast(Any, words), {share.place: share}, {}
    task._ids_due, task._is_unsure = 0.0, True
    task.order = cast(Any, SimpleNamespace(token="", run_id="run"))
    task.number = 0
    return task


class Exchange:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.waits: list[float] = []
        self.answer: dict[str, str] | None = None

    def request_topic_ids(self, _topics: object) -> None:
        self.asked += 1

    def received_topic_ids(self, seconds: float) -> dict[str, str] | None:
        self.waits.append(seconds)
        answer, self.answer = self.answer, None
        return answer

    def first_offset(self, _place: PartitionId) -> int:
        return 0


def test_topics_of_servers_that_know_no_ids_have_none() -> None:
    asked = {"a": answered(Uuid(1, 2)), "b": answered(Uuid(0, 0)), "c": answered(KafkaError.UNKNOWN_TOPIC_OR_PART)}
    assert topic_ids(asked) == {"a": str(Uuid(1, 2))}


def test_ids_are_received_once_and_only_when_all_are_there() -> None:
    client, late = TransactionalClient.__new__(TransactionalClient), Future[Any]()
    client._descriptions = {"a": answered(Uuid(1, 2)), "b": late}
    assert client.received_topic_ids(0.0) is None
    late.set_result(SimpleNamespace(topic_id=Uuid(3, 4)))
    assert client.received_topic_ids(0.0) == {"a": str(Uuid(1, 2)), "b": str(Uuid(3, 4))}
    assert client.received_topic_ids(0.0) is None


@pytest.mark.logs(r"deleted and made again")
@pytest.mark.parametrize(("kept", "gone"), [("new", {}), ("", {}), ("old", {_PLACE: 0})])
def test_a_topic_that_is_another_one_than_what_was_committed_of_it_is_read_from_its_beginning(
    kept: str, gone: dict[PartitionId, int]
) -> None:
    share, texts = share_of(kept), list[str]()
    task, exchange = task_of(share, texts), Exchange()
    exchange.answer = {"t": "new", "other": "x"}
    task._compare_topics(cast(TransactionalClient, exchange), has_read=False)
    assert task._gone == gone
    assert share.topic_id == "new"
    assert ["t/0 was deleted and made again; it is read from its beginning." in text for text in texts[:-1]] == (
        [True] if gone else []
    )
    assert texts[-1:] == (["topic/t new"] if kept != "new" else [])


def test_topics_without_ids_are_asked_for_seldom_and_nobody_is_asked_twice_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("metl_gui.engine.lanes.task.time.monotonic", lambda: now)
    task, exchange = task_of(share_of("old"), []), Exchange()

    def turns(seconds: float) -> int:
        nonlocal now
        before = exchange.asked
        now += seconds
        for _ in range(3):
            task._compare_topics(cast(TransactionalClient, exchange), has_read=True)
        return exchange.asked - before

    assert [turns(0.0), turns(1000.0)] == [1, 0]
    exchange.answer = {}
    assert [turns(0.0), turns(49.0), turns(2.0)] == [0, 0, 1]
    exchange.answer = {"t": "old"}
    assert [turns(0.0), turns(4.0), turns(2.0)] == [0, 0, 1]
    assert sorted(exchange.waits, reverse=True)[:4] == [1.0, 1.0, 1.0, 0.0]  # what was read waits where they were asked


@pytest.mark.logs(r"gone")
def test_the_id_stays_with_the_offset_and_goes_when_records_were_gone() -> None:
    share = share_of("old")
    for commit in (
        share.commit([], Tally(), _FACTS, lambda *_: None),
        share.rewind(3, "order", _FACTS, lambda *_: None),
    ):
        note = read_metadata(commit.metadata)
        assert note is not None
        assert note.topic_id == "old"
    task = task_of(share, [])
    task.on_offset_out_of_range(_PLACE, 7, "gone")
    assert (task._gone, share.topic_id) == ({_PLACE: 7}, "")


def test_the_client_that_asks_ends_with_the_others() -> None:
    client = TransactionalClient.__new__(TransactionalClient)
    done: list[str] = []
    client._calls = cast(Any, SimpleNamespace(close=lambda: done.append("calls")))
    client.producer = cast(Any, SimpleNamespace(purge=lambda: done.append("producer")))
    client.consumer = cast(Any, SimpleNamespace(close=lambda: done.append("consumer")))
    client._admin, client._descriptions = cast(Any, object()), {"t": answered(Uuid(1, 2))}
    client._close()
    assert done == ["calls", "producer", "consumer"]
    assert [client._admin, client._descriptions] == [None, None]


@pytest.mark.parametrize(
    ("recorded", "topic_id", "is_refused"),
    [("one", "one", True), ("one", "other", False), ("", "", True), ("zero", "", True), (None, "one", False)],
)
def test_a_lane_without_offsets_begins_only_where_its_topic_is_surely_another_one(
    recorded: str | None, topic_id: str, is_refused: bool
) -> None:
    start = LaneStart.__new__(LaneStart)
    start.spec = cast(Any, SimpleNamespace(run_id="run", source=SimpleNamespace(start="latest")))
    start.group, start.partitions = "g", cast(Any, (SimpleNamespace(topic="t", topic_id=topic_id),))
    known = {start_key("run"): b"{}"} | ({topic_key("t"): recorded.encode()} if recorded is not None else {})
    if is_refused:
        with pytest.raises(RunError, match="forgotten"):
            start._refuse_forgotten(known)
    else:
        start._refuse_forgotten(known)
