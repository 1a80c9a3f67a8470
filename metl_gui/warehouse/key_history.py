"""Read one business key of a dimension from a target: its messages in log order, and its versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage, KeyVersion
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.plans.histories.history_tables import IDENTITY, RANK, history_table
from metl_gui.warehouse.plans.histories.replay_plan import REPLAYS, is_void
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, TableShapes
from metl_gui.warehouse.plans.statements import name

MOST = 500
"""Messages or versions of one key that are read at most, and keys that are offered."""

_LONGEST = 200
_STATES = ("c", "r", "u")
_SCHEMA = "_schema"
"""The part of a key that is no attribute."""

_BEFORE_ALL = 2
"""Years before this one stand for all the time before a first version."""


def keys_of(target: WarehouseTarget, shape: DimensionShape) -> tuple[tuple[str, ...], ...]:
    """Return business keys of a dimension, those with most versions first.

    Args:
        target: where it is.
        shape: the dimension.
    """
    parts = ", ".join(_as_text(part.name) for part in shape.key)
    query = f"""SELECT {parts} FROM {name(shape.table)} WHERE {name(shape.version_key)} > 0
        GROUP BY {parts} ORDER BY COUNT(*) DESC, {parts} LIMIT {MOST}"""
    return tuple(tuple(str(value) for value in row) for row in target.rows(query))


def grains_of(target: WarehouseTarget, shape: FactShape) -> tuple[tuple[str, ...], ...]:
    """Return the grains of some facts, in order.

    Args:
        target: where they are.
        shape: the fact.

    Cost: as many rows as are returned at most are read, however many there are.
    """
    return keys_in(target, shape, f"SELECT * FROM {name(shape.table)} LIMIT {MOST}")


def keys_in(
    target: WarehouseTarget, shape: DimensionShape | FactShape, rows: str, most: int = MOST
) -> tuple[tuple[str, ...], ...]:
    """Return the business keys or grains that some rows of a table have, in order, as texts.

    Args:
        target: where they are.
        shape: the table.
        rows: query for the rows, with the columns of the key.
        most: how many are returned.
    """
    keys = [name(part.name) for part in shape.key]
    known = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    parts = ", ".join(_as_text(part.name) for part in shape.key)
    k = ", ".join(keys)
    query = f"SELECT {parts} FROM ({rows}) AS t WHERE {known} GROUP BY {k} ORDER BY {k} LIMIT {most}"
    return tuple(tuple(str(value) for value in row) for row in target.rows(query))


def key_history(target: WarehouseTarget, shapes: TableShapes, table: str, key: Sequence[str]) -> KeyHistory:
    """Return the messages and versions of a business key.

    Args:
        target: where it is.
        shapes: the tables of the model.
        table: the dimension.
        key: values of the business key, as texts.
    """
    shape = shapes.dimension(table)
    messages = list(_messages(target, shape, shapes.valid_at.get(shape.entity, ""), key))
    versions = list(_versions(target, shape, key))
    is_cut = len(messages) > MOST or len(versions) > MOST
    return KeyHistory(
        table=table, key=tuple(key), messages=tuple(messages[:MOST]), versions=tuple(versions[:MOST]), is_cut=is_cut
    )


def _messages(
    target: WarehouseTarget, shape: DimensionShape, valid_at: str, key: Sequence[str]
) -> Iterator[KeyMessage]:
    """Yield all messages of the source rows that ever carried the key, those without it too."""
    history = name(history_table(shape.entity))
    carried = has_key(["schema" if part.source == _SCHEMA else part.source for part in shape.key])
    parts = (part.source for part in shape.key if part.source != _SCHEMA)
    columns = tuple(dict.fromkeys((*parts, *shape.uses)))
    values = "".join(f", {_as_text(column)}" for column in columns)
    since = f"{valid_at}, " if valid_at else ""
    mapped_again = f" OR {is_void('h')}" if target.has_table(REPLAYS) else ""
    query = f"""SELECT schema, row_key, order_key, op, COALESCE({since}committed_at, seen_at), absent,
            publication < MAX(publication) OVER (PARTITION BY {", ".join(map(name, IDENTITY))}){mapped_again}
              AS is_void{values}
        FROM {history} AS h WHERE (schema, row_key) IN (SELECT schema, row_key FROM {history} WHERE {carried})
        ORDER BY schema, row_key, order_key, {RANK}, publication LIMIT {MOST + 1}"""
    for schema, row, order_key, op, holds_from, absent, has_gone, *found in target.rows(query, list(key)):
        is_absent = set(absent or ())
        carries = zip(columns, found, strict=True) if op in _STATES else ()
        yield KeyMessage(
            schema=schema,
            row=row,
            order_key=order_key,
            op=op,
            holds_from=holds_from,
            is_void=bool(has_gone),
            values=tuple((column, shown_value(value)) for column, value in carries if column not in is_absent),
        )


def _versions(target: WarehouseTarget, shape: DimensionShape, key: Sequence[str]) -> Iterator[KeyVersion]:
    is_key = has_key([part.name for part in shape.key])
    names = [column.name for column in shape.columns]
    values = "".join(f", {_as_text(column)}" for column in names)
    query = f"""SELECT version_number, valid_from, valid_to, is_current, is_deleted, is_inferred{values}
        FROM {name(shape.table)} WHERE {name(shape.version_key)} > 0 AND {is_key}
        ORDER BY valid_from LIMIT {MOST + 1}"""
    for number, since, until, is_current, is_deleted, is_inferred, *found in target.rows(query, list(key)):
        yield KeyVersion(
            number=int(number or 0),
            since=since if since is not None and since.year >= _BEFORE_ALL else None,
            until=until,
            is_current=bool(is_current),
            is_deleted=bool(is_deleted),
            is_inferred=bool(is_inferred),
            values=tuple((column, shown_value(value)) for column, value in zip(names, found, strict=True)),
        )


def has_key(columns: Sequence[str]) -> str:
    """Return the condition that columns hold a key, whose values are given as texts."""
    return " AND ".join(f"{_as_text(one)} = ?" for one in columns)


def _as_text(column: str) -> str:
    return f"CAST({name(column)} AS VARCHAR)"


def shown_value(value: Any) -> str:
    """Return a value for people to read."""
    return "null" if value is None else str(value)[:_LONGEST]
