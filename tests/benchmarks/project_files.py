"""Writes a document of columns into a project file as a whole: what a long history of edits would have left there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.compact import compact_all
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import STATUSES, VERDICTS, DpmBase
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import TreeBase
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.rows import packed_rows
from metl_gui.store.rows.packed_rows import FIELDS


def write_project(path: Path, document: Document) -> None:
    """Make a project file that holds a document without overlays, and no history.

    Cost: linear in everything; about a minute for 10^7 ones.
    """
    ProjectFile.create(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA synchronous=OFF")
        texts, types = _Numbers(), _Numbers()
        for side in Side:
            _write_tree(connection, side, document.tree(side).base, (texts, types))
            ids = document.ids(side)
            connection.execute(
                "UPDATE next_ids SET schema = ?, version = ?, attribute = ?, lineage = ? WHERE side = ?",
                (ids.schema, ids.version, ids.attribute, ids.lineage, side.value),
            )
        connection.executemany("INSERT INTO texts VALUES (?, ?)", texts.rows())
        connection.executemany("INSERT INTO types VALUES (?, ?, ?, ?)", [(id_, *kind) for id_, kind in types.rows()])
        _write_matrix(connection, document)
        connection.execute("UPDATE project SET state = ?", (document.state,))


class _Numbers:
    """Numbers for values in the order in which they are met, from 1."""

    def __init__(self) -> None:
        self._found: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        return self._found.setdefault(value, len(self._found) + 1)

    def rows(self) -> list[tuple[int, Any]]:
        return [(number, value) for value, number in self._found.items()]


def _write_tree(connection: sqlite3.Connection, side: Side, base: TreeBase, numbers: tuple[_Numbers, _Numbers]) -> None:
    connection.executemany(
        "INSERT INTO schemas (side, id, name, aliases, settings, succeeds) VALUES (?, ?, ?, '[]', '[]', '[]')",
        ((side.value, s.id, s.name) for s in base.schemas.values()),
    )
    place = {id_: at for schema in base.schemas.values() for at, id_ in enumerate(schema.version_ids)}
    packs = _attribute_packs(base, *numbers)
    rows = zip(base.version_id.tolist(), base.schema_id.tolist(), base.facts, packs, strict=True)
    connection.executemany(
        "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, NULL, 0, ?, ?)",
        (
            (side.value, id_, schema, place[id_], msgspec.json.encode(f.labels).decode(), f.fingerprint, f.source, pack)
            for id_, schema, f, pack in rows
        ),
    )


def _attribute_packs(base: TreeBase, texts: _Numbers, types: _Numbers) -> Iterator[bytes]:
    number_of_text = np.array([texts.of(base.texts[row]) for row in range(len(base.texts.offsets) - 1)], np.int32)
    number_of_type = np.array([types.of((k.type, k.logical, k.scale)) for k in base.types], np.int32)
    kinds = number_of_type[base.type] * 2 + base.optional
    columns = (base.id, base.lineage, number_of_text[base.path], number_of_text[base.doc], kinds)
    return _slices(np.stack(columns, axis=1).astype("<i4").reshape(-1, FIELDS), base.start)


def _write_matrix(connection: sqlite3.Connection, document: Document) -> None:
    tree, matrix = document.extraction.base, document.matrix.base
    compact = compact_all(tree, matrix)
    pairs = np.stack([compact.q, compact.p], axis=1).astype("<i4")
    schema = tree.schema_id[np.searchsorted(tree.version_id, compact.version)]
    kept = zip(schema.tolist(), compact.entity_version.tolist(), compact.version.tolist(), strict=True)
    connection.executemany(
        "INSERT INTO dusb (schema_id, entity_version, version, elements) VALUES (?, ?, ?, ?)",
        ((*key, pack) for key, pack in zip(kept, _slices(pairs, compact.start), strict=True)),
    )
    connection.executemany("INSERT INTO blocks VALUES (?, ?, ?)", _groups(tree, matrix))


def _groups(tree: TreeBase, matrix: DpmBase) -> Iterator[tuple[int, int, bytes]]:
    schema = tree.schema_id[np.searchsorted(tree.version_id, matrix.version)]
    records = np.zeros(len(matrix.version), packed_rows.RECORD)
    for name in ("version", "came_version", "came_entity_version", "who", "when_ms"):
        records[name] = getattr(matrix, name)
    records["status"] = np.array([packed_rows.STATUSES.index(s) for s in STATUSES], np.uint8)[matrix.status]
    records["verdict"] = np.array([packed_rows.VERDICTS.index(v) for v in VERDICTS], np.uint8)[matrix.verdict]
    order = np.lexsort((matrix.version, matrix.entity_version, schema))
    keys = np.stack([schema, matrix.entity_version], axis=1)[order]
    is_first = np.ones(len(keys), np.bool_)
    is_first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    firsts = np.append(np.flatnonzero(is_first), len(keys))
    for (schema_id, entity_version), pack in zip(
        keys[firsts[:-1]].tolist(), _slices(records[order], firsts), strict=True
    ):
        yield schema_id, entity_version, pack


def _slices(rows: NDArray[Any], starts: NDArray[np.int64]) -> Iterator[bytes]:
    whole = memoryview(np.ascontiguousarray(rows).tobytes())
    size = rows.nbytes // max(len(rows), 1)
    bounds = (starts * size).tolist()
    for low, high in pairwise(bounds):
        yield bytes(whole[low:high])
