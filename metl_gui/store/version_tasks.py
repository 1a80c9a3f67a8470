"""Version tasks: versions that messages showed and nobody has imported, kept with the project beside its states."""

from __future__ import annotations

import sqlite3

import msgspec

from metl_gui.core.project.version_tasks import CollectedTasks, ValueProfile, VersionTask, Waiting
from metl_gui.core.trees.declarations import VersionDeclaration

_declaration = msgspec.json.Decoder(VersionDeclaration).decode
_samples = msgspec.json.Decoder(tuple[ValueProfile, ...]).decode
_waits = msgspec.json.Decoder(tuple[Waiting, ...]).decode


def read(connection: sqlite3.Connection) -> tuple[VersionTask, ...]:
    """Read all tasks, dismissed ones included, the oldest first."""
    rows = connection.execute(
        "SELECT id, schema, seen, declaration, samples, waits, when_ms, dismissed_by FROM version_tasks ORDER BY id"
    )
    return tuple(
        VersionTask(id_, schema, seen, _declaration(declared), _samples(samples), _waits(waits), when_ms, dismissed_by)
        for id_, schema, seen, declared, samples, waits, when_ms, dismissed_by in rows
    )


def change(connection: sqlite3.Connection, collected: CollectedTasks, when_ms: int) -> None:
    """Write down how the tasks change; inside a transaction."""
    connection.executemany("DELETE FROM version_tasks WHERE id = ?", ((id_,) for id_ in collected.removed))
    for task in collected.kept:
        content = _text(task.declaration), _text(task.samples), _text(task.waits)
        connection.execute(
            "INSERT INTO version_tasks (id, schema, seen, declaration, samples, waits, when_ms, dismissed_by)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET declaration = excluded.declaration,"
            " samples = excluded.samples, waits = excluded.waits, dismissed_by = excluded.dismissed_by",
            (task.id or None, task.schema, task.seen, *content, task.when_ms or when_ms, task.dismissed_by),
        )


def dismiss(connection: sqlite3.Connection, id_: int, who: str) -> bool:
    """Take a task off the list; inside a transaction. Whether it was on it."""
    cursor = connection.execute(
        "UPDATE version_tasks SET dismissed_by = ? WHERE id = ? AND dismissed_by IS NULL", (who, id_)
    )
    return cursor.rowcount > 0


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
