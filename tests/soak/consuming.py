"""A consumer of everything that a lane writes, as any consumer is: it reads what is committed, and keeps counts."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.topic_messages import POSITION, REASON
from tests.soak.received import Received, read_message
from tests.soak.tables import Table

_LOOK_SECONDS = 0.2
_TIMED_EACH = 20
_MOST_TIMES = 20_000
_ASK_SECONDS = 10.0
_MOST_REASONS = 20
_AT_ONCE = 2000


class Consuming:
    """Reads topics on a thread.

    Args:
        servers: where they are.
        topics: of the entities.
        errors: the error topic.
        tables: whose rows the messages tell.
    """

    def __init__(self, servers: KafkaServers, topics: Sequence[str], errors: str, tables: Iterable[Table]) -> None:
        self.received = {table.topic: Received(table.first) for table in tables}
        self.by_topic = Counter[str]()
        self.by_reason = Counter[str]()
        self.unread = 0
        self.why_unread: list[str] = []
        self.errors = errors
        self._times = deque[float](maxlen=_MOST_TIMES)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._consumer = Consumer(
            {
                **servers.client_settings,
                "group.id": "soak-reads",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": False,
                "queued.max.messages.kbytes": 16_384,
                "fetch.message.max.bytes": 1 << 20,
                "log_level": 0,
            }
        )
        known = self._consumer.list_topics(timeout=_ASK_SECONDS).topics
        self._consumer.assign(
            [
                TopicPartition(topic, number, OFFSET_BEGINNING)
                for topic in (*topics, errors)
                for number in known[topic].partitions
            ]
        )
        self._thread = threading.Thread(target=self._run, name="soak-reads", daemon=True)
        self._thread.start()

    @property
    def distinct(self) -> int:
        """How many different changes came."""
        return sum(sum(one.distinct.values()) for one in self.received.values())

    @property
    def plain(self) -> int:
        """How many messages came."""
        return sum(sum(one.plain.values()) for one in self.received.values())

    def latencies(self) -> str:
        """Return how long changes took from the connector to here since the last time, in words."""
        with self._lock:
            times = list(self._times)
            self._times.clear()
        if not times:
            return "nothing came"
        p50, p95, p99 = np.percentile(times, (50, 95, 99))
        return f"p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f} ms"

    def stop(self) -> None:
        """Read no more."""
        self._is_over.set()
        self._thread.join()

    def close(self) -> None:
        """Read no more, and let go of the servers."""
        self.stop()
        self._consumer.close()

    def _run(self) -> None:
        while not self._is_over.is_set():
            first = self._consumer.poll(_LOOK_SECONDS)
            found = [] if first is None else [first, *self._consumer.consume(_AT_ONCE, 0.0)]
            for message in found:
                error: Any = message.error()
                if error is None:
                    self._take(message)
                elif error.code() in (KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET):
                    self._refuse(str(error))

    def _take(self, message: Any) -> None:
        topic, value = message.topic(), message.value()
        self.by_topic[topic] += 1
        if topic == self.errors:
            told = dict(message.headers() or ())
            self.by_reason[told.get(REASON, b"").decode()] += 1
            return
        try:
            told_message = read_message(value or b"")
            self.received[told_message.source.schema].take(told_message, value)
        except (msgspec.MsgspecError, KeyError, ValueError) as refused:
            self._refuse(f"{topic}/{message.partition()}/{message.offset()}: {refused}")
            return
        if self.by_topic[topic] % _TIMED_EACH == 0 and not told_message.replayed:
            with self._lock:
                self._times.append(time.time() * 1000 - told_message.ts_ms)
            if dict(message.headers() or ()).get(POSITION) != told_message.source.position.encode():
                self._refuse(f"{topic}: the header {POSITION} is not {told_message.source.position}")

    def _refuse(self, why: str) -> None:
        self.unread += 1
        self.why_unread = [*self.why_unread, why][:_MOST_REASONS]
