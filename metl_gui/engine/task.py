"""What one task does on an executor: map the records it is given, write the parts, and return what it counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path

import msgspec

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.kernel import Kernel
from metl_gui.engine.kernel.outcomes import Outcome
from metl_gui.engine.kernel.reference import Mode
from metl_gui.engine.progress import ProgressNotes
from metl_gui.engine.report import Tally
from metl_gui.engine.results import Sampler
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.engine.sinks.names import folder_name
from metl_gui.engine.sources.batches import Batch


class TaskOutcome(msgspec.Struct, frozen=True):
    """What one successful task attempt counted and wrote."""

    tally: Tally
    written: list[str]


class TaskOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What every task of a run is told, with paths that all executors share.

    Args:
        run_id: names the kernel that a worker keeps between tasks.
        plan: the file that holds the plan: it may be too long to send with every task.
        mode: ``test`` or ``production``.
        is_replay: the records were set aside before.
        messages, errors, samples: the partial folders; no messages for ``noop``.
        samples_wanted: how many an entity and task.
        progress: the file for progress notes.
    """

    run_id: str
    plan: str
    mode: Mode
    is_replay: bool = False
    messages: str | None
    errors: str
    samples: str
    samples_wanted: int
    progress: str


_kernels: dict[str, Kernel] = {}
"""The kernel of the last run that this worker process served; building one costs more than a task."""


def kernel_for(order: TaskOrder, plan: Callable[[], bytes]) -> Kernel:
    """Return the kernel of a run, built on first use in this process."""
    if order.run_id not in _kernels:
        _kernels.clear()
        _kernels[order.run_id] = Kernel(plans.decode(plan()), order.mode, is_replay=order.is_replay)
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
        self.messages = Path(order.messages) if order.messages else None
        self.errors, self.samples = Path(order.errors), Path(order.samples)
        self.parts = JsonlParts(f"part-{number:06d}-{attempt}", (self.samples,))
        self.notes = ProgressNotes(order.progress, number, attempt)
        self.sampler = Sampler(order.samples_wanted)

    def map(self, file: str, batch: Batch) -> None:
        """Map one batch and write what it became.

        Args:
            file: the name of its file as positions say it, where the batch has none of its own.
            batch: the records.
        """
        names = batch.names or [file] * len(batch.raws)
        outcome = self.kernel.map(batch.raws, names, batch.offsets, batch.sizes)
        counted = msgspec.convert(outcome.counts(), Tally)
        self.tally.add(counted)
        self._write(outcome)
        if not self.sampler.has_enough(counted.by_entity):
            self._sample(outcome, names, batch)
        self.notes.note(self.tally)

    def end(self) -> TaskOutcome:
        """Write what is left and return what was counted."""
        written = self.parts.close()
        self.notes.note(self.tally, is_done=True)
        return TaskOutcome(self.tally, written)

    def _write(self, outcome: Outcome) -> None:
        if self.messages is not None:
            by_entity: dict[str, list[bytes]] = {}
            for entity, text in zip(outcome.entities, outcome.messages, strict=True):
                by_entity.setdefault(entity, []).append(text)
            for entity, lines in by_entity.items():
                self.parts.append(self.messages / folder_name(entity), lines)
        for row in outcome.set_aside:
            self.parts.append(self.errors / f"reason={row.reason}", [row.text])

    def _sample(self, outcome: Outcome, names: Sequence[str], batch: Batch) -> None:
        messages = zip(outcome.records, outcome.entities, outcome.messages, strict=True)
        for record, made in itertools.groupby(messages, key=itemgetter(0)):
            sent = [(entity, text) for _, entity, text in made]
            line = self.sampler.take(f"{names[record]}@{batch.offsets[record]}", batch.raws[record], sent)
            if line is not None:
                self.parts.append(self.samples, [line])
