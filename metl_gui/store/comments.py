"""Comments, kept with the project beside its states."""

from __future__ import annotations

import sqlite3

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.comments import Comment, Spot, Subject

_NOWHERE = (0, 0, 0, 0)


def add(connection: sqlite3.Connection, subject: Subject, text: str, stamp: Stamp) -> int:
    """Write a comment down; inside a transaction.

    Returns:
        Its id, which is never used again.
    """
    ends = (*_columns(subject.source), *_columns(subject.target))
    cursor = connection.execute(
        "INSERT INTO comments (source_schema, source_version, source_attribute, source_lineage,"
        " target_schema, target_version, target_attribute, target_lineage, text, who, when_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*ends, text, stamp.who, stamp.when_ms),
    )
    return int(cursor.lastrowid or 0)


def remove(connection: sqlite3.Connection, comment_id: int) -> bool:
    """Remove a comment; inside a transaction. Whether there was one."""
    return connection.execute("DELETE FROM comments WHERE id = ?", (comment_id,)).rowcount > 0


def read(connection: sqlite3.Connection) -> tuple[Comment, ...]:
    """Read all comments, the oldest first."""
    rows = connection.execute(
        "SELECT id, text, who, when_ms, source_schema, source_version, source_attribute, source_lineage,"
        " target_schema, target_version, target_attribute, target_lineage FROM comments ORDER BY when_ms, id"
    )
    return tuple(Comment(row[0], Subject(_spot(row[4:8]), _spot(row[8:12])), *row[1:4]) for row in rows)


def _columns(spot: Spot | None) -> tuple[int, int, int, int]:
    return _NOWHERE if spot is None else (spot.schema, spot.version, spot.attribute, spot.lineage)


def _spot(columns: tuple[int, int, int, int]) -> Spot | None:
    return Spot(*columns) if columns[0] else None
