"""Tables of days and of times of day, generated whole when a warehouse is made, and the keys of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.core.dimensional.models.calendar_names import calendar_names
from metl_gui.core.warehouse_model import Dates, TimesOfDay
from metl_gui.warehouse.plans.shapes.table_shapes import ReferenceShape
from metl_gui.warehouse.plans.statements import Step, name, text

NOT_APPLICABLE = -1
"""The key of the row that a reference without a value points to."""

_LAST_MONTH = 12


def create_dates(table: Dates) -> Iterator[Step]:
    """Yield the steps that make a table of days; ``date_key`` is yyyymmdd, 0 a day outside of it, -1 none at all."""
    day, words = '"date"', calendar_names(table.locale)
    first, last = (f"CAST({text(one)} AS TIMESTAMP)" for one in (table.first, table.last))
    month = f"EXTRACT(MONTH FROM {day})"
    fiscal = f"(({month} + {_LAST_MONTH} - {table.fiscal_year_starts}) % {_LAST_MONTH})"
    later = f"CASE WHEN {table.fiscal_year_starts} > 1 AND {month} >= {table.fiscal_year_starts} THEN 1 ELSE 0 END"
    of_week = f"EXTRACT(ISODOW FROM {day})" if table.week_starts == 1 else f"EXTRACT(DOW FROM {day}) + 1"
    columns = {
        f"{table.name}_key": f"EXTRACT(YEAR FROM {day}) * 10000 + {month} * 100 + EXTRACT(DAY FROM {day})",
        "date": day,
        "year": f"EXTRACT(YEAR FROM {day})",
        "quarter": f"EXTRACT(QUARTER FROM {day})",
        "month": month,
        "month_name": _named(month, words.months),
        "day": f"EXTRACT(DAY FROM {day})",
        "day_of_week": of_week,
        "day_name": _named(f"EXTRACT(ISODOW FROM {day})", words.days),
        "is_weekend": f"EXTRACT(ISODOW FROM {day}) > 5",
        "iso_year": f"EXTRACT(ISOYEAR FROM {day})",
        "iso_week": f"EXTRACT(WEEK FROM {day})",
        "fiscal_year": f"EXTRACT(YEAR FROM {day}) + {later}",
        "fiscal_quarter": f"CAST(FLOOR({fiscal} / 3) AS INTEGER) + 1",
        "fiscal_month": f"{fiscal} + 1",
    }
    kinds = {"date": "DATE", "month_name": "VARCHAR", "day_name": "VARCHAR", "is_weekend": "BOOLEAN"}
    listed = ", ".join(
        f"CAST({sql} AS {kinds.get(column, 'INTEGER')}) AS {name(column)}" for column, sql in columns.items()
    )
    days = f"SELECT CAST(d AS DATE) AS {day} FROM GENERATE_SERIES({first}, {last}, INTERVAL '1' DAY) AS t(d)"
    yield Step(
        f"Make the days of {table.name}", f"CREATE TABLE {name(table.name)} AS SELECT {listed} FROM ({days}) AS s"
    )
    yield _special(table.name, "(0), (-1)")


def create_times(table: TimesOfDay) -> Iterator[Step]:
    """Yield the steps that make a table of the seconds of a day; -1 is none at all, and 0 is midnight."""
    columns = {
        f"{table.name}_key": "s",
        "hour": "FLOOR(s / 3600)",
        "minute": "FLOOR((s % 3600) / 60)",
        "second": "s % 60",
    }
    listed = ", ".join(f"CAST({sql} AS INTEGER) AS {name(column)}" for column, sql in columns.items())
    seconds = "SELECT s FROM GENERATE_SERIES(0, 86399) AS t(s)"
    made = f"CREATE TABLE {name(table.name)} AS SELECT {listed} FROM ({seconds}) AS q"
    yield Step(f"Make the seconds of {table.name}", made)
    yield _special(table.name, "(-1)")


def _special(table: str, rows: str) -> Step:
    key = name(f"{table}_key")
    return Step("Add the rows for what is unknown", f"INSERT INTO {name(table)} ({key}) VALUES {rows}")


def _named(number: str, names: Sequence[str]) -> str:
    """Return the expression for the name of a number that counts from 1."""
    cases = " ".join(f"WHEN {place} THEN {text(one)}" for place, one in enumerate(names, 1))
    return f"CASE {number} {cases} END"


def day_key(reference: ReferenceShape, value: str) -> str:
    """Return the expression for the day of a time as yyyymmdd, or for its second of the day.

    Nulls: none; a time that is null has the key -1, and an infinite one no second of a day, so -1 too.

    Args:
        reference: to a table of days or times of day.
        value: expression for the time.
    """
    is_instant = reference.is_event_time or reference.on[0].type == "TIMESTAMPTZ"
    local = f"({value} AT TIME ZONE {text(reference.time_zone)})" if is_instant else value
    if not isinstance(reference.date, Dates):
        clock = f"CAST({local} AS TIMESTAMP)" if not is_instant and reference.on[0].type == "DATE" else local
        parts = f"EXTRACT(HOUR FROM {clock}) * 3600 + EXTRACT(MINUTE FROM {clock}) * 60 + EXTRACT(SECOND FROM {clock})"
        return f"COALESCE(CAST(FLOOR({parts}) AS BIGINT), {NOT_APPLICABLE})"
    day = f"CAST({local} AS DATE)"
    number = f"EXTRACT(YEAR FROM {day}) * 10000 + EXTRACT(MONTH FROM {day}) * 100 + EXTRACT(DAY FROM {day})"
    inside = f"{day} BETWEEN CAST({text(reference.date.first)} AS DATE) AND CAST({text(reference.date.last)} AS DATE)"
    return f"CASE WHEN {value} IS NULL THEN {NOT_APPLICABLE} WHEN {inside} THEN CAST({number} AS BIGINT) ELSE 0 END"
