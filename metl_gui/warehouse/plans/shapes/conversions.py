"""Values of a history as those of another type: exact, or refused.

Source: docs/reference/warehouse-model.md, "Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from metl_gui.core.dimensional.histories import HistoryColumn
from metl_gui.core.trees.paths import join
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
        return sql, _longer(sql, to)
    # Of a float its digits, not all that stand for its bits; as a truth value they would be none.
    given = _text(sql) if of == "float" and to != "boolean" else sql
    cast = f"TRY_CAST({given} AS {sql_type(to)})"
    if sql_type(to) == "VARCHAR":
        return cast, _longer(cast, to)
    unfit = [f"({sql} IS NOT NULL AND {cast} IS NULL)"]
    if to in ("date", "timestamp", "instant"):
        unfit.append(f"(ISFINITE({cast}) AND NOT {_in_years(cast, sql_type(to))})")
    unfit += _losses(sql, cast, of, to)
    return cast, f"({' OR '.join(unfit)})"


def _longer(text: str, to: str) -> str:
    """Return the condition that a text has more letters than its type; empty for one of any length."""
    longest = _LENGTH.fullmatch(to)
    return f"LENGTH({text}) > {longest[1]}" if longest else ""


def _losses(sql: str, cast: str, of: str, to: str) -> list[str]:
    """Return the conditions that a cast gave a value that says less; arguments as of ``converted``."""
    is_text = bool(of) and sql_type(of) == "VARCHAR"
    scale = _scale(to)
    if scale is not None:
        known = _scale(of)
        if of == "float":
            return [f"TRY_CAST({cast} AS DOUBLE) IS DISTINCT FROM {sql}"]
        if known is None:
            return [_more_decimals(_text(sql), scale)]
        return [f"TRY_CAST({cast} AS {sql_type(of)}) IS DISTINCT FROM {sql}"] if known > scale else []
    match to:
        case "float":
            whole = (
                f"TRY_CAST({_text(cast)} AS DECIMAL({_DIGITS}, 0)) <> TRY_CAST({_text(sql)} AS DECIMAL({_DIGITS}, 0))"
            )
            is_lost = f"metl_decimals({_text(sql)}) = 0 AND {whole}"
            return [f"CASE WHEN ABS({cast}) >= {_WHOLE_FLOATS} THEN {is_lost} ELSE FALSE END"]
        case "boolean" if not is_text:
            return [f"TRY_CAST({_text(sql)} AS DOUBLE) NOT IN (0, 1)"]
        case "date" if is_text:
            return [f"TRY_CAST({sql} AS TIMESTAMP) <> TRY_CAST({cast} AS TIMESTAMP)"]
        case "time" if is_text:
            return [f"TRY_CAST({sql} AS TIMESTAMP) IS NOT NULL"]
    return []


def _more_decimals(text: str, scale: int) -> str:
    """Return the condition that a number written as text has more digits behind the point, but for zeros at its end.

    They are counted only where there may be too many: counting takes as long as several casts.
    """
    point = f"STRPOS({text}, '.')"
    may_have = f"{text} LIKE '%e%' OR {text} LIKE '%E%' OR ({point} > 0 AND LENGTH({text}) - {point} > {scale})"
    return f"CASE WHEN {may_have} THEN metl_decimals({text}) > {scale} ELSE FALSE END"


def _scale(type_: str) -> int | None:
    """Return how many digits behind the point numbers of a type have; ``None`` for other types and for floats."""
    decimal = _DECIMAL.fullmatch(type_)
    return int(decimal[1]) if decimal else 0 if type_ == "integer" else None


def _text(sql: str) -> str:
    return f"CAST({sql} AS VARCHAR)"


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
_WHOLE_FLOATS = 2**53
"""Up to here each whole number is one of 64 bits."""


_DECIMAL = re.compile(r"decimal\(\d+, *(\d+)\)")


_LENGTH = re.compile(r"text\((\d+)\)")


def tried(tree: exp.Expr) -> exp.Expr:
    """Return an expression in which what cannot be cast, or is divided by nothing, is null.

    One message must not end a load; see ``attempted`` for the rest.
    """
    for cast in reversed(list(tree.find_all(exp.Cast))):
        if not isinstance(cast, exp.TryCast):
            tried = exp.TryCast(this=cast.this, to=cast.args["to"])
            if cast is tree:
                tree = tried
            else:
                cast.replace(tried)
    for node in list(tree.find_all(exp.Div, exp.Mod)):
        by = node.expression
        if not (isinstance(by, exp.Literal) and by.is_number and float(by.name)):
            node.set("expression", exp.Nullif(this=by, expression=exp.Literal.number(0)))
    return tree


def attempted(sql: str) -> tuple[str, str]:
    """Return an expression that is null where it cannot be computed, and the condition that it is so.

    A list of it is null in no other case. PostgreSQL has nothing that tries, and needs it less: its numbers have room
    for more digits than columns hold.
    """
    return f"TRY({sql})", f"TRY([{sql}]) IS NULL"


def over_columns(tree: exp.Expr, column_of: Callable[[str], HistoryColumn]) -> tuple[exp.Expr, tuple[str, ...]]:
    """Return a row expression over the columns of a history, and the names of these.

    Args:
        tree: the expression over attributes.
        column_of: returns the column of an attribute by its path.
    """
    uses: dict[str, None] = {}

    def in_columns(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column | exp.Dot):
            return node
        column = column_of(join(part.name for part in node.parts))
        uses[column.name] = None
        return exp.column(column.name, quoted=True)

    return tried(tree.transform(in_columns)), tuple(uses)
