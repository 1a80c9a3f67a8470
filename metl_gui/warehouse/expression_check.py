"""Whether row expressions can be computed at all: DuckDB is asked for them of a row without values.

What fails there does so whatever messages say: types that do not go together, constants that are no value of their
type, parts of times that there are not.
"""

from __future__ import annotations

from functools import lru_cache

import duckdb
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.errors import EditError
from metl_gui.warehouse.plans.histories.history_tables import sql_type
from metl_gui.warehouse.plans.shapes.conversions import over_columns
from metl_gui.warehouse.plans.statements import WRITTEN_IN, name

_HINT = "Write constants as values of what they are held against, and casts where types differ."


def check_expression(history: EntityHistory, text: str, tree: exp.Expr) -> None:
    """Refuse a row expression that no message could ever be computed by.

    Args:
        history: of the entity; attributes that it does not have are not its subject.
        text: the expression.
        tree: what was read of it.

    Raises:
        EditError: the database refuses it, and says why.
    """
    found: dict[str, HistoryColumn] = {}

    def column_of(path: str) -> HistoryColumn:
        column = history.at_path(path) or HistoryColumn(path, path, "text")
        found[column.name] = column
        return column

    sql = over_columns(tree, column_of)[0].sql(dialect=WRITTEN_IN)
    why = _refusal(sql, tuple((one.name, sql_type(one.type)) for one in found.values()))
    if why:
        raise EditError(f"{text} cannot be computed.", why, _HINT)


@lru_cache(maxsize=1024)
def _refusal(sql: str, columns: tuple[tuple[str, str], ...]) -> str:
    """Return why an expression cannot be computed of a row without values, empty where it can.

    Args:
        sql: over columns.
        columns: their names and types.
    """
    row = ", ".join(["1 AS _one", *(f"CAST(NULL AS {type_}) AS {name(column)}" for column, type_ in columns)])
    with duckdb.connect() as connection:
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(f"CREATE TABLE message AS SELECT {row}")
            connection.execute(f"SELECT {sql} FROM message").fetchall()
        except duckdb.Error as error:
            return str(error).splitlines()[0]
    return ""
