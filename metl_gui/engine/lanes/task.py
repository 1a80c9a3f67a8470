"""One task of a fast lane, on an executor: consume, map and produce in transactions until the lane ends.

Each turn takes what is there, maps it partition by partition, and commits messages, set-aside records, offsets and
counts in one transaction. While that goes on the next records gather, so transactions are short while little flows and
long under load. Between two of them the task takes up states, obeys orders, and lets partitions come and go.

``commits_of`` tells what one transaction commits of each partition and each load. The counts of a load that is through
go over to the partition of its changes, in the transaction that commits its last row: the load's own offset goes with
its topic, and counts must add up whenever anybody looks.
"""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from confluent_kafka import OFFSET_BEGINNING, KafkaException, TopicPartition

from metl_gui.core.runs.report import Tally
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.kafka.records import by_partition
from metl_gui.engine.kafka.topic_messages import Outgoing
from metl_gui.engine.lanes.coordination.coordinator import StateCoordinator
from metl_gui.engine.lanes.coordination.member import CoordinationSettings
from metl_gui.engine.lanes.loads import Loads, LoadShare
from metl_gui.engine.lanes.mapper import MappedMessages, StateMappers
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, PartitionCounts, read_metadata
from metl_gui.engine.lanes.order import (
    Failure,
    LaneOrder,
    PartitionId,
    Trouble,
    counts_key,
    failed_key,
    gone_key,
    start_key,
    stop_key,
    topic_key,
    trouble_key,
)
from metl_gui.engine.lanes.partition_state import Commit, CommitContext, PartitionState
from metl_gui.engine.lanes.topic import LaneTopic, base_value, read_bases
from metl_gui.engine.lanes.transactional_client import TransactionalClient, explain_refusal, made_again
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka import Message


Keep = Callable[[int, bytes], None]
_NOTHING = MappedMessages([], Tally(), [])


def commits_of(
    mapped: Mapping[PartitionState, MappedMessages], facts: CommitContext, keeper: Callable[[PartitionState], Keep]
) -> list[Commit]:
    """Return what is committed.

    Args:
        mapped: what became of messages, by where they come from.
        facts: of the task.
        keeper: returns what takes counts that are too long for the metadata of an offset.
    """
    commits: list[Commit] = []
    through: dict[PartitionState, Commit] = {}
    for load, done in mapped.items():
        if isinstance(load, LoadShare) and _has_news(load, done):
            commit = load.commit(done.messages, done.tally, facts, keeper(load))
            commits.append(commit)
            if commit.note.is_carried and not load.note.is_carried:
                through[load.changes] = commit
    for share in dict.fromkeys((*mapped, *through)):
        done = mapped.get(share, _NOTHING)
        if not isinstance(share, LoadShare) and (share in through or _has_news(share, done)):
            commits.append(share.commit(done.messages, done.tally, facts, keeper(share), through.get(share)))
    return [commit for commit in commits if commit.position >= 0]


def _has_news(share: PartitionState, done: MappedMessages) -> bool:
    return bool(done.messages) or not share.held or not share.note.is_waiting


_log = logging.getLogger(__name__)
_MOST_MESSAGES = 8000
_MOST_BYTES = 16 << 20
_FIRST_BYTES = 1024.0
_POLL_SECONDS = 0.05
_LOOK_SECONDS = 0.005
_PATIENCE_SECONDS = 2.0
_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 3.0
_TELL_AFTER_SECONDS = 1.5
_TOPICS_SECONDS = 5.0
_NO_IDS_SECONDS = 50.0
_IDS_SECONDS = 1.0
_SAY_SECONDS = 5.0


