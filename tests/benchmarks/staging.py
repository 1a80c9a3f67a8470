"""Messages that exist, staged for a warehouse: from Parquet against the same messages as lines of JSON.

Both are cut as a run cuts them and staged by two processes that stand already, as tasks of Spark do; the parts, which
any target takes, are compared before timing. The messages are those of ``sinks``, with values of many types.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.jsonl import JsonlSink
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import FileRange, SourceFile, cut_ranges, list_files
from metl_gui.engine.sources.typed_files import TypedFileSource, list_typed, read_typed
from metl_gui.engine.staging.messages import MessageStager, StagedBatch
from metl_gui.engine.staging.sink import stage_parts
from metl_gui.engine.staging.typed_messages import TypedStager
from metl_gui.engine.tasks.staging_attempt import StagingAttempt
from tests.benchmarks.harness import Case, compared, seconds
from tests.benchmarks.kernel_loads import envelope
from tests.benchmarks.sinks import ORDER_COLUMNS, order_plan, order_row

Kind = Literal["parquet", "jsonl"]
KINDS: tuple[Kind, ...] = ("parquet", "jsonl")
_CORES = 2
_BATCH = 5_000
_CHUNK_BYTES = StagingAttempt.chunk_bytes
_ASKED = 250_000
"""Messages a second from Parquet, on two cores."""

_TYPES = {
    **dict.fromkeys(("id", "customer"), "integer"),
    "amount": "decimal(38,2)",
    "fee": "decimal(38,4)",
    "rate": "float",
    "is_paid": "boolean",
    "day": "date",
    "booked": "timestamp",
    "seen": "instant",
    "tags": "json",
}
PLAN = order_plan()
HISTORY = EntityHistory(
    "order",
    ("id",),
    tuple(
        HistoryColumn(name, one.path, _TYPES.get(name, "text"), {"2": one.path})
        for one in ORDER_COLUMNS
        for name in (one.path.rpartition(".")[2],)
    ),
)


def staged_messages(count: int, rounds: int) -> Case:
    """Compare the staging of the same messages from Parquet and from JSON.

    Args:
        count: of messages.
        rounds: pairs.
    """
    with tempfile.TemporaryDirectory() as place, ProcessPoolExecutor(_CORES, get_context("spawn")) as workers:
        folder = Path(place)
        size = write_messages(folder, count)
        spent: dict[str, float] = defaultdict(float)
        stage = partial(_stage, folder, workers, spent)
        list(workers.map(warm, range(_CORES)))
        typed, lines = (_rows(stage(kind)) for kind in KINDS)
        if typed.num_rows != count or not typed.equals(lines):
            raise AssertionError("what is staged from Parquet is not what is staged from JSON")
        spent.clear()
        pairs = [
            (count / seconds(partial(stage, "parquet")), count / seconds(partial(stage, "jsonl")))
            for _ in range(rounds)
        ]
    mine, theirs = (spent[kind] / rounds / count * 1e6 for kind in KINDS)
    note = (
        f"{count:,} messages of {size:.0f} bytes, 13 attributes, two processes; {mine:.2f} us of CPU time a message "
        f"against {theirs:.2f} from JSON lines, the baseline; asked: {_ASKED:,} messages/s"
    )
    return compared("staging of messages in Parquet", pairs, unit="messages/s", target=None, note=note, is_rate=True)


def write_messages(folder: Path, count: int) -> float:
    """Write messages in both forms, and return the bytes of one in JSON."""
    dice, kernel = random.Random(7), Kernel(PLAN)
    typed, lines = folder / "parquet", folder / "jsonl"
    for place in (typed, lines):
        place.mkdir()
    sinks = ParquetSink(typed, "part", PLAN), JsonlSink(lines, "part")
    size = 0
    for start in range(0, count, _BATCH):
        raws = [envelope(n, "orders", order_row(dice, n)) for n in range(start, min(start + _BATCH, count))]
        outcome = kernel.map(Records.of(raws, "fx.jsonl"))
        size += len(outcome.text)
        for sink in sinks:
            if sink.append(outcome):
                raise AssertionError("a record was refused")
    for sink in sinks:
        sink.close()
    return size / count


def _stage(folder: Path, workers: Executor, spent: dict[str, float], kind: Kind) -> list[str]:
    """Stage all messages of a form, and return the parts."""
    source = str(folder / kind)
    if kind == "parquet":
        files, tasks = TypedFileSource(list_typed(source), PLAN).cut(None, _CORES)
    else:
        files, tasks = cut_ranges(list_files(source), None, _CORES)
    out = Path(tempfile.mkdtemp(prefix="staged-", dir=folder))
    done = [workers.submit(stage_task, kind, files, task, str(out), number) for number, task in enumerate(tasks)]
    results = [one.result() for one in done]
    spent[kind] += sum(cpu for _, cpu in results)
    return [part for parts, _ in results for part in parts]


def warm(number: int) -> None:
    """Have a worker load what it needs, and leave the other one its share."""
    time.sleep(0.1 + number / 100)


def stage_task(
    kind: Kind, files: Sequence[SourceFile], ranges: Sequence[FileRange], out: str, number: int
) -> tuple[list[str], float]:
    """Stage some ranges as a task does, and return the parts and the seconds of CPU time."""
    begun = time.process_time()
    parts = stage_parts(Path(out), f"part-{number}")
    for staged in _staged(kind, files, ranges):
        if staged.set_aside:
            raise AssertionError("a message was set aside")
        for entity, table in staged.tables:
            parts.hold(entity, table)
    return parts.close(), time.process_time() - begun


def _staged(kind: Kind, files: Sequence[SourceFile], ranges: Sequence[FileRange]) -> Iterator[StagedBatch]:
    if kind == "parquet":
        typed = TypedStager(PLAN, (HISTORY,))
        yield from (typed.stage(batch)[0] for batch in read_typed(files, ranges, PLAN))
    else:
        lines = MessageStager(PLAN, (HISTORY,))
        batches = read_batches(files, ranges, chunk_bytes=_CHUNK_BYTES)
        yield from (lines.stage(batch.records) for batch in batches)


def _rows(parts: Sequence[str]) -> pa.Table:
    """Return what stands in parts, in the order of its places."""
    stored: Any = pa.concat_tables(pq.ParquetFile(path).read() for path in parts)
    return stored.sort_by("position_offset").combine_chunks()  # type: ignore[no-any-return]  # the stubs do not know it
