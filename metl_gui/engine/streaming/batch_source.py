"""What a run in batches reads: batches are planned when they are asked for, and tasks are told where to write."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Protocol

import msgspec

from metl_gui.engine.kafka.topic_orders import TopicReading
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.streaming.batch_records import PARTIAL
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.ledger import BatchPlan, Ledger
from metl_gui.engine.tasks.task import TaskOrder
from metl_gui.own_files import make_below, write_file


class BatchPlanner(Protocol):
    """Plans the batches of a stream, whatever is read."""

    checkpoint: Checkpoint
    ledger: Ledger

    def fix(self) -> None:
        """List the source for the last time."""
        ...

    def next_batch(self, after: int) -> int:
        """Return the number of the batch after one, or the same when none is due."""
        ...


class BatchSource:
    """The source of one run.

    Args:
        checkpoint: of the run.
        order: what every task is told; its run names the source whole, and its folders are those that the parts belong
            into.
        planner: plans the batches.
        samples_until: batches after this one keep no samples.
        topics: how topics are read; None where files are.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        order: TaskOrder,
        planner: BatchPlanner,
        samples_until: int = 0,
        topics: TopicReading | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.order = order
        self.planner = planner
        self.samples_until = samples_until
        self.topics = topics

    def reading_of(self, plan: BatchPlan) -> ReadPlan:
        """Return what the tasks of a batch read."""
        return ReadPlan(plan.files, plan.tasks or [[]], topics=self.topics)

    def order_of(self, plan: BatchPlan) -> TaskOrder:
        """Return where the parts of one attempt of a batch go; zombies of another attempt write elsewhere."""
        attempt = f"{plan.number:09d}-{secrets.token_hex(4)}"
        order = self.order

        def partial(folder: str) -> str:
            Path(folder).mkdir(parents=True, exist_ok=True)
            return str(make_below(Path(folder), (PARTIAL, attempt)))

        progress = Path(f"{order.progress}-{plan.number}")
        write_file(progress, b"")
        mapping = msgspec.structs.replace(order.run.mapping, publication=plan.plan.publication)
        return msgspec.structs.replace(
            order,
            run=msgspec.structs.replace(order.run, mapping=mapping),
            plan=str(self.checkpoint.plans / plan.plan.file),
            messages=partial(order.messages) if order.messages else None,
            errors=partial(order.errors),
            samples=partial(order.samples),
            has_samples=plan.number <= self.samples_until,
            progress=str(progress),
        )
