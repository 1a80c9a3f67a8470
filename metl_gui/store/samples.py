"""What a project holds of sample messages: profiles of every schema, and samples of those that a person included.

Source: contract.md §2.
"""

from __future__ import annotations

import sqlite3
import zlib

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.sample_profiles import SchemaProfile, decode, encode
from metl_gui.store.unpacking import Unpacking


def put_profile(connection: sqlite3.Connection, profile: SchemaProfile) -> None:
    """Keep the profile of a schema instead of the one before; inside a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO profiles (schema_id, rows, when_ms, attributes) VALUES (?, ?, ?, ?)",
        (profile.schema_id, profile.rows, profile.when_ms, encode(profile)),
    )


def profile(connection: sqlite3.Connection, schema_id: int) -> SchemaProfile | None:
    """Read the profile of a schema."""
    row = connection.execute(
        "SELECT rows, when_ms, attributes FROM profiles WHERE schema_id = ?", (schema_id,)
    ).fetchone()
    return None if row is None else SchemaProfile(schema_id, row[0], row[1], decode(row[2]))


def profiled(connection: sqlite3.Connection) -> list[int]:
    """Read which schemas have profiles."""
    return [row[0] for row in connection.execute("SELECT schema_id FROM profiles ORDER BY schema_id")]


def forget_profile(connection: sqlite3.Connection, schema_id: int) -> None:
    """Forget the profile of a schema; inside a transaction."""
    connection.execute("DELETE FROM profiles WHERE schema_id = ?", (schema_id,))


def include(connection: sqlite3.Connection, schema_id: int, text: bytes, stamp: Stamp) -> None:
    """Keep samples of a schema in the project; inside a transaction.

    Args:
        schema_id: the schema.
        text: the samples, one JSON object a line.
        stamp: who wants it, and when.
    """
    connection.execute(
        "INSERT OR REPLACE INTO included_samples (schema_id, samples, who, when_ms) VALUES (?, ?, ?, ?)",
        (schema_id, zlib.compress(text), stamp.who, stamp.when_ms),
    )


def exclude(connection: sqlite3.Connection, schema_id: int) -> bool:
    """Take the samples of a schema out of the project; inside a transaction. Whether there were any."""
    return connection.execute("DELETE FROM included_samples WHERE schema_id = ?", (schema_id,)).rowcount > 0


def included(connection: sqlite3.Connection) -> frozenset[int]:
    """Read of which schemas the project holds samples."""
    return frozenset(row[0] for row in connection.execute("SELECT schema_id FROM included_samples"))


def included_by(connection: sqlite3.Connection) -> list[tuple[int, str, int]]:
    """Read of which schemas the project holds samples, who wanted that, and when."""
    return connection.execute("SELECT schema_id, who, when_ms FROM included_samples ORDER BY schema_id").fetchall()


def included_text(connection: sqlite3.Connection, schema_id: int) -> bytes:
    """Read the samples of a schema that the project holds; nothing where there are none.

    Raises:
        ValueError: they are damaged, or grow beyond all measure.
    """
    row = connection.execute("SELECT samples FROM included_samples WHERE schema_id = ?", (schema_id,)).fetchone()
    return b"" if row is None else Unpacking("the samples of a schema").unpacked(row[0])
