"""Rows of a PostgreSQL database as they were at one moment, read by many connections at once.

One connection holds the snapshot; all others join it by its name, so that every part of every table shows the same
moment. A transaction that had begun before ``open_snapshot`` was asked is in the snapshot or was rolled back; whatever
the snapshot shows stands in the write-ahead log before ``Snapshot.end``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString, cast

from psycopg import IsolationLevel, sql

from metl_gui.errors import RunCancelled, SchemaError
from metl_gui.formats.table_columns import Form, TableColumn
from metl_gui.registry.addresses import DatabasePlace
from metl_gui.registry.remote.database import connected
from metl_gui.values import Value

if TYPE_CHECKING:
    import psycopg

READ_AS: LiteralString = (
    "SET LOCAL datestyle TO 'ISO'; SET LOCAL intervalstyle TO 'iso_8601'; SET LOCAL timezone TO 'UTC'; "
    "SET LOCAL bytea_output TO 'hex'; SET LOCAL extra_float_digits TO 1; SET LOCAL lc_monetary TO 'C'"
)
"""How values are printed; ``engine.loading.debezium_values`` reads them so."""

PAGES_OF_A_PART = 8192
"""Pages of 8 KiB that one task reads: 64 MiB."""

_LOOK_SECONDS = 0.1
_FORMS: dict[Form, LiteralString] = {
    Form.TEXT: "CASE WHEN {0} IS NOT NULL THEN format('%s', {0}) END",
    Form.NUMBER: "({0})::numeric::text",
    Form.JSON: "to_json({0})::text",
}


class Table(Value):
    """A table, or one partition of a partitioned one.

    Args:
        schema, name: as the database writes them.
        pages: how large it is.
    """

    schema: str
    name: str
    pages: int


class Snapshot:
    """One moment of a database.

    Args:
        connection: holds the moment as long as it is open.
        name: by which other connections join it.
        end: the place in the write-ahead log before which everything stands that the snapshot shows.
    """

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], name: str, end: str) -> None:
        self._connection = connection
        self.name = name
        self.end = end

    @property
    def joining(self) -> str:
        """Statements by which a connection joins, at the beginning of a transaction."""
        name = sql.Literal(self.name).as_string(None)
        return f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT {name}; {READ_AS}"

    def natives(self, schema: str, table: str) -> dict[str, str]:
        """Return the type of each column, in the order of the table; empty when there is no such table."""
        rows = self._connection.execute(
            """SELECT a.attname, coalesce(b.typname, t.typname) FROM pg_attribute a
               JOIN pg_type t ON t.oid = a.atttypid
               LEFT JOIN pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
               WHERE a.attrelid = to_regclass(format('%%I.%%I', %s::text, %s::text)) AND a.attnum > 0
               AND NOT a.attisdropped ORDER BY a.attnum""",
            (schema, table),
        )
        return {str(name): str(native) for name, native in rows}

    def tables(self, schema: str, table: str) -> tuple[Table, ...]:
        """Return where the rows of a table lie: itself, or each of its partitions."""
        rows = self._connection.execute(
            """SELECT n.nspname, c.relname, pg_relation_size(c.oid) / current_setting('block_size')::bigint
               FROM (SELECT to_regclass(format('%%I.%%I', %s::text, %s::text))::oid AS oid) whole
               CROSS JOIN LATERAL (SELECT relid::oid AS oid FROM pg_partition_tree(whole.oid) WHERE isleaf
                                   UNION SELECT whole.oid) part
               JOIN pg_class c ON c.oid = part.oid AND c.relkind = 'r'
               JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2""",
            (schema, table),
        )
        return tuple(Table(str(one), str(other), int(str(pages))) for one, other, pages in rows)

    def about(self, schema: str, table: str) -> int | None:
        """Return about how many rows there are, as the database guesses; None before it was ever analysed."""
        row = self._connection.execute(
            """SELECT sum(greatest(c.reltuples, 0))::bigint FROM pg_class c WHERE c.relkind = 'r' AND c.oid IN (
               SELECT to_regclass(format('%%I.%%I', %s::text, %s::text))::oid UNION
               SELECT relid FROM pg_partition_tree(to_regclass(format('%%I.%%I', %s::text, %s::text))))""",
            (schema, table, schema, table),
        ).fetchone()
        return int(row[0]) if row and row[0] else None

    def rows_with(
        self, schema: str, table: str, columns: Sequence[TableColumn], key: Sequence[str], keys: Sequence[Sequence[str]]
    ) -> Iterator[tuple[str | None, ...]]:
        """Yield the rows of some keys as ``select_of`` has them; a key that is gone yields nothing.

        Args:
            schema, table, columns: what is read.
            key: the columns of the key.
            keys: texts of a key each, as the database prints them.
        """
        self._connection.execute(READ_AS)
        for one in keys:
            # Literals, as a column may be called anything and a percent sign is one of psycopg's.
            wanted = sql.SQL(" AND ").join(
                sql.SQL("format('%s', {}) = {}").format(sql.Identifier(column), sql.Literal(text))
                for column, text in zip(key, one, strict=True)
            )
            query = sql.SQL("{} WHERE {}").format(_select(schema, table, columns), wanted)
            for row in self._connection.execute(query):
                yield cast("tuple[str | None, ...]", row)


@contextmanager
def open_snapshot(place: DatabasePlace, is_cancelled: Callable[[], bool] = lambda: False) -> Iterator[Snapshot]:
    """Hold one moment of a database until the context ends.

    Args:
        place: the database.
        is_cancelled: asked while transactions that were open are waited for.

    Raises:
        SchemaError: the server refuses us, or a question of ours.
        ServiceUnavailableError: it does not answer.
        RunCancelled: it was cancelled.
    """
    _wait_for_open_transactions(place, is_cancelled)
    with connected(place) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        name = _one(connection, "SELECT pg_export_snapshot()")
        yield Snapshot(connection, name, _one(connection, "SELECT pg_current_wal_insert_lsn()::text"))


def select_of(table: Table, columns: Sequence[TableColumn]) -> str:
    """Write the query for the text of all columns of a table, each in its form, and ``ctid`` behind them."""
    return _select(table.schema, table.name, columns, with_place=True).as_string(None)


def parts_of(table: Table) -> list[str]:
    """Return conditions on ``ctid`` that cut a table into parts of ``PAGES_OF_A_PART``; the last has no end."""
    cuts = range(PAGES_OF_A_PART, max(table.pages, 1), PAGES_OF_A_PART)
    starts, ends = [0, *cuts], [*cuts, None]
    return [
        f"ctid >= '({start},0)'::tid" + ("" if end is None else f" AND ctid < '({end},0)'::tid")
        for start, end in zip(starts, ends, strict=True)
    ]


def passed(place: DatabasePlace, slot: str, end: str) -> bool:
    """Return whether what a slot's reader has confirmed reaches a place in the log, and nudge a reader that idles.

    A connector confirms places only as it meets changes; a message in the log is one.

    Raises:
        SchemaError: there is no such slot, or the server refuses.
        ServiceUnavailableError: the server does not answer.
    """
    with connected(place) as connection:
        row = connection.execute(
            "SELECT confirmed_flush_lsn >= %s::pg_lsn FROM pg_replication_slots WHERE slot_name = %s", (end, slot)
        ).fetchone()
        if row is None:
            raise SchemaError(
                f"The database has no replication slot {slot}.",
                "Without it nobody can say which changes the connector has sent.",
                "Name the slot of the connector: its setting slot.name.",
            )
        if not row[0]:
            connection.execute("SELECT pg_logical_emit_message(false, 'metl', '')")
        return bool(row[0])


def insert_signal(place: DatabasePlace, table: str, row: tuple[str, str, str]) -> None:
    """Write a signal for the connector: the only thing that is ever written into a database.

    Args:
        place: the database.
        table: the connector's signalling table, as ``schema.table``.
        row: id, type and data of the signal.

    Raises:
        SchemaError: the server refuses.
        ServiceUnavailableError: it does not answer.
    """
    query = sql.SQL("INSERT INTO {} VALUES (%s, %s, %s)").format(sql.Identifier(*table.split(".")))
    with connected(place) as connection:
        connection.read_only = False
        connection.execute(query, row)


def slots(place: DatabasePlace) -> tuple[str, ...]:
    """Return the logical replication slots of a database.

    Raises:
        SchemaError: the server refuses.
        ServiceUnavailableError: it does not answer.
    """
    with connected(place) as connection:
        rows = connection.execute(
            "SELECT slot_name FROM pg_replication_slots WHERE slot_type = 'logical' AND database = current_database() "
            "ORDER BY slot_name"
        )
        return tuple(str(name) for (name,) in rows)


def _select(schema: str, table: str, columns: Sequence[TableColumn], *, with_place: bool = False) -> sql.Composed:
    values = [sql.SQL(_FORMS[column.form]).format(sql.Identifier(column.name)) for column in columns]
    named = [sql.SQL("{} AS {}").format(value, sql.Identifier(f"c{number}")) for number, value in enumerate(values)]
    place = [sql.SQL("ctid")] if with_place else []
    return sql.SQL("SELECT {} FROM ONLY {}").format(sql.SQL(", ").join([*named, *place]), sql.Identifier(schema, table))


def _wait_for_open_transactions(place: DatabasePlace, is_cancelled: Callable[[], bool]) -> None:
    """Wait until no transaction runs that could have been sent by the connector and is not to be seen yet."""
    with connected(place) as connection:
        first = _one(connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
    while True:
        with connected(place) as connection:
            oldest = _one(connection, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
        if int(oldest) >= int(first):
            return
        if is_cancelled():
            raise RunCancelled("The load was stopped.")
        time.sleep(_LOOK_SECONDS)


def _one(connection: psycopg.Connection[tuple[Any, ...]], query: LiteralString) -> str:
    row = connection.execute(query).fetchone()
    return str(row[0]) if row else ""
