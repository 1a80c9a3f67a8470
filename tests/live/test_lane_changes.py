"""States change while records flow: every message names its state, and no partition goes back, loses or repeats any."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from functools import partial
from typing import Self

import msgspec
import pytest

from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination.announcements import announce, announce_again, begin_lane
from metl_gui.engine.lanes.coordination.coordinator import CoordinationWatch
from metl_gui.stack.kafka import KafkaBroker
from tests.helpers.lanes import LaneThreads, LaneWorld, again, change, order_plan, until
from tests.helpers.run_specs import changed

pytestmark = pytest.mark.live


class Flow:
    """Records that are sent while a ``with`` block lasts."""

    def __init__(self, world: LaneWorld) -> None:
        self.world = world
        self.count = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _send(self) -> None:
        while not self._is_over.wait(0.02):
            self.world.send(change(number) for number in range(self.count, self.count + 40))
            self.count += 40


def plan_state(world: LaneWorld, state: int) -> PlanState:
    plan = order_plan(world.source, state)
    return PlanState(state=state, hash=f"hash{state}", plan=plan, publication=state)


def positions(world: LaneWorld) -> int:
    """Return how many records of the source are behind, in all partitions."""
    return sum(one.offset for one in world.committed.offsets().values())


def test_two_instances_go_through_states_together_amid_the_flow_and_no_partition_loses_repeats_or_goes_back(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=4)
    plan = order_plan(world.source)
    first = world.order(plan, matrix=own_name)
    run = changed(first.run, run_id=f"other-{own_name}")
    second = msgspec.structs.replace(first, run=run, token=f"other {first.token}")
    states = {state: plan_state(world, state) for state in (7, 8, 9)}
    watch = CoordinationWatch(kafka.servers, own_name)

    def all_map_with(state: int) -> bool:
        members = watch.members()
        return len(members) == 2 and all(one.state == state for one in members)

    def are_behind(count: int) -> bool:
        return positions(world) >= count

    with LaneThreads(first, plan), LaneThreads(second, plan), Flow(world) as flow:
        until(lambda: all_map_with(7) and are_behind(500), "the first state")
        for state, announced in ((8, announce), (9, announce), (7, announce_again)):
            assert announced(kafka.servers, own_name, states[state])
            until(partial(all_map_with, state), f"state {state}")
            until(partial(are_behind, positions(world) + 400), "more records")
        flow.end()
        until(lambda: are_behind(flow.count), "the last record")
    watch.close()

    assert courses(world, flow) == ["7897"] * 4


def courses(world: LaneWorld, flow: Flow) -> list[str]:
    """Return the states that each partition went through; every record of the flow has one message."""
    found = world.sent(world.sink)
    assert not again(found)
    assert sorted(one.document["payload"]["own"]["id"] for one in found) == list(range(flow.count))
    assert all(one.document["state"] == int(one.headers["metl.state"]) for one in found)
    by_partition = defaultdict(list)
    for one in found:
        partition, offset = one.position.rsplit("/", 1)
        by_partition[partition].append((int(offset), one.headers["metl.state"]))
    states = (itertools.groupby(state for _, state in sorted(mapped)) for mapped in by_partition.values())
    return ["".join(state for state, _ in course) for course in states]


def lane_of(world: LaneWorld, state: int, number: int) -> LaneThreads:
    """Return a lane as it is started with a state: that is announced first."""
    planned = plan_state(world, state)
    run = f"run{number}-{world.name}"
    order = world.order(planned.plan, state, run_id=run, token=run, publication=state)
    begin_lane(world.servers, world.name, order.group, planned)
    return LaneThreads(msgspec.structs.replace(order, run=changed(order.run, matrix=world.name)), planned.plan)


def test_lanes_started_with_different_states_map_with_the_newest_and_none_goes_back_to_an_older_one(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=4)
    watch = CoordinationWatch(kafka.servers, own_name)

    def map_with(state: int, count: int) -> bool:
        members = [one for one in watch.members() if one.is_alive]
        return [one.state for one in members] == [state] * count

    with lane_of(world, 7, 0), Flow(world) as flow:
        until(partial(map_with, 7, 1), "the first state")
        until(lambda: positions(world) >= 300, "records of the first lane")
        with lane_of(world, 8, 1):
            until(partial(map_with, 8, 2), "the newer state in both lanes")
            with lane_of(world, 7, 2):
                until(partial(map_with, 8, 3), "the newer state in the lane that was started with the older one")
                more = positions(world) + 300
                until(lambda: positions(world) >= more, "records of three lanes")
                flow.end()
                until(lambda: positions(world) >= flow.count, "the last record")
    watch.close()

    assert set(courses(world, flow)) <= {"78", "8"}
