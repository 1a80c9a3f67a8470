"""Loads of a warehouse, against pygrametl on the same PostgreSQL, and a first load into DuckDB.

Both get one batch of changes for a dimension that stands already: a twentieth of them late, so that their versions lie
between others. pygrametl takes rows of Python through its class for slowly changing dimensions, with an index on the
business key, every current member in its cache and one commit; ours takes staged parts, keeps every message and writes
by statements. Contents are compared first, with the versions that follow from the messages by the oracle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pygrametl
from pygrametl.tables import SlowlyChangingDimension

from metl_gui.core.dimensional.members import Ownership, members, versions
from metl_gui.core.dimensional.messages import Message, held
from metl_gui.core.dimensional.row_states import FOREVER, row_states
from metl_gui.core.dimensional.staged_parts import StagedPart
from metl_gui.core.warehouse_model import Column, Model
from metl_gui.stack.postgres import OWNER, PostgresServer
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Owner, load_parts
from metl_gui.warehouse.plans.shape_maker import shapes
from metl_gui.warehouse.plans.table_shapes import TableShapes
from tests.benchmarks.harness import Case, compared, figure, seconds
from tests.unit.warehouse.worlds import PERSON, parse, person_dimension

_START = datetime(2026, 1, 1, tzinfo=UTC)
_CITIES = ("Kiel", "Bonn", "Ulm", "Jena", "Hof", "Celle")
_LATE = 0.05
_BULK = Owner(project="benchmark", mode="test")


class Change(msgspec.Struct, frozen=True):
    """A state of a member.

    Args:
        number: place in the log.
        member: business key.
        city: type 2.
        mood: type 1.
        at: minutes since the start at which it was committed.
    """

    number: int
    member: int
    city: str
    mood: str
    at: int

    @property
    def time(self) -> datetime:
        """When it was committed."""
        return _START + timedelta(minutes=self.at)


def history(count_members: int, batch: int) -> tuple[list[Change], list[Change]]:
    """Return the changes that stand already, one a member, and a batch of more, in the order of their arrival.

    A twentieth of the batch arrives after a later change of its member.
    """
    chance = np.random.default_rng(7)
    first = [Change(n, n, _CITIES[n % 6], "xy"[n % 2], n % 1000) for n in range(count_members)]
    chosen = chance.integers(0, count_members, batch)
    late = chance.random(batch) < _LATE
    changes = []
    for place, (member, is_late) in enumerate(zip(chosen.tolist(), late.tolist(), strict=True)):
        at = 2000 + (place - batch if is_late else place)
        changes.append(
            Change(count_members + at + batch, member, _CITIES[int(chance.integers(6))], "xy"[place % 2], at)
        )
    return first, changes


def staged(folder: Path, name: str, changes: Sequence[Change]) -> StagedPart:
    """Write changes as a staged part."""
    count = len(changes)
    times = pa.array([one.time for one in changes], pa.timestamp("us", tz="UTC"))
    texts = {"schema": "s", "op": "u", "schema_version": "1", "entity_version": "1", "position_log": "log"}
    columns: dict[str, Any] = {
        "row_key": pa.array([f'{{"id":{one.member}}}' for one in changes]),
        "order_key": pa.array([f"p{one.number:032x}" for one in changes]),
        "publication": pa.array(np.zeros(count, np.int64)),
        "committed_at": times,
        "seen_at": times,
        "position_partition": pa.array(np.zeros(count, np.int64)),
        "position_offset": pa.array([one.number for one in changes]),
        "snapshot": pa.array(np.zeros(count, bool)),
        "old_key": pa.nulls(count, pa.string()),
        "absent": pa.array([["nick", "since"]] * count, pa.list_(pa.string())),
        "id": pa.array([one.member for one in changes]).cast(pa.decimal128(38, 0)),
        "city": pa.array([one.city for one in changes]),
        "mood": pa.array([one.mood for one in changes]),
        **{column: pa.array([value] * count) for column, value in texts.items()},
    }
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(columns), path)
    return StagedPart("person", str(path), count)


def expected(changes: Sequence[Change]) -> set[tuple[Any, ...]]:
    """Return member, city, start and end of each version, by the oracle, of the members that changes name."""
    found: set[tuple[Any, ...]] = set()
    by_member: dict[int, list[Message]] = {}
    for one in changes:
        values = {"id": one.member, "city": one.city, "mood": one.mood}
        key = f'{{"id":{one.member}}}'
        message = Message("s", key, f"{one.number:012}", "u", values, committed_at=one.time, seen_at=one.time)
        by_member.setdefault(one.member, []).append(message)
    for messages in by_member.values():
        states = row_states(held(messages), lambda _values: None)
        for (member,), of_key in members(states, Ownership(("id",))).items():
            for version in versions(of_key, ("city",)):
                until = None if version.valid_to == FOREVER else version.valid_to
                found.add((member, version.by_version["city"], version.valid_from, until))
    return found


def shapes_of_person() -> TableShapes:
    """Return the tables of the benchmark's model."""
    columns = (Column(name="city", path="city", history=2), Column(name="mood", path="mood"))
    return shapes(Model(name="benchmark", tables=(person_dimension(columns=columns),)), [PERSON], parse)


