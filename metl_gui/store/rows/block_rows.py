"""The rows of the matrix: the compact set (DUSB) and the records of the blocks; written by change, read whole."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeAlias

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from metl_gui.core.changes.draft import BlockChange, Transition
from metl_gui.core.changes.touched_groups import touched_versions
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.matrix.compact import ElementColumns, GroupKey, Kept, compact_again, decompact_all
from metl_gui.core.matrix.matrix import STATUSES, VERDICTS, Dpm, DpmBase, Ints
from metl_gui.core.trees.columns import starts_of
from metl_gui.core.trees.trees import Tree, TreeBase
from metl_gui.store.rows import packed_rows
from metl_gui.store.rows.packed_rows import Interned, read_people, rows_for

_Row: TypeAlias = tuple[Any, ...]

_ADD_DETAILS = (
    "INSERT OR REPLACE INTO block_details (version, entity_version, losses, waits, retired, postponed, comment)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_READ_DETAILS = "SELECT version, entity_version, losses, waits, retired, postponed, comment FROM block_details"
_PAIR_BYTES = 8
_STATUS_ROW = np.array([STATUSES.index(status) for status in packed_rows.STATUSES], np.uint8)
_VERDICT_ROW = np.array([VERDICTS.index(verdict) for verdict in packed_rows.VERDICTS], np.uint8)
_losses = msgspec.json.Decoder(tuple[Loss, ...])
_ids = msgspec.json.Decoder(tuple[int, ...])
_elements = msgspec.json.Decoder(tuple[Element, ...])


def write_blocks(connection: sqlite3.Connection, transition: Transition, interned: Interned) -> None:
    """Write the records of the blocks that an edit changed, and the groups of DUSB that it may have changed."""
    for change in transition.change.blocks:
        _write_details(connection, change)
    touched = dict(sorted(touched_versions(transition).items()))
    for group, versions in touched.items():
        _write_records(connection, transition.after.matrix, group, versions, interned)
    for group, kept in compact_again(transition.after.extraction, transition.after.matrix, touched).items():
        _write_compact(connection, group, kept)


def read_matrix(connection: sqlite3.Connection, extraction: Tree, cdm: Tree) -> Dpm:
    """Read DUSB and the records, and decompact (A4). The trees are as they were read, without edits.

    Raises:
        ValueError: the parts do not fit together.
        BugError: a block relies on a lineage that its version does not have.
    """
    records, entity_version = _read_records(connection)
    version = np.ascontiguousarray(records["version"])
    _require_known(extraction.base.version_id, version, "a block of a schema version that is not there")
    _require_known(cdm.base.version_id, entity_version, "a block of an entity version that is not there")
    dense = decompact_all(extraction.base, _read_compact(connection, extraction.base))
    lengths = _lengths_by_block(version, entity_version, dense)
    _require_ends(cdm.base, np.repeat(entity_version, lengths), dense.q)
    start = starts_of(lengths)
    people, row_of_person = read_people(connection)
    base = DpmBase(
        version,
        entity_version,
        start,
        dense.q,
        dense.p,
        _STATUS_ROW[records["status"]],
        _VERDICT_ROW[records["verdict"]],
        np.ascontiguousarray(records["came_version"]),
        np.ascontiguousarray(records["came_entity_version"]),
        rows_for(row_of_person, records["who"], "person"),
        np.ascontiguousarray(records["when_ms"]),
        people,
    )
    return Dpm.on(dataclasses.replace(base, records=_read_details(connection, base, records)))


def to_blob(elements: Iterable[Element]) -> bytes:
    """Write elements as pairs of little-endian 32-bit integers."""
    return np.fromiter(chain.from_iterable(elements), "<i4").tobytes()


def _write_details(connection: sqlite3.Connection, change: BlockChange) -> None:
    before, block = change.before, change.after
    if before is not None and not before.is_plain:
        connection.execute("DELETE FROM block_details WHERE version = ? AND entity_version = ?", change.key)
    if block is not None and not block.is_plain:
        lists = (_json(block.losses), _json(block.waits), _json(block.retired))
        connection.execute(_ADD_DETAILS, (*block.key, *lists, int(block.postponed), block.comment))


def _json(values: tuple[object, ...]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None


def _write_compact(connection: sqlite3.Connection, group: GroupKey, kept: Kept) -> None:
    """Write what an edit changed of a group of DUSB; the rest of a long history stays as it is."""
    there = connection.execute(
        "SELECT version FROM dusb WHERE schema_id = ? AND entity_version = ? AND version BETWEEN ? AND ?",
        (*group, min(kept, default=0), max(kept, default=0)),
    )
    gone = [(*group, version) for (version,) in there if kept.get(version, ()) is None]
    connection.executemany("DELETE FROM dusb WHERE schema_id = ? AND entity_version = ? AND version = ?", gone)
    connection.executemany(
        "INSERT OR REPLACE INTO dusb (schema_id, entity_version, version, elements) VALUES (?, ?, ?, ?)",
        [(*group, version, to_blob(elements)) for version, elements in kept.items() if elements is not None],
    )


def _write_records(
    connection: sqlite3.Connection, matrix: Dpm, group: GroupKey, touched: set[int], interned: Interned
) -> None:
    """Put the records of some blocks of a group in place of those that their versions had."""
    found = (matrix.block(id_, group.entity_version) for id_ in touched)
    packed = packed_rows.pack_blocks([block for block in found if block is not None], interned)
    row = connection.execute("SELECT records FROM blocks WHERE schema_id = ? AND entity_version = ?", group).fetchone()
    known = packed_rows.unpack_blocks(row[0] if row else b"")
    stays = [version not in touched for version in known["version"].tolist()]
    if any(stays):
        records = np.frombuffer(known[stays].tobytes() + packed, packed_rows.RECORD)
        packed = records[np.argsort(records["version"], kind="stable")].tobytes()
    if packed:
        connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", (*group, packed))
    else:
        connection.execute("DELETE FROM blocks WHERE schema_id = ? AND entity_version = ?", group)


def _read_records(connection: sqlite3.Connection) -> tuple[NDArray[Any], Ints]:
    """Read what is known of every block and its entity version, sorted by (version, entity version)."""
    rows = connection.execute("SELECT entity_version, records FROM blocks").fetchall()
    sizes = np.array([len(row[1]) for row in rows], np.int64)
    _require((sizes % packed_rows.RECORD.itemsize == 0).all(), "half a record of a block")
    records = packed_rows.unpack_blocks(b"".join(row[1] for row in rows))
    entity_version = np.repeat(_ids_of(rows, 0), sizes // packed_rows.RECORD.itemsize)
    order = np.lexsort((entity_version, records["version"]))
    return records[order], entity_version[order]


def _read_details(connection: sqlite3.Connection, base: DpmBase, records: NDArray[Any]) -> dict[BlockKey, Block]:
    """Read the blocks of which more is known than their record holds."""
    details: dict[BlockKey, Block] = {}
    for version, entity_version, losses, waits, retired, postponed, comment in connection.execute(_READ_DETAILS):
        row = base.find((version, entity_version))
        _require(row >= 0, "details of a block that has no record")
        details[version, entity_version] = replace(
            base.block(row),
            losses=_decoded(_losses, losses),
            waits=_decoded(_ids, waits),
            retired=_decoded(_elements, retired),
            postponed=bool(postponed),
            comment=comment,
            unconfirmed=bool(records["flags"][row] & packed_rows.UNCONFIRMED),
        )
    return details


def _read_compact(connection: sqlite3.Connection, tree: TreeBase) -> ElementColumns:
    rows = connection.execute(
        "SELECT version, entity_version, schema_id, elements FROM dusb ORDER BY version, entity_version"
    ).fetchall()
    version, sizes = _ids_of(rows, 0), np.array([len(row[3]) for row in rows], np.int64)
    _require_known(tree.version_id, version, "a kept block of a version that is not there")
    at = np.searchsorted(tree.version_id, version)
    _require((tree.schema_id[at] == _ids_of(rows, 2)).all(), "a kept block of another schema's version")
    _require((sizes % _PAIR_BYTES == 0).all(), "half an element")
    pairs = np.frombuffer(b"".join(row[3] for row in rows), "<i4").reshape(-1, 2)
    q, p = (np.ascontiguousarray(pairs[:, end], np.int32) for end in (0, 1))
    start = starts_of(sizes // _PAIR_BYTES)
    _require_ends(tree, np.repeat(version, np.diff(start)), p)
    return ElementColumns(version, _ids_of(rows, 1), start, q, p)


def _require_ends(tree: TreeBase, version: Ints, ends: Ints) -> None:
    """Make sure that every end of an element is an attribute of the version it stands under."""
    owner = np.zeros(int(tree.id.max(initial=0)) + 1, np.int32)
    owner[tree.id] = np.repeat(tree.version_id, np.diff(tree.start))
    known = (ends > 0) & (ends < len(owner))
    _require(known.all() and (owner[ends] == version).all(), "an element whose end is not in its version")


def _require_known(known: NDArray[Any], wanted: NDArray[Any], otherwise: str) -> NDArray[np.int64]:
    """Return where each wanted value stands among the known ones, which are sorted."""
    at = np.searchsorted(known, wanted)
    _require(not len(wanted) or (len(known) > 0 and int(at.max()) < len(known)), otherwise)
    _require((known[at] == wanted).all(), otherwise)
    return at


def _lengths_by_block(version: Ints, entity_version: Ints, dense: ElementColumns) -> NDArray[np.int64]:
    """Count the elements of each recorded block; both sides are sorted in the same way."""
    stride = np.int64(1) + max(entity_version.max(initial=0), dense.entity_version.max(initial=0))
    keys = version * stride + entity_version
    dense_keys = dense.version * stride + dense.entity_version
    at = _require_known(keys, dense_keys, "elements of a block that has no record")
    lengths = np.zeros(len(keys), np.int64)
    lengths[at] = np.diff(dense.start)
    return lengths


def _ids_of(rows: list[_Row], column: int) -> Ints:
    return np.array([row[column] for row in rows], np.int32)


def _require(holds: bool | np.bool_, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _decoded(decoder: msgspec.json.Decoder[Any], text: str | None) -> Any:
    return () if text is None else decoder.decode(text)
