"""What a lane has committed, read from its group and topics: the only memory that it has.

Whoever asks needs no session of Spark and may be anybody: the driver four times a second, a report after a kill.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from metl_gui.core.runs.kafka import LOAD_TOPICS
from metl_gui.core.runs.report import Tally
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, consumer, explained, in_words, retry_until_available
from metl_gui.engine.kafka.offsets import LATEST_OFFSET, Lister
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, read_metadata
from metl_gui.engine.lanes.order import PartitionId, lane_topic
from metl_gui.engine.lanes.topic import read_bases

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_HEARD_SECONDS = 0.2
_PLACES_SECONDS = 3.0
"""How long it is known which partitions there are: a large cluster answers that with megabytes."""

_Answer = TypeVar("_Answer")


class Committed:
    """What stands in the offsets of a group.

    Args:
        lister: what the lane reads, and the client that asks.
        group: the group.
    """

    def __init__(self, lister: Lister, group: str) -> None:
        self.lister = lister
        self.group = group
        self._bases: dict[PartitionId, tuple[int, Tally]] = {}
        self._asking: Consumer | None = None
        self._listed = float("-inf")
        self._places: tuple[PartitionId, ...] = ()
        self._load_places: tuple[PartitionId, ...] = ()

    def places(self) -> tuple[PartitionId, ...]:
        """Return the partitions that the lane reads; as of some seconds ago.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        now = time.monotonic()
        if now - self._listed > _PLACES_SECONDS:
            self._places = tuple(PartitionId(*place) for place in self.lister.places())
            self._load_places = self._listed_load_places()
            self._listed = now
        return self._places

    def offsets(self) -> dict[PartitionId, TopicPartition]:
        """Return what was committed of each partition, with its metadata; of this moment, also within a transaction.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        servers, said = self.lister.servers, self.lister.said
        places = [TopicPartition(*place) for place in (*self.places(), *self._load_places)]
        with in_words(servers, said, f"group {self.group}"):
            found = self._patiently(lambda: self._client.committed(places, ANSWER_SECONDS)) if places else []
        return {PartitionId(one.topic, one.partition): one for one in found if one.error is None and one.offset >= 0}

    def commit(self, offsets: Sequence[TopicPartition]) -> None:
        """Commit offsets with their metadata, while nobody is at work in the group.

        Raises:
            RunError: somebody is, or the servers do not answer or refuse.
        """
        with in_words(self.lister.servers, self.lister.said, f"group {self.group}"):
            self._patiently(lambda: self._client.commit(offsets=list(offsets), asynchronous=False))

    def close(self) -> None:
        """Let go of the servers."""
        if self._asking is not None:
            self._asking.close()
            self._asking = None

    @property
    def _client(self) -> Consumer:
        """The client that asks. A consumer, as those for administration end the process when a coordinator moves."""
        if self._asking is None:
            with in_words(self.lister.servers):
                self._asking = consumer(
                    self.lister.servers,
                    self.lister.said,
                    group_id=self.group,
                    # What is committed stands there while the next transaction is on its way; else that is waited for.
                    isolation_level="read_uncommitted",
                )
        return self._asking

    def _patiently(self, ask: Callable[[], _Answer]) -> _Answer:
        """Ask again while the servers choose who answers for the group."""
        try:
            return retry_until_available(ask, ANSWER_SECONDS)
        except KafkaException:
            self._hear_why()
            raise

    def _hear_why(self) -> None:
        """Hear why there was no answer: that a group is forbidden comes as a message, while the question waits."""
        heard = self._client.poll(_HEARD_SECONDS)
        why = heard.error() if heard is not None else None
        if why is not None:
            self.lister.said(why)

    def _listed_load_places(self) -> tuple[PartitionId, ...]:
        """Return the partitions of the topics by which initial loads keep how far they are."""
        with in_words(self.lister.servers, self.lister.said):
            topics = self.lister.admin.list_topics(timeout=ANSWER_SECONDS).topics
        names = sorted(name for name in topics if name.startswith(LOAD_TOPICS))
        return tuple(PartitionId(name, number) for name in names for number in topics[name].partitions)

    def notes(self, run_id: str) -> dict[PartitionId, tuple[int, OffsetMetadata]]:
        """Return where this run is in each partition of which it committed anything, and what stands with it.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        notes = self.all_notes()
        return {place: (offset, note) for place, (offset, note) in notes.items() if note.run == run_id}

    def all_notes(self) -> dict[PartitionId, tuple[int, OffsetMetadata]]:
        """Return the same of all runs that were at work in the group: of each partition the last that committed there.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        notes = {place: (one.offset, read_metadata(one.metadata)) for place, one in self.offsets().items()}
        return {place: (offset, note) for place, (offset, note) in notes.items() if note is not None}

    def tally(self, place: PartitionId, note: OffsetMetadata) -> Tally:
        """Return the counts of a partition, such that those of all partitions add up.

        Raises:
            RunError: as of ``counted``.
        """
        return Tally() if note.is_carried else self.counted(place, note)

    def counted(self, place: PartitionId, note: OffsetMetadata) -> Tally:
        """Return the counts that stand with a partition, also where another has them among its own.

        Raises:
            RunError: counts that lie in the lane's topic cannot be read.
        """
        tally = Tally()
        if note.base:
            number, base = self._bases.get(place, (0, Tally()))
            if number != note.base:
                base = read_bases(self.lister.servers, lane_topic(self.group), {place: note.base})[place]
                self._bases[place] = note.base, base
            tally.add(base)
        tally.add(note.tally)
        return tally

    def ends(self, places: Iterable[PartitionId]) -> Mapping[PartitionId, int]:
        """Return where what is committed in each partition ends.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        found = self.lister.offsets(places, LATEST_OFFSET)
        return {PartitionId(*place): offset for place, offset in found.items()}

    def begin_at(self, starts: Mapping[PartitionId, int]) -> None:
        """Commit where to begin in partitions of which nothing was committed yet.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        wanted = [TopicPartition(*place, offset) for place, offset in starts.items()]
        if not wanted:
            return
        try:
            self._patiently(lambda: self._client.commit(offsets=wanted, asynchronous=False))
        except KafkaException as error:
            if error.args[0].code() not in HAS_MEMBERS:
                raise explained(self.lister.servers, error, self.lister.said) from error


HAS_MEMBERS = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS})
"""Others are at work in the group already, and began where they were told to."""
