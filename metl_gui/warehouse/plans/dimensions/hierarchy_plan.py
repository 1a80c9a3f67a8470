"""Hierarchies: ancestors and descendants of the current versions of a dimension.

The same function as ``core.dimensional.rows.hierarchies``, as statements. Made anew are the members that changed and
all that hang below them; what stands above these is read from the table as it is.

Source: docs/reference/warehouse-model.md, "Hierarchies".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.dimensional.rows.hierarchies import MOST_LEVELS
from metl_gui.warehouse.plans.dimensions.inferred_plan import forgotten_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, HierarchyShape
from metl_gui.warehouse.plans.statements import Step, name, names, temporary
from metl_gui.warehouse.plans.write_plan import write_plan

COLUMNS = (("ancestor_durable_key", "BIGINT"), ("descendant_durable_key", "BIGINT"), ("depth", "INTEGER"))


def cycles_table(hierarchy: str) -> str:
    """Return the name of the table, kept in the target, of members whose way to their parents is cut."""
    return f"metl_cycles_{hierarchy}"


def create_hierarchy(shape: HierarchyShape) -> Iterator[Step]:
    """Yield the steps that make an empty hierarchy."""
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in COLUMNS)
    yield Step(f"Make {shape.table}", f"CREATE TABLE {name(shape.table)} ({listed})")
    columns = "member_durable_key BIGINT, parent_durable_key BIGINT"
    yield Step(
        f"Make the list of cycles in {shape.table}", f"CREATE TABLE {name(cycles_table(shape.table))} ({columns})"
    )


def hierarchy_plan(shape: HierarchyShape) -> Iterator[Step]:
    """Yield the steps that bring a hierarchy up to date, once nothing about its dimension changes any more.

    Cost: what hangs below members that changed, with its ancestors, and a scan of inferred members.
    """
    table = shape.table
    below, edges, cut, cycles = (name(one) for one in (*_own_tables(table), cycles_table(table)))
    queries = (_below(shape), _edges(shape), _cut(shape))
    *_, found = _own_tables(table)
    titles = ("Find what hangs below changed members of", "Find the parents of", "Cut the cycles of")
    for own, query, title in zip(_own_tables(table), queries, titles, strict=True):
        yield temporary(own, query, f"{title} {table}")
    yield Step(
        "Forget the cycles that were",
        f"DELETE FROM {cycles} WHERE member_durable_key IN (SELECT durable_key FROM {below})",
    )
    yield Step("Keep the cycles that are", f"INSERT INTO {cycles} SELECT member, parent FROM {cut}", needs=found)
    leave = f"DELETE FROM {edges} WHERE member IN (SELECT member FROM {cut})"
    yield Step("Leave out what is cut", leave, needs=found)
    yield temporary(MemberTables(table).wanted, _wanted(shape), f"Make the rows of {table}")
    old = f"SELECT * FROM {name(table)} WHERE descendant_durable_key IN (SELECT durable_key FROM {below})"
    columns = [column for column, _ in COLUMNS]
    yield from write_plan(table, columns[:2], columns, old)


def _own_tables(hierarchy: str) -> tuple[str, str, str]:
    """Return the names of the load's own tables: of members that are made anew, of their parents, of what is cut."""
    return f"_below_{hierarchy}", f"_edges_{hierarchy}", f"_cut_{hierarchy}"


def _current(of: DimensionShape, alias: str) -> str:
    """Return the condition that a row is the current version of a member."""
    return f"{alias}.is_current AND {name(alias, of.version_key)} > 0"


def _below(shape: HierarchyShape) -> str:
    """Return the query for members that changed, came or went, and those below them, through cycles too."""
    of, table = shape.dimension, name(shape.dimension.table)
    durable, parent = name("d", of.durable_key), name("d", shape.parent.durable)
    return f"""
        WITH RECURSIVE below AS (
          SELECT durable_key FROM (
            SELECT durable_key FROM {name(f"_members_{of.table}")}
            UNION SELECT durable_key FROM {name(forgotten_table(of.table))}
            UNION SELECT {durable} FROM {table} AS d WHERE d.is_inferred AND {_current(of, "d")} AND NOT EXISTS (
              SELECT 1 FROM {name(shape.table)} AS h WHERE h.descendant_durable_key = {durable})) AS q
          UNION
          SELECT {durable} FROM below AS b JOIN {table} AS d ON {parent} = b.durable_key AND {_current(of, "d")})
        SELECT durable_key FROM below"""


def _edges(shape: HierarchyShape) -> str:
    """Return the query for the parents of these that are current, with what their members are ordered by."""
    of, table = shape.dimension, name(shape.dimension.table)
    keys = ", ".join(f"{name('d', part.name)} AS {name(key)}" for part, key in zip(of.key, keys_of(of), strict=True))
    durable = name(of.durable_key)
    return f"""
        SELECT d.{durable} AS member, p.{durable} AS parent, {keys} FROM {table} AS d
        JOIN {table} AS p ON p.{durable} = {name("d", shape.parent.durable)} AND {_current(of, "p")}
        WHERE {_current(of, "d")} AND d.{durable} IN (SELECT durable_key FROM {name(f"_below_{shape.table}")})"""


def _cut(shape: HierarchyShape) -> str:
    """Return the query for the edges of the smallest business key of each cycle.

    A cycle has all its members below each of them, so that all of it is there.
    """
    edges = name(f"_edges_{shape.table}")
    return f"""
        WITH RECURSIVE walk AS (
            SELECT member, parent AS reached, 1 AS depth FROM {edges}
            UNION ALL
            SELECT w.member, e.parent, w.depth + 1 FROM walk AS w JOIN {edges} AS e ON e.member = w.reached
            WHERE w.reached <> w.member AND w.depth < {MOST_LEVELS}),
          around AS (
            SELECT member, reached FROM walk WHERE member IN (SELECT member FROM walk WHERE reached = member)),
          placed AS (
            SELECT member, ROW_NUMBER() OVER (ORDER BY {names(keys_of(shape.dimension))}) AS place
            FROM {edges} WHERE member IN (SELECT member FROM around)),
          first AS (
            SELECT a.member FROM around AS a JOIN placed AS o ON o.member = a.member
            JOIN placed AS r ON r.member = a.reached GROUP BY a.member, o.place HAVING MIN(r.place) = o.place)
        SELECT e.member, e.parent FROM {edges} AS e JOIN first AS f ON f.member = e.member"""


def _wanted(shape: HierarchyShape) -> str:
    """Return the query for the ancestors of these members, from above to below."""
    of, edges, below = shape.dimension, name(f"_edges_{shape.table}"), name(f"_below_{shape.table}")
    durable = name("d", of.durable_key)
    return f"""
        WITH RECURSIVE reached AS (
            SELECT {durable} AS ancestor, {durable} AS descendant, 0 AS depth FROM {name(of.table)} AS d
            WHERE {_current(of, "d")} AND {durable} IN (SELECT durable_key FROM {below})
            UNION ALL
            SELECT h.ancestor_durable_key, e.member, h.depth + 1 FROM {edges} AS e
            JOIN {name(shape.table)} AS h ON h.descendant_durable_key = e.parent
            WHERE e.parent NOT IN (SELECT durable_key FROM {below}) AND h.depth < {MOST_LEVELS}
            UNION ALL
            SELECT r.ancestor, e.member, r.depth + 1 FROM reached AS r JOIN {edges} AS e ON e.parent = r.descendant
            WHERE r.depth < {MOST_LEVELS})
        SELECT ancestor AS ancestor_durable_key, descendant AS descendant_durable_key, depth FROM reached"""
