"""The catalogue of a PostgreSQL database to versions, as Debezium will declare them: before the first event.

A schema is called as its topic will be (``prefix.schema.table``). Columns that Debezium leaves out are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.paths import escape
from metl_gui.registry.addresses import DatabasePlace
from metl_gui.registry.postgres_types import ConnectType, Modes, array_type, connect_type, modes_of
from metl_gui.registry.remote.database import connected
from metl_gui.values import Value

_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relispartition, coalesce(obj_description(c.oid, 'pg_class'), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND (%(schemas)s::text[] IS NULL OR n.nspname = ANY(%(schemas)s::text[]))
ORDER BY n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, a.atttypid, a.atttypmod, a.attnotnull, coalesce(col_description(a.attrelid, a.attnum), '')
FROM pg_attribute a
WHERE a.attrelid = ANY(%(tables)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
"""
_TYPES = """
SELECT t.oid, t.typname, t.typtype::text, t.typbasetype, t.typtypmod, t.typnotnull, t.typelem, t.typcategory::text
FROM pg_type t WHERE t.typrelid = 0 OR t.typtype = 'd'
"""
_KEYS = """
SELECT i.indrelid, i.indisprimary, x.relname, coalesce(a.attname, '')
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
WHERE i.indrelid = ANY(%(tables)s::oid[]) AND i.indisunique AND k.place <= i.indnkeyatts
ORDER BY i.indrelid, NOT i.indisprimary, x.relname, k.place
"""
_WILD = frozenset("*?[")


class CatalogueTable(Value):
    """One table as lists show it.

    Args:
        oid: by which the database knows it.
        schema: that it is in.
        name: its own.
        is_partition: it is a part of another one.
        comment: what people wrote of it.
    """

    oid: int
    schema: str
    name: str
    is_partition: bool
    comment: str

    @property
    def shown(self) -> str:
        """The table with its schema."""
        return f"{self.schema}.{self.name}"


class _Type(Value):
    name: str
    kind: str
    base: int
    modifier: int
    is_required: bool
    member: int
    category: str


def list_tables(place: DatabasePlace) -> list[CatalogueTable]:
    """List the tables of the schemas that a place names, those of the system never.

    Raises:
        SchemaError: the server refuses us.
        ServiceUnavailableError: it does not answer.
    """
    with connected(place) as connection:
        return _tables(connection, place)


def read_catalogue(place: DatabasePlace, patterns: Sequence[str] = ()) -> ReaderResult:
    """Read the tables that fit some patterns, in their present version.

    Args:
        place: the database; its prefix is put before the names, its modes say how values will be written.
        patterns: ``schema.table`` or ``table``, with ``*`` and ``?``; none for all tables that are no partitions.

    Raises:
        SchemaError: the server refuses us, or a setting has no such value.
        ServiceUnavailableError: it does not answer.
    """
    modes = modes_of(dict(place.modes))
    with connected(place) as connection:
        tables = matching_tables(_tables(connection, place), patterns)
        wanted = {"tables": [table.oid for table in tables]}
        types = {oid: _Type(*facts) for oid, *facts in connection.execute(_TYPES).fetchall()}
        columns = _by_table(connection.execute(_COLUMNS, wanted).fetchall())
        keys = _by_table(connection.execute(_KEYS, wanted).fetchall())
    if not tables:
        what = (
            f"No table fits {', '.join(patterns)}." if patterns else "There are no tables in the schemas that are read."
        )
        return ReaderResult(refused=(SkippedSource(place.shown, what),))
    declared, refused = [], []
    for table in tables:
        attributes, left_out = _attributes(columns.get(table.oid, ()), types, modes)
        source = f"{place.shown} ({table.shown})"
        if left_out:
            refused.append(SkippedSource(source, f"Debezium leaves out columns of their types: {', '.join(left_out)}."))
        if attributes:
            name = f"{place.prefix}.{table.shown}" if place.prefix else table.shown
            key = _key(keys.get(table.oid, ()), {one.path for one in attributes})
            declared.append(VersionDeclaration(name, attributes, None, (), key, source=source))
    return ReaderResult(tuple(declared), tuple(refused))


def matching_tables(tables: Iterable[CatalogueTable], patterns: Sequence[str]) -> list[CatalogueTable]:
    """Choose tables by patterns; partitions only by their own name, as their rows come under that of the whole."""
    return [table for table in tables if _fits(table, patterns)]


def _fits(table: CatalogueTable, patterns: Sequence[str]) -> bool:
    if table.is_partition:
        patterns = [pattern for pattern in patterns if not _WILD & set(pattern)]
        return any(pattern in (table.shown, table.name) for pattern in patterns)
    names = (table.shown, table.name)
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _tables(connection: Any, place: DatabasePlace) -> list[CatalogueTable]:
    rows = connection.execute(_TABLES, {"schemas": list(place.schemas) or None}).fetchall()
    return [CatalogueTable(*row) for row in rows]


def _by_table(rows: list[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    return {oid: [row[1:] for row in group] for oid, group in groupby(rows, lambda row: row[0])}


def _attributes(
    columns: Iterable[tuple[Any, ...]], types: Mapping[int, _Type], modes: Modes
) -> tuple[tuple[AttributeDeclaration, ...], list[str]]:
    """Return what Debezium declares, and the columns that it leaves out with their types."""
    declared, left_out = [], []
    for name, oid, modifier, is_required, comment in columns:
        found = _type_of(oid, modifier, types, modes)
        if found is None:
            left_out.append(f"{name} ({types[oid].name if oid in types else 'a row'})")
            continue
        own = types[oid]
        is_optional = not (is_required or (own.kind == "d" and own.is_required))
        declared.append(
            AttributeDeclaration(escape(name), found.type, found.logical, found.scale, is_optional, comment.strip())
        )
    return tuple(declared), left_out


def _type_of(oid: int, modifier: int, types: Mapping[int, _Type], modes: Modes) -> ConnectType | None:
    native = types.get(oid)
    while native is not None and native.kind == "d":
        modifier = native.modifier if native.modifier >= 0 else modifier
        native = types.get(native.base)
    if native is None:
        return None
    if native.category == "A" and native.name.startswith("_"):
        member = types.get(native.member)
        return None if member is None else array_type(_native(member), modifier, modes)
    return connect_type(_native(native), modifier, modes)


def _native(type_: _Type) -> str:
    """Return what the rules call a type."""
    return {"e": "enum", "d": ""}.get(type_.kind, type_.name)


def _key(columns: Iterable[tuple[Any, ...]], paths: set[str]) -> tuple[str, ...] | None:
    """Return the key: the primary one, else the first unique index by name as long as it is of columns only."""
    for _, group in groupby(columns, lambda row: (row[0], row[1])):
        key = tuple(escape(column) for _, _, column in group)
        return key if paths.issuperset(key) else None
    return ()
