"""How far replays of an error topic are, kept for good: Kafka forgets the offsets of a group at rest for a week.

    topic   metl.replay.<mode>.<error topic>, compacted
    key     <reason>/<partition>
    value   <offset> <id of the error topic>

A mark holds for the topic that it was made for: one that was deleted and made again has another id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message

from metl_gui.core.runs.kafka import REPLAY_TOPICS, KafkaAddress, KafkaServers, TopicPlan, own_topic
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, ClientErrorLog, explained, producer, unreachable
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader, close_clients
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.kafka.topics import create_topics
from metl_gui.formats.source_positions import PARTITIONS, whole_number

_SETTINGS: Final = (("cleanup.policy", "compact"),)


class ReasonMark(NamedTuple):
    """Up to where the records of a partition that were set aside for a reason were replayed.

    Args:
        reason: why records were set aside; empty for all reasons.
        partition: of the error topic.
        offset: the first that was not read.
        topic_id: of the error topic.
    """

    reason: str
    partition: int
    offset: int
    topic_id: str


def marks_topic(mode: str, errors: str) -> str:
    """Return the topic of the marks of an error topic; different ones have different topics."""
    return own_topic(f"{REPLAY_TOPICS}{mode}.", errors)


def kept_marks(servers: KafkaServers, topic: str) -> list[ReasonMark]:
    """Read the marks that are kept in a topic, in their order; none where it is not there.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    listed = Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False).listed()
    wanted = [OffsetRange(one.topic, one.partition, one.begin, one.end) for one in listed]
    try:
        found = [_mark(message) for batch in RangeReader(servers, wanted).batches() for message in batch]
    finally:
        close_clients()
    return [mark for mark in found if mark is not None]


def keep_marks(servers: KafkaServers, topic: str, marks: Iterable[ReasonMark]) -> None:
    """Keep marks in a topic, which is made where it is missing.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    if topic not in Lister(servers, KafkaAddress(topics=(topic,)), is_strict=False).topics():
        create_topics(servers, [TopicPlan(topic, 1, -1, _SETTINGS)])
    said, failed = ClientErrorLog(), list[KafkaError]()

    def delivered(error: KafkaError | None, _message: object) -> None:
        if error is not None:
            failed.append(error)

    client = producer(servers, said, delivered)
    for mark in marks:
        client.produce(topic, f"{mark.offset} {mark.topic_id}".encode(), f"{mark.reason}/{mark.partition}".encode())
    if client.flush(ANSWER_SECONDS):
        raise unreachable(servers, said.last)
    if failed:
        raise explained(servers, KafkaException(failed[0]), said, topic)


def _mark(message: Message) -> ReasonMark | None:
    """Read a mark; None for what no replay of ours wrote."""
    reason, _, number = (message.key() or b"").decode(errors="replace").rpartition("/")
    written, _, topic_id = (message.value() or b"").decode(errors="replace").partition(" ")
    partition, offset = whole_number(number, PARTITIONS), whole_number(written)
    return None if partition is None or offset is None else ReasonMark(reason, partition, offset, topic_id)
