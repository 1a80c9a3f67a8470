"""Writer schemas by registry id: what messages in Avro are read by. They mean the same in every state."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable

from metl_gui.core.wire_schemas import WireSchema


def keep(connection: sqlite3.Connection, found: Iterable[WireSchema], when_ms: int) -> None:
    """Keep writer schemas; what was known under the same id and name is replaced. Inside a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO wire_schemas (id, schema, kind, fingerprint, text, when_ms) VALUES (?, ?, ?, ?, ?, ?)",
        ((one.id, one.schema, one.kind, one.fingerprint, zlib.compress(one.text.encode()), when_ms) for one in found),
    )


def read(connection: sqlite3.Connection, id_: str | None = None) -> tuple[WireSchema, ...]:
    """Read the writer schemas of one id, or all of them; those that came last first."""
    rows = connection.execute(
        "SELECT id, kind, text, schema, fingerprint FROM wire_schemas WHERE ?1 IS NULL OR id = ?1"
        " ORDER BY when_ms DESC, rowid DESC",
        (id_,),
    )
    return tuple(
        WireSchema(id_, kind, zlib.decompress(packed).decode(), schema, fingerprint)
        for id_, kind, packed, schema, fingerprint in rows
    )
