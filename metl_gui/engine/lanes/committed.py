"""What a lane has committed, read from its group and topics: the only memory that it has.

Whoever asks needs no session of Spark and may be anybody: the driver four times a second, a report after a kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition

from metl_gui.engine.kafka.clients import ANSWER_SECONDS, explained, in_words
from metl_gui.engine.kafka.listing import LATEST, Lister
from metl_gui.engine.lanes.lane_order import Place, lane_topic
from metl_gui.engine.lanes.lane_topic import read_bases
from metl_gui.engine.lanes.offset_notes import OffsetNote, read_note
from metl_gui.engine.report import Tally


class Committed:
    """What stands in the offsets of a group.

    Args:
        lister: what the lane reads, and the client that asks.
        group: the group.
    """

    def __init__(self, lister: Lister, group: str) -> None:
        self.lister = lister
        self.group = group
        self._bases: dict[Place, tuple[int, Tally]] = {}

    def offsets(self) -> dict[Place, TopicPartition]:
        """Return what was committed of each partition, with its metadata; of this moment, also within a transaction.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        with in_words(self.lister.servers, self.lister.said):
            asked = [ConsumerGroupTopicPartitions(self.group)]
            answer = self.lister.admin.list_consumer_group_offsets(asked, request_timeout=ANSWER_SECONDS)
            found = answer[self.group].result().topic_partitions
        return {Place(one.topic, one.partition): one for one in found if one.offset >= 0}

    def notes(self, run_id: str) -> dict[Place, tuple[int, OffsetNote]]:
        """Return where this run is in each partition of which it committed anything, and what stands with it.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        notes = {place: (one.offset, read_note(one.metadata)) for place, one in self.offsets().items()}
        return {place: (offset, note) for place, (offset, note) in notes.items() if note and note.run == run_id}

    def tally(self, place: Place, note: OffsetNote) -> Tally:
        """Return the counts of a partition.

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

    def ends(self, places: Iterable[Place]) -> Mapping[Place, int]:
        """Return where what is committed in each partition ends.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        found = self.lister.offsets(places, LATEST)
        return {Place(*place): offset for place, offset in found.items()}

    def begin_at(self, starts: Mapping[Place, int]) -> None:
        """Commit where to begin in partitions of which nothing was committed yet.

        Raises:
            RunError: the servers do not answer or refuse.
        """
        wanted = [TopicPartition(*place, offset) for place, offset in starts.items()]
        if not wanted:
            return
        asked = [ConsumerGroupTopicPartitions(self.group, wanted)]
        try:
            answer: Any = self.lister.admin.alter_consumer_group_offsets(asked, request_timeout=ANSWER_SECONDS)
            answer[self.group].result()
        except KafkaException as error:
            if error.args[0].code() not in _HAS_MEMBERS:
                raise explained(self.lister.servers, error, self.lister.said) from error


_HAS_MEMBERS = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NON_EMPTY_GROUP, KafkaError.REBALANCE_IN_PROGRESS})
"""Others are at work in the group already, and began where they were told to."""
