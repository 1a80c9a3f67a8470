"""The rows of a dimension: versions with their keys, and what of the table differs from them.

Source: docs/reference/warehouse-model.md, "What stands in the target".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.warehouse.plans.dimensions.calendar_plan import NOT_APPLICABLE, day_key
from metl_gui.warehouse.plans.dimensions.dimension_tables import (
    BEGINNING,
    FIXED,
    closed_table,
    columns_of,
    members_table,
    versions_table,
)
from metl_gui.warehouse.plans.dimensions.inferred_plan import add_before, infer, infer_own, needed_before
from metl_gui.warehouse.plans.dimensions.inner_cascades import again_below, cut_within, own_versions
from metl_gui.warehouse.plans.dimensions.member_plan import (
    MemberTables,
    keys_of,
    latest_plan,
    segment_plan,
    shared_plan,
)
from metl_gui.warehouse.plans.dimensions.surrogate_keys import new_keys, number_members
from metl_gui.warehouse.plans.facts import fact_values
from metl_gui.warehouse.plans.facts.missed_plan import again_table
from metl_gui.warehouse.plans.histories.state_plan import FOREVER
from metl_gui.warehouse.plans.shapes.table_shapes import ComputedColumn, DimensionShape, ReferenceShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary, text
from metl_gui.warehouse.plans.write_plan import write_plan


def version_plan(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that make the wanted rows of affected members.

    Cost: sorts the states of affected members by key and time.
    """
    tables, keys, uses = MemberTables(shape.table), keys_of(shape), shape.uses
    yield from shared_plan(shape)
    yield from segment_plan(shape, uses)
    if _outer_cascades(shape):
        yield temporary(tables.segments, _cascaded(shape, dimensions), f"Cut {shape.table} where its parents change")
    yield from latest_plan(shape, uses)
    found = own_versions(shape.table) if shape.inner_cascades else f"_versions_{shape.table}"
    yield temporary(found, _versions(shape, keys), f"Find the versions of {shape.table}")
    if shape.inner_cascades:
        cut = cut_within(shape, _version_columns(shape))
        yield temporary(f"_versions_{shape.table}", cut, f"Cut {shape.table} where members above change")
    yield from new_keys(shape, keys)
    yield temporary(tables.wanted, _wanted(shape, keys, dimensions), f"Make the rows of {shape.table}")


def _by_version(shape: DimensionShape) -> list[ComputedColumn]:
    return [one for one in shape.columns if one.history in (2, 6)]


def _references(shape: DimensionShape) -> list[tuple[ReferenceShape, list[tuple[str, str]]]]:
    """Return for each reference the columns of what is looked up, with their expressions."""
    return [
        (one, [(column, v.sql) for column, v in zip(fact_values.looked_up(one), one.on, strict=True)])
        for one in shape.references
    ]


def _member_references(shape: DimensionShape) -> list[tuple[ReferenceShape, list[tuple[str, str]]]]:
    """Return those of them that lead to members, so to all but days and times of the day."""
    return [(one, pairs) for one, pairs in _references(shape) if one.date is None]


def _outer_cascades(shape: DimensionShape) -> bool:
    """Return whether versions of another dimension make new ones of this."""
    return len(shape.cascades) > len(shape.inner_cascades)


def _version_columns(shape: DimensionShape) -> list[str]:
    """Return the columns of versions for what is declared, beside their key, time and number."""
    lists = [one for one in shape.lists if one.history == 2]
    columns = [one.name for one in (*_by_version(shape), *lists)]
    columns += [column for _, pairs in _references(shape) for column, _ in pairs]
    columns += [one.name for one in shape.columns if one.history in (0, 3)]
    return columns + [f"{one.name}_previous" for one in shape.columns if one.history == 3]


