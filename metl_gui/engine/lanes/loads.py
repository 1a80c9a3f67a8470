"""Rows of an initial load on their way through the tasks of a lane that maps changes of the same rows meanwhile.

The order rule. A task that has a partition of changes also has the rows of the load with the same keys; so it alone
decides what comes first, in its transactions:

    1. It notes the key of every change from ``noted_from`` on.
    2. It takes no row before it has mapped all changes up to ``after``.
    3. It leaves out a row whose key it has noted.

``noted_from`` is asked for before the rows are read, and every change before it is in them. ``after`` is asked for when
the connector has sent every change that they show. So a row that is left out was mapped from its changes, which are as
new or newer; and a row that is taken is as new as every change that was mapped before it, and older than those to come.
No row is lost, none is put back to an older value. Rows of a topic's beginning follow the same rule: they stand before
the first change that the lane mapped, which is ``noted_from`` and ``after`` in one.

A change that leaves out large values which did not change (docs/reference/cdc.md, "Values that are not the value") says
less than the row that it stands for; rows left out for such changes alone are counted apart, as loading once more
brings their values.

Cost: 12 bytes and a place in a set for each row that changes during the load; what a task has noted is read again after
a fault. Progress is an offset of the lane's group, committed with the messages; its counts go over to the partition of
the changes in the transaction of the last row, as Kafka forgets the offsets of a topic that is removed.
Source: METL §3.4, §5 (initial load); the idea of reading between marks in a log is that of DBLog (Andreakis, 2019).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import msgspec
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from metl_gui.core.runs.report import Tally
from metl_gui.engine.kafka.clients import ClientErrorLog, bounds, consumer, passes
from metl_gui.engine.lanes.mapper import MappedMessages, StateMappers
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata, PartitionCounts
from metl_gui.engine.lanes.order import LaneOrder, PartitionId
from metl_gui.engine.lanes.partition_state import Commit, PartitionState
from metl_gui.engine.lanes.topic import LaneTopic
from metl_gui.engine.loading.row_template import has_placeholder

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

    from metl_gui.engine.lanes.transactional_client import TransactionalClient

_log = logging.getLogger(__name__)

LOAD = "load/"
SUPERSEDED = "superseded"
"""Why a row of a load is skipped: a change of it was mapped."""
SUPERSEDED_PARTLY = "superseded_partly"
"""The same, where every such change left out large values that did not change."""

_DIGEST_BYTES = 12
_MOST_ROWS = 500
_MOST_NOTED = 5_000
_KILOBYTES = 8_192
_ASK_SECONDS = 7.0
_ASK_AGAIN_SECONDS = 2.0


class LoadOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the task that has a partition does for a load.

    Args:
        id: of the load.
        changes: the topic of the changes.
        rows: the topic of the rows; the same for those of its beginning.
        progress: the topic whose offsets say how far the rows are mapped.
        partition: of all three.
        begin, end: the rows, as offsets.
        noted_from, after: offsets among the changes, see the module.
        is_given_up: no row is taken any more; what was mapped stays.
    """

    id: str
    changes: str
    rows: str
    progress: str
    partition: int
    begin: int
    end: int
    noted_from: int
    after: int
    is_given_up: bool = False

    @property
    def key(self) -> str:
        """Where the topic of a lane holds it."""
        return load_key(PartitionId(self.changes, self.partition))


def load_key(changes: PartitionId) -> str:
    """Return where the topic of a lane holds what a load orders of a partition."""
    return f"{LOAD}{changes.topic}/{changes.partition}"


class _LoadPhase(Enum):
    NOTING = auto()
    WAITING = auto()
    LOADING = auto()
    DONE = auto()
    FORGOTTEN = auto()
    """Changes were gone before their keys were noted: nobody knows any more which rows are older than they."""


