"""Read from a target the messages of one business key or grain, and how its rows follow from them, for the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from metl_gui.core.dimensional.rows.late_messages import DECLARED, VersionRules
from metl_gui.core.dimensional.rows.members import Key, Ownership
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.row_states import Values
from metl_gui.core.warehouse_model import Dimension
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.key_history import has_key
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.histories.history_tables import history_table, sql_type
from metl_gui.warehouse.plans.histories.replay_plan import REPLAYS, is_void
from metl_gui.warehouse.plans.shapes.table_shapes import ComputedColumn, DimensionShape, FactShape, TableShapes
from metl_gui.warehouse.plans.statements import name, names, text
from metl_gui.warehouse.target_model import check_declared

MOST = 5_000
"""Messages of one key that are read at most: rows are made of them in seconds."""

LOOKED_UP = "_r_"
"""Before the role in the names of columns for what references look up."""

_OF_MESSAGE = (
    *("schema", "row_key", "order_key", "op", "publication", "committed_at", "seen_at", "old_key"),
    *("position_log", "position_partition", "position_offset", "absent"),
)


class KeyMessages(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of one business key or grain.

    Args:
        shape: the dimension or fact.
        key: its values.
        rules: how rows follow.
        types: of the target, by column of the history that was read.
        declared_in: column of the history with the time since when states hold; empty where that is no instant.
        messages: of the source rows that ever carried the key, those that hold.
    """

    shape: DimensionShape | FactShape
    key: Key
    rules: VersionRules
    types: dict[str, str]
    declared_in: str
    messages: tuple[Message, ...]

    @property
    def columns(self) -> ColumnMaker:
        """Return what makes the columns of the table."""
        has_schema = bool(self.shape.key) and self.shape.key[0].source == "_schema"
        return ColumnMaker(self.shape, self.types, str(self.key[0]) if has_schema else "")


def read_key(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape | FactShape, key: Sequence[str]
) -> KeyMessages:
    """Read the messages of a business key or grain.

    Args:
        target: where they are.
        shapes: the tables of the model.
        shape: the dimension or fact.
        key: values of the key, as texts.

    Raises:
        TargetError: there are too many messages, or the table was made by another declaration.
    """
    check_declared(target, shapes, shape)
    declared = shapes.model.table(shape.table)
    history, valid_at = shapes.histories[shape.entity], shapes.valid_at.get(shape.entity, "")
    since = history.at_path(declared.valid_at) if valid_at and isinstance(declared, Dimension) else None
    sources = tuple(part.source for part in shape.key if not part.source.startswith("_"))
    used = [column for value in declared_columns(shape) for column in value.uses]
    columns = tuple(dict.fromkeys((*sources, *shape.uses, *used, *([since.name] if since is not None else []))))
    by_name = {one.name: one.type for one in history.columns}
    has_schema = bool(sources) and len(sources) < len(shape.key)
    return KeyMessages(
        shape=shape,
        key=_typed_key(target, shape, key),
        rules=_rules(shape, Ownership(sources, has_schema, shape.prefer, shape.leading), is_declared=since is not None),
        types={column: sql_type(by_name[column]) for column in columns},
        declared_in=since.name if since is not None and since.type == "instant" else "",
        messages=_messages(target, shape, columns, (since.name, valid_at) if since is not None else ("", ""), key),
    )


def declared_columns(shape: DimensionShape | FactShape) -> list[ComputedColumn]:
    """Return what is made of attributes: columns, lists, the event time of a fact, and what references look up."""
    found = [*shape.columns, *shape.lists]
    if isinstance(shape, FactShape) and shape.event_time:
        found.append(ComputedColumn("event_time", shape.event_time, "TIMESTAMPTZ", shape.event_time_uses))
    for one in shape.references:
        found += (
            msgspec.structs.replace(value, name=f"{LOOKED_UP}{one.role}_{number}")
            for number, value in enumerate(one.on)
        )
    return found


def _rules(shape: DimensionShape | FactShape, ownership: Ownership, *, is_declared: bool) -> VersionRules:
    compared = (one.name for one in declared_columns(shape) if one.history in (2, 6) or one.name.startswith(LOOKED_UP))
    return VersionRules(
        ownership,
        tuple(compared),
        tuple((one.name, one.history) for one in shape.columns),
        is_declared=is_declared,
        covers_past=isinstance(shape, DimensionShape) and shape.covers_past,
        removes=shape.on_delete == "remove",
        flags=shape.on_delete == "flag",
    )


def _typed_key(target: WarehouseTarget, shape: DimensionShape | FactShape, key: Sequence[str]) -> Key:
    """Return a business key or grain as the table holds it, or as its source rows had it; as texts where none did."""
    places = ((shape.table, [part.name for part in shape.key]), (MemberTables(shape.table).owners, keys_of(shape)))
    for table, columns in places:
        query = f"SELECT {names(columns)} FROM {name(table)} WHERE {has_key(columns)} LIMIT 1"
        found = target.rows(query, list(key))
        if found:
            return found[0]
    return tuple(key)


def _messages(
    target: WarehouseTarget,
    shape: DimensionShape | FactShape,
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
    owners, carried = name(MemberTables(shape.table).owners), has_key(keys_of(shape))
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
        raise TargetError("What follows from messages cannot be told here", text)
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


class ColumnMaker:
    """Makes the columns of a dimension or fact from attributes, by the expressions of the plan.

    Args:
        shape: the table.
        types: of the target, by column of the history.
        schema: in the key, which references may look up; empty where it is not in there.
    """

    def __init__(self, shape: DimensionShape | FactShape, types: Mapping[str, str], schema: str = "") -> None:
        self._types = types
        self._schema = f", {text(schema)} AS {name(keys_of(shape)[0])}" if schema else ""
        self._columns = {one.name: one.sql for one in declared_columns(shape)}

    def __call__(self, times: Sequence[Values]) -> Sequence[Values]:
        """Return the columns of each of several times."""
        if not self._columns or not times:
            return [{} for _ in times]
        # A time that is infinite may come as a text, beside others that do not (PostgreSQL).
        row = f"(?{''.join(f', CAST(? AS {type_})' for type_ in self._types.values())})"
        made = ", ".join(f"{sql} AS {name(column)}" for column, sql in self._columns.items())
        rows = f"(VALUES {', '.join([row] * len(times))}) AS v({names(['_place', *self._types])})"
        query = f"""SELECT {made} FROM (SELECT *{self._schema} FROM {rows}) AS s ORDER BY "_place\""""
        values = [part for place, one in enumerate(times) for part in (place, *map(one.get, self._types))]
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            found = connection.execute(query, values).fetchall()
        return [dict(zip(self._columns, row, strict=True)) for row in found]
