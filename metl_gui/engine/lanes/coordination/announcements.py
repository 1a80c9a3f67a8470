"""What people and drivers say to all lanes of a matrix: take this state up, stay, go on, go back to an earlier offset.

Everything is a record or a few in the coordination topic, so that it holds for lanes on any computer, and for those
that come later. The project file is read by whoever announces, never by a lane.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.records import (
    Announced,
    ChunkKey,
    Frozen,
    KeyedRecord,
    MemberKey,
    PartitionKey,
    SetBackOrder,
)
from metl_gui.engine.lanes.coordination.state import CoordinationState
from metl_gui.engine.lanes.coordination.topic import CoordinationWriter, ensure_topic, read_all, state_of

_KEEP_SECONDS = 20.0
_OLD_MS = 86_400_000
"""What was superseded, and members that were not heard of, are taken out of the topic after a day."""


def begin_lane(servers: KafkaServers, matrix: str, lane: str, started_with: PlanState) -> None:
    """Make ready for the tasks of a lane, in its driver: the topic, and the state announced.

    Raises:
        RunError: the servers cannot be reached, or the topic has settings by which nothing can be agreed on.
    """
    announce(servers, matrix, started_with, who=lane)


def announce(servers: KafkaServers, matrix: str, state: PlanState, who: str = "") -> bool:
    """Announce a published state to all lanes of a matrix; one that is not newer changes nothing.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
        state: the state with its plan.
        who: who wants it.

    Returns:
        Whether it is now the state that all lanes are to take up, or already was.

    Raises:
        RunError: the servers cannot be reached, or the topic has settings by which nothing can be agreed on.
    """
    topic = log.topic_of(matrix)
    ensure_topic(servers, topic)
    entries = read_all(servers, topic)
    newest = _newest(state_of(entries))
    digest = log.digest_of(state.plan)
    if newest is not None and (state.publication, 0) <= newest.rank:
        return newest.digest == digest
    writer = CoordinationWriter(servers, topic, _KEEP_SECONDS)
    _write_state(writer, state, _announced(state, who))
    _clear(writer, entries)
    writer.flush()
    newest = _newest(state_of(read_all(servers, topic)))
    return newest is not None and newest.digest == digest


def announce_again(servers: KafkaServers, matrix: str, state: PlanState, who: str = "") -> bool:
    """Take all lanes to a published state that may be older than what they have, also while they are frozen.

    It holds until something is published anew. Arguments and errors as of ``announce``.

    Returns:
        Whether it counts; else somebody announced another at the same moment.
    """
    topic = log.topic_of(matrix)
    ensure_topic(servers, topic)
    newest = _newest(state_of(read_all(servers, topic)))
    announced = _announced(state, who)
    if newest is not None:
        publication, again = max(newest.rank, (state.publication, 0))
        announced = msgspec.structs.replace(announced, publication=publication, again=again + 1)
    writer = CoordinationWriter(servers, topic, _KEEP_SECONDS)
    _write_state(writer, state, msgspec.structs.replace(announced, despite_freeze=True))
    writer.flush()
    newest = _newest(state_of(read_all(servers, topic)))
    return newest is not None and (newest.digest, newest.rank) == (announced.digest, announced.rank)


def freeze(servers: KafkaServers, matrix: str, *, is_frozen: bool, who: str = "") -> CoordinationState:
    """Let newly announced states wait for all lanes of a matrix, or let them be taken up again.

    Returns:
        The coordination state afterwards: what was taken up before the lanes heard of it is in force.

    Raises:
        RunError: the servers cannot be reached.
    """
    topic = log.topic_of(matrix)
    ensure_topic(servers, topic)
    fold = state_of(read_all(servers, topic))
    writer = CoordinationWriter(servers, topic, _KEEP_SECONDS)
    frozen = Frozen(is_frozen=is_frozen, in_force=fold.in_force, who=who)
    writer.write(log.frozen_key(), log.encoded(frozen))
    writer.flush()
    return state_of(read_all(servers, topic))


def order_set_back(servers: KafkaServers, matrix: str, lane: str, orders: Iterable[SetBackOrder]) -> None:
    """Tell a lane that is running to go back in partitions; each task obeys between two transactions.

    Raises:
        RunError: the servers cannot be reached.
    """
    writer = CoordinationWriter(servers, log.topic_of(matrix), _KEEP_SECONDS)
    for order in orders:
        key = PartitionKey(lane, order.topic, order.partition)
        writer.write(log.set_back_key(key), log.encoded(order))
    writer.flush()


def _newest(fold: CoordinationState) -> Announced | None:
    return fold.announced[fold.latest] if fold.latest is not None else None


def _announced(state: PlanState, who: str) -> Announced:
    return Announced(
        state=state.state,
        hash=state.hash,
        digest=log.digest_of(state.plan),
        chunks=len(log.chunks_of(state.plan)),
        publication=state.publication,
        who=who,
    )


def _write_state(writer: CoordinationWriter, state: PlanState, announced: Announced) -> None:
    for key, chunk in log.chunks_of(state.plan):
        writer.write(key, chunk)
    # The announcement must not overtake its plan; what is lost on the way stops here.
    writer.flush()
    writer.write(log.announced_key(), log.encoded(announced))


def _clear(writer: CoordinationWriter, entries: list[KeyedRecord]) -> None:
    """Take out of the topic what nobody can need any more, so that it does not grow for ever."""
    fold = state_of(entries)
    kept = {each.digest for offset, each in fold.announced.items() if offset in {fold.in_force, fold.latest}}
    now_ms = round(time.time() * 1000)
    for entry in entries:
        if now_ms - entry.time_ms < _OLD_MS:
            continue
        word = log.read(entry.key, entry.value)
        key = word.key if word is not None else None
        if isinstance(key, ChunkKey):
            is_over = key.digest not in kept
        elif isinstance(key, MemberKey):
            heard = fold.members.get(key.instance)
            is_over = entry.value is not None and (heard is None or not heard.lives(fold.clock_ms))
        else:
            is_over = False
        if is_over:
            writer.write(entry.key, None)
