"""Numbers for members and versions of dimensions, none of which is given twice.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.dimensions.dimension_tables import INFERRED, members_table, versions_table
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import Step, first_of, joined, name, names, temporary, text


def new_keys(shape: DimensionShape, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that give keys to members and versions that have none.

    The earliest version of a member that was inferred takes over the key that facts know.
    """
    table, k, versions = shape.table, names(keys), name(f"_versions_{shape.table}")
    yield from number_members(shape, f"SELECT DISTINCT {k} FROM {versions}", keys)
    if shape.on_delete == "remove":
        # A member that is removed, and referred to, keeps the key that it is inferred with.
        versions = f'(SELECT * FROM {versions} WHERE NOT "_is_dead")'
    known, taken = name(versions_table(table)), name(f"_taken_{table}")
    earliest = f"""
        SELECT m.durable_key, {first_of('v."_opened"', 'v."_from"')} AS opened_by FROM {versions} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        JOIN {known} AS i ON i.durable_key = m.durable_key AND i.opened_by = {text(INFERRED)}
        GROUP BY m.durable_key"""
    yield temporary(f"_taken_{table}", earliest, "Find members that were inferred")
    yield Step(
        "Leave versions that were known before",
        f"DELETE FROM {known} WHERE (durable_key, opened_by) IN (SELECT durable_key, opened_by FROM {taken})",
    )
    yield Step(
        "Give their keys to their first versions",
        f"""UPDATE {known} AS known SET opened_by = t.opened_by FROM {taken} AS t
        WHERE known.durable_key = t.durable_key AND known.opened_by = {text(INFERRED)}""",
    )
    missing = f"""
        SELECT m.durable_key, v."_opened" AS opened_by FROM {versions} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        WHERE NOT EXISTS (
          SELECT 1 FROM {known} AS x WHERE x.durable_key = m.durable_key AND x.opened_by = v."_opened")"""
    yield from number_versions(table, missing)


def number_members(shape: DimensionShape, query: str, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that number the business keys of a query that have no number."""
    members, k, numbers = name(members_table(shape.table)), names(keys), text(shape.table)
    fresh = (
        f"SELECT * FROM ({query}) AS q WHERE NOT EXISTS (SELECT 1 FROM {members} AS x WHERE {joined(keys, 'x', 'q')})"
    )
    next_ = f"(SELECT next_durable FROM metl_numbers WHERE dimension = {numbers})"
    numbered = f"SELECT {k}, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY {k}) FROM ({fresh}) AS f"
    yield Step(f"Number new members of {shape.table}", f"INSERT INTO {members} {numbered}")
    update = f"SELECT COALESCE(MAX(durable_key), 0) + 1 FROM {members}"
    yield Step("Keep the next number", _advance("next_durable", update, numbers))


def number_versions(table: str, query: str) -> Iterator[Step]:
    """Yield the steps that number the versions of a query, each by the key of its member and what opened it."""
    versions, numbers = name(versions_table(table)), text(table)
    next_ = f"(SELECT next_version FROM metl_numbers WHERE dimension = {numbers})"
    numbered = f"""SELECT durable_key, opened_by, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY durable_key, opened_by)
        FROM ({query}) AS q"""
    yield Step(f"Number new versions of {table}", f"INSERT INTO {versions} {numbered}")
    update = f"SELECT COALESCE(MAX(version_key), 0) + 1 FROM {versions}"
    yield Step("Keep the next number", _advance("next_version", update, numbers))


def _advance(column: str, query: str, numbers: str) -> str:
    return f"UPDATE metl_numbers SET {column} = GREATEST({column}, ({query})) WHERE dimension = {numbers}"
