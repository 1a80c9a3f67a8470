"""Lanes as they would have been: what a fast lane tells four times a second, without any Spark or Kafka."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from metl_gui.core.runs.events import EngineEvent, LaneProgressed, LaneTroubled, MembersChanged, RunStarted
from metl_gui.core.runs.lanes import LatencyFigures, MemberFigures, PartitionFigures
from metl_gui.workbench.runs.production import ORDER, LiveRun, ProductionOrder, find_run
from metl_gui.workbench.session import Workbench
from tests.helpers.run_specs import changed
from tests.qt.recorded_runs import TICK, append, keep_live, tally_at

TOPICS = ("fx.customers.person", "fx.payments.orders")
_PARTITIONS = 3


def partition_at(tick: int, number: int, **more: Any) -> PartitionFigures:
    """Return how far one partition is at a tick; the lag comes and goes, and the last one is the slowest."""
    lag = round((number + 1) * 20 * (1 + math.sin(tick / 9 + number)))
    p50 = 4.0 + number + math.sin(tick / 5)
    known: dict[str, Any] = {
        "topic": TOPICS[number // _PARTITIONS],
        "partition": number % _PARTITIONS,
        "task": number % 4,
        "position": 166 * tick,
        "end": 166 * tick + lag,
        "lag": lag,
        "read": 166 * tick,
        "rate": 660.0 + 20 * math.sin(tick / 7 + number),
        "latency_ms": LatencyFigures(p50, 2.1 * p50, 3.4 * p50, 990),
    }
    return PartitionFigures(**known | more)


def lane_progress(run_id: str, tick: int, state: int = 7, **more: Any) -> LaneProgressed:
    """Return what a lane of six partitions tells at a tick."""
    parts = tuple(partition_at(tick, number) for number in range(2 * _PARTITIONS))
    whole = LatencyFigures(5.5 + math.sin(tick / 5), 12.0 + math.sin(tick / 5), 24.0 + 5 * math.sin(tick / 8), 5_900)
    known = LaneProgressed(run_id, tick * TICK, state, parts, tally_at(tick), latency=whole)
    return msgspec.structs.replace(known, **more)


def member(instance: str, state: int | None, ready_for: int | None, silent: float = 0.1, **more: Any) -> MemberFigures:
    """Return what a member said last."""
    return MemberFigures(instance=instance, state=state, ready_for=ready_for, seconds_silent=silent, **more)


def lane_course(run_id: str, ticks: int) -> list[EngineEvent]:
    """Return all that a lane tells until a tick: a change of state in its middle, with two members."""
    events: list[EngineEvent] = [
        RunStarted(run_id, 6, 0),
        MembersChanged(run_id, (member(f"{run_id}/0", 7, 7), member("other/0", 7, 7))),
    ]
    for tick in range(1, ticks + 1):
        if tick == ticks // 2:
            events.append(MembersChanged(run_id, (member(f"{run_id}/0", 7, 8), member("other/0", 7, None))))
            events.append(LaneTroubled(run_id, "127.0.0.1:29092 does not answer."))
        events.append(lane_progress(run_id, tick, 7 + (tick > ticks // 2)))
    return events


def keep_lane(workbench: Workbench, run_id: str, process_id: int, ticks: int = 40) -> LiveRun:
    """Make the run folder of a fast lane, with a process that is there for it."""
    run = keep_live(workbench, run_id, process_id)
    spec = changed(
        run.order.spec,
        source="kafka://127.0.0.1:29092/fx.customers.person,fx.payments.orders",
        sink="kafka://127.0.0.1:29092/cdm.{entity}",
        checkpoint="",
        lane="fast",
    )
    order = ProductionOrder(kept=spec.as_kept, target="local[2]", project=str(workbench.path))
    (run.folder / ORDER).write_bytes(msgspec.json.encode(order))
    append(run.folder, lane_course(run_id, ticks))
    return find_run(workbench.project_id, run_id)
