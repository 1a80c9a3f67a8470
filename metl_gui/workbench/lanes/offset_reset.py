"""Lanes that are set back: said first with what will be repeated, then done between two transactions of their tasks.

Source: METL §3.4 (setting back offsets).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.values import Value
from metl_gui.workbench.lanes.control import Lane, fold_of

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import PartitionReset
    from metl_gui.engine.lanes.offset_reset import LaneGroup

_LOOK_SECONDS = 0.1
_OBEY_SECONDS = 30.0


class OffsetResetPlan(Value):
    """What setting a lane back will repeat; nothing is done yet.

    Args:
        lane: the lane.
        to: where, as it was asked.
        partitions: each partition in which the lane has committed anything and that was asked for.
        is_live: it runs, and its tasks obey between two transactions.
    """

    lane: Lane
    to: str
    partitions: tuple[PartitionReset, ...]
    is_live: bool

    @property
    def records(self) -> int:
        """How many records are repeated at most."""
        return sum(back.records for back in self.partitions)

    def as_json(self) -> dict[str, Any]:
        """Return what ``metl lane set-back`` prints."""
        return {
            "run_id": self.lane.run_id,
            "to": self.to,
            "live": self.is_live,
            "records": self.records,
            "partitions": [
                {
                    "topic": back.topic,
                    "partition": back.partition,
                    "position": back.position,
                    "to": back.to,
                    "records": back.records,
                    "from_ms": back.from_ms,
                    "gone": back.gone,
                }
                for back in self.partitions
            ],
        }

    def do(self, watch: Watch = UNWATCHED, seconds: float = _OBEY_SECONDS) -> OffsetResetResult:
        """Set the lane back, and wait until its tasks have obeyed.

        Args:
            watch: progress and cancel of the waiting; orders that were given stay.
            seconds: how long to wait at most.

        Raises:
            RunError: the servers do not answer, somebody else is at work in the group, or the lane has moved on.
        """
        from metl_gui.engine.lanes import offset_reset

        group, end = _group(self.lane), time.monotonic() + seconds
        if not _obeys(self.lane):
            self._alter(watch, end)
            return OffsetResetResult(self, sum(1 for back in self.partitions if back.records), 0)
        orders = offset_reset.order_back(group, self.partitions)
        left = orders
        while left:
            left = offset_reset.unobeyed(fold_of(self.lane.servers, self.lane.matrix), group.group, orders)
            watch.tell("Waiting for the tasks to go back", len(orders) - len(left), len(orders))
            if time.monotonic() > end or watch.is_cancelled:
                break
            time.sleep(_LOOK_SECONDS)
        return OffsetResetResult(self, len(orders) - len(left), len(left))

    def _alter(self, watch: Watch, end: float) -> None:
        """Alter the offsets of a lane that has ended, as soon as Kafka has let go of its tasks."""
        from metl_gui.engine.lanes.offset_reset import GroupInUseError, alter_offsets

        while True:
            try:
                return alter_offsets(_group(self.lane), self.partitions)
            except GroupInUseError:
                watch.step("Waiting for Kafka to let go of the tasks that have ended")
                if time.monotonic() > end:
                    raise
                time.sleep(_LOOK_SECONDS)


class OffsetResetResult(Value):
    """A lane that was set back.

    Args:
        plan: what was to be done.
        done: partitions that stand there now.
        waiting: partitions whose task has the order and has not obeyed yet.
    """

    plan: OffsetResetPlan
    done: int
    waiting: int


def repeated_since(lane: Lane) -> tuple[PartitionReset, ...]:
    """Return what was mapped since the state that is in force was taken up: what setting back to there would repeat.

    Returns:
        Nothing where the lane kept no such place.

    Raises:
        RunError: the servers do not answer.
    """
    from metl_gui.engine.lanes.offset_reset import STATE, partitions_back

    agreed = lane.agreement
    if agreed is None or agreed.in_force is None or agreed.in_force not in agreed.taken_up.get(lane.group, ()):
        return ()
    return partitions_back(_group(lane), f"{STATE}{agreed.in_force}")


def set_back(lane: Lane, to: str) -> OffsetResetPlan:
    """Return what setting a lane back would repeat; ``do`` of the result does it.

    Args:
        lane: the lane, alive or not.
        to: ``earliest``, a time in ISO 8601, ``topic/partition/offset`` with commas between, or ``state:N``: where the
            lane took up state N the last time.

    Raises:
        RunError: the servers do not answer, or it cannot be read.
    """
    from metl_gui.engine.lanes.offset_reset import partitions_back

    return OffsetResetPlan(lane, to, partitions_back(_group(lane), to), _obeys(lane))


def _obeys(lane: Lane) -> bool:
    """Whether tasks of a lane live that obey, or come again as its process lives."""
    from metl_gui.engine.lanes.offset_reset import lives

    return lane.run.is_alive or lives(_group(lane))


def _group(lane: Lane) -> LaneGroup:
    from metl_gui.engine.lanes.offset_reset import LaneGroup

    return LaneGroup(
        servers=lane.servers,
        matrix=lane.matrix,
        group=lane.group,
        source=lane.run.order.spec.source.address,
    )
