"""Partitions that an address means, the offsets they hold, and the offsets at which reading begins.

Partitions are listed once before a run, and again while it follows. The end of a partition is where what is committed
ends, so that a bounded run waits for no open transaction.

Units: offsets count records, with holes where topics are compacted and where transactions end.
Order: partitions by topic and number.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition, Uuid
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]  # its own name, marked as another's
from confluent_kafka.cimpl import OFFSET_SPEC_EARLIEST, OFFSET_SPEC_LATEST

from metl_gui.core.runs.kafka import LATEST, KafkaAddress, KafkaServers, Start, is_internal
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, NO_LEADER, ClientErrorLog, admin, explained, in_words
from metl_gui.errors import RunError, near_names

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin import AdminClient


_SHOWN = 5
_AGAIN_SECONDS = 0.5
_PATIENCE_SECONDS = 8.0
_MISSING_SECONDS = 3.0
EARLIEST_OFFSET: Final = OFFSET_SPEC_EARLIEST
LATEST_OFFSET: Final = OFFSET_SPEC_LATEST
Place = tuple[str, int]

_PASSING = NO_LEADER | {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._NOENT}
"""What servers say of a partition that is there, until all of them know it and who answers for it.

The client says ``_NOENT`` where nobody answers for any of the partitions, as while the only broker comes back.
"""


class ListedPartition(msgspec.Struct, frozen=True):
    """One partition as it was listed.

    Args:
        topic, partition: its name.
        begin: the first offset that is still there.
        end: one past the last that is committed.
        topic_id: another one once the topic was deleted and made again.
    """

    topic: str
    partition: int
    begin: int
    end: int
    topic_id: str = ""

    @property
    def name(self) -> str:
        """What positions of its records begin with."""
        return f"{self.topic}/{self.partition}"


class Lister:
    """Lists what an address means, again and again.

    Args:
        servers: whom to ask.
        address: topics by name, or a pattern.
        is_strict: refuse topics that are named and not there; else they may come later.
    """

    def __init__(self, servers: KafkaServers, address: KafkaAddress, *, is_strict: bool = True) -> None:
        self.servers = servers
        self.address = address
        self.is_strict = is_strict
        self.said = ClientErrorLog()
        self._admin: AdminClient | None = None

    @property
    def admin(self) -> AdminClient:
        """The client that asks; made once."""
        if self._admin is None:
            with in_words(self.servers):
                self._admin = admin(self.servers, self.said)
        return self._admin

    def listed(self) -> tuple[ListedPartition, ...]:
        """List all partitions that are there now.

        Raises:
            RunError: servers do not answer or refuse, or a topic is not there.
        """
        places = self.places()
        begins = self.offsets(places, EARLIEST_OFFSET)
        ends = self.offsets(places, LATEST_OFFSET)
        ids = self._ids({topic for topic, _ in places})
        return tuple(
            # What retention takes away between the two questions was there when the first was answered.
            ListedPartition(*place, begins[place], max(ends[place], begins[place]), ids.get(place[0], ""))
            for place in places
            if place in begins and place in ends
        )

    def topics(self) -> frozenset[str]:
        """Return the names of all topics that are there now, whatever the address means.

        Raises:
            RunError: servers do not answer or refuse.
        """
        return frozenset(self._partitions())

    def places(self) -> list[Place]:
        """Return topic and number of each partition.

        Raises:
            RunError: as of ``listed``.
        """
        found = self._partitions()
        if self.is_strict and not self._fits(found):
            # What was just made is shown a moment later.
            time.sleep(_AGAIN_SECONDS)
            found = self._partitions()
        return [(topic, number) for topic in sorted(self._meant(found)) for number in range(found[topic])]

    def missing(self, places: Iterable[Place]) -> set[Place]:
        """Return those of some partitions that are gone, whatever the address means.

        Topics are asked for by name, as a list of all leaves out those that a user may not see, and asked for twice:
        servers that were started a moment ago may not know them yet.

        Raises:
            RunError: servers do not answer, or refuse.
        """
        left = self._unknown(places)
        if left:
            time.sleep(_MISSING_SECONDS)
            left = self._unknown(left)
        return left

    def _unknown(self, places: Iterable[Place]) -> set[Place]:
        """Ask once which partitions are not known."""
        wanted = set(places)
        topics = TopicCollection(sorted({topic for topic, _ in wanted}))
        with in_words(self.servers, self.said):
            futures = self.admin.describe_topics(topics, request_timeout=ANSWER_SECONDS) if wanted else {}
        numbers: dict[str, set[int]] = {}
        for name, future in futures.items():
            try:
                numbers[name] = {one.id for one in future.result().partitions}
            except KafkaException as error:
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    numbers[name] = set()
                elif error.args[0].code() not in NO_LEADER:
                    raise explained(self.servers, error, self.said, name) from error
        return {(topic, number) for topic, number in wanted if topic in numbers and number not in numbers[topic]}

    def offsets(self, places: Iterable[Place], wanted: int) -> dict[Place, int]:
        """Ask for one offset of each partition; those that went meanwhile are left out.

        Args:
            places: topic and number of each.
            wanted: ``EARLIEST_OFFSET``, ``LATEST_OFFSET``, or a time in milliseconds: the first record at or after it,
                -1 for none.

        Raises:
            RunError: servers do not answer or refuse.
        """
        found: dict[Place, int] = {}
        left = set(places)
        end = time.monotonic() + _PATIENCE_SECONDS
        while left:
            answers, troubles = self._asked(left, wanted)
            found |= answers
            # Of a topic that was just made not every server knows yet, nor who answers for it.
            there = self._partitions() if troubles else {}
            left = {place for place, error in troubles.items() if place[1] < there.get(place[0], 0)}
            if left and time.monotonic() > end:
                trouble = troubles[min(left)]
                raise explained(self.servers, trouble, self.said) from trouble
            if left:
                time.sleep(_AGAIN_SECONDS)
        return found

    def _asked(self, places: Iterable[Place], wanted: int) -> tuple[dict[Place, int], dict[Place, KafkaException]]:
        """Ask once; errors that go by are returned, others raised."""
        specs: Any = OffsetSpec
        asked = {TopicPartition(topic, number): specs(wanted) for topic, number in places}
        with in_words(self.servers, self.said):
            futures = self.admin.list_offsets(
                asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_SECONDS
            )
        answers: dict[Place, int] = {}
        troubles: dict[Place, KafkaException] = {}
        for key, future in futures.items():
            try:
                answers[key.topic, key.partition] = future.result().offset
            except KafkaException as error:
                if error.args[0].code() not in _PASSING:
                    raise explained(self.servers, error, self.said) from error
                troubles[key.topic, key.partition] = error
        return answers, troubles

    def _partitions(self) -> dict[str, int]:
        """Return how many partitions each topic has."""
        with in_words(self.servers, self.said):
            topics = self.admin.list_topics(timeout=ANSWER_SECONDS).topics
        return {name: len(topic.partitions) for name, topic in topics.items() if topic.error is None}

    def _fits(self, found: Mapping[str, int]) -> bool:
        """Whether every topic that is named is there, or one that fits the pattern."""
        pattern = self.address.pattern
        return bool(fitting(pattern, found)) if pattern else found.keys() >= set(self.address.topics)

    def _meant(self, found: Mapping[str, int]) -> set[str]:
        if self.address.pattern:
            meant = fitting(self.address.pattern, found)
            if not meant and self.is_strict:
                raise _no_match(self.servers, self.address.pattern, found)
            return meant
        missing = [topic for topic in self.address.topics if topic not in found]
        if missing and self.is_strict:
            raise unknown_topic(self.servers, missing[0], found)
        return set(self.address.topics) & found.keys()

    def _ids(self, topics: set[str]) -> dict[str, str]:
        """Ask for the ids of topics; servers before 3.1, and those that tell nobody, have none."""
        return topic_ids(describe_topics(self.admin, topics, ANSWER_SECONDS))


Descriptions = Mapping[str, "Future[Any]"]
"""What servers answer about topics, by name, once they do."""

_NO_ID = str(Uuid(0, 0))
"""What servers before 3.1 have for the id of every topic."""


def describe_topics(client: AdminClient, topics: Iterable[str], seconds: float) -> Descriptions:
    """Ask about topics, without waiting for the answers.

    Args:
        client: what asks.
        topics: their names.
        seconds: how long the answers may take.
    """
    wanted = sorted(topics)
    with contextlib.suppress(KafkaException, ValueError):
        return client.describe_topics(TopicCollection(wanted), request_timeout=seconds) if wanted else {}
    return {}


def topic_ids(descriptions: Descriptions) -> dict[str, str]:
    """Return the ids of topics, without those that have none: a topic that is made again has another one.

    Args:
        descriptions: what was asked about them; those that are not there yet are waited for.
    """
    found: dict[str, str] = {}
    for name, future in descriptions.items():
        with contextlib.suppress(KafkaException):  # it went
            found[name] = str(future.result().topic_id)
    return {name: topic_id for name, topic_id in found.items() if topic_id != _NO_ID}


def fitting(pattern: str, topics: Iterable[str]) -> set[str]:
    """Return the topics that a pattern fits whole, without those that hold no records of anybody."""
    fits = re.compile(pattern).fullmatch
    return {topic for topic in topics if fits(topic) and not is_internal(topic)}


def unknown_topic(servers: KafkaServers, topic: str, there: Iterable[str]) -> RunError:
    """Return the error that a topic is not there, with names that are near."""
    names = [name for name in there if not is_internal(name)]
    return RunError(
        f"There is no topic {topic}.",
        f"{_shows(servers)} {_some(names)}.",
        near_names(topic, names) or "Check the name; topics by pattern begin with ^.",
    )


def _no_match(servers: KafkaServers, pattern: str, there: Iterable[str]) -> RunError:
    names = [name for name in there if not is_internal(name)]
    return RunError(
        "No topic fits the pattern.",
        f"{_shows(servers)} {_some(names)}; ^{pattern} fits none of them whole.",
        "A pattern fits a whole name: ^shop\\..* fits every topic that begins with shop.",
    )


def _shows(servers: KafkaServers) -> str:
    """Begin to say what servers have: to a user, only what that one may see."""
    user = servers.user
    return f"{servers.shown} shows the user {user}" if user else f"{servers.shown} has"


def _some(names: Sequence[str]) -> str:
    if not names:
        return "no topic yet"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(sorted(names)[:_SHOWN])}{more}"


def start_offsets(
    lister: Lister, partitions: Sequence[ListedPartition], start: Start
) -> tuple[dict[Place, int], tuple[str, ...]]:
    """Return at which offset each partition begins.

    Args:
        lister: asks for times.
        partitions: as listed.
        start: what was asked for.

    Returns:
        The offsets, and what a person should know of them.

    Raises:
        RunError: an offset is asked for that is not there yet, or a partition that is not there.
    """
    begins = {(one.topic, one.partition): one.begin for one in partitions}
    ends = {(one.topic, one.partition): one.end for one in partitions}
    if start.kind == LATEST:
        return ends, ()
    if start.kind == "time":
        found = lister.offsets(begins, start.time_ms)
        # Behind all records there is none at or after the time, which is told as -1.
        return {place: ends[place] if found.get(place, -1) < 0 else found[place] for place in begins}, ()
    if start.kind == "offsets":
        return _from_offsets(start, begins, ends)
    return begins, ()


def _from_offsets(
    start: Start, begins: dict[Place, int], ends: dict[Place, int]
) -> tuple[dict[Place, int], tuple[str, ...]]:
    told = []
    for (topic, partition), offset in start.offsets.items():
        place = topic, partition
        if place not in begins:
            raise RunError(f"{topic}/{partition} is not among what is read.", hint="Name partitions of the source.")
        if offset > ends[place]:
            raise RunError(
                f"{topic}/{partition} does not reach to offset {offset:,} yet.",
                f"It ends before offset {ends[place]:,}.",
                "Start at a lower offset, or at latest.",
            )
        if offset < begins[place]:
            told.append(gone(f"{topic}/{partition}", offset, begins[place]))
    return {place: max(start.offsets.get(place, begin), begin) for place, begin in begins.items()}, tuple(told)


def gone(name: str, wanted: int, begin: int) -> str:
    """Say that retention was faster than the run."""
    return (
        f"{name}: the records from offset {wanted:,} up to {begin:,} ({begin - wanted:,} offsets) were removed by the "
        "topic's retention before they were read; they are lost to this run."
    )
