"""What a query reads: tables whose columns are the row's own, or a column of Debezium's messages as JSON.

Everything is built as expressions, so that every name and text stands in its dialect's quotes. Imports sqlglot, so only
a format that writes imports it.
Source: contract.md §5 (full images, deletes), cdc-formats.md §1-§3 (envelopes).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from sqlglot import exp

from metl_gui.core.trees.paths import split
from metl_gui.workbench.exports.sql_types import JSON, TEXT
from metl_gui.workbench.exports.telling import Keyed, Told

_CHANGE, _MESSAGE = "metl_change", "metl_message"


class Reader(ABC):
    """How queries of one dialect read one kind of source.

    Args:
        dialect: as sqlglot names it.
    """

    has_changes: ClassVar[bool]
    """Whether a row of the source is a change with its kind, of any version of its schema."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    @abstractmethod
    def begin(self, table: exp.Expr) -> exp.Select:
        """Return a query without columns and conditions."""

    @abstractmethod
    def value(self, path: str, type_: str) -> exp.Expr | None:
        """Return the value of an attribute; ``None`` where the dialect cannot reach it."""


class Rows(Reader):
    """Tables with one column for each column of the row; nested attributes are fields of theirs.

    Args:
        dialect: as sqlglot names it.
    """

    has_changes = False
    _WITH_FIELDS = frozenset({"spark", "databricks", "bigquery", "duckdb", "trino", "snowflake"})

    def begin(self, table: exp.Expr) -> exp.Select:
        """Read the table as it is."""
        return exp.select().from_(table)

    def value(self, path: str, type_: str) -> exp.Expr | None:
        """Return the column, or a field of it, with the type it has in the table."""
        name, *below = split(path)
        found: exp.Expr = exp.column(quoted(name))
        if not below:
            return found
        if self.dialect == "postgres":
            return _postgres_value(exp.cast(found, "json"), below, type_)
        if self.dialect not in self._WITH_FIELDS:
            return None
        return exp.Dot.build([found, *map(quoted, below)])