class LoadShare(PartitionState):
    """The rows of one partition.

    Args:
        order: what to do.
        changes: the partition of their changes.
        position, note, counts: as of ``PartitionState``.
    """

    def __init__(
        self, order: LoadOrder, changes: PartitionState, position: int, note: OffsetMetadata, counts: PartitionCounts
    ) -> None:
        super().__init__(PartitionId(order.progress, order.partition), max(position, order.begin), note, counts)
        self.order = order
        self.changes = changes
        self.topic = order.changes
        self.phase = _LoadPhase.DONE if self._is_through(self.position) else _LoadPhase.NOTING
        self.arrived: list[Message] = []
        self._next = order.noted_from
        self._until = max(changes.position, order.noted_from)
        self._keys: dict[bytes, bool] = {}
        self.note_changes(changes.held)

    @property
    def reads(self) -> TopicPartition | None:
        """What is read now, and from where on."""
        match self.phase:
            case _LoadPhase.NOTING:
                return TopicPartition(self.order.changes, self.order.partition, self._next)
            case _LoadPhase.LOADING:
                return TopicPartition(self.order.rows, self.order.partition, self._next)
        return None

    def note_changes(self, messages: Iterable[Message]) -> None:
        """Note the keys of changes that are mapped, or read again."""
        if self.phase in (_LoadPhase.DONE, _LoadPhase.FORGOTTEN):
            return
        for message in messages:
            key = message.key()
            if key is not None:
                digest = _digest(key)
                if not self._keys.get(digest, False):
                    self._keys[digest] = not has_placeholder(message.value() or b"")

    def arrive(self, message: Message) -> None:
        """Take a record of what is read now."""
        offset = message.offset() or 0
        self._next = offset + 1
        if self.phase is _LoadPhase.NOTING and offset < self._until:
            self.note_changes([message])
        elif self.phase is _LoadPhase.LOADING and offset < self.order.end:
            self.arrived.append(message)

    def ended(self, offset: int) -> None:
        """Note that nothing stands before an offset that has not come."""
        self._next = max(self._next, offset)

    def gone(self, first: int) -> str:
        """Go on where retention was faster, if that is right, and say what is missing.

        Args:
            first: the first record that is there.
        """
        place = f"{self.reads.topic}/{self.reads.partition}" if self.reads else self.topic
        lost = f"{place}: {first - self._next:,} records from {self._next} on are gone by retention"
        if self.phase is _LoadPhase.NOTING:
            self.phase = _LoadPhase.FORGOTTEN
            self._keys.clear()
            undone = f"the rows of the load {self.order.id} are not mapped"
            return f"{lost}; {undone}. Give the load up (metl load --give-up), and load the table again."
        self._next = max(self._next, first)
        return f"{lost}; the load {self.order.id} goes on behind them."

    def advance(self) -> bool:
        """Go on to the next phase where this one is over, and say whether it did."""
        before = self.phase
        if self.phase is _LoadPhase.NOTING and self._next >= self._until:
            self.phase = _LoadPhase.WAITING
        if self.phase is _LoadPhase.WAITING and self.changes.position >= self.order.after:
            self.phase, self._next = _LoadPhase.LOADING, self.position
        if self.phase is _LoadPhase.LOADING and self._next >= self.order.end and not (self.arrived or self.held):
            # Behind the last row may stand what is none: the mark of a transaction.
            self.phase, self.end = _LoadPhase.DONE, self.order.end
            self._keys.clear()
        return self.phase is not before

    def map(self, mappers: StateMappers, rows: list[Message]) -> MappedMessages:
        """Map the rows of which no change was mapped, and count the others."""
        fates = [self._keys.get(_digest(row.key() or b"")) if row.key() is not None else None for row in rows]
        done = mappers.map(self, [row for row, fate in zip(rows, fates, strict=True) if fate is None])
        if self.held:
            first = self.held[0].offset() or 0
            taken = sum((row.offset() or 0) < first for row in rows)
            # What is held is asked again later, among the rows behind it.
            self.held, rows, fates = rows[taken:], rows[:taken], fates[:taken]
        tally = Tally()
        tally.add(done.tally)
        for fate, name in ((True, SUPERSEDED), (False, SUPERSEDED_PARTLY)):
            if skipped := fates.count(fate):
                tally.read += skipped
                tally.skipped += skipped
                tally.by_skip[name] = tally.by_skip.get(name, 0) + skipped
        return MappedMessages(rows, tally, done.outgoing)

    def _is_through(self, position: int) -> bool:
        return (position >= self.order.end or self.order.is_given_up) and not self.held

    def took(self, commit: Commit) -> None:
        """Note that it is committed; how long rows lay in their topic says nothing."""
        self.position, self.counts, self.note = commit.position, commit.counts, commit.note


