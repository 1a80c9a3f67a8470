"""Names, publications and exports of states."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from metl_gui.core.changes.draft import Stamp


@dataclass(frozen=True, slots=True)
class NamedState:
    """A state that a person named or published.

    Args:
        state, name, who, when_ms: what was named, by whom and when; without a name, who published it and when.
        published_who: who published it, the last time if that was more than once; ``None`` when nobody did.
        published_ms: when (milliseconds since 1970).
    """

    state: int
    name: str
    who: str
    when_ms: int
    published_who: str | None = None
    published_ms: int | None = None

    @property
    def is_published(self) -> bool:
        """Whether production may use it."""
        return self.published_ms is not None


def name(connection: sqlite3.Connection, state: int, text: str, stamp: Stamp) -> None:
    """Name a state; inside a transaction."""
    connection.execute(
        "INSERT INTO states (state, name, who, when_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (state) DO UPDATE SET name = excluded.name, who = excluded.who, when_ms = excluded.when_ms",
        (state, text, stamp.who, stamp.when_ms),
    )


def forget_name(connection: sqlite3.Connection, state: int) -> None:
    """Let a state have no name; inside a transaction."""
    connection.execute("DELETE FROM states WHERE state = ?", (state,))


def named(connection: sqlite3.Connection) -> list[NamedState]:
    """Return the named and the published states, newest first."""
    rows = connection.execute(
        "WITH known AS (SELECT state FROM states UNION SELECT state FROM publications),"
        " newest AS (SELECT state, max(id) AS id FROM publications GROUP BY state)"
        " SELECT known.state, coalesce(name, ''), coalesce(named.who, published.who),"
        " coalesce(named.when_ms, published.when_ms), published.who, published.when_ms FROM known"
        " LEFT JOIN states AS named ON named.state = known.state LEFT JOIN newest ON newest.state = known.state"
        " LEFT JOIN publications AS published ON published.id = newest.id ORDER BY known.state DESC"
    )
    return [NamedState(*row) for row in rows]


def publish(connection: sqlite3.Connection, state: int, stamp: Stamp) -> None:
    """Make a state the one that production and exports use; inside a transaction."""
    connection.execute(
        "INSERT INTO publications (state, who, when_ms) VALUES (?, ?, ?)", (state, stamp.who, stamp.when_ms)
    )


def live(connection: sqlite3.Connection) -> int | None:
    """Return the state that was published last, ``None`` when none was."""
    row = connection.execute("SELECT state FROM publications ORDER BY id DESC LIMIT 1").fetchone()
    return int(row[0]) if row else None


def publication(connection: sqlite3.Connection) -> int:
    """Return the number of the newest publication; it grows with each, also with one of an older state."""
    (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM publications").fetchone()
    return int(number)


def add_export(connection: sqlite3.Connection, state: int, when_ms: int) -> None:
    """Remember that a state was exported; inside a transaction."""
    connection.execute("INSERT OR REPLACE INTO exported_states (state, when_ms) VALUES (?, ?)", (state, when_ms))


def exported(connection: sqlite3.Connection) -> frozenset[int]:
    """Return the states that were exported."""
    return frozenset(state for (state,) in connection.execute("SELECT state FROM exported_states"))