class Changes(Reader):
    """A column of Debezium's messages, with or without the schema half.

    Args:
        dialect: as sqlglot names it.
        column: name of the column.
    """

    has_changes = True

    def __init__(self, dialect: str, column: str) -> None:
        super().__init__(dialect)
        self.column = column

    op: ClassVar[str] = "op"
    ts_ms: ClassVar[str] = "ts_ms"
    row: ClassVar[str] = "row_of"
    names: ClassVar[str] = "names"

    def told(self, told: Told, field: str) -> exp.Expr:
        """Return the condition that a row is of a version.

        Args:
            told: what its rows look like.
            field: path of the version field, empty for none.
        """
        own = tuple(dict.fromkeys((*told.own, *([split(field)[0]] if field else []))))
        parts = [self.has_only(own)]
        if told.required:
            parts.append(self.has_all(told.required))
        for other in told.others:
            either = list[exp.Expr]()
            either += [exp.not_(self.has_all(other.missing))] if other.missing else []
            either += [self.has_any(other.there)] if other.there else []
            parts.append(exp.or_(*either) if either else exp.false())
        by_paths = exp.and_(*parts)
        if not field:
            return by_paths
        label = self.value(field, TEXT)
        labels = [exp.Literal.string(one) for one in told.labels]
        unsaid = exp.and_(label.copy().is_(exp.null()), by_paths)
        return exp.or_(label.isin(*labels), unsaid)

    def told_by_key(self, keyed: Keyed) -> exp.Expr:
        """Return the condition that a delete fits no version, and has the key of this one."""
        fits = [
            exp.and_(*([self.has_all(required)] if required else []), self.has_only(own))
            for required, own in keyed.shapes
            if own
        ]
        others = [exp.not_(self.has_all(key)) for key in keyed.others]
        return exp.and_(self.has_all(keyed.key), exp.not_(exp.or_(*fits)), *others)

    @abstractmethod
    def value(self, path: str, type_: str) -> exp.Expr:
        """Return a value of the row."""

    @abstractmethod
    def has_all(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that the row has all of these columns."""

    @abstractmethod
    def has_any(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has one of them."""

    @abstractmethod
    def has_only(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has no other ones."""


class PostgresChanges(Changes):
    """Messages in a column of the types json, jsonb or text; only with jsonb do numbers lose how they were written."""

    def begin(self, table: exp.Expr) -> exp.Select:
        """Read kind, time and row of each change."""
        text = exp.cast(exp.column(quoted(self.column)), "json")
        message = exp.func("COALESCE", _extract(text.copy(), ["payload"]), text)
        messages = exp.select(exp.alias_(message, _MESSAGE)).from_(table)
        op = _extract_text(exp.column(_MESSAGE), [self.op])
        old, new = (_extract(exp.column(_MESSAGE), [part]) for part in ("before", "after"))
        row = exp.case().when(op.copy().eq("d"), old).else_(new)
        rows = exp.select(
            exp.alias_(op, self.op),
            exp.alias_(_extract_text(exp.column(_MESSAGE), [self.ts_ms]), self.ts_ms),
            exp.alias_(row, self.row),
        ).from_(messages.subquery("messages"))
        is_row = exp.func("JSON_TYPEOF", exp.column(self.row)).eq("object")
        keys = exp.select(exp.func("JSON_OBJECT_KEYS", exp.column(self.row)))
        names = exp.case().when(is_row, exp.Anonymous(this="ARRAY", expressions=[keys]))
        changes = exp.select("*", exp.alias_(names, self.names)).from_(rows.subquery("rows_of"))
        return exp.select().from_(_CHANGE).with_(_CHANGE, as_=changes)

    def value(self, path: str, type_: str) -> exp.Expr:
        """Return a value of the row."""
        return _postgres_value(exp.column(self.row), split(path), type_)

    def has_all(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that the row has all of these columns."""
        return exp.ArrayContainsAll(this=exp.column(self.names), expression=_texts(names))

    def has_any(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has one of them."""
        return exp.ArrayOverlaps(this=exp.column(self.names), expression=_texts(names))

    def has_only(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has no other ones."""
        return exp.ArrayContainsAll(this=_texts(names), expression=exp.column(self.names))


class SparkChanges(Changes):
    """Messages in a column of the type string; values are texts exactly as they came, which needs Spark 4."""

    _PARTS = "op: STRING, ts_ms: STRING, before: MAP<STRING, STRING>, after: MAP<STRING, STRING>"

    def begin(self, table: exp.Expr) -> exp.Select:
        """Read kind, time and row of each change."""
        type_ = f"STRUCT<{self._PARTS}, payload: STRUCT<{self._PARTS}>>"
        message = _call("FROM_JSON", exp.column(quoted(self.column)), exp.Literal.string(type_))
        messages = exp.select(exp.alias_(message, _MESSAGE)).from_(table)
        op, time, old, new = (_either(name) for name in (self.op, self.ts_ms, "before", "after"))
        row = exp.case().when(op.copy().eq("d"), old).else_(new)
        rows = exp.select(exp.alias_(op, self.op), exp.alias_(time, self.ts_ms), exp.alias_(row, self.row)).from_(
            messages.subquery("messages")
        )
        names = _call("MAP_KEYS", exp.column(self.row))
        changes = exp.select("*", exp.alias_(names, self.names)).from_(rows.subquery("rows_of"))
        return exp.select().from_(_CHANGE).with_(_CHANGE, as_=changes)

    def value(self, path: str, type_: str) -> exp.Expr:
        """Return a value of the row."""
        name, *below = split(path)
        found = _call("ELEMENT_AT", exp.column(self.row), exp.Literal.string(name))
        for each in below:
            inner = _call("FROM_JSON", found, exp.Literal.string("MAP<STRING, STRING>"))
            found = _call("ELEMENT_AT", inner, exp.Literal.string(each))
        return found if type_ in (TEXT, JSON) else exp.cast(found, data_type(type_, self.dialect))

    def has_all(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that the row has all of these columns."""
        return _nothing_left(_texts(names), exp.column(self.names))

    def has_any(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has one of them."""
        return _call("ARRAYS_OVERLAP", exp.column(self.names), _texts(names))

    def has_only(self, names: Sequence[str]) -> exp.Expr:
        """Return the condition that it has no other ones."""
        return _nothing_left(exp.column(self.names), _texts(names))


def quoted(name: str) -> exp.Identifier:
    """Return a name that the dialect writes in its quotes, whatever is in it."""
    return exp.to_identifier(name, quoted=True)


def table_of(database: str, table: str) -> exp.Table:
    """Return a table by the name of its database schema (empty for none) and its own."""
    return exp.Table(this=quoted(table), db=quoted(database) if database else None)


def data_type(name: str, dialect: str) -> exp.DataType:
    """Return a type as a dialect writes it; JSON is text where there is no type of its own for it."""
    if name == "double" and dialect == "postgres":
        name = "decimal"  # of any size: it keeps every digit, and knows NaN and infinity
    return exp.DataType.build(TEXT if name == JSON and dialect != "postgres" else name)


def _postgres_value(json: exp.Expr, names: Sequence[str], type_: str) -> exp.Expr:
    text = _extract_text(json, names)
    if type_ == TEXT:
        return text
    if type_ != JSON:
        return exp.cast(text, data_type(type_, "postgres"))
    return exp.case().when(exp.not_(text.is_(exp.null())), _extract(json.copy(), names))


def _extract(json: exp.Expr, names: Sequence[str]) -> exp.Expr:
    return _call("JSON_EXTRACT_PATH", json, *_literals(names))


def _extract_text(json: exp.Expr, names: Sequence[str]) -> exp.Expr:
    return _call("JSON_EXTRACT_PATH_TEXT", json, *_literals(names))


def _either(name: str) -> exp.Expr:
    """Return a part of a message that has its schema with it, or else of one that has not."""
    message = exp.column(_MESSAGE)
    with_schema = exp.Dot.build([message, exp.to_identifier("payload"), exp.to_identifier(name)])
    return exp.func("COALESCE", with_schema, exp.Dot.build([message.copy(), exp.to_identifier(name)]))


def _nothing_left(array: exp.Expr, without: exp.Expr) -> exp.Expr:
    return _call("SIZE", _call("ARRAY_EXCEPT", array, without)).eq(0)


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Call a function by this very name: of some, sqlglot would write another one with texts of its own making."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _texts(names: Sequence[str]) -> exp.Array:
    return exp.Array(expressions=_literals(names))


def _literals(names: Sequence[str]) -> list[exp.Expr]:
    return [exp.Literal.string(name) for name in names]
