"""Periodic facts: the state of each member or fact at the end of each day, week or month that is over.

Source: docs/reference/warehouse-model.md, "Periodic facts".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.dimensions.dimension_tables import columns_of as dimension_columns
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.facts.fact_values import fact_value_types
from metl_gui.warehouse.plans.facts.periods import Periods
from metl_gui.warehouse.plans.facts.posting_plan import FROM, TO, runs_table
from metl_gui.warehouse.plans.shapes.table_shapes import FactPeriodicShape, PeriodicShape
from metl_gui.warehouse.plans.statements import Step, joined, name, names, temporary
from metl_gui.warehouse.plans.write_plan import write_plan


def periodic_columns(shape: PeriodicShape | FactPeriodicShape) -> list[tuple[str, str]]:
    """Return the columns of a periodic fact and their types."""
    if isinstance(shape, FactPeriodicShape):
        types = fact_value_types(shape.fact)
        keys = [("date_key", "BIGINT"), *((part.name, part.type) for part in shape.fact.key)]
    else:
        of, types = shape.dimension, dict(dimension_columns(shape.dimension))
        keys = [("date_key", "BIGINT"), (of.durable_key, "BIGINT"), (of.version_key, "BIGINT")]
    return [*keys, ("period_end", "TIMESTAMPTZ"), *((column, types[column]) for column in shape.columns)]


def create_periodic(shape: PeriodicShape | FactPeriodicShape) -> Iterator[Step]:
    """Yield the steps that make an empty periodic fact."""
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in periodic_columns(shape))
    yield Step(f"Make {shape.table}", f"CREATE TABLE {name(shape.table)} ({listed})")
    yield _periods(shape).create()


def _periods(shape: PeriodicShape | FactPeriodicShape) -> Periods:
    if isinstance(shape, FactPeriodicShape):
        first = f"(SELECT MIN({name(FROM)}) FROM {name(runs_table(shape.fact.table))})"
        return Periods(shape.table, shape.fact.entity, shape.every, shape.time_zone, first)
    of = shape.dimension
    first = f"(SELECT MIN(first_known) FROM {name(of.table)} WHERE {name(of.version_key)} > 0)"
    return Periods(shape.table, of.entity, shape.every, shape.time_zone, first)


def periodic_plan(shape: PeriodicShape) -> Iterator[Step]:
    """Yield the steps that bring the periodic fact of a dimension up to date.

    Made anew are all periods of the members that changed, and of all members those that ended since.

    Cost: the rows of changed members, and a row a member for each period that ended.
    """
    table, of, periods = shape.table, shape.dimension, _periods(shape)
    yield from periods.plan()
    members = name(f"_members_{of.table}")
    key, durable = name(of.version_key), name(of.durable_key)
    touched = f"(p.is_new OR d.{durable} IN (SELECT durable_key FROM {members}))"
    columns = "".join(f", d.{name(column)}" for column in shape.columns)
    yield temporary(
        MemberTables(table).wanted,
        f"""SELECT p.date_key, d.{durable}, d.{key}, p.period_end{columns} FROM {name(of.table)} AS d
        JOIN {name(periods.over)} AS p
          ON d.first_known < p.period_end AND (d.valid_to IS NULL OR d.valid_to >= p.period_end)
        WHERE d.{key} > 0 AND {touched}""",
        f"Make the rows of {table}",
    )
    old = f"""SELECT t.* FROM {name(table)} AS t WHERE t.{durable} IN (SELECT durable_key FROM {members})
        OR {periods.changing("t")} OR {periods.among_new("t")}"""
    yield from write_plan(table, ["date_key", of.durable_key], [c for c, _ in periodic_columns(shape)], old)
    yield periods.remember()


def fact_periodic_plan(shape: FactPeriodicShape) -> Iterator[Step]:
    """Yield the steps that bring the periodic fact of a fact up to date.

    Made anew are all periods of the facts that changed, and of all facts those that ended since.

    Cost: the rows of changed facts, and a row a fact for each period that ended.
    """
    table, fact, periods = shape.table, shape.fact, _periods(shape)
    yield from periods.plan()
    keys, grain = keys_of(fact), [part.name for part in fact.key]
    runs = runs_table(fact.table)
    changed = " UNION ".join(
        f"SELECT {names(keys)} FROM {name(f'_{what}_{runs}')}" for what in ("gone", "changed", "new")
    )
    touched = f"_touched_{table}"
    yield temporary(touched, changed, f"Find the facts of {fact.table} that changed")
    listed = ", ".join(f"r.{name(k)} AS {name(column)}" for k, column in zip(keys, grain, strict=True))
    values = "".join(f", r.{name(column)}" for column in shape.columns)
    held = f"r.{name(FROM)} < p.period_end AND (r.{name(TO)} IS NULL OR r.{name(TO)} >= p.period_end)"
    yield temporary(
        MemberTables(table).wanted,
        f"""SELECT p.date_key, {listed}, p.period_end{values} FROM {name(runs)} AS r
        JOIN {name(periods.over)} AS p ON {held}
        WHERE p.is_new OR EXISTS (SELECT 1 FROM {name(touched)} AS c WHERE {joined(keys, "c", "r")})""",
        f"Make the rows of {table}",
    )
    same = " AND ".join(f"c.{name(k)} = t.{name(column)}" for k, column in zip(keys, grain, strict=True))
    old = f"""SELECT t.* FROM {name(table)} AS t
        WHERE EXISTS (SELECT 1 FROM {name(touched)} AS c WHERE {same}) OR {periods.changing("t")}
          OR {periods.among_new("t")}"""
    yield from write_plan(table, ["date_key", *grain], [c for c, _ in periodic_columns(shape)], old)
    yield periods.remember()
