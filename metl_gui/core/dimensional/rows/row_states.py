"""The states of source rows: what each row was, and from when to when.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "From messages to versions".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.messages import NEVER, LogOrder, Message

Values: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[str, str]
"""Schema and key of the row."""

ValidAt: TypeAlias = Callable[[Values], datetime | None]
"""The declared time since when a state holds, ``None`` where it says none."""

FOREVER = datetime.max.replace(tzinfo=UTC)
"""The end of what has not ended."""


class Happening(NamedTuple):
    """A message of a row, as it lies in time.

    Args:
        at: its commit, never earlier than that of the message before.
        order: its place in the log.
    """

    at: datetime
    order: LogOrder


class State(msgspec.Struct, frozen=True):
    """What a source row was after one message.

    Args:
        row: of which schema, and its key.
        life: of the row, counted from 0 by the deletes before it.
        order: of the message in the log.
        op: of the message.
        values: of all attributes that were ever carried in this life, those that it did not carry filled.
        committed_at: never earlier than that of the message before.
        began_at: the time of the first message of its life.
        valid_from: since when it holds.
        valid_to: until when, ``FOREVER`` for no end; equal to ``valid_from`` where it never held.
        is_last: it is the last message of its row, which lives.
        followed: the next message of its row, a delete too; ``None`` where there is none.
    """

    row: Row
    life: int
    order: LogOrder
    op: str
    values: Values
    committed_at: datetime
    began_at: datetime
    valid_from: datetime
    valid_to: datetime = FOREVER
    is_last: bool = False
    followed: Happening | None = None

    @property
    def happening(self) -> Happening:
        """Return its message."""
        return Happening(self.committed_at, self.order)

    @property
    def ever_held(self) -> bool:
        """Return whether there was a time at which it held."""
        return self.valid_from < self.valid_to


def declared_time(values: Values, attribute: str, infinity: str) -> datetime | None:
    """Return the declared time since when a state holds.

    Args:
        values: of the state; ``NEVER`` and ``FOREVER`` stand for the infinite ones.
        attribute: that says it.
        infinity: with ``open`` a state holds since ever, or never; with ``null`` an infinite time says nothing.
    """
    time: datetime | None = values.get(attribute)
    return None if infinity == "null" and time in (NEVER, FOREVER) else time


def row_states(messages: Sequence[Message], valid_at: ValidAt) -> tuple[State, ...]:
    """Return the states of all rows, those that never held too, by row in log order.

    Args:
        messages: those of one entity that hold, in log order.
        valid_at: of the values of a state.
    """
    filled: dict[Row, list[tuple[LogOrder, Values]]] = defaultdict(list)
    logs: dict[Row, list[Message]] = {}
    of_schema: dict[str, list[list[Message]]] = defaultdict(list)
    for message in messages:
        if message.op == "t":
            for log in of_schema[message.schema]:
                log.append(message)
        if message.row_key is None:
            continue
        row = (message.schema, message.row_key)
        if row not in logs:
            of_schema[message.schema].append(logs.setdefault(row, []))
        if not message.is_delete:
            filled[row].append((message.order, {**_base(message, logs[row], filled), **message.values}))
        logs[row].append(message)
    states: list[State] = []
    for row, values in filled.items():
        states.extend(_timelines(_lives(row, logs[row], dict(values), valid_at)))
    return tuple(states)


def _base(
    message: Message, before: Sequence[Message], filled: Mapping[Row, Sequence[tuple[LogOrder, Values]]]
) -> Values:
    """Return what a message that does not carry everything is filled from.

    Args:
        message: that comes next.
        before: the log of its row up to it.
        filled: by row, what its messages said so far.
    """
    if message.old_key is not None:
        of_old = filled.get((message.schema, message.old_key), ())
        return next((values for order, values in reversed(of_old) if order < message.order), {})
    if not before or before[-1].is_delete:
        return {}
    return filled[(message.schema, message.row_key or "")][-1][1]


def row_log(row: Row, messages: Sequence[Message]) -> list[Message]:
    """Return the messages of one row in log order, with the truncates of its schema that come after its first."""
    log: list[Message] = []
    for message in messages:
        if message.schema == row[0] and (message.row_key == row[1] or (message.op == "t" and log)):
            log.append(message)
    return log


class _Life(msgspec.Struct):
    """The states of one life.

    Args:
        states: in log order.
        end: by its delete.
    """

    states: list[State]
    end: datetime = FOREVER


def _lives(row: Row, log: Sequence[Message], filled: Mapping[LogOrder, Values], valid_at: ValidAt) -> list[_Life]:
    lives, latest = [_Life([])], NEVER
    for message in log:
        latest = max(latest, message.commit)
        if lives[-1].states:
            followed = Happening(latest, message.order)
            lives[-1].states[-1] = msgspec.structs.replace(lives[-1].states[-1], followed=followed)
        if message.is_delete:
            lives[-1].end = latest
            lives.append(_Life([]))
            continue
        states = lives[-1].states
        began = states[0].began_at if states else latest
        values, order = filled[message.order], message.order
        since = valid_at(values) or latest
        states.append(State(row, len(lives) - 1, order, message.op, values, latest, began, since))
    if lives[-1].states:
        lives[-1].states[-1] = msgspec.structs.replace(lives[-1].states[-1], is_last=True)
    return lives


def _timelines(lives: Sequence[_Life]) -> Iterable[State]:
    """Yield the states with their ends: at the next of their life, at its delete or where a later life begins."""
    begins = [min((one.valid_from for one in life.states), default=FOREVER) for life in lives]
    for number, life in enumerate(lives):
        end = min(life.end, *begins[number + 1 :], FOREVER)
        in_time = sorted(life.states, key=lambda one: (one.valid_from, one.order))
        for place, state in enumerate(in_time, 1):
            until = min(end, *(after.valid_from for after in in_time[place : place + 1]), FOREVER)
            yield msgspec.structs.replace(state, valid_to=max(until, state.valid_from))
