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
from metl_gui.core.dimensional.rows.late_messages import (
    DECLARED,
    FactTimes,
    LateEffect,
    MemberVersions,
    VersionRules,
    late_effect,
    late_message,
    member_versions,
)
from metl_gui.core.dimensional.rows.members import Key, Ownership
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.row_states import FOREVER, Values
from metl_gui.core.warehouse_model import Dimension
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.key_history import MOST, as_text, shown_value
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.histories.history_tables import history_table, sql_type
from metl_gui.warehouse.plans.histories.replay_plan import REPLAYS, is_void
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, MemberShape, TableShapes
from metl_gui.warehouse.plans.statements import name, names

MOST_TIMES = 20_000
"""Times of events of one fact that are read at most."""

_SCHEMA = "_schema"
_OF_MESSAGE = (
    *("schema", "row_key", "order_key", "op", "publication", "committed_at", "seen_at", "old_key"),
    *("position_log", "position_partition", "position_offset", "absent"),
)


class KeyStudy(msgspec.Struct, frozen=True, kw_only=True):
    """All that bears on the versions of one business key.

    Args:
        shape: the dimension.
        key: values of the business key.
        rules: how its versions follow.
        types: of the target, by column of the history that is read.
        declared_in: column of the history with the time since when states hold; empty where that is no instant.
        messages: of the source rows that ever carried the key, those that hold.
        facts: that refer to it.
        before: its versions.
    """

    shape: DimensionShape
    key: Key
    rules: VersionRules
    types: dict[str, str]
    declared_in: str
    messages: tuple[Message, ...]
    facts: tuple[FactTimes, ...] = ()
    before: MemberVersions = MemberVersions()


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
        TargetError: there is too much of it, or versions follow from those of another dimension too.
    """
    shape, declared = shapes.dimension(table), shapes.model.table(table)
    if shape.cascades or not isinstance(declared, Dimension):
        text = f"New versions of {', '.join(one.dimension for one in shape.cascades)} make versions of {table} too."
        raise TargetError("What a late message would do cannot be told here", text)
    history = shapes.histories[shape.entity]
    valid_at = shapes.valid_at.get(shape.entity, "")
    since = history.at_path(declared.valid_at) if valid_at else None
    sources = tuple(part.source for part in shape.key if part.source != _SCHEMA)
    listed = [used for value in shape.lists for used in value.uses]
    columns = tuple(dict.fromkeys((*sources, *shape.uses, *listed, *([since.name] if since else ()))))
    by_name = {one.name: one for one in history.columns}
    lists = tuple(one.name for one in shape.lists if one.history == 2)
    compared = (*(one.name for one in shape.columns if one.history in (2, 6)), *lists, *_looked_up(shape))
    ownership = Ownership(sources, declared.key_includes_schema, shape.prefer, shape.leading)
    study = KeyStudy(
        shape=shape,
        key=typed_key(target, shape, key),
        rules=VersionRules(
            ownership,
            compared,
            tuple((one.name, one.history) for one in shape.columns),
            is_declared=bool(valid_at),
            covers_past=shape.covers_past,
            removes=shape.on_delete == "remove",
        ),
        types={column: sql_type(by_name[column].type) for column in columns},
        declared_in=since.name if since is not None and since.type == "instant" else "",
        messages=key_messages(target, shape, columns, (since.name if since else "", valid_at), key),
    )
    before = member_versions(study.messages, study.key, study.rules, ColumnMaker(study.shape, study.types))
    return msgspec.structs.replace(study, facts=tuple(_facts(target, shapes, shape, key)), before=before)


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
        TargetError: there is no such message or column, or a value is none of its type.
    """
    found = next((one for one in study.messages if (one.schema, one.row_key, one.order_key, one.op) == like), None)
    if found is None:
        raise TargetError("There is no such message", "It holds no more, or was loaded after this was read.")
    typed: dict[str, Any] = dict(_typed(study, values))
    if study.declared_in and study.rules.is_declared:
        typed[study.declared_in] = holds_from
    message = late_message(study.messages, found, holds_from, study.rules, typed)
    after = member_versions([*study.messages, message], study.key, study.rules, ColumnMaker(study.shape, study.types))
    effect = late_effect(study.before, after, study.facts, study.rules)
    return LateAnswer(effect, tuple(_shown(study, after)))


def typed_key(target: WarehouseTarget, shape: MemberShape, key: Sequence[str]) -> Key:
    """Return a business key or grain as the table holds it, or as its source rows had it; as texts where none did."""
    places = ((shape.table, [part.name for part in shape.key]), (MemberTables(shape.table).owners, keys_of(shape)))
    for table, columns in places:
        is_key = " AND ".join(f"{as_text(one)} = ?" for one in columns)
        found = target.rows(f"SELECT {names(columns)} FROM {name(table)} WHERE {is_key} LIMIT 1", list(key))
        if found:
            return found[0]
    return tuple(key)


