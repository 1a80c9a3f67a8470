"""What a warehouse costs as it grows: small loads, a first load into DuckDB, one batch onto ever longer histories.

Small loads come one after another into one DuckDB file, each of 200 messages of 20 new members: what a load costs
whatever is in it. The first load is one of 10 million messages, in a process of its own, of which the most memory that
it held is told beside DuckDB's own limit. The batch of 10,000 comes onto 1, 10 and 30 million messages in PostgreSQL.
These come in blocks of a million, which are ten states each of 100,000 members; the batch names members of all blocks,
and a twentieth of its changes lie between others. How many rows it wrote is held against the rows that are others after
it.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.stack.postgres import OWNER, PostgresServer
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from tests.benchmarks.harness import Case, compared, figure, seconds
from tests.benchmarks.warehouse_parts import integers, ours, write_part

_START = datetime(2026, 1, 1, tzinfo=UTC)
_CITIES = ("Kiel", "Bonn", "Ulm", "Jena", "Hof", "Celle")
_STATES = 10
"""Of each member."""
_BETWEEN = timedelta(hours=1)
_LATE = 0.05
_SETTINGS = {"shared_buffers": "4GB", "max_wal_size": "8GB"}
_MEMORY_GIB = 4
_BESIDE_GIB = 1.0
"""How much a loader may hold beside DuckDB's own limit."""
_WANTED = 100_000
"""Messages a second of a first load, with staging."""
_LONGER = 1.5
_SMALL_MEMBERS, _SMALL_LOADS, _WARM_LOADS = 20, 40, 5


class Sizes(NamedTuple):
    """How much is loaded.

    Args:
        members: of a block, each with ten states.
        first: blocks of the first load into DuckDB.
        grown: blocks that a history has when a batch is timed.
        batch: changes of a batch.
    """

    members: int
    first: int
    grown: tuple[int, ...]
    batch: int


