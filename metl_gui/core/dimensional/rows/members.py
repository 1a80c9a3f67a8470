"""The states of business keys: versions of the members of a dimension, and the rows of a fact.

Plain Python, by which the statements that databases run are judged.

Source: docs/reference/warehouse-model.md, "From messages to versions".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.messages import NEVER
from metl_gui.core.dimensional.rows.row_states import FOREVER, Row, State, Values

Key: TypeAlias = tuple[Any, ...]
"""Values of a business key or grain."""

Opening: TypeAlias = tuple[str, str, str, str, bool]
"""What opened a version: schema, row, order key and operation of a message, and whether it was its end."""


class Ownership(msgspec.Struct, frozen=True):
    """Who owns states, and which of several rows is right.

    Args:
        key: names of the attributes of the business key or grain; empty for the row itself.
        with_schema: the key takes in the schema.
        prefer: schemas, that which wins at equal times first.
        leading: the schema in which a member lives; empty for any.
    """

    key: tuple[str, ...]
    with_schema: bool = False
    prefer: tuple[str, ...] = ()
    leading: str = ""

    def owner(self, state: State) -> Key | None:
        """Return the key that a state carries, ``None`` where a part of it is null."""
        if not self.key:
            return state.row
        parts = tuple(state.values.get(name) for name in self.key)
        if any(part is None for part in parts):
            return None
        return (state.row[0], *parts) if self.with_schema else parts

    def precedence(self, row: Row) -> tuple[int, str, str]:
        """Return what the row that wins at equal times has least of."""
        place = self.prefer.index(row[0]) if row[0] in self.prefer else len(self.prefer)
        return place, *row

    def leads(self, row: Row) -> bool:
        """Return whether a member lives while a row does."""
        return self.leading in ("", row[0])


class Segment(msgspec.Struct, frozen=True):
    """A time in which nothing about a business key changed.

    Args:
        valid_from: its start.
        valid_to: its end, ``FOREVER`` for none.
        opened_by: the message at its start.
        values: of all attributes.
    """

    valid_from: datetime
    valid_to: datetime
    opened_by: Opening
    values: Values


class MemberTimes(msgspec.Struct, frozen=True):
    """A business key in all its time.

    Args:
        segments: in order of time.
        latest: the values of its last living state in log order.
        is_alive: one of its rows lives.
    """

    segments: tuple[Segment, ...]
    latest: Values
    is_alive: bool


class MemberVersion(msgspec.Struct, frozen=True):
    """A version of a member: what it was over a time.

    Args:
        valid_from, valid_to: as of a segment.
        opened_by: what it is known by.
        by_version: values of the columns of type 2.
        first, latest, current, previous: of all columns, in all versions alike: the first in time, the last in log
            order, the last in time, and the last in time that differed from that.
    """

    valid_from: datetime
    valid_to: datetime
    opened_by: Opening
    by_version: Values
    first: Values
    latest: Values
    current: Values
    previous: Values


def members(states: Iterable[State], ownership: Ownership) -> dict[Key, MemberTimes]:
    """Return the members that states make, those that never held left out.

    Cost: rows of a member times its states.
    """
    owned: dict[Key, list[State]] = defaultdict(list)
    changes = _changes(states := [one for one in states if one.ever_held])
    for state in states:
        owner = ownership.owner(state)
        if owner is not None:
            owned[owner].append(state)
    found = {}
    for key, of_key in owned.items():
        segments = tuple(_segments(of_key, ownership, changes))
        if segments:
            is_alive = any(one.valid_to == FOREVER and ownership.leads(one.row) for one in of_key)
            found[key] = MemberTimes(segments, latest_values(of_key, ownership), is_alive)
    return found


Changes: TypeAlias = Mapping[tuple[Row, Any], Mapping[str, datetime]]


def _changes(states: Sequence[State]) -> Changes:
    """Return for each state and attribute when, in its life, the value last differed from the one before."""
    changed: dict[tuple[Row, Any], dict[str, datetime]] = {}
    for _, life in groupby(sorted(states, key=lambda one: (one.row, one.life, one.valid_from)), _life):
        since: dict[str, datetime] = {}
        before: Values = {}
        for state in life:
            since = since | {n: state.valid_from for n, value in state.values.items() if value != before.get(n)}
            before = state.values
            changed[state.row, state.order] = since
    return changed


def _life(state: State) -> tuple[Row, int]:
    return state.row, state.life


def _segments(states: Sequence[State], ownership: Ownership, changes: Changes) -> Iterable[Segment]:
    """Yield the times between any two bounds of states in which the member lived."""
    bounds = sorted({one.valid_from for one in states} | {one.valid_to for one in states})
    for since, until in pairwise(bounds):
        covering = [one for one in states if one.valid_from <= since < one.valid_to]
        if any(ownership.leads(one.row) for one in covering):
            values = _resolved(covering, ownership, {one.row: changes[one.row, one.order] for one in covering})
            yield Segment(since, until, _opening(states, since), values)


def _opening(states: Sequence[State], at: datetime) -> Opening:
    """Return what happened last at a bound: a state that began there, else one that ended there."""
    began = [one for one in states if one.valid_from == at]
    state = max(began or [one for one in states if one.valid_to == at], key=lambda one: (one.order, one.row))
    return *state.row, state.order.order_key, state.op, not began


def _resolved(rows: Sequence[State], ownership: Ownership, changes: Mapping[Row, Mapping[str, datetime]]) -> Values:
    """Return of each attribute the value of the row in which it changed last."""
    names = dict.fromkeys(name for one in rows for name in one.values)
    values = {}
    for name in names:
        mapping = sorted((one for one in rows if name in one.values), key=lambda one: ownership.precedence(one.row))
        values[name] = max(mapping, key=lambda one: changes[one.row].get(name, NEVER)).values[name]
    return values


def latest_values(states: Sequence[State], ownership: Ownership) -> Values:
    """Return the values of the last states in log order, of the rows that live or else of all.

    Of several rows an attribute has the value of the row whose source changed it last.
    """
    by_row: dict[Row, list[State]] = defaultdict(list)
    for state in sorted(states, key=lambda one: one.order):
        by_row[state.row].append(state)
    living = [row for row, of_row in by_row.items() if of_row[-1].is_last]
    rows = living or list(by_row)
    changes = {row: _changed_in_log(by_row[row]) for row in rows}
    return _resolved([by_row[row][-1] for row in rows], ownership, changes)


def _changed_in_log(states: Sequence[State]) -> Mapping[str, datetime]:
    """Return when the values of the last of a row's states were last changed in its life, by the source's clock."""
    since: dict[str, datetime] = {}
    before: Values = {}
    for state in (one for one in states if one.life == states[-1].life):
        since |= {name: state.committed_at for name, value in state.values.items() if value != before.get(name)}
        before = state.values
    return since


def versions(member: MemberTimes, by_version: Sequence[str]) -> tuple[MemberVersion, ...]:
    """Return the versions of a member: touching segments that are equal in some columns are one.

    Args:
        member: the member.
        by_version: names of the columns of which each change makes a version.
    """
    merged: list[Segment] = []
    for segment in member.segments:
        kept = msgspec.structs.replace(segment, values={name: segment.values.get(name) for name in by_version})
        if merged and merged[-1].valid_to == kept.valid_from and merged[-1].values == kept.values:
            merged[-1] = msgspec.structs.replace(merged[-1], valid_to=kept.valid_to)
        else:
            merged.append(kept)
    current = member.segments[-1].values
    names = dict.fromkeys(name for one in member.segments for name in one.values)
    previous = {name: _previous(member.segments, name) for name in names}
    first = member.segments[0].values
    return tuple(
        MemberVersion(one.valid_from, one.valid_to, one.opened_by, one.values, first, member.latest, current, previous)
        for one in merged
    )


def _previous(segments: Sequence[Segment], name: str) -> Any:
    current = segments[-1].values.get(name)
    return next((one.values.get(name) for one in reversed(segments) if one.values.get(name) != current), None)


class FactState(msgspec.Struct, frozen=True):
    """The last state of a value of the grain.

    Args:
        values: of all attributes.
        committed_at: of the last message.
        began_at: the commit of the first message of its life.
        is_alive: its source row, or one of several, is there.
    """

    values: Values
    committed_at: datetime
    began_at: datetime
    is_alive: bool


def fact_states(states: Iterable[State], ownership: Ownership) -> dict[Key, FactState]:
    """Return the last state of each value of the grain in log order.

    A row that moved to another value of the grain is no longer there.
    """
    owned: dict[Key, list[State]] = defaultdict(list)
    for state in sorted(states, key=lambda one: one.order):
        owner = ownership.owner(state)
        if owner is not None:
            owned[owner].append(state)
    found = {}
    for key, of_key in owned.items():
        last = {one.row: one for one in of_key}
        living = [one for one in last.values() if one.is_last]
        rows = living or list(last.values())
        values = latest_values(of_key, ownership)
        is_alive = any(ownership.leads(one.row) for one in living)
        committed_at, began_at = max(one.committed_at for one in rows), min(one.began_at for one in rows)
        found[key] = FactState(values, committed_at, began_at, is_alive)
    return found
