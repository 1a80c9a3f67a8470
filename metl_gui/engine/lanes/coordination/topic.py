"""The coordination topic in Kafka: made with the settings that it needs, read, and written to."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType  # type: ignore[attr-defined]

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka import clients
from metl_gui.engine.kafka.clients import bounds
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.records import Announced, ChunkKey, KeyedRecord
from metl_gui.engine.lanes.coordination.state import KEPT_MS, CoordinationState
from metl_gui.errors import RunError

_log = logging.getLogger(__name__)

TOPIC_SETTINGS = {
    "cleanup.policy": "compact",
    "message.timestamp.type": "LogAppendTime",
    "min.compaction.lag.ms": str(KEPT_MS),
    "segment.ms": str(KEPT_MS),
    "segment.bytes": str(16 << 20),
}
"""Its times are the broker's; what is newer than the lag stands there whole."""

_COPIES = 3
_WAIT_SECONDS = 20.0
_GONE = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError.UNKNOWN_TOPIC_ID,
    }
)


def ensure_topic(servers: KafkaServers, topic: str) -> None:
    """Make the coordination topic of a matrix where it is missing.

    Raises:
        RunError: the servers cannot be reached or refuse, or the topic has other settings.
    """
    partitions = make_compacted(servers, topic, TOPIC_SETTINGS)
    if partitions:
        with clients.in_words(servers, about=topic):
            _check(clients.admin(servers), servers, topic, partitions)


