"""The rows of the matrix: the compact set (DUSB) and the records of the blocks; written by change, read whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.blocks import Block, Element, Loss
from metl_gui.core.bulk import Elements, decompact_all
from metl_gui.core.compact import Group, compact_group, touched_groups
from metl_gui.core.draft import BlockChange, Transition
from metl_gui.core.matrix import STATUSES, VERDICTS, Dpm, DpmBase, Ints
from metl_gui.core.trees import Tree, TreeBase

_Row: TypeAlias = tuple[Any, ...]

_ADD_BLOCK = (
    "INSERT OR REPLACE INTO blocks (version, entity_version, status, verdict, came_version, came_entity_version,"
    " losses, waits, retired, postponed, who, when_ms, comment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_READ_BLOCKS = (
    "SELECT version, entity_version, status, verdict, came_version, came_entity_version, losses, waits, retired,"
    " postponed, who, when_ms, comment FROM blocks ORDER BY version, entity_version"
)
_PAIR_BYTES = 8
_STATUS_CODE = {status.value: code for code, status in enumerate(STATUSES)}
_VERDICT_CODE = {verdict.value: code for code, verdict in enumerate(VERDICTS)}
_losses = msgspec.json.Decoder(tuple[Loss, ...])
_ids = msgspec.json.Decoder(tuple[int, ...])
_elements = msgspec.json.Decoder(tuple[Element, ...])


def write_blocks(connection: sqlite3.Connection, transition: Transition) -> None:
    """Write the records of the blocks that an edit changed, and the groups of DUSB that it may have changed."""
    for change in transition.change.blocks:
        _write_block(connection, change)
    for group in sorted(touched_groups(transition)):
        _write_group(connection, transition, group)


def read_matrix(connection: sqlite3.Connection, extraction: Tree, cdm: Tree) -> Dpm:
    """Read DUSB and the records, and decompact (A4). The trees are as they were read, without edits.

    Raises:
        ValueError: the parts do not fit together.
        BugError: a block relies on a lineage that its version does not have.
    """
    rows = connection.execute(_READ_BLOCKS).fetchall()
    version, entity_version = _ids_of(rows, 0), _ids_of(rows, 1)
    _require(np.isin(version, extraction.base.version_id).all(), "a block of a schema version that is not there")
    _require(np.isin(entity_version, cdm.base.version_id).all(), "a block of an entity version that is not there")
    dense = decompact_all(extraction.base, _read_compact(connection, extraction.base))
    lengths = _lengths_by_block(version, entity_version, dense)
    _require_ends(cdm.base, np.repeat(entity_version, lengths), dense.q)
    start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=start[1:])
    people = {"": 0}
    who = [people.setdefault(row[10], len(people)) for row in rows]
    base = DpmBase(
        version,
        entity_version,
        start,
        dense.q,
        dense.p,
        np.array([_STATUS_CODE[row[2]] for row in rows], np.uint8),
        np.array([_VERDICT_CODE[row[3]] for row in rows], np.uint8),
        np.array([row[4] or 0 for row in rows], np.int32),
        np.array([row[5] or 0 for row in rows], np.int32),
        np.array(who, np.int32),
        np.array([row[11] for row in rows], np.int64),
        tuple(people),
    )
    records = {(row[0], row[1]): _recorded(base.block(at), row) for at, row in enumerate(rows) if not _is_plain(row)}
    return Dpm.on(replace(base, records=records))


def to_blob(elements: Iterable[Element]) -> bytes:
    """Write elements as pairs of little-endian 32-bit integers."""
    return np.array(tuple(elements), "<i4").tobytes()


def _write_block(connection: sqlite3.Connection, change: BlockChange) -> None:
    block = change.after
    if block is None:
        connection.execute("DELETE FROM blocks WHERE version = ? AND entity_version = ?", change.key)
        return
    lists = (_json(block.losses), _json(block.waits), _json(block.retired))
    came = block.came_from or (None, None)
    facts = int(block.postponed), block.who, block.when_ms, block.comment
    connection.execute(_ADD_BLOCK, (*block.key, block.status.value, block.verdict.value, *came, *lists, *facts))


def _json(values: tuple[object, ...]) -> str | None:
    return msgspec.json.encode(values).decode() if values else None


def _write_group(connection: sqlite3.Connection, transition: Transition, group: Group) -> None:
    connection.execute("DELETE FROM dusb WHERE schema_id = ? AND entity_version = ?", group)
    tree = transition.after.extraction
    if tree.find_schema(group.schema_id) is None:
        return
    kept = compact_group(tree.versions(group.schema_id), transition.after.matrix, group)
    connection.executemany(
        "INSERT INTO dusb (schema_id, entity_version, version, elements) VALUES (?, ?, ?, ?)",
        [(*group, block.version, to_blob(block.elements)) for block in kept],
    )


def _read_compact(connection: sqlite3.Connection, tree: TreeBase) -> Elements:
    rows = connection.execute(
        "SELECT version, entity_version, schema_id, elements FROM dusb ORDER BY version, entity_version"
    ).fetchall()
    version, sizes = _ids_of(rows, 0), np.array([len(row[3]) for row in rows], np.int64)
    _require(np.isin(version, tree.version_id).all(), "a kept block of a version that is not there")
    at = np.searchsorted(tree.version_id, version)
    _require((tree.schema_id[at] == _ids_of(rows, 2)).all(), "a kept block of another schema's version")
    _require((sizes % _PAIR_BYTES == 0).all(), "half an element")
    pairs = np.frombuffer(b"".join(row[3] for row in rows), "<i4").reshape(-1, 2)
    q, p = (np.ascontiguousarray(pairs[:, end], np.int32) for end in (0, 1))
    start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes // _PAIR_BYTES, out=start[1:])
    _require_ends(tree, np.repeat(version, np.diff(start)), p)
    return Elements(version, _ids_of(rows, 1), start, q, p)


def _require_ends(tree: TreeBase, version: Ints, ends: Ints) -> None:
    """Make sure that every end of an element is an attribute of the version it stands under."""
    owner = np.zeros(int(tree.id.max(initial=0)) + 1, np.int32)
    owner[tree.id] = np.repeat(tree.version_id, np.diff(tree.start))
    known = (ends > 0) & (ends < len(owner))
    _require(known.all() and (owner[ends] == version).all(), "an element whose end is not in its version")


def _lengths_by_block(version: Ints, entity_version: Ints, dense: Elements) -> NDArray[np.int64]:
    """Count the elements of each recorded block; both sides are sorted in the same way."""
    stride = np.int64(1) + max(entity_version.max(initial=0), dense.entity_version.max(initial=0))
    keys = version * stride + entity_version
    dense_keys = dense.version * stride + dense.entity_version
    _require(np.isin(dense_keys, keys).all(), "elements of a block that has no record")
    lengths = np.zeros(len(keys), np.int64)
    lengths[np.searchsorted(keys, dense_keys)] = np.diff(dense.start)
    return lengths


def _is_plain(row: _Row) -> bool:
    losses, waits, retired, postponed, comment = row[6], row[7], row[8], row[9], row[12]
    return losses is None and waits is None and retired is None and not postponed and not comment


def _recorded(block: Block, row: _Row) -> Block:
    """Add to a block what its columns do not hold."""
    return replace(
        block,
        losses=_decoded(_losses, row[6]),
        waits=_decoded(_ids, row[7]),
        retired=_decoded(_elements, row[8]),
        postponed=bool(row[9]),
        comment=row[12],
    )


def _ids_of(rows: list[_Row], column: int) -> Ints:
    return np.array([row[column] for row in rows], np.int32)


def _require(holds: bool | np.bool_, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _decoded(decoder: msgspec.json.Decoder[Any], text: str | None) -> Any:
    return () if text is None else decoder.decode(text)
