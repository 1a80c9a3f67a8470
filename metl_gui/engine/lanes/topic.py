"""The topic by which a lane talks with its tasks: made once, read by a thread of its own, written word by word."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, TopicPartition

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.report import Tally
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, ClientErrorLog, admin, bounds, consumer, in_words
from metl_gui.engine.lanes.coordination.topic import CoordinationReader, CoordinationWriter, make_compacted
from metl_gui.engine.lanes.offset_metadata import decoded_base
from metl_gui.engine.lanes.order import COUNTS, PartitionId, counts_key
from metl_gui.errors import RunError, UserError

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_log = logging.getLogger(__name__)
_SETTINGS = {
    "cleanup.policy": "compact",
    # What is being written to is not compacted: by default that is a week or a gigabyte, which every task reads.
    "segment.ms": "900000",
    "segment.bytes": str(16 << 20),
}
_LOOK_SECONDS = 0.2
_AGAIN_SECONDS = 0.5
_KEEP_SECONDS = 10.0
_BASE_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
_MARK = b"\n"
_NOTHING = (0, Tally())


def make_topic(servers: KafkaServers, topic: str) -> None:
    """Make the topic of a lane where it is not there.

    Raises:
        RunError: the servers cannot be reached, or do not let this user make it.
    """
    make_compacted(servers, topic, _SETTINGS)


def drop_topic(servers: KafkaServers, topic: str) -> None:
    """Remove the topic of a lane that nobody will go on with; where servers do not let us, it stays."""
    try:
        client = admin(servers)  # nobody answers any more once it is gone
        client.delete_topics([topic], request_timeout=ANSWER_SECONDS)[topic].result()
    except KafkaException as error:
        _log.info("the topic of the lane %s stays: %s", topic, error)


class LaneTopic:
    """What is said in the topic of a lane, read by a thread and said by anybody.

    Args:
        servers: where it is.
        topic: its name.
    """

    def __init__(self, servers: KafkaServers, topic: str) -> None:
        self.servers, self.topic = servers, topic
        self._newest: dict[str, bytes] = {}
        self._writer: CoordinationWriter | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="lane-words", daemon=True)
        self._thread.start()

    def newest(self, key: str) -> bytes | None:
        """Return what was said last under a key."""
        return self._newest.get(key)

    def under(self, prefix: str) -> dict[str, bytes]:
        """Return what was said last under each key that begins so."""
        return {key: value for key, value in list(self._newest.items()) if key.startswith(prefix)}

    def publish(self, key: str, value: bytes, seconds: float = 0.0) -> None:
        """Say something; for one thread.

        Args:
            key, value: what.
            seconds: how long to wait until it is said; what is not said by then may still be.

        Raises:
            RunError: it is not said in that time.
        """
        if seconds:
            # A writer of its own: what could not be written before is no matter of this word.
            writer = CoordinationWriter(self.servers, self.topic, _KEEP_SECONDS)
            writer.write(key, value)
            writer.flush(seconds)
            return
        if self._writer is None:
            self._writer = CoordinationWriter(self.servers, self.topic, _KEEP_SECONDS)
        self._writer.write(key, value)

    def close(self) -> None:
        """End the thread; where servers do not answer, it ends by itself once they are given up."""
        self._is_over.set()
        self._thread.join(_CLOSE_SECONDS)

    def _live(self) -> None:
        while not self._is_over.is_set():
            try:
                self._read()
            except (UserError, KafkaException) as error:
                _log.info("the topic of the lane cannot be read for now: %s", error)
            self._is_over.wait(_AGAIN_SECONDS)

    def _read(self) -> None:
        reader = CoordinationReader(self.servers, self.topic)
        try:
            # All at once: what was said before and is overruled by now must not be seen.
            first = [entry for entry in reader.first() if not entry.key.startswith(COUNTS)]
            self._newest = {entry.key: entry.value for entry in first if entry.value is not None}
            while not self._is_over.is_set():
                for entry in reader.next(_LOOK_SECONDS):
                    self._take(entry.key, entry.value)
        finally:
            reader.close()

    def _take(self, key: str, value: bytes | None) -> None:
        if value is None:
            self._newest.pop(key, None)
        elif not key.startswith(COUNTS):
            self._newest[key] = value


def base_value(number: int, counts: bytes) -> bytes:
    """Write counts with their number."""
    return b"%d%b%b" % (number, _MARK, counts)


def read_bases(servers: KafkaServers, topic: str, wanted: dict[PartitionId, int]) -> dict[PartitionId, Tally]:
    """Read counts that were too long for the metadata of offsets.

    Args:
        servers, topic: where they are.
        wanted: the number of the record of each partition; it was committed, so it comes.

    Raises:
        RunError: one of them is not there, or the servers do not answer: then an exception of the client is its cause.
    """
    keys = {counts_key(place).encode(): place for place in wanted}
    found: dict[PartitionId, tuple[int, Tally]] = {}
    said = ClientErrorLog()
    reading = consumer(servers, said, enable_partition_eof=False)
    end = time.monotonic() + _BASE_SECONDS
    try:
        with in_words(servers, said):
            reading.assign([TopicPartition(topic, 0, _beginning(reading, topic))])
            while any(found.get(place, _NOTHING)[0] < number for place, number in wanted.items()):
                if time.monotonic() > end:
                    _beginning(reading, topic)  # it may be that they are away
                    raise RunError(
                        "Counts of the lane are missing.",
                        f"{topic} at {servers.shown} does not hold what offsets of the lane refer to.",
                        "Was the topic removed, or does it not keep the newest record of each key? What is mapped is "
                        "whole; start a new run in the same group to count anew.",
                    )
                for message in reading.consume(200, _LOOK_SECONDS):
                    place = keys.get(message.key() or b"")
                    if message.error() is None and place is not None:
                        found[place] = _base(message.value()) or found.get(place, _NOTHING)
    finally:
        reading.close()
    return {place: tally for place, (_, tally) in found.items()}


def _beginning(reading: Consumer, topic: str) -> int:
    return bounds(reading, TopicPartition(topic, 0), ANSWER_SECONDS)[0]


def _base(value: bytes | None) -> tuple[int, Tally] | None:
    """Read counts with their number; None for what no task of ours wrote."""
    number, _, counts = (value or b"").partition(_MARK)
    try:
        return int(number), decoded_base(counts)
    except ValueError as error:
        _log.warning("counts of the lane cannot be read: %s", error)
        return None
