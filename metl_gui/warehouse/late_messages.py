"""Read from a target what it takes to tell what a late message would do to a business key, and tell it.

A target is read once; what a message would do is found out without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import duckdb
import msgspec

from metl_gui.core.dimensional.loads.key_history import KeyVersion
from metl_gui.core.dimensional.rows.cascades import cascaded_below
from metl_gui.core.dimensional.rows.late_messages import (
    FactTimes,
    LateEffect,
    MemberVersions,
    late_effect,
    late_message,
    member_versions,
)
from metl_gui.core.dimensional.rows.members import Key, Opening
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.dimensional.rows.row_states import FOREVER, Values
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.key_history import has_key, shown_value
from metl_gui.warehouse.key_messages import LOOKED_UP, KeyMessages, read_key
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, ReferenceShape, TableShapes
from metl_gui.warehouse.plans.statements import name, names

_REFUSED = "What a late message would do cannot be told here"
_CUT = "_c_"
"""Before the role in the name of what tells versions of a parent apart."""

MOST_TIMES = 20_000
"""Times of events of one fact that are read at most."""


class ParentStarts(msgspec.Struct, frozen=True):
    """When versions of parents begin, which make versions of a member.

    Args:
        role: of the reference.
        dimension: of the parents.
        parts: of how many values their key is.
        starts: by the key of a parent, in order.
        is_within: the parents are members of the same dimension.
    """

    role: str
    dimension: str
    parts: int
    starts: dict[Key, tuple[datetime, ...]]
    is_within: bool

    def __call__(self, values: Values) -> list[tuple[datetime, Opening]]:
        """Return when versions of the parent begin that a member with some values has, and what stands for each.

        Raises:
            TargetError: no message has named that parent so far.
        """
        key = _parent_key(values, self.role, self.parts)
        if key not in self.starts:
            text = f"It refers to another member of {self.dimension} than the messages of the key so far."
            raise TargetError(_REFUSED, text)
        # What comes from within a dimension is known by its time alone, as in the target.
        told = ("", "") if self.is_within else (self.role, "\n".join(map(shown_value, key)))
        return [(at, (*told, at.isoformat(), "", False)) for at in self.starts[key]]


class KeyStudy(msgspec.Struct, frozen=True, kw_only=True):
    """All that bears on the versions of one business key.

    Args:
        reading: its messages, and how versions follow from them.
        shape: the dimension.
        facts: that refer to it.
        before: its versions.
        followers: dimensions of which versions follow from those of this one.
        parents: whose versions make versions of it.
    """

    reading: KeyMessages
    shape: DimensionShape
    facts: tuple[FactTimes, ...] = ()
    before: MemberVersions = MemberVersions()
    followers: tuple[str, ...] = ()
    parents: tuple[ParentStarts, ...] = ()

    def versions(self, more: Sequence[Message] = ()) -> MemberVersions:
        """Return the versions of the key, with some messages more."""
        one = self.reading
        cuts = {f"{_CUT}{parent.role}": parent for parent in self.parents if not parent.is_within}
        found = member_versions([*one.messages, *more], one.key, one.rules, one.columns, cuts)
        return msgspec.structs.replace(found, versions=cascaded_below(found.versions, self._starts_above))

    def _starts_above(self, values: Values) -> list[tuple[datetime, Opening]]:
        return [start for parent in self.parents if parent.is_within for start in parent(values)]


class LateAnswer(msgspec.Struct, frozen=True):
    """What a late message would do.

    Args:
        effect: in counts.
        versions: the versions that there would be, as tables hold them.
    """

    effect: LateEffect
    versions: tuple[KeyVersion, ...]


def key_study(target: WarehouseTarget, shapes: TableShapes, table: str, key: Sequence[str]) -> KeyStudy:
    """Read all that bears on the versions of a business key.

    Args:
        target: where it is.
        shapes: the tables of the model.
        table: the dimension.
        key: values of the business key, as texts.

    Raises:
        TargetError: there is too much of it, the member is among those above it, or its messages make versions of
            members of another dimension, of which versions of it follow.
    """
    shape = shapes.dimension(table)
    _check_entity(shapes, shape)
    followers = tuple(
        one.table for one in shapes.dimensions if any(table == reference.dimension for reference in one.cascades)
    )
    reading = read_key(target, shapes, shape, key)
    parents = _parents(target, shapes, shape, reading) if shape.cascades else ()
    if shape.inner_cascades:
        _check_above(target, shape, parents, reading.key, key)
    facts = tuple(_facts(target, shapes, shape, key))
    study = KeyStudy(reading=reading, shape=shape, facts=facts, followers=followers, parents=parents)
    return msgspec.structs.replace(study, before=study.versions())


def late_answer(
    study: KeyStudy, like: tuple[str, str, str, str], holds_from: datetime, values: Mapping[str, str]
) -> LateAnswer:
    """Return what a message like another would do that comes last and holds from some time.

    Args:
        study: what was read of the key.
        like: schema, row, order key and operation of a message.
        holds_from: since when it is to hold.
        values: by column of the history, texts of values that are other ones.

    Raises:
        TargetError: there is no such message or column, a value is none of its type, or the message may bring versions
            to a member above this one.
    """
    reading = study.reading
    found = next((one for one in reading.messages if (one.schema, one.row_key, one.order_key, one.op) == like), None)
    if found is None:
        raise TargetError("There is no such message", "It holds no more, or was loaded after this was read.")
    typed: dict[str, Any] = dict(_typed(reading.types, values))
    if reading.declared_in:
        typed[reading.declared_in] = holds_from
    late = late_message(reading.messages, found, holds_from, reading.rules, typed)
    if any(parent.is_within for parent in study.parents):
        _check_own(reading, late)
    after = study.versions([late])
    effect = late_effect(study.before, after, study.facts, reading.rules)
    if effect.opened or effect.gone or effect.closed or effect.changed:
        effect = msgspec.structs.replace(effect, uncounted=study.followers)
    return LateAnswer(effect, tuple(_shown(study, after)))


def _parents(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape, reading: KeyMessages
) -> tuple[ParentStarts, ...]:
    """Read when versions of the parents begin that the messages of a key refer to, or its states."""
    own = member_versions(reading.messages, reading.key, reading.rules, reading.columns)
    of_messages = reading.columns([one.values for one in reading.messages])
    known = [*(one.by_version for one in own.versions), *of_messages]
    return tuple(_starts(target, shapes, shape, one, known, reading.key) for one in shape.cascades)


def _check_entity(shapes: TableShapes, shape: DimensionShape) -> None:
    """Check that no dimension above another one is of the same entity: a message would be one of both.

    Raises:
        TargetError: one is.
    """
    above, level = {shape.table}, [shape]
    while level:
        for reference in level.pop().cascades:
            parent = shapes.dimension(reference.dimension)
            if parent.table in above:
                continue
            if parent.entity == shape.entity:
                text = (
                    f"A message of {shape.entity} makes versions of {parent.table}, which make some of {shape.table}."
                )
                raise TargetError(_REFUSED, text)
            above.add(parent.table)
            level.append(parent)


def _check_above(
    target: WarehouseTarget, shape: DimensionShape, parents: Iterable[ParentStarts], own_key: Key, texts: Sequence[str]
) -> None:
    """Check that a member is none of those above its parents, however far up; it may be its own parent.

    Args:
        target: where they are.
        shape: their dimension.
        parents: of the member.
        own_key, texts: of the member, as values and as texts.

    Cost: a query a parent and a level.

    Raises:
        TargetError: it is.
    """
    durable, table, parts = name(shape.durable_key), name(shape.table), [part.name for part in shape.key]
    own = set(target.rows(f"SELECT {durable} FROM {table} WHERE {has_key(parts)}", list(texts)))
    keys = {key for parent in parents if parent.is_within for key in parent.starts} - {own_key}
    of_key = f"SELECT {durable} FROM {table} WHERE {_equals(parts)}"
    level = {found for key in keys for found in target.rows(of_key, key)}
    roles, above = names(one.durable for one in shape.inner_cascades), set[tuple[int]]()
    while level:
        above |= level
        query = f"""SELECT DISTINCT {roles} FROM {table}
            WHERE {durable} IN ({", ".join(str(one) for (one,) in sorted(level))})"""
        level = {(one,) for row in target.rows(query) for one in row if one is not None} - above
    if own & above:
        text = f"The member is among those above it in {shape.table}, and hands its versions down to itself."
        raise TargetError(_REFUSED, text)


def _check_own(reading: KeyMessages, late: Message) -> None:
    """Check that no message carries another key: a member above this one could get versions by it.

    Raises:
        TargetError: one does.
    """
    parts = reading.rules.ownership.key
    own = dict(zip(parts, reading.key[-len(parts) :] if parts else (), strict=True))
    messages = (*reading.messages, late)
    if any(one.values.get(part) not in (None, value) for one in messages for part, value in own.items()):
        text = "A message of the key is of another member, too, whose versions may make some of this one."
        raise TargetError(_REFUSED, text)


def _starts(
    target: WarehouseTarget,
    shapes: TableShapes,
    shape: DimensionShape,
    reference: ReferenceShape,
    known: Sequence[Values],
    own: Key,
) -> ParentStarts:
    """Read when versions of the parents begin that a member with some values has.

    A member that is its own parent hands nothing down to itself: its versions begin where they begin.
    """
    parent, parts = shapes.dimension(reference.dimension), len(reference.on)
    is_within = reference in shape.inner_cascades
    query = f"""SELECT valid_from FROM {name(parent.table)} WHERE {name(parent.version_key)} > 0
        AND {_equals([part.name for part in parent.key])} ORDER BY version_number"""
    keys = {_parent_key(values, reference.role, parts) for values in known}
    starts = {
        key: ()
        if None in key or (is_within and key == own)
        else tuple(at for (at,) in target.rows(query, key) if at is not None)
        for key in keys
    }
    return ParentStarts(reference.role, reference.dimension, parts, starts, is_within)


def _equals(columns: Sequence[str]) -> str:
    return " AND ".join(f"{name(one)} = ?" for one in columns)


def _parent_key(values: Values, role: str, parts: int) -> Key:
    return tuple(values.get(f"{LOOKED_UP}{role}_{number}") for number in range(parts))


def _facts(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape, key: Sequence[str]
) -> Iterable[FactTimes]:
    """Yield by reference the times of the facts that refer to the member."""
    is_key = has_key([part.name for part in shape.key])
    durable = f"SELECT {name(shape.durable_key)} FROM {name(shape.table)} WHERE {is_key}"
    for fact in shapes.facts:
        for one in fact.references:
            if one.date is not None or one.dimension != shape.table or not one.has_key:
                continue
            if not target.has_table(fact.table):
                continue
            time = "event_time" if one.as_of == "event" else "CAST(NULL AS TIMESTAMPTZ)"
            query = f"""SELECT {time}, COUNT(*) FROM {name(fact.table)} WHERE {name(one.durable)} IN ({durable})
                GROUP BY 1 LIMIT {MOST_TIMES + 1}"""
            times = tuple((moment, int(count)) for moment, count in target.rows(query, list(key)))
            yield FactTimes(fact.table, one.role, times[:MOST_TIMES], len(times) > MOST_TIMES)


def _typed(types: Mapping[str, str], values: Mapping[str, str]) -> Iterable[tuple[str, Any]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for column, value in values.items():
            type_ = types.get(column)
            if type_ is None:
                raise TargetError(f"The key has no attribute {column}.", "", f"There are {', '.join(sorted(types))}.")
            try:
                row = connection.execute(f"SELECT CAST(? AS {type_})", [None if value == "null" else value]).fetchone()
            except duckdb.Error as error:
                raise TargetError(f"{value} is no value of {column}, which is of the type {type_.lower()}.") from error
            yield column, row[0] if row else None


def _shown(study: KeyStudy, member: MemberVersions) -> Iterable[KeyVersion]:
    """Yield versions as the table holds them."""
    for number, one in enumerate(member.versions, 1):
        is_newest = number == len(member.versions)
        until = study.reading.rules.until(member, one)
        values = study.reading.rules.values(one)
        yield KeyVersion(
            number=number,
            since=None if number == 1 and study.shape.covers_past else one.valid_from,
            until=None if until == FOREVER else until,
            is_current=is_newest and member.is_alive,
            is_deleted=is_newest and not member.is_alive,
            is_inferred=False,
            values=tuple((column.name, shown_value(values[column.name])) for column in study.shape.columns),
        )