def _versions(shape: DimensionShape, keys: Sequence[str]) -> str:
    """Return the query for versions: touching segments that are equal in columns of type 2 and references are one."""
    tables = MemberTables(shape.table)
    k, segments = names(keys), name(tables.segments if _outer_cascades(shape) else tables.uncut)
    firsts = [one for one in shape.columns if one.history == 0]
    befores = [_Before(one) for one in shape.columns if one.history == 3]
    looked_up = [pair for _, pairs in _references(shape) for pair in pairs]
    lists = [one for one in shape.lists if one.history == 2]
    compared = [*((one.name, one.sql) for one in (*_by_version(shape), *lists)), *looked_up]
    by_time = f'PARTITION BY {k} ORDER BY "_from"'
    valued = "".join(f", {sql} AS {name(column)}" for column, sql in compared)
    valued += "".join(f", FIRST_VALUE({one.sql}) OVER ({by_time}) AS {name(one.name)}" for one in firsts)
    valued += "".join(one.now(by_time) for one in befores)
    touches = f'LAG("_to") OVER ({by_time}) IS NOT DISTINCT FROM "_from"'
    equal = "".join(f" AND {name(c)} IS NOT DISTINCT FROM LAG({name(c)}) OVER ({by_time})" for c, _ in compared)
    declared = [*(c for c, _ in compared), *(one.name for one in firsts), *(one.column.name for one in befores)]
    kept = names([*keys, "_from", "_opened", *declared])
    cascaded, stays = (', "_cascaded"', ' AND NOT "_cascaded"') if _outer_cascades(shape) else ("", "")
    return f"""
        WITH valued AS (SELECT {k}, "_from", "_to", "_opened"{cascaded}{valued} FROM {segments}),
          marked AS (SELECT *, CASE WHEN {touches}{equal}{stays} THEN 0 ELSE 1 END AS "_new",
                       LAG("_to") OVER ({by_time}) AS "_ended",
                       MAX(COALESCE("_to", {FOREVER})) OVER ({by_time} {_WHOLE}) AS "_end"
                       {"".join(one.differed(by_time) for one in befores)} FROM valued),
          found AS (SELECT *{"".join(one.found(k) for one in befores)} FROM marked),
          opened AS (SELECT *, ROW_NUMBER() OVER ({by_time}) AS "_number",
                       LEAD("_from") OVER ({by_time}) IS NULL AS "_is_newest",
                       LEAD("_ended") OVER ({by_time}) AS "_until" FROM found WHERE "_new" = 1)
        SELECT {kept}, "_number", "_is_newest",
          CASE WHEN "_is_newest" THEN NULLIF("_end", {FOREVER}) ELSE "_until" END AS "_to",
          "_end" < {FOREVER} AS "_is_dead"{"".join(one.given() for one in befores)}
        FROM opened"""


_WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
"""All rows of a key; in the order in which others are looked at, so that they are sorted once."""


class _Before:
    """The columns in which the last value before the current one that differed from it is found, query by query."""

    def __init__(self, column: ComputedColumn) -> None:
        self.column, self.name = column, name(column.name)
        self.value, self.at, self.before = (name(f"{prefix}{column.name}") for prefix in ("_v_", "_p_", "_q_"))

    def now(self, by_time: str) -> str:
        """Return the value of each segment, and the current one."""
        sql = self.column.sql
        return f", {sql} AS {self.value}, LAST_VALUE({sql}) OVER ({by_time} {_WHOLE}) AS {self.name}"

    def differed(self, by_time: str) -> str:
        """Return since when the last segment holds that has another value."""
        is_other = f"{self.value} IS DISTINCT FROM {self.name}"
        return f', MAX(CASE WHEN {is_other} THEN "_from" END) OVER ({by_time} {_WHOLE}) AS {self.at}'

    def found(self, keys: str) -> str:
        """Return the value of that segment."""
        first = f'CASE WHEN "_from" = {self.at} THEN 0 ELSE 1 END'
        return f", FIRST_VALUE({self.value}) OVER (PARTITION BY {keys} ORDER BY {first}) AS {self.before}"

    def given(self) -> str:
        """Return it, or null where no segment has another value."""
        return f", CASE WHEN {self.at} IS NOT NULL THEN {self.before} END AS {name(self.column.name + '_previous')}"


