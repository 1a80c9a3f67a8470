"""The rows of a fact, the members that they refer to, and the facts whose references change with their members.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metl_gui.warehouse.plans.dimensions.calendar_plan import NOT_APPLICABLE, day_key
from metl_gui.warehouse.plans.dimensions.dimension_plan import version_join
from metl_gui.warehouse.plans.dimensions.dimension_tables import members_table, versions_table
from metl_gui.warehouse.plans.dimensions.inferred_plan import add_before, infer, inferred_for_own
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of, latest_plan, shared_plan
from metl_gui.warehouse.plans.dimensions.surrogate_keys import number_members
from metl_gui.warehouse.plans.facts.fact_values import POSTED, latest_facts, looked_up, row_columns
from metl_gui.warehouse.plans.facts.junk_plan import combination_join, create_junk, junk_plan, number_combinations
from metl_gui.warehouse.plans.facts.missed_plan import create_missed, keep_missed, missing_references
from metl_gui.warehouse.plans.facts.posting_plan import create_runs, posting_plan, runs_plan
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, MemberShape, ReferenceShape
from metl_gui.warehouse.plans.statements import Step, name, names, temporary
from metl_gui.warehouse.plans.write_plan import write_plan


def columns_of(shape: FactShape) -> list[tuple[str, str]]:
    """Return the columns of a fact and their types."""
    columns = [(part.name, part.type) for part in shape.key]
    for one in shape.references:
        columns.append((one.key, "BIGINT"))
        if one.has_durable:
            columns.append((one.durable, "BIGINT"))
    columns += [(one.key, "BIGINT") for one in shape.junk]
    columns.append(("event_time", "TIMESTAMPTZ"))
    columns += [(one.name, one.type) for one in shape.own_columns]
    if shape.on_delete == "flag":
        columns.append(("is_deleted", "BOOLEAN"))
    if shape.reverses:
        columns += zip(POSTED, ("TIMESTAMPTZ", "INTEGER", "BOOLEAN"), strict=True)
    return columns


def create_fact(shape: FactShape) -> Iterator[Step]:
    """Yield the steps that make an empty fact."""
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns_of(shape))
    yield Step(f"Make {shape.table}", f"CREATE TABLE {name(shape.table)} ({listed})")
    typed = ", ".join(f"{name(key)} {part.type}" for key, part in zip(keys_of(shape), shape.key, strict=True))
    owners = f'CREATE TABLE {name(MemberTables(shape.table).owners)} ("_schema" VARCHAR, "_row" VARCHAR, {typed})'
    yield Step(f"Make the list of who owns {shape.table}", owners)
    yield from create_missed(shape)
    yield from create_runs(shape)
    for junk in shape.junk:
        yield from create_junk(junk)


def fact_plan(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> Iterator[Step]:
    """Yield the steps that bring the affected rows of a fact up to date.

    Cost: sorts the states of affected rows; looks each of their references up once.
    """
    yield from shared_plan(shape)
    if shape.reverses:
        yield from posting_plan(shape)
    else:
        yield from latest_plan(shape, shape.uses)
        yield temporary(f"_facts_{shape.table}", latest_facts(shape), f"Make the facts of {shape.table}")
    yield from runs_plan(shape)
    for reference in member_references(shape):
        target = dimensions[reference.dimension]
        yield from number_members(target, _looked_up(shape, reference, target), keys_of(target))
    yield temporary(f"_met_{shape.table}", _met(shape, dimensions), f"Find the members that {shape.table} refers to")
    for reference in member_references(shape):
        if reference.on_miss == "infer":
            needed = f"""SELECT DISTINCT f.{name(reference.durable)} AS durable_key
                FROM {name(f"_met_{shape.table}")} AS f WHERE {_waits_for_none(shape, dimensions)}"""
            yield from infer(dimensions[reference.dimension], needed)
    for reference in member_references(shape):
        target = dimensions[reference.dimension]
        if reference.as_of == "event" and not target.covers_past:
            early = f"{_too_early(shape, reference, target)} WHERE {_waits_for_none(shape, dimensions)}"
            yield from add_before(target, early, target.table)
    if missing_references(shape):
        yield from keep_missed(shape, _version_joins(shape, dimensions), _misses(shape))
    for junk in shape.junk:
        yield from number_combinations(shape, junk)
    yield temporary(MemberTables(shape.table).wanted, _wanted(shape, dimensions), f"Make the rows of {shape.table}")
    keys = zip(shape.key, keys_of(shape), strict=True)
    match = " AND ".join(f"{name('t', part.name)} = {name('a', k)}" for part, k in keys)
    affected = (
        f"SELECT t.* FROM {name(shape.table)} AS t JOIN {name(MemberTables(shape.table).affected)} AS a ON {match}"
    )
    yield from write_plan(shape.table, row_columns(shape), [column for column, _ in columns_of(shape)], affected)
    for junk in shape.junk:
        yield from junk_plan(shape, junk)


def member_references(shape: MemberShape) -> list[ReferenceShape]:
    """Return the references to dimensions with members, so to all but dates."""
    return [one for one in shape.references if one.date is None]


def _looked_up(shape: FactShape, reference: ReferenceShape, target: DimensionShape) -> str:
    """Return the query for the business keys that facts look up."""
    pairs = list(zip(keys_of(target), looked_up(reference), strict=True))
    listed = ", ".join(f"{name(column)} AS {name(key)}" for key, column in pairs)
    whole = " AND ".join(f"{name(column)} IS NOT NULL" for _, column in pairs)
    return f"SELECT DISTINCT {listed} FROM {name(f'_facts_{shape.table}')} WHERE {whole}"


def _met(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> str:
    """Return the query for facts with the keys of the members that they refer to."""
    durables = joins = ""
    for reference in member_references(shape):
        alias, target = name(f"m_{reference.role}"), dimensions[reference.dimension]
        on = looked_up(reference)
        pairs = zip(keys_of(target), on, strict=True)
        whole = " AND ".join(f"f.{name(column)} IS NOT NULL" for column in on)
        joined = " AND ".join(f"{alias}.{name(key)} = f.{name(column)}" for key, column in pairs)
        joins += f" LEFT JOIN {name(members_table(target.table))} AS {alias} ON {joined}"
        found = f"COALESCE({alias}.durable_key, 0)"
        durables += f", CASE WHEN {whole} THEN {found} ELSE {NOT_APPLICABLE} END AS {name(reference.durable)}"
    return f"SELECT f.*{durables} FROM {name(f'_facts_{shape.table}')} AS f{joins}"


def _too_early(shape: FactShape, reference: ReferenceShape, target: DimensionShape) -> str:
    """Return the query for members that facts need before their first versions."""
    key, durable = name(target.version_key), name(target.durable_key)
    return f"""SELECT d.durable_key, d.first_time FROM {name(f"_met_{shape.table}")} AS f
        JOIN (SELECT {durable} AS durable_key, MIN(valid_from) AS first_time FROM {name(target.table)}
              WHERE {key} > 0 GROUP BY {durable}) AS d
        ON d.durable_key = f.{name(reference.durable)} AND f."_time" < d.first_time"""


def _waits_for_none(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> str:
    """Return the condition that a fact, ``f``, waits for no member: one that waits needs none to be there."""
    conditions = ["TRUE"]
    for reference in missing_references(shape):
        if reference.on_miss == "wait":
            target, member = dimensions[reference.dimension], f"f.{name(reference.durable)}"
            known = f"SELECT {name(target.durable_key)} FROM {name(target.table)} WHERE NOT is_inferred"
            conditions.append(f"({member} <= 0 OR {member} IN ({known}))")
    return " AND ".join(conditions)


def _wanted(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> str:
    """Return the query for rows as they are to be."""
    columns = [(part.name, f"f.{name(key)}") for part, key in zip(shape.key, keys_of(shape), strict=True)]
    misses = _misses(shape)
    waits = [misses[one.role] for one in missing_references(shape) if one.on_miss == "wait"]
    for reference in shape.references:
        if reference.date is not None:
            value = 'f."_time"' if reference.is_event_time else f"f.{name(looked_up(reference)[0])}"
            columns.append((reference.key, day_key(reference, value)))
            continue
        alias, durable = name(f"p_{reference.role}"), f"f.{name(reference.durable)}"
        found = f"COALESCE({alias}.version_key, 0)"
        if reference.on_miss == "unknown":
            found = f"CASE WHEN {misses[reference.role]} THEN 0 ELSE {found} END"
            durable = f"CASE WHEN {misses[reference.role]} THEN 0 ELSE {durable} END"
        columns.append(
            (
                reference.key,
                f"CASE WHEN f.{name(reference.durable)} = {NOT_APPLICABLE} THEN {NOT_APPLICABLE} ELSE {found} END",
            )
        )
        columns.append((reference.durable, durable))
    columns += [(one.key, f"{name(f'j_{one.table}')}.junk_key") for one in shape.junk]
    columns.append(("event_time", 'f."_time"'))
    columns += [(one.name, f"f.{name(one.name)}") for one in (*shape.own_columns, *shape.lists)]
    if shape.on_delete == "flag":
        columns.append(("is_deleted", 'f."_deleted"'))
    if shape.reverses:
        columns += zip(POSTED, ('f."_posted_at"', 'f."_posting"', 'f."_reversal"'), strict=True)
    listed = ", ".join(f"{sql} AS {name(column)}" for column, sql in columns)
    ready = f" WHERE NOT ({' OR '.join(waits)})" if waits else ""
    joins = _version_joins(shape, dimensions) + "".join(map(combination_join, shape.junk))
    return f"SELECT {listed} FROM {name(f'_met_{shape.table}')} AS f{joins}{ready}"


def _version_joins(shape: FactShape, dimensions: Mapping[str, DimensionShape]) -> str:
    """Return the joins of facts, ``f``, to the versions that they refer to."""
    met = name(f"_met_{shape.table}")
    return "".join(
        version_join(
            one,
            dimensions[one.dimension],
            f"f.{name(one.durable)}",
            'f."_time"',
            f"SELECT {name(one.durable)} FROM {met}",
        )
        for one in member_references(shape)
    )


def _misses(shape: FactShape) -> dict[str, str]:
    """Return, by role, the condition that a reference which infers nothing leads nowhere."""
    return {
        one.role: f"(f.{name(one.durable)} > 0 AND COALESCE({name(f'p_{one.role}')}.is_inferred, TRUE))"
        for one in missing_references(shape)
    }


def changed_members(shape: DimensionShape) -> Step:
    """Return the step that lists the members whose versions a load changed."""
    key, durable, table = name(shape.version_key), name(shape.durable_key), shape.table
    inferred = "".join(f" UNION SELECT durable_key FROM {name(one)}" for one in inferred_for_own(shape))
    return temporary(
        f"_members_{table}",
        f"""SELECT {durable} AS durable_key FROM {name(f"_new_{table}")}
        UNION SELECT {durable} FROM {name(f"_changed_{table}")}
        UNION SELECT v.durable_key FROM {name(versions_table(table))} AS v
        JOIN {name(f"_gone_{table}")} AS g ON g.{key} = v.version_key{inferred}""",
        f"Find members of {table} whose versions changed",
    )


def all_members(shape: DimensionShape) -> Step:
    """Return the step that lists all members, as if each had changed."""
    durable = name(shape.durable_key)
    query = f"SELECT DISTINCT {durable} AS durable_key FROM {name(shape.table)} WHERE {name(shape.version_key)} > 0"
    return temporary(f"_members_{shape.table}", query, f"Take all members of {shape.table}")


def rekey_plan(
    table: str, columns: Sequence[str], time: str, reference: ReferenceShape, target: DimensionShape
) -> Iterator[Step]:
    """Yield the steps that give the rows of a table which refer to changed members the keys that hold now.

    Args:
        table: a fact or a dimension.
        columns: by which its rows are known.
        time: column for the time as of which the version is looked up.
        reference: to the dimension.
        target: the dimension.

    Cost: a scan of the column for the member, and the rows that refer to changed members.
    """
    members, rekeyed = name(f"_members_{target.table}"), f"_rekeyed_{table}_{reference.role}"
    found = f"COALESCE({name(f'p_{reference.role}')}.version_key, 0)"
    t, changed = name(table), f"SELECT durable_key FROM {members}"
    yield temporary(
        rekeyed,
        f"""SELECT {names(columns, "f")}, {found} AS "_key" FROM {t} AS f
        {version_join(reference, target, f"f.{name(reference.durable)}", f"f.{name(time)}", changed)}
        WHERE f.{name(reference.durable)} IN ({changed})
          AND f.{name(reference.key)} IS DISTINCT FROM {found}""",
        f"Find rows of {table} whose {reference.role} changed",
        needs=f"_members_{target.table}",
    )
    match = " AND ".join(f"known.{name(c)} = r.{name(c)}" for c in columns)
    yield Step(
        f"Point {table} to the right {reference.role}",
        f"""UPDATE {t} AS known SET {name(reference.key)} = r."_key" FROM {name(rekeyed)} AS r WHERE {match}""",
        table,
        "update",
        needs=rekeyed,
    )
