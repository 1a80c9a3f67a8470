"""Members and versions that no message has brought: they stand in a dimension exactly while something refers to them.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from metl_gui.warehouse.plans.dimensions.dimension_tables import (
    BEFORE,
    BEGINNING,
    INFERRED,
    members_table,
    versions_table,
)
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.dimensions.surrogate_keys import number_versions
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, ReferenceShape
from metl_gui.warehouse.plans.statements import Step, name, names, temporary, text


def needed_before(shape: DimensionShape, facts: Sequence[tuple[str, str, str]]) -> Iterator[Step]:
    """Yield the steps that keep, among the wanted rows of members, the version before the first where facts need it.

    Args:
        shape: of a dimension whose first versions do not cover the past.
        facts: tables that refer to it as of a time, with their columns for the member and the time.
    """
    firsts = name(f"_firsts_{shape.table}")
    query = f"""SELECT {name(shape.durable_key)} AS durable_key, MIN(valid_from) AS first_time
        FROM {name(MemberTables(shape.table).wanted)} GROUP BY {name(shape.durable_key)}"""
    yield temporary(f"_firsts_{shape.table}", query, f"Find the first versions of {shape.table}")
    needed = " UNION ALL ".join(
        f"""SELECT w.durable_key, w.first_time FROM {firsts} AS w JOIN {name(table)} AS f
            ON f.{name(durable)} = w.durable_key AND f.{name(time)} < w.first_time"""
        for table, durable, time in facts
    )
    yield from add_before(shape, needed, MemberTables(shape.table).wanted)


def add_before(shape: DimensionShape, needed: str, into: str) -> Iterator[Step]:
    """Yield the steps that add the version before the first to a table.

    Args:
        shape: of the dimension.
        needed: query for members, ``durable_key``, and the starts of their first versions, ``first_time``; a member
            may come once for each row that needs it.
        into: the table.
    """
    table = shape.table
    each = f"SELECT DISTINCT durable_key, first_time FROM ({needed}) AS q"
    yield temporary(f"_early_{table}", each, f"Find members of {table} that are needed before their first versions")
    found, given = name(f"_early_{table}"), name(versions_table(table))
    missing = f"""SELECT durable_key, {text(BEFORE)} AS opened_by FROM {found} AS n WHERE NOT EXISTS (
        SELECT 1 FROM {given} AS x WHERE x.durable_key = n.durable_key AND x.opened_by = {text(BEFORE)})"""
    yield from number_versions(table, missing, f"_early_{table}")
    columns = [shape.version_key, shape.durable_key, *(part.name for part in shape.key)]
    fixed = {"valid_from": BEGINNING, "valid_to": "n.first_time", "is_current": "FALSE", "is_deleted": "FALSE"}
    fixed |= {"is_inferred": "TRUE", "version_number": "0"}
    yield Step(
        f"Cover the time before the first versions of {table}",
        f"""INSERT INTO {name(into)} ({names([*columns, *fixed])})
        SELECT v.version_key, n.durable_key, {names(keys_of(shape), "m")}, {", ".join(fixed.values())} FROM {found} AS n
        JOIN {name(members_table(table))} AS m ON m.durable_key = n.durable_key
        JOIN {given} AS v ON v.durable_key = n.durable_key AND v.opened_by = {text(BEFORE)}""",
        table if into == table else "",
        "insert",
        needs=f"_early_{table}",
    )


def infer_own(shape: DimensionShape) -> Iterator[Step]:
    """Yield the steps that infer what members of the same dimension refer to, once these are written.

    These are members, and versions of the time before the first.
    """
    wanted, table, durable = name(MemberTables(shape.table).wanted), name(shape.table), name(shape.durable_key)
    own = [one for one in shape.references if one.dimension == shape.table]
    if own:
        needed = " UNION ".join(f"SELECT DISTINCT {name(one.durable)} AS durable_key FROM {wanted}" for one in own)
        yield from infer(shape, needed)
    early = " UNION ALL ".join(
        f"""SELECT d.durable_key, d.first_time FROM {wanted} AS w
            JOIN (SELECT {durable} AS durable_key, MIN(valid_from) AS first_time FROM {table}
                  WHERE {name(shape.version_key)} > 0 GROUP BY {durable}) AS d
            ON d.durable_key = w.{name(one.durable)} AND w.first_known < d.first_time"""
        for one in own
        if one.as_of == "version"
    )
    if early and not shape.covers_past:
        yield from add_before(shape, early, shape.table)


def inferred_for_own(shape: DimensionShape) -> list[str]:
    """Return the load's own tables of what ``infer_own`` finds, by member."""
    own = [one for one in shape.references if one.dimension == shape.table and one.has_key]
    early = [f"_early_{shape.table}"] if any(one.as_of == "version" for one in own) and not shape.covers_past else []
    return [*([f"_missing_{shape.table}"] if own else []), *early]