def make_compacted(servers: KafkaServers, topic: str, settings: Mapping[str, str]) -> int:
    """Make a topic of one partition where it is missing, in as many copies as the cluster allows, three at most.

    Returns:
        How many partitions it had before; 0 when it was not there.

    Raises:
        RunError: the servers cannot be reached or refuse.
    """
    said = clients.ClientErrorLog()
    with clients.in_words(servers, said, topic):
        admin = clients.admin(servers, said)
        known = admin.list_topics(timeout=_WAIT_SECONDS)
        if topic in known.topics and known.topics[topic].error is None:
            return len(known.topics[topic].partitions)
        copies = max(1, min(_COPIES, len(known.brokers)))
        own = {**settings, **({"min.insync.replicas": "2"} if copies == _COPIES else {})}
        wanted = NewTopic(topic, num_partitions=1, replication_factor=copies, config=own)
        try:
            admin.create_topics([wanted], operation_timeout=_WAIT_SECONDS)[topic].result(_WAIT_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise  # else another lane was faster by a moment
    return 0


def read_state(servers: KafkaServers, topic: str) -> CoordinationState:
    """Read everything that stands in the topic now, for its answer; an empty one when there is no such topic.

    Raises:
        RunError: the servers cannot be reached, or the topic cannot be read.
    """
    return state_of(read_all(servers, topic))


def state_of(entries: list[KeyedRecord]) -> CoordinationState:
    """Fold what was read just now."""
    return CoordinationState.of(entries, entries[-1].time_ms if entries else 0, round(time.time() * 1000))


def read_all(servers: KafkaServers, topic: str) -> list[KeyedRecord]:
    """Read everything that stands in the topic now, plans left out; nothing when there is no such topic.

    Raises:
        RunError: the servers cannot be reached, or the topic cannot be read.
    """
    reader = CoordinationReader(servers, topic)
    try:
        return list(reader.first())
    except TopicGoneError:
        return []
    finally:
        reader.close()


def read_plan(servers: KafkaServers, topic: str, announced: Announced) -> bytes | None:
    """Read the plan of what was announced, proven by its digest; None where it does not stand there whole.

    Raises:
        RunError: the servers cannot be reached, or the topic cannot be read.
    """
    reader = CoordinationReader(servers, topic, prefix=f"{log.PLAN}{announced.digest}/")
    chunks: dict[int, bytes] = {}
    try:
        for entry in reader.first():
            word = log.read(entry.key, entry.value)
            if word is not None and isinstance(word.key, ChunkKey) and isinstance(word.value, bytes):
                chunks[word.key.number] = word.value
    finally:
        reader.close()
    return log.joined(chunks, announced)


class TopicGoneError(RunError):
    """The topic is not there, or was made anew since it was read."""


class CoordinationReader:
    """Reads the topic from its beginning, for ever. For one thread.

    Args:
        servers: where it is.
        topic: its name.
        prefix: keep only the values of plans whose keys begin so; by default of none, as they are large.
    """

    def __init__(self, servers: KafkaServers, topic: str, prefix: str = "") -> None:
        self.servers, self.topic = servers, topic
        self._prefix = prefix
        self._last = -1
        self._said = clients.ClientErrorLog()
        with clients.in_words(servers):
            self._consumer = clients.consumer(
                servers,
                self._said,
                group_id=f"{topic}.none",  # asked for, never used: offsets are never kept
                enable_partition_eof=False,
                isolation_level="read_uncommitted",
                fetch_wait_max_ms=200,
                fetch_error_backoff_ms=100,
            )

    def first(self) -> Iterator[KeyedRecord]:
        """Yield what stands there now, and stay behind it.

        Raises:
            RunError: the servers cannot be reached, or the topic cannot be read.
        """
        start, end = self._bounds()
        self._consumer.assign([TopicPartition(self.topic, 0, start)])
        until = time.monotonic() + _WAIT_SECONDS
        while self._position(start) < end:
            for entry in self.next(0.2):
                until = time.monotonic() + _WAIT_SECONDS
                if entry.offset < end or not self._prefix:
                    yield entry
            if time.monotonic() > until:
                raise RunError(
                    "What lanes agree on cannot be read to its end.",
                    f"{self.topic} at {self.servers.shown}: nothing came for {_WAIT_SECONDS:.0f} s.",
                    "Check that the broker is well; then try again.",
                )

    def end(self) -> int:
        """Ask where the next record will stand.

        Raises:
            RunError: the servers do not answer soon.
        """
        return self._bounds(seconds=2.0)[1]

    def has_reached(self, end: int) -> bool:
        """Whether everything before an offset was read."""
        return self._position(0) >= end

    def next(self, seconds: float) -> Iterator[KeyedRecord]:
        """Yield what comes, waiting so long at most for the first of it.

        Raises:
            TopicGoneError: what was read before does not count any more.
        """
        first = self._consumer.poll(seconds)
        # Only the first is waited for: `consume` would wait for as many as it was asked for.
        for message in [first, *self._consumer.consume(500, 0)] if first is not None else ():
            error = message.error()
            if error is not None:
                if error.code() in _GONE:
                    raise self._gone()
                _log.info("%s: %s", self.topic, error)
                continue
            offset, key = message.offset() or 0, message.key()
            if offset <= self._last:
                raise self._gone()
            self._last = offset
            if key is None:
                continue
            name = key.decode(errors="replace")
            is_left_out = name.startswith(log.PLAN) and not (self._prefix and name.startswith(self._prefix))
            yield KeyedRecord(offset, message.timestamp()[1], name, None if is_left_out else message.value())

    def close(self) -> None:
        """Let go of the servers."""
        self._consumer.close()

    def _bounds(self, seconds: float = _WAIT_SECONDS) -> tuple[int, int]:
        partition = TopicPartition(self.topic, 0, 0)
        with clients.in_words(self.servers, self._said, self.topic):
            try:
                start, end = bounds(self._consumer, partition, seconds)
            except KafkaException as error:
                if error.args[0].code() in _GONE:
                    raise self._gone() from error
                raise
        return start, end

    def _position(self, start: int) -> int:
        found: int = self._consumer.position([TopicPartition(self.topic, 0)])[0].offset
        return found if found >= 0 else start

    def _gone(self) -> TopicGoneError:
        return TopicGoneError(
            "The topic by which lanes agree is gone, or was made anew.",
            f"{self.topic} at {self.servers.shown}.",
            "It is made when a lane starts; do not remove it while one runs.",
        )


class CoordinationWriter:
    """Writes into the topic, in order. For one thread.

    Args:
        servers: where it is.
        topic: its name.
        keep_seconds: what could not be written for so long is given up.
    """

    def __init__(self, servers: KafkaServers, topic: str, keep_seconds: float) -> None:
        self.servers, self.topic = servers, topic
        self._trouble: KafkaError | None = None
        self._said = clients.ClientErrorLog()
        with clients.in_words(servers):
            # Idempotent, so that words arrive once and in the order in which they were said.
            self._producer = clients.producer(
                servers,
                self._said,
                linger_ms=0,
                message_timeout_ms=round(keep_seconds * 1000),
            )

    def write(self, key: str, value: bytes | None) -> None:
        """Write one record; returns at once."""
        try:
            self._producer.produce(self.topic, value, key.encode(), partition=0, on_delivery=self._delivered)
        except (BufferError, KafkaException) as error:
            _log.warning("%s: %s", self.topic, error)
        self._producer.poll(0)

    def flush(self, seconds: float = _WAIT_SECONDS) -> None:
        """Wait until everything was written.

        Raises:
            RunError: it was not.
        """
        left = self._producer.flush(seconds)
        if left or self._trouble is not None:
            if self._trouble is not None:
                raise clients.explained(self.servers, KafkaException(self._trouble), self._said, self.topic)
            raise clients.unreachable(self.servers, self._said.last)

    def serve(self) -> None:
        """Let the client hear what became of what was written."""
        self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        self._trouble = error or self._trouble


def _check(admin: AdminClient, servers: KafkaServers, topic: str, partitions: int) -> None:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource], request_timeout=_WAIT_SECONDS)[resource].result(_WAIT_SECONDS)
    wrong = [
        f"{name} is {found[name].value}, not {wanted}"
        for name, wanted in TOPIC_SETTINGS.items()
        if name in {"cleanup.policy", "message.timestamp.type"} and name in found and found[name].value != wanted
    ]
    lag = found.get("min.compaction.lag.ms")
    if lag is not None and int(lag.value or 0) < KEPT_MS:
        wrong.append(f"min.compaction.lag.ms is {lag.value}, not {KEPT_MS}")
    if partitions != 1:
        wrong.append(f"it has {partitions} partitions, not 1")
    if wrong:
        raise RunError(
            "By this topic lanes cannot agree on a state.",
            f"{topic} at {servers.shown}: {'; '.join(wrong)}.",
            "Remove the topic while no lane runs; it is made again as it must be. Or alter these settings.",
        )
