"""Send what tasks make into topics, at least once: a task counts only when all of it is acknowledged.

A message that its topic would not take, for its size or for want of a key, is told before it is sent, so that its
record can be set aside. A record that is set aside and too large for the error topic goes there without its value, and
says where it stands.
Order: messages of a key in the order they came, within one task.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, Message

from metl_gui.engine.kafka.clients import ClientErrorLog, KeptClients, explained, producer, unreachable
from metl_gui.engine.kafka.topic_messages import (
    CUT,
    FORM,
    POSITION,
    REASON,
    RECORD,
    SCHEMA,
    VERSION,
    Outgoing,
    Outgoings,
    set_aside_message,
)
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from metl_gui.core.runs.kafka import KafkaServers
    from metl_gui.engine.kernel.outcomes import MappedBatch, SetAside

_AROUND_BYTES = 512
"""What a batch of one message takes around it, and some more."""

_WAIT_SECONDS = 0.1
_TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE})


class Sender:
    """Sends messages to the topics of one order.

    Args:
        order: where to.
    """

    def __init__(self, order: TopicOrder) -> None:
        self.order = order
        self._client: _SinkProducer | None = None

    def send(self, messages: Collection[Outgoing]) -> None:
        """Take messages; they are on their way when this returns.

        Raises:
            TaskError: one of those before them cannot be delivered.
        """
        client = self._taken()
        produce = client.producer.produce
        for message in messages:
            while True:
                try:
                    produce(message.topic, message.value, message.key, headers=message.headers)
                    break
                except BufferError:  # what one message leaves may be too little room for the next
                    self._wait_for_queue(client)
        client.producer.poll(0)
        self._check(client)

    def end(self) -> None:
        """Wait until all is acknowledged.

        Raises:
            TaskError: something cannot be delivered.
        """
        client = self._client
        if client is None:
            return
        end = time.monotonic() + self.order.patience_seconds
        while client.producer.flush(_WAIT_SECONDS):
            self._check(client)
            self._check_deadline(client, end)
        self._check(client)
        self._client = None
        _PRODUCERS.keep(self._key, client)

    @property
    def _key(self) -> tuple[KafkaServers, float]:
        return self.order.servers, self.order.patience_seconds

    def _taken(self) -> _SinkProducer:
        if self._client is None:
            try:
                self._client = _PRODUCERS.take(self._key) or _SinkProducer(*self._key)
            except KafkaException as error:
                raise TaskError(explained(self.order.servers, error)) from error
        return self._client

    def _wait_for_queue(self, client: _SinkProducer) -> None:
        end = time.monotonic() + self.order.patience_seconds
        before = len(client.producer)
        while len(client.producer) >= before:
            client.producer.poll(_WAIT_SECONDS)
            self._check(client)
            self._check_deadline(client, end)

    def _check_deadline(self, client: _SinkProducer, end: float) -> None:
        if time.monotonic() > end:
            raise TaskError(unreachable(self.order.servers, client.said.last or "they acknowledge nothing"))

    def _check(self, client: _SinkProducer) -> None:
        if client.failed:
            error, topic = client.failed[0]
            raise TaskError(self._undelivered(error, topic, client.said))

    def _undelivered(self, error: KafkaError, topic: str, said: ClientErrorLog) -> RunError:
        shown = self.order.servers.shown
        if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return RunError(
                f"Topic {topic} is not there.",
                f"{shown} does not have it, and does not make topics by itself.",
                "Run again with --create-topics: it shows what it makes.",
            )
        if error.code() in _TOO_LARGE:
            return RunError(
                f"A message is larger than topic {topic} takes.",
                f"{shown} refuses it: {error.str()}.",
                "Raise max.message.bytes of the topic, then go on.",
            )
        if error.code() in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED):
            return RunError(
                f"You may not write to topic {topic}.",
                f"{shown} refuses it: {error.str()}.",
                "Ask whoever runs the servers for the right to write, or name another sink.",
            )
        if error.code() == KafkaError._MSG_TIMED_OUT:
            return unreachable(self.order.servers, said.last or f"they acknowledge nothing for topic {topic}")
        return explained(self.order.servers, KafkaException(error), said)


class _SinkProducer:
    """A producer, and what it could not deliver; one that could not is never used again."""

    def __init__(self, servers: KafkaServers, patience_seconds: float) -> None:
        self.said = ClientErrorLog()
        self.failed: list[tuple[KafkaError, str]] = []
        self.producer = producer(
            servers,
            self.said,
            on_delivery=self._told,
            delivery_report_only_error=True,
            message_timeout_ms=int(patience_seconds * 1000),
        )

    def close(self) -> None:
        self.producer.flush(0)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed.append((error, message.topic() or ""))


_PRODUCERS = KeptClients(_SinkProducer.close, 2)


class TopicSink:
    """Messages as they go into topics.

    Args:
        order: where to.
        state: what the kernel maps with.
    """

    def __init__(self, order: TopicOrder, state: int) -> None:
        self.order = order
        self.sender = Sender(order)
        self.outgoings = Outgoings(order.topic, state, has_tombstones=order.has_tombstones)

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Send the messages of a batch; of a record of which its topic does not take one, none."""
        messages = self.outgoings.of(outcome)
        refused = refusals(self.order, outcome, messages)
        self.sender.send(without_refused(outcome, messages, refused))
        return refused

    def close(self) -> list[str]:
        """Wait until all is acknowledged; there are no parts."""
        self.sender.end()
        return []


