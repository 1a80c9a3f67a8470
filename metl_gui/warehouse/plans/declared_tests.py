"""Tests that a model declares on columns, as queries for the rows that break them.

Cost: each reads its table once; that values are unique or stand elsewhere, a join beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from metl_gui.core.dimensional.junk import junk_of
from metl_gui.core.warehouse_model import Accepted, Column, ColumnTest, Dimension, Fact, NotNull, Related, Unique
from metl_gui.warehouse.plans.statements import name, text
from metl_gui.warehouse.plans.table_shapes import TableShapes


class Rule(msgspec.Struct, frozen=True):
    """A rule, as the query for the rows that break it.

    Args:
        table: whose rows they are.
        rule: in words.
        broken: the query.
        other: a table that it looks into too, empty for none.
    """

    table: str
    rule: str
    broken: str
    other: str = ""

    @property
    def count(self) -> str:
        """Return the query for how many rows break it."""
        return f"SELECT COUNT(*) FROM ({self.broken}) AS q"


def declared_rules(shapes: TableShapes) -> Iterator[Rule]:
    """Yield the rules of the tests that a model declares."""
    for table in shapes.model.tables:
        if isinstance(table, Dimension):
            columns = table.columns if table.columns != "all" else ()
            key, where = f"{name(table.name + '_key')} > 0 AND NOT is_inferred", " AND is_current"
        elif isinstance(table, Fact):
            columns, key, where = (*table.measures, *table.degenerate), "TRUE", ""
        else:
            continue
        taken = {column: one.name for one in junk_of(shapes.model, table.name) for column in one.columns}
        for column in columns:
            for test in column.tests:
                yield _test(taken.get(column.name, table.name), column, test, key, where)


def _test(table: str, column: Column, test: ColumnTest, rows: str, current: str) -> Rule:
    t, c = name(table), name(column.name)
    match test:
        case NotNull():
            return Rule(table, f"{column.name} is not null", f"SELECT * FROM {t} WHERE {rows} AND {c} IS NULL")
        case Unique():
            broken = f"SELECT {c} FROM {t} WHERE {rows}{current} AND {c} IS NOT NULL GROUP BY {c} HAVING COUNT(*) > 1"
            return Rule(table, f"{column.name} is unique", broken)
        case Accepted(values=values):
            listed = ", ".join(text(value) for value in values)
            broken = f"SELECT * FROM {t} WHERE {rows} AND CAST({c} AS VARCHAR) NOT IN ({listed})"
            return Rule(table, f"{column.name} is one of {', '.join(values)}", broken)
        case Related(table=other, column=far):
            known = f"SELECT {name(far)} FROM {name(other)} WHERE {name(far)} IS NOT NULL"
            broken = f"SELECT * FROM {t} WHERE {rows} AND {c} IS NOT NULL AND {c} NOT IN ({known})"
            return Rule(table, f"{column.name} stands in {other}.{far}", broken, other)
        case _:
            return Rule(table, "a test that is not known", "SELECT 1")
