"""DuckDB as a target: one file, open only while a load writes it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import duckdb

from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.plans.access_plan import Declared, Grant
from metl_gui.warehouse.plans.index_plan import Index
from metl_gui.warehouse.plans.statements import Step, name, retype_column, text

DIALECT = "duckdb"
_TYPES = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ"}
_BOUNDS = {
    "DATE": ("0001-01-01", "9999-12-31"),
    "TIMESTAMP": ("0001-01-01", "9999-12-31 23:59:59.999999"),
    "TIMESTAMPTZ": ("0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00"),
}
"""The first and the last time, by type."""

_VERSION = re.compile(r"v(\d+)\.(\d+)")
_PACKS_TEXTS = (1, 2)
"""The first version of the format of files with a packing for running text."""

_LOOK_SECONDS = 0.2
_HOLDER = re.compile(r"held in (.+?) \(PID (\d+)\)")


_ELEMENTS = """CREATE TEMP MACRO metl_elements(listed) AS
    CASE WHEN json_valid(listed) AND json_type(listed) = 'ARRAY'
      AND NOT list_has_any(json_type(listed, '$[*]'), ['OBJECT', 'ARRAY'])
    THEN json_extract_string(listed, '$[*]') END"""
"""Takes a list of single values apart; of all else it makes null, as a text that is no JSON would end the load."""

_DECIMALS = """CREATE TEMP MACRO metl_decimals(number) AS
    metl_decimals_of(replace(lower(number), '_', ''))"""
_DECIMALS_OF = """CREATE TEMP MACRO metl_decimals_of(number) AS
    CASE WHEN contains(number, 'e') THEN metl_decimals_by(split_part(number, 'e', 1), split_part(number, 'e', 2))
      ELSE length(rtrim(split_part(number, '.', 2), '0 ')) END"""
_DECIMALS_BY = """CREATE TEMP MACRO metl_decimals_by(mantissa, exponent) AS
    CASE WHEN regexp_matches(mantissa, '[1-9]') THEN greatest(0, length(rtrim(split_part(mantissa, '.', 2), '0'))
      - CASE WHEN rtrim(split_part(mantissa, '.', 2), '0') = ''
          THEN length(split_part(mantissa, '.', 1)) - length(rtrim(split_part(mantissa, '.', 1), '0')) ELSE 0 END
      - try_cast(exponent AS BIGINT)) ELSE 0 END"""
"""Counts the digits behind the point of a number written as text, without the zeros at its end."""

_MACROS = (_ELEMENTS, _DECIMALS_BY, _DECIMALS_OF, _DECIMALS)
"""Those first that others use."""


class DuckDb:
    """A connection to the file of a warehouse.

    Args:
        path: of the file, made where there is none.
        memory: at most, as DuckDB writes it.
        is_read_only: nothing is written.
        wait: seconds to wait for another process to let go of it.

    Raises:
        TargetError: the file is no DuckDB database, another process holds it, or it cannot be written.
    """

    def __init__(self, path: Path, memory: str = "", *, is_read_only: bool = False, wait: float = 0.0) -> None:
        self.path, self.memory, self.is_read_only = path, memory, is_read_only
        self._keeps_order = True
        self._connection = self._connected(wait)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the file."""
        self.close()

    @property
    def title(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def reopen(self) -> None:
        """Open the file again."""
        self.close()
        self._connection = self._connected()

    def _connected(self, wait: float = 0.0) -> duckdb.DuckDBPyConnection:
        connection = connected(self.path, is_read_only=self.is_read_only, wait=wait)
        for macro in _MACROS:
            connection.execute(macro)
        connection.execute("SET preserve_insertion_order = true")  # it is that of all connections to the file
        self._keeps_order = True
        if self.memory:
            connection.execute(f"SET memory_limit = '{self.memory}'")
        return connection

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run a statement and return how many rows it changed.

        Raises:
            TargetError: the database refused it, or the disk is full.
        """
        try:
            result = self._connection.execute(statement, list(values) or None)
            description = result.description or []
            if description and description[0][0] == "Count":
                row = result.fetchone()
                return int(row[0]) if row else 0
        except duckdb.Error as error:
            raise TargetError(
                "The warehouse refused a statement", f"{self.path.name}: {error}", _hint(error)
            ) from error
        return 0

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        try:
            return self._connection.execute(query, list(values) or None).fetchall()
        except duckdb.Error as error:
            raise TargetError("The warehouse refused a query", f"{self.path.name}: {error}", _hint(error)) from error

    def step(self, step: Step) -> int:
        """Run a step and return how many rows it changed."""
        statement = step.sql(DIALECT)
        if step.unlike and self._packs_texts():
            statement = _packed(statement, step.unlike)
        # What stays is written in order: its blocks are packed better, and sooner.
        self._keep_order(not statement.startswith("CREATE OR REPLACE TEMPORARY"))
        return self.run(statement)

    def _packs_texts(self) -> bool:
        """Return whether the format of the file knows how; one that an older DuckDB made keeps its format."""
        query = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()"
        found = _VERSION.match(str(self.rows(query)[0][0]))
        return found is not None and (int(found[1]), int(found[2])) >= _PACKS_TEXTS

    def _keep_order(self, keeps: bool) -> None:
        """Keep rows in the order in which they came, or in any: all cores but one would wait for it."""
        if keeps != self._keeps_order:
            self.run(f"SET preserve_insertion_order = {str(keeps).lower()}")
            self._keeps_order = keeps

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what follows as one: all of it stands, or nothing."""
        self.run("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._keep_order(True)
            raise
        self.run("COMMIT")
        self._keep_order(True)

    def has_table(self, table: str) -> bool:
        """Return whether there is a table."""
        return bool(self.columns(table))

    def columns(self, table: str) -> dict[str, str]:
        """Return the columns of a table in order, with their types as plans write them; none where there is none."""
        # Of what DuckDB has of its own, as the views of the standard take longer than most steps of a load.
        query = """SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?
            AND schema_name = 'main' AND database_name = current_database() ORDER BY column_index"""
        return {column: _TYPES.get(type_, type_) for column, type_ in self.rows(query, [table])}

    def retype(self, table: str, column: str, type_: str, value: str) -> None:
        """Give a column another type; see ``WarehouseTarget``."""
        self.run(retype_column(table, column, type_, value))

    def unfit(self, _columns: Sequence[str]) -> dict[str, str]:
        """Return none: every text can be held."""
        return {}

    def index(self, _wanted: Sequence[Index]) -> None:
        """Make none: scans of columns are faster here than indexes are kept."""

    def check_roles(self, _roles: Sequence[str]) -> None:
        """Refuse none: who may read the file may read all of it."""

    def grant(self, _wanted: Sequence[Grant]) -> None:
        """Grant nothing: a file has no roles."""

    def additions(self, _known: Declared) -> tuple[str, ...]:
        """Return none: a file has nothing that goes beside its tables."""
        return ()

    def add_again(self, _statements: Sequence[str]) -> None:
        """Add nothing: see ``additions``."""

    def set_views_aside(self, _known: Declared) -> tuple[tuple[str, str], ...]:
        """Set none aside: views stand in the way of nothing here."""
        return ()

    def make_views(self, _statements: Sequence[tuple[str, str]]) -> None:
        """Make none: see ``set_views_aside``."""

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
        """
        listed = ", ".join(f"{name(column)} {type_}" for column, type_ in columns)
        self.run(f"CREATE OR REPLACE TEMPORARY TABLE {name(table)} ({listed})")
        if paths:
            self._keep_order(False)
            headed = ", ".join(
                f"{text(head)} || {name(column)} AS {name(column)}" for column, head in (heads or {}).items()
            )
            found = f"* REPLACE ({headed})" if headed else "*"
            query = f"INSERT INTO {name(table)} BY NAME SELECT {found} FROM read_parquet(?, union_by_name = true)"
            self.run(query, [list(paths)])
        self._make_infinite(table, {column: type_ for column, type_ in columns if type_ in _BOUNDS})

    def _make_infinite(self, table: str, times: Mapping[str, str]) -> None:
        """Put infinite times in the place of those that stand for them; all others lie in the years 1 to 9999."""
        made, beyond = [], []
        for column, type_ in times.items():
            c, (first, last) = name(column), (f"CAST('{bound}' AS {type_})" for bound in _BOUNDS[type_])
            is_before = f"{c} = DATE '1970-01-01' + ({INFINITE_DATES[0]})" if type_ == "DATE" else f"{c} < {first}"
            least, most = (f"CAST('{infinite}' AS {type_})" for infinite in ("-infinity", "infinity"))
            is_beyond = f"{c} < {first} OR {c} > {last}"
            beyond.append(is_beyond)
            made.append(f"{c} = CASE WHEN {is_before} THEN {least} WHEN {is_beyond} THEN {most} ELSE {c} END")
        if times:
            self.run(f"UPDATE {name(table)} SET {', '.join(made)} WHERE {' OR '.join(beyond)}")


def _packed(statement: str, columns: Sequence[str]) -> str:
    """Return a statement that makes a table with columns packed as running text.

    Where texts hardly repeat this takes half the time of DuckDB's own choice, and two thirds of its room.
    """
    for column in columns:
        typed = f"{name(column)} VARCHAR"
        statement = statement.replace(typed, f"{typed} USING COMPRESSION zstd", 1)
    return statement


def connected(path: Path, *, is_read_only: bool = False, wait: float = 0.0) -> duckdb.DuckDBPyConnection:
    """Return a connection to a file.

    Args:
        path: of the file.
        is_read_only: nothing is written.
        wait: seconds to wait for another process to let go of it.

    Raises:
        TargetError: it cannot be opened.
    """
    end = time.monotonic() + wait
    while True:
        try:
            connection = duckdb.connect(str(path), read_only=is_read_only)
        except duckdb.Error as error:
            if time.monotonic() < end and _HOLDER.search(str(error)):
                time.sleep(_LOOK_SECONDS)
                continue
            raise _unopened(path, error) from error
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")  # drawn where it takes the process for interactive
        return connection


def _unopened(path: Path, error: duckdb.Error) -> TargetError:
    holder = _HOLDER.search(str(error))
    if holder:
        text = f"{holder[1]} (process {holder[2]}) has {path} open."
        hint = "Close it there, then load again; or have a load exchange the file: duckdb:FILE?swap."
        return TargetError("The warehouse is open elsewhere", text, hint)
    if not path.parent.is_dir():
        return TargetError(
            "A folder does not exist", f"{path.parent} is no folder.", "Create it, or name another file."
        )
    return TargetError(
        "The warehouse cannot be opened", f"{path}: {error}", "Name a DuckDB file, or one that is not there yet."
    )


def _hint(error: duckdb.Error) -> str:
    if "No space left" in str(error) or isinstance(error, duckdb.OutOfMemoryException):
        return "Make room on the disk, then load again: nothing of this load was kept."
    return "Nothing of this load was kept. Look at “metl warehouse check”."
