"""The history of an entity as a table of the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.warehouse.plans.statements import name, text

OWN_COLUMNS = (
    *(("schema", "VARCHAR"), ("row_key", "VARCHAR"), ("order_key", "VARCHAR"), ("op", "VARCHAR")),
    *(("publication", "BIGINT"), ("schema_version", "VARCHAR"), ("entity_version", "VARCHAR")),
    *(("committed_at", "TIMESTAMPTZ"), ("seen_at", "TIMESTAMPTZ"), ("position_log", "VARCHAR")),
    *(("position_partition", "BIGINT"), ("position_offset", "BIGINT"), ("snapshot", "BOOLEAN")),
    *(("old_key", "VARCHAR"), ("absent", "VARCHAR[]"), ("batch", "VARCHAR")),
)
"""Columns of every history and their types, before those of attributes."""

UNLIKE = ("row_key", "order_key")
"""Columns of every history whose texts hardly repeat."""

IDENTITY = ("schema", "row_key", "op", "order_key")
"""Columns that make two messages one."""

RANK = "CASE op WHEN 'd' THEN 0 WHEN 't' THEN 1 WHEN 'r' THEN 2 WHEN 'c' THEN 3 ELSE 4 END"
"""The order of operations at one position."""


def history_table(entity: str) -> str:
    """Return the name of the table that holds the history of an entity."""
    return f"metl_history_{entity}"


def sql_type(type_: str) -> str:
    """Return the type of a database for a type of a history or a model."""
    if type_.startswith(("decimal", "text(")):
        return "VARCHAR" if type_.startswith("text") else type_.upper()
    return _TYPES[type_]


_TYPES = {
    "integer": "DECIMAL(38, 0)",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "instant": "TIMESTAMPTZ",
    "text": "VARCHAR",
    "json": "VARCHAR",
}


def create_history(history: EntityHistory, table: str, more: Sequence[tuple[str, str]] = ()) -> str:
    """Return the statement that makes a table with the columns of a history, and some of its own.

    Args:
        history: of the entity.
        table: its name.
        more: names and types of columns.
    """
    columns = [*OWN_COLUMNS, *((one.name, sql_type(one.type)) for one in history.columns), *more]
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns)
    return f"CREATE TABLE IF NOT EXISTS {name(table)} ({listed})"


def add_column(table: str, column: str, type_: str) -> str:
    """Return the statement that adds a column."""
    return f"ALTER TABLE {name(table)} ADD COLUMN {name(column)} {type_}"


def rename_column(table: str, column: str, to: str) -> str:
    """Return the statement that gives a column another name."""
    return f"ALTER TABLE {name(table)} RENAME COLUMN {name(column)} TO {name(to)}"


def list_absent_again(table: str, columns: Mapping[str, str]) -> str:
    """Return the statement after which messages name what they do not carry by the names that columns have now.

    Args:
        table: of messages.
        columns: by name, that which it had; empty for one that no message there carried.
    """
    parts = [
        f"CASE WHEN LIST_CONTAINS(absent, {text(before)}) THEN [{text(column)}] ELSE [] END"
        if before
        else f"[{text(column)}]"
        for column, before in sorted(columns.items())
    ]
    while len(parts) > 1:  # as a tree that is not deep
        pairs = zip_longest(parts[::2], parts[1::2])
        parts = [f"LIST_CONCAT({one}, {other})" if other else one for one, other in pairs]
    return f"UPDATE {name(table)} SET absent = {parts[0]}"
