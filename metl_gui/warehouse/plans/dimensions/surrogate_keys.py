"""Numbers for members and versions of dimensions, none of which is given twice.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.dialects import hides_places, row_place
from metl_gui.warehouse.plans.dimensions.dimension_tables import INFERRED, members_table, versions_table
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import SO_FAR, Step, first_of, joined, name, names, temporary, text


def new_keys(shape: DimensionShape, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that give keys to members and versions that have none.

    The earliest version of a member that was inferred takes over the key that facts know.
    """
    table, k, found = shape.table, names(keys), name(f"_versions_{shape.table}")
    yield from number_members(shape, f"SELECT DISTINCT {k} FROM {found}", keys)
    # A member that is removed, and referred to, keeps the key that it is inferred with.
    is_removed = shape.on_delete == "remove"
    versions = f'(SELECT * FROM {found} WHERE NOT "_is_dead")' if is_removed else found
    known, taken = name(versions_table(table)), name(f"_taken_{table}")
    earliest = f"""
        SELECT m.durable_key, {first_of('v."_opened"', ('v."_from"',))} AS opened_by FROM {versions} AS v
        JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        JOIN {known} AS i ON i.durable_key = m.durable_key AND i.opened_by = {text(INFERRED)}
        GROUP BY m.durable_key"""
    yield temporary(f"_taken_{table}", earliest, "Find members that were inferred")
    yield Step(
        "Leave versions that were known before",
        f"DELETE FROM {known} WHERE (durable_key, opened_by) IN (SELECT durable_key, opened_by FROM {taken})",
        needs=f"_taken_{table}",
    )
    yield Step(
        "Give their keys to their first versions",
        f"""UPDATE {known} AS known SET opened_by = t.opened_by FROM {taken} AS t
        WHERE known.durable_key = t.durable_key AND known.opened_by = {text(INFERRED)}""",
        needs=f"_taken_{table}",
    )
    alive, numbers = ' AND NOT v."_is_dead"' if is_removed else "", text(table)
    is_new = f"(x.version_key IS NULL{alive})"
    number = (
        f"SUM(CASE WHEN {is_new} THEN 1 ELSE 0 END) OVER ({SO_FAR})"  # no order: a sort for numbers that mean nothing
    )
    keyed = f"""
        SELECT v.*, m.durable_key AS "_durable", {is_new} AS "_is_new",
          CASE WHEN {is_new} THEN CAST({_next("next_version", numbers)} - 1 + {number} AS BIGINT)
            ELSE x.version_key END AS "_key"
        FROM {found} AS v JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}
        LEFT JOIN {known} AS x ON x.durable_key = m.durable_key AND x.opened_by = v."_opened\""""
    title = f"Give keys to versions of {table}"
    if is_removed or any(hides_places(one.name) for one in (*shape.columns, *shape.lists)):
        yield temporary(f"_versions_{table}", keyed, title)
    else:
        # Where no version has a key, none is looked for.
        unkeyed = f"""
            SELECT v.*, m.durable_key AS "_durable", TRUE AS "_is_new",
              CAST({_next("next_version", numbers)} + {row_place(found, "v")} AS BIGINT) AS "_key"
            FROM {found} AS v JOIN {name(members_table(table))} AS m ON {joined(keys, "m", "v")}"""
        some = f"_some_keys_{table}"
        yield temporary(some, f"SELECT version_key FROM {known} LIMIT 1", f"See whether versions of {table} have keys")
        yield temporary(f"_versions_{table}", keyed, title, needs=some, otherwise=unkeyed)
    fresh = f'FROM {found} WHERE "_is_new"'
    kept = f'INSERT INTO {known} SELECT "_durable", "_opened", "_key" {fresh}'
    yield Step(f"Keep the keys of versions of {table}", kept, made=versions_table(table))
    yield _advance("next_version", f'SELECT COALESCE(MAX("_key"), 0) + 1 {fresh}', numbers, versions_table(table))


def number_members(shape: DimensionShape, query: str, keys: Sequence[str]) -> Iterator[Step]:
    """Yield the steps that number the business keys of a query that have no number."""
    members, k, numbers = name(members_table(shape.table)), names(keys), text(shape.table)
    fresh = (
        f"SELECT * FROM ({query}) AS q WHERE NOT EXISTS (SELECT 1 FROM {members} AS x WHERE {joined(keys, 'x', 'q')})"
    )
    numbered = (
        f"SELECT {k}, {_next('next_durable', numbers)} - 1 + ROW_NUMBER() OVER (ORDER BY {k}) FROM ({fresh}) AS f"
    )
    made = members_table(shape.table)
    yield Step(f"Number new members of {shape.table}", f"INSERT INTO {members} {numbered}", made=made)
    yield _advance("next_durable", f"SELECT COALESCE(MAX(durable_key), 0) + 1 FROM {members}", numbers, made)


def number_versions(table: str, query: str, needs: str) -> Iterator[Step]:
    """Yield the steps that number versions.

    Args:
        table: the dimension.
        query: for versions without a number, each by the key of its member and what opened it.
        needs: the temporary table that they are of.
    """
    made, numbers = versions_table(table), text(table)
    versions = name(made)
    next_ = _next("next_version", numbers)
    numbered = f"""SELECT durable_key, opened_by, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY durable_key, opened_by)
        FROM ({query}) AS q"""
    yield Step(f"Number new versions of {table}", f"INSERT INTO {versions} {numbered}", made=made, needs=needs)
    yield _advance("next_version", f"SELECT COALESCE(MAX(version_key), 0) + 1 FROM {versions}", numbers, made)


def _next(column: str, numbers: str) -> str:
    return f"(SELECT {column} FROM metl_numbers WHERE dimension = {numbers})"


def _advance(column: str, query: str, numbers: str, needs: str) -> Step:
    update = f"UPDATE metl_numbers SET {column} = GREATEST({column}, ({query})) WHERE dimension = {numbers}"
    return Step("Keep the next number", update, needs=needs)
