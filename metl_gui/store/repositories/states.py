"""Names, publications and exports of states, and the settings of the project."""

from __future__ import annotations

from collections.abc import Mapping

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.project.named_states import NamedState
from metl_gui.store.repositories.sessions import Sessions
from metl_gui.values import Value


class StateRepository(Value):
    """Names, publications and exports of states."""

    sessions: Sessions

    def name(self, state: int, text: str, stamp: EditContext) -> None:
        """Name a state, or give it another name."""
        with self.sessions.editing() as connection:
            connection.execute(
                "INSERT INTO states (state, name, who, when_ms) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (state)"
                " DO UPDATE SET name = excluded.name, who = excluded.who, when_ms = excluded.when_ms",
                (state, text, stamp.who, stamp.when_ms),
            )

    def forget_name(self, state: int) -> None:
        """Take the name of a state away."""
        with self.sessions.editing() as connection:
            connection.execute("DELETE FROM states WHERE state = ?", (state,))

    def named(self) -> list[NamedState]:
        """Return the named and the published states, newest first."""
        with self.sessions.reading() as connection:
            rows = connection.execute(
                "WITH known AS (SELECT state FROM states UNION SELECT state FROM publications),"
                " newest AS (SELECT state, max(id) AS id FROM publications GROUP BY state)"
                " SELECT known.state, coalesce(name, ''), coalesce(named.who, published.who),"
                " coalesce(named.when_ms, published.when_ms), published.who, published.when_ms FROM known"
                " LEFT JOIN states AS named ON named.state = known.state LEFT JOIN newest ON newest.state = known.state"
                " LEFT JOIN publications AS published ON published.id = newest.id ORDER BY known.state DESC"
            )
            return [NamedState(*row) for row in rows]

    def publish(self, state: int, name: str, stamp: EditContext) -> None:
        """Make a state the one that production and exports use, and name it unless the name is empty."""
        with self.sessions.editing() as connection:
            connection.execute(
                "INSERT INTO publications (state, who, when_ms) VALUES (?, ?, ?)", (state, stamp.who, stamp.when_ms)
            )
            if name:
                StateRepository(Sessions.within(connection)).name(state, name, stamp)

    def live(self) -> int | None:
        """Return the state that was published last, ``None`` when none was."""
        with self.sessions.reading() as connection:
            row = connection.execute("SELECT state FROM publications ORDER BY id DESC LIMIT 1").fetchone()
            return int(row[0]) if row else None

    def publication(self) -> int:
        """Return the number of the newest publication; it grows with each, also with one of an older state."""
        with self.sessions.reading() as connection:
            (number,) = connection.execute("SELECT coalesce(max(id), 0) FROM publications").fetchone()
            return int(number)

    def add_export(self, state: int, when_ms: int) -> None:
        """Remember that a state was exported; needs no lease."""
        with self.sessions.appending() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO exported_states (state, when_ms) VALUES (?, ?)", (state, when_ms)
            )

    def exported(self) -> frozenset[int]:
        """Return the states that were exported."""
        with self.sessions.reading() as connection:
            return frozenset(state for (state,) in connection.execute("SELECT state FROM exported_states"))


class SettingRepository(Value):
    """Settings of the whole project; no part of a state."""

    sessions: Sessions

    def all(self) -> dict[str, str]:
        """Return the settings that are not at their defaults, by name."""
        with self.sessions.reading() as connection:
            return dict(connection.execute("SELECT name, value FROM project_settings ORDER BY name").fetchall())

    def put(self, values: Mapping[str, str]) -> None:
        """Keep settings; an empty value puts the default back."""
        with self.sessions.editing() as connection:
            for name, value in values.items():
                if value:
                    connection.execute(
                        "INSERT OR REPLACE INTO project_settings (name, value) VALUES (?, ?)", (name, value)
                    )
                else:
                    connection.execute("DELETE FROM project_settings WHERE name = ?", (name,))