def ours(target: WarehouseTarget, parts: Sequence[StagedPart], name: str) -> None:
    """Load parts."""
    load_parts(target, shapes_of_person(), parts, name, _BULK)


class Baseline:
    """A dimension of pygrametl in a schema of the same server, filled with the changes that stand already."""

    def __init__(self, login: dict[str, Any], schema: str, first: Sequence[Change]) -> None:
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


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield the cases."""
    count, batch = (100_000, 10_000) if quick else (1_000_000, 100_000)
    with tempfile.TemporaryDirectory() as place, PostgresServer() as server:
        folder = Path(place)
        login = {"host": "127.0.0.1", "port": server.port, "dbname": server.database}
        login |= {"user": OWNER, "password": server.password}
        yield slowly_changing(folder, login, count, batch, min(rounds, 3))
        yield first_load(folder, count)


def slowly_changing(folder: Path, login: dict[str, Any], count: int, batch: int, rounds: int) -> Case:
    """Compare a batch of changes, and the rows of each side that are wrong."""
    first, changes = history(count, batch)
    rows = [{"id": c.member, "city": c.city, "mood": c.mood, "at": c.time} for c in changes]
    base, more = staged(folder, "first", first), staged(folder, "more", changes)
    named = {one.member for one in changes}
    right = expected([one for one in (*first, *changes) if one.member in named])
    pairs, wrong = [], {"ours": 0, "pygrametl": 0}
    for number in range(rounds):
        with PostgreSql(login, f"ours {number}", "the warehouse") as target:
            ours(target, [base], "first")
            mine = seconds(partial(ours, target, [more], "more"))
            query = "SELECT id, city, first_known, valid_to FROM person WHERE person_key > 0"
            found = {(int(key), *rest) for key, *rest in target.rows(query) if int(key) in named}
            wrong["ours"] = len(found ^ right)
        baseline = Baseline(login, f"theirs {number}", first)
        theirs = seconds(partial(baseline.load, rows))
        wrong["pygrametl"] = len({row for row in baseline.versions() if row[0] in named} ^ right)
        baseline.connection.close()
        pairs.append((batch / mine, batch / theirs))
    note = (
        f"{count:,} members; wrong versions: ours {wrong['ours']:,}, pygrametl {wrong['pygrametl']:,}; fsync on, warm"
    )
    return compared(
        "PostgreSQL, a batch of changes, 5 % late", pairs, unit="changes/s", target=10, note=note, is_rate=True
    )


def first_load(folder: Path, count: int) -> Case:
    """Measure the first load of staged messages into a DuckDB file."""
    first, changes = history(count, count)
    parts = [staged(folder, "all-1", first), staged(folder, "all-2", changes)]
    with DuckDb(folder / "first.duckdb") as target:
        taken = seconds(lambda: ours(target, parts, "first"))
    note = f"{2 * count:,} staged messages of {count:,} members: {2 * count / taken:,.0f} messages/s; staging apart"
    return figure("DuckDB, first load", taken, unit="s", note=note)
