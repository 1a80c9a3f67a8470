"""What one task does on an executor: map the records it is given, write the parts, and return what it counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.kernel import Kernel
from metl_gui.engine.kernel.outcomes import Outcome
from metl_gui.engine.kernel.reference import Mode
from metl_gui.engine.progress import ProgressNotes
from metl_gui.engine.report import Tally
from metl_gui.engine.results import Sampler
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.engine.sinks.names import folder_name

if TYPE_CHECKING:
    from pyspark import Broadcast

SCHEMA = "outcome binary"
_ARROW = pa.schema([pa.field("outcome", pa.binary())])


class TaskOutcome(msgspec.Struct, frozen=True):
    """What one successful task attempt counted and wrote."""

    tally: Tally
    written: list[str]


@dataclass(frozen=True)
class TaskOrder:
    """What every task of a run is told.

    Args:
        run_id: names the kernel that a worker keeps between tasks.
        mode: ``test`` or ``production``.
        files: the names that places begin with, by the index of the file.
        messages, errors, samples: the partial folders; no messages for ``noop``.
        samples_wanted: how many an entity and task.
        progress: the file for progress notes.
    """

    run_id: str
    mode: Mode
    files: Sequence[str]
    messages: Path | None
    errors: Path
    samples: Path
    samples_wanted: int
    progress: str


def mapping_task(
    order: TaskOrder, plan: Broadcast[bytes]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the function for ``mapInArrow``: batches of records in, one outcome out."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None:
            raise RuntimeError("a mapping task runs on an executor only")
        task = Task(order, kernel_for(order, plan), context.partitionId(), context.attemptNumber())
        for batch in batches:
            task.map(batch)
        yield pa.RecordBatch.from_arrays([pa.array([msgspec.json.encode(task.end())], pa.binary())], schema=_ARROW)

    return run


_kernels: dict[str, Kernel] = {}
"""The kernel of the last run that this worker process served; building one costs more than a task."""


def kernel_for(order: TaskOrder, plan: Broadcast[bytes]) -> Kernel:
    """Return the kernel of a run, built on first use in this process."""
    if order.run_id not in _kernels:
        _kernels.clear()
        _kernels[order.run_id] = Kernel(plans.decode(plan.value), order.mode)
    return _kernels[order.run_id]


class Task:
    """One attempt of one task.

    Args:
        order: the run's.
        kernel: maps batches.
        number, attempt: name the parts, which keep the order of the source.
    """

    def __init__(self, order: TaskOrder, kernel: Kernel, number: int, attempt: int) -> None:
        self.order = order
        self.kernel = kernel
        self.tally = Tally()
        self.parts = JsonlParts(f"part-{number:06d}-{attempt}", (order.samples,))
        self.notes = ProgressNotes(order.progress, number, attempt)
        self.sampler = Sampler(order.samples_wanted)

    def map(self, batch: pa.RecordBatch) -> None:
        """Map one batch and write what it became."""
        names = self.order.files
        raws, offsets = _values(batch, "raw"), _values(batch, "offset")
        files = [names[file] for file in _values(batch, "file")]
        outcome = self.kernel.map(raws, files, offsets, _values(batch, "size"))
        counted = msgspec.convert(outcome.counts(), Tally)
        self.tally.add(counted)
        self._write(outcome)
        if not self.sampler.has_enough(counted.by_entity):
            self._sample(outcome, raws, [f"{file}@{offset}" for file, offset in zip(files, offsets, strict=True)])
        self.notes.note(self.tally)

    def end(self) -> TaskOutcome:
        """Write what is left and return what was counted."""
        written = self.parts.close()
        self.notes.note(self.tally, is_done=True)
        return TaskOutcome(self.tally, written)

    def _write(self, outcome: Outcome) -> None:
        if self.order.messages is not None:
            by_entity: dict[str, list[bytes]] = {}
            for entity, text in zip(outcome.entities, outcome.messages, strict=True):
                by_entity.setdefault(entity, []).append(text)
            for entity, lines in by_entity.items():
                self.parts.append(self.order.messages / folder_name(entity), lines)
        for row in outcome.set_aside:
            self.parts.append(self.order.errors / f"reason={row.reason}", [row.text])

    def _sample(self, outcome: Outcome, raws: list[bytes], places: list[str]) -> None:
        messages = zip(outcome.records, outcome.entities, outcome.messages, strict=True)
        for record, made in itertools.groupby(messages, key=itemgetter(0)):
            sent = [(entity, text) for _, entity, text in made]
            line = self.sampler.take(places[record], raws[record], sent)
            if line is not None:
                self.parts.append(self.order.samples, [line])


def _values(batch: pa.RecordBatch, column: str) -> list[Any]:
    return batch.column(column).to_pylist()
