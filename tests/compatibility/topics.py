"""Topics of fast lanes as lines of JSON: what stood in them, and what groups had committed; read and written anew."""

from __future__ import annotations

import base64
import json
import lzma
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

SECONDS = 60.0
_LOOK_SECONDS = 0.2


class KeptMessage(NamedTuple):
    """One message.

    Args:
        topic, partition, offset: where it stood.
        key, value: as bytes; None for none.
        headers: by name, as bytes.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]

    def as_json(self) -> list[object]:
        """Return what stands in a line."""
        headers = [[name, _written(value)] for name, value in self.headers]
        return [self.topic, self.partition, self.offset, _written(self.key), _written(self.value), headers]

    @classmethod
    def of_json(cls, line: Sequence[Any]) -> KeptMessage:
        """Read a line."""
        topic, partition, offset, key, value, headers = line
        told = tuple((name, _read(text)) for name, text in headers)
        return cls(topic, partition, offset, _read(key), _read(value), told)


class KeptOffset(NamedTuple):
    """What a group had committed of a partition."""

    group: str
    topic: str
    partition: int
    offset: int
    metadata: str


def write_messages(path: Path, messages: Iterable[KeptMessage]) -> None:
    """Keep messages in a file."""
    lines = "".join(json.dumps(message.as_json()) + "\n" for message in messages)
    path.write_bytes(lzma.compress(lines.encode(), preset=9))


def read_messages(path: Path) -> list[KeptMessage]:
    """Read a file of messages."""
    return [KeptMessage.of_json(json.loads(line)) for line in lzma.decompress(path.read_bytes()).splitlines()]


def write_offsets(path: Path, offsets: Iterable[KeptOffset]) -> None:
    """Keep what groups committed."""
    path.write_text(json.dumps(list(offsets), indent=1) + "\n", "utf-8")


def read_offsets(path: Path) -> list[KeptOffset]:
    """Read what groups committed."""
    return [KeptOffset(*each) for each in json.loads(path.read_text("utf-8"))]


def messages_of(bootstrap: str, topics: Sequence[str]) -> Iterator[KeptMessage]:
    """Read topics from their beginning to what is committed now."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "kept-reader", "enable.auto.commit": False}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.partition.eof": True})
    known = consumer.list_topics(timeout=SECONDS).topics
    left = {(topic, number) for topic in topics for number in known[topic].partitions}
    consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in left])
    while left:
        message = consumer.poll(SECONDS)
        if message is None:
            raise TimeoutError(f"nothing came of {sorted(left)}")
        place = (message.topic() or "", message.partition() or 0)
        if message.error() is not None:
            left.discard(place)
            continue
        headers: Any = message.headers() or ()
        yield KeptMessage(*place, message.offset() or 0, message.key(), message.value(), tuple(headers))
    consumer.close()


def offsets_of(bootstrap: str, groups: Sequence[str]) -> Iterator[KeptOffset]:
    """Ask what groups have committed."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for group in groups:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        for one in sorted(asked[group].result().topic_partitions, key=lambda one: (one.topic, one.partition)):
            yield KeptOffset(group, one.topic, one.partition, one.offset, one.metadata or "")


def restore(bootstrap: str, messages: Sequence[KeptMessage], offsets: Sequence[KeptOffset]) -> None:
    """Make topics anew where they are missing, with what stood in them, and commit what groups had committed.

    The topic of an agreement takes its broker's times, as the program makes it.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap})
    known = admin.list_topics(timeout=SECONDS).topics
    partitions: dict[str, int] = {}
    for topic, partition in {(one.topic, one.partition) for one in messages} | {
        (one.topic, one.partition) for one in offsets
    }:
        partitions[topic] = max(partitions.get(topic, 0), partition + 1)
    made: Any = NewTopic
    new = [
        made(topic, count, 1, config=_settings_of(topic)) for topic, count in partitions.items() if topic not in known
    ]
    for future in (admin.create_topics(new) if new else {}).values():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # just made: not every list has it yet
                raise
    send(bootstrap, messages)
    for group in sorted({one.group for one in offsets}):
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
        wanted = [
            TopicPartition(one.topic, one.partition, one.offset, one.metadata) for one in offsets if one.group == group
        ]
        _commit(consumer, wanted)
        consumer.close()


def _commit(consumer: Consumer, offsets: list[TopicPartition]) -> None:
    """Commit offsets of a group, once it has lost members that left without a word."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_MEMBER_ID or time.monotonic() > end:
                raise
            time.sleep(_LOOK_SECONDS)
        else:
            return


def forget(bootstrap: str, topics: Iterable[str]) -> None:
    """Remove topics, and with them what groups committed there: files of another version have the same names."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.delete_topics(list(topics)).values():
        future.result()


def _settings_of(topic: str) -> dict[str, str]:
    if topic.endswith(".state"):
        lag = {"message.timestamp.type": "LogAppendTime", "min.compaction.lag.ms": "900000"}
        return {"cleanup.policy": "compact", **lag}
    return {"cleanup.policy": "compact"} if topic.startswith("metl.lane.") else {}


def send(bootstrap: str, messages: Iterable[KeptMessage]) -> None:
    """Write messages into their partitions, in their order."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1})
    for one in messages:
        producer.produce(one.topic, one.value, one.key, one.partition, headers=list(one.headers))
    if producer.flush(SECONDS):
        raise TimeoutError("not everything was written")


def _written(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _read(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
