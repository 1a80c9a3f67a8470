"""States change while records flow: every message names its state, and no partition goes back, loses or repeats any."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from functools import partial
from typing import Self

import msgspec
import pytest

from metl_gui.engine.lanes.agreement import AgreementWatch, announce
from metl_gui.engine.lanes.announcing import announce_again
from metl_gui.engine.lanes.members import PlanState
from metl_gui.workbench.components.kafka import KafkaBroker
from tests.helpers.lanes import LaneThreads, LaneWorld, again, change, order_plan, until

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
    second = msgspec.structs.replace(first, run_id=f"other-{own_name}", token=f"other {first.token}")
    states = {state: plan_state(world, state) for state in (7, 8, 9)}
    watch = AgreementWatch(kafka.servers, own_name)

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

    found = world.sent(world.sink)
    assert not again(found)
    assert sorted(one.document["payload"]["own"]["id"] for one in found) == list(range(flow.count))
    by_partition = defaultdict(list)
    for one in found:
        partition, offset = one.position.rsplit("/", 1)
        by_partition[partition].append((int(offset), one.headers["metl.state"]))
        assert one.document["state"] == int(one.headers["metl.state"])
    assert len(by_partition) == 4
    for mapped in by_partition.values():
        assert [state for state, _ in itertools.groupby(state for _, state in sorted(mapped))] == [*"7897"]
