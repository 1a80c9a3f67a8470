"""The loop over the batches of a run: plan the next one, map it by one job of Spark, have it put in place.

What is planned stands in the ledger before it is read, and what is in place stands under one record, so a run that was
killed goes on from its checkpoint whatever Spark knows of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec

from metl_gui.engine.sessions.jobs import map_source
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.spark.cancellation import Background
from metl_gui.engine.streaming.batch_source import BatchSource
from metl_gui.engine.tasks.task import TaskOutcome

PutBatch: TypeAlias = Callable[[int, list[TaskOutcome], float], None]
"""Puts a batch in place: its number, what its tasks told, and when it began."""

_REST_SECONDS = 0.1
"""How often a following run looks for more."""


class BatchLoop(Background[None]):
    """Maps batch after batch on a thread of its own, until the source is exhausted or it is stopped.

    Args:
        run: the run.
        source: plans its batches.
        after: number of the newest batch that is in place.
        put: puts a batch in place.
    """

    def __init__(self, run: RunContext, source: BatchSource, after: int, put: PutBatch) -> None:
        self.run = run
        self.source = source
        self.after = after
        self.put = put
        self._is_stopped = threading.Event()
        super().__init__(self._loop, name="batches")

    def stop(self) -> None:
        """Begin no other batch."""
        self._is_stopped.set()

    def cancel(self) -> None:
        """Have Spark end the batch that is going on, without waiting for it."""
        self.end(partial(self.run.runtime.cancel_until, self.run.run_id))

    def _loop(self) -> None:
        self.run.runtime.begin_group(self.run.run_id)
        planner, follow = self.source.planner, self.run.spec.source.follow
        if not follow:
            planner.fix()
        while not self._is_stopped.is_set():
            number = planner.next_batch(self.after)
            if number > self.after:
                self._map_batch(number)
            elif follow:
                self._is_stopped.wait(_REST_SECONDS)
            else:
                return

    def _map_batch(self, number: int) -> None:
        began = time.monotonic()
        plan = self.source.planner.ledger.batch(number)
        order = self.source.order_of(plan)
        order = msgspec.structs.replace(order, plan=self.run.runtime.ship_plan(Path(order.plan)))
        self.put(number, map_source(self.run.runtime, self.source.reading_of(plan), order), began)
        self.after = number
