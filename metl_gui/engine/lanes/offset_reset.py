"""Setting the offsets of a lane back: what would be repeated, and doing it.

While tasks of the lane live, they are told by the coordination topic, and each obeys between two transactions.
While none does, the offsets of its group are altered; their metadata stays, as it holds what the lane has counted.

Units: offsets count records, with holes where topics are compacted and where transactions end; so counts of records
are upper bounds.
Source: METL §3.4 (offsets are set back to map again what an earlier state mapped).
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from confluent_kafka import KafkaException, TopicPartition

from metl_gui.core.runs.kafka import KafkaServers, parse_address, parse_start
from metl_gui.core.runs.lanes import PartitionReset
from metl_gui.engine.kafka import clients
from metl_gui.engine.kafka.offsets import ListedPartition, Lister, start_offsets
from metl_gui.engine.lanes.committed_offsets import HAS_MEMBERS, Committed
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.announcements import order_set_back
from metl_gui.engine.lanes.coordination.records import PartitionKey, SetBackOrder
from metl_gui.engine.lanes.coordination.state import CoordinationState
from metl_gui.engine.lanes.coordination.topic import read_state
from metl_gui.engine.lanes.offset_metadata import read_metadata
from metl_gui.engine.lanes.order import PartitionId
from metl_gui.errors import RunError

STATE = "state:"
_TIMES_SECONDS = 5.0
_LOOK_SECONDS = 0.1


class LaneGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A lane as Kafka knows it.

    Args:
        servers: where it is.
        matrix: the id of the project.
        group: its consumer group.
        source: the address of what it reads.
    """

    servers: KafkaServers
    matrix: str
    group: str
    source: str


class GroupInUseError(RunError):
    """Kafka holds places in the group: for tasks that have ended, which it lets go of within seconds, or for others."""


def partitions_back(lane: LaneGroup, to: str) -> tuple[PartitionReset, ...]:
    """Return what setting back means in each partition in which the lane has committed anything.

    Args:
        lane: the lane.
        to: ``earliest``, a time in ISO 8601, ``topic/partition/offset`` with commas between, or ``state:N``: where the
            lane took up state N the last time.

    Raises:
        RunError: it cannot be read, the servers do not answer, or the lane never took the state up.
    """
    lister = Lister(lane.servers, parse_address(lane.source), is_strict=False)
    listed = {(one.topic, one.partition): one for one in lister.listed()}
    with _committed(lane) as asking:
        committed = asking.offsets()
    positions = {place: committed[place].offset for place in sorted(committed) if place in listed}
    if not positions:
        raise RunError(
            "The lane has committed nothing yet.", f"Its group is {lane.group}.", "There is nothing to set back."
        )
    backs = []
    for (topic, partition), wanted in _wanted(lane, lister, tuple(listed.values()), to).items():
        position = positions.get(PartitionId(topic, partition))
        if position is not None:
            begin = listed[topic, partition].begin
            target = min(max(wanted, begin), position)
            gone = max(0, min(begin, position) - wanted)
            backs.append(PartitionReset(topic=topic, partition=partition, position=position, to=target, gone=gone))
    times = _times(lane.servers, [back for back in backs if back.records])
    return tuple(msgspec.structs.replace(back, from_ms=times.get((back.topic, back.partition))) for back in backs)


def lives(lane: LaneGroup, fold: CoordinationState | None = None) -> bool:
    """Whether tasks of the lane live, on whatever computer, and obey orders."""
    fold = fold or read_state(lane.servers, log.topic_of(lane.matrix))
    # A log to which nobody writes any more has no clock.
    later_ms = max(0, round(time.time() * 1000) - fold.time_ms)
    return any(one.is_alive and fold.members[one.instance].beat.lane == lane.group for one in fold.figures(later_ms))


def order_back(lane: LaneGroup, backs: Iterable[PartitionReset]) -> tuple[SetBackOrder, ...]:
    """Tell the living tasks of a lane to go back.

    Returns:
        The orders; see ``unobeyed``.

    Raises:
        RunError: the servers do not answer.
    """
    orders = tuple(
        SetBackOrder(id=secrets.token_hex(6), topic=back.topic, partition=back.partition, offset=back.to)
        for back in backs
        if back.records
    )
    order_set_back(lane.servers, lane.matrix, lane.group, orders)
    return orders


def unobeyed(fold: CoordinationState, group: str, orders: Sequence[SetBackOrder]) -> tuple[SetBackOrder, ...]:
    """Return the orders that no task has obeyed yet."""
    return tuple(
        order for order in orders if fold.obeyed.get(PartitionKey(group, order.topic, order.partition)) != order.id
    )


