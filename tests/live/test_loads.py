"""Loads through the tasks of a lane: once each, in the order of changes, and counted for good, whatever is killed."""

from __future__ import annotations

import io
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import pytest

from metl_gui.core.project.writer_schemas import AVRO
from metl_gui.core.runs.kafka import LOAD_TOPICS
from metl_gui.core.runs.lanes import LoadProgress
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import WriterSchemaPlan
from metl_gui.engine.lanes import load_control
from metl_gui.engine.lanes.order import LaneOrder, PartitionId
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.lanes.initial_load import (
    BEGINNING,
    Loadable,
    LoadRequest,
    give_up,
    loadables,
    loads_of,
    plan_load,
)
from metl_gui.workbench.session import Workbench
from tests.helpers.lanes import LaneThreads, LaneWorld, TaskProcess, again, change, order_plan, until

pytestmark = pytest.mark.live

KEYS = 4_000
CHANGED, CHANGING = range(0, KEYS, 2), range(1, KEYS, 4)
"""Keys that change once the lane began, and keys that change in the middle of the load; all others never do."""

MakeChange = Callable[..., tuple[bytes, bytes]]
TABLE = LoadRequest(("public.orders",), BEGINNING)


@pytest.fixture
def workbench(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench.create(tmp_path / "p.metl", who="Ada") as made:
        yield made


def started_again(order: LaneOrder) -> LaneOrder:
    return msgspec.structs.replace(order, token=f"{order.token}+")


def amounts(world: LaneWorld) -> dict[int, list[int]]:
    """Return what a consumer sees of each key, in its order."""
    told: dict[int, list[int]] = defaultdict(list)
    for one in world.sent(world.sink):
        row = one.document["payload"]["own"]
        told[row["id"]].append(row["amount"])
    return told


def begun(world: LaneWorld, plan: bytes, rows: int, changed: range, make: MakeChange = change) -> LaneOrder:
    """Begin a lane behind rows that stand in its topic, and map changes of some of them."""
    world.send(make(key, "u", amount=count) for count in range(3) for key in range(rows))
    starts = load_control.ends(world.servers, world.source)
    world.committed.begin_at({PartitionId(world.source, number): start for number, start in enumerate(starts)})
    order = world.order(plan, matrix=world.name)
    world.send(make(key, "u", amount=3) for key in changed)
    with LaneThreads(order, plan):
        world.wait_for_read(len(changed))
        until(lambda: len(firsts(world)) == len(starts), "where the lane began")
    assert [firsts(world)[number] for number in range(len(starts))] == starts
    return started_again(order)


def firsts(world: LaneWorld) -> dict[int, int]:
    return load_control.first_mapped(world.servers, world.name, world.name, world.source)


class ProgressOf:
    """How far the load is that is ordered now."""

    def __init__(self, lane: Lane, world: LaneWorld) -> None:
        self.orders = load_control.ordered(lane.servers, lane.group)
        self.committed, self.run_id = world.committed, lane.run_id

    def __call__(self) -> LoadProgress:
        (found,) = load_control.progress(self.committed, self.orders, self.run_id)
        return found


def until_beyond(progress: ProgressOf, rows: int) -> None:
    until(lambda: progress().done > rows, "rows of the load")


def topics_of_loads(world: LaneWorld) -> list[str]:
    known = world.admin.list_topics(timeout=30).topics
    return [name for name in known if name.startswith(LOAD_TOPICS) and world.name in name]


def test_what_a_topic_held_before_is_mapped_once_while_tasks_are_killed_and_stays_counted_when_the_load_is_gone(
    kafka: KafkaBroker, own_name: str, workbench: Workbench, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    plan = order_plan(world.source)
    order = begun(world, plan, KEYS, CHANGED)
    lane = world.lane(order, tmp_path / "run")
    load = plan_load(workbench, lane, TABLE)
    assert [one.records for one in load.tables] == [3 * KEYS]
    done: list[LoadProgress] = []
    waiting = threading.Thread(target=lambda: done.extend(load.do()))
    waiting.start()
    were_killed_at = []
    until(lambda: load_control.ordered(lane.servers, lane.group), "the order of the load")
    progress = ProgressOf(lane, world)
    for kill in range(3):
        with TaskProcess(order, plan):
            until_beyond(progress, kill * KEYS // 2)
        were_killed_at.append(progress().done)
        world.send(change(key, "u", amount=4) for key in CHANGING[kill::3])
    with LaneThreads(order, plan):
        waiting.join()
        world.wait_for_read(3 * KEYS + len(CHANGED) + len(CHANGING))
    assert all(0 < rows < 3 * KEYS for rows in were_killed_at)
    (found,) = done
    assert (found.rows, found.done, found.is_done, found.superseded_partly) == (3 * KEYS, 3 * KEYS, True, 0)
    assert found.superseded >= 3 * len(CHANGED)
    sent, tally = world.sent(world.sink), world.tally()
    assert not again(sent)
    assert (tally.read, tally.skipped) == (3 * KEYS + len(CHANGED) + len(CHANGING), found.superseded)
    assert tally.messages_out == len(sent) == tally.read - tally.skipped
    told = amounts(world)
    assert {key: told[key] for key in CHANGED} == {key: [3] for key in CHANGED}
    assert all(told[key] == sorted(told[key]) and told[key][-1] == 4 for key in CHANGING)
    never = [key for key in range(KEYS) if key not in CHANGED and key not in CHANGING]
    assert {key: told[key] for key in never} == {key: [0, 1, 2] for key in never}

    until(lambda: not topics_of_loads(world), "the end of the load's topic")
    world.send([change(1)])
    with LaneThreads(started_again(order), plan):
        world.wait_for_read(tally.read + 1)
    assert world.tally().messages_out == len(sent) + 1
    assert loadables(lane) == (Loadable(world.source, found),)
    with pytest.raises(RunError, match=r"Rows of public\.orders were loaded before"):
        plan_load(workbench, lane, TABLE)


def test_a_load_that_is_given_up_leaves_what_it_mapped_counted_and_makes_room_for_another(
    kafka: KafkaBroker, own_name: str, workbench: Workbench, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    plan = order_plan(world.source)
    order = begun(world, plan, 100, range(0, 100, 2))
    lane = world.lane(order, tmp_path / "run")
    progress = load_control.rows_topic("l1", world.source)
    load_control.make_rows_topic(kafka.servers, progress, 2)
    one, other = load_control.orders_of_beginning("l1", world.source, progress, [0, 0], firsts(world))
    # The lane never comes as far as the second has to wait for.
    load_control.order(kafka.servers, own_name, [one, msgspec.structs.replace(other, after=1_000_000)])
    so_far = ProgressOf(lane, world)
    with LaneThreads(order, plan):
        until(lambda: so_far().done == one.end, "the first partition")
        with pytest.raises(RunError, match="is going on already"):
            plan_load(workbench, lane, TABLE)
        (given_up,) = give_up(lane, (world.source,))
        world.send([change(1)])
        world.wait_for_read(50 + one.end + 1)
    assert (given_up.is_given_up, given_up.done, given_up.rows) == (True, one.end, 300)
    assert world.tally().read == 50 + one.end + 1
    until(lambda: not topics_of_loads(world), "the end of the load's topic")
    assert world.tally().read == 50 + one.end + 1
    assert loads_of(lane) == (given_up,)


KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}
ROW = {"type": "record", "name": "Value", "fields": [{"name": name, "type": "long"} for name in ("id", "amount")]}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "fields": [
        {"name": "before", "type": ["null", ROW]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "op", "type": "string"},
    ],
}


def avro_change(number: int, op: str, amount: int) -> tuple[bytes, bytes]:
    """Make key and value of a change in Avro, framed as Confluent does."""
    change = {"before": None, "after": {"id": number, "amount": amount}, "op": op}
    return framed(1, KEY, {"id": number}), framed(2, ENVELOPE, change)


def framed(id_: int, schema: dict[str, Any], datum: dict[str, Any]) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), datum)
    return b"\0" + id_.to_bytes(4, "big") + body.getvalue()


def test_avro_that_a_topic_held_before_is_loaded_with_the_rows_told_apart_by_their_keys(
    kafka: KafkaBroker, own_name: str, workbench: Workbench, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    wire = (
        WriterSchemaPlan("1", AVRO, json.dumps(KEY), world.source),
        WriterSchemaPlan("2", AVRO, json.dumps(ENVELOPE), world.source, "1"),
    )
    made = plans.decode(order_plan(world.source))
    plan = plans.encode(msgspec.structs.replace(made, wire=wire, framing="confluent"))
    order = begun(world, plan, 100, range(0, 100, 2), avro_change)
    with LaneThreads(order, plan):
        (done,) = plan_load(workbench, world.lane(order, tmp_path / "run"), TABLE).do()
    assert (done.done, done.superseded) == (300, 150)
    assert amounts(world) == {key: [0, 1, 2] if key % 2 else [3] for key in range(100)}
