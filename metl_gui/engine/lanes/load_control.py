"""Loads of a lane as Kafka holds them: what is ordered of each partition, and how far its tasks are."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]  # as in listing

from metl_gui.core.runs.kafka import LOAD_TOPICS, KafkaAddress, KafkaServers
from metl_gui.core.runs.lanes import LoadProgress
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, in_words
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader
from metl_gui.engine.kafka.offsets import LATEST_OFFSET, Lister
from metl_gui.engine.lanes.committed_offsets import Committed
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.topic import CoordinationWriter, read_state
from metl_gui.engine.lanes.loads import LOAD, SUPERSEDED, SUPERSEDED_PARTLY, LoadOrder, load_key, read_order
from metl_gui.engine.lanes.offset_metadata import read_metadata
from metl_gui.engine.lanes.order import PartitionId, lane_topic

_SAY_SECONDS = 10.0
_LOOK_SECONDS = 0.3
_EXAMPLES = 50
_LONGEST = 249
_LOADED = "loaded/"
"""Under this and the topic of changes the topic of a lane holds what became of a load that is through."""


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a topic.

    Args:
        partition: where it lies.
        key, value: as they are.
    """

    partition: int
    key: bytes
    value: bytes


def rows_topic(id_: str, changes: str) -> str:
    """Return the topic of the rows of a load, and of its progress."""
    return f"{LOAD_TOPICS}{id_}.{changes}"[:_LONGEST]


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


