"""Compaction: what rows were before some time becomes one state each, and older messages do not count any more.

Source: docs/reference/warehouse-model.md, "Compaction".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from metl_gui.core.dimensional.messages import Message, Position
from metl_gui.core.dimensional.row_states import Row, State, row_log

COMPACTED = Position(" compacted", 0, 0)
"""Where messages lie that stand for those before them: no replay covers it, and it comes before all others."""


def compacted(messages: Sequence[Message], states: Sequence[State], before: datetime) -> list[Message]:
    """Return messages, those of each row that were committed before a time as its last state, and its delete.

    Rows whose keys changed are left as they are: what they were before is looked up in other rows.

    Args:
        messages: those of an entity that hold, in log order.
        states: what they make of rows.
        before: the time; messages at it stay.
    """
    linked = {(one.schema, key) for one in messages if one.old_key is not None for key in (one.row_key, one.old_key)}
    last: dict[Row, State] = {}
    for state in sorted(states, key=lambda one: one.order):
        if state.committed_at < before and state.row not in linked:
            last[state.row] = state
    left = list(messages)
    for row, state in last.items():
        old = _committed_before(row_log(row, messages), before)
        end = next((one for one in old if one.order > state.order), None)
        left = [one for one in left if (one.schema, one.row_key) != row or one not in old or one is end]
        left.append(_folded(state, next(one for one in old if one.order == state.order)))
    return sorted(left, key=lambda one: (one.order, one.schema, one.row_key or ""))


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