def alter_offsets(lane: LaneGroup, backs: Iterable[PartitionReset]) -> None:
    """Set the offsets of a lane back of which no task lives.

    Raises:
        GroupInUseError: Kafka still counts the tasks that the lane had, or somebody else is at work in its group.
        RunError: the lane has moved on, or the servers do not answer.
    """
    with _committed(lane) as asking:
        committed = asking.offsets()
        backs = [back for back in backs if back.records]
        moved = [back for back in backs if _offset_of(committed, back) != back.position]
        if moved:
            raise RunError(
                "The lane has moved on since it was asked what would be repeated.",
                f"{moved[0].topic}/{moved[0].partition} stands at {_offset_of(committed, moved[0])}, "
                f"and stood at {moved[0].position}.",
                "Ask again.",
            )
        metadata = {place: one.metadata for place, one in committed.items()}
        places = [
            TopicPartition(
                back.topic, back.partition, back.to, metadata=metadata[PartitionId(back.topic, back.partition)]
            )
            for back in backs
        ]
        try:
            asking.commit(places)
        except RunError as error:
            cause = error.__cause__
            if isinstance(cause, KafkaException) and cause.args[0].code() in HAS_MEMBERS:
                raise _held(lane) from error
            raise
    _overrule_old_orders(lane, backs, committed)


@contextlib.contextmanager
def _committed(lane: LaneGroup) -> Iterator[Committed]:
    """Ask for what a lane committed, and let go of the servers."""
    asking = Committed(Lister(lane.servers, parse_address(lane.source), is_strict=False), lane.group)
    try:
        yield asking
    finally:
        asking.close()


def _held(lane: LaneGroup) -> GroupInUseError:
    return GroupInUseError(
        "Somebody is at work in the group of the lane, and obeys no orders.",
        f"It is {lane.group}. These may be tasks that have just ended, or another program.",
        "Tasks that ended are let go of within seconds; try again. Stop other programs that read as this group.",
    )


def _offset_of(committed: Mapping[Any, TopicPartition], back: PartitionReset) -> int | None:
    found = committed.get((back.topic, back.partition))
    return found.offset if found is not None else None


def _overrule_old_orders(
    lane: LaneGroup, backs: Iterable[PartitionReset], committed: Mapping[Any, TopicPartition]
) -> None:
    """Say the same to tasks that come later and find an older order that nobody obeyed."""
    fold = read_state(lane.servers, log.topic_of(lane.matrix))
    stale = []
    for back in backs:
        order = fold.orders.get(PartitionKey(lane.group, back.topic, back.partition))
        note = read_metadata(committed[back.topic, back.partition].metadata)
        if order is not None and (note is None or note.order != order.id):
            stale.append(back)
    if stale:
        order_back(lane, stale)


def _wanted(
    lane: LaneGroup, lister: Lister, listed: tuple[ListedPartition, ...], to: str
) -> Mapping[tuple[str, int], int]:
    """Return the offset that is asked for, of each partition that it is asked of."""
    if to.startswith(STATE):
        return _where_taken_up(lane, to.removeprefix(STATE))
    start = parse_start(to)
    if start.offsets:
        unknown = start.offsets.keys() - {(one.topic, one.partition) for one in listed}
        if unknown:
            topic, partition = min(unknown)
            raise RunError(f"{topic}/{partition} is not among what the lane reads.", hint="See metl lane list.")
        return start.offsets
    return start_offsets(lister, listed, start)[0]


def _where_taken_up(lane: LaneGroup, text: str) -> dict[tuple[str, int], int]:
    fold = read_state(lane.servers, log.topic_of(lane.matrix))
    of_lane = {key: change for key, change in fold.changes.items() if key.lane == lane.group}
    known = sorted({change.state for change in of_lane.values()})
    places = [key.announced_at for key, change in of_lane.items() if str(change.state) == text.strip()]
    if not places:
        shown = ", ".join(map(str, known))
        raise RunError(
            f"The lane never took up state {text.strip()[:40]}.",
            f"It took up {shown}." if shown else "It took up no state that it kept.",
            "Name one of these, or a time, or offsets." if shown else "Name a time, or offsets.",
        )
    newest = max(places)
    return {(key.topic, key.partition): change.offset for key, change in of_lane.items() if key.announced_at == newest}


def _times(servers: KafkaServers, backs: Sequence[PartitionReset]) -> dict[tuple[str, int], int]:
    """Read the time of the first record that is repeated, of each partition; of as many as answer soon."""
    if not backs:
        return {}
    consumer = clients.consumer(servers, enable_partition_eof=False, fetch_wait_max_ms=100)
    times: dict[tuple[str, int], int] = {}
    try:
        consumer.assign([TopicPartition(back.topic, back.partition, back.to) for back in backs])
        end = time.monotonic() + _TIMES_SECONDS
        while len(times) < len(backs) and time.monotonic() < end:
            message = consumer.poll(_LOOK_SECONDS)
            if message is None or message.error() is not None:
                continue
            place = message.topic() or "", message.partition() or 0
            if place not in times:
                times[place] = message.timestamp()[1]
                consumer.pause([TopicPartition(*place)])
    finally:
        consumer.close()
    return times