def ends(servers: KafkaServers, topic: str, wanted: int = LATEST_OFFSET) -> list[int]:
    """Return where each partition of a topic ends now (or begins, with ``EARLIEST_OFFSET``).

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
    wanted = [OffsetRange(topic, one.partition, max(one.begin, one.end - _EXAMPLES), one.end) for one in listed]
    found: list[tuple[int, Example]] = []
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            key, value = message.key(), message.value()
            if key is not None and value is not None:
                told = Example(partition=message.partition() or 0, key=key, value=value)
                found.append((message.timestamp()[1], told))
    return [told for _, told in sorted(found, key=lambda one: one[0])]


def first_mapped(servers: KafkaServers, matrix: str, group: str, topic: str) -> dict[int, int]:
    """Return by partition the first record that a lane mapped, as the coordination topic keeps it.

    Raises:
        RunError: the servers do not answer.
    """
    firsts: dict[int, int] = {}
    for key, change in read_state(servers, log.topic_of(matrix)).changes.items():
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
    writer = CoordinationWriter(servers, lane_topic(group), _SAY_SECONDS)
    for one in orders:
        writer.write(one.key, msgspec.json.encode(one))
    writer.flush(_SAY_SECONDS)


def end(servers: KafkaServers, group: str, orders: Sequence[LoadOrder], found: LoadProgress) -> LoadProgress:
    """Take the orders of a load back that is through, keep what became of it, and remove its topic.

    Returns:
        What is kept.

    Raises:
        RunError: the servers do not take it.
    """
    ended = msgspec.structs.replace(found, ended_ms=round(time.time() * 1000))
    writer = CoordinationWriter(servers, lane_topic(group), _SAY_SECONDS)
    writer.write(f"{_LOADED}{found.changes}", msgspec.json.encode(ended))
    for one in orders:
        writer.write(load_key(PartitionId(one.changes, one.partition)), None)
    writer.flush(_SAY_SECONDS)
    for topic in {one.progress for one in orders}:
        remove_rows_topic(servers, topic)
    return ended


def send_signal(servers: KafkaServers, topic: str, key: str, signal: str) -> None:
    """Write a signal for a connector into its topic.

    Raises:
        RunError: the servers do not take it.
    """
    writer = CoordinationWriter(servers, topic, _SAY_SECONDS)
    writer.write(key, signal.encode())
    writer.flush(_SAY_SECONDS)


def ordered(servers: KafkaServers, group: str) -> tuple[LoadOrder, ...]:
    """Return what is ordered of a lane; a load whose topic was removed is through.

    Raises:
        RunError: the servers do not answer.
    """
    newest = _said(servers, group)
    orders = [read_order(text) for key, text in newest.items() if key.startswith(LOAD)]
    there = Lister(servers, KafkaAddress(topics=(lane_topic(group),)), is_strict=False).topics() if orders else ()
    return tuple(order for order in orders if order is not None and order.progress in there)


def ended(servers: KafkaServers, group: str) -> dict[str, LoadProgress]:
    """Return the newest load of each topic of changes that is through and was cleared away.

    Raises:
        RunError: the servers do not answer.
    """
    newest = _said(servers, group)
    loads = (msgspec.json.decode(text, type=LoadProgress) for key, text in newest.items() if key.startswith(_LOADED))
    return {one.changes: one for one in loads}


def _said(servers: KafkaServers, group: str) -> dict[str, bytes]:
    """Return what was said last of loads in the topic of a lane."""
    topic = lane_topic(group)
    lister = Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False)
    newest: dict[str, bytes] = {}
    wanted = [OffsetRange(one.topic, one.partition, one.begin, one.end) for one in lister.listed()]
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            key, value = (message.key() or b"").decode(errors="replace"), message.value()
            newest.pop(key, None)
            if value is not None and key.startswith((LOAD, _LOADED)):
                newest[key] = value
    return newest


def progress(committed: Committed, orders: Sequence[LoadOrder], run_id: str) -> tuple[LoadProgress, ...]:
    """Return how far loads are.

    Args:
        committed: asks for the offsets of the lane's group.
        orders: what is ordered.
        run_id: the run of the lane.

    Raises:
        RunError: the servers do not answer.
    """
    offsets = committed.offsets()
    return tuple(
        _progress(committed, offsets, [one for one in orders if one.id == id_], run_id)
        for id_ in dict.fromkeys(one.id for one in orders)
    )


def newest_progress(committed: Committed, orders: Sequence[LoadOrder], run_id: str) -> LoadProgress:
    """Say how far one load is, also when somebody else has cleared it away; arguments and errors as of ``progress``."""
    (found,) = progress(committed, orders, run_id)
    if found.done or found.is_done:
        return found
    kept = ended(committed.lister.servers, committed.group).get(found.changes)
    return kept if kept is not None and kept.id == found.id else found


def wait_for(look: Callable[[], LoadProgress], tell: Callable[[LoadProgress], bool]) -> LoadProgress:
    """Look again and again until a load is done.

    Args:
        look: returns its progress.
        tell: told of it; False to wait no longer, while the lane goes on.
    """
    while True:
        found = look()
        if found.is_done or not tell(found):
            return found
        time.sleep(_LOOK_SECONDS)


def _progress(
    committed: Committed, offsets: Mapping[PartitionId, TopicPartition], parts: Sequence[LoadOrder], run_id: str
) -> LoadProgress:
    skips: Counter[str] = Counter()
    done, are_through = 0, []
    for part in parts:
        place = PartitionId(part.progress, part.partition)
        known = offsets.get(place)
        note = read_metadata(known.metadata) if known is not None else None
        if note is not None and note.run == run_id:
            skips.update(committed.counted(place, note).by_skip)
        reached = min(max(known.offset if known is not None else 0, part.begin), part.end)
        done += reached - part.begin
        # Of a load that is given up somebody has to take over what was counted.
        are_through.append(reached == part.end or (part.is_given_up and note is not None and note.is_carried))
    return LoadProgress(
        id=parts[0].id,
        changes=parts[0].changes,
        rows=sum(part.end - part.begin for part in parts),
        done=done,
        superseded=skips[SUPERSEDED],
        superseded_partly=skips[SUPERSEDED_PARTLY],
        is_done=all(are_through),
        is_given_up=any(part.is_given_up for part in parts),
    )
