"""Values of a history as those of another type: exact, or refused.

Source: docs/reference/warehouse-model.md, "Types".
"""

from __future__ import annotations

import re

from sqlglot import exp

from metl_gui.warehouse.plans.dimensions.dimension_tables import BEGINNING
from metl_gui.warehouse.plans.histories.history_tables import sql_type
from metl_gui.warehouse.plans.histories.state_plan import FOREVER


def converted(sql: str, of: str, to: str) -> tuple[str, str]:
    """Return the expression that gives a value as another type, and the condition that it would not be the same value.

    Args:
        sql: the value.
        of: its type; empty for one that is not known.
        to: the type that it becomes.
    """
    if of and sql_type(of) == sql_type(to):
        longest = _LENGTH.fullmatch(to)
        return sql, f"LENGTH({sql}) > {longest[1]}" if longest else ""
    cast = f"TRY_CAST({sql} AS {sql_type(to)})"
    if to in ("text", "json"):
        return cast, ""
    unfit = f"({sql} IS NOT NULL AND {cast} IS NULL)"
    if to in ("date", "timestamp", "instant"):
        unfit = f"({unfit} OR (ISFINITE({cast}) AND NOT {_in_years(cast, sql_type(to))}))"
    decimal = _DECIMAL.fullmatch(to)
    if decimal:
        digits, scale = int(decimal[1]), int(decimal[2])
        exact = f"TRY_CAST({sql} AS DECIMAL({_DIGITS}, {_DIGITS - digits + scale}))"
        unfit = f"({unfit} OR {cast} <> {exact})"
    return cast, unfit


def _in_years(sql: str, type_: str) -> str:
    """Return the condition that a time lies in the years 1 to 9999."""
    return f"{sql} BETWEEN CAST({BEGINNING} AS {type_}) AND CAST({FOREVER} AS {type_})"


def finite(sql: str) -> str:
    """Return an instant, or null where it is infinite."""
    return f"CASE WHEN {_in_years(sql, 'TIMESTAMPTZ')} THEN {sql} END"


def held_since(sql: str, infinity: str) -> str:
    """Return the instant since which a state holds that declares one.

    Args:
        sql: what it declares.
        infinity: of infinite ones ``open`` makes the first and the last, since ever and never, and ``null`` none.
    """
    if infinity == "null":
        return finite(sql)
    return f"CASE WHEN {sql} < {BEGINNING} THEN {BEGINNING} WHEN {sql} > {FOREVER} THEN {FOREVER} ELSE {sql} END"


_DIGITS = 38


_DECIMAL = re.compile(r"decimal\((\d+), *(\d+)\)")


_LENGTH = re.compile(r"text\((\d+)\)")


def tried(tree: exp.Expr) -> exp.Expr:
    """Return an expression in which what cannot be cast is null: one message must not end a load."""
    for cast in reversed(list(tree.find_all(exp.Cast))):
        if not isinstance(cast, exp.TryCast):
            tried = exp.TryCast(this=cast.this, to=cast.args["to"])
            if cast is tree:
                tree = tried
            else:
                cast.replace(tried)
    return tree
