"""From version 3 to 4 of the project file: attributes and block records go from rows of their own into packs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from metl_gui.core.matrix.blocks import Block, Status, Verdict
from metl_gui.core.trees.nodes import Attribute
from metl_gui.store.attribute_packs import pack_attributes
from metl_gui.store.block_packs import pack_blocks
from metl_gui.store.interning import Interned

_ATTRIBUTES = (
    "SELECT side, version_id, id, path, type, lineage, logical, scale, optional, doc FROM attributes"
    " ORDER BY side, version_id, position"
)
_BLOCKS = (
    "SELECT versions.schema_id, old.entity_version, old.version, old.status, old.verdict, old.came_version,"
    " old.came_entity_version, old.who, old.when_ms FROM old_blocks AS old"
    " JOIN versions ON versions.side = 'extraction' AND versions.id = old.version"
    " ORDER BY versions.schema_id, old.entity_version, old.version"
)
_DETAILS = (
    "INSERT INTO block_details SELECT version, entity_version, losses, waits, retired, postponed, comment"
    " FROM old_blocks WHERE coalesce(losses, waits, retired) IS NOT NULL OR postponed OR comment <> ''"
)


def pack_bulk_tables(connection: sqlite3.Connection, tables: tuple[str, ...]) -> None:
    """Pack what stood in the tables ``attributes`` and ``blocks``; inside a transaction.

    Args:
        connection: to the file.
        tables: the statements that make the new tables.
    """
    connection.execute("ALTER TABLE blocks RENAME TO old_blocks")
    for statement in tables:
        connection.execute(statement)
    interned = Interned(connection)
    connection.execute("ALTER TABLE versions ADD COLUMN attributes BLOB NOT NULL DEFAULT x''")
    for side, version_id, attributes in _versions(connection):
        connection.execute(
            "UPDATE versions SET attributes = ? WHERE side = ? AND id = ?",
            (pack_attributes(attributes, interned), side, version_id),
        )
    for group, blocks in _groups(connection):
        connection.execute("INSERT INTO blocks VALUES (?, ?, ?)", (*group, pack_blocks(blocks, interned)))
    connection.execute(_DETAILS)
    connection.execute("DROP TABLE attributes")
    connection.execute("DROP TABLE old_blocks")


def _versions(connection: sqlite3.Connection) -> Iterator[tuple[str, int, list[Attribute]]]:
    for (side, version_id), rows in groupby(connection.execute(_ATTRIBUTES), key=lambda row: row[:2]):
        yield side, version_id, [_attribute(*row[2:]) for row in rows]


def _attribute(
    id_: int, path: str, type_: str, lineage: int, logical: str, scale: int | None, optional: int, doc: str
) -> Attribute:
    return Attribute(id_, path, type_, lineage, logical, scale, bool(optional), doc)


def _groups(connection: sqlite3.Connection) -> Iterator[tuple[tuple[int, int], list[Block]]]:
    for group, rows in groupby(connection.execute(_BLOCKS), key=lambda row: row[:2]):
        yield group, [_block(*row[1:]) for row in rows]


def _block(
    entity_version: int, version: int, status: str, verdict: str, came_v: int | None, came_w: int | None, *stamp: Any
) -> Block:
    came = None if came_v is None or came_w is None else (came_v, came_w)
    return Block(version, entity_version, (), Status(status), Verdict(verdict), came, who=stamp[0], when_ms=stamp[1])
