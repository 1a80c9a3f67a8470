"""Cascades within a dimension: versions of members begin where those of the members above them do.

The same rule as ``core.dimensional.rows.cascades.cascaded_within``, as statements.

Source: docs/reference/warehouse-model.md, "Reference".
"""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.facts.fact_values import looked_up
from metl_gui.warehouse.plans.facts.missed_plan import again_table
from metl_gui.warehouse.plans.histories.state_plan import FOREVER
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names

_OPENED = """CHR(30) || CAST(p."_at" AT TIME ZONE 'UTC' AS VARCHAR)"""
"""What opened a version that a member has from above: its time, of which a member has one."""


def own_versions(table: str) -> str:
    """Return the name of the load's own table of the versions that members have of their own."""
    return f"_own_{table}"


def cut_within(shape: DimensionShape, columns: Sequence[str]) -> str:
    """Return the query for versions that are cut where those of members above them begin.

    Starts are handed down as long as there are new ones, each once a member: so a circle ends.

    Args:
        shape: of a dimension that cascades within itself.
        columns: of versions, beside their key, time and number.
    """
    keys = keys_of(shape)
    above = [f"_p{number}" for number, _ in enumerate(keys)]
    is_there = 'NOT v."_is_dead"' if shape.on_delete == "remove" else "TRUE"
    edges = " UNION ALL ".join(
        f"""SELECT v."_n", {names(keys, "v")}, v."_from" AS "_since", COALESCE(v."_to", {FOREVER}) AS "_until",
            {", ".join(f"{name('v', c)} AS {name(p)}" for c, p in zip(looked_up(one), above, strict=True))}
            FROM own AS v WHERE {is_there}"""
        for one in shape.inner_cascades
    )
    begins_late = 'AND v."_number" > 1' if shape.covers_past else ""
    k = names(keys)
    same = " AND ".join(f"{name('e', p)} = {name('s', key)}" for p, key in zip(above, keys, strict=True))
    inside = 's."_at" > e."_since" AND s."_at" < e."_until"'
    number = f'ROW_NUMBER() OVER (PARTITION BY {names(keys, "v")} ORDER BY p."_at")'
    later = 'LEAD(p."_at") OVER (PARTITION BY v."_n" ORDER BY p."_at")'
    others = "".join(f", {name('v', column)}" for column in columns)
    return f"""
        WITH RECURSIVE own AS (
            SELECT *, ROW_NUMBER() OVER (ORDER BY {k}, "_from") AS "_n" FROM {name(own_versions(shape.table))}),
          edges AS ({edges}),
          known AS (
            SELECT {names(keys, "v")}, v."_from" AS "_at" FROM own AS v WHERE {is_there} {begins_late}
            UNION
            {_standing(shape, above)}),
          starts AS (
            SELECT {k}, "_at" FROM known
            UNION
            SELECT {names(keys, "e")}, s."_at" FROM starts AS s JOIN edges AS e ON {same} AND {inside}),
          points AS (
            SELECT "_n", "_from" AS "_at", TRUE AS "_is_own" FROM own
            UNION
            SELECT e."_n", s."_at", FALSE FROM starts AS s JOIN edges AS e ON {same} AND {inside})
        SELECT {names(keys, "v")}, p."_at" AS "_from",
          CASE WHEN p."_is_own" THEN v."_opened" ELSE {_OPENED} END AS "_opened"{others}, {number} AS "_number",
          v."_is_newest" AND {later} IS NULL AS "_is_newest", COALESCE({later}, v."_to") AS "_to", v."_is_dead"
        FROM own AS v JOIN points AS p ON p."_n" = v."_n\""""


def _standing(shape: DimensionShape, above: Sequence[str]) -> str:
    """Return the query for the starts of members that a load does not affect, and that affected ones refer to."""
    keys = keys_of(shape)
    on = " AND ".join(f"{name('m', key)} = {name('e', p)}" for key, p in zip(keys, above, strict=True))
    affected = name(MemberTables(shape.table).affected)
    return f"""SELECT {names(keys, "m")}, t.valid_from FROM edges AS e
            JOIN {name(members_table(shape.table))} AS m ON {on}
            JOIN {name(shape.table)} AS t ON {name("t", shape.durable_key)} = m.durable_key
              AND t.valid_from > e."_since" AND t.valid_from < e."_until"
            WHERE NOT EXISTS (SELECT 1 FROM {affected} AS a WHERE {joined(keys, "a", "m")})"""


def again_below(shape: DimensionShape) -> Step:
    """Return the step that lists the members below those that change, as far down as there are any.

    Cost: what lies below members that change.
    """
    table, again, keys = name(shape.table), name(again_table(shape.table)), keys_of(shape)
    affected = name(MemberTables(shape.table).affected)
    own = ", ".join(f"{name('t', part.name)} AS {name(key)}" for part, key in zip(shape.key, keys, strict=True))
    durable = name("t", shape.durable_key)
    refers = " OR ".join(f"{name('t', one.durable)} = b.durable_key" for one in shape.inner_cascades)
    changing = f"(SELECT {names(keys)} FROM {affected} UNION SELECT {names(keys)} FROM {again})"
    known = " AND ".join(
        f"{name('a', key)} = {name('t', part.name)}" for part, key in zip(shape.key, keys, strict=True)
    )
    return Step(
        f"Find members of {shape.table} that lie below those that change",
        f"""INSERT INTO {again} SELECT q.* FROM (
          WITH RECURSIVE below AS (
            SELECT m.durable_key FROM {name(members_table(shape.table))} AS m
            JOIN {changing} AS c ON {joined(keys, "c", "m")}
            UNION
            SELECT {durable} FROM below AS b JOIN {table} AS t ON ({refers}) AND {name("t", shape.version_key)} > 0)
          SELECT DISTINCT {own} FROM {table} AS t WHERE {durable} IN (SELECT durable_key FROM below)
            AND {name("t", shape.version_key)} > 0
            AND NOT EXISTS (SELECT 1 FROM {changing} AS a WHERE {known})) AS q""",
    )
