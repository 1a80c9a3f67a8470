"""The Kafka clients of one task of a lane: a member of its consumer group, and a transactional producer.

The transactions of the producer commit the offsets of the group, so both live and die together. After an error that is
not known to be harmless they are thrown away and made again: a new producer of the same transactional id ends whatever
the old one left open, and a new consumer begins at what is committed. So there is one way back from every fault, and it
is the way that a killed task takes too. What Kafka refuses a lane for good is told in words (``explain_refusal``);
everything else is tried again.

Calls that end a transaction come back in any case (``TimeoutExecutor``). ``send_offsets_to_transaction`` of librdkafka
2.16 does not keep to its timeout: where the coordinator of the group dies at the wrong moment, the call never returns
(its issues 5456 and 5511). So what ends a transaction is done on a thread of its own, and whoever waits for it gives it
up; the client is thrown away then, and the one that comes fences it.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from metl_gui.engine.kafka.clients import ClientErrorLog, admin, bounds, consumer, explained, passes, producer
from metl_gui.engine.kafka.offsets import Descriptions, describe_topics, fitting, gone, topic_ids
from metl_gui.engine.kafka.topic_messages import Outgoing
from metl_gui.engine.lanes.order import SESSION_MS, LaneOrder, PartitionId
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka import Message, Producer
    from confluent_kafka.admin import AdminClient


_Answer = TypeVar("_Answer")


class _PendingCall(Generic[_Answer]):
    """One call: what is to be done, and what came of it."""

    def __init__(self, do: Callable[[], _Answer]) -> None:
        self.do = do
        self.answers: queue.SimpleQueue[tuple[_Answer | None, BaseException | None]] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            self.answers.put((self.do(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for it
            self.answers.put((None, error))


class TimeoutExecutor:
    """Does calls one after the other on a thread that may be left behind."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[_PendingCall[bool] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="kafka-calls", daemon=True)
        self._thread.start()

    def call(self, do: Callable[[], bool], seconds: float) -> bool:
        """Do something and return what it returns.

        Raises:
            KafkaException: it does not come back in time, and is given up; or it raised that.
        """
        asked = _PendingCall(do)
        self._asked.put(asked)
        try:
            answer, error = asked.answers.get(timeout=seconds)
        except queue.Empty:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"no answer within {seconds:.0f} s")) from None
        if error is not None:
            raise error
        return bool(answer)

    def close(self) -> None:
        """End the thread once it has nothing to do."""
        self._asked.put(None)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            asked.run()


_log = logging.getLogger(__name__)

TRANSACTION_MS = 15_000
"""A transaction that its task has left is given up by the broker after so long, and holds readers up until then."""

_CALL_SECONDS = 7.0
_END_SECONDS = 8.0
"""How long the end of a transaction may take; servers that were killed and started again are back by then."""

_CLOSE_SECONDS = 3.0
_LEFT_SECONDS, _MOST_AT_ONCE = 3.0, 8
_FULL_SECONDS = 0.05
_SETTLE_SECONDS = 0.004
"""Servers write the marks of a transaction after its end; who begins the next one before is sent away for 20 ms."""

_BATCH_BYTES = 500_000
_CONSUMING: dict[str, Any] = {
    # Not cooperative: there members join a new generation while they are within a transaction of the old one, which
    # is then refused; and a partition that a member should have given up stays without an owner for ever when its task
    # dies in that moment, as the one that comes in its place has nothing to give up.
    "partition_assignment_strategy": "roundrobin",
    "session_timeout_ms": SESSION_MS,
    "heartbeat_interval_ms": SESSION_MS // 3,
    # Without these a partition rests for a second after an error, and whenever enough is waiting.
    "fetch_queue_backoff_ms": 20,
    "fetch_error_backoff_ms": 100,
    "queued_max_messages_kbytes": 32_768,
    "topic_metadata_refresh_interval_ms": 5_000,
}
_PRODUCING: dict[str, Any] = {
    # What is asked while the transaction before is still being ended is asked again; by default after 100 ms.
    "retry_backoff_ms": 4,
    "retry_backoff_max_ms": 500,
    "transaction_timeout_ms": TRANSACTION_MS,
    "delivery_report_only_error": True,
    "linger_ms": 2,
    # A topic that was just made may not be known everywhere; one that is missing is told soon.
    "topic_metadata_propagation_max_ms": 5_000,
    "queue_buffering_max_messages": 1_000_000,
    "queue_buffering_max_kbytes": 262_144,
}


