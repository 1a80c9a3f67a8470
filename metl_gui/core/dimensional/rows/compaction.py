"""Compaction: what rows were before some time becomes one state each, and older messages do not count any more.

Source: docs/reference/warehouse-model.md, "Compaction".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from metl_gui.core.dimensional.rows.members import Key
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.row_states import Row, State, row_log

COMPACTED = Position(" compacted", 0, 0)
"""Where messages lie that stand for those before them: no replay covers it, and it comes before all others."""


def compacted(
    messages: Sequence[Message],
    states: Sequence[State],
    before: datetime,
    owners: Iterable[Collection[tuple[Row, Key]]] = (),
    *,
    keeps_first: bool = False,
) -> list[Message]:
    """Return messages, those of each row that were committed before a time as its last state, and its delete.

    Rows stay as they are where more hangs on what they were: their keys changed, they share a business key or had
    several, or what came last in the log did not hold last.

    Args:
        messages: those of an entity that hold, in log order.
        states: what they make of rows.
        before: the time; messages at it stay.
        owners: by table of the entity, its rows and the keys that they had.
        keeps_first: the first message of the life stays too: a fact takes its commit for the time when it happened.
    """
    whole = _linked(messages).union(*map(_shared, owners))
    by_row: dict[Row, list[State]] = defaultdict(list)
    for state in sorted(states, key=lambda one: one.order):
        if state.committed_at < before and state.row not in whole:
            by_row[state.row].append(state)
    left = list(messages)
    for row, of_row in by_row.items():
        state = of_row[-1]
        if max(one.valid_from for one in of_row) > state.valid_from:
            continue
        old = _committed_before(row_log(row, messages), before)
        kept = {one.order for one in old if one.order > state.order and one.is_delete}
        if keeps_first:
            kept |= {next(one.order for one in of_row if one.life == state.life)} - {state.order}
        gone = [one for one in old if one.order not in kept]
        left = [one for one in left if (one.schema, one.row_key) != row or one not in gone]
        left.append(_folded(state, next(one for one in old if one.order == state.order)))
    return sorted(left, key=lambda one: (one.order, one.schema, one.row_key or ""))


def _linked(messages: Sequence[Message]) -> set[tuple[str, str | None]]:
    """Return rows whose keys changed: what they were before is looked up in other rows."""
    return {(one.schema, key) for one in messages if one.old_key is not None for key in (one.row_key, one.old_key)}


def _shared(owners: Collection[tuple[Row, Key]]) -> set[tuple[str, str | None]]:
    """Return rows of a table that share a key with others, or that had several."""
    owned = set(owners)
    rows, keys = Counter(row for row, _ in owned), Counter(key for _, key in owned)
    return {row for row, key in owned if rows[row] > 1 or keys[key] > 1}


def _committed_before(log: Sequence[Message], before: datetime) -> list[Message]:
    """Return the messages of a row up to the first that was committed at a time or later."""
    found = []
    for one in log:
        if one.commit >= before:
            break
        found.append(one)
    return found


def _folded(state: State, message: Message) -> Message:
    """Return a message with all that its row was, committed as late as those before it."""
    return msgspec.structs.replace(
        message,
        values=state.values,
        position=COMPACTED,
        committed_at=state.committed_at,
        seen_at=max(message.seen_at, state.committed_at),
    )


def is_too_late(message: Message, stored: Sequence[Message], before: datetime) -> bool:
    """Return whether a message comes too late for a target that was compacted.

    Args:
        message: that is not stored.
        stored: messages of its entity.
        before: the time before which the target was compacted.
    """
    return message.commit < before or any(
        one.position == COMPACTED
        and (one.schema, one.row_key) == (message.schema, message.row_key)
        and one.order >= message.order
        for one in stored
    )
