"""Suggestions and rename proposals that were refused, kept with the project beside its states."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import astuple

from metl_gui.core.draft import Stamp
from metl_gui.core.suggest.refusal import Refusal


def add(connection: sqlite3.Connection, refusals: Iterable[Refusal], stamp: Stamp) -> None:
    """Remember refusals; inside a transaction. One that is known already keeps who made it first."""
    connection.executemany(
        "INSERT OR IGNORE INTO refused_suggestions"
        " (schema_id, p_lineage, entity_id, q_lineage, from_path, to_path, who, when_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(*astuple(refusal), stamp.who, stamp.when_ms) for refusal in refusals],
    )


def remove(connection: sqlite3.Connection, refusals: Iterable[Refusal]) -> None:
    """Forget refusals; inside a transaction."""
    connection.executemany(
        "DELETE FROM refused_suggestions WHERE schema_id = ? AND p_lineage = ? AND entity_id = ? AND q_lineage = ?",
        [(r.schema_id, r.p_lineage, r.entity_id, r.q_lineage) for r in refusals],
    )


def read(connection: sqlite3.Connection) -> tuple[Refusal, ...]:
    """Read all refusals, the newest first."""
    rows = connection.execute(
        "SELECT schema_id, p_lineage, entity_id, q_lineage, from_path, to_path FROM refused_suggestions"
        " ORDER BY when_ms DESC, schema_id, p_lineage, entity_id, q_lineage"
    )
    return tuple(Refusal(*row) for row in rows)


def add_proposal(connection: sqlite3.Connection, schema_id: int, lost: str, candidate: str, stamp: Stamp) -> None:
    """Remember a refused rename proposal; inside a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO refused_proposals (schema_id, lost, candidate, who, when_ms) VALUES (?, ?, ?, ?, ?)",
        (schema_id, lost, candidate, stamp.who, stamp.when_ms),
    )


def read_proposals(connection: sqlite3.Connection) -> frozenset[tuple[int, str, str]]:
    """Read the refused rename proposals: (schema id, lost path, candidate path)."""
    rows = connection.execute("SELECT schema_id, lost, candidate FROM refused_proposals")
    return frozenset((schema_id, lost, candidate) for schema_id, lost, candidate in rows)