class LaneTask:
    """One attempt of one task.

    Args:
        order: the lane's.
        number: of the task.
        plan: the compiled plan.
    """

    def __init__(self, order: LaneOrder, number: int, plan: bytes) -> None:
        self.order = order
        self.number = number
        self.shares: dict[PartitionId, PartitionState] = {}
        started_with = msgspec.structs.replace(order.run.mapping, plan=plan)
        self.mappers = StateMappers(order, started_with)
        self.words = LaneTopic(order.servers, order.lane_topic)
        self.loads = Loads(order, self.words, self._known_of, self._publish_lost)
        self.member = self._member(started_with) if order.run.mapping.matrix else None
        self._parent = os.getppid()
        self._bytes_each = _FIRST_BYTES
        self._has_new = False
        self._told = ""
        self._backoff_seconds = _BACKOFF_SECONDS
        self._failing_since: float | None = None
        self._looked = 0.0
        self._gone: dict[PartitionId, int] = {}
        self._ids_due = 0.0
        self._is_unsure = True

    def run(self) -> None:
        """Map until the lane ends, or this attempt is not needed any more."""
        # Few of the objects of a turn are in cycles, and looking through all of them takes longer than a transaction.
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        try:
            while not self._is_over():
                self._attempt()
        except RunError as error:
            self._fail(error)
        finally:
            self.loads.close()
            if self.member is not None:
                self.member.close()
            self.words.close()

    def on_assigned(self, committed: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
        """Return where assigned partitions are read from: behind their last transaction."""
        self.shares |= {place: PartitionState(place, *known) for place, known in self._known_of(committed).items()}
        self._has_new = True
        self._ids_due, self._is_unsure = 0.0, True
        if self.member is not None:
            self.member.reassigned()  # whoever had them may map with a state that this one has not heard of
        # A partition of which nothing was committed came while the lane runs, and is read from its beginning.
        return [
            TopicPartition(one.topic, one.partition, one.offset if one.offset >= 0 else OFFSET_BEGINNING)
            for one in committed
        ]

    def on_revoked(self, places: Iterable[PartitionId]) -> None:
        """Forget partitions: whoever has them now knows from their offsets what was done."""
        for place in places:
            self.shares.pop(place, None)

    def on_partition_eof(self, place: PartitionId, offset: int) -> None:
        """Note that there is nothing behind an offset for now."""
        if place in self.shares:
            self.shares[place].end = offset

    def on_offset_out_of_range(self, place: PartitionId, first: int, text: str) -> None:
        """Log and publish that records were gone before they were read; reading resumes behind them."""
        self._gone[place] = first
        if place in self.shares:
            self.shares[place].topic_id = ""  # it may be another one, of which the next answer tells
        self._publish_lost(place, text)

    def _publish_lost(self, place: PartitionId, text: str) -> None:
        """Publish that records were gone before they were read; it stays true once the task goes on."""
        _log.warning("%s: %s", place, text)
        trouble = Trouble(token=self.order.token, text=text)
        self.words.publish(gone_key(self.order.run_id, self.number, place), msgspec.json.encode(trouble))

    def _member(self, started_with: PlanState) -> StateCoordinator:
        order = self.order
        settings = CoordinationSettings(lane=order.group, is_counted=order.is_counted)
        instance = f"{order.run_id}/{self.number}"
        matrix = order.run.mapping.matrix
        return StateCoordinator(order.servers, matrix, instance, started_with, settings, self.mappers.prepare)

    def _attempt(self) -> None:
        """Map until something fails, and rest a while if it does."""
        self._wait_until_allowed()
        self.shares.clear()
        self._gone.clear()
        self._ids_due, self._is_unsure = 0.0, True
        self.loads.close()
        exchange: TransactionalClient | None = None
        try:
            exchange = TransactionalClient(self.order, self.number, self)
            exchange.open()
            while not self._is_over() and self._turn(exchange):
                pass
        except KafkaException as error:
            self._back_off(error, exchange)
        except RunError as error:
            # Put into words on the way, which says nothing of whether it goes by.
            if not isinstance(error.__cause__, KafkaException):
                raise
            self._back_off(error.__cause__, exchange)
        finally:
            if exchange is not None:
                exchange.close()

    def _turn(self, exchange: TransactionalClient) -> bool:
        """Do one transaction, if there is something for one; False to begin again at what is committed."""
        self._look_for_topics(exchange)
        if self.member is not None:
            self._activate(self.member)
            if not self.member.may_map and not self._wait_until_allowed(_PATIENCE_SECONDS):
                return False
            self._obey(exchange, self.member)
        self.loads.update(self.shares, exchange)
        batch = self._batch(exchange)
        self._compare_topics(exchange, has_read=bool(batch))
        if self._gone:
            self._skip_deleted(exchange)
            return False
        if batch and not self._may_map() and not self._wait_until_allowed(_PATIENCE_SECONDS):
            return False
        return not batch or self._deliver(exchange, batch)

    def _batch(self, exchange: TransactionalClient) -> dict[PartitionState, list[Message]]:
        """Return what there is to do by partition; no messages for one of which only things are told."""
        batch: dict[PartitionState, list[Message]] = {}
        for share in self.shares.values():
            if share.held and (share.is_retry_due or share.is_overdue(self.order.run.mapping.wait_seconds)):
                batch[share] = share.release(self.order.run.mapping.wait_seconds)
                exchange.resume(share.place)
        messages = exchange.take(self._most(), 0.0 if batch else _POLL_SECONDS)
        for place, some in by_partition(messages).items():
            found = self.shares.get(PartitionId(*place))
            if found is not None:
                batch.setdefault(found, []).extend(some)
        for share, changes in batch.items():
            self.loads.note(share.place, changes)
        if messages:
            self._bytes_each = max(1.0, 0.8 * self._bytes_each + 0.2 * sum(map(len, messages)) / len(messages))
        else:
            batch |= {share: [] for share in self.shares.values() if share.is_due and share not in batch}
        return batch | self.loads.batch(self.shares, self.order.run.mapping.wait_seconds)

    def _most(self) -> int:
        """Return how many messages the next transaction may have."""
        most = min(_MOST_MESSAGES, int(_MOST_BYTES / self._bytes_each))
        limit = self.order.run.source.limit
        return max(1, most if limit is None else min(most, limit - self._read))

    def _deliver(self, exchange: TransactionalClient, batch: dict[PartitionState, list[Message]]) -> bool:
        """Map and commit; False when it was taken back, as what this maps with is not agreed on any more."""
        mapped = {share: self._map(share, messages) for share, messages in batch.items()}
        kept: list[Outgoing] = []
        commits = commits_of(mapped, self._facts(), lambda share: self._keeper(share, kept))
        for share in batch:
            if share.held and share.place in self.shares:
                exchange.pause(share.place)
        if not commits:
            return True
        self._publish_beginnings(commits)
        exchange.begin()
        for done in mapped.values():
            exchange.send(done.outgoing)
        exchange.send(kept)
        if not exchange.commit([commit.offset for commit in commits], self._may_map):
            return False
        self._on_committed(commits)
        return True

    def _map(self, share: PartitionState, messages: list[Message]) -> MappedMessages:
        if isinstance(share, LoadShare):
            return share.map(self.mappers, messages)
        return self.mappers.map(share, messages)

    def _on_committed(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            commit.share.took(commit)
        self._backoff_seconds, self._failing_since = _BACKOFF_SECONDS, None
        self._publish_trouble("")

    def _publish_beginnings(self, commits: Sequence[Commit]) -> None:
        """Record the positions of partitions of which this task is about to map its first records."""
        new = [
            (commit.share.place, (commit.messages[0].offset() or 0) if commit.messages else commit.position)
            for commit in commits
            if commit.share.position < 0
        ]
        if self.member is not None and (self._has_new or new):
            self._has_new = False
            self._record_positions(self.member, new)

    def _obey(self, exchange: TransactionalClient, member: StateCoordinator) -> None:
        """Set partitions back to the offsets that somebody ordered."""
        for share in list(self.shares.values()):
            order = member.set_back(*share.place)
            if order is None or order.id == share.note.order:
                continue
            kept: list[Outgoing] = []
            commit = share.rewind(order.offset, order.id, self._facts(), self._keeper(share, kept))
            exchange.begin()
            exchange.send(kept)
            if exchange.commit([commit.offset], self._may_map):
                share.took(commit)
                exchange.seek(share.place, order.offset)
                member.confirm_order(order)

    def _compare_topics(self, exchange: TransactionalClient, *, has_read: bool) -> None:
        """Ask from time to time for the ids of the topics, and compare them when the answer is there.

        What was just read waits a moment for it, as it is not to be sent twice; a controller that is down may answer
        much later. Topics that have no ids are asked for seldom.

        Raises:
            KafkaException: the servers do not say where a topic begins.
        """
        now, seconds = time.monotonic(), 0.0
        self._is_unsure |= has_read
        if self._is_unsure and self.shares and now >= self._ids_due:
            exchange.request_topic_ids({place.topic for place in self.shares})
            self._ids_due, self._is_unsure = float("inf"), False
            seconds = _IDS_SECONDS if has_read else 0.0
        ids = exchange.received_topic_ids(seconds)
        if ids is not None:
            self._ids_due = now + (_TOPICS_SECONDS if ids else _NO_IDS_SECONDS)
            self._is_unsure |= not ids  # what was read meanwhile may be of another one
            self._note_topics(exchange, ids)

    def _note_topics(self, exchange: TransactionalClient, ids: Mapping[str, str]) -> None:
        """Note topics that are other ones by now: those of the same name may hold records at all offsets read so far.

        What was committed of a partition holds the id of its topic. So another one is noticed whatever was stopped,
        killed or handed over meanwhile, and what came of it before is read again, so that none is passed over.

        Raises:
            KafkaException: the servers do not say where they begin.
        """
        for place, share in self.shares.items():
            topic_id = ids.get(place.topic, "")
            if not topic_id or topic_id == share.topic_id or place in self._gone:
                continue
            if share.topic_id:
                first = exchange.first_offset(place)
                self.on_offset_out_of_range(place, first, made_again(f"{place.topic}/{place.partition}"))
            share.topic_id = topic_id
            self.words.publish(topic_key(place.topic), topic_id.encode())

    def _skip_deleted(self, exchange: TransactionalClient) -> None:
        """Commit that partitions go on behind what was gone: a client goes on there only when it begins again."""
        kept: list[Outgoing] = []
        commits = [
            share.rewind(first, share.note.order, self._facts(), self._keeper(share, kept))
            for place, first in self._gone.items()
            if (share := self.shares.get(place)) is not None
        ]
        if commits:
            exchange.begin()
            exchange.send(kept)
            exchange.commit([commit.offset for commit in commits], self._may_map)

    def _activate(self, member: StateCoordinator) -> None:
        """Map with another state from now on, if one is in force."""
        taken = member.poll()
        if taken is None:
            return
        self.mappers.activate(taken)
        for share in self.shares.values():
            share.retry_held()
        self.loads.retry_held()
        self._record_positions(member)

    def _record_positions(self, member: StateCoordinator, new: Iterable[tuple[PartitionId, int]] = ()) -> None:
        known: list[tuple[tuple[str, int], int]] = [
            (place, share.position) for place, share in self.shares.items() if share.position >= 0
        ]
        member.record_activation(dict([*known, *new]))

    def _known_of(
        self, committed: Sequence[TopicPartition]
    ) -> dict[PartitionId, tuple[int, OffsetMetadata, PartitionCounts]]:
        """Return position, note and counts of partitions as they were committed; negative where nothing was."""
        notes = {PartitionId(one.topic, one.partition): (max(one.offset, -1), self._note_of(one)) for one in committed}
        wanted = {place: note.base for place, (_, note) in notes.items() if note.base}
        bases = read_bases(self.order.servers, self.order.lane_topic, wanted) if wanted else {}
        return {
            place: (position, note, PartitionCounts(bases.get(place), note.base, note.tally))
            for place, (position, note) in notes.items()
        }

    def _note_of(self, committed: TopicPartition) -> OffsetMetadata:
        """Return what this run committed of a partition; of another run's note only its order and topic."""
        note = read_metadata(committed.metadata) or OffsetMetadata(run=self.order.run_id)
        if note.run == self.order.run_id:
            return note
        return OffsetMetadata(run=self.order.run_id, order=note.order, topic_id=note.topic_id)

    def _keeper(self, share: PartitionState, kept: list[Outgoing]) -> Callable[[int, bytes], None]:
        """Return what takes counts that are too long for the metadata of an offset."""

        def keep(number: int, counts: bytes) -> None:
            key = counts_key(share.place).encode()
            kept.append(Outgoing(self.order.lane_topic, base_value(number, counts), key, []))

        return keep

    def _facts(self) -> CommitContext:
        mapper = self.mappers.current
        return CommitContext(self.order.run_id, self.number, mapper.state, mapper.hash)

    @property
    def _read(self) -> int:
        return sum(share.counts.read for share in self.shares.values())

    def _is_over(self) -> bool:
        """Whether the lane ends, this attempt is superseded, or whoever started it is gone."""
        limit = self.order.run.source.limit
        if limit is not None and self._read >= limit:
            return True
        if self.member is not None and self.member.is_fenced:
            return True
        token = self.order.token.encode()
        if self.words.newest(stop_key(self.order.run_id)) == token or os.getppid() != self._parent:
            return True
        return self.words.newest(start_key(self.order.run_id)) not in (None, token)

    def _may_map(self) -> bool:
        return self.member is None or self.member.may_map

    def _wait_until_allowed(self, seconds: float | None = None) -> bool:
        """Wait until what this maps with is agreed on; False when that takes longer than so many seconds."""
        began = time.monotonic()
        while self.member is not None and not self.member.may_map:
            if self._is_over() or (seconds is not None and time.monotonic() - began > seconds):
                return False
            if self.member.trouble:
                self._publish_trouble(self.member.trouble)
            self._activate(self.member)
            time.sleep(_LOOK_SECONDS)
        return True

    def _look_for_topics(self, exchange: TransactionalClient) -> None:
        """Read topics too that are made while the lane runs, where a pattern says which."""
        now = time.monotonic()
        if self.order.pattern and now - self._looked > _TOPICS_SECONDS:
            self._looked = now
            exchange.subscribe_all(self.order.pattern)

    def _back_off(self, error: KafkaException, exchange: TransactionalClient | None) -> None:
        """Back off after a retriable error, twice as long each time.

        Raises:
            RunError: it is not retriable.
        """
        refused, said = (exchange.why_refused(), exchange.said) if exchange is not None else (None, None)
        refusal = explain_refusal(self.order, error, refused, said)
        if refusal is not None:
            raise refusal
        _log.warning("task %s of the lane begins again at what is committed: %s %s", self.number, error, refused)
        now = time.monotonic()
        self._failing_since = self._failing_since or now
        if now - self._failing_since > _TELL_AFTER_SECONDS:
            why = refused[0].str() if refused is not None else error.args[0].str() if error.args else str(error)
            about = f" ({refused[1]})" if refused is not None and refused[1] else ""
            self._publish_trouble(
                f"Kafka takes no transaction of task {self.number}{about}: {why}. It is tried again; nothing is lost."
            )
        self._wait(self._backoff_seconds)
        self._backoff_seconds = min(2 * self._backoff_seconds, _LONGEST_BACKOFF_SECONDS)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_over():
            time.sleep(_LOOK_SECONDS)

    def _publish_trouble(self, text: str) -> None:
        """Publish what keeps the task from its work, an empty text once it goes on; each text once."""
        if text != self._told:
            self._told = text
            trouble = Trouble(token=self.order.token, text=text)
            self.words.publish(trouble_key(self.order.run_id, self.number), msgspec.json.encode(trouble))

    def _fail(self, error: RunError) -> None:
        """Say what nothing can be done about here; the driver ends the lane.

        Raises:
            TaskError: it cannot be said; Spark carries it.
        """
        _log.error("task %s of the lane cannot go on: %s", self.number, error)
        failure = Failure(token=self.order.token, title=error.title, text=error.text, hint=error.hint)
        key = failed_key(self.order.run_id, self.number)
        try:
            self.words.publish(key, msgspec.json.encode(failure), _SAY_SECONDS)
        except RunError:
            raise TaskError(error) from error
