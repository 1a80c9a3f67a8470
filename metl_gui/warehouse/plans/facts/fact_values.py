"""What a fact takes from the values of its source rows: event time, columns, and what its references look up."""

from __future__ import annotations

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.shapes.table_shapes import FactShape, ReferenceShape
from metl_gui.warehouse.plans.statements import name, names

POSTED = ("posted_at", "posting", "is_reversal")
"""Columns that tell the postings of a fact apart, behind its grain."""


def looked_up(reference: ReferenceShape) -> list[str]:
    """Return the names of the columns, in the load's own tables, of what a reference looks up."""
    return [f"_r_{reference.role}_{number}" for number in range(len(reference.on))]


def valued(shape: FactShape) -> list[tuple[str, str]]:
    """Return the columns of a fact, and of what it looks up, as the load has them, each with its expression."""
    fallback = '"_committed"' if shape.event_time else '"_began"'
    event_time = f"COALESCE({shape.event_time}, {fallback})" if shape.event_time else fallback
    columns = [("_time", event_time), ("_deleted", 'NOT "_lives"')]
    columns += [(one.name, one.sql) for one in (*shape.columns, *shape.lists)]
    for reference in shape.references:
        columns += zip(looked_up(reference), (value.sql for value in reference.on), strict=True)
    return columns


def latest_facts(shape: FactShape) -> str:
    """Return the query for facts as they are now, with what their references look up."""
    listed = ", ".join(f"{sql} AS {name(column)}" for column, sql in valued(shape))
    conditions = [*([f"({shape.where})"] if shape.where else []), *([] if shape.on_delete == "flag" else ['"_lives"'])]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {names(keys_of(shape))}, {listed} FROM {name(MemberTables(shape.table).latest)}{where}"


def row_columns(shape: FactShape) -> list[str]:
    """Return the columns by which the rows of a fact are known."""
    return [*(part.name for part in shape.key), *(POSTED if shape.reverses else ())]


def fact_value_types(shape: FactShape) -> dict[str, str]:
    """Return the columns of a fact that follow from its source rows alone, each with its type."""
    types = {"event_time": "TIMESTAMPTZ", **{one.name: one.type for one in shape.columns}}
    return {**types, "is_deleted": "BOOLEAN"} if shape.on_delete == "flag" else types
