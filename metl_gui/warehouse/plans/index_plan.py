"""Indexes of a warehouse in a database that keeps rows in order of arrival: small loads find their rows by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from metl_gui.core.warehouse_model import Dimension, Fact, Table
from metl_gui.warehouse.plans.dimensions.dimension_tables import columns_of as dimension_columns
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table, versions_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.facts.fact_plan import columns_of as fact_columns
from metl_gui.warehouse.plans.facts.fact_plan import member_references
from metl_gui.warehouse.plans.facts.junk_plan import combinations_table
from metl_gui.warehouse.plans.facts.posting_plan import FROM, runs_table
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.shapes.table_shapes import (
    DimensionShape,
    FactPeriodicShape,
    FactShape,
    KeyColumn,
    ListBridgeShape,
    MemberShape,
    ModelError,
    PairBridgeShape,
    PeriodicShape,
    TableShapes,
)


class Index(msgspec.Struct, frozen=True):
    """An index that keeps small loads from reading whole tables.

    Args:
        table: its table.
        columns: names.
        is_text: values may be of any length.
        part: tells it from others of the same columns.
        where: condition for rows that are in it, in the dialect in which plans are written; empty for all.
        is_filled: null is looked up as the empty text.
    """

    table: str
    columns: tuple[str, ...]
    is_text: bool = False
    part: str = ""
    where: str = ""
    is_filled: bool = False


def indexes(shapes: TableShapes) -> tuple[Index, ...]:
    """Return the indexes of a warehouse, each once."""
    found: list[Index] = []
    for entity in shapes.histories:
        found += _of_history(history_table(entity))
    for shape in (*shapes.dimensions, *shapes.facts):
        found += _of_member(shape)
    for periodic in shapes.periodics:
        found += _of_periodic(periodic)
    for bridge in shapes.bridges:
        found += _of_bridge(bridge)
    for hierarchy in shapes.hierarchies:
        columns = ("ancestor_durable_key", "descendant_durable_key")
        found += (Index(hierarchy.table, columns), Index(hierarchy.table, columns[1:]))
    members: tuple[DimensionShape | FactShape, ...] = (*shapes.dimensions, *shapes.facts)
    for one in members:
        found += _declared(one, shapes.model.table(one.table))
    return tuple(dict.fromkeys(found))


def _of_history(table: str) -> Iterator[Index]:
    yield Index(table, ("row_key",), is_text=True)
    yield Index(table, ("row_key",), is_text=True, part="filled", is_filled=True)
    yield Index(table, ("schema",), part="moved", where="old_key IS NOT NULL")
    yield Index(table, ("schema",), part="truncated", where="op = 't'")


def _of_member(shape: MemberShape) -> Iterator[Index]:
    owners, keys = MemberTables(shape.table).owners, keys_of(shape)
    yield Index(owners, ("_row",), is_text=True)
    yield from _of_key(owners, keys, shape.key)
    yield from _of_key(shape.table, [part.name for part in shape.key], shape.key)
    for reference in member_references(shape):
        yield Index(shape.table, (reference.durable,))
    if isinstance(shape, FactShape):
        for junk in shape.junk:
            yield Index(shape.table, (junk.key,))
            yield Index(junk.table, (junk.key,))
            yield Index(combinations_table(junk.table), ("combination",), is_text=True)
    if isinstance(shape, DimensionShape):
        members, versions = members_table(shape.table), versions_table(shape.table)
        yield Index(shape.table, (shape.version_key,))
        yield Index(shape.table, (shape.durable_key, "valid_from"))
        yield Index(shape.table, (shape.durable_key,), part="inferred", where="is_inferred")
        yield Index(members, ("durable_key",))
        yield from _of_key(members, keys, shape.key)
        yield Index(versions, ("durable_key",))
        yield Index(versions, ("version_key",))


def _of_bridge(shape: ListBridgeShape | PairBridgeShape) -> Iterator[Index]:
    for column, type_ in (*shape.owner_columns, shape.element_column):
        yield Index(shape.table, (column,), is_text=type_ == "VARCHAR")


def _of_key(table: str, columns: Sequence[str], parts: Sequence[KeyColumn]) -> Iterator[Index]:
    """Yield an index of a key, or one each of its parts where one is text, but for that of the schema."""
    if all(part.type != "VARCHAR" for part in parts):
        yield Index(table, tuple(columns))
        return
    for column, part in zip(columns, parts, strict=True):
        if part.source != "_schema":
            yield Index(table, (column,), is_text=part.type == "VARCHAR")


def _of_periodic(shape: PeriodicShape | FactPeriodicShape) -> Iterator[Index]:
    yield Index(shape.table, ("period_end",))
    if isinstance(shape, PeriodicShape):
        yield Index(shape.table, (shape.dimension.durable_key,))
        return
    fact, runs = shape.fact, runs_table(shape.fact.table)
    yield from _of_key(shape.table, [part.name for part in fact.key], fact.key)
    yield from _of_key(runs, keys_of(fact), fact.key)
    yield Index(runs, (FROM,))


def _declared(shape: DimensionShape | FactShape, declared: Table | None) -> Iterator[Index]:
    """Yield the indexes that a model declares of a table.

    Text of any length goes into no index of several columns: where there is some, each column has one of its own.

    Raises:
        ModelError: the table has no such column.
    """
    columns = dimension_columns(shape) if isinstance(shape, DimensionShape) else fact_columns(shape)
    known = {column.lower(): (column, type_) for column, type_ in columns}
    for listed in declared.indexes if isinstance(declared, Dimension | Fact) else ():
        if unknown := [column for column in listed if column.lower() not in known]:
            text = f"{shape.table} declares an index of {unknown[0]}, which it does not have."
            raise ModelError("A column does not exist", text, "Change the model with “metl warehouse import” or “set”.")
        found = [known[column.lower()] for column in listed]
        if any(type_ == "VARCHAR" for _, type_ in found):
            yield from (Index(shape.table, (column,), is_text=type_ == "VARCHAR") for column, type_ in found)
        elif found:
            yield Index(shape.table, tuple(column for column, _ in found))
