"""Topics as seen by somebody who runs nothing: which there are, their first and newest messages, their rows.

Nothing is committed, and no group is joined: nobody notices.

The first records of topics come as files of records hold them: a tree can be set up from them before any is mapped.

Rows in a topic of the sink are counted as every consumer that keeps rows should count them: a message with a lower
source position never replaces one with a higher one, and what a delete took away is gone (docs/reference/message.md).
Positions of one key are of one partition, so that their offsets tell the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers, is_internal, parse_address
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, ClientErrorLog, admin, in_words
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.kafka.records import records_of

if TYPE_CHECKING:
    from confluent_kafka import Message


_PATIENCE_SECONDS = 8.0


class SeenMessage(msgspec.Struct, frozen=True):
    """A message as it lies in its topic.

    Args:
        position: ``topic/partition/offset``.
        time_ms: when it came, milliseconds since 1970; 0 where the servers do not say.
        key, value: its bytes; None for none.
    """

    position: str
    time_ms: int
    key: bytes | None
    value: bytes | None


class Newest(msgspec.Struct, frozen=True):
    """What lies in a topic.

    Args:
        partitions: how many it has.
        offsets: how many offsets lie between their beginnings and ends; some may be holes.
        messages: the newest, newest first.
    """

    partitions: int
    offsets: int
    messages: tuple[SeenMessage, ...]


def partition_counts(servers: KafkaServers) -> dict[str, int]:
    """Return how many partitions each topic has, by its name, without those that hold no records.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    said = ClientErrorLog()
    with in_words(servers, said):
        found = admin(servers, said).list_topics(timeout=ANSWER_SECONDS).topics
    there = {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}
    return {name: there[name] for name in sorted(there) if not is_internal(name)}


def newest_messages(servers: KafkaServers, topic: str, count: int, tell: Callable[[int], None]) -> Newest:
    """Read the last messages of a topic, about as many of each partition.

    Args:
        servers: where it is.
        topic: its name.
        count: how many messages, at most.
        tell: told how many were read; may raise to stop.

    Raises:
        RunError: the servers do not answer or refuse, or there is no such topic.
    """
    listed = Lister(servers, KafkaAddress(topics=(topic,))).listed()
    each = -(-count // max(len(listed), 1))
    wanted = [OffsetRange(topic, one.partition, max(one.begin, one.end - each), one.end) for one in listed]
    messages: list[Message] = []
    tell(0)
    for batch in RangeReader(servers, wanted, _PATIENCE_SECONDS).batches():
        messages += batch
        tell(len(messages))
    messages.sort(key=lambda one: (one.timestamp()[1], one.offset() or 0), reverse=True)
    offsets = sum(one.end - one.begin for one in listed)
    return Newest(len(listed), offsets, tuple(_seen(message) for message in messages[:count]))


def _seen(message: Message) -> SeenMessage:
    kind, milliseconds = message.timestamp()
    position = f"{message.topic()}/{message.partition()}/{message.offset()}"
    return SeenMessage(position, milliseconds if kind else 0, _bytes(message.key()), _bytes(message.value()))


def _bytes(part: bytes | str | None) -> bytes | None:
    return part.encode() if isinstance(part, str) else part


def first_records(servers: KafkaServers, topics: Sequence[str], count: int) -> list[bytes]:
    """Read the first records of topics; nothing is committed, nobody notices.

    Args:
        servers: where the topics are.
        topics: their names; one that is not there yet has no records.
        count: how many of each partition at most.

    Returns:
        Each record as one line of JSON without its end.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    listed = Lister(servers, KafkaAddress(topics=tuple(topics)), is_strict=False).listed()
    wanted = [OffsetRange(one.topic, one.partition, one.begin, min(one.begin + count, one.end)) for one in listed]
    lines: list[bytes] = []
    for batch in RangeReader(servers, wanted).batches():
        lines += records_of(batch)
    return lines


class _RecordSource(msgspec.Struct, gc=False):
    position: str


class _KeyedMessage(msgspec.Struct, gc=False):
    op: str
    source: _RecordSource
    key: Any = None


_sent = msgspec.json.Decoder(_KeyedMessage).decode


def count_live_rows(servers: KafkaServers, address: str) -> int:
    """Count the rows that messages of one entity leave.

    Args:
        servers: where the topic is.
        address: its address.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    newest: dict[bytes, tuple[int, bool]] = {}
    listed = Lister(servers, parse_address(address), is_strict=False).listed()
    wanted = [OffsetRange(one.topic, one.partition, one.begin, one.end) for one in listed]
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            value = message.value()
            if value is None:
                continue
            sent = _sent(value)
            key, offset = msgspec.json.encode(sent.key), int(sent.source.position.rpartition("/")[2])
            if offset >= newest.get(key, (-1, False))[0]:
                newest[key] = offset, sent.op != "d"
    return sum(stands for _, stands in newest.values())
