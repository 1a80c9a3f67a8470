"""PostgreSQL as a target: one schema of a database, written by one transaction a load.

Source: docs/guide/warehouse.md, "In PostgreSQL".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from metl_gui.warehouse.databases.postgres_access import (
    GONE,
    INDEXES,
    KEPT,
    MISSING_ROLES,
    READABLE,
    declared_grants,
    missing_grants,
)
from metl_gui.warehouse.databases.postgres_functions import Function, functions
from metl_gui.warehouse.databases.postgres_views import View, making, views_of
from metl_gui.warehouse.databases.target import CommitUnknownError, ConnectionLostError, TargetError
from metl_gui.warehouse.plans.access_plan import Declared, Grant
from metl_gui.warehouse.plans.dialects import POSTGRES, UNHELD, fitted
from metl_gui.warehouse.plans.index_plan import Index
from metl_gui.warehouse.plans.statements import Step, in_dialect, name, names, retype_column, text

if TYPE_CHECKING:
    import psycopg

_TEMPORARY = re.compile(r'CREATE OR REPLACE TEMPORARY TABLE ("(?:[^"]|"")+") (AS|\()')
_VIEW = re.compile(r'CREATE OR REPLACE TEMPORARY VIEW ("(?:[^"]|"")+") AS ')
_NEXT = '"metl_next"'
"""A temporary table while the one before of its name may still be read."""

_ANALYZED_FROM = 1_000
"""Rows of a temporary table; below that, planning by what the size of its file says costs less than counting."""

LOCK_WAIT = "30s"
"""How long a load waits for somebody who reads or changes a table, before it gives up and leaves nothing."""

_SAMPLED = "5"
"""Of how many times 300 rows statistics of a temporary table are made: it is read a few times, and gone."""

_SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "work_mem": "64MB",
    # Disks without arms: few rows are found by an index sooner than the planner thinks by default.
    "random_page_cost": "1.1",
    # Statements of a plan are wide, and run once: compiling them takes longer than they do.
    "jit": "off",
    "temp_buffers": "64MB",
    "default_statistics_target": _SAMPLED,
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "default_transaction_isolation": "read committed",
    "client_min_messages": "warning",
}
_CONNECT = {
    "connect_timeout": 10,
    "client_encoding": "utf8",
    "application_name": "metl",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_LETTERS = ("pg_c_utf8", "C.utf8", "und-x-icu", "en_US.utf8")
"""Collations that know the case of all letters, by how alike they are to what other targets do."""

_TYPES = {
    "text": "VARCHAR",
    "text[]": "VARCHAR[]",
    "double precision": "DOUBLE",
    "time without time zone": "TIME",
    "timestamp without time zone": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
}


_DEPENDS = ("2BP01", "0A000")
"""States of errors that say in their detail what stands in the way."""

_UNDROPPED = ("2BP01", "42501")
"""States of errors that say that a view stays: something depends on it, or it is not ours to drop."""


class PostgreSql:
    """A connection to the schema of a warehouse.

    Args:
        login: words of libpq: host, port, database, user and whatever lets us in; never shown.
        schema: made by the first load where there is none.
        title: what people call the target.

    Raises:
        TargetError: the server does not answer, does not let us in, or gives too few rights.
    """

    def __init__(self, login: Mapping[str, Any], schema: str, title: str) -> None:
        self.title, self.schema = title, fitted(schema)
        self._login = {**_CONNECT, **login}
        self._temporary: set[str] = set()
        self._connection = self._connected()
        self._check_rights()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the database."""
        self.close()

    def close(self) -> None:
        """Let go of the database; a transaction that is open leaves nothing."""
        self._connection.close()

    def reopen(self) -> None:
        """Connect anew, and wait until a transaction that was lost on the way has ended."""
        self.close()
        self._connection = self._connected()
        self._execute("BEGIN")
        self._lock()
        self._execute("COMMIT")

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        import psycopg

        try:
            connection = psycopg.connect(
                **self._login, autocommit=True, prepare_threshold=None, cursor_factory=psycopg.RawCursor
            )
            settings = {**_SETTINGS, "search_path": name(self.schema)}
            for setting, value in settings.items():
                connection.execute("SELECT set_config($1, $2, false)", [setting, value])
        except psycopg.Error as error:
            raise _unopened(self.title, error) from error
        _read_infinite_times(connection)
        return connection

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it changed.

        Raises:
            TargetError: the database refused it.
        """
        return self._run(in_dialect(statement, POSTGRES), values)

    def _run(self, text: str, values: Sequence[object] = ()) -> int:
        if made := _TEMPORARY.match(text):
            return self._make_temporary(made[1], f"{made[2]}{text[made.end() :]}")
        if viewed := _VIEW.match(text):
            # One in the place of another must have its columns; it goes with the tables that it reads.
            self._execute(f"DROP VIEW IF EXISTS pg_temp.{viewed[1]}")
            text = f"CREATE TEMPORARY VIEW {viewed[1]} AS {text[viewed.end() :]}"
        return max(self._execute(text, values).rowcount, 0)

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            TargetError: the database refused it.
        """
        return self._fetch(in_dialect(query, POSTGRES), values)

    def step(self, step: Step) -> int:
        """Run a step and return how many rows it changed."""
        return self._run(step.sql(POSTGRES))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what follows as one, while no other load writes into the schema: all of it stands, or nothing.

        Raises:
            CommitUnknownError: the connection was lost on the way to the end.
        """
        self._execute("BEGIN")
        try:
            self._lock()
            self._make_ready()
            # A table that is made anew waits for its readers, and all that come later wait behind it.
            self._fetch("SELECT set_config('lock_timeout', $1, true)", [LOCK_WAIT])
            yield
        except BaseException:
            self._roll_back()
            raise
        self._commit()

    def _roll_back(self) -> None:
        import psycopg

        self._temporary.clear()
        with suppress(psycopg.Error):  # a connection that is lost has rolled back already
            self._connection.execute("ROLLBACK")

    def _commit(self) -> None:
        import psycopg

        self._temporary.clear()
        try:
            self._connection.execute("COMMIT")
        except psycopg.Error as error:
            if self._connection.broken or isinstance(error, psycopg.OperationalError):
                raise CommitUnknownError(
                    "The connection was lost at the end of a load",
                    f"{self.title} did not say whether it kept the load.",
                    "Load again: what was kept is not loaded twice.",
                ) from error
            raise self._refused(error) from error

    def _lock(self) -> None:
        """Wait until no other load writes into the schema; the lock goes with the transaction."""
        self._fetch("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [f"metl warehouse {self.schema}"])

    def _check_rights(self) -> None:
        """Refuse a database that cannot hold text, and a login that lacks rights, before anything is done.

        Raises:
            TargetError: rights that are missing are named one by one.
        """
        ((encoding,),) = self._fetch("SELECT current_setting('server_encoding')")
        if encoding != "UTF8":
            self.close()
            text = f"{self.title} keeps text in {encoding}, which has not all letters."
            raise TargetError("The database cannot hold every text", text, "Name a database of encoding UTF8.")
        missing = [right for (right,) in self._fetch(_MISSING_RIGHTS, [self.schema])]
        if missing:
            self.close()
            text = f"{self.title} needs, for the login that was given: {'; '.join(missing)}."
            raise TargetError("Rights are missing", text, "Ask the owner of the database for them (GRANT).")

    def _make_ready(self) -> None:
        """Make the schema and the functions that are missing."""
        if not self._fetch("SELECT 1 FROM pg_namespace WHERE nspname = $1", [self.schema]):
            self._execute(f"CREATE SCHEMA {name(self.schema)}")
        query = "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = quote_ident($1)::regnamespace"
        known = set(self._fetch(query, [self.schema]))
        for one in self._functions():
            if (one.name, one.body) not in known:
                self._execute(one.statement)

    def _functions(self) -> tuple[Function, ...]:
        query = "SELECT collname FROM pg_collation WHERE collencoding IN (-1, pg_char_to_encoding('UTF8'))"
        known = {collation for (collation,) in self._fetch(query)}
        return functions(name(next((one for one in _LETTERS if one in known), "C")))

    def has_table(self, table: str) -> bool:
        """Return whether there is a table."""
        return bool(self.columns(table))

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table in order, with their types as plans write them; none where there is none."""
        found = self._fetch(_COLUMNS, [self.schema, fitted(table)])
        return {column: _TYPES.get(type_, type_.upper().replace("NUMERIC", "DECIMAL")) for column, type_ in found}

    def read_parts(
        self,
        table: str,
        paths: Sequence[str],
        columns: Sequence[tuple[str, str]],
        heads: Mapping[str, str] | None = None,
    ) -> None:
        """Make a temporary table of staged Parquet parts; columns that a part does not have are empty.

        Args:
            table: its name.
            paths: of the parts.
            columns: names and types of the table.
            heads: by column, what comes before each of its texts.

        Raises:
            TargetError: the database refused a row.
        """
        import psycopg

        from metl_gui.warehouse.databases.postgres_copy import csv_of_part

        listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns)
        self.run(f"CREATE OR REPLACE TEMPORARY TABLE {name(table)} ({listed})")
        known = [column for column, _ in columns]
        try:
            for path in paths:
                carried, batches = csv_of_part(path, known, heads or {})
                into = f"COPY {name(fitted(table))} ({names(map(fitted, carried))}) FROM STDIN (FORMAT csv)"
                with self._connection.cursor() as cursor, cursor.copy(into) as copy:
                    for batch in batches:
                        copy.write(batch)
        except psycopg.Error as error:
            raise self._refused(error) from error
        self._execute(f"ANALYZE {name(fitted(table))}")

    def unfit(self, columns: Sequence[str]) -> dict[str, str]:
        """Return conditions, by column of text, that a value has the character in it which PostgreSQL does not hold."""
        return {column: f"{name(column)} LIKE {text(f'%{UNHELD}%')}" for column in columns}

    def index(self, wanted: Sequence[Index]) -> None:
        """Make the indexes that are missing, and count what the tables that get them hold.

        The first load goes without: a table that is filled at once is indexed faster afterwards.
        """
        query = "SELECT indexname FROM pg_indexes WHERE schemaname = $1"
        known = {found for (found,) in self._fetch(query, [self.schema])}
        counted: set[str] = set()
        for one in wanted:
            label, text = _index(one)
            if label not in known:
                self._execute(text)
                known.add(label)
                counted.add(one.table)
        if counted:
            # What stays is counted as the server does it.
            self._execute("SET default_statistics_target TO DEFAULT")
            self._execute(f"ANALYZE {names(fitted(table) for table in sorted(counted))}")
            self._execute(f"SET default_statistics_target TO {_SAMPLED}")

    def retype(self, table: str, column: str, type_: str, value: str) -> None:
        """Give a column another type; see ``WarehouseTarget``. Its indexes go: ``index`` makes those of the type."""
        for _, label, _, columns in self._fetch(INDEXES, [self.schema, [fitted(table)]]):
            if fitted(column) in columns and label == _label([table, *columns]):
                self._execute(f"DROP INDEX {name(label)}")
        self.run(retype_column(table, column, type_, value))

    def check_roles(self, roles: Sequence[str]) -> None:
        """Refuse roles that the server does not have.

        Raises:
            TargetError: each is named.
        """
        missing = [role for (role,) in self._fetch(MISSING_ROLES, [list(roles)])] if roles else []
        if missing:
            text = f"{self.title} has no role {', '.join(missing)}, which the model grants tables to."
            raise TargetError("Roles are missing", text, "Ask for them (CREATE ROLE), or leave them out of grants.")

    def grant(self, wanted: Sequence[Grant]) -> None:
        """Let roles read tables that they may not read yet, and find these in the schema."""
        if wanted:
            readable = self._fetch(READABLE, [self.schema, [fitted(one.table) for one in wanted]])
            for statement in missing_grants(wanted, [(table, role) for table, role in readable], self.schema):
                self._execute(statement)

    def additions(self, known: Declared) -> tuple[str, ...]:
        """Return the statements that make again the grants, comments and indexes that people added to tables."""
        listed = [self.schema, [fitted(table) for table in known.tables]]
        grants = declared_grants(known.grants)
        ours = {_index(Index(table, columns))[0] for table, columns in known.indexes}
        found = [row[0] for query in KEPT for row in self._fetch(query, [*listed, grants])]
        indexes = self._fetch(INDEXES, listed)
        return (*found, *(made for table, label, made, of in indexes if label not in {*ours, _label([table, *of])}))

    def add_again(self, statements: Sequence[str]) -> None:
        """Make again what people added to tables; what has lost its column, table or role is left out.

        Raises:
            TargetError: a unique index does not fit what the tables hold now.
        """
        import psycopg

        known = {row[0] for row in self._fetch("SELECT indexdef FROM pg_indexes WHERE schemaname = $1", [self.schema])}
        for statement in statements:
            if statement in known:
                continue
            self._execute("SAVEPOINT added")
            try:
                self._connection.execute(statement.encode())
            except psycopg.Error as error:
                if error.sqlstate not in GONE:
                    raise self._refused(error) from error
                self._execute("ROLLBACK TO SAVEPOINT added")

    def set_views_aside(self, known: Declared) -> tuple[tuple[str, str], ...]:
        """Drop the views that people made of tables, and return what makes them again; see ``WarehouseTarget``."""
        views = self._droppable(views_of(self._fetch, self.schema, [fitted(table) for table in known.tables]))
        made = tuple(making(self._fetch, views))
        for view in reversed(views):
            self._execute(view.dropped)
        return made

    def _droppable(self, views: Sequence[View]) -> list[View]:
        """Return those views that can be dropped: ours to drop, and nothing else that stays depends on them."""
        import psycopg

        kept = set()
        self._execute("SAVEPOINT views")
        for view in reversed(views):
            self._execute("SAVEPOINT view")
            try:
                self._connection.execute(view.dropped.encode())
            except psycopg.Error as error:
                if error.sqlstate not in _UNDROPPED:
                    raise self._refused(error) from error
                kept.add(view)
                self._execute("ROLLBACK TO SAVEPOINT view")
            self._execute("RELEASE SAVEPOINT view")
        self._execute("ROLLBACK TO SAVEPOINT views")
        self._execute("RELEASE SAVEPOINT views")
        return [view for view in views if view not in kept]

    def make_views(self, statements: Sequence[tuple[str, str]]) -> None:
        """Make views again; see ``WarehouseTarget``."""
        import psycopg

        for view, statement in statements:
            try:
                self._connection.execute(statement.encode())
            except psycopg.Error as error:
                hint = "Change or drop it, then try again: nothing was changed."
                raise TargetError(
                    "A view does not fit the tables any more", f"{self.title}, {view}: {_said(error)}", hint
                ) from error

    def _make_temporary(self, table: str, content: str) -> int:
        """Make a temporary table, whose content may come from the one before of its name."""
        is_query = content.startswith("AS")
        text = f"ON COMMIT DROP {content}" if is_query else f"{content} ON COMMIT DROP"
        if table in self._temporary:
            count = self._execute(f"CREATE TEMPORARY TABLE {_NEXT} {text}").rowcount
            self._execute(f"DROP TABLE pg_temp.{table} CASCADE; ALTER TABLE pg_temp.{_NEXT} RENAME TO {table}")
        else:
            count = self._execute(f"CREATE TEMPORARY TABLE {table} {text}").rowcount
            self._temporary.add(table)
        if count >= _ANALYZED_FROM:
            self._execute(f"ANALYZE pg_temp.{table}")
        return max(count, 0)

    def _fetch(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            return self._execute(query, values).fetchall()
        except psycopg.Error as error:
            raise self._refused(error) from error

    def _refused(self, error: psycopg.Error) -> TargetError:
        return _refused(self.title, error, is_lost=self._connection.broken)

    def _execute(self, text: str, values: Sequence[object] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        import psycopg

        try:
            return self._connection.execute(text.encode(), list(values) or None)
        except psycopg.Error as error:
            raise self._refused(error) from error


def _read_infinite_times(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Read times that Python does not know, such as infinite ones, as the text that the server sends."""
    from psycopg import DataError
    from psycopg.types import datetime as readers

    for reader, type_ in (
        (readers.TimestamptzLoader, "timestamptz"),
        (readers.TimestampLoader, "timestamp"),
        (readers.DateLoader, "date"),
    ):

        class TextLoader(reader):  # type: ignore[misc, valid-type]  # made of each class in turn
            def load(self, data: Any) -> Any:
                try:
                    return super().load(data)
                except DataError:
                    return bytes(data).decode()

        connection.adapters.register_loader(type_, TextLoader)


_COLUMNS = """SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a
    JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum"""

_MISSING_RIGHTS = """
    WITH asked AS (SELECT $1::text AS name, (SELECT oid FROM pg_namespace WHERE nspname = $1) AS oid),
      here AS (SELECT current_database() AS name)
    SELECT format('TEMPORARY on the database %I', here.name) FROM here
      WHERE NOT has_database_privilege(here.name, 'TEMPORARY')
    UNION ALL
    SELECT format('CREATE on the database %I, or a schema %I', here.name, asked.name) FROM here, asked
      WHERE asked.oid IS NULL AND NOT has_database_privilege(here.name, 'CREATE')
    UNION ALL
    SELECT format('%s on the schema %I', kind, asked.name) FROM asked, unnest(ARRAY['USAGE', 'CREATE']) AS kind
      WHERE asked.oid IS NOT NULL AND NOT has_schema_privilege(asked.oid, kind)
    UNION ALL
    SELECT format('to be owner of the table %I', c.relname) FROM asked JOIN pg_class AS c ON c.relnamespace = asked.oid
      WHERE c.relkind = 'r' AND c.relname LIKE 'metl\\_%' AND NOT pg_has_role(c.relowner, 'USAGE')"""


def _index(one: Index) -> tuple[str, str]:
    """Return the name of an index and the statement that makes it.

    Text goes into an index of hashes, which takes values of any length.
    """
    columns = [name(fitted(column)) for column in one.columns]
    listed = ", ".join(f"COALESCE({column}, '')" for column in columns) if one.is_filled else ", ".join(columns)
    kind = "hash" if one.is_text else "btree"
    label = _label([one.table, *one.columns, *([one.part] if one.part else [])])
    where = f" WHERE {in_dialect(one.where, POSTGRES)}" if one.where else ""
    return label, f"CREATE INDEX {name(label)} ON {name(fitted(one.table))} USING {kind} ({listed}){where}"


def _label(parts: Sequence[str]) -> str:
    """Return the name of an index by the names of its table and columns."""
    return fitted("_".join([*parts, "index"]))


def _unopened(title: str, error: psycopg.Error) -> TargetError:
    text = str(error)
    said = _said(error)
    if "password authentication failed" in text:
        return TargetError("The database does not let us in", f"{title}: {said}", "Give the password again.")
    if "no password supplied" in text:
        hint = "Name a profile that has it (metl profile add), or set PGPASSWORD or ~/.pgpass."
        return TargetError("The database asks for a password", f"{title}: {said}", hint)
    if "does not exist" in text:
        return TargetError("There is no such database", f"{title}: {said}", "Look at the address.")
    return TargetError("The database does not answer", f"{title}: {said}", "Look at its address, and whether it runs.")


def _refused(title: str, error: psycopg.Error, *, is_lost: bool) -> TargetError:
    """Return the error that a statement was refused, or that there is no connection any more that could take one."""
    state, text = error.sqlstate or "", f"{title}: {_said(error)}"
    if state == "42501":
        return TargetError("A right is missing", text, "Ask the owner of the database for it (GRANT).")
    if state == "53200" and "max_locks_per_transaction" in (error.diag.message_hint or ""):
        hint = "Raise max_locks_per_transaction of the server and restart it, or load by a model with fewer tables."
        return TargetError("The server has too few locks for so many tables", text, hint)
    if state.startswith("53"):
        return TargetError("The database has no room", text, "Make room on the server, then load again.")
    if state in _DEPENDS and error.diag.message_detail:
        text = f"{text} {error.diag.message_detail[:1000]}".strip()
        return TargetError("Other objects depend on a table", text, "Drop them, and make them again afterwards.")
    if state == "55P03":
        return TargetError("Somebody has a table open", text, "Wait until nobody reads or changes it, then try again.")
    if state == "25006":
        return TargetError("The database takes no changes", text, "Name the server that is no standby.")
    if is_lost or state.startswith(_LOST):
        return ConnectionLostError("The connection was lost", text, "Load again: nothing of this load was kept.")
    return TargetError("The warehouse refused a statement", text, "Nothing of this load was kept.")


_LOST = ("080", "57P", "25P03", "25P04")
"""How codes begin with which a server ends a connection: it is gone, restarts, or a transaction takes too long."""


def _said(error: psycopg.Error) -> str:
    """Return what the server said, in one line."""
    lines = (error.diag.message_primary or str(error)).strip().splitlines()
    said = lines[-1].rpartition("FATAL:")[2].strip() if lines else type(error).__name__
    return f"{said[:300].rstrip('.')}."
