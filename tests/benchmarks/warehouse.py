"""Loads of a warehouse, against pygrametl on the same PostgreSQL, a first load into DuckDB, and staging (``staging``).

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
import pyarrow as pa

from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.rows.members import Ownership, members, versions
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import FOREVER, row_states
from metl_gui.core.warehouse_model import Model
from metl_gui.stack.postgres import OWNER, PostgresServer
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from tests.benchmarks.harness import Case, compared, figure, seconds
from tests.benchmarks.staging import staged_messages
from tests.benchmarks.warehouse_baseline import Baseline
from tests.benchmarks.warehouse_parts import BULK, COLUMNS, integers, ours, write_part
from tests.unit.warehouse.worlds import PERSON, VISIT, parse, person_dimension, visit_fact

_START = datetime(2026, 1, 1, tzinfo=UTC)
_CITIES = ("Kiel", "Bonn", "Ulm", "Jena", "Hof", "Celle")
_LATE = 0.05
_SETTINGS = {"shared_buffers": "1GB"}
"""Of the server: a dimension of a million members lies in its memory, for both sides."""


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
    payload = {
        "id": integers([one.member for one in changes]),
        "city": pa.array([one.city for one in changes]),
        "mood": pa.array([one.mood for one in changes]),
    }
    keys = [f'{{"id":{one.member}}}' for one in changes]
    times = [one.time for one in changes]
    return write_part(folder / f"{name}.parquet", "person", keys, [one.number for one in changes], times, payload)


def staged_visits(folder: Path, visits: Sequence[dict[str, Any]]) -> StagedPart:
    """Write visits as a staged part."""
    times = [one["at"] for one in visits]
    payload = {
        "no": integers([one["no"] for one in visits]),
        "who": integers([one["id"] for one in visits]),
        "at": pa.array(times, pa.timestamp("us", tz="UTC")),
        "fee": integers([one["fee"] for one in visits]),
    }
    keys = [f'{{"no":{one["no"]}}}' for one in visits]
    return write_part(folder / "visits.parquet", "visit", keys, [one["no"] for one in visits], times, payload)


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


def shapes_with_visits() -> TableShapes:
    """Return the tables of the benchmark's model and a fact of visits."""
    tables = (person_dimension(columns=COLUMNS), visit_fact())
    return shapes(Model(name="benchmark", tables=tables), [PERSON, VISIT], parse)


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield the cases."""
    count, batch = (100_000, 10_000) if quick else (1_000_000, 100_000)
    with tempfile.TemporaryDirectory() as place, PostgresServer(settings=_SETTINGS) as server:
        folder = Path(place)
        login = {"host": "127.0.0.1", "port": server.port, "dbname": server.database}
        login |= {"user": OWNER, "password": server.password}
        yield slowly_changing(folder, login, count, batch, min(rounds, 3))
        yield bulk_facts(folder, login, count, batch, min(rounds, 3))
        yield longer_history(folder, login, count // 10, batch // 10, min(rounds, 3))
        yield first_load(folder, count)
    yield staged_messages(count // 2, min(rounds, 5))


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
    versions = f"wrong versions: ours {wrong['ours']:,}, pygrametl {wrong['pygrametl']:,}"
    note = f"{count:,} members; {versions}; fsync off, 1 GB of buffers, warm"
    return compared(
        "PostgreSQL, a batch of changes, 5 % late", pairs, unit="changes/s", target=10, note=note, is_rate=True
    )


def bulk_facts(folder: Path, login: dict[str, Any], count: int, batch: int, rounds: int) -> Case:
    """Compare the load of a batch of facts that refer to members which stand already."""
    first, _ = history(count, 0)
    chance = np.random.default_rng(11)
    visits = [
        {"no": number, "id": member, "at": _START + timedelta(minutes=2000 + number), "fee": number % 90}
        for number, member in enumerate(chance.integers(0, count, batch).tolist())
    ]
    base, more = staged(folder, "first", first), staged_visits(folder, visits)
    right: set[tuple[int, int, int]] = {(one["no"], one["id"], one["fee"]) for one in visits}
    query = "SELECT f.no, p.id, f.fee FROM visit AS f JOIN person AS p ON p.person_key = f.{key}"
    pairs = []
    for number in range(rounds):
        with PostgreSql(login, f"our facts {number}", "the warehouse") as target:
            load_parts(target, shapes_with_visits(), [base], "first", BULK)
            mine = seconds(partial(load_parts, target, shapes_with_visits(), [more], "more", BULK))
            check_facts(target.rows(query.format(key="guest_key")), right)
        baseline = Baseline(login, f"their facts {number}", first)
        theirs = seconds(partial(baseline.load_facts, baseline.facts(), visits))
        check_facts(baseline.connection.execute(query.format(key="person_key")).fetchall(), right)
        baseline.connection.close()
        pairs.append((batch / mine, batch / theirs))
    note = f"{batch:,} facts, {count:,} members; ours keeps the messages too; fsync off, 1 GB of buffers, warm"
    return compared("PostgreSQL, a batch of facts", pairs, unit="facts/s", target=1, note=note, is_rate=True)


def check_facts(found: Sequence[tuple[Any, ...]], right: set[tuple[int, int, int]]) -> None:
    """Refuse facts that are not these, each with its member.

    Raises:
        AssertionError: they are others.
    """
    if {(int(number), int(member), int(fee)) for number, member, fee in found} != right or len(found) != len(right):
        raise AssertionError("the facts are not those of the batch")


def longer_history(folder: Path, login: dict[str, Any], count: int, batch: int, rounds: int) -> Case:
    """Compare one batch of changes onto a history with the same onto one ten times as long."""
    pairs, written = [], set()
    for number in range(rounds):
        taken = []
        for times in (1, 10):
            first, changes = history(count * times, batch)
            base, more = staged(folder, "first", first), staged(folder, "more", changes)
            with PostgreSql(login, f"long {number} {times}", "the warehouse") as target:
                ours(target, [base], "first")
                taken.append(seconds(partial(ours, target, [more], "more")))
                counts = ours(target, [more], "more").tables["person"]  # what the load of that name did
                written.add((times, counts.inserted, counts.updated))
        pairs.append((taken[1], taken[0]))
    rows = "; ".join(f"{times} x: {new:,} rows new, {other:,} changed" for times, new, other in sorted(written))
    note = f"batches of {batch:,} onto {count:,} and {count * 10:,} messages; {rows}; at most 1.5 times as long"
    return compared("PostgreSQL, a history ten times as long", pairs, unit="s", target=1 / 1.5, note=note)


def first_load(folder: Path, count: int) -> Case:
    """Measure the first load of staged messages into a DuckDB file."""
    first, changes = history(count, count)
    parts = [staged(folder, "all-1", first), staged(folder, "all-2", changes)]
    with DuckDb(folder / "first.duckdb") as target:
        taken = seconds(lambda: ours(target, parts, "first"))
    note = f"{2 * count:,} staged messages of {count:,} members: {2 * count / taken:,.0f} messages/s; staging apart"
    return figure("DuckDB, first load", taken, unit="s", note=note)
