"""The rows of schemas and versions of both trees: written by change, read whole into columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.changes.draft import SchemaChange, Transition, VersionChange
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.columns import Indices, Longs, laid_out, starts_of
from metl_gui.core.trees.declarations import KeyPaths
from metl_gui.core.trees.nodes import IgnoredAttribute, Schema, Side
from metl_gui.core.trees.trees import TextTable, Tree, TreeBase
from metl_gui.core.trees.version_facts import VersionColumns
from metl_gui.store.rows.packed_rows import (
    SIZE_BYTES,
    Interned,
    pack_attributes,
    read_texts,
    read_types,
    rows_for,
    unpack_attributes,
)

_ROWS_AT_ONCE = 20_000
_ADD_SCHEMA = (
    "INSERT OR REPLACE INTO schemas (side, id, name, aliases, settings, succeeds, ignored) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ADD_VERSION = (
    "INSERT OR REPLACE INTO versions (side, id, schema_id, place, labels, fingerprint, key, inferred, source,"
    " attributes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_READ_VERSIONS = (
    "SELECT id, schema_id, place, inferred, labels, key, source, fingerprint, attributes FROM versions WHERE side = ?"
)
_NONE = "[]"
_MOST_IDS = 1 << 26
_IDS_EACH = 64
"""Ids are given one after the other, and some columns have a place for each: so many attributes may be gone."""
_texts = msgspec.json.Decoder(tuple[str, ...])
_text_pairs = msgspec.json.Decoder(tuple[tuple[str, str], ...])
_id_pairs = msgspec.json.Decoder(tuple[tuple[int, int], ...])
_LARGEST_ID = 2**31 - 1
_LATEST_MS = 253_402_300_799_999
"""The last moment of the year 9999."""

_ignored = msgspec.json.Decoder(tuple[IgnoredAttribute, ...])


def write_trees(connection: sqlite3.Connection, transition: Transition, interned: Interned) -> None:
    """Write what an edit changed in the trees and the next ids."""
    after = transition.after
    for version in transition.change.versions:
        _write_version(connection, after, version, interned)
    for schema in transition.change.schemas:
        _write_schema(connection, schema)
    for side in Side:
        if after.ids(side) != transition.before.ids(side):
            ids = after.ids(side)
            connection.execute(
                "UPDATE next_ids SET schema = ?, version = ?, attribute = ?, lineage = ? WHERE side = ?",
                (ids.schema, ids.version, ids.attribute, ids.lineage, side.value),
            )


def read_tree(connection: sqlite3.Connection, side: Side, told: Callable[[int], None]) -> Tree:
    """Read one tree.

    Args:
        connection: to the file.
        side: which tree.
        told: called now and then with how many more versions were read; what it raises ends the reading.

    Raises:
        ValueError: a version without its schema or label, or an attribute without its text or type.
    """
    columns = _Columns()
    for rows in _portions(connection.execute(_READ_VERSIONS, (side.value,))):
        columns.add(rows)
        told(len(rows))
    numbers, packs = columns.joined()
    by_id = np.argsort(numbers[:, 0], kind="stable")
    version_ids = _by_schema(numbers)
    schemas = _read_schemas(connection, side, version_ids)
    if version_ids:
        raise ValueError("versions of a schema that is not there")
    attributes = unpack_attributes(packs)
    start, order = _in_order(numbers[:, 3] // SIZE_BYTES, by_id)
    attributes = attributes if order is None else attributes[order]
    id_, lineage, path, doc, kind = np.ascontiguousarray(attributes.T)
    if len(id_) and not 0 < max(id_.max(), lineage.max()) <= _MOST_IDS + _IDS_EACH * len(id_):
        raise ValueError("ids of attributes that were never given")
    texts, row_of_text = read_texts(connection)
    types, row_of_type = read_types(connection)
    return Tree(
        TreeBase(
            schemas={schema.id: schema for schema in schemas},
            version_id=numbers[by_id, 0].astype(np.int32),
            schema_id=numbers[by_id, 1].astype(np.int32),
            facts=columns.facts(by_id),
            start=start,
            id=id_.copy(),
            lineage=lineage.copy(),
            path=rows_for(row_of_text, path, "path"),
            doc=rows_for(row_of_text, doc, "documentation"),
            type=rows_for(row_of_type, kind >> 1, "type"),
            optional=(kind & 1).astype(np.bool_),
            texts=texts,
            types=types,
        )
    )


class _Numbers(dict[Any, int]):
    """Numbers of values in the order in which they are met, from 0."""

    def __missing__(self, value: Any) -> int:
        return self.setdefault(value, len(self))

    def of(self, values: Sequence[Any]) -> NDArray[np.int32]:
        """Return the numbers of values."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))


