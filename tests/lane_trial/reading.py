"""Read what a lane writes as its consumers do: how long each record took, whether one is missing or came again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from metl_gui.engine.kafka.topic_messages import POSITION
from tests.lane_trial.topics import TrialTopics

_LOOK_SECONDS = 0.2
_QUIET_SECONDS = 2.0


class Arrival(NamedTuple):
    """One message of the lane.

    Args:
        position: of the record that it was made from.
        written_ms: when the broker put it into its topic.
        seen_ms: when a consumer had it that reads what is committed.
    """

    position: str
    written_ms: int
    seen_ms: float


class Quantiles(NamedTuple):
    """Milliseconds."""

    p50: float
    p95: float
    p99: float
    most: float

    def __str__(self) -> str:
        """Write them for people."""
        return f"p50 {self.p50:.0f}, p95 {self.p95:.0f}, p99 {self.p99:.0f}, most {self.most:.0f} ms"


class Consuming:
    """Consumes topics from their beginning on a thread, reading what is committed.

    Args:
        topics: of the trial.
        names: those that are read.
    """

    def __init__(self, topics: TrialTopics, names: Iterable[str]) -> None:
        self.arrivals: list[Arrival] = []
        self._consumer = _consumer(topics)
        self._consumer.assign(_partitions(self._consumer, names))
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trial-consumer", daemon=True)
        self._thread.start()

    def end(self) -> list[Arrival]:
        """Read what is still to come, and return everything."""
        last, known = time.monotonic(), -1
        while time.monotonic() - last < _QUIET_SECONDS:
            if len(self.arrivals) != known:
                last, known = time.monotonic(), len(self.arrivals)
            time.sleep(_LOOK_SECONDS)
        self._is_over.set()
        self._thread.join()
        self._consumer.close()
        return self.arrivals

    def _run(self) -> None:
        while not self._is_over.is_set():
            first = self._consumer.poll(_LOOK_SECONDS)
            found = [] if first is None else [first, *self._consumer.consume(5000, 0.0)]
            now = time.time() * 1000
            for message in found:
                if message.error() is None:
                    self.arrivals.append(Arrival(_position(message), message.timestamp()[1], now))


def written(topics: TrialTopics, names: Iterable[str]) -> list[Arrival]:
    """Return all messages of topics, as if they had been seen when they were written."""
    messages = (message for name in names for message in read_all(topics, name))
    return [Arrival(_position(one), one.timestamp()[1], one.timestamp()[1]) for one in messages]


def read_all(topics: TrialTopics, name: str) -> Iterator[Message]:
    """Read what is committed in a topic by now, of each partition in its order; as much as a disk holds may come."""
    with closing(_consumer(topics)) as consumer:
        yield from _read(consumer, name)


def _read(consumer: Consumer, name: str) -> Iterator[Message]:
    partitions = _partitions(consumer, [name])
    left = {one.partition for one in partitions}
    consumer.assign(partitions)
    while left:
        for message in consumer.consume(5000, 1.0):
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard(message.partition() or 0)
            else:
                raise KafkaException(error)


def _position(message: Message) -> str:
    headers: Any = message.headers() or ()
    position: bytes = next(value for name, value in reversed(headers) if name == POSITION)
    return position.decode()


def times_of(topics: TrialTopics, name: str) -> dict[str, int]:
    """Return when the broker put each record of a topic there, by its position."""
    return {f"{one.topic()}/{one.partition()}/{one.offset()}": one.timestamp()[1] for one in read_all(topics, name)}


def check(came: Iterable[str], arrivals: list[Arrival]) -> tuple[int, int]:
    """Return how many records are missing, and how many came again."""
    counted = Counter(arrival.position for arrival in arrivals)
    wanted = set(came)
    return len(wanted - counted.keys()), sum(counted.values()) - len(counted)


def quantiles(values: Iterable[float]) -> Quantiles:
    """Return the quantiles of some times."""
    found = np.fromiter(values, np.float64)
    if not len(found):
        return Quantiles(0.0, 0.0, 0.0, 0.0)
    return Quantiles(*(float(one) for one in np.percentile(found, (50, 95, 99, 100))))


def _consumer(topics: TrialTopics) -> Consumer:
    return Consumer(
        {
            **topics.servers.client_settings,
            "group.id": f"{topics.group}-looks",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 10,
        }
    )


def _partitions(consumer: Consumer, names: Iterable[str]) -> list[TopicPartition]:
    known = consumer.list_topics(timeout=10).topics
    return [TopicPartition(name, number, OFFSET_BEGINNING) for name in names for number in known[name].partitions]
