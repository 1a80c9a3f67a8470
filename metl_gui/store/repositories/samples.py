"""What a project holds of sample messages.

Source: docs/reference/project-file.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.sample_profiles import SchemaProfile, decode, encode
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.store.rows.decompression import Unpacking
from metl_gui.values import Value


class SampleRepository(Value):
    """Profiles of every schema, and samples of those that a person included."""

    sessions: Sessions

    def put_profiles(self, profiles: Iterable[SchemaProfile]) -> None:
        """Keep profiles of schemas instead of those before; needs no lease."""
        with self.sessions.appending() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO profiles (schema_id, rows, when_ms, attributes) VALUES (?, ?, ?, ?)",
                [(one.schema_id, one.rows, one.when_ms, encode(one)) for one in profiles],
            )

    def profile(self, schema_id: int) -> SchemaProfile | None:
        """Read the profile of a schema."""
        with self.sessions.reading() as connection:
            row = connection.execute(
                "SELECT rows, when_ms, attributes FROM profiles WHERE schema_id = ?", (schema_id,)
            ).fetchone()
            return None if row is None else SchemaProfile(schema_id, row[0], row[1], decode(row[2]))

    def profiles(self) -> tuple[SchemaProfile, ...]:
        """Read the profiles of all schemas that have one."""
        with self.sessions.reading() as connection:
            rows = connection.execute("SELECT schema_id, rows, when_ms, attributes FROM profiles ORDER BY schema_id")
            return tuple(SchemaProfile(id_, count, when_ms, decode(packed)) for id_, count, when_ms, packed in rows)

    def forget_profile(self, schema_id: int) -> None:
        """Forget the profile of a schema."""
        with self.sessions.editing() as connection:
            connection.execute("DELETE FROM profiles WHERE schema_id = ?", (schema_id,))

    def include(self, schema_id: int, text: bytes, stamp: EditContext) -> None:
        """Keep samples of a schema in the project.

        Args:
            schema_id: the schema.
            text: the samples, one JSON object a line.
            stamp: who wants it, and when.
        """
        with self.sessions.editing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO included_samples (schema_id, samples, who, when_ms) VALUES (?, ?, ?, ?)",
                (schema_id, zlib.compress(text), stamp.who, stamp.when_ms),
            )

    def exclude(self, schema_id: int) -> bool:
        """Take the samples of a schema out of the project; whether there were any."""
        with self.sessions.editing() as connection:
            return connection.execute("DELETE FROM included_samples WHERE schema_id = ?", (schema_id,)).rowcount > 0

    def included(self) -> frozenset[int]:
        """Read of which schemas the project holds samples."""
        with self.sessions.reading() as connection:
            return frozenset(row[0] for row in connection.execute("SELECT schema_id FROM included_samples"))

    def included_by(self) -> list[tuple[int, str, int]]:
        """Read of which schemas the project holds samples, who wanted that, and when."""
        with self.sessions.reading() as connection:
            return connection.execute(
                "SELECT schema_id, who, when_ms FROM included_samples ORDER BY schema_id"
            ).fetchall()

    def included_text(self, schema_id: int) -> bytes:
        """Read the samples of a schema that the project holds; nothing where there are none.

        Raises:
            ValueError: they are damaged, or grow beyond all measure.
        """
        with self.sessions.reading() as connection:
            row = connection.execute(
                "SELECT samples FROM included_samples WHERE schema_id = ?", (schema_id,)
            ).fetchone()
            return b"" if row is None else Unpacking("the samples of a schema").unpacked(row[0])