def version_join(reference: ReferenceShape, target: DimensionShape, durable: str, time: str, among: str = "") -> str:
    """Return the join to the version of a member that holds at a time, in a gap the last before, or to the newest.

    Its columns are ``version_key`` and ``is_inferred``, behind the alias ``p_ROLE``.

    Args:
        reference: to the dimension.
        target: the dimension.
        durable: expression for the key of the member.
        time: expression for the time.
        among: query for the keys of members that are looked up, so that no other version is read; empty for all.
    """
    alias, key, member = name(f"p_{reference.role}"), name(target.version_key), name(target.durable_key)
    newest = f"PARTITION BY {member} ORDER BY valid_from"
    few = f" AND {member} IN ({among})" if among else ""
    ranges = f"""SELECT {member} AS durable_key, {key} AS version_key,
        is_inferred AND version_number > 0 AS is_inferred, valid_from AS "_since",
        LEAD(valid_from) OVER ({newest}) AS "_next" FROM {name(target.table)} WHERE {key} > 0{few}"""
    holds = f'{time} >= {alias}."_since" AND {time} < COALESCE({alias}."_next", {FOREVER})'
    if reference.as_of == "current":
        holds = f'{alias}."_next" IS NULL'
    return f" LEFT JOIN ({ranges}) AS {alias} ON {alias}.durable_key = {durable} AND {holds}"


def _wanted(shape: DimensionShape, keys: Sequence[str], dimensions: dict[str, DimensionShape]) -> str:
    """Return the query for rows as they are to be."""
    table = shape.table
    columns: list[tuple[str, str]] = [(shape.version_key, 'v."_key"'), (shape.durable_key, 'v."_durable"')]
    columns += [(part.name, f"v.{name(key)}") for part, key in zip(shape.key, keys, strict=True)]
    for one in shape.columns:
        columns.append((one.name, f"l.{name(one.name)}" if one.history == 1 else f"v.{name(one.name)}"))
        if one.history == 3:
            columns.append((f"{one.name}_previous", f"v.{name(one.name + '_previous')}"))
        if one.history == 6:
            columns.append((f"{one.name}_current", f"l.{name(one.name)}"))
    for reference, looked_up in _references(shape):
        if reference.date is not None:
            columns.append((reference.key, day_key(reference, f"v.{name(looked_up[0][0])}")))
            continue
        whole = " AND ".join(f"v.{name(column)} IS NOT NULL" for column, _ in looked_up)
        if reference.has_key:
            key = name(f"p_{reference.role}", "version_key")
            columns.append((reference.key, f"CASE WHEN {whole} THEN COALESCE({key}, 0) ELSE {NOT_APPLICABLE} END"))
        durable = name(f"r_{reference.role}", "durable_key")
        columns.append((reference.durable, f"CASE WHEN {whole} THEN COALESCE({durable}, 0) ELSE {NOT_APPLICABLE} END"))
    first = f'v."_number" = 1 AND {str(shape.covers_past).upper()}'
    is_open = f'v."_is_newest" AND {str(shape.on_delete == "flag").upper()}'
    fixed = (
        f'CASE WHEN {first} THEN {BEGINNING} ELSE v."_from" END',
        f'CASE WHEN {is_open} THEN NULL ELSE v."_to" END',
        'v."_is_newest" AND NOT v."_is_dead"',
        'v."_is_newest" AND v."_is_dead"',
        "FALSE",
        'CAST(v."_number" AS INTEGER)',
        'v."_from"',
    )
    columns += [(column, sql) for (column, _), sql in zip(FIXED, fixed, strict=True)]
    latest = "".join(
        f", {one.sql} AS {name(one.name)}" for one in (*shape.columns, *shape.lists) if one.history in (1, 6)
    )
    joins = "".join(
        f" LEFT JOIN {name(members_table(reference.dimension))} AS {name('r_' + reference.role)} ON "
        + " AND ".join(f"{name('r_' + reference.role, f'_k{n}')} = v.{name(c)}" for n, (c, _) in enumerate(looked_up))
        for reference, looked_up in _member_references(shape)
    )
    joins += "".join(
        version_join(
            reference, dimensions[reference.dimension], f"{name('r_' + reference.role)}.durable_key", 'v."_from"'
        )
        for reference, _ in _member_references(shape)
        if reference.has_key
    )
    columns += [(one.name, name("l" if one.history == 1 else "v", one.name)) for one in shape.lists]
    listed = ", ".join(f"{sql} AS {name(column)}" for column, sql in columns)
    alive = ' WHERE NOT v."_is_dead"' if shape.on_delete == "remove" else ""
    return f"""
        SELECT {listed} FROM {name(f"_versions_{table}")} AS v
        JOIN (SELECT {names(keys)}{latest} FROM {name(MemberTables(table).latest)}) AS l
          ON {joined(keys, "l", "v")}{joins}{alive}"""


