"""Records of topics for a task: of a topic as they come, of an error topic as they were before they were set aside.

What is read of an error topic is each record as it was: its own topic, partition, offset and time, without the headers
that say why it was set aside.
Order: as in the partitions.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from metl_gui.core.runs.limits import LIMIT_BYTES, TOO_LARGE
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader
from metl_gui.engine.kafka.records import headers_json, records_of
from metl_gui.engine.kafka.topic_messages import CUT, FORM, OF_SET_ASIDE, POSITION, REASON, RECORD, REPLAYED, TIMESTAMP
from metl_gui.engine.kafka.topic_orders import TopicReading, WaitingRecords
from metl_gui.engine.kernel.message_records import MessageRecords, Parts, RecordBatch
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sources.large_records import LargeRecords
from metl_gui.engine.sources.source import ReadPlan, partition_of
from metl_gui.formats.json_text import quoted
from metl_gui.formats.source_positions import PARTITIONS, whole_number

if TYPE_CHECKING:
    from confluent_kafka import Message

    from metl_gui.engine.kafka.records import Headers

_NO_TIME: Final = -1


class TopicBatch(NamedTuple):
    """Some records of topics.

    Args:
        records: the records.
        large: gives those whole that are larger than the limit; None where none is.
        messages: what they were as they came, or were before they were set aside; None for a record of a file.
    """

    records: RecordBatch
    large: LargeRecords | None
    messages: Sequence[Message | None]


class TopicRecords:
    """Reads the ranges of one task.

    Args:
        reading: the run's.
        task: which of its tasks.
        limit_bytes: of a record that is larger only the beginning is mapped.

    Attributes:
        notes: what a person should know of what was read, once it is read.
    """

    def __init__(self, reading: ReadPlan, task: int, limit_bytes: int) -> None:
        topics = reading.topics
        if topics is None:
            raise ValueError("the reading has no topics")
        self.limit = reading.limit
        self.limit_bytes = limit_bytes
        self.topics: TopicReading = topics
        wanted = [
            OffsetRange(*partition_of(reading.files[piece.file]), piece.start, piece.stop)
            for piece in reading.tasks[task]
        ]
        self._reader = RangeReader(topics.servers, wanted, topics.patience_seconds)
        self._cut = 0

    @property
    def notes(self) -> list[str]:
        """What a person should know of what was read."""
        cut = (
            f"{self._cut:,} records were not whole in the error topic, which took none of their size, and were left "
            "there. Their positions stand in its headers: read these again from the source."
        )
        return [*self._reader.notes, *((cut,) if self._cut else ())]

    def batches(self) -> Iterator[TopicBatch]:
        """Yield the records.

        Raises:
            RunError: servers do not answer or refuse, or a topic is gone.
        """
        left = self.limit
        found = self._reader.batches()
        for messages in found:
            for batch in self._of(messages):
                count = len(batch.records)
                if left is not None and count >= left:
                    yield TopicBatch(batch.records.first(left), batch.large, batch.messages[:left])
                    found.close()  # type: ignore[attr-defined]
                    return
                yield batch
                left = None if left is None else left - count

    def _of(self, messages: list[Message]) -> Iterator[TopicBatch]:
        waiting = self.topics.waiting
        if waiting is None:
            records = records_of(messages, self.limit_bytes)
            yield TopicBatch(records, LargeMessages(records), messages)
            return
        yield from self._set_aside(messages, waiting)

    def _set_aside(self, messages: list[Message], waiting: WaitingRecords) -> Iterator[TopicBatch]:
        """Give records of an error topic, those of files apart from those of topics; each run of one kind a batch."""
        run: list[SetAsideMessage] = []
        for message in messages:
            one = SetAsideMessage.of(message)
            if not one.is_meant(waiting):
                continue
            if one.is_cut:
                self._cut += 1
                continue
            if run and run[-1].is_record != one.is_record:
                yield self._batch(run)
                run = []
            run.append(one)
        if run:
            yield self._batch(run)

    def _batch(self, run: list[SetAsideMessage]) -> TopicBatch:
        if run[0].is_record:
            values, places = [one.value or b"" for one in run], [one.offset for one in run]
            lines = Records.of(values, "", places, [one.topic for one in run])
            return TopicBatch(lines, None, [None] * len(run))
        records = messages_of(run, self.limit_bytes)
        return TopicBatch(records, LargeMessages(records), [one.message() for one in run])


class SetAsideMessage(NamedTuple):
    """A message of an error topic, taken apart.

    Args:
        where: partition of the error topic, as ``topic/partition``, and at: the offset there.
        told: what our headers say.
        topic, partition, offset, time: of the record itself; of a record of a file the topic is its name, and offset
            its place there.
        key, value, headers: the record's own.
    """

    where: str
    at: int
    told: Mapping[str, str]
    topic: str
    partition: int
    offset: int
    time: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @classmethod
    def of(cls, message: Message) -> SetAsideMessage:
        """Take a message of an error topic apart; one that no run of ours wrote is a record of that topic itself."""
        topic, partition, at = message.topic() or "", message.partition() or 0, message.offset() or 0
        own, told = _parted(message.headers())
        kind, time = message.timestamp()
        own_time = whole_number(told.get(TIMESTAMP, ""))
        time = own_time if own_time is not None else time if kind else _NO_TIME
        place = _file_place if told.get(FORM) == RECORD else _topic_place
        position = place(told.get(POSITION, "")) or (topic, partition, at)
        return cls(f"{topic}/{partition}", at, told, *position, time, message.key(), message.value(), own)

    @property
    def is_record(self) -> bool:
        """Whether it is a whole record of a file."""
        return self.told.get(FORM) == RECORD

    @property
    def is_cut(self) -> bool:
        """Whether its value is not there whole."""
        return CUT in self.told

    @property
    def reason(self) -> str:
        """Why it was set aside; empty when nobody says."""
        return self.told.get(REASON, "")

    def is_meant(self, waiting: WaitingRecords) -> bool:
        """Return whether a replay reads it."""
        reason = self.reason
        if not reason or (waiting.reasons and reason not in waiting.reasons):
            return False
        if reason == TOO_LARGE and not waiting.is_with_large:
            return False
        if waiting.is_again:
            return REPLAYED not in self.told
        return self.at >= waiting.read_to(self.where, reason)

    def message(self) -> Message:
        """Return the record as it was before it was set aside."""
        from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message

        kind = TIMESTAMP_NOT_AVAILABLE if self.time == _NO_TIME else TIMESTAMP_CREATE_TIME
        headers = self.headers if isinstance(self.headers, list) else []
        return Message(
            topic=self.topic,
            partition=self.partition,
            offset=self.offset,
            key=self.key,
            value=self.value,
            headers=headers,
            timestamp=(kind, self.time),
        )


def messages_of(found: Sequence[SetAsideMessage], limit_bytes: int = LIMIT_BYTES) -> MessageRecords:
    """Return messages of an error topic as the records of topics that they were; see ``MessageRecords.of``."""
    parts = Parts(
        [(one.topic, one.partition) for one in found],
        [one.offset for one in found],
        [one.time for one in found],
        [one.key for one in found],
        [headers_json(one.headers) for one in found],
        [one.value for one in found],
    )
    return MessageRecords.of(parts, limit_bytes)


class LargeMessages:
    """Large records of a batch, which lies in memory whole.

    Args:
        records: the batch.
    """

    def __init__(self, records: MessageRecords) -> None:
        self.records = records

    def write(self, record: int, into: IO[bytes]) -> None:
        """Write the end of the row of a record; see ``LargeRecords``."""
        # A message as a record is text always: what is none stands in it as base64.
        into.write(b'"raw":%b}' % quoted(self.records.whole(record).decode()))


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Search for garbage more rarely: messages are many small objects that live for a batch and hold no cycles.

    With Python's own thresholds a third of the time of a task goes into looking.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _parted(headers: Headers) -> tuple[list[tuple[str, str | bytes | None]], dict[str, str]]:
    """Part the headers of a record from ours, which stand last: never one of its own is taken for one of them."""
    pairs = list(headers.items() if isinstance(headers, dict) else headers or ())
    told: dict[str, str] = {}
    while pairs and pairs[-1][0] in OF_SET_ASIDE and pairs[-1][0] not in told:
        name, value = pairs.pop()
        told[name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""
        if name == REASON:
            break
    return pairs, told


def _topic_place(position: str) -> tuple[str, int, int] | None:
    """Part ``topic/partition/offset``."""
    topic, _, rest = position.partition("/")
    partition, _, offset = rest.partition("/")
    number, place = whole_number(partition, PARTITIONS), whole_number(offset)
    return (topic, number, place) if topic and number is not None and place is not None else None


def _file_place(position: str) -> tuple[str, int, int] | None:
    """Part ``file@place``; a record that names a place of its own names it again."""
    name, _, written = position.rpartition("@")
    place = whole_number(written)
    return (position, 0, 0) if place is None or not name else (name, 0, place)
