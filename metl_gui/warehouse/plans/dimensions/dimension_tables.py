"""Dimensions as tables of the target: their columns, their keys, the rows for what is unknown, their views.

Source: docs/reference/warehouse-model.md, "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import Step, name, names, text

BEGINNING = "CAST('0001-01-01 00:00:00+00' AS TIMESTAMPTZ)"
"""Since when the first version of a member holds that covers the time before it."""


BEFORE = "before"
"""What opened the version of a member that covers the time before the first, where that does not."""


INFERRED = "inferred"
"""What opened the version of a member that no message has brought."""


FIXED = (
    *(("valid_from", "TIMESTAMPTZ"), ("valid_to", "TIMESTAMPTZ"), ("is_current", "BOOLEAN"), ("is_deleted", "BOOLEAN")),
    *(("is_inferred", "BOOLEAN"), ("version_number", "INTEGER"), ("first_known", "TIMESTAMPTZ")),
)
"""Columns at the end of every dimension."""


def members_table(table: str) -> str:
    """Return the name of the table of the keys of members, by business key."""
    return f"metl_members_{table}"


def versions_table(table: str) -> str:
    """Return the name of the table of the keys of versions, by member and what opened them."""
    return f"metl_versions_{table}"


def closed_table(table: str) -> str:
    """Return the name of the load's own table of versions that were open and have an end now."""
    return f"_closed_{table}"


def columns_of(shape: DimensionShape) -> list[tuple[str, str]]:
    """Return the columns of a dimension and their types."""
    keys = [(shape.version_key, "BIGINT"), (shape.durable_key, "BIGINT")]
    business = [(part.name, part.type) for part in shape.key]
    return [*keys, *business, *_declared(shape), *_reference_columns(shape), *FIXED]


def _declared(shape: DimensionShape) -> Iterator[tuple[str, str]]:
    for one in shape.columns:
        yield one.name, one.type
        if one.history == 3:
            yield f"{one.name}_previous", one.type
        if one.history == 6:
            yield f"{one.name}_current", one.type


def _reference_columns(shape: DimensionShape) -> Iterator[tuple[str, str]]:
    for one in shape.references:
        if one.has_key:
            yield one.key, "BIGINT"
        if one.has_durable:
            yield one.durable, "BIGINT"


def create_dimension(shape: DimensionShape) -> Iterator[Step]:
    """Yield the steps that make an empty dimension with its two rows for what is unknown and what does not apply."""
    table, keys = shape.table, keys_of(shape)
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns_of(shape))
    typed = ", ".join(f"{name(key)} {part.type}" for key, part in zip(keys, shape.key, strict=True))
    yield Step(f"Make {table}", f"CREATE TABLE {name(table)} ({listed})", is_changed=True)
    yield Step(
        f"Make the keys of {table}",
        f"CREATE TABLE IF NOT EXISTS {name(members_table(table))} ({typed}, durable_key BIGINT)",
    )
    columns = f"durable_key BIGINT, {name('opened_by')} VARCHAR, version_key BIGINT"
    made = f"CREATE TABLE IF NOT EXISTS {name(versions_table(table))} ({columns})"
    yield Step(f"Make the keys of versions of {table}", made, unlike=("opened_by",))
    owners = f'CREATE TABLE {name(MemberTables(table).owners)} ("_schema" VARCHAR, "_row" VARCHAR, {typed})'
    yield Step(f"Make the list of who owns {table}", owners)
    known = f"NOT EXISTS (SELECT 1 FROM metl_numbers WHERE dimension = {text(table)})"
    yield Step(f"Number the keys of {table}", f"INSERT INTO metl_numbers SELECT {text(table)}, 1, 1 WHERE {known}")
    for key, values in ((0, shape.unknown), (-1, shape.not_applicable)):
        yield _special(shape, key, dict(values))
    yield current_view(shape)
    yield now_view(shape)


def _special(shape: DimensionShape, key: int, values: dict[str, str]) -> Step:
    known = {shape.version_key: str(key), shape.durable_key: str(key), "valid_from": BEGINNING, "is_current": "TRUE"}
    known |= {"is_deleted": "FALSE", "is_inferred": "FALSE", "version_number": "1"}
    known |= {
        column: f"CAST({text(value)} AS {type_})"
        for column, type_ in columns_of(shape)
        if (value := values.get(column))
    }
    listed = ", ".join(known.values())
    return Step(
        "Add the row for what is unknown", f"INSERT INTO {name(shape.table)} ({names(known)}) VALUES ({listed})"
    )


def current_view(shape: DimensionShape) -> Step:
    """Return the step that makes the view of current versions."""
    view = (
        f"CREATE OR REPLACE VIEW {name(shape.table + '_current')} AS SELECT * FROM {name(shape.table)} WHERE is_current"
    )
    return Step(f"Show the current versions of {shape.table}", view)


def now_view(shape: DimensionShape) -> Step:
    """Return the step that makes the view of the versions that hold by the clock."""
    holds = "valid_from <= CURRENT_TIMESTAMP AND (valid_to IS NULL OR valid_to > CURRENT_TIMESTAMP)"
    view = f"CREATE OR REPLACE VIEW {name(shape.table + '_now')} AS SELECT * FROM {name(shape.table)} WHERE {holds}"
    return Step(f"Show the versions of {shape.table} that hold now", view)
