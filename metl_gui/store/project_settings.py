"""Settings of the whole project, kept beside its states."""

from __future__ import annotations

import sqlite3


def read(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the settings that are not at their defaults, by name."""
    return dict(connection.execute("SELECT name, value FROM project_settings ORDER BY name").fetchall())


def put(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a setting, or forget it with an empty value; inside a transaction."""
    if value:
        connection.execute("INSERT OR REPLACE INTO project_settings (name, value) VALUES (?, ?)", (name, value))
    else:
        connection.execute("DELETE FROM project_settings WHERE name = ?", (name,))
