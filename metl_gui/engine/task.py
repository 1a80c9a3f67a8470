"""What one task does on an executor: map the records it is given, write the parts, and return what it counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from metl_gui.engine.progress import ProgressNotes
from metl_gui.engine.report import Tally
from metl_gui.engine.sinks.jsonl import JsonlParts

if TYPE_CHECKING:
    from pyspark import Broadcast

SCHEMA = "outcome binary"
_ARROW = pa.schema([("outcome", pa.binary())])


class TaskOutcome(msgspec.Struct, frozen=True):
    """What one successful task attempt counted and wrote."""

    tally: Tally
    written: list[str]


@dataclass(frozen=True)
class TaskOrder:
    """What every task of a run is told.

    Args:
        run_id: names the kernel that a worker keeps between tasks.
        plan: the serialised plan, as Spark hands it out.
        mode: ``test`` or ``production``.
        files: the names that positions begin with, by the index of the file.
        messages, errors: the partial folders; no messages for ``noop``.
        progress: the file for progress notes.
    """

    run_id: str
    plan: Broadcast[bytes]
    mode: str
    files: Sequence[str]
    messages: Path | None
    errors: Path
    progress: str


def mapping_task(order: TaskOrder) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the function for ``mapInArrow``: batches of records in, one outcome out."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            raise RuntimeError("a mapping task runs on an executor only")
        notes = ProgressNotes(order.progress, context.partitionId(), context.attemptNumber())
        part = JsonlParts(order.messages, order.errors, f"part-{context.partitionId():06d}-{context.attemptNumber()}")
        outcome = map_batches(order, batches, part, notes)
        yield pa.RecordBatch.from_arrays([pa.array([msgspec.json.encode(outcome)], pa.binary())], schema=_ARROW)

    return run


def map_batches(
    order: TaskOrder, batches: Iterator[pa.RecordBatch], part: JsonlParts, notes: ProgressNotes
) -> TaskOutcome:
    """Map all batches of a task."""
    tally = Tally()
    for batch in batches:
        raws = batch.column("raw").to_pylist()
        size = sum(map(len, raws))
        part.send("raw", raws, size)
        tally.add(
            Tally(
                read=len(raws),
                mapped=len(raws),
                messages_out=len(raws),
                bytes_in=size,
                bytes_out=size,
                by_entity={"raw": len(raws)},
            )
        )
        notes.note(tally)
    notes.note(tally, is_done=True)
    return TaskOutcome(tally, part.close())