_SIZES = Sizes(100_000, 10, (1, 10, 30), 10_000)
_SMALL = Sizes(10_000, 3, (1, 3), 1_000)


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield the cases."""
    sizes = _SMALL if quick else _SIZES
    with tempfile.TemporaryDirectory() as place:
        yield small_loads(Path(place))
        yield from first_load(Path(place), sizes)
    with tempfile.TemporaryDirectory() as place:
        yield from longer_histories(Path(place), sizes, min(rounds, 3))


def block(folder: Path, members: int, number: int) -> StagedPart:
    """Write a block of messages as a staged part: those of its members lie behind those of blocks before."""
    keys, numbers, times = [], [], []
    for state in range(_STATES):
        for member in range(number * members, (number + 1) * members):
            keys.append(member)
            numbers.append(_place(number, state * 2, member))
            times.append(_START + state * _BETWEEN)
    return _written(folder / f"block-{number}.parquet", keys, numbers, times)


def changes(folder: Path, sizes: Sizes, blocks: int, name: int) -> tuple[StagedPart, list[int]]:
    """Write a batch of changes of members of some blocks as a staged part, and return the members."""
    chance = np.random.default_rng(name)
    members = chance.choice(blocks * sizes.members, sizes.batch, replace=False).tolist()
    late = (chance.random(sizes.batch) < _LATE).tolist()
    numbers, times = [], []
    for place, (member, is_late) in enumerate(zip(members, late, strict=True)):
        state = _STATES // 2 if is_late else _STATES + 1 + name
        number = _place(member // sizes.members, state * 2 - 1, place) if is_late else _place(blocks + name, 0, place)
        numbers.append(number)
        times.append(_START + state * _BETWEEN - timedelta(minutes=30))
    return _written(folder / f"changes-{blocks}-{name}.parquet", members, numbers, times), members


def _place(block: int, at: int, number: int) -> int:
    """Return a place in the log: blocks lie one behind another, states of a block too."""
    return (block << 64) + (at << 40) + number


def _written(path: Path, members: Sequence[int], numbers: Sequence[int], times: Sequence[datetime]) -> StagedPart:
    payload = {
        "id": integers(members),
        "city": pa.array([_CITIES[(member + number) % 6] for member, number in enumerate(numbers)]),
        "mood": pa.array(["xy"[number % 2] for number in numbers]),
    }
    return write_part(path, "person", [f'{{"id":{member}}}' for member in members], numbers, times, payload)


def small_loads(folder: Path) -> Case:
    """Measure loads of few messages into a DuckDB file."""
    parts = [block(folder, _SMALL_MEMBERS, number) for number in range(_SMALL_LOADS)]
    with DuckDb(folder / "small.duckdb") as target:
        taken, began = [], time.process_time()
        for number, part in enumerate(parts):
            if number == _WARM_LOADS:
                began = time.process_time()
            taken.append(seconds(partial(ours, target, [part], f"small {number}")))
        spent = (time.process_time() - began) / (_SMALL_LOADS - _WARM_LOADS)
    note = f"{parts[0].rows} messages of {_SMALL_MEMBERS} members each, {spent * 1e3:.0f} ms of CPU time"
    return figure("DuckDB, a small load", median(taken[_WARM_LOADS:]) * 1e3, unit="ms", target=None, note=note)


def first_load(folder: Path, sizes: Sizes) -> Iterator[Case]:
    """Measure the first load of staged messages into a DuckDB file, and the memory of the process that does it."""
    parts = [block(folder, sizes.members, number) for number in range(sizes.first)]
    count = sum(part.rows for part in parts)
    with ProcessPoolExecutor(1, get_context("spawn")) as worker:
        taken, spent, gib = worker.submit(_load_first, folder / "first.duckdb", parts).result()
    rate = f"{count / taken:,.0f} messages/s, {spent / count * 1e6:.1f} us of CPU time each; staging apart"
    note = f"{count:,} staged messages of {count // _STATES:,} members: {rate}"
    yield figure("DuckDB, first load", taken, unit="s", target=count / _WANTED, note=note)
    note = f"{gib:.2f} GiB in all, of which DuckDB may take {_MEMORY_GIB}"
    yield figure("DuckDB, memory of the loader", gib - _MEMORY_GIB, unit="GiB", target=_BESIDE_GIB, note=note)


def _load_first(path: Path, parts: Sequence[StagedPart]) -> tuple[float, float, float]:
    """Load, and return seconds, seconds of CPU time, and the most memory held, in GiB."""
    with DuckDb(path, f"{_MEMORY_GIB}GiB") as target:
        began, cpu = time.perf_counter(), time.process_time()
        report = ours(target, parts, "first")
        taken, spent = time.perf_counter() - began, time.process_time() - cpu
        if report.appended != sum(part.rows for part in parts):
            raise AssertionError("not all messages were loaded")
    return taken, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def longer_histories(folder: Path, sizes: Sizes, rounds: int) -> Iterator[Case]:
    """Time batches onto one history as it grows, against those onto its first block."""
    with PostgresServer(settings=_SETTINGS) as server:
        login = {"host": "127.0.0.1", "port": server.port, "dbname": server.database}
        login |= {"user": OWNER, "password": server.password}
        shortest: list[float] = []
        with PostgreSql(login, "grown", "the warehouse") as target:
            stands = 0
            for blocks in sizes.grown:
                for number in range(stands, blocks):
                    part = block(folder, sizes.members, number)
                    ours(target, [part], f"block {number}")
                    Path(part.path).unlink()
                stands = blocks
                times, note = _batches(target, folder, sizes, blocks, rounds)
                shortest = shortest or times
                size = f"{blocks * sizes.members * _STATES:,}"
                case, pairs = f"PostgreSQL, a history of {size}", list(zip(times, shortest, strict=True))
                yield compared(case, pairs, unit="s", target=1 / _LONGER, note=note)


def _batches(target: WarehouseTarget, folder: Path, sizes: Sizes, blocks: int, rounds: int) -> tuple[list[float], str]:
    """Time batches of changes, after one that warms caches, and count the rows that they wrote and had to write."""
    times, written, different = [], 0, 0
    for name in range(blocks * 100, blocks * 100 + rounds + 1):
        part, members = changes(folder, sizes, blocks, name)
        before = _versions(target, members)
        times.append(seconds(partial(ours, target, [part], f"changes {name}")))
        after = _versions(target, members)
        counts = _report(target, part, f"changes {name}").tables["person"]
        written += counts.inserted + counts.updated + counts.removed
        different += len({key for key, _ in before ^ after})
    if written != different:
        raise AssertionError(f"{written:,} rows were written, and {different:,} had to be")
    note = f"batches of {sizes.batch:,}, 5 % late, onto ten states each of {blocks * sizes.members:,} members; "
    note += f"median {median(times[1:]):.2f} s; {written:,} rows written, as many differ; fsync off, warm"
    return times[1:], note


def _report(target: WarehouseTarget, part: StagedPart, name: str) -> LoadReport:
    """Return what the load of that name did: done again it does nothing."""
    return ours(target, [part], name)


def _versions(target: WarehouseTarget, members: Sequence[int]) -> set[tuple[int, tuple[Any, ...]]]:
    """Return the rows of members, each with its key."""
    listed = ", ".join(map(str, members))
    return {(int(row[0]), row) for row in target.rows(f"SELECT * FROM person WHERE id IN ({listed})")}