def _cascaded(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> str:
    """Return the query for segments that are cut where a version of a parent begins, and which parts begin so.

    A part that no message of the member itself opened is known by what opened the version of its parent.
    """
    keys = keys_of(shape)
    values = "".join(f", {sql} AS {name(c)}" for one, pairs in _references(shape) if one.cascade for c, sql in pairs)
    starts = ""
    for reference, looked_up in _references(shape):
        if reference.cascade and reference not in shape.inner_cascades:
            target = dimensions[reference.dimension]
            on = zip(keys_of(target), (column for column, _ in looked_up), strict=True)
            same = " AND ".join(f"{name('m', key)} = {name('s', column)}" for key, column in on)
            starts += f"""
            UNION ALL
            SELECT s."_n", p.valid_from, {text(reference.role)} || CHR(31) || x.opened_by FROM numbered AS s
            JOIN {name(members_table(target.table))} AS m ON {same}
            JOIN {name(target.table)} AS p ON {name("p", target.durable_key)} = m.durable_key
              AND p.valid_from >= s."_from" AND p.valid_from < COALESCE(s."_to", {FOREVER})
            JOIN {name(versions_table(target.table))} AS x ON x.version_key = {name("p", target.version_key)}
              AND x.durable_key = m.durable_key"""
    return f"""
        WITH numbered AS (
            SELECT *, ROW_NUMBER() OVER (ORDER BY {names(keys)}, "_from") AS "_n"{values}
            FROM {name(MemberTables(shape.table).uncut)}),
          points AS (SELECT "_n", "_from" AS "_at", '' AS "_by" FROM numbered {starts}),
          cut AS (SELECT "_n", "_at", MIN("_by") AS "_own", MAX("_by") AS "_by" FROM points GROUP BY "_n", "_at"),
          parts AS (SELECT *, LEAD("_at") OVER (PARTITION BY "_n" ORDER BY "_at") AS "_next" FROM cut)
        SELECT {names(keys, "s")}, c."_at" AS "_from", COALESCE(c."_next", s."_to") AS "_to",
          CASE WHEN c."_own" = '' THEN s."_opened" ELSE c."_by" END AS "_opened", c."_by" <> '' AS "_cascaded"
          {"".join(f", {name('s', c)}" for c in shape.uses)}
        FROM numbered AS s JOIN parts AS c ON s."_n" = c."_n\""""


def again_for_parents(shape: DimensionShape) -> Iterator[Step]:
    """Yield the steps that list the members of which a parent changed whose versions make new ones of theirs.

    Within a dimension they are not known yet: listed are all below those that change.

    Cost: a look-up of the column for the parent.
    """
    again, keys = name(again_table(shape.table)), keys_of(shape)
    own = ", ".join(f"{name(part.name)} AS {name(key)}" for part, key in zip(shape.key, keys, strict=True))
    for reference in shape.cascades:
        if reference in shape.inner_cascades:
            continue
        changed = f"SELECT durable_key FROM {name(f'_members_{reference.dimension}')}"
        where = f"{name(shape.version_key)} > 0 AND {name(reference.durable)} IN ({changed})"
        yield Step(
            f"Find members of {shape.table} whose {reference.role} changed",
            f"INSERT INTO {again} SELECT DISTINCT {own} FROM {name(shape.table)} WHERE {where}",
        )
    if shape.inner_cascades:
        yield again_below(shape)


def parents_plan(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that infer the members of other dimensions that versions refer to and no message has brought.

    So are versions before the first, where a version begins before that and the dimension does not cover the past.
    """
    for reference, looked_up in _member_references(shape):
        if reference.dimension == shape.table:
            continue
        target = dimensions[reference.dimension]
        on = zip(keys_of(target), (column for column, _ in looked_up), strict=True)
        same = " AND ".join(f"{name('m', key)} = {name('v', column)}" for key, column in on)
        alive = ' WHERE NOT v."_is_dead"' if shape.on_delete == "remove" else ""
        met = f"""SELECT m.durable_key, v."_from" FROM {name(f"_versions_{shape.table}")} AS v
            JOIN {name(members_table(target.table))} AS m ON {same}{alive}"""
        yield from infer(target, f"SELECT DISTINCT durable_key FROM ({met}) AS q")
        if reference.as_of == "version" and not target.covers_past:
            member, few = name(target.durable_key), f"SELECT durable_key FROM ({met}) AS r"
            early = f"""SELECT d.durable_key, d.first_time FROM ({met}) AS q
                JOIN (SELECT {member} AS durable_key, MIN(valid_from) AS first_time FROM {name(target.table)}
                      WHERE {name(target.version_key)} > 0 AND {member} IN ({few}) GROUP BY {member}) AS d
                ON d.durable_key = q.durable_key AND q."_from" < d.first_time"""
            yield from add_before(target, early, target.table)


def reference_keys(shape: DimensionShape, dimensions: dict[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that number the members that a dimension refers to, before its rows are made."""
    for reference, looked_up in _member_references(shape):
        keys = keys_of(target := dimensions[reference.dimension])
        whole = " AND ".join(f"{name(column)} IS NOT NULL" for column, _ in looked_up)
        listed = ", ".join(f"{name(column)} AS {name(key)}" for key, (column, _) in zip(keys, looked_up, strict=True))
        query = f"SELECT DISTINCT {listed} FROM {name(f'_versions_{shape.table}')} WHERE {whole}"
        yield from number_members(target, query, keys)


def dimension_plan(
    shape: DimensionShape, dimensions: dict[str, DimensionShape], facts: Sequence[tuple[str, str, str]] = ()
) -> Iterator[Step]:
    """Yield the steps that bring the affected members of a dimension up to date.

    Args:
        shape: of the dimension.
        dimensions: all, by name.
        facts: see ``needed_before``.
    """
    tables, keys, table = MemberTables(shape.table), keys_of(shape), name(shape.table)
    steps = list(version_plan(shape, dimensions))
    yield from steps[:-1]
    yield from reference_keys(shape, dimensions)
    yield from parents_plan(shape, dimensions)
    yield steps[-1]
    if facts and not shape.covers_past:
        yield from needed_before(shape, facts)
    member = " AND ".join(
        f"{name('t', part.name)} = {name('a', key)}" for part, key in zip(shape.key, keys, strict=True)
    )
    key = name(shape.version_key)
    standing = f"SELECT t.* FROM {table} AS t JOIN {name(tables.affected)} AS a ON {member} WHERE t.{key} > 0"
    # A member that is gone and was inferred again stays so while something refers to it.
    goes = f"""NOT (t.is_inferred AND t.version_number > 0 AND NOT EXISTS (
          SELECT 1 FROM {name(tables.wanted)} AS w WHERE {joined([shape.durable_key], "w", "t")}))"""
    columns = [column for column, _ in columns_of(shape)]
    yield from write_plan(shape.table, [shape.version_key], columns, standing, goes)
    yield temporary(
        closed_table(shape.table),
        f"""SELECT w.{key} FROM {name(tables.wanted)} AS w JOIN {name(tables.before)} AS t ON t.{key} = w.{key}
        WHERE t.valid_to IS NULL AND w.valid_to IS NOT NULL""",
        f"Find versions of {shape.table} that end",
    )
    yield from infer_own(shape)
