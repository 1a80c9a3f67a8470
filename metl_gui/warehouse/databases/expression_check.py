"""Whether row expressions can be computed at all: DuckDB is asked for them of a row without values.

What fails there does so whatever messages say: types that do not go together, constants that are no value of their
type, parts of times that there are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import duckdb
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.warehouse.plans.histories.history_tables import sql_type
from metl_gui.warehouse.plans.shapes.conversions import over_columns
from metl_gui.warehouse.plans.statements import WRITTEN_IN, name

_MOST_KNOWN = 10_000


class BoundExpression(NamedTuple):
    """A row expression over the columns of a history.

    Args:
        sql: the expression.
        columns: names of the columns, with the types that they have in a database.
    """

    sql: str
    columns: tuple[tuple[str, str], ...]


_known: dict[BoundExpression, str] = {}
"""Why expressions cannot be computed that were asked about; they are asked about again with each edit of a model."""


def bound(history: EntityHistory, tree: exp.Expr) -> BoundExpression:
    """Return an expression over the columns of a history.

    Args:
        history: of the entity; attributes that it does not have are not its subject.
        tree: what was read of the expression.
    """
    found: dict[str, HistoryColumn] = {}

    def column_of(path: str) -> HistoryColumn:
        column = history.at_path(path) or HistoryColumn(path, path, "text")
        found[column.name] = column
        return column

    sql = over_columns(tree, column_of)[0].sql(dialect=WRITTEN_IN)
    return BoundExpression(sql, tuple((one.name, sql_type(one.type)) for one in found.values()))


def refusals(asked: Sequence[BoundExpression]) -> list[str]:
    """Return why each of some expressions cannot be computed of a row without values, empty where it can.

    Cost: opening a database in memory, and some milliseconds an expression, where one is new.
    """
    new = [one for one in dict.fromkeys(asked) if one not in _known]
    if len(_known) + len(new) > _MOST_KNOWN:
        _known.clear()
        new = list(dict.fromkeys(asked))
    if new:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            _known.update((one, _refusal(connection, one)) for one in new)
    return [_known[one] for one in asked]


def _refusal(connection: duckdb.DuckDBPyConnection, one: BoundExpression) -> str:
    row = ", ".join(["1 AS _one", *(f"CAST(NULL AS {type_}) AS {name(column)}" for column, type_ in one.columns)])
    try:
        connection.execute(f"CREATE OR REPLACE TABLE message AS SELECT {row}")
        connection.execute(f"SELECT {one.sql} FROM message").fetchall()
    except duckdb.Error as error:
        return str(error).splitlines()[0]
    return ""
