"""What a batch is measured against: pygrametl on the same PostgreSQL server, used at its best."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

import psycopg
import pygrametl
from pygrametl.tables import BulkFactTable, SlowlyChangingDimension


class Changed(Protocol):
    """A state of a member that stands already."""

    @property
    def member(self) -> int: ...
    @property
    def city(self) -> str: ...
    @property
    def mood(self) -> str: ...
    @property
    def time(self) -> datetime: ...


class Baseline:
    """A dimension of pygrametl in a schema of the same server, filled with the changes that stand already."""

    def __init__(self, login: dict[str, Any], schema: str, first: Sequence[Changed]) -> None:
        self.connection = psycopg.connect(**login)
        self.connection.execute(f'CREATE SCHEMA "{schema}"')
        self.connection.execute(f'SET search_path TO "{schema}"')
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("""CREATE TABLE person (person_key BIGINT PRIMARY KEY, id BIGINT, city TEXT, mood TEXT,
            valid_from TIMESTAMPTZ, valid_to TIMESTAMPTZ, version INTEGER)""")
        with self.connection.cursor().copy("COPY person FROM STDIN") as copy:
            for key, one in enumerate(first, 1):
                copy.write_row((key, one.member, one.city, one.mood, one.time, None, 1))
        self.connection.execute("CREATE INDEX ON person (id, version)")
        self.connection.execute("ANALYZE person")
        self.connection.commit()
        wrapper = pygrametl.ConnectionWrapper(self.connection, paramstyle="pyformat")
        wrapper.setasdefault()
        self.wrapper = wrapper
        self.dimension = SlowlyChangingDimension(
            name="person",
            key="person_key",
            attributes=["id", "city", "mood", "valid_from", "valid_to", "version"],
            lookupatts=["id"],
            versionatt="version",
            fromatt="valid_from",
            fromfinder=lambda _connection, row, _names: row["at"],
            toatt="valid_to",
            type1atts=["mood"],
            cachesize=len(first) * 2,
            prefill=True,
            targetconnection=wrapper,
        )

    def load(self, rows: Sequence[dict[str, Any]]) -> None:
        """Load rows and commit."""
        for row in rows:
            self.dimension.scdensure(dict(row))
        self.wrapper.commit()

    def versions(self) -> set[tuple[Any, ...]]:
        """Return what stands there."""
        return set(self.connection.execute("SELECT id, city, valid_from, valid_to FROM person").fetchall())

    def facts(self) -> BulkFactTable:
        """Make a table of facts that is filled by COPY."""
        self.connection.execute("CREATE TABLE visit (person_key BIGINT, no BIGINT, at TIMESTAMPTZ, fee NUMERIC(12, 0))")
        self.connection.commit()
        return BulkFactTable(
            name="visit", keyrefs=["person_key"], measures=["no", "at", "fee"], bulkloader=self._copy, encoding="utf-8"
        )

    def _copy(self, name: str, attributes: Sequence[str], _sep: str, _row: str, _null: object, file: Any) -> None:
        with self.connection.cursor().copy(f"COPY {name} ({', '.join(attributes)}) FROM STDIN") as copy:
            while block := file.read(1 << 20):
                copy.write(block)

    def load_facts(self, table: BulkFactTable, rows: Sequence[dict[str, Any]]) -> None:
        """Load facts, each with the key of the newest version of its member, and commit."""
        for row in rows:
            table.insert({**row, "person_key": self.dimension.lookup(row)})
        self.wrapper.commit()
