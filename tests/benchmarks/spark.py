"""Runs on Spark against identity ``mapInArrow`` over the same source, and against the idiomatic native plan.

The native plan reads the lines as text, parses them with ``from_json`` to maps, joins the mapping as a broadcast table
by table and columns, renames with ``transform_keys`` and writes whole messages with ``to_json``. It does less than ours
all the same: it turns numbers into strings, knows no positions in files, checks no text and counts nothing. The session
has Java's full compiler, which the native plan needs more.

A run with authentication and encryption is held against the same run without, each in a session as people start it.

Ours is the whole run: listing, our source, the kernel with every check and whole messages, the counts, the report. All
drop what they made. Before timing, the messages of a small file are compared as exact values, and the counts of the
large one. The memory of the Python workers is the highest that each of them ever had resident; a file ten times as
large must not raise it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from metl_gui.core.runs.report import RunReport
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.execution.driver import drive
from metl_gui.engine.execution.once import OnceStrategy
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.sessions.local import SparkRuntime
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import cut_ranges, list_files
from metl_gui.engine.sources.source import ReadPlan
from tests.benchmarks.harness import OPEN, ROUNDS, Case, figure, paired
from tests.benchmarks.kernel import _event, _plan
from tests.helpers.killing import WORKER
from tests.helpers.run_specs import run_spec

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MESSAGES = 1_600_000
_QUICK_MESSAGES = 200_000
_DISTINCT = 50_000
_COMPARED = 2_000
_NATIVE_TARGET = 8.0
_IDENTITY_TARGET = 0.85
_GUARDED_TARGET = 0.97
_WORKER_MIB = 512.0
_LINE = (
    "before map<string,string>, after map<string,string>, op string, ts_ms bigint, "
    "source struct<name:string, schema:string, table:string, sequence:string, lsn:bigint, ts_ms:bigint, "
    "snapshot:string>"
)


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure both pairs in one session."""
    folder = Path(tempfile.mkdtemp(prefix="metl-benchmark-"))
    try:
        runtime = SparkRuntime("local[*]", folder / "spark", java_options="")
        try:
            yield from _measured(_Bench(runtime, folder), max(rounds, ROUNDS), quick)
        finally:
            runtime.end()
        yield _guarded(folder, max(rounds, ROUNDS), quick)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(bench: _Bench, rounds: int, quick: bool) -> Iterator[Case]:
    lines = _lines(_DISTINCT)
    small = bench.write("small.jsonl", lines[:_COMPARED])
    bench.check_messages(small)
    count = _QUICK_MESSAGES if quick else _MESSAGES
    large = bench.write("large.jsonl", lines * (count // _DISTINCT))
    report = bench.ours(large)
    bench.check_counts(large, report)
    yield figure(
        "memory of a worker that maps",
        bench.worker_mib(),
        unit="MiB",
        target=_WORKER_MIB,
        note="the highest ever resident",
    )
    note = f"{report.read} records of {report.bytes_in / report.read:.0f} bytes, local[*], messages dropped"
    pairs: tuple[tuple[str, Callable[[Path], object], float | None], ...] = (
        ("run, identity mapInArrow as baseline", bench.identity, _IDENTITY_TARGET),
        ("run, native plan as baseline", bench.native, _NATIVE_TARGET),
    )
    for name, baseline, target in pairs:
        yield paired(
            name,
            lambda: bench.ours(large),
            lambda baseline=baseline: baseline(large),  # type: ignore[misc]  # bound now, not in the next round
            unit="us a record",
            per=1e6 / report.read,
            target=target,
            rounds=rounds,
            note=note,
        )


def _guarded(folder: Path, rounds: int, quick: bool) -> Case:
    """Compare a run in a session whose ports ask for a secret with the same one in an open session."""
    lines = _lines(_DISTINCT)
    source = folder / "guarded.jsonl"
    source.write_bytes(b"\n".join(lines * ((_QUICK_MESSAGES if quick else _MESSAGES) // _DISTINCT)) + b"\n")
    plan = plans.encode(_flat(_plan()))

    def run(session: SparkProcess) -> RunReport:
        run_id = new_run_id()
        place = str(folder / run_id)
        return session.run(run_spec(run_id=run_id, plan=plan, source=str(source), sink="noop", folder=place, samples=0))

    with SparkProcess("local[*]") as guarded, SparkProcess(OPEN) as unguarded:
        guarded.wait_until_ready()
        unguarded.wait_until_ready()
        report, other = run(guarded), run(unguarded)
        if (report.read, report.by_entity) != (other.read, other.by_entity):
            raise AssertionError(f"different work: {report.by_entity} here, {other.by_entity} there")
        return paired(
            "run, without authentication and encryption as baseline",
            lambda: run(guarded),
            lambda: run(unguarded),
            unit="us a record",
            per=1e6 / report.read,
            target=_GUARDED_TARGET,
            rounds=rounds,
            note=f"{report.read} records, local[*], messages dropped",
        )


class RawRecords(DataSource):
    """The source of ours without the mapping: raw records, by the same ranges and the same reader."""

    @classmethod
    def name(cls) -> str:
        return "raw_records"

    def schema(self) -> str:
        return "file int, offset bigint, size bigint, raw binary"

    def reader(self, schema: object) -> DataSourceReader:  # noqa: ARG002 - Spark's interface
        return _RawReader(msgspec.json.decode(self.options["reading"], type=ReadPlan))


class _RawReader(DataSourceReader):
    def __init__(self, reading: ReadPlan) -> None:
        self.reading = reading

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(len(self.reading.tasks))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for batch in read_batches(self.reading.files, self.reading.tasks[partition.value]):
            records = batch.records
            columns: list[pa.Array[Any]] = [
                pa.array([batch.file] * len(records), pa.int32()),
                pa.array(records.offsets, pa.int64()),
                pa.array(records.lengths if records.sizes is None else records.sizes, pa.int64()),
                pa.array(list(records), pa.binary()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["file", "offset", "size", "raw"])


class _Bench:
    """What is measured.

    Args:
        runtime: the session.
        folder: for the files.
    """

    def __init__(self, runtime: SparkRuntime, folder: Path) -> None:
        self.runtime = runtime
        self.folder = folder
        self.plan = _flat(_plan())
        runtime.spark.dataSource.register(RawRecords)
        self.mapping = runtime.spark.createDataFrame(
            _mapping_rows(self.plan),
            "place string, entity string, entity_version string, version string, key array<string>, "
            "names map<string,string>",
        )

    def write(self, name: str, lines: list[bytes]) -> Path:
        path = self.folder / name
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    def ours(self, path: Path, sink: str = "noop") -> RunReport:
        run_id = new_run_id()
        spec = run_spec(
            run_id=run_id, plan=plans.encode(self.plan), source=str(path), sink=sink, folder=str(self.folder / run_id)
        )
        return drive(OnceStrategy(RunContext(self.runtime, spec, lambda _event: None)))

    def worker_mib(self) -> float:
        """Return the most memory that any Python worker of the session ever had resident."""
        return max(_resident_mib(process) for process in _below(os.getpid()) if _is_worker(process))

    def read(self, path: Path) -> DataFrame:
        reading = msgspec.json.encode(ReadPlan(*cut_ranges(list_files(str(path))))).decode()
        return self.runtime.spark.read.format(RawRecords.name()).option("reading", reading).load()

    def identity(self, path: Path) -> None:
        records = self.read(path)
        records.mapInArrow(_same, records.schema).write.format("noop").mode("overwrite").save()

    def native_plan(self, path: Path) -> DataFrame:
        from pyspark.sql import functions as f

        parsed = self.runtime.spark.read.text(str(path)).select(f.from_json("value", _LINE).alias("m"))
        change = parsed.select(
            f.coalesce("m.after", "m.before").alias("row"),
            f.concat_ws(".", "m.source.name", "m.source.schema", "m.source.table").alias("schema"),
            f.struct("m.source.sequence", "m.source.lsn").alias("origin"),
            f.col("m.source.ts_ms").alias("committed_at_ms"),
            (f.col("m.source.snapshot") != "false").alias("snapshot"),
            "m.op",
            "m.ts_ms",
        )
        place = f.concat_ws(",", f.col("schema"), f.array_sort(f.map_keys("row")))
        joined = change.withColumn("place", place).join(f.broadcast(self.mapping), "place")
        key = f.map_filter("row", lambda name, _value: f.array_contains("key", name))
        message = f.struct(
            "entity",
            f.col("entity_version").alias("version"),
            f.lit(self.plan.state).alias("state"),
            "op",
            f.transform_keys(key, _renamed).alias("key"),
            "ts_ms",
            f.struct("schema", "version", "origin", "committed_at_ms", "snapshot").alias("source"),
            f.transform_keys("row", _renamed).alias("payload"),
        )
        return joined.select("entity", f.to_json(message).alias("message"))

    def native(self, path: Path) -> None:
        self.native_plan(path).write.format("noop").mode("overwrite").save()

    def check_messages(self, path: Path) -> None:
        """Fail unless both make the same messages, positions and nulls apart, in exact values and in order."""
        out = self.folder / "out"
        self.ours(path, str(out))
        theirs: dict[str, list[dict[str, Any]]] = {}
        for entity, message in self.native_plan(path).collect():
            theirs.setdefault(entity, []).append(_exact(message))
        mine = {
            entity.name: [_exact(line) for part in sorted(entity.iterdir()) for line in part.read_bytes().splitlines()]
            for entity in out.iterdir()
        }
        if sum(map(len, mine.values())) != _COMPARED or mine.keys() != theirs.keys():
            raise AssertionError("not every record became a message")
        for entity, messages in mine.items():
            for ours, native in zip(messages, theirs[entity], strict=True):
                del ours["source"]["position"]
                _check_equal(ours, native)

    def check_counts(self, path: Path, report: RunReport) -> None:
        """Fail unless all three read the same and ours and native send as much to each entity."""
        native = {row[0]: row[1] for row in self.native_plan(path).groupBy("entity").count().collect()}
        read, size = self.read(path).selectExpr("count(*)", "sum(length(raw))").collect()[0]
        if (report.read, report.bytes_in, report.by_entity) != (read, size, native):
            here = report.read, report.bytes_in, report.by_entity
            raise AssertionError(f"different work: {here} here, {(read, size, native)} there")


def _below(process: int) -> Iterator[int]:
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from _below(child)


def _is_worker(process: int) -> bool:
    return WORKER.encode() in Path(f"/proc/{process}/cmdline").read_bytes()


def _resident_mib(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _renamed(name: Column, _value: Column) -> Column:
    from pyspark.sql import functions as f

    return f.col("names")[name]


def _exact(message: str | bytes) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(message, parse_float=Decimal, parse_int=Decimal)
    return parsed


def _check_equal(ours: dict[str, Any], native: dict[str, Any]) -> None:
    """Compare one message or one part of it, nulls apart: the native plan writes numbers of rows as text."""
    present = {name: value for name, value in ours.items() if value is not None}
    theirs = {name: value for name, value in native.items() if value is not None}
    if present.keys() != theirs.keys():
        raise AssertionError(f"different members: {present} here, {theirs} there")
    for name, value in present.items():
        if isinstance(value, dict):
            _check_equal(value, theirs[name])
        elif value != (Decimal(theirs[name]) if isinstance(value, Decimal) else theirs[name]):
            raise AssertionError(f"different {name}: {value} here, {theirs[name]} there")


def _lines(count: int) -> list[bytes]:
    """Make changes that carry a whole row: the native plan knows nothing of the key of a delete."""
    dice = random.Random(7)
    events = (_event(dice, number % count, count) for number in range(count * 2))
    return [event.envelope for event in events if event.op != "d"][:count]


def _flat(plan: Plan) -> Plan:
    """Give every element a CDM path without dots: ``transform_keys`` makes no nested objects."""
    replace = msgspec.structs.replace
    schemas = []
    for schema in plan.schemas:
        versions = []
        for version in schema.versions:
            blocks = tuple(
                replace(block, targets=tuple((source, target.replace(".", "_")) for source, target in block.targets))
                for block in version.blocks
            )
            versions.append(replace(version, blocks=blocks))
        schemas.append(replace(schema, versions=tuple(versions)))
    return replace(plan, schemas=tuple(schemas))


def _mapping_rows(plan: Plan) -> list[tuple[str, str, str, str, list[str], dict[str, str]]]:
    return [
        (
            ",".join([schema.name, *sorted(version.paths)]),
            block.entity,
            block.entity_version,
            # A row fits every later version that has its columns and more; the newest counts
            # (docs/reference/formats.md, "Which version a record has").
            [other.label for other in schema.versions if set(version.paths) <= set(other.paths)][-1],
            list(version.key or ()),
            dict(block.targets),
        )
        for schema in plan.schemas
        for version in schema.versions
        for block in version.blocks
    ]


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