class RebalanceListener(Protocol):
    """Callbacks for partitions that are assigned and revoked; called on the thread that polls."""

    def on_assigned(self, committed: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
        """Return where each assigned partition is read from."""
        ...

    def on_revoked(self, places: Iterable[PartitionId]) -> None:
        """Forget revoked partitions."""
        ...

    def on_partition_eof(self, place: PartitionId, offset: int) -> None:
        """Note that there is nothing behind an offset for now."""
        ...

    def on_offset_out_of_range(self, place: PartitionId, first: int, text: str) -> None:
        """Note that records were gone before they were read; the partition is read on from the first there is."""
        ...


class TransactionalClient:
    """A consumer and a producer that share transactions. For one thread.

    Args:
        order: the lane's.
        number: of the task, which names the member and its producer.
        owner: hears of partitions.

    Raises:
        KafkaException: the servers do not answer, or refuse.
    """

    def __init__(self, order: LaneOrder, number: int, owner: RebalanceListener) -> None:
        self.order = order
        self.owner = owner
        self.said = ClientErrorLog()
        self.refused: tuple[KafkaError, str] | None = None
        self.producer = _producer(order, number, self.said, self._delivered)
        self.consumer = consumer(
            order.servers, self.said, group_id=order.group, group_instance_id=_name(order, number), **_CONSUMING
        )
        self._topics: list[str] = []
        self._admin: AdminClient | None = None
        self._descriptions: Descriptions | None = None
        self._settled = 0.0
        self._calls = TimeoutExecutor()

    def open(self) -> None:
        """End what an earlier attempt left, and join the group.

        Raises:
            KafkaException: the servers do not answer, or refuse.
        """
        self.producer.init_transactions(_CALL_SECONDS)
        self.subscribe(self.order.topics)

    def subscribe(self, topics: Iterable[str]) -> None:
        """Read these topics."""
        wanted = sorted(topics)
        if wanted != self._topics:
            self._topics = wanted
            self.consumer.subscribe(wanted, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)

    def subscribe_all(self, pattern: str) -> None:
        """Read all topics that a pattern fits by now, besides those that are named."""
        there = self.consumer.list_topics(timeout=_CALL_SECONDS).topics
        self.subscribe({*self.order.topics, *fitting(pattern, there)})

    def request_topic_ids(self, topics: Iterable[str]) -> None:
        """Ask for the ids of topics, without waiting for the answer."""
        if self._admin is None:
            self._admin = admin(self.order.servers, self.said)
        self._descriptions = describe_topics(self._admin, topics, _CALL_SECONDS)

    def received_topic_ids(self, seconds: float) -> dict[str, str] | None:
        """Return the ids that were asked for, once, without those of topics that have none.

        Args:
            seconds: how long to wait for them; None is returned where they are not there by then.
        """
        answers = self._descriptions
        if answers is None or wait(answers.values(), seconds).not_done:
            return None
        self._descriptions = None
        return topic_ids(answers)

    def first_offset(self, place: PartitionId) -> int:
        """Return where a partition begins now.

        Raises:
            KafkaException: the servers do not answer, or refuse.
        """
        return bounds(self.consumer, TopicPartition(*place), _CALL_SECONDS)[0]

    def pause(self, place: PartitionId) -> None:
        """Take no messages of a partition for a while."""
        self.consumer.pause([TopicPartition(*place)])

    def resume(self, place: PartitionId) -> None:
        """Take messages of a paused partition again."""
        self.consumer.resume([TopicPartition(*place)])

    def seek(self, place: PartitionId, offset: int) -> None:
        """Read a partition on from another offset."""
        self.resume(place)
        self.consumer.seek(TopicPartition(*place, offset))

    def take(self, most: int, seconds: float) -> list[Message]:
        """Return messages that are there, waiting so long at most for the first.

        Raises:
            KafkaException: the group, the servers or a topic are at fault.
        """
        time.sleep(max(0.0, self._settled - time.monotonic()))
        first = self.consumer.poll(seconds)
        if first is None:
            return []
        found = [first, *self.consumer.consume(most - 1, 0.0)]
        return [message for message in found if message.error() is None or self._heed(message)]

    def begin(self) -> None:
        """Begin a transaction."""
        self.refused = None
        self.producer.begin_transaction()

    def send(self, messages: Iterable[Outgoing]) -> None:
        """Send messages in the transaction.

        Raises:
            KafkaException: one of them cannot be sent; its second argument is the topic.
        """
        produce = self.producer.produce
        for message in messages:
            topic, value, key, headers = message
            while True:
                try:
                    produce(topic, value, key, headers=headers)
                    break
                except BufferError:
                    self.producer.poll(_FULL_SECONDS)
                except KafkaException as error:
                    raise KafkaException(error.args[0], topic) from error

    def commit(self, offsets: Sequence[TopicPartition], may_commit: Callable[[], bool]) -> bool:
        """End the transaction together with the offsets.

        Args:
            offsets: what is read next, with its metadata.
            may_commit: asked at the last moment; otherwise the transaction is taken back.

        Returns:
            Whether it is committed.

        Raises:
            KafkaException: it is not, or nobody knows.
        """
        metadata = self.consumer.consumer_group_metadata()

        def end() -> bool:
            self.producer.send_offsets_to_transaction(list(offsets), metadata, _CALL_SECONDS)
            if not may_commit():
                self.producer.abort_transaction(_CALL_SECONDS)
                return False
            self.producer.commit_transaction(_CALL_SECONDS)
            return True

        is_committed = self._calls.call(end, _END_SECONDS)
        self._settled = time.monotonic() + _SETTLE_SECONDS
        return is_committed

    def committed(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Return what the group committed of partitions.

        Raises:
            KafkaException: the servers do not answer, or refuse.
        """
        return self.consumer.committed(partitions, _CALL_SECONDS)

    def why_refused(self) -> tuple[KafkaError, str] | None:
        """Return why a message of a transaction that failed could not be written, and into which topic."""
        if self.refused is None:
            with contextlib.suppress(KafkaException):  # a producer that is fenced has nothing else to say
                self.producer.poll(_FULL_SECONDS * 4)
        return self.refused

    def close(self) -> None:
        """Let go of the servers; where they do not answer, whatever is still open is left to its timeouts."""
        closing = threading.Thread(target=self._close, name="lane-close", daemon=True)
        closing.start()
        closing.join(_CLOSE_SECONDS)

    def _close(self) -> None:
        self._calls.close()
        # The callbacks of the producer lead back to this client: the threads of the other would stay for long.
        self._admin = self._descriptions = None
        try:
            self.producer.purge()
            self.consumer.close()
        except (KafkaException, RuntimeError) as error:
            _log.info("closing: %s", error)

    def _assigned(self, _consumer: Any, partitions: list[TopicPartition]) -> None:
        if partitions:
            committed = self.consumer.committed(partitions, _CALL_SECONDS)
            self.consumer.assign(list(self.owner.on_assigned(committed)))
            # What was paused before the partitions moved is no matter of whoever has them now.
            self.consumer.resume(partitions)

    def _revoked(self, _consumer: Any, partitions: list[TopicPartition]) -> None:
        self.owner.on_revoked(PartitionId(one.topic, one.partition) for one in partitions)
        self.consumer.unassign()

    def _heed(self, sign: Message) -> bool:
        """Heed what is told among messages; False, as it is none of them.

        Raises:
            KafkaException: it is an error that does not go by itself.
        """
        error: Any = sign.error()
        place = PartitionId(sign.topic() or "", sign.partition() or 0)
        match error.code():
            case KafkaError._PARTITION_EOF:
                self.owner.on_partition_eof(place, sign.offset() or 0)
            case KafkaError._AUTO_OFFSET_RESET | KafkaError.OFFSET_OUT_OF_RANGE:
                self._reset(place, error)
            case _ if passes(error) or error.code() in _UNKNOWN:
                _log.info("%s/%s: %s", place.topic, place.partition, error)
            case _:
                raise KafkaException(error)
        return False

    def _reset(self, place: PartitionId, error: KafkaError) -> None:
        """Say where the first record is, and why what was to be read is not there; the partition stands still now."""
        partition = TopicPartition(place.topic, place.partition)
        first, end = bounds(self.consumer, partition, _CALL_SECONDS)
        known = self.consumer.committed([partition], _CALL_SECONDS)[0].offset
        name = f"{place.topic}/{place.partition}"
        if 0 <= known < first:
            text = gone(name, known, first)
        elif known < 0:  # servers forget the offsets of a topic that is deleted
            text = made_again(name)
        elif known > end:
            text = (
                f"{name} ends at offset {end:,} now, before offset {known:,}, up to which it was read: its topic was "
                f"made again, or its servers lost records. It is read from its first record on, so what it still holds "
                "comes again."
            )
        else:
            text = f"{name} is read from its first record on: {error.str()}."
        self.owner.on_offset_out_of_range(place, first, text)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self.refused is None and error.code() not in _PURGED:
            self.refused = error, message.topic() or ""


def made_again(name: str) -> str:
    """Say that a topic is another one by now.

    Args:
        name: topic and partition.
    """
    return f"{name} was deleted and made again; it is read from its beginning."


def abort_stale_transactions(order: LaneOrder, tasks: int) -> None:
    """End the transactions that tasks which are gone left open.

    Whoever reads what is committed waits at the first of them until it times out, for up to half a minute. Where the
    servers do not answer soon, that is how they end.

    Args:
        order: the lane's, whose tasks are at work no more.
        tasks: how many there were.
    """

    def end(number: int) -> None:
        try:
            # Who begins under the name of another ends what that one has begun.
            _producer(order, number).init_transactions(_LEFT_SECONDS)
        except KafkaException as error:
            _log.info("what task %s may have left open is left to its timeout: %s", number, error)

    with ThreadPoolExecutor(_MOST_AT_ONCE) as ending:
        list(ending.map(end, range(tasks)))


def _name(order: LaneOrder, number: int) -> str:
    return f"{order.run_id}-{number}"  # ``start`` reads it


def _producer(
    order: LaneOrder,
    number: int,
    said: ClientErrorLog | None = None,
    on_delivery: Callable[[KafkaError | None, Message], None] | None = None,
) -> Producer:
    return producer(
        order.servers,
        said,
        on_delivery,
        transactional_id=f"{order.group}-{_name(order, number)}",
        # A topic takes no batch that is larger than a message may be.
        batch_size=min([_BATCH_BYTES, *order.sink.limits.values(), *order.errors.limits.values()]),
        **_PRODUCING,
    )


_UNKNOWN = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC)
"""Said of a topic that is gone; it may come again, and the other topics go on."""

_PURGED = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})
"""What becomes of the other messages of a transaction that is taken back."""


_TOPIC = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.INVALID_REQUIRED_ACKS,
        KafkaError.INVALID_TIMESTAMP,
    }
)
_ACCESS = frozenset(
    {
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError._UNSUPPORTED_FEATURE,
        KafkaError._INVALID_ARG,
        KafkaError.INVALID_TRANSACTION_TIMEOUT,
        KafkaError.INVALID_SESSION_TIMEOUT,
        KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    }
)


def explain_refusal(
    order: LaneOrder, error: KafkaException, refused: tuple[KafkaError, str] | None, said: ClientErrorLog | None = None
) -> RunError | None:
    """Describe in words what is refused for good; None for what goes by.

    Args:
        order: the lane's.
        error: what was raised; with a topic behind it when it was about a message.
        refused: why a message could not be written, and into which topic, when that is known.
        said: what the client said of its connections.
    """
    if refused is not None and refused[0].code() in _TOPIC:
        return _topic_refused(order, *refused)
    kafka = error.args[0] if error.args else None
    if isinstance(kafka, KafkaError) and kafka.code() in _TOPIC and len(error.args) > 1:
        return _topic_refused(order, kafka, str(error.args[1]))
    if isinstance(kafka, KafkaError) and kafka.code() in _TOPIC | _ACCESS:
        about = f"group and transactional ids {order.group}" if kafka.code() in _ACCESS else ""
        return explained(order.servers, error, said, about)
    return None


def _topic_refused(order: LaneOrder, error: KafkaError, topic: str) -> RunError:
    what = "error topic" if topic == order.errors.topic else "topic"
    code = error.code()
    if code in {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}:
        hint = "Make it, with metl run --create-topics or with Kafka's own tools, then go on with the lane."
    elif code == KafkaError.MSG_SIZE_TOO_LARGE:
        hint = f"Raise max.message.bytes of {topic}, then go on with the lane."
    elif code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        hint = f"Have this user allowed to write to {topic}, then go on with the lane."
    else:
        hint = f"Mend the settings of {topic}, then go on with the lane."
    return RunError(
        f"The lane cannot write to its {what} {topic}.",
        f"{order.servers.shown}: {error.str()}. The lane ended; nothing is lost or sent twice, and it goes on where "
        "its last transaction ended.",
        hint,
    )
