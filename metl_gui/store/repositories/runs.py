"""Runs and their metrics."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from metl_gui.store.repositories.sessions import Sessions
from metl_gui.values import Value


class LoggedRun(Value):
    """One mapping run.

    Args:
        run_id: its name.
        state: the state it was pinned to.
        when_ms: when it was written down (milliseconds since 1970).
        report: its document (docs/reference/report.md).
        spec: what was asked, where that is known.
    """

    run_id: str
    state: int | None
    when_ms: int
    report: dict[str, Any]
    spec: dict[str, Any] = msgspec.field(default_factory=dict)


class RunRepository(Value):
    """Mapping runs and their events, appended without the editing lease."""

    sessions: Sessions

    def add(
        self,
        report: Mapping[str, Any],
        events: Iterable[Any] = (),
        spec: Mapping[str, Any] | None = None,
        kept: int | None = None,
        when_ms: int | None = None,
    ) -> str:
        """Write a run; the same run again replaces it.

        Args:
            connection: inside a transaction.
            report, events: of the run.
            spec: what was asked.
            kept: how many runs stay, the oldest go; all for None.
            when_ms: when it ended, now by default.

        Returns:
            The run's id, the report's own where it has one.
        """
        with self.sessions.appending() as connection:
            run_id = str(report.get("run_id") or uuid.uuid4())
            state = report.get("state")
            texts = [msgspec.json.encode(each).decode() for each in (dict(report), list(events), dict(spec or {}))]
            connection.execute(
                "INSERT OR REPLACE INTO runs (id, state, when_ms, report, events, spec) VALUES (?, ?, ?, ?, ?, ?)",
                (run_id, state if isinstance(state, int) else None, when_ms or time.time_ns() // 1_000_000, *texts),
            )
            if kept is not None:
                connection.execute(
                    "DELETE FROM runs WHERE id NOT IN (SELECT id FROM runs ORDER BY when_ms DESC, rowid DESC LIMIT ?)",
                    (kept,),
                )
            return run_id

    def newest(self, limit: int | None = None) -> list[LoggedRun]:
        """Return runs, newest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "SELECT id, state, when_ms, report, spec FROM runs ORDER BY when_ms DESC, rowid DESC LIMIT ?",
                (-1 if limit is None else limit,),
            )
            return [
                LoggedRun(run_id, state, when_ms, msgspec.json.decode(report), msgspec.json.decode(spec))
                for run_id, state, when_ms, report, spec in rows
            ]

    def has_format(self, name: str) -> bool:
        """Whether a run was asked to write its messages in a format (``core.runs.run_spec.Format``)."""
        with self.sessions.reading() as connection:
            query = "SELECT EXISTS (SELECT 1 FROM runs WHERE json_extract(spec, '$.format') = ?)"
            return bool(connection.execute(query, (name,)).fetchone()[0])

    def by_state(self) -> dict[int, tuple[str, ...]]:
        """Return the ids of the runs of every state that has some, newest first."""
        with self.sessions.reading() as connection:
            found: dict[int, tuple[str, ...]] = {}
            rows = connection.execute(
                "SELECT state, id FROM runs WHERE state IS NOT NULL ORDER BY when_ms DESC, rowid DESC"
            )
            for state, run_id in rows:
                found[state] = (*found.get(state, ()), run_id)
            return found

    def events(self, run_id: str) -> list[Any]:
        """Return the events of a run in order, as plain JSON values; empty when the run is not known."""
        with self.sessions.reading() as connection:
            row = connection.execute("SELECT events FROM runs WHERE id = ?", (run_id,)).fetchone()
            found: list[Any] = msgspec.json.decode(row[0]) if row else []
            return found
