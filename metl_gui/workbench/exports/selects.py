"""One ``SELECT`` for one block: its columns, which rows it is for, and what production would not send left out.

Source: contract.md §5 (outgoing message, full images, what is filtered). Imports sqlglot (see ``reading``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.paths import split
from metl_gui.workbench.exports.carried import Carried
from metl_gui.workbench.exports.mappable import Mapped, attributes_by_path
from metl_gui.workbench.exports.naming import unique_names
from metl_gui.workbench.exports.reading import Changes, Reader, data_type, quoted
from metl_gui.workbench.exports.sql_types import TEXT, sql_type
from metl_gui.workbench.exports.telling import Telling, Told

OP, TS_MS = "metl_op", "metl_ts_ms"
"""Columns of changes beside those of the block: the kind of the change, and when the connector read it."""

_KEY = "metl_key_"
_FULL = "full"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a query.

    Args:
        name: what it is called.
        path: the CDM path, or ``@`` and the source path of a part of the key that is not mapped.
        type: of its values where they are read from messages (``sql_types``).
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


def columns_of(mapped: Mapped, block: Carried, longest: int) -> tuple[Column, ...]:
    """Return the columns of a block in the order of its entity version, then the parts of the key that are not mapped.

    Args:
        mapped: the version.
        block: one of its blocks.
        longest: how many bytes a name may have.
    """
    by_target = {line.target.id: line.source for line in block.lines}
    key = mapped.key or ()
    columns = [
        Column("", target.path, sql_type(source), source, target, source.path in key)
        for target in block.entity_version.attributes
        if (source := by_target.get(target.id)) is not None
    ]
    known, filled = attributes_by_path(mapped.version), {source.path for source in by_target.values()}
    for path in key:
        if path not in filled:
            source = known.get(path)
            columns.append(Column("", f"@{path}", sql_type(source) if source else TEXT, source, None, is_key=True))
    return named(columns, longest)


def named(columns: Sequence[Column], longest: int) -> tuple[Column, ...]:
    """Give columns their names: paths with underscores for dots."""
    wanted = [(_flat(one.path) if one.target else f"{_KEY}{_flat(one.path[1:])}", one.path) for one in columns]
    names = unique_names(wanted, longest, (OP, TS_MS))
    return tuple(
        Column(name, one.path, one.type, one.source, one.target, one.is_key)
        for name, one in zip(names, columns, strict=True)
    )


def _flat(path: str) -> str:
    return "_".join(split(path))


def block_select(
    reader: Reader, table: exp.Expr, mapped: Mapped, columns: Sequence[Column], telling: Telling | None
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
    if isinstance(reader, Changes):
        time = exp.cast(exp.column(reader.ts_ms), "bigint")
        values += [exp.alias_(exp.column(reader.op), OP), exp.alias_(time, TS_MS)]
    for column in columns:
        value = _value(reader, column)
        if value is None:
            return "the dialect cannot reach into a column for a nested attribute"
        if isinstance(reader, Changes) and not (column.is_key or is_full or column.source is None):
            value = exp.Case(ifs=[exp.If(this=exp.column(reader.op).neq("d"), true=value)])
        values.append(exp.Alias(this=value, alias=quoted(column.name)))
    # Nothing is copied: with the whole query for each column, that is most of the time it takes.
    query = query.select(*values, copy=False)
    if isinstance(reader, Changes):
        query = query.where(_is_sent(reader, columns, is_full), copy=False)
        if telling is not None:
            query = query.where(_is_of_version(reader, telling, mapped.schema.setting("version_field")), copy=False)
    return query


def _value(reader: Reader, column: Column) -> exp.Expr | None:
    if column.source is None:
        return exp.cast(exp.null(), data_type(column.type, reader.dialect))
    return reader.value(column.source.path, column.type)


def _is_of_version(reader: Changes, telling: Telling, field: str) -> exp.Expr:
    """Return the condition that a row is of the version."""
    is_delete = exp.column(reader.op).eq("d")
    if telling.images is not None and telling.images == telling.deletes:
        ways = [reader.told(telling.images, field)]
    else:
        kinds: list[tuple[Told | None, exp.Expr]] = [
            (telling.images, exp.column(reader.op).neq("d")),
            (telling.deletes, is_delete.copy()),
        ]
        ways = [exp.and_(kind, reader.told(told, field)) for told, kind in kinds if told is not None]
    if telling.keyed is not None:
        ways.append(exp.and_(is_delete, reader.told_by_key(telling.keyed)))
    return exp.or_(*ways)


def _is_sent(reader: Changes, columns: Sequence[Column], is_full: bool) -> exp.Expr:
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
