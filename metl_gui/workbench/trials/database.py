"""Try a PostgreSQL database: its name and port, the login, and which tables can be seen."""

from __future__ import annotations

from metl_gui.registry.remote.database import connected
from metl_gui.workbench.profiles import find_database
from metl_gui.workbench.trials.network import knock, resolve
from metl_gui.workbench.trials.steps import Trial

_VERSION = """
SELECT current_setting('server_version'), current_user, current_database(),
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
"""
_TABLES = """
SELECT n.nspname, count(*), count(*) FILTER (WHERE has_table_privilege(c.oid, 'SELECT'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (%(schemas)s::text[] IS NULL OR n.nspname = ANY(%(schemas)s::text[]))
GROUP BY 1 ORDER BY 1
"""
_SHOWN = 4


class DatabaseTrial(Trial):
    """Tries a profile of a database."""

    def attempt(self) -> None:
        """Go from the settings to the tables."""
        self.begin("Settings")
        place = find_database(f"@{self.profile.name}")
        mode = dict(place.settings).get("sslmode", "prefer")
        self.end(f"As {place.user or 'whom the system names'}, TLS: {mode}.")
        self.begin("Name")
        self.end(resolve([place.host]))
        self.begin("Port")
        self.end(knock([(place.host, place.port)]))
        self.begin("Login")
        with connected(place) as connection:
            found = connection.execute(_VERSION).fetchone() or ("", "", "", False)
            self.end(f"PostgreSQL {found[0]}, {found[1]} in {found[2]}, {'over TLS' if found[3] else 'in the clear'}.")
            self.begin("Tables")
            schemas = list(place.schemas) or None
            rows = connection.execute(_TABLES, {"schemas": schemas}).fetchall()
            self.end(_tables_text(rows))


def _tables_text(rows: list[tuple[str, int, int]]) -> str:
    if not rows:
        return "There is none in the schemas that are read."
    shown = ", ".join(f"{count} in {name}" for name, count, _ in rows[:_SHOWN])
    closed = sum(count - readable for _, count, readable in rows)
    more = " ..." if len(rows) > _SHOWN else ""
    # Their columns are in the catalogue all the same; only an initial load needs the rows.
    note = f"; the rows of {closed} of them may not be read" if closed else ""
    return f"{shown}{more}{note}."
