"""Row expressions: SQL scalar expressions over the attributes of one message, in what all targets understand.

They are parsed by sqlglot in the dialect of DuckDB and held against a list of what may stand in them: nothing reads
another row or table, nothing calls out, and each target computes the same. A dotted name is the path of an attribute,
its parts in double quotes where they are no plain words.

Source: docs/reference/warehouse-model.md, "Row expressions".
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from metl_gui.core.trees.paths import join
from metl_gui.errors import EditError, near_names

MAX_LETTERS = 4_000
MAX_DEPTH = 100

FUNCTIONS: dict[str, type[exp.Expr]] = {
    "abs": exp.Abs,
    "cast": exp.Cast,
    "ceil": exp.Ceil,
    "coalesce": exp.Coalesce,
    "concat": exp.Concat,
    "date_trunc": exp.TimestampTrunc,
    "extract": exp.Extract,
    "floor": exp.Floor,
    "greatest": exp.Greatest,
    "least": exp.Least,
    "left": exp.Left,
    "length": exp.Length,
    "lower": exp.Lower,
    "lpad": exp.Pad,
    "ltrim": exp.Trim,
    "nullif": exp.Nullif,
    "replace": exp.Replace,
    "right": exp.Right,
    "round": exp.Round,
    "rpad": exp.Pad,
    "rtrim": exp.Trim,
    "split_part": exp.SplitPart,
    "starts_with": exp.StartsWith,
    "substr": exp.Substring,
    "substring": exp.Substring,
    "trim": exp.Trim,
    "upper": exp.Upper,
}
"""By name: the functions that may be called."""

_OPERATORS: tuple[type[exp.Expr], ...] = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between, exp.Like),
    *(exp.And, exp.Or, exp.Not, exp.Case, exp.If, exp.Paren),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_PARTS: tuple[type[exp.Expr], ...] = (
    *(exp.Column, exp.Dot, exp.Identifier, exp.Literal, exp.Boolean, exp.Null),
    *(exp.DataType, exp.DataTypeParam, exp.Var),
)
_ALLOWED = frozenset((*FUNCTIONS.values(), *_OPERATORS, *_PARTS, exp.TimestampTrunc, exp.DateTrunc))

_TYPES = frozenset(
    (
        *(exp.DType.BIGINT, exp.DType.INT, exp.DType.SMALLINT, exp.DType.DECIMAL, exp.DType.DOUBLE, exp.DType.FLOAT),
        *(exp.DType.BOOLEAN, exp.DType.DATE, exp.DType.TIME),
        *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPTZ),
        *(exp.DType.TEXT, exp.DType.VARCHAR),
    )
)
"""What may be cast to."""


def row_expression(text: str) -> exp.Expression:
    """Parse a row expression.

    Raises:
        EditError: it is none, or something stands in it that not all targets have.
    """
    if len(text) > MAX_LETTERS:
        raise _refused(text, f"it has more than {MAX_LETTERS:,} letters")
    try:
        found = sqlglot.parse_one(text, dialect="duckdb", into=exp.Condition)
    except RecursionError as error:
        raise _refused(text, f"it is nested more than {MAX_DEPTH} levels deep") from error
    except SqlglotError as error:
        why = str(error).splitlines()[0].partition(". Line")[0] or "it is no SQL"
        raise _refused(text, why if "Failed to parse" not in why else "it is not one SQL expression") from error
    if not isinstance(found, exp.Expression):
        raise _refused(text, "it is not one SQL expression")
    for node, depth in _walked(found):
        if depth > MAX_DEPTH:
            raise _refused(text, f"it is nested more than {MAX_DEPTH} levels deep")
        _check(text, node)
        node.pop_comments()
    return found


def attributes_of(expression: exp.Expression) -> tuple[str, ...]:
    """Return the paths of the attributes that an expression names, each once, in the order of the text."""
    return tuple(dict.fromkeys(join(_names(node)) for node in _outermost(expression)))


def named_attributes(text: str) -> tuple[str, ...]:
    """Return the paths of the attributes that a row expression names.

    Raises:
        EditError: as of ``row_expression``.
    """
    return attributes_of(row_expression(text))


def _walked(expression: exp.Expression) -> list[tuple[exp.Expr, int]]:
    """Return every node with its depth; without recursion, for what came from anywhere."""
    found: list[tuple[exp.Expr, int]] = [(expression, 0)]
    at = 0
    while at < len(found):
        node, depth = found[at]
        found += [(child, depth + 1) for child in node.iter_expressions()]
        at += 1
    return found


def _check(text: str, node: exp.Expr) -> None:
    if type(node) not in _ALLOWED:
        raise _refused(text, _why(node), f"Functions are {', '.join(FUNCTIONS)}.")
    if isinstance(node, exp.DataType) and node.this not in _TYPES:
        raise _refused(text, f"{node.sql('duckdb').lower()} is no type that all targets have")
    if isinstance(node, exp.In) and (node.args.get("query") or node.args.get("unnest")):
        raise _refused(text, "a list of IN must be written out")
    fill = node.args.get("fill_pattern")
    if isinstance(node, exp.Pad) and isinstance(fill, exp.Literal) and not fill.name:
        raise _refused(text, "lpad and rpad fill with one letter or more")
    if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Identifier):
        raise _refused(text, "what stands behind a dot must be a name")


def _why(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        name = str(node.this)[:80].lower()
        near = near_names(name, FUNCTIONS)
        return f"there is no function {name}" + (f" ({near.lower()})" if near else "")
    if isinstance(node, exp.Query | exp.Subquery):
        return "a query cannot stand in it"
    if isinstance(node, exp.AggFunc | exp.Window):
        return "it must be about one row, without aggregates and windows"
    if isinstance(node, exp.Star):
        return "a star cannot stand in it"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()} is not one that all targets have"
    return f"{type(node).__name__.lower()} is not what all targets have"


def _outermost(expression: exp.Expression) -> list[exp.Expr]:
    """Return columns, and the dots that lead further below them."""
    found: list[exp.Expr] = []
    left: list[exp.Expr] = [expression]
    while left:
        node = left.pop()
        if isinstance(node, exp.Column | exp.Dot):
            found.append(node)
        else:
            left += reversed(list(node.iter_expressions()))
    return found


def _names(node: exp.Expr) -> list[str]:
    behind: list[str] = []
    while isinstance(node, exp.Dot):
        behind.append(node.expression.name)
        node = node.this
    parts = node.parts if isinstance(node, exp.Column) else []
    return [*(part.name for part in parts), *reversed(behind)]


def _refused(text: str, why: str, hint: str = "") -> EditError:
    shown = text if len(text) <= 120 else f"{text[:120]}…"
    return EditError(f"{shown or 'An empty text'} is no row expression.", f"{why[0].upper()}{why[1:]}.", hint)
