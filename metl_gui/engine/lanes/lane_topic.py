"""The topic by which a lane talks with its tasks: made once, read by a thread of its own, written word by word."""

from __future__ import annotations

import logging
import threading
import time

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

from metl_gui.engine.kafka.clients import ANSWER_SECONDS, Said, admin, consumer, in_words
from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.engine.lanes.agreement_topic import Reader, Writer
from metl_gui.engine.lanes.lane_order import COUNTS, Place, counts_key
from metl_gui.engine.lanes.offset_notes import decoded_base
from metl_gui.engine.report import Tally
from metl_gui.errors import RunError, UserError

_log = logging.getLogger(__name__)
_COPIES = 3
_LOOK_SECONDS = 0.2
_AGAIN_SECONDS = 0.5
_KEEP_SECONDS = 10.0
_BASE_SECONDS = 20.0
_MARK = b"\n"


def make_topic(servers: KafkaServers, topic: str) -> None:
    """Make the topic of a lane where it is not there.

    Raises:
        RunError: the servers cannot be reached, or do not let this user make it.
    """
    said = Said()
    with in_words(servers, said):
        asking = admin(servers, said)
        known = asking.list_topics(timeout=ANSWER_SECONDS)
        if topic in known.topics and known.topics[topic].error is None:
            return
        copies = max(1, min(_COPIES, len(known.brokers)))
        wanted = NewTopic(topic, num_partitions=1, replication_factor=copies, config={"cleanup.policy": "compact"})
        try:
            asking.create_topics([wanted], operation_timeout=ANSWER_SECONDS)[topic].result(ANSWER_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


class LaneWords:
    """What is said in the topic of a lane, read by a thread and said by anybody.

    Args:
        servers: where it is.
        topic: its name.
    """

    def __init__(self, servers: KafkaServers, topic: str) -> None:
        self.servers, self.topic = servers, topic
        self._newest: dict[str, bytes] = {}
        self._writer: Writer | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="lane-words", daemon=True)
        self._thread.start()

    def newest(self, key: str) -> bytes | None:
        """Return what was said last under a key."""
        return self._newest.get(key)

    def under(self, prefix: str) -> dict[str, bytes]:
        """Return what was said last under each key that begins so."""
        return {key: value for key, value in list(self._newest.items()) if key.startswith(prefix)}

    def say(self, key: str, value: bytes, seconds: float = 0.0) -> None:
        """Say something; for one thread.

        Args:
            key, value: what.
            seconds: how long to wait until it is said; what is not said by then may still be.

        Raises:
            RunError: it is not said in that time.
        """
        if self._writer is None:
            self._writer = Writer(self.servers, self.topic, _KEEP_SECONDS)
        self._writer.write(key, value)
        if seconds:
            self._writer.flush(seconds)

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._is_over.is_set():
            reader = Reader(self.servers, self.topic)
            try:
                # All at once: what was said before and is overruled by now must not be seen.
                first = [entry for entry in reader.first() if not entry.key.startswith(COUNTS)]
                self._newest = {entry.key: entry.value for entry in first if entry.value is not None}
                while not self._is_over.is_set():
                    for entry in reader.next(_LOOK_SECONDS):
                        self._take(entry.key, entry.value)
            except (UserError, KafkaException) as error:
                _log.info("the topic of the lane cannot be read for now: %s", error)
                self._is_over.wait(_AGAIN_SECONDS)
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


def read_bases(servers: KafkaServers, topic: str, wanted: dict[Place, int]) -> dict[Place, Tally]:
    """Read counts that were too long for the metadata of offsets.

    Args:
        servers, topic: where they are.
        wanted: the number of the record of each partition; it was committed, so it comes.

    Raises:
        RunError: one of them is not there.
    """
    keys = {counts_key(place).encode(): place for place in wanted}
    found: dict[Place, tuple[int, bytes]] = {}
    said = Said()
    reading = consumer(servers, said, enable_partition_eof=False)
    end = time.monotonic() + _BASE_SECONDS
    try:
        with in_words(servers, said):
            first, _ = reading.get_watermark_offsets(TopicPartition(topic, 0), timeout=ANSWER_SECONDS, cached=False)
            reading.assign([TopicPartition(topic, 0, first)])
            while any(found.get(place, (0, b""))[0] < number for place, number in wanted.items()):
                if time.monotonic() > end:
                    raise RunError(
                        "Counts of the lane are missing.",
                        f"{topic} at {servers.shown} does not hold what offsets of the lane refer to.",
                        "Was the topic removed, or does it not keep the newest record of each key? What is mapped is "
                        "whole; start a new run in the same group to count anew.",
                    )
                for message in reading.consume(200, _LOOK_SECONDS):
                    place = keys.get(message.key() or b"")
                    if message.error() is None and place is not None:
                        number, _, counts = (message.value() or b"0\n").partition(_MARK)
                        found[place] = int(number), counts
    finally:
        reading.close()
    return {place: decoded_base(counts) for place, (_, counts) in found.items()}
