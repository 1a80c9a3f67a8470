"""One ``SELECT`` for one block: its columns, which rows it is for, and what production would not send left out.

A ``SourceReader`` is what a query reads: tables whose columns are the row's own, or a column of Debezium's messages as
JSON. Everything is built as expressions, so that every name and text stands in its dialect's quotes. Imports sqlglot,
so only a format that writes imports it.

Source: docs/reference/message.md; docs/reference/report.md (what is filtered); docs/reference/cdc.md, "The envelope";
docs/reference/cdc.md, "Source positions".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from sqlglot import exp

from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.paths import split
from metl_gui.values import Value
from metl_gui.workbench.exports.blocks import ExportedBlock
from metl_gui.workbench.exports.format_spec import unique_names
from metl_gui.workbench.exports.mappable_blocks import (
    JSON,
    TEXT,
    KeyOnlyDelete,
    MappedVersion,
    RowPredicate,
    VersionPredicate,
    attributes_by_path,
    sql_type,
)

_CHANGE, _MESSAGE = "metl_change", "metl_message"


class SourceReader(ABC):
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


class RowReader(SourceReader):
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


class ChangeReader(SourceReader):
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

    def version_condition(self, told: RowPredicate, field: str) -> exp.Expr:
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

    def key_condition(self, keyed: KeyOnlyDelete) -> exp.Expr:
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


class PostgresChangeReader(ChangeReader):
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


class SparkChangeReader(ChangeReader):
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


OP, TS_MS = "metl_op", "metl_ts_ms"
"""Columns of changes beside those of the block: the kind of the change, and when the connector read it."""

_KEY = "metl_key_"
_FULL = "full"


class QueryColumn(Value):
    """One column of a query.

    Args:
        name: what it is called.
        path: the CDM path, or ``@`` and the source path of a part of the key that is not mapped.
        type: of its values where they are read from messages (``mappable_blocks.sql_type``).
        source: what fills it, ``None`` where it stays null.
        target: the CDM attribute, ``None`` for an unmapped part of the key.
        is_key: it is a part of the key.
    """

    name: str
    path: str
    type: str
    source: Attribute | None
    target: Attribute | None
    is_key: bool


def columns_of(mapped: MappedVersion, block: ExportedBlock, longest: int) -> tuple[QueryColumn, ...]:
    """Return the columns of a block in the order of its entity version, then the parts of the key that are not mapped.

    Args:
        mapped: the version.
        block: one of its blocks.
        longest: how many bytes a name may have.
    """
    by_target = {line.target.id: line.source for line in block.lines}
    key = mapped.key or ()
    columns = [
        QueryColumn("", target.path, sql_type(source), source, target, source.path in key)
        for target in block.entity_version.attributes
        if (source := by_target.get(target.id)) is not None
    ]
    known, filled = attributes_by_path(mapped.version), {source.path for source in by_target.values()}
    for path in key:
        if path not in filled:
            source = known.get(path)
            columns.append(QueryColumn("", f"@{path}", sql_type(source) if source else TEXT, source, None, is_key=True))
    return named(columns, longest)


def named(columns: Sequence[QueryColumn], longest: int) -> tuple[QueryColumn, ...]:
    """Give columns their names: paths with underscores for dots."""
    wanted = [(_flat(one.path) if one.target else f"{_KEY}{_flat(one.path[1:])}", one.path) for one in columns]
    names = unique_names(wanted, longest, (OP, TS_MS))
    return tuple(
        QueryColumn(name, one.path, one.type, one.source, one.target, one.is_key)
        for name, one in zip(names, columns, strict=True)
    )


def _flat(path: str) -> str:
    return "_".join(split(path))


def block_select(
    reader: SourceReader,
    table: exp.Expr,
    mapped: MappedVersion,
    columns: Sequence[QueryColumn],
    telling: VersionPredicate | None,
) -> exp.Select | str:
    """Build the query of one block.

    Args:
        reader: how its source is read.
        table: what it reads.
        mapped: the version.
        columns: what it returns.
        telling: by what the rows of the version are told; ``None`` where the source holds no others.

    Returns:
        The query, or in words why the dialect cannot express it.
    """
    query, values = reader.begin(table), list[exp.Expr]()
    is_full = mapped.schema.setting("replica_identity") == _FULL
    if isinstance(reader, ChangeReader):
        time = exp.cast(exp.column(reader.ts_ms), "bigint")
        values += [exp.alias_(exp.column(reader.op), OP), exp.alias_(time, TS_MS)]
    for column in columns:
        value = _value(reader, column)
        if value is None:
            return "the dialect cannot reach into a column for a nested attribute"
        if isinstance(reader, ChangeReader) and not (column.is_key or is_full or column.source is None):
            value = exp.Case(ifs=[exp.If(this=exp.column(reader.op).neq("d"), true=value)])
        values.append(exp.Alias(this=value, alias=quoted(column.name)))
    # Nothing is copied: with the whole query for each column, that is most of the time it takes.
    query = query.select(*values, copy=False)
    if isinstance(reader, ChangeReader):
        query = query.where(_is_sent(reader, columns, is_full), copy=False)
        if telling is not None:
            query = query.where(_is_of_version(reader, telling, mapped.schema.setting("version_field")), copy=False)
    return query


def _value(reader: SourceReader, column: QueryColumn) -> exp.Expr | None:
    if column.source is None:
        return exp.cast(exp.null(), data_type(column.type, reader.dialect))
    return reader.value(column.source.path, column.type)


def _is_of_version(reader: ChangeReader, telling: VersionPredicate, field: str) -> exp.Expr:
    """Return the condition that a row is of the version."""
    is_delete = exp.column(reader.op).eq("d")
    if telling.images is not None and telling.images == telling.deletes:
        ways = [reader.version_condition(telling.images, field)]
    else:
        kinds: list[tuple[RowPredicate | None, exp.Expr]] = [
            (telling.images, exp.column(reader.op).neq("d")),
            (telling.deletes, is_delete.copy()),
        ]
        ways = [exp.and_(kind, reader.version_condition(told, field)) for told, kind in kinds if told is not None]
    if telling.keyed is not None:
        ways.append(exp.and_(is_delete, reader.key_condition(telling.keyed)))
    return exp.or_(*ways)


def _is_sent(reader: ChangeReader, columns: Sequence[QueryColumn], is_full: bool) -> exp.Expr:
    """Return the condition that production sends a message.

    Updates always are, creates and reads with any mapped value, deletes that say which row is meant.
    """
    op = exp.column(reader.op)
    # As texts: a row of another version may have another type, and no order of conditions keeps it from being cast.
    is_there = [
        (column, exp.not_(reader.value(column.source.path, TEXT).is_(exp.null())))
        for column in columns
        if column.source is not None
    ]
    any_mapped = exp.or_(*(there for column, there in is_there if column.target is not None))
    any_key = [there.copy() for column, there in is_there if column.is_key]
    ways = [op.eq("u"), exp.and_(op.copy().isin("c", "r"), any_mapped)]
    if is_full:
        ways.append(op.copy().eq("d"))
    elif any_key:
        ways.append(exp.and_(op.copy().eq("d"), exp.or_(*any_key)))
    return exp.or_(*ways)


def union(queries: Sequence[exp.Select]) -> exp.Query:
    """Put queries over the same source together, one after another, with what they read said once."""
    if len(queries) == 1:
        return queries[0]
    read = queries[0].args.get("with_")
    for query in queries:
        query.set("with_", None)
    joined = exp.union(*queries, distinct=False, copy=False)
    joined.set("with_", read)
    return joined
