"""Periodic facts: the state of each member at the end of each day, week or month that is over.

A period is over once every schema that ever sent has committed something later: what comes late corrects it.

Source: docs/reference/warehouse-model.md, "Periodic facts".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.arrivals import Batch
from metl_gui.warehouse.plans.dimension_tables import columns_of as dimension_columns
from metl_gui.warehouse.plans.member_plan import MemberTables
from metl_gui.warehouse.plans.state_plan import COMMIT
from metl_gui.warehouse.plans.statements import Step, name, temporary, text
from metl_gui.warehouse.plans.table_shapes import PeriodicShape
from metl_gui.warehouse.plans.write_plan import write_plan

_LAST_DAY = {"day": "DAY", "week": "WEEK", "month": "MONTH"}


def periodic_columns(shape: PeriodicShape) -> list[tuple[str, str]]:
    """Return the columns of a periodic fact and their types."""
    of = shape.dimension
    types = dict(dimension_columns(of))
    keys = [
        ("date_key", "BIGINT"),
        (of.durable_key, "BIGINT"),
        (of.version_key, "BIGINT"),
        ("period_end", "TIMESTAMPTZ"),
    ]
    return [*keys, *((column, types[column]) for column in shape.columns)]


def create_periodic(shape: PeriodicShape) -> Iterator[Step]:
    """Yield the steps that make an empty periodic fact."""
    listed = ", ".join(f"{name(column)} {type_}" for column, type_ in periodic_columns(shape))
    yield Step(f"Make {shape.table}", f"CREATE TABLE {name(shape.table)} ({listed})")
    never = f"INSERT INTO metl_periods VALUES ({text(shape.table)}, NULL)"
    yield Step(f"Remember up to when {shape.table} goes", never)


def watermark_plan(batch: Batch) -> Iterator[Step]:
    """Yield the steps that keep, for each schema of an entity, the latest commit that was ever stored."""
    entity = batch.entity
    latest = f"SELECT h.schema, MAX({COMMIT}) AS latest FROM {name(batch.came)} AS h GROUP BY h.schema"
    yield temporary(f"_commits_{entity}", latest, f"Find how far sources of {entity} are")
    found, of = name(f"_commits_{entity}"), text(entity)
    yield Step(
        "Keep how far they are",
        f"""UPDATE metl_watermarks AS w SET latest = GREATEST(w.latest, f.latest) FROM {found} AS f
        WHERE w.entity = {of} AND w.schema = f.schema""",
    )
    yield Step(
        "Keep how far new ones are",
        f"""INSERT INTO metl_watermarks SELECT {of}, f.schema, f.latest FROM {found} AS f
        WHERE NOT EXISTS (SELECT 1 FROM metl_watermarks AS w WHERE w.entity = {of} AND w.schema = f.schema)""",
    )


def periodic_plan(shape: PeriodicShape) -> Iterator[Step]:
    """Yield the steps that bring a periodic fact up to date.

    Made anew are all periods of the members that changed, and of all members those that ended since.

    Cost: the rows of changed members, and a row a member for each period that ended.
    """
    table, of, wanted = shape.table, shape.dimension, MemberTables(shape.table).wanted
    low = f"(SELECT MIN(latest) FROM metl_watermarks WHERE entity = {text(of.entity)})"
    before = f"(SELECT closed_to FROM metl_periods WHERE periodic = {text(table)})"
    yield temporary(f"_periods_{table}", _periods(shape, low, before), f"Find the periods of {table} that are over")
    members, periods = name(f"_members_{of.table}"), name(f"_periods_{table}")
    key, durable = name(of.version_key), name(of.durable_key)
    touched = f"(p.is_new OR d.{durable} IN (SELECT durable_key FROM {members}))"
    columns = "".join(f", d.{name(column)}" for column in shape.columns)
    yield temporary(
        wanted,
        f"""SELECT p.date_key, d.{durable}, d.{key}, p.period_end{columns} FROM {name(of.table)} AS d
        JOIN {periods} AS p ON d.first_known < p.period_end AND (d.valid_to IS NULL OR d.valid_to >= p.period_end)
        WHERE d.{key} > 0 AND {touched}""",
        f"Make the rows of {table}",
    )
    least, most = f"LEAST({low}, {before})", f"GREATEST({low}, {before})"
    old = f"""SELECT t.* FROM {name(table)} AS t WHERE t.{durable} IN (SELECT durable_key FROM {members})
        OR (t.period_end > {least} AND t.period_end <= {most})"""
    yield from write_plan(table, ["date_key", of.durable_key], [c for c, _ in periodic_columns(shape)], old)
    yield Step(
        f"Remember up to when {table} goes",
        f"UPDATE metl_periods SET closed_to = {low} WHERE periodic = {text(table)}",
    )


def _periods(shape: PeriodicShape, low: str, before: str) -> str:
    """Return the query for periods that are over, by their last day in the declared zone."""
    of, zone, unit = shape.dimension, text(shape.time_zone), _LAST_DAY[shape.every]
    first = f"(SELECT MIN(first_known) FROM {name(of.table)} WHERE {name(of.version_key)} > 0)"
    start = f"DATE_TRUNC({text(shape.every)}, CAST({first} AT TIME ZONE {zone} AS TIMESTAMP))"
    last = f"CAST({low} AT TIME ZONE {zone} AS TIMESTAMP)"
    day = "CAST(s.after - INTERVAL '1' DAY AS DATE)"
    number = f"EXTRACT(YEAR FROM {day}) * 10000 + EXTRACT(MONTH FROM {day}) * 100 + EXTRACT(DAY FROM {day})"
    return f"""
        SELECT CAST({number} AS BIGINT) AS date_key, s.after AT TIME ZONE {zone} AS period_end,
          COALESCE(s.after AT TIME ZONE {zone} > {before}, TRUE) AS is_new
        FROM (SELECT g.began + INTERVAL '1' {unit} AS after
              FROM GENERATE_SERIES({start}, {last}, INTERVAL '1' {unit}) AS g(began)) AS s
        WHERE s.after AT TIME ZONE {zone} <= {low}"""