class Loads:
    """The loads of the partitions that a task has.

    Args:
        order: the lane's.
        words: where orders of loads come from.
        known_of: returns position, note and counts of what was committed of partitions.
        lost: hears what records were gone before they were read.
    """

    def __init__(
        self,
        order: LaneOrder,
        words: LaneTopic,
        known_of: Callable[
            [Sequence[TopicPartition]], Mapping[PartitionId, tuple[int, OffsetMetadata, PartitionCounts]]
        ],
        lost: Callable[[PartitionId, str], None],
    ) -> None:
        self.order = order
        self.words = words
        self._known_of = known_of
        self._lost = lost
        self._loads: dict[PartitionId, LoadShare] = {}
        self._reader: Consumer | None = None
        self._said = ClientErrorLog()
        self._ask_at = 0.0

    def update(self, shares: Mapping[PartitionId, PartitionState], exchange: TransactionalClient) -> None:
        """Take up what is ordered of the partitions that the task has, and let go of the others.

        Raises:
            KafkaException: the servers do not say how far a load is.
        """
        known = self.words.under(LOAD)
        if not known and not self._loads:
            return
        wanted = {place: order for place in shares if (order := read_order(known.get(load_key(place)))) is not None}
        kept = {
            place: load
            for place, load in self._loads.items()
            if wanted.get(place) == load.order and load.changes is shares[place]
        }
        new = {place: order for place, order in wanted.items() if place not in kept}
        taken = self._taken_up(new, shares, exchange) if new and time.monotonic() > self._ask_at else {}
        if taken or len(kept) != len(self._loads):
            self._loads = kept | taken
            self._assign()

    def _taken_up(
        self,
        orders: Mapping[PartitionId, LoadOrder],
        shares: Mapping[PartitionId, PartitionState],
        exchange: TransactionalClient,
    ) -> dict[PartitionId, LoadShare]:
        there = {topic for topic in {order.progress for order in orders.values()} if _is_there(exchange, topic)}
        places = {
            PartitionId(one.progress, place.partition): place for place, one in orders.items() if one.progress in there
        }
        if len(places) < len(orders):
            # Whoever removes the topic of a load that is through takes the order back too; that may be heard later.
            self._ask_at = time.monotonic() + _ASK_AGAIN_SECONDS
        committed = exchange.committed([TopicPartition(*one) for one in places]) if places else []
        return {
            places[progress]: LoadShare(orders[places[progress]], shares[places[progress]], *known)
            for progress, known in self._known_of(committed).items()
        }

    def note(self, place: PartitionId, messages: Iterable[Message]) -> None:
        """Note the keys of changes that are about to be mapped."""
        if load := self._loads.get(place):
            load.note_changes(messages)

    def batch(
        self, shares: Mapping[PartitionId, PartitionState], wait_seconds: float
    ) -> dict[PartitionState, list[Message]]:
        """Return the rows that may be mapped now.

        Args:
            shares: the partitions that the task has.
            wait_seconds: how long a version that is not known is waited for.

        Raises:
            KafkaException: the rows cannot be read.
        """
        if not self._loads:
            return {}
        self._read()
        if sum(load.advance() for load in self._loads.values()):  # each of them, not up to the first
            self._assign()
        batch: dict[PartitionState, list[Message]] = {}
        for place, load in self._loads.items():
            if shares.get(place) is not load.changes:
                continue
            if load.held:
                if load.is_retry_due or load.is_overdue(wait_seconds):
                    batch[load] = load.release(wait_seconds)
            elif load.arrived:
                batch[load], load.arrived = load.arrived[:_MOST_ROWS], load.arrived[_MOST_ROWS:]
            elif load.is_due:
                batch[load] = []
        return batch

    def retry_held(self) -> None:
        """Retry held rows, as there is a new state."""
        for load in self._loads.values():
            load.retry_held()

    def close(self) -> None:
        """Forget everything; it is taken up again from what is committed."""
        self._loads.clear()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _assign(self) -> None:
        wanted = [reads for load in self._loads.values() if (reads := load.reads) is not None]
        if self._reader is None:
            if not wanted:
                return
            self._reader = consumer(self.order.servers, self._said, queued_max_messages_kbytes=_KILOBYTES)
        self._reader.assign(wanted)

    def _read(self) -> None:
        if self._reader is None:
            return
        by_place = {
            PartitionId(reads.topic, reads.partition): load for load in self._loads.values() if (reads := load.reads)
        }
        if not by_place or sum(len(load.arrived) for load in by_place.values()) > 2 * _MOST_ROWS:
            return
        is_noting = any(load.phase is _LoadPhase.NOTING for load in by_place.values())
        for message in self._reader.consume(_MOST_NOTED if is_noting else _MOST_ROWS, 0.0):
            load = by_place.get(PartitionId(message.topic() or "", message.partition() or 0))
            if load is not None:
                self._hear(self._reader, load, message)

    def _hear(self, reader: Consumer, load: LoadShare, message: Message) -> None:
        error: Any = message.error()
        if error is None:
            load.arrive(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            load.ended(message.offset() or 0)
        elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            if (reads := load.reads) is not None:
                first, _ = bounds(reader, reads, _ASK_SECONDS)
                self._lost(PartitionId(reads.topic, reads.partition), load.gone(first))
                self._assign()
        elif not passes(error):
            raise KafkaException(error)


def read_order(text: bytes | None) -> LoadOrder | None:
    """Read what the topic of a lane holds; None where nothing is ordered, or nobody can read it."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=LoadOrder)
    except msgspec.MsgspecError as error:
        _log.warning("an order of a load cannot be read: %s", error)
        return None


def _is_there(exchange: TransactionalClient, topic: str) -> bool:
    return exchange.consumer.list_topics(topic, _ASK_SECONDS).topics[topic].error is None


def _digest(key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=_DIGEST_BYTES).digest()
