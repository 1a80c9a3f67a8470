"""The Spark job of a lane: one long-lived task for each number, placed and started again by Spark."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from metl_gui.engine.spark.cancellation import Background

if TYPE_CHECKING:
    from metl_gui.engine.lanes.order import LaneOrder
    from metl_gui.engine.sessions.runtime import Runtime

_log = logging.getLogger(__name__)


class LaneByNumber:
    """What a task does: belongs to the lane under its number.

    Args:
        order: the lane's, serialised; with secrets, so it travels with the job only.
    """

    def __init__(self, order: bytes) -> None:
        self.order = order

    def __call__(self, number: int) -> bytes:
        """Map until the lane ends; there is nothing to return."""
        from metl_gui.engine.lanes.order import LaneOrder
        from metl_gui.engine.lanes.task import LaneTask
        from metl_gui.engine.tasks.source_task import plan_file

        order = msgspec.json.decode(self.order, type=LaneOrder)
        LaneTask(order, number, plan_file(order.plan).read_bytes()).run()
        return b""

    def __repr__(self) -> str:
        """Leave the secrets out of whatever is logged."""
        return "LaneByNumber()"


class LaneJob(Background[list[bytes]]):
    """The job of a lane on a thread of its own.

    Args:
        runtime: the session.
        order: the lane's.
        tasks: how many there are.
    """

    def __init__(self, runtime: Runtime, order: LaneOrder, tasks: int) -> None:
        self.runtime = runtime
        self.order = order
        self.tasks = tasks
        super().__init__(self._map, name="lane-job")

    def end_after(self, seconds: float) -> None:
        """Wait so long for its end, then have Spark end it."""
        if self.is_over.wait(seconds):
            return
        _log.warning("the tasks of the lane do not end by themselves")
        self.runtime.cancel_until(self.order.run_id, self.is_over)

    def _map(self) -> list[bytes]:
        self.runtime.begin_group(self.order.run_id)
        return self.runtime.run_tasks(LaneByNumber(msgspec.json.encode(self.order)), self.tasks)
