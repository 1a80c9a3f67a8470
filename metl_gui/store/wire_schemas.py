"""Writer schemas by registry id: what messages in Avro are read by. They mean the same in every state."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator

from metl_gui.core.project.writer_schemas import WireSchema
from metl_gui.store.unpacking import Unpacking


def keep(connection: sqlite3.Connection, found: Iterable[WireSchema], when_ms: int) -> None:
    """Keep writer schemas; what was known under the same id and name is replaced. Inside a transaction."""
    connection.executemany(
        "INSERT OR REPLACE INTO wire_schemas (id, schema, kind, fingerprint, text, when_ms) VALUES (?, ?, ?, ?, ?, ?)",
        ((one.id, one.schema, one.kind, one.fingerprint, zlib.compress(one.text.encode()), when_ms) for one in found),
    )


def read(connection: sqlite3.Connection, id_: str | None = None) -> tuple[WireSchema, ...]:
    """Read the writer schemas of one id, or all of them; those that came last first."""
    return tuple(wire for wire, _ in stamped(connection, id_))


def stamped(connection: sqlite3.Connection, id_: str | None = None) -> Iterator[tuple[WireSchema, int]]:
    """Yield the writer schemas of one id, or all of them, each with the moment in which it came; the last first."""
    rows = connection.execute(
        "SELECT id, kind, text, schema, fingerprint, when_ms FROM wire_schemas WHERE ?1 IS NULL OR id = ?1"
        " ORDER BY when_ms DESC, rowid DESC",
        (id_,),
    )
    unpacking = Unpacking("a writer schema")
    for known_as, kind, packed, schema, fingerprint, when_ms in rows:
        yield WireSchema(known_as, kind, unpacking.unpacked(packed).decode(), schema, fingerprint), when_ms


def forget(connection: sqlite3.Connection, wire: WireSchema) -> None:
    """Forget a writer schema; inside a transaction."""
    connection.execute("DELETE FROM wire_schemas WHERE id = ? AND schema = ?", (wire.id, wire.schema))
