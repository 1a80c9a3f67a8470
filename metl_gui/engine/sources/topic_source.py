"""Topics as the source of a run that ends: listed once, up to the offsets that they had then.

Units: ranges are of offsets, so ``bytes_total`` counts records here, those that compaction took away included.
Order: partitions by topic and number.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from metl_gui.core.dimensional.rows.replays import CoveredRange
from metl_gui.core.runs.kafka import KafkaServers, is_kafka, parse_address, parse_start
from metl_gui.core.runs.limits import LIMIT_BYTES, TOO_LARGE
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.kafka.clients import (
    ANSWER_SECONDS,
    ClientErrorLog,
    admin,
    consumer,
    in_words,
    retry_until_available,
)
from metl_gui.engine.kafka.consumer import OffsetRange
from metl_gui.engine.kafka.offsets import Lister, start_offsets
from metl_gui.engine.kafka.replay_marks import ReasonMark, keep_marks, kept_marks, marks_topic
from metl_gui.engine.kafka.topic_orders import ALL_REASONS, TopicReading, WaitingRecords
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.files import FileRange, SourceFile
from metl_gui.engine.sources.source import partition_file
from metl_gui.errors import RunError

_log = logging.getLogger(__name__)

MIN_RANGE_RECORDS: Final = 20_000
"""A task costs about as much as reading so many records."""

MAX_RANGE_RECORDS: Final = 500_000


class TopicSource:
    """Topics of records.

    Args:
        spec: the run.

    Raises:
        RunError: servers do not answer or refuse, or a topic is not there.
    """

    is_error_store = False
    is_typed = False

    def __init__(self, spec: RunSpec) -> None:
        self.servers = _servers_of(spec)
        self.is_ordered = is_kafka(spec.sink.address)
        lister = Lister(self.servers, parse_address(spec.source.address))
        listed = lister.listed()
        self.topic_ids = {one.topic: one.topic_id for one in listed}
        starts, self.notes = start_offsets(lister, listed, parse_start(spec.source.start))
        self.wanted = [
            OffsetRange(one.topic, one.partition, starts[one.topic, one.partition], one.end) for one in listed
        ]

    @property
    def topics(self) -> TopicReading:
        """How they are read."""
        return TopicReading(self.servers)

    @property
    def files(self) -> int:
        """How many partitions there are."""
        return len(self.wanted)

    @property
    def bytes_total(self) -> int:
        """How many records there are, at most."""
        return sum(one.stop - one.start for one in self.wanted)

    def cut(self, limit: int | None, cores: int) -> tuple[list[SourceFile], list[list[FileRange]]]:
        """Cut the partitions into the ranges of tasks."""
        if limit is not None:
            cores = 0
        return cut_partitions(self.wanted, cores, is_ordered=self.is_ordered)

    def problems(self, files: list[SourceFile]) -> tuple[str, ...]:
        """Describe what a person should know of the topics."""
        del files
        return self.notes

    def log_names(self) -> dict[str, str]:
        """Return nothing: topics are called by their names."""
        return {}

    def covered(self) -> tuple[CoveredRange, ...]:
        """Return the offsets of each partition."""
        return tuple(CoveredRange(one.topic, one.partition, one.start, one.stop) for one in self.wanted)

    def before_commit(self, staging: Staging) -> None:
        """Do nothing: topics stay as they are."""

    def after_commit(self) -> None:
        """Do nothing: topics stay as they are."""

    def on_discard(self) -> None:
        """Do nothing: topics stay as they are."""


class ErrorTopicSource(TopicSource):
    """What waits in an error topic.

    How far replays are stands in offsets committed by groups of the topic's own: one for all reasons and one for each,
    those of tests apart from those of production, which are kept in a topic too (``replay_marks``). A record waits
    when it lies behind neither. What a replay sets aside again goes to the end of the topic, where it waits for the
    next one.

    Args:
        spec: the replay.
        is_marked: it commits how far it is.

    Raises:
        RunError: servers do not answer or refuse, or the topic is not there.
    """

    def __init__(self, spec: RunSpec, *, is_marked: bool = False) -> None:
        super().__init__(spec)
        if spec.source.replay is None:
            raise ValueError("the run is no replay")
        self.is_marked = is_marked
        self.reasons = spec.source.replay.reasons
        self.is_again = spec.source.replay.is_again
        self.mode = spec.policy.mode
        self.is_with_large = TOO_LARGE in self.reasons or spec.source.max_record_bytes != LIMIT_BYTES
        self.topic = parse_address(spec.source.address).topics[0]
        self.behind = {} if self.is_again else self._behind()
        self.wanted = [self._from_first(one) for one in self.wanted]

    @property
    def topics(self) -> TopicReading:
        """How they are read."""
        waiting = WaitingRecords(self.reasons, self.behind, self.is_again, self.is_with_large)
        return TopicReading(self.servers, waiting)

    @property
    def _meant(self) -> tuple[str, ...]:
        """The reasons that have a mark of their own."""
        return self.reasons or (ALL_REASONS, *((TOO_LARGE,) if self.is_with_large else ()))

    def covered(self) -> tuple[CoveredRange, ...]:
        """Return nothing: single records of many ranges wait in an error topic."""
        return ()

    def before_commit(self, staging: Staging) -> None:
        """Do nothing: what is committed after the messages are acknowledged is enough."""

    def after_commit(self) -> None:
        """Commit how far this replay is.

        Raises:
            RunError: the servers do not take it; the error says what that means.
        """
        if not self.is_marked:
            return
        offsets = [TopicPartition(one.topic, one.partition, one.stop) for one in self.wanted]
        for reason in self._meant:
            self._commit(reason, offsets)
        # Where topics have no ids, nobody could tell for which topic of this name a mark holds.
        if self.mode == "production" and (topic_id := self.topic_ids.get(self.topic)):
            kept = [
                ReasonMark(reason, one.partition, one.stop, topic_id) for reason in self._meant for one in self.wanted
            ]
            try:
                keep_marks(self.servers, self._marks_topic, kept)
            except RunError as error:
                # The groups have them for a week at least.
                _log.warning("how far the replay is cannot be kept in %s: %s", self._marks_topic, error)

    def _from_first(self, one: OffsetRange) -> OffsetRange:
        """Leave out what is behind for each of the reasons that are meant."""
        waiting, partition = WaitingRecords(behind=self.behind), f"{one.topic}/{one.partition}"
        least = min(waiting.read_to(partition, reason) for reason in self._meant)
        return one._replace(start=min(max(one.start, least), one.stop))

    def _behind(self) -> dict[str, dict[str, int]]:
        """Ask how far replays are: of the reasons that are meant, and of all those that have a group."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        places = [TopicPartition(one.topic, one.partition) for one in self.wanted]
        for reason in (ALL_REASONS, *(self.reasons or self._known_reasons())):
            for place, offset in self._committed(reason, places).items():
                found[place][reason] = offset
        for mark in kept_marks(self.servers, self._marks_topic) if self.mode == "production" else ():
            if mark.topic_id and mark.topic_id == self.topic_ids.get(self.topic):
                of_place = found[f"{self.topic}/{mark.partition}"]
                of_place[mark.reason] = max(of_place.get(mark.reason, 0), mark.offset)
        return dict(found)

    def _known_reasons(self) -> Sequence[str]:
        """Return the reasons of which replays have left a mark."""
        head, said = self._group(ALL_REASONS) + ".", ClientErrorLog()
        with in_words(self.servers, said):
            # Nobody answers any more once the client is gone.
            client = admin(self.servers, said)
            listed = client.list_consumer_groups(request_timeout=ANSWER_SECONDS).result().valid or ()
        return sorted(one.group_id.removeprefix(head) for one in listed if one.group_id.startswith(head))

    def _commit(self, reason: str, offsets: list[TopicPartition]) -> None:
        with self._client(reason) as client:
            retry_until_available(lambda: client.commit(offsets=offsets, asynchronous=False), ANSWER_SECONDS)

    def _committed(self, reason: str, places: list[TopicPartition]) -> Mapping[str, int]:
        with self._client(reason) as client:
            found = retry_until_available(lambda: client.committed(places, timeout=ANSWER_SECONDS), ANSWER_SECONDS)
        return {f"{one.topic}/{one.partition}": one.offset for one in found if one.offset > 0}

    @contextlib.contextmanager
    def _client(self, reason: str) -> Iterator[Consumer]:
        """Ask as the group that marks how far replays for a reason are."""
        said = ClientErrorLog()
        with in_words(self.servers, said, f"group {self._group(reason)}"):
            client = consumer(self.servers, said, group_id=self._group(reason))
            try:
                yield client
            finally:
                client.close()

    @property
    def _marks_topic(self) -> str:
        return marks_topic(self.mode, self.topic)

    def _group(self, reason: str) -> str:
        return f"metl-replay.{self.mode}.{self.topic}{f'.{reason}' if reason else ''}"


