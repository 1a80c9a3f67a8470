"""Who is to decide on review items, kept with the project beside its states."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from metl_gui.core.changes.draft import Stamp, Transition
from metl_gui.core.project.assignments import Assignment, AssignmentKey
from metl_gui.core.review.assignees import moved_keys


def assign(connection: sqlite3.Connection, keys: Iterable[AssignmentKey], assignee: str, stamp: Stamp) -> None:
    """Say who is to decide on some items; inside a transaction. An empty name takes what was said away."""
    wanted = list(keys)
    if not assignee:
        connection.executemany("DELETE FROM assignments WHERE schema_id = ? AND entity_id = ? AND version = ?", wanted)
        return
    connection.executemany(
        "INSERT OR REPLACE INTO assignments (schema_id, entity_id, version, assignee, who, when_ms)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [(*key, assignee, stamp.who, stamp.when_ms) for key in wanted],
    )


def follow(connection: sqlite3.Connection, transition: Transition) -> None:
    """Let assignments go along with items whose beginning an edit moves; inside its transaction.

    What an item was known by before stays too: some of it may begin there still.
    """
    connection.executemany(
        "INSERT OR IGNORE INTO assignments (schema_id, entity_id, version, assignee, who, when_ms)"
        " SELECT schema_id, entity_id, ?, assignee, who, when_ms FROM assignments"
        " WHERE schema_id = ? AND entity_id = ? AND version = ?",
        [(new[2], *old) for old, new in moved_keys(transition).items()],
    )


def read(connection: sqlite3.Connection) -> tuple[Assignment, ...]:
    """Read all assignments, the newest first."""
    rows = connection.execute(
        "SELECT schema_id, entity_id, version, assignee, who, when_ms FROM assignments"
        " ORDER BY when_ms DESC, schema_id, entity_id, version"
    )
    return tuple(Assignment((schema, entity, version), *rest) for schema, entity, version, *rest in rows)