def infer(shape: DimensionShape, needed: str) -> Iterator[Step]:
    """Yield the steps that add a row for each member of a query that has none.

    Args:
        shape: of the dimension.
        needed: query for the keys of members, each once, in the column ``durable_key``.
    """
    table, keys = shape.table, keys_of(shape)
    missing = f"""
        SELECT n.durable_key, {text(INFERRED)} AS opened_by FROM ({needed}) AS n WHERE n.durable_key > 0
        AND NOT EXISTS (SELECT 1 FROM {name(table)} AS t WHERE t.{name(shape.durable_key)} = n.durable_key)"""
    yield temporary(f"_missing_{table}", missing, f"Find members of {table} that no message has brought")
    known = name(versions_table(table))
    unnumbered = f"""SELECT durable_key, opened_by FROM {name(f"_missing_{table}")} AS n WHERE NOT EXISTS (
        SELECT 1 FROM {known} AS x WHERE x.durable_key = n.durable_key AND x.opened_by = n.opened_by)"""
    yield from number_versions(table, unnumbered, f"_missing_{table}")
    columns = [shape.version_key, shape.durable_key, *(part.name for part in shape.key)]
    fixed = {
        "valid_from": BEGINNING,
        "is_current": "TRUE",
        "is_deleted": "FALSE",
        "is_inferred": "TRUE",
        "version_number": "1",
    }
    key = names(keys, "m")
    yield Step(
        f"Infer members of {table}",
        f"""INSERT INTO {name(table)} ({names([*columns, *fixed])})
        SELECT v.version_key, n.durable_key, {key}, {", ".join(fixed.values())} FROM {name(f"_missing_{table}")} AS n
        JOIN {name(members_table(table))} AS m ON m.durable_key = n.durable_key
        JOIN {name(versions_table(table))} AS v ON v.durable_key = n.durable_key AND v.opened_by = n.opened_by""",
        table,
        "insert",
        needs=f"_missing_{table}",
    )


def _unused(key: str, columns: Iterable[tuple[str, str]]) -> str:
    """Return the condition that a key of ``known`` stands in no column of some tables."""
    return "".join(
        f" AND NOT EXISTS (SELECT 1 FROM {name(table)} AS f WHERE f.{name(column)} = known.{name(key)})"
        for table, column in columns
    )


def _forget_before(shape: DimensionShape, referring: Sequence[tuple[str, ReferenceShape]]) -> Iterator[Step]:
    """Yield the step that removes versions before the first which nothing needs any longer."""
    if shape.covers_past:
        return
    used = _unused(shape.version_key, ((table, one.key) for table, one in referring if one.has_key))
    yield Step(
        f"Remove what {shape.table} need not cover",
        f"DELETE FROM {name(shape.table)} AS known WHERE known.is_inferred AND known.version_number = 0{used}",
        shape.table,
        "remove",
    )


def forgotten_table(table: str) -> str:
    """Return the name of the load's own table of inferred members that nothing needs any longer."""
    return f"_forgotten_{table}"


def forget_inferred(shape: DimensionShape, referring: Sequence[tuple[str, ReferenceShape]]) -> Iterator[Step]:
    """Yield the steps that remove inferred members to which nothing refers any longer.

    Args:
        shape: of the dimension.
        referring: tables and their references to it.
    """
    yield from _forget_before(shape, referring)
    used = _unused(shape.durable_key, ((table, one.durable) for table, one in referring))
    key, durable, forgotten = name(shape.version_key), name(shape.durable_key), forgotten_table(shape.table)
    yield temporary(
        forgotten,
        f"""SELECT {key} AS version_key, {durable} AS durable_key FROM {name(shape.table)} AS known
        WHERE known.is_inferred AND known.version_number > 0{used}""",
        f"Find members of {shape.table} that nothing needs",
    )
    yield Step(
        f"Remove members of {shape.table} that nothing needs",
        f"DELETE FROM {name(shape.table)} WHERE {key} IN (SELECT version_key FROM {name(forgotten)})",
        shape.table,
        "remove",
        needs=forgotten,
    )
