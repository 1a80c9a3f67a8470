"""Messages of ranges of partitions, up to offsets that were fixed before.

A range ends by the place of its reader and not by a count: offsets may be missing, where a topic is compacted, where
transactions were aborted and where they end. Aborted messages are never seen.
Order: of each partition as in it; partitions in any order.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.clients import ClientErrorLog, KeptClients, bounds, consumer, explained, passes, unreachable
from metl_gui.engine.kafka.offsets import Place, gone
from metl_gui.engine.kafka.topic_orders import PATIENCE_SECONDS
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

BATCH_MESSAGES = 8192
BATCH_BYTES = 16 << 20
_FIRST_BYTES = 1024
_POLL_SECONDS = 0.1
_DOUBT_SECONDS = 5.0
"""After this long without a message, whether a partition still reaches to where it is read is asked for."""

_ASK_SECONDS = 5.0

_UNKNOWN = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
"""Said of a topic that is gone."""


class OffsetRange(NamedTuple):
    """The messages of a partition from one offset up to another."""

    topic: str
    partition: int
    start: int
    stop: int


class RangeReader:
    """Reads some ranges of different partitions.

    Args:
        servers: whom to ask.
        wanted: the ranges; a partition stands in one of them at most.
        patience_seconds: how long servers may be silent.

    Attributes:
        notes: what a person should know of what was read.
    """

    def __init__(
        self, servers: KafkaServers, wanted: Iterable[OffsetRange], patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self.servers = servers
        self.patience_seconds = patience_seconds
        self.notes: list[str] = []
        ranges = [one for one in wanted if one.start < one.stop]
        self._stops: dict[Place, int] = {(one.topic, one.partition): one.stop for one in ranges}
        self._nexts: dict[Place, int] = {(one.topic, one.partition): one.start for one in ranges}
        self._missed: set[Place] = set()
        self._mean_bytes = float(_FIRST_BYTES)

    def batches(self) -> Iterator[list[Message]]:
        """Yield the messages, many at a time.

        Raises:
            RunError: servers do not answer or refuse, or a topic is gone.
        """
        if not self._stops:
            return
        client = _CONSUMERS.take(self.servers) or _Client(self.servers)
        try:
            yield from self._read(client.consumer, client.said)
        except KafkaException as error:
            client.close()
            raise explained(self.servers, error, client.said) from error
        except BaseException:
            client.close()
            raise
        _CONSUMERS.keep(self.servers, client)

    def _read(self, reader: Consumer, said: ClientErrorLog) -> Iterator[list[Message]]:
        reader.assign([TopicPartition(*place, offset) for place, offset in self._nexts.items()])
        heard = doubted = time.monotonic()
        while self._stops:
            found = reader.consume(self._how_many(), _POLL_SECONDS)
            now = time.monotonic()
            taken = self._taken(reader, found)
            if taken:
                yield taken
                # Whoever takes them may be slow.
                heard = doubted = time.monotonic()
            elif found:
                heard = now
            elif now - heard > self.patience_seconds:
                raise unreachable(self.servers, said.last or "they say nothing")
            elif now - doubted > _DOUBT_SECONDS:
                doubted = now
                self._doubt(reader)
        reader.unassign()

    def _how_many(self) -> int:
        """Return how many messages to wait for: never more than may come, so that the last ones come at once."""
        left = sum(stop - self._nexts[place] for place, stop in self._stops.items())
        return max(1, min(left, BATCH_MESSAGES, int(BATCH_BYTES / self._mean_bytes)))

    def _taken(self, reader: Consumer, found: Sequence[Message]) -> list[Message]:
        """Choose the messages that are wanted, and heed the signs among them."""
        taken: list[Message] = []
        stops, nexts = self._stops, self._nexts
        size = 0
        for message in found:
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            if message.error() is not None:
                self._heed(reader, message)
                continue
            place = topic or "", partition or 0
            stop = stops.get(place)
            if stop is None or offset is None:
                continue
            if offset < stop:
                taken.append(message)
                size += len(message)
                nexts[place] = offset + 1
                self._missed.discard(place)
            if offset >= stop - 1:
                self._end(reader, place)
        if taken:
            self._mean_bytes = max(size / len(taken), 1.0)
        return taken

    def _end(self, reader: Consumer, place: Place) -> None:
        del self._stops[place]
        reader.incremental_unassign([TopicPartition(*place)])

    def _heed(self, reader: Consumer, sign: Message) -> None:
        """Heed what is told among messages.

        Raises:
            KafkaException: it is an error that does not go by itself.
        """
        error: Any = sign.error()
        place = sign.topic() or "", sign.partition() or 0
        if error.code() == KafkaError._PARTITION_EOF:
            offset = sign.offset()
            if place in self._stops and offset is not None and offset >= self._stops[place]:
                self._end(reader, place)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            if place in self._stops:
                self._look_again(reader, place)
        elif error.code() in _UNKNOWN:
            raise self._went(place)
        elif not passes(error):
            raise KafkaException(error)

    def _doubt(self, reader: Consumer) -> None:
        """Ask about partitions of which nothing comes: what was there may be gone.

        Raises:
            RunError: a topic is gone.
        """
        for place in list(self._stops):
            try:
                self._look_again(reader, place, is_sure=False)
                self._missed.discard(place)
            except KafkaException as error:
                if error.args[0].code() not in _UNKNOWN:
                    return  # the servers are away; patience decides
                if place in self._missed:
                    raise self._went(place) from error
                self._missed.add(place)  # servers that were started a moment ago may not know it yet

    def _went(self, place: Place) -> RunError:
        return RunError(
            f"Topic {place[0]} went while it was read.",
            f"{self.servers.shown} does not have {place[0]}/{place[1]} any more.",
            "Look who deleted it, then run again.",
        )

    def _look_again(self, reader: Consumer, place: Place, *, is_sure: bool = True) -> None:
        """Go on where a partition begins or ends now.

        Args:
            reader: the client.
            place: the partition.
            is_sure: its next offset is known not to be there.
        """
        next_, stop, name = self._nexts[place], self._stops[place], f"{place[0]}/{place[1]}"
        begin, end = bounds(reader, TopicPartition(*place), _ASK_SECONDS)
        if begin > next_:
            self.notes.append(gone(name, next_, min(begin, stop)))
            if begin >= stop:
                self._end(reader, place)
                return
            self._nexts[place] = begin
            self._go_to(reader, place, begin)
        elif end < stop:
            lost = f"{stop - max(end, next_):,} offsets"
            self.notes.append(
                f"{name} ends at offset {end:,} now; the records up to {stop:,} ({lost}) that were there when it was "
                "listed are gone, and lost to this run."
            )
            self._end(reader, place)
        elif is_sure:
            self._go_to(reader, place, next_)

    def _go_to(self, reader: Consumer, place: Place, offset: int) -> None:
        """Read a partition on from an offset; it stands still since its last was not there, so there is no seeking."""
        reader.incremental_unassign([TopicPartition(*place)])
        reader.incremental_assign([TopicPartition(*place, offset)])


class _Client:
    """A consumer, and what it says of its connections."""

    def __init__(self, servers: KafkaServers) -> None:
        self.said = ClientErrorLog()
        self.consumer = consumer(
            servers,
            self.said,
            # At the end of a partition a broker waits this long before it says so.
            fetch_wait_max_ms=50,
            # What is fetched beyond a range is fetched again for the next one.
            queued_max_messages_kbytes=16_384,
            max_poll_interval_ms=86_400_000,
        )

    def close(self) -> None:
        self.consumer.close()


_CONSUMERS = KeptClients(_Client.close, 1)


def close_clients() -> None:
    """Close what this process keeps open between two uses."""
    _CONSUMERS.close_all()
