"""Drive batches where Structured Streaming cannot: on workers elsewhere, and on servers with a driver of their own.

The source of a stream plans in a Python process beside the driver and maps in the workers' Pythons; both would need
this program installed there. What is planned in the ledger and put in place under one record needs neither, so here
batches are jobs one after the other, and a killed run goes on from the same checkpoint.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from metl_gui.engine.sessions.jobs import map_source
from metl_gui.engine.sessions.runtime import Runtime
from metl_gui.engine.sources.source import ReadPlan
from metl_gui.engine.spark.cancellation import Background
from metl_gui.engine.streaming.source import BatchReader
from metl_gui.engine.tasks.task import TaskOutcome

_LOOK_SECONDS = 0.2


class BatchDriver(Protocol):
    """What drives the batches of a run, as Spark's streaming queries do."""

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        """Whether more batches may come."""
        ...

    def exception(self) -> BaseException | None:
        """Return why it ended before its time."""
        ...

    def stop(self) -> None:
        """Begin no other batch; may wait until the one that is going on is over."""
        ...


class BatchLoop:
    """Drives the batches of one run by single jobs.

    Args:
        runtime: the session.
        reader: plans the batches.
        run_id: what its jobs are cancelled by.
        after: the newest batch that is in place.
        follow: go on when the source is exhausted.
        put: puts a batch in place.
    """

    def __init__(
        self,
        runtime: Runtime,
        reader: BatchReader,
        run_id: str,
        after: int,
        put: Callable[[int, list[TaskOutcome]], None],
        *,
        follow: bool,
    ) -> None:
        self.runtime = runtime
        self.reader = reader
        self.run_id = run_id
        self.after = after
        self.put = put
        self.follow = follow
        self._is_stopped = threading.Event()
        self._work = Background(self._run, name="batches")

    @property
    def isActive(self) -> bool:  # noqa: N802 - Spark's name
        """Whether more batches may come."""
        return not self._work.is_over.is_set()

    def exception(self) -> BaseException | None:
        """Return why it ended before its time."""
        return self._work.fault

    def stop(self) -> None:
        """Begin no other batch, cancel the job that is going on, and wait for its end."""
        self._is_stopped.set()
        self.runtime.cancel_until(self.run_id, self._work.is_over)

    def _run(self) -> None:
        self.runtime.begin_group(self.run_id)
        if not self.follow:
            self.reader.planner.fix()
        while not self._is_stopped.is_set():
            number = self.reader.planner.next_batch(self.after)
            if number > self.after:
                self._do(number)
            elif self.follow:
                self._is_stopped.wait(_LOOK_SECONDS)
            else:
                return

    def _do(self, number: int) -> None:
        plan = self.reader.planner.ledger.batch(number)
        order = self.reader.order_of(plan)
        order = msgspec.structs.replace(order, plan=self.runtime.ship_plan(Path(order.plan)))
        reading = ReadPlan(plan.files, plan.tasks or [[]], topics=self.reader.topics)
        self.put(number, map_source(self.runtime, reading, order))
        self.after = number