class _Columns:
    """The rows of versions as they come, column by column; what repeats is decoded once."""

    def __init__(self) -> None:
        self._numbers: list[NDArray[np.int64]] = []
        self._named: list[NDArray[np.int32]] = []
        self._fingerprints: list[str] = []
        self._packs: list[bytes] = []
        self._labels, self._keys, self._sources = _Numbers(), _Numbers(), _Numbers()

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        id_, schema_id, place, inferred, labels, key, source, fingerprint, attributes = zip(*rows, strict=True)
        sizes = tuple(map(len, attributes))
        self._numbers.append(np.array([id_, schema_id, place, sizes, inferred], np.int64))
        named = self._labels.of(labels), self._keys.of(key), self._sources.of(source)
        self._named.append(np.stack(named))
        self._fingerprints += fingerprint
        self._packs.append(b"".join(attributes))

    def joined(self) -> tuple[NDArray[np.int64], bytes]:
        """Return (id, schema id, place, bytes of attributes, inferred) of every row, and the attributes."""
        numbers = np.concatenate(self._numbers, axis=1).T if self._numbers else np.zeros((0, 5), np.int64)
        if (numbers[:, 3] % SIZE_BYTES).any():
            raise ValueError("half an attribute")
        if (np.diff(np.sort(numbers[:, 0])) == 0).any() or (numbers[:, :2] > np.iinfo(np.int32).max).any():
            raise ValueError("ids of versions that cannot be")
        return numbers, b"".join(self._packs)

    def facts(self, order: NDArray[np.int64]) -> VersionColumns:
        """Return the facts of the versions in the order asked for."""
        named = np.concatenate(self._named, axis=1) if self._named else np.zeros((3, 0), np.int32)
        inferred = [part[4] for part in self._numbers]
        sorted_already = bool((np.diff(order) > 0).all())
        fingerprints = self._fingerprints if sorted_already else [self._fingerprints[row] for row in order.tolist()]
        return VersionColumns(
            named[0][order],
            named[1][order],
            named[2][order],
            (np.concatenate(inferred) if inferred else np.zeros(0, np.int64))[order].astype(np.bool_),
            TextTable.of(fingerprints),
            tuple(_labels(text) for text in self._labels),
            tuple(_key(text) for text in self._keys),
            tuple(self._sources),
        )


def _portions(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        yield rows


def _labels(text: str) -> tuple[str, ...]:
    names = _texts.decode(text)
    if not names:
        raise ValueError("a version without a label")
    return names


def _key(text: str | None) -> KeyPaths:
    return None if text is None else _texts.decode(text)


def _by_schema(numbers: NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
    """Ids of the versions of every schema, oldest first."""
    order = np.lexsort((numbers[:, 2], numbers[:, 1]))
    owners, firsts = np.unique(numbers[order, 1], return_index=True)
    ids = numbers[order, 0].tolist()
    bounds = pairwise([*firsts.tolist(), len(ids)])
    return {owner: tuple(ids[first:end]) for owner, (first, end) in zip(owners.tolist(), bounds, strict=True)}


def _in_order(lengths: Longs, order: Longs) -> tuple[Longs, Indices | None]:
    """Starts of the versions in an order, and the rows of their attributes unless they stand in that order already."""
    start = starts_of(lengths[order])
    if (np.diff(order) > 0).all():
        return start, None
    return start, laid_out((np.cumsum(lengths) - lengths)[order], lengths[order])


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _write_schema(connection: sqlite3.Connection, change: SchemaChange) -> None:
    side, schema = change.side.value, change.after
    if schema is None:
        connection.execute("DELETE FROM schemas WHERE side = ? AND id = ?", (side, change.id))
        return
    lists = _json(schema.aliases), _json(schema.settings), _json(schema.succeeds), _json(schema.ignored)
    connection.execute(_ADD_SCHEMA, (side, schema.id, schema.name, *lists))
    before = change.before.version_ids if change.before else ()
    if before != schema.version_ids:
        connection.executemany(
            "UPDATE versions SET place = ? WHERE side = ? AND id = ?",
            [(place, side, id_) for place, id_ in enumerate(schema.version_ids) if before[place : place + 1] != (id_,)],
        )


def _write_version(connection: sqlite3.Connection, after: Document, change: VersionChange, interned: Interned) -> None:
    side, version = change.side.value, change.after
    if version is None:
        connection.execute("DELETE FROM versions WHERE side = ? AND id = ?", (side, change.id))
        return
    place = after.tree(change.side).schema(version.schema_id).version_ids.index(version.id)
    key = None if version.key is None else _json(version.key)
    facts = _json(version.labels), version.fingerprint, key, int(version.inferred), version.source
    attributes = pack_attributes(version.attributes, interned)
    connection.execute(_ADD_VERSION, (side, version.id, version.schema_id, place, *facts, attributes))


def _read_schemas(connection: sqlite3.Connection, side: Side, version_ids: dict[int, tuple[int, ...]]) -> list[Schema]:
    """Read the schemas, by id, each taking its versions out of ``version_ids``."""
    rows = connection.execute(
        "SELECT id, name, aliases, settings, succeeds, ignored FROM schemas WHERE side = ? ORDER BY id", (side.value,)
    )
    schemas = []
    for id_, name, aliases, settings, succeeds, ignored in rows:
        schemas.append(
            Schema(
                id_,
                name,
                version_ids.pop(id_, ()),
                () if aliases == _NONE else _texts.decode(aliases),
                () if settings == _NONE else _text_pairs.decode(settings),
                () if succeeds == _NONE else _id_pairs.decode(succeeds),
                () if ignored == _NONE else _marks(name, ignored),
            )
        )
    return schemas


def _marks(name: str, text: str) -> tuple[IgnoredAttribute, ...]:
    """Read what is never to be mapped of a schema or entity.

    Raises:
        ValueError: a lineage or a moment is none, or a lineage is there twice.
    """
    marks = _ignored.decode(text)
    lineages = {mark.lineage for mark in marks}
    is_sound = all(0 < mark.lineage <= _LARGEST_ID and 0 <= mark.when_ms <= _LATEST_MS for mark in marks)
    if not is_sound or len(lineages) < len(marks):
        raise ValueError(f"what is never to be mapped of {name} is not whole")
    return marks
