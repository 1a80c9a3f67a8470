"""Runs and their metrics, appended without the editing lease."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One mapping run.

    Args:
        run_id: its name.
        state: the state it was pinned to.
        when_ms: when it was written down (milliseconds since 1970).
        report: contract.md §5.
    """

    run_id: str
    state: int | None
    when_ms: int
    report: dict[str, Any]


def add(connection: sqlite3.Connection, report: Mapping[str, Any], events: Iterable[Any]) -> str:
    """Write a run; the same run again replaces it.

    Returns:
        The run's id, the report's own where it has one.
    """
    run_id = str(report.get("run_id") or uuid.uuid4())
    state = report.get("state")
    texts = msgspec.json.encode(dict(report)).decode(), msgspec.json.encode(list(events)).decode()
    connection.execute(
        "INSERT OR REPLACE INTO runs (id, state, when_ms, report, events) VALUES (?, ?, ?, ?, ?)",
        (run_id, state if isinstance(state, int) else None, time.time_ns() // 1_000_000, *texts),
    )
    return run_id


def newest(connection: sqlite3.Connection, limit: int | None) -> list[LoggedRun]:
    """Return runs, newest first."""
    rows = connection.execute(
        "SELECT id, state, when_ms, report FROM runs ORDER BY when_ms DESC, rowid DESC LIMIT ?",
        (-1 if limit is None else limit,),
    )
    return [LoggedRun(run_id, state, when_ms, msgspec.json.decode(text)) for run_id, state, when_ms, text in rows]


def by_state(connection: sqlite3.Connection) -> dict[int, tuple[str, ...]]:
    """Return the ids of the runs of every state that has some, newest first."""
    found: dict[int, tuple[str, ...]] = {}
    rows = connection.execute("SELECT state, id FROM runs WHERE state IS NOT NULL ORDER BY when_ms DESC, rowid DESC")
    for state, run_id in rows:
        found[state] = (*found.get(state, ()), run_id)
    return found


def events(connection: sqlite3.Connection, run_id: str) -> list[Any]:
    """Return the events of a run in order, as plain JSON values; empty when the run is not known."""
    row = connection.execute("SELECT events FROM runs WHERE id = ?", (run_id,)).fetchone()
    found: list[Any] = msgspec.json.decode(row[0]) if row else []
    return found
