"""Suggestions and rename proposals that were refused, kept with the project beside its states."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from metl_gui.core.changes.draft import Stamp
from metl_gui.core.project.refusals import Refusal, RefusedRename
from metl_gui.core.trees.nodes import Side


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
    return tuple(refusal for refusal, _ in stamped(connection))


def stamped(connection: sqlite3.Connection) -> Iterator[tuple[Refusal, Stamp]]:
    """Yield all refusals with who made them and when, the newest first."""
    rows = connection.execute(
        "SELECT schema_id, p_lineage, entity_id, q_lineage, from_path, to_path, who, when_ms FROM refused_suggestions"
        " ORDER BY when_ms DESC, schema_id, p_lineage, entity_id, q_lineage"
    )
    for *refusal, who, when_ms in rows:
        yield Refusal(*refusal), Stamp(who, when_ms)


def add_renames(connection: sqlite3.Connection, refused: Iterable[RefusedRename], stamp: Stamp) -> None:
    """Remember refused rename proposals; inside a transaction. The newest says which lineages they are."""
    connection.executemany(
        "INSERT OR REPLACE INTO refused_renames"
        " (side, schema_id, lost, candidate, lost_lineage, candidate_lineage, who, when_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(*astuple(one), stamp.who, stamp.when_ms) for one in refused],
    )


def remove_renames(connection: sqlite3.Connection, refused: Iterable[RefusedRename]) -> None:
    """Forget refused rename proposals; inside a transaction."""
    connection.executemany(
        "DELETE FROM refused_renames WHERE side = ? AND schema_id = ? AND lost = ? AND candidate = ?",
        [(one.side, one.schema_id, one.lost, one.candidate) for one in refused],
    )


def read_renames(connection: sqlite3.Connection) -> tuple[RefusedRename, ...]:
    """Read the refused rename proposals, the newest first."""
    return tuple(refused for refused, _ in stamped_renames(connection))


def stamped_renames(connection: sqlite3.Connection) -> Iterator[tuple[RefusedRename, Stamp]]:
    """Yield the refused rename proposals with who refused them and when, the newest first."""
    rows = connection.execute(
        "SELECT side, schema_id, lost, candidate, lost_lineage, candidate_lineage, who, when_ms FROM refused_renames"
        " ORDER BY when_ms DESC, side, schema_id, lost, candidate"
    )
    for side, *rest, who, when_ms in rows:
        yield RefusedRename(Side(side), *rest), Stamp(who, when_ms)