def key_messages(
    target: WarehouseTarget,
    shape: MemberShape,
    columns: Sequence[str],
    valid_at: tuple[str, str],
    key: Sequence[str],
) -> tuple[Message, ...]:
    """Return the messages of rows that ever carried a key, of those they came from, and what emptied their tables.

    Args:
        target: where they are.
        shape: the dimension or fact.
        columns: of the history that are read.
        valid_at: column and expression for the time since when a state holds, empty for none.
        key: values of the business key or grain, as texts.

    Raises:
        TargetError: there are too many.
    """
    owners, keys = name(MemberTables(shape.table).owners), keys_of(shape)
    carried = " AND ".join(f"{as_text(one)} = ?" for one in keys)
    rows = {(s, r) for s, r in target.rows(f'SELECT "_schema", "_row" FROM {owners} WHERE {carried}', list(key))}
    column, sql = valid_at
    declared = f", {sql} AS {name(DECLARED)}" if sql else ""
    holds = f" AND NOT {is_void('h')}" if target.has_table(REPLAYS) else ""
    query = f"""SELECT {names(_OF_MESSAGE, "h")}, {names(columns, "h")}{declared}
        FROM {name(history_table(shape.entity))} AS h WHERE schema = ? AND (row_key = ? OR op = 't'){holds}
        LIMIT {MOST + 1}"""
    found: dict[tuple[object, ...], Message] = {}
    wanted = list(rows)
    while wanted and len(found) <= MOST:
        schema, row = wanted.pop()
        for values in target.rows(query, [schema, row]):
            message = _message(values, columns, column, bool(sql))
            found[*message.identity, message.publication, message.position] = message
            old = (schema, message.old_key)
            if message.old_key is not None and old not in rows:
                rows.add(old)
                wanted.append(old)
    if len(found) > MOST:
        text = f"The key has more than {MOST:,} messages."
        raise TargetError("What a late message would do cannot be told here", text)
    return tuple(found.values())


def _message(row: Sequence[Any], columns: Sequence[str], declared_in: str, is_declared: bool) -> Message:
    own = dict(zip(_OF_MESSAGE, row, strict=False))
    values = row[len(_OF_MESSAGE) :]
    absent = set(own.pop("absent") or ())
    position = Position(*(own.pop(f"position_{one}") for one in Position._fields))
    carried = {one: value for one, value in zip(columns, values, strict=False) if one not in absent}
    if is_declared and declared_in in carried:
        carried[DECLARED] = values[-1]
    return Message(values=carried if own["op"] in "rcu" else {}, position=position, **own)


def _facts(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape, key: Sequence[str]
) -> Iterable[FactTimes]:
    """Yield by reference the times of the facts that refer to the member."""
    is_key = " AND ".join(f"{as_text(part.name)} = ?" for part in shape.key)
    durable = f"SELECT {name(shape.durable_key)} FROM {name(shape.table)} WHERE {is_key}"
    for fact in shapes.facts:
        for one in fact.references:
            if one.date is not None or one.dimension != shape.table or not one.has_key:
                continue
            if not target.has_table(fact.table):
                continue
            time = "event_time" if one.as_of == "event" else "CAST(NULL AS TIMESTAMPTZ)"
            query = f"""SELECT {time}, COUNT(*) FROM {name(fact.table)} WHERE {name(one.durable)} IN ({durable})
                GROUP BY 1 LIMIT {MOST_TIMES}"""
            times = tuple((moment, int(count)) for moment, count in target.rows(query, list(key)))
            yield FactTimes(fact.table, one.role, times)


def _looked_up(shape: MemberShape) -> dict[str, str]:
    """Return the names of what references look up, with their expressions."""
    return {f"_r_{one.role}_{number}": v.sql for one in shape.references for number, v in enumerate(one.on)}


class ColumnMaker:
    """Makes the columns of a dimension or fact from attributes, by the expressions of the plan.

    Args:
        shape: the table.
        types: of the target, by column of the history.
    """

    def __init__(self, shape: MemberShape, types: Mapping[str, str]) -> None:
        declared = {one.name: one.sql for one in (*shape.columns, *shape.lists)}
        if isinstance(shape, FactShape) and shape.event_time:
            declared["event_time"] = shape.event_time
        self._types, self._columns = types, declared | _looked_up(shape)

    def __call__(self, times: Sequence[Values]) -> Sequence[Values]:
        """Return the columns of each of several times."""
        if not self._columns:
            return [{} for _ in times]
        row = f"(?{', ?' * len(self._types)})"
        typed = "".join(f", CAST({name(column)} AS {type_}) AS {name(column)}" for column, type_ in self._types.items())
        made = ", ".join(f"{sql} AS {name(column)}" for column, sql in self._columns.items())
        query = f"""SELECT {made} FROM (
            SELECT "_place"{typed} FROM (VALUES {", ".join([row] * len(times))}) AS v({names(["_place", *self._types])})
            ) AS s ORDER BY "_place\""""
        values = [part for place, one in enumerate(times) for part in (place, *map(one.get, self._types))]
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            found = connection.execute(query, values).fetchall()
        return [dict(zip(self._columns, row, strict=True)) for row in found]


def _typed(study: KeyStudy, values: Mapping[str, str]) -> Iterable[tuple[str, Any]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for column, value in values.items():
            type_ = study.types.get(column)
            if type_ is None:
                raise TargetError(
                    f"The key has no attribute {column}.", "", f"There are {', '.join(sorted(study.types))}."
                )
            try:
                row = connection.execute(f"SELECT CAST(? AS {type_})", [None if value == "null" else value]).fetchone()
            except duckdb.Error as error:
                raise TargetError(f"{value} is no value of {column}, which is of the type {type_.lower()}.") from error
            yield column, row[0] if row else None


def _shown(study: KeyStudy, member: MemberVersions) -> Iterable[KeyVersion]:
    """Yield versions as the table holds them."""
    for number, one in enumerate(member.versions, 1):
        is_newest = number == len(member.versions)
        is_open = one.valid_to == FOREVER or (is_newest and study.shape.on_delete == "flag")
        values = study.rules.values(one)
        yield KeyVersion(
            number=number,
            since=None if number == 1 and study.shape.covers_past else one.valid_from,
            until=None if is_open else one.valid_to,
            is_current=is_newest and member.is_alive,
            is_deleted=is_newest and not member.is_alive,
            is_inferred=False,
            values=tuple((column.name, shown_value(values[column.name])) for column in study.shape.columns),
        )
