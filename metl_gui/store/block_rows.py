"""The rows of the matrix: the compact set (DUSB) and the records of the blocks; written by change, read whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import msgspec
import numpy as np

from metl_gui.core.blocks import Block, BlockKey, Element, Loss, Status, Verdict
from metl_gui.core.compact import Group, Kept, compact_group, decompact, touched_groups
from metl_gui.core.draft import BlockChange, Transition
from metl_gui.core.matrix import Dpm
from metl_gui.core.trees import Tree

_ADD_BLOCK = (
    "INSERT OR REPLACE INTO blocks (version, entity_version, status, verdict, came_version, came_entity_version,"
    " losses, waits, retired, postponed, who, when_ms, comment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_losses = msgspec.json.Decoder(tuple[Loss, ...])
_ids = msgspec.json.Decoder(tuple[int, ...])
_elements = msgspec.json.Decoder(tuple[Element, ...])


def write_blocks(connection: sqlite3.Connection, transition: Transition) -> None:
    """Write the records of the blocks that an edit changed, and the groups of DUSB that it may have changed."""
    for change in transition.change.blocks:
        _write_block(connection, change)
    for group in sorted(touched_groups(transition)):
        _write_group(connection, transition, group)


def read_matrix(connection: sqlite3.Connection, extraction: Tree) -> Dpm:
    """Read DUSB and the records, and decompact (A4).

    Raises:
        ValueError: the compact set gives elements to a block of which there is no record.
    """
    dense = _read_elements(connection, extraction)
    blocks = list(_read_blocks(connection, dense))
    if dense:
        raise ValueError(f"no record of the blocks {sorted(dense)[:3]}")
    return Dpm.of(blocks)


def to_blob(elements: Iterable[Element]) -> bytes:
    """Write elements as pairs of little-endian 32-bit integers."""
    return np.array(tuple(elements), "<i4").tobytes()


def from_blob(blob: bytes) -> tuple[Element, ...]:
    """Read elements back."""
    return tuple(map(Element._make, np.frombuffer(blob, "<i4").reshape(-1, 2).tolist()))


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


def _read_elements(connection: sqlite3.Connection, extraction: Tree) -> dict[BlockKey, tuple[Element, ...]]:
    rows = connection.execute(
        "SELECT schema_id, entity_version, version, elements FROM dusb ORDER BY schema_id, entity_version"
    )
    dense: dict[BlockKey, tuple[Element, ...]] = {}
    for (schema_id, w), members in groupby(rows, key=lambda row: (row[0], row[1])):
        kept = [Kept(version, from_blob(blob)) for _, _, version, blob in members]
        blocks = decompact(extraction.versions(schema_id), kept)
        dense.update({(v, w): elements for v, elements in blocks.items()})
    return dense


def _read_blocks(connection: sqlite3.Connection, dense: dict[BlockKey, tuple[Element, ...]]) -> Iterable[Block]:
    rows = connection.execute(
        "SELECT version, entity_version, status, verdict, came_version, came_entity_version, losses, waits, retired,"
        " postponed, who, when_ms, comment FROM blocks"
    )
    for v, w, status, verdict, came_v, came_w, losses, waits, retired, postponed, who, when_ms, comment in rows:
        lists = _decoded(_losses, losses), _decoded(_ids, waits), _decoded(_elements, retired)
        came = None if came_v is None else (came_v, came_w)
        head = dense.pop((v, w), ()), Status(status), Verdict(verdict), came
        yield Block(v, w, *head, *lists, bool(postponed), who, when_ms, comment)


def _decoded(decoder: msgspec.json.Decoder[Any], text: str | None) -> Any:
    return () if text is None else decoder.decode(text)
