"""The first records of topics, for looking at: some of each partition, without Spark; nobody notices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from metl_gui.core.runs.kafka import KafkaServers, parse_address
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader, close_clients
from metl_gui.engine.kafka.offsets import ListedPartition, Lister
from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.sources.batches import FirstRecord

_PATIENCE_SECONDS = 15.0
_WIDER = 8


class TopicRecord(NamedTuple):
    """One record and the topic that it lies in."""

    topic: str
    record: FirstRecord


def first_messages(
    servers: KafkaServers, source: str, most: int, most_of_each: int | None = None
) -> Iterator[TopicRecord]:
    """Yield the first records of topics.

    Args:
        servers: where they are.
        source: their address.
        most: how many in all.
        most_of_each: how many of each partition; by default its share.

    Raises:
        RunError: servers do not answer or refuse, or a topic is not there.
    """
    listed = [one for one in Lister(servers, parse_address(source)).listed() if one.begin < one.end]
    each = most_of_each if most_of_each is not None else -(-most // max(len(listed), 1))
    try:
        yield from _first(servers, [(one, one.begin) for one in listed], most, each)
    finally:
        close_clients()


def _first(
    servers: KafkaServers, places: list[tuple[ListedPartition, int]], most: int, each: int
) -> Iterator[TopicRecord]:
    """Read a part of each partition, and a wider one of those in which holes left too few."""
    counts: dict[tuple[str, int], int] = {}
    total, width = 0, each
    while places and total < most:
        wanted = [OffsetRange(one.topic, one.partition, at, min(at + width, one.end)) for one, at in places]
        for messages in RangeReader(servers, wanted, _PATIENCE_SECONDS).batches():
            records = records_of(messages)
            for number, message in enumerate(messages):
                place = message.topic() or "", message.partition() or 0
                if total == most:
                    return
                if counts.get(place, 0) == each:
                    continue
                counts[place] = counts.get(place, 0) + 1
                total += 1
                found = FirstRecord(records.whole(number), records.position(number), records.is_whole(number))
                yield TopicRecord(place[0], found)
        places = [
            (one, at + width)
            for one, at in places
            if at + width < one.end and counts.get((one.topic, one.partition), 0) < each
        ]
        width *= _WIDER