def cut_partitions(
    wanted: Iterable[OffsetRange], cores: int, *, is_ordered: bool
) -> tuple[list[SourceFile], list[list[FileRange]]]:
    """Cut what is read of partitions into tasks of about the same length; small ranges share one.

    Args:
        wanted: the ranges, one of each partition.
        cores: how many tasks run at once; 0 for one task.
        is_ordered: a partition is one task's, because what it makes of it is not put into order again.

    Returns:
        What stands for the partitions, and the ranges of each task; a task has one range of a partition at most.
    """
    ranges = [one for one in wanted if one.start < one.stop]
    files = [partition_file(one.topic, one.partition, one.stop) for one in ranges]
    if not cores:
        return files, [[FileRange(at, one.start, one.stop) for at, one in enumerate(ranges)]]
    total = sum(one.stop - one.start for one in ranges)
    rounds = -(-total // (cores * MAX_RANGE_RECORDS)) or 1
    step = max(-(-total // (cores * rounds)), MIN_RANGE_RECORDS)
    tasks: list[list[FileRange]] = []
    room = 0
    for at, one in enumerate(ranges):
        width = one.stop - one.start if is_ordered else step
        for start in range(one.start, one.stop, width):
            part = FileRange(at, start, min(start + width, one.stop))
            size = part.stop - part.start
            if not tasks or size > room or any(other.file == at for other in tasks[-1]):
                tasks.append([])
                room = step
            tasks[-1].append(part)
            room -= size
    return files, tasks or [[]]


def _servers_of(spec: RunSpec) -> KafkaServers:
    servers = spec.servers_of("source")
    if servers is None:
        raise ValueError("the source is not in Kafka")
    return servers