def refusals(order: TopicOrder, outcome: MappedBatch, messages: Iterable[Outgoing]) -> dict[int, RejectedRecord]:
    """Say which records of a batch became a message that its topic would not take, for its size or for want of a key.

    Args:
        order: what topics take.
        outcome: of the batch.
        messages: what goes out for it, in its order.
    """
    limits, compacted = order.limits, order.compacted
    refused: dict[int, RejectedRecord] = {}
    if not limits and not compacted:
        return refused
    at = -1
    for message in messages:
        if message.value is None:
            continue  # the tombstone of the message before it
        at += 1
        limit = limits.get(message.topic, 0)
        if limit and len(message.value) + _AROUND_BYTES > limit and _size(message) + _AROUND_BYTES > limit:
            detail = f"its message has {_size(message):,} bytes, and topic {message.topic} takes {limit:,} at most"
            refused[int(outcome.records[at])] = _refusal(message, detail, "too_large")
        elif message.key is None and message.topic in compacted:
            detail = f"topic {message.topic} is compacted, and takes no message without a key"
            refused[int(outcome.records[at])] = _refusal(message, detail, "no_key")
    return refused


def without_refused(
    outcome: MappedBatch, messages: list[Outgoing], refused: Mapping[int, RejectedRecord]
) -> list[Outgoing]:
    """Leave out everything that records became of which a topic refuses a message.

    Args:
        outcome: of the batch.
        messages: what goes out for it, in its order.
        refused: by the number of its record. Records may say that they stood at one place, so that tells nothing.
    """
    if not refused:
        return messages
    left, at = [], -1
    for message in messages:
        at += message.value is not None  # a tombstone is of the record of the message before it
        if int(outcome.records[at]) not in refused:
            left.append(message)
    return left


def fitting(made: Outgoing, limit: int) -> Outgoing:
    """Take the value out of a set-aside record that is larger than the error topic takes, and say how large it was.

    Where its key and its own headers are too large too, only what says why it was set aside is left.
    """
    if not limit or _size(made) + _AROUND_BYTES <= limit:
        return made
    cut = made._replace(value=b"", headers=[*made.headers, (CUT, str(len(made.value or b"")))])
    if _size(cut) + _AROUND_BYTES <= limit:
        return cut
    # Ours stand last, and begin with the reason.
    own = max(at for at, (name, _) in enumerate(cut.headers) if name == REASON)
    return cut._replace(key=None, headers=cut.headers[own:])


class ErrorTopic:
    """Set-aside records as they go into a topic.

    Args:
        order: where to.
        is_replay: they were set aside before.
    """

    def __init__(self, order: TopicOrder, *, is_replay: bool = False) -> None:
        self.order = order
        self.sender = Sender(order)
        self.is_replay = is_replay
        self._limit = order.limits.get(order.topic, 0)

    def put(self, row: SetAside, message: Message) -> None:
        """Send a message that is set aside, as it came."""
        self._send(set_aside_message(self.order.topic, row, message, is_replay=self.is_replay))

    def put_record(self, row: SetAside, raw: bytes, size: int) -> None:
        """Send a record of a file that is set aside.

        Args:
            row: says why.
            raw: the record, or its beginning.
            size: how long it is.
        """
        made = set_aside_message(self.order.topic, row, Message(value=raw), is_replay=self.is_replay)
        made.headers.append((FORM, RECORD))
        if len(raw) < size:
            made.headers.append((CUT, str(size)))
        self._send(made)

    def _send(self, made: Outgoing) -> None:
        self.sender.send([fitting(made, self._limit)])

    def close(self) -> None:
        """Wait until all is acknowledged."""
        self.sender.end()


def _refusal(message: Outgoing, detail: str, reason: str) -> RejectedRecord:
    told = {name: str(value) for name, value in message.headers}
    return RejectedRecord(told.get(SCHEMA, ""), told.get(VERSION, ""), told.get(POSITION, ""), detail, reason)


def _size(message: Outgoing) -> int:
    """Return about how many bytes a message takes in its topic."""
    headers = sum(len(name) + len(value or b"") + 4 for name, value in message.headers)
    return len(message.value or b"") + len(message.key or b"") + headers
