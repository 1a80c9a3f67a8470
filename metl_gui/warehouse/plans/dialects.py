"""Plans in the dialects of databases: what sqlglot does not do on its own.

Plans are written for DuckDB. PostgreSQL compares text by the rules of a language unless told otherwise, has no casts
that give null, no lists, and shortens names without a word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from sqlglot import exp

POSTGRES = "postgres"

NAME_BYTES = 63
"""PostgreSQL cuts longer names, so that two of them may become one."""

UNHELD = "\ufdd0"
"""Stands for the character of number 0, which PostgreSQL holds in no text; it is none of any language."""

FIRST, SORT_KEY = "ARG_MIN_NULL", "CREATE_SORT_KEY"
"""DuckDB's functions for the value with the least key, and for the key of an order: a list would be sorted by group."""

GROUP_KEY = "HASH"
"""DuckDB's function for one number of several values, to group by: values that differ have the same very seldom."""

_ROW = "rowid"
"""DuckDB's column for the number of a row of a table; of one that is not committed yet, numbers begin far up."""

_DECIMAL_DEFAULT = (18, 3)
"""Digits and scale of a decimal without any, in DuckDB."""

_INTEGERS = {exp.DType.SMALLINT: 16, exp.DType.INT: 32, exp.DType.BIGINT: 64}
_TRIED = {
    exp.DType.DOUBLE: "metl_try_double",
    exp.DType.FLOAT: "metl_try_double",
    exp.DType.BOOLEAN: "metl_try_boolean",
    exp.DType.DATE: "metl_try_date",
    exp.DType.TIME: "metl_try_time",
    exp.DType.TIMESTAMP: "metl_try_timestamp",
    exp.DType.TIMESTAMPNTZ: "metl_try_timestamp",
    exp.DType.TIMESTAMPTZ: "metl_try_instant",
    exp.DType.TEXT: "metl_text",
    exp.DType.VARCHAR: "metl_text",
}
"""Functions of ``postgres_functions``, by the type that they try to make."""


def written(statement: exp.Expr, dialect: str, *, is_pretty: bool = False) -> str:
    """Return a statement in the dialect of a database."""
    if dialect != POSTGRES:
        return statement.sql(dialect=dialect, pretty=is_pretty)
    text = _numbered(_for_postgres(statement)).sql(dialect=POSTGRES, pretty=is_pretty)
    return _TEMPORARY.sub(r"CREATE TEMPORARY TABLE \1 ON COMMIT DROP AS", text) if is_pretty else text


_TEMPORARY = re.compile(r'\ACREATE OR REPLACE TEMPORARY TABLE ("(?:[^"]|"")+") AS')
"""What a target does in more than one statement; people read the one that matters."""


def row_place(table: str, alias: str) -> str:
    """Return the expression for a number from 0 on that no two rows of a table have.

    DuckDB reads it off where rows lie: to count them, it would look at one after the other. PostgreSQL counts the rows
    of the query, in which each row of the table may stand once.

    Args:
        table: of which ``hides_places`` is said of no column.
        alias: of the table in the query.
    """
    return f"({alias}.{_ROW} - (SELECT MIN({_ROW}) FROM {table}))"


def hides_places(column: str) -> bool:
    """Return whether a column has the name by which DuckDB knows where rows lie, so that it is read in its place."""
    return column.lower() == _ROW


def fitted(name: str) -> str:
    """Return a name that PostgreSQL keeps as it is; of one that is too long, its beginning and a hash."""
    encoded = name.encode()
    if len(encoded) <= NAME_BYTES:
        return name
    mark = hashlib.sha256(encoded).hexdigest()[:10]
    return f"{encoded[: NAME_BYTES - 11].decode(errors='ignore')}_{mark}"


def _for_postgres(statement: exp.Expr) -> exp.Expr:
    """Return a statement with what stands for its parts in PostgreSQL, inner parts first."""
    statement = statement.copy()
    for node in reversed(list(statement.walk(bfs=False))):
        change = _CHANGES.get(type(node))
        changed = change(node) if change else node
        if changed is not node:
            if node is statement:
                statement = changed
            else:
                node.replace(changed)
    return statement


def _identifier(node: exp.Expr) -> exp.Expr:
    shorter = fitted(node.name)
    return node if shorter == node.name else exp.to_identifier(shorter, quoted=True)


def _row_place(node: exp.Expr) -> exp.Expr:
    """Count rows where the database does not say which row of its table one is."""
    is_place = isinstance(node.this, exp.Column) and node.this.name == _ROW and not node.this.this.quoted
    return exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=exp.Literal.number(1)) if is_place else node


def _text_column(node: exp.Expr) -> exp.Expr:
    """Compare the text of a column by its bytes, as every other target does."""
    if _is_of_text(node.args.get("kind")):
        collation = exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=_by_bytes()))
        node.set("constraints", [collation, *node.args.get("constraints", [])])
    return node


def _becomes_text(node: exp.Expr) -> exp.Expr:
    if _is_of_text(node.args.get("dtype")):
        node.set("collate", _by_bytes())
    return node


def _is_of_text(kind: object) -> bool:
    """Return whether a type is one of texts, or of lists of these."""
    types = kind.find_all(exp.DataType) if isinstance(kind, exp.DataType) else ()
    return any(one.this in exp.DataType.TEXT_TYPES for one in types)


def _by_bytes() -> exp.Identifier:
    return exp.to_identifier("C", quoted=True)


