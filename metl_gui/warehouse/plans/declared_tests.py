"""Tests that a model declares on columns, as queries for the rows that break them.

Cost: each reads its table once; that values are unique or stand elsewhere, a join beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import NamedTuple

import msgspec

from metl_gui.core.dimensional.rows.junk import junk_of
from metl_gui.core.warehouse_model import Accepted, Column, ColumnTest, Dimension, Fact, NotNull, Related, Table, Unique
from metl_gui.warehouse.plans.dimensions.dimension_tables import columns_of
from metl_gui.warehouse.plans.facts.fact_values import POSTED
from metl_gui.warehouse.plans.shapes.table_shapes import FactShape, TableShapes
from metl_gui.warehouse.plans.statements import name, text


class Rule(msgspec.Struct, frozen=True):
    """A rule, as the query for the rows that break it.

    Args:
        table: whose rows they are.
        rule: in words.
        broken: the query.
        other: a table that it looks into too, empty for none.
        whole: the query for these rows with all columns of the table; empty where ``broken`` is that.
    """

    table: str
    rule: str
    broken: str
    other: str = ""
    whole: str = ""

    @property
    def count(self) -> str:
        """Return the query for how many rows break it."""
        return f"SELECT COUNT(*) FROM ({self.broken}) AS q"


class _Tested(NamedTuple):
    """The rows of a table that tests look at, as ``t``.

    Args:
        rows: the table, or a query for its columns and those that others took from it.
        counting: condition for rows that are tested.
        current: condition for those of which no two may be alike.
    """

    rows: str
    counting: str
    current: str


def declared_rules(shapes: TableShapes) -> Iterator[Rule]:
    """Yield the rules of the tests that a model declares."""
    for table in shapes.model.tables:
        for column in _columns(table):
            for test in column.tests:
                yield _test(shapes, table.name, column, test)


def _columns(table: Table) -> tuple[Column, ...]:
    if isinstance(table, Fact):
        return (*table.measures, *table.degenerate)
    return table.columns if isinstance(table, Dimension) and table.columns != "all" else ()


def _test(shapes: TableShapes, table: str, column: Column, test: ColumnTest) -> Rule:
    rows, counting, current = _tested(shapes, table)
    t, c = f"{rows} AS t WHERE {counting}", f"t.{name(column.name)}"
    match test:
        case NotNull():
            return Rule(table, f"{column.name} is not null", f"SELECT * FROM {t} AND {c} IS NULL")
        case Unique():
            twice = f"SELECT {c} FROM {t} AND {current} AND {c} IS NOT NULL GROUP BY {c} HAVING COUNT(*) > 1"
            whole = f"SELECT * FROM {t} AND {current} AND {c} IN ({twice})"
            return Rule(table, f"{column.name} is unique", twice, whole=whole)
        case Accepted(values=values):
            type_ = _type(shapes, table, column.name)
            is_number = _kind(type_) == "number"
            here = c if is_number else f"CAST({c} AS VARCHAR)"
            held = [number for value in values if (number := _number(value, type_))] if is_number else map(text, values)
            among = " OR ".join(f"{here} = {value}" for value in held)
            others = f"SELECT * FROM {t} AND {c} IS NOT NULL AND NOT ({among or 'FALSE'})"
            return Rule(table, f"{column.name} is one of {', '.join(values)}", others)
        case Related(table=other, column=far):
            here, there = c, f"o.{name(far)}"
            if len({_kind(_type(shapes, *one)) for one in ((table, column.name), (other, far))} - {""}) > 1:
                here, there = f"CAST({here} AS VARCHAR)", f"CAST({there} AS VARCHAR)"
            known = f"SELECT {there} FROM {_tested(shapes, other).rows} AS o WHERE o.{name(far)} IS NOT NULL"
            missing = f"SELECT * FROM {t} AND {c} IS NOT NULL AND {here} NOT IN ({known})"
            return Rule(table, f"{column.name} stands in {other}.{far}", missing, other)
        case _:
            return Rule(table, "a test that is not known", "SELECT 1", whole=f"SELECT * FROM {t}")


def _type(shapes: TableShapes, table: str, column: str) -> str:
    """Return the type of a column in the target; empty for one that is not known."""
    types: dict[str, str] = {}
    for dimension in shapes.dimensions:
        types |= columns_of(dimension) if dimension.table == table else ()
    for fact in shapes.facts:
        types |= _of_fact(fact) if fact.table == table else ()
    return types.get(column, "")


def _kind(type_: str) -> str:
    """Return the kind of a type: values of one kind are compared as they are, others as texts."""
    plain = type_.partition("(")[0]
    return next((kind for kind, members in _KINDS.items() if plain in members), plain)


def _number(value: str, type_: str) -> str:
    """Return a value as a number of a type; empty for one that no column of the type holds."""
    try:
        if type_ == "DOUBLE":
            return f"CAST({text(repr(float(value)))} AS DOUBLE)"
        given = re.match(r"DECIMAL\((\d+), *(\d+)\)", type_)
        digits, scale = map(int, given.groups()) if given else (_INTEGER_DIGITS, 0)
        number = Decimal(value)
        with localcontext(prec=_PRECISION):
            scaled = number.scaleb(scale)
            is_held = abs(scaled) < Decimal(10) ** digits and scaled == scaled.to_integral_value()
        return f"CAST({text(f'{number:f}')} AS {type_})" if is_held else ""
    except (ArithmeticError, ValueError):
        return ""


def _of_fact(shape: FactShape) -> list[tuple[str, str]]:
    of_key, declared = ([(one.name, one.type) for one in some] for some in (shape.key, shape.columns))
    return [*of_key, *declared, ("event_time", "TIMESTAMPTZ")]


_INTEGER_DIGITS = 18
"""Of whole numbers that have no declared type, such as keys: as many as fit into 64 bits whatever they are."""

_PRECISION = 100
"""Digits with which a value is looked at; no column has as many."""

_KINDS = {"number": ("DECIMAL", "DOUBLE", "BIGINT", "INTEGER"), "time": ("DATE", "TIMESTAMP", "TIMESTAMPTZ")}


def _tested(shapes: TableShapes, table: str) -> _Tested:
    fact = next((one for one in shapes.facts if one.table == table), None)
    if fact is None:
        counting = f"t.{name(f'{table}_key')} > 0 AND NOT t.is_inferred"
        return _Tested(name(table), counting, "t.is_current")
    if not fact.reverses:
        return _Tested(_with_junk(shapes, fact), "TRUE", "TRUE")
    return _Tested(_with_junk(shapes, fact), "NOT t.is_reversal", _standing(fact))


def _with_junk(shapes: TableShapes, fact: FactShape) -> str:
    """Return a fact together with the columns that its junk dimensions took."""
    taken = junk_of(shapes.model, fact.table)
    if not taken:
        return name(fact.table)
    columns = "".join(f", {name(one.name, column)}" for one in taken for column in one.columns)
    joins = "".join(
        f" JOIN {name(one.name)} ON {name(one.name, f'{one.name}_key')} = f.{name(f'{one.name}_key')}" for one in taken
    )
    return f"(SELECT f.*{columns} FROM {name(fact.table)} AS f{joins})"


def _standing(fact: FactShape) -> str:
    """Return the condition that a posting was not taken back: its row is what the fact is now."""
    grain = " AND ".join(f"{name('r', part.name)} = {name('t', part.name)}" for part in fact.key)
    posted, number, is_reversal = POSTED
    later = f"r.{posted} > t.{posted} OR (r.{posted} = t.{posted} AND r.{number} > t.{number})"
    return f"NOT EXISTS (SELECT 1 FROM {name(fact.table)} AS r WHERE {grain} AND r.{is_reversal} AND ({later}))"
