"""Names and publication of states."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from metl_gui.core.draft import Stamp


@dataclass(frozen=True, slots=True)
class NamedState:
    """A state that a person named.

    Args:
        state, name, who, when_ms: what was named, by whom and when.
        is_published: whether production may use it.
    """

    state: int
    name: str
    who: str
    when_ms: int
    is_published: bool


def name(connection: sqlite3.Connection, state: int, text: str, stamp: Stamp) -> None:
    """Name a state; inside a transaction."""
    connection.execute(
        "INSERT INTO states (state, name, who, when_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (state) DO UPDATE SET name = excluded.name, who = excluded.who, when_ms = excluded.when_ms",
        (state, text, stamp.who, stamp.when_ms),
    )


def named(connection: sqlite3.Connection) -> list[NamedState]:
    """Return the named states, newest first."""
    rows = connection.execute(
        "SELECT state, name, who, when_ms, published_ms IS NOT NULL FROM states ORDER BY state DESC"
    )
    return [NamedState(state, text, who, when_ms, bool(published)) for state, text, who, when_ms, published in rows]
