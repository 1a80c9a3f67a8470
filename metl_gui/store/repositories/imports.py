"""What imports keep: those that have not ended, versions that wait for one, and writer schemas."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import msgspec

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.pending_imports import PendingImport
from metl_gui.core.project.version_tasks import CollectedTasks, ValueProfile, VersionTask, Waiting, collect
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.store.rows.decompression import Unpacking
from metl_gui.values import Value

_TOGETHER = 100
_QUICK = 1
_versions = msgspec.json.Decoder(tuple[VersionDeclaration, ...]).decode
_declaration = msgspec.json.Decoder(VersionDeclaration).decode
_samples = msgspec.json.Decoder(tuple[ValueProfile, ...]).decode
_waits = msgspec.json.Decoder(tuple[Waiting, ...]).decode


class PendingImportRepository(Value):
    """Bulk imports that have begun and not ended."""

    sessions: Sessions

    def begin(self, side: Side, door: str, declarations: Sequence[VersionDeclaration], stamp: EditContext) -> int:
        """Write down what an import is about to add.

        Returns:
            Its id.
        """
        with self.sessions.editing() as connection:
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

    def note_group(self, id_: int, group: int) -> None:
        """Write down the undo group of an import."""
        with self.sessions.editing() as connection:
            connection.execute("UPDATE pending_imports SET undo_group = ? WHERE id = ?", (group, id_))

    def end(self, id_: int) -> None:
        """Forget an import that ended, or that nobody wants to go on."""
        with self.sessions.editing() as connection:
            connection.execute("DELETE FROM pending_versions WHERE import_id = ?", (id_,))
            connection.execute("DELETE FROM pending_imports WHERE id = ?", (id_,))

    def all(self) -> tuple[PendingImport, ...]:
        """Read the imports that have not ended, the oldest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT id, side, door, undo_group, total, who, when_ms FROM pending_imports ORDER BY id"
            )
            return tuple(PendingImport(row[0], Side(row[1]), *row[2:]) for row in rows)

    def versions(self, id_: int) -> tuple[VersionDeclaration, ...]:
        """Read the versions of an import in their order, those that were added included."""
        unpacking = Unpacking("a part of a pending import")
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT declarations FROM pending_versions WHERE import_id = ? ORDER BY place", (id_,)
            )
            return tuple(one for (part,) in rows for one in _versions(unpacking.unpacked(part)))


class VersionTaskRepository(Value):
    """Versions that messages showed and nobody has imported."""

    sessions: Sessions

    def all(self) -> tuple[VersionTask, ...]:
        """Read all tasks, dismissed ones included, the oldest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT id, schema, seen, declaration, samples, waits, when_ms, dismissed_by"
                " FROM version_tasks ORDER BY id"
            )
            return tuple(
                VersionTask(
                    id_, schema, seen, _declaration(declared), _samples(samples), _waits(waits), when_ms, dismissed_by
                )
                for id_, schema, seen, declared, samples, waits, when_ms, dismissed_by in rows
            )

    def change(self, collected: CollectedTasks, when_ms: int) -> None:
        """Write down how the tasks change."""
        with self.sessions.appending() as connection:
            connection.executemany("DELETE FROM version_tasks WHERE id = ?", ((id_,) for id_ in collected.removed))
            for task in collected.kept:
                content = _text(task.declaration), _text(task.samples), _text(task.waits)
                connection.execute(
                    "INSERT INTO version_tasks (id, schema, seen, declaration, samples, waits, when_ms, dismissed_by)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (id) DO UPDATE SET declaration = excluded.declaration,"
                    " samples = excluded.samples, waits = excluded.waits, dismissed_by = excluded.dismissed_by",
                    (task.id or None, task.schema, task.seen, *content, task.when_ms or when_ms, task.dismissed_by),
                )

    def collect(self, seen: Sequence[VersionTask], stamp: EditContext) -> None:
        """Put versions that a run has seen to the tasks; needs no lease."""
        with self.sessions.appending() as connection:
            mine = VersionTaskRepository(Sessions.within(connection))
            mine.change(collect(mine.all(), seen), stamp.when_ms)

    def dismiss(self, id_: int, stamp: EditContext) -> bool:
        """Take a task off the list; whether it was on it."""
        with self.sessions.editing() as connection:
            cursor = connection.execute(
                "UPDATE version_tasks SET dismissed_by = ? WHERE id = ? AND dismissed_by IS NULL", (stamp.who, id_)
            )
            return cursor.rowcount > 0


class WriterSchemaRepository(Value):
    """Writer schemas by registry id: what messages in Avro are read by, in every state."""

    sessions: Sessions

    def keep(self, found: Iterable[WriterSchema], stamp: EditContext) -> None:
        """Keep writer schemas; what was known under the same id and name is replaced."""
        with self.sessions.editing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO wire_schemas (id, schema, kind, fingerprint, text, when_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (one.id, one.schema, one.kind, one.fingerprint, zlib.compress(one.text.encode()), stamp.when_ms)
                    for one in found
                ),
            )

    def all(self, id_: str | None = None) -> tuple[WriterSchema, ...]:
        """Read the writer schemas of one id, or all of them; those that came last first."""
        return tuple(wire for wire, _ in self.stamped(id_))

    def stamped(self, id_: str | None = None) -> tuple[tuple[WriterSchema, int], ...]:
        """Read the writer schemas, each with the moment in which it came; the last first."""
        unpacking = Unpacking("a writer schema")
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT id, kind, text, schema, fingerprint, when_ms FROM wire_schemas WHERE ?1 IS NULL OR id = ?1"
                " ORDER BY when_ms DESC, rowid DESC",
                (id_,),
            )
            return tuple(
                (WriterSchema(known_as, kind, unpacking.unpacked(packed).decode(), schema, fingerprint), when_ms)
                for known_as, kind, packed, schema, fingerprint, when_ms in rows
            )

    def forget(self, wire: WriterSchema) -> None:
        """Forget a writer schema."""
        with self.sessions.editing() as connection:
            connection.execute("DELETE FROM wire_schemas WHERE id = ? AND schema = ?", (wire.id, wire.schema))


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