def _try_cast(node: exp.Expr) -> exp.Expr:
    """Call a function that gives null for what cannot be cast: an error would end the load."""
    to = node.args["to"]
    kind = to.this
    if kind in _INTEGERS:
        return exp.cast(exp.func("metl_try_integer", node.this, exp.Literal.number(_INTEGERS[kind])), to)
    if kind == exp.DType.DECIMAL:
        given = [int(one.name) for one in to.expressions]
        digits, scale = (*given, *_DECIMAL_DEFAULT[len(given) :]) if len(given) != 1 else (given[0], 0)
        numbers = (exp.Literal.number(digits), exp.Literal.number(scale))
        return exp.cast(exp.func("metl_try_decimal", node.this, *numbers), f"DECIMAL({digits}, {scale})")
    tried = exp.func(_TRIED[kind], node.this)
    return exp.cast(tried, to) if kind == exp.DType.FLOAT else tried


def _cast(node: exp.Expr) -> exp.Expr:
    """Write numbers and times as text in one way everywhere."""
    is_text = node.args["to"].this in exp.DataType.TEXT_TYPES
    return _try_cast(node) if is_text and not isinstance(node.this, exp.Literal) else node


def _named(node: exp.Expr) -> exp.Expr:
    """Put what PostgreSQL has in the place of a function that is DuckDB's own; it groups by several values as fast."""
    return exp.Tuple(expressions=node.expressions) if node.name == GROUP_KEY else _first(node)


def _first(node: exp.Expr) -> exp.Expr:
    """Take the first value in an order out of a list of all."""
    found = node.this if isinstance(node, exp.Filter) else node
    if found.name != FIRST or (found is node and isinstance(node.parent, exp.Filter)):
        return node
    value, key = found.expressions
    order = [
        exp.Ordered(this=by, desc=direction.name.startswith("DESC"), nulls_first=False)
        for by, direction in zip(key.expressions[::2], key.expressions[1::2], strict=True)
    ]
    listed: exp.Expr = exp.ArrayAgg(this=exp.Order(this=value, expressions=order))
    if isinstance(node, exp.Filter):
        listed = exp.Filter(this=listed, expression=node.expression)
    return exp.Bracket(this=exp.Paren(this=listed), expressions=[exp.Literal.number(1)], offset=1)


def _tried(node: exp.Expr) -> exp.Expr:
    """Compute what PostgreSQL cannot try: functions that catch errors would take many times as long."""
    return exp.Paren(this=node.this)


def _contains(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.EQ(this=node.expression, expression=exp.Any(this=exp.Paren(this=node.this))))


def _array(node: exp.Expr) -> exp.Expr:
    """Say of what an empty list is empty."""
    return node if node.expressions or isinstance(node.parent, exp.Cast) else exp.cast(node, "TEXT[]", dialect=POSTGRES)


def _json_text(node: exp.Expr) -> exp.Expr:
    """Return the text of a member of an object that is kept as text."""
    keys = [exp.Literal.string(part.name) for part in node.expression.find_all(exp.JSONPathKey)]
    return exp.func("JSONB_EXTRACT_PATH_TEXT", exp.cast(node.this, "JSONB"), *keys)


def _not_in(node: exp.Expr) -> exp.Expr:
    """Ask for what is missing by a join: a list that does not fit into memory is searched again for each row.

    Nulls: a row that asks with one is left out, as by a list with anything in it; a list has none.
    """
    within = node.this
    if not isinstance(within, exp.In) or not within.args.get("query"):
        return node
    values = within.this.expressions if isinstance(within.this, exp.Tuple) else [within.this.unnest()]
    query = within.args["query"].unnest()
    columns = [f"c{number}" for number in range(len(values))]
    listed = exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier(one) for one in columns])
    same = [
        exp.EQ(this=exp.column(c, "listed"), expression=value.copy()) for c, value in zip(columns, values, strict=True)
    ]
    found = exp.select("1").from_(exp.Subquery(this=query, alias=listed)).where(*same)
    given = [exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())) for value in values]
    return exp.Paren(this=exp.and_(exp.Not(this=exp.Exists(this=found)), *given))


def _extract(node: exp.Expr) -> exp.Expr:
    """Return parts of times as whole numbers, but for seconds since 1970."""
    if node.this.name.upper() == "EPOCH":
        return exp.cast(node.copy(), "DOUBLE")
    return exp.cast(exp.Floor(this=node.copy()), "BIGINT")


def _truncated(node: exp.Expr) -> exp.Expr:
    """Return the start of a period without a time zone where what lies in it has none."""
    return exp.func("metl_date_trunc", exp.Literal.string(node.args["unit"].name.lower()), node.this)


def _cased(function: str) -> Callable[[exp.Expr], exp.Expr]:
    """Return the change to a function that knows the case of all letters, not only of those of ASCII."""
    return lambda node: exp.func(function, node.this)


_CHANGES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Identifier: _identifier,
    exp.Sub: _row_place,
    exp.ColumnDef: _text_column,
    exp.AlterColumn: _becomes_text,
    exp.TryCast: _try_cast,
    exp.Cast: _cast,
    exp.Try: _tried,
    exp.ArrayContains: _contains,
    exp.Anonymous: _named,
    exp.Filter: _first,
    exp.Array: _array,
    exp.JSONExtractScalar: _json_text,
    exp.Not: _not_in,
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.Upper: _cased("metl_upper"),
    exp.Lower: _cased("metl_lower"),
}


def _numbered(statement: exp.Expr) -> exp.Expr:
    """Number the places of values, in the order of the text."""
    places = list(statement.find_all(exp.Placeholder, bfs=False))
    for number, place in enumerate(places, 1):
        place.replace(exp.Parameter(this=exp.Literal.number(number)))
    return statement
