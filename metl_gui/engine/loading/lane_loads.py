"""Loads of a lane as Kafka holds them: what is ordered of each partition, and how far its tasks are."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from confluent_kafka import KafkaException
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]  # as in listing

from metl_gui.engine.kafka.clients import ANSWER_SECONDS, in_words
from metl_gui.engine.kafka.consuming import RangeReader, Wanted
from metl_gui.engine.kafka.listing import LATEST, Lister
from metl_gui.engine.kafka.servers import KafkaAddress, KafkaServers
from metl_gui.engine.lanes import agreement_log as log
from metl_gui.engine.lanes.agreement_topic import Writer, read_fold
from metl_gui.engine.lanes.committed import Committed
from metl_gui.engine.lanes.lane_order import Place, lane_topic
from metl_gui.engine.lanes.loads import LOAD, SUPERSEDED, SUPERSEDED_PARTLY, LoadOrder, load_key, read_order
from metl_gui.engine.lanes.offset_notes import read_note

_SAY_SECONDS = 10.0
_EXAMPLES = 50
_PREFIX = "metl.load."
_LONGEST = 249


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a topic.

    Args:
        partition: where it lies.
        key, value: as they are.
    """

    partition: int
    key: bytes
    value: bytes


class LoadProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a load is.

    Args:
        id: of the load.
        changes: the topic of the table's changes.
        rows: how many rows there are, as offsets count.
        done: how many of them are mapped or left out.
        superseded: left out, as a change of the row was mapped.
        superseded_partly: the same, where every such change left out large values.
        is_done: every partition is through.
    """

    id: str
    changes: str
    rows: int
    done: int
    superseded: int = 0
    superseded_partly: int = 0
    is_done: bool = False


def rows_topic(id_: str, changes: str) -> str:
    """Return the topic of the rows of a load, and of its progress."""
    return f"{_PREFIX}{id_}.{changes}"[:_LONGEST]


def make_rows_topic(servers: KafkaServers, topic: str, partitions: int) -> None:
    """Make the topic of a load.

    Raises:
        RunError: the servers refuse.
    """
    lister = Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False)
    with in_words(servers, lister.said):
        copies = max(1, min(3, len(lister.admin.list_topics(timeout=ANSWER_SECONDS).brokers)))
        settings = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
        wanted = NewTopic(topic, num_partitions=partitions, replication_factor=copies, config=settings)
        lister.admin.create_topics([wanted], operation_timeout=ANSWER_SECONDS)[topic].result(ANSWER_SECONDS)


def remove_rows_topic(servers: KafkaServers, topic: str) -> None:
    """Remove the topic of a load; whoever may not leaves it to those who may."""
    lister = Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False)
    with contextlib.suppress(KafkaException):
        lister.admin.delete_topics([topic], operation_timeout=ANSWER_SECONDS)[topic].result(ANSWER_SECONDS)


def ends(servers: KafkaServers, topic: str, wanted: int = LATEST) -> list[int]:
    """Return where each partition of a topic ends now (or begins, with ``EARLIEST``).

    Raises:
        RunError: there is no such topic, or the servers do not answer.
    """
    lister = Lister(servers, KafkaAddress(topics=(topic,)))
    found = lister.offsets(lister.places(), wanted)
    return [found[topic, partition] for partition in range(len(found))]


def newest_records(servers: KafkaServers, topic: str) -> list[Example]:
    """Return some of the newest records with a key and a value; of each partition in its order.

    Raises:
        RunError: the servers do not answer.
    """
    listed = Lister(servers, KafkaAddress(topics=(topic,))).listed()
    wanted = [Wanted(topic, one.partition, max(one.begin, one.end - _EXAMPLES), one.end) for one in listed]
    found: list[tuple[int, Example]] = []
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            key, value = message.key(), message.value()
            if key is not None and value is not None:
                told = Example(partition=message.partition() or 0, key=key, value=value)
                found.append((message.timestamp()[1], told))
    return [told for _, told in sorted(found, key=lambda one: one[0])]


def first_mapped(servers: KafkaServers, matrix: str, group: str, topic: str) -> dict[int, int]:
    """Return by partition the first record that a lane mapped, as the agreement on its state keeps it.

    Raises:
        RunError: the servers do not answer.
    """
    firsts: dict[int, int] = {}
    for key, change in read_fold(servers, log.topic_of(matrix)).changes.items():
        if key.lane == group and key.topic == topic:
            firsts[key.partition] = min(change.offset, firsts.get(key.partition, change.offset))
    return firsts


def orders_of_beginning(
    id_: str, topic: str, progress: str, begins: Sequence[int], firsts: Mapping[int, int]
) -> tuple[LoadOrder, ...]:
    """Order what a topic held before a lane began; the arguments are by partition."""
    return tuple(
        LoadOrder(
            id=id_,
            changes=topic,
            rows=topic,
            progress=progress,
            partition=partition,
            begin=begin,
            end=max(firsts[partition], begin),
            noted_from=firsts[partition],
            after=firsts[partition],
        )
        for partition, begin in enumerate(begins)
    )


def order(servers: KafkaServers, group: str, orders: Iterable[LoadOrder]) -> None:
    """Tell the tasks of a lane what to load.

    Raises:
        RunError: the servers do not take it.
    """
    writer = Writer(servers, lane_topic(group), _SAY_SECONDS)
    for one in orders:
        writer.write(one.key, msgspec.json.encode(one))
    writer.flush(_SAY_SECONDS)


def forget(servers: KafkaServers, group: str, orders: Iterable[LoadOrder]) -> None:
    """Take orders back; what was mapped stays.

    Raises:
        RunError: the servers do not take it.
    """
    writer = Writer(servers, lane_topic(group), _SAY_SECONDS)
    for one in orders:
        writer.write(load_key(Place(one.changes, one.partition)), None)
    writer.flush(_SAY_SECONDS)


def send_signal(servers: KafkaServers, topic: str, key: str, signal: str) -> None:
    """Write a signal for a connector into its topic.

    Raises:
        RunError: the servers do not take it.
    """
    writer = Writer(servers, topic, _SAY_SECONDS)
    writer.write(key, signal.encode())
    writer.flush(_SAY_SECONDS)


def ordered(servers: KafkaServers, group: str) -> tuple[LoadOrder, ...]:
    """Return what is ordered of a lane, done or not.

    Raises:
        RunError: the servers do not answer.
    """
    topic = lane_topic(group)
    lister = Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False)
    newest: dict[bytes, bytes | None] = {}
    wanted = [Wanted(one.topic, one.partition, one.begin, one.end) for one in lister.listed()]
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            key = message.key() or b""
            if key.startswith(LOAD.encode()):
                newest[key] = message.value()
    return tuple(order for text in newest.values() if (order := read_order(text)) is not None)


def progress(committed: Committed, orders: Sequence[LoadOrder], run_id: str) -> tuple[LoadProgress, ...]:
    """Say how far loads are.

    Args:
        committed: asks for the offsets of the lane's group.
        orders: what is ordered.
        run_id: the run of the lane.

    Raises:
        RunError: the servers do not answer.
    """
    offsets = committed.offsets()
    told = []
    for id_ in dict.fromkeys(one.id for one in orders):
        parts = [one for one in orders if one.id == id_]
        reached = [_reached(one, offsets) for one in parts]
        skips: dict[str, int] = {}
        for one in parts:
            place = Place(one.progress, one.partition)
            note = read_note(offsets[place].metadata) if place in offsets else None
            if note is not None and note.run == run_id:
                for name, count in committed.tally(place, note).by_skip.items():
                    skips[name] = skips.get(name, 0) + count
        told.append(
            LoadProgress(
                id=id_,
                changes=parts[0].changes,
                rows=sum(one.end - one.begin for one in parts),
                done=sum(at - one.begin for at, one in zip(reached, parts, strict=True)),
                superseded=skips.get(SUPERSEDED, 0),
                superseded_partly=skips.get(SUPERSEDED_PARTLY, 0),
                is_done=all(at >= one.end for at, one in zip(reached, parts, strict=True)),
            )
        )
    return tuple(told)


def wait_for(
    look: Callable[[], tuple[LoadProgress, ...]],
    tell: Callable[[LoadProgress], bool],
    seconds: float = 0.3,
) -> LoadProgress:
    """Look again and again until a load is done.

    Args:
        look: returns the progress of one load.
        tell: told of it; False to wait no longer, while the lane goes on.
        seconds: between two looks.
    """
    while True:
        (found,) = look()
        if found.is_done or not tell(found):
            return found
        time.sleep(seconds)


def _reached(one: LoadOrder, offsets: Mapping[Place, Any]) -> int:
    """Return up to where the rows of a partition are through."""
    known = offsets.get(Place(one.progress, one.partition))
    return min(max(known.offset if known is not None else 0, one.begin), one.end)
