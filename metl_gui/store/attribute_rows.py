"""The rows of attributes: the bulk of a tree, read straight into columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.nodes import Attribute, Side
from metl_gui.core.trees import TextTable, TreeBase, TypeFacts

_ROWS_AT_ONCE = 50_000
_ADD = (
    "INSERT INTO attributes (side, version_id, position, id, path, type, lineage, logical, scale, optional, doc)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_READ = (
    "SELECT version_id, id, lineage, path, doc, type, logical, scale, optional FROM attributes WHERE side = ?"
    " ORDER BY version_id, position"
)


def write_attributes(
    connection: sqlite3.Connection, side: Side, version_id: int, attributes: tuple[Attribute, ...]
) -> None:
    """Put the attributes of one version in place of what was there."""
    connection.execute("DELETE FROM attributes WHERE side = ? AND version_id = ?", (side.value, version_id))
    connection.executemany(_ADD, _rows(side.value, version_id, attributes))


def with_attributes(connection: sqlite3.Connection, side: Side, base: TreeBase) -> TreeBase:
    """Read all attributes of one tree into a base that holds its schemas and versions only.

    Raises:
        ValueError: attributes of a version that is not there.
    """
    texts: dict[str, int] = {"": 0}
    types: dict[tuple[str, str, int | None], int] = {}
    parts = [_part(rows, texts, types) for rows in _portions(connection.execute(_READ, (side.value,)))]
    numbers = np.concatenate(parts, axis=1) if parts else np.zeros((7, 0), np.int32)
    owner, id_, lineage, path, doc, type_, optional = (np.ascontiguousarray(column) for column in numbers)
    if not np.isin(owner, base.version_id).all():
        raise ValueError("attributes of a version that is not there")
    return replace(
        base,
        start=np.append(np.searchsorted(owner, base.version_id), len(owner)).astype(np.int64),
        id=id_,
        lineage=lineage,
        path=path,
        doc=doc,
        type=type_,
        optional=optional.astype(np.bool_),
        texts=TextTable.of(texts),
        types=tuple(TypeFacts(*kind) for kind in types),
    )


def _rows(side: str, version_id: int, attributes: Iterable[Attribute]) -> Iterator[tuple[object, ...]]:
    for position, a in enumerate(attributes):
        facts = a.id, a.path, a.type, a.lineage, a.logical, a.scale, int(a.optional), a.doc
        yield side, version_id, position, *facts


def _portions(cursor: sqlite3.Cursor) -> Iterator[list[tuple[object, ...]]]:
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        yield rows


def _part(
    rows: list[tuple[object, ...]], texts: dict[str, int], types: dict[tuple[str, str, int | None], int]
) -> NDArray[np.int32]:
    owner, id_, lineage, path, doc, type_, logical, scale, optional = zip(*rows, strict=True)
    paths = [texts.setdefault(text, len(texts)) for text in path]
    docs = [texts.setdefault(text, len(texts)) for text in doc]
    kinds = [types.setdefault(kind, len(types)) for kind in zip(type_, logical, scale, strict=True)]
    return np.array([owner, id_, lineage, paths, docs, kinds, optional], np.int32)
