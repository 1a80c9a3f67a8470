"""Bulk imports that have begun and not ended, kept with the project until they have."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.pending_imports import PendingImport
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.store.unpacking import Unpacking

_TOGETHER = 100
_QUICK = 1
_decoder = msgspec.json.Decoder(tuple[VersionDeclaration, ...])


def begin(
    connection: sqlite3.Connection, side: Side, door: str, declarations: Sequence[VersionDeclaration], stamp: Stamp
) -> int:
    """Write down what an import is about to add; inside a transaction.

    Returns:
        Its id.
    """
    cursor = connection.execute(
        "INSERT INTO pending_imports (side, door, total, who, when_ms) VALUES (?, ?, ?, ?, ?)",
        (side.value, door, len(declarations), stamp.who, stamp.when_ms),
    )
    id_ = int(cursor.lastrowid or 0)
    parts = ((at, declarations[at : at + _TOGETHER]) for at in range(0, len(declarations), _TOGETHER))
    connection.executemany(
        "INSERT INTO pending_versions (import_id, place, declarations) VALUES (?, ?, ?)",
        ((id_, at, zlib.compress(msgspec.json.encode(part), _QUICK)) for at, part in parts),
    )
    return id_


def note_group(connection: sqlite3.Connection, id_: int, group: int) -> None:
    """Write down the undo group of an import; inside a transaction."""
    connection.execute("UPDATE pending_imports SET undo_group = ? WHERE id = ?", (group, id_))


def end(connection: sqlite3.Connection, id_: int) -> None:
    """Forget an import; inside a transaction."""
    connection.execute("DELETE FROM pending_versions WHERE import_id = ?", (id_,))
    connection.execute("DELETE FROM pending_imports WHERE id = ?", (id_,))


def read(connection: sqlite3.Connection) -> tuple[PendingImport, ...]:
    """Read the imports that have not ended, the oldest first."""
    rows = connection.execute("SELECT id, side, door, undo_group, total, who, when_ms FROM pending_imports ORDER BY id")
    return tuple(PendingImport(row[0], Side(row[1]), *row[2:]) for row in rows)


def versions(connection: sqlite3.Connection, id_: int) -> Iterator[VersionDeclaration]:
    """Yield the versions of an import in their order."""
    rows = connection.execute("SELECT declarations FROM pending_versions WHERE import_id = ? ORDER BY place", (id_,))
    unpacking = Unpacking("a part of a pending import")
    for (part,) in rows:
        yield from _decoder.decode(unpacking.unpacked(part))
