"""What goes while runs rely on it: offsets of groups at rest, and topics, which may be made again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from confluent_kafka import Producer

from metl_gui.core.runs.events import BatchCommitted
from metl_gui.core.runs.run_spec import ReplayOrder, RunSpec
from metl_gui.engine.kafka import consumer
from metl_gui.engine.lanes import task as lane_task
from metl_gui.engine.lanes.order import PartitionId, start_key, trouble_key
from metl_gui.engine.lanes.start import LaneStart
from metl_gui.engine.lanes.topic import LaneTopic
from metl_gui.engine.sessions.jobs import NumberedTask
from metl_gui.engine.sessions.runtime import Runtime
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KafkaBroker
from tests.helpers import topic_runs
from tests.helpers.lanes import LaneThreads, LaneWorld, again, change, order_plan, until
from tests.helpers.run_specs import changed
from tests.helpers.topic_runs import FollowingRun, HereRuntime, TopicRuns

pytestmark = pytest.mark.live


@pytest.mark.logs(r"deleted and made again")
def test_a_topic_that_is_made_again_and_outgrows_what_was_read_of_it_is_read_from_its_beginning(
    kafka: KafkaBroker, own_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_task, "_TOPICS_SECONDS", 0.2)
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    order = world.order(plan)
    _write(world, range(10))
    with LaneThreads(order, plan) as lane:
        world.wait_for_read(10)
        time.sleep(1.0)  # it is quiet when the topic goes
        world.admin.delete_topics([world.source])[world.source].result()
        world.make(world.source, 1)
        _write(world, range(100, 130))
        world.wait_for_read(40)
        told = f"{world.source}/0 was deleted and made again".encode()
        until(lambda: told in b"".join(lane.words.under(trouble_key(order.run_id)).values()), "what is told")
    assert [one.document["payload"]["own"]["id"] for one in world.sent(world.sink)] == [*range(10), *range(100, 130)]


@pytest.mark.logs(r"deleted and made again")
def test_a_topic_that_is_made_again_right_before_a_lane_is_stopped_is_read_from_its_beginning_when_it_goes_on(
    kafka: KafkaBroker, own_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_task, "_TOPICS_SECONDS", 3600.0)
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    _write(world, range(10))
    with LaneThreads(world.order(plan), plan):
        world.wait_for_read(10)
        until(lambda: all(note.topic_id for _, note in world.notes().values()), "the id of the topic")
        world.admin.delete_topics([world.source])[world.source].result()
        world.make(world.source, 1)
        _write(world, range(100, 130))
        until(lambda: 129 in _ids(world), "what is behind the place that was read to")
    assert 100 not in _ids(world)
    with LaneThreads(world.order(plan), plan):
        until(lambda: _ids(world) >= {*range(100, 130)}, "what is before it")


def test_a_lane_whose_offsets_were_forgotten_does_not_begin_anew_unless_its_topic_is_another_one(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    spec = world.spec(order_plan(world.source), tmp_path)
    _write(world, range(10))
    _begin(world, spec)
    _begin(world, spec)  # what is committed is known
    _forget(world)
    with pytest.raises(RunError, match=r"(?s)forgotten where the lane was.*--start and the time"):
        _begin(world, spec)
    with pytest.raises(RunError, match=r"(?s)forgotten where the lane was.*Say with --start"):
        _begin(world, changed(spec, run_id=f"other-{own_name}"))
    _begin(world, changed(spec, run_id=f"other-{own_name}", start="earliest"))
    _forget(world)
    world.admin.delete_topics([world.source])[world.source].result()
    until(lambda: world.source not in world.admin.list_topics().topics, "the end of the topic")
    world.make(world.source, 1)
    _begin(world, spec)


def test_a_lane_from_the_latest_record_on_reads_a_topic_whole_that_was_made_again_while_it_was_stopped(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    spec = changed(world.spec(order_plan(world.source), tmp_path), start="latest")
    _write(world, range(10))
    _begin(world, spec)
    place = PartitionId(world.source, 0)
    assert world.committed.offsets()[place].offset == 10
    world.admin.delete_topics([world.source])[world.source].result()
    until(lambda: world.source not in world.admin.list_topics().topics, "the end of the topic")
    world.make(world.source, 1)
    _write(world, range(100, 130))
    until(lambda: place not in world.committed.offsets(), "the end of its offsets")
    with contextlib.closing(LaneStart(spec)) as start:
        assert start.notes == (f"{world.source}/0 was deleted and made again; it is read from its beginning.",)
    assert world.committed.offsets()[place].offset == 0


def test_a_replay_in_production_sends_nothing_twice_whose_group_was_forgotten(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    runs = TopicRuns(world, tmp_path)
    world.send([change(1, note="new"), (b"k", b"broken"), change(2)])
    assert runs.run(mode="production").set_aside == 2
    mended = order_plan(world.source, 8, [("id", "amount"), ("id", "amount", "note")])
    facts: dict[str, Any] = {"plan": mended, "state": 8, "hash": "hash8", "source": runs.address(world.errors)}
    first = runs.run(**facts, mode="production", replay=ReplayOrder())
    assert (first.read, first.mapped, first.set_aside) == (2, 1, 1)
    for group in world.admin.list_consumer_groups().result().valid or ():
        if world.errors in group.group_id:
            world.admin.delete_consumer_groups([group.group_id])[group.group_id].result()
    second = runs.run(**facts, mode="production", replay=ReplayOrder())
    assert (second.read, second.mapped, second.set_aside) == (1, 0, 1)
    assert not again(world.sent(world.sink))


@pytest.mark.parametrize("by_name", [False, True])
def test_a_followed_topic_that_goes_before_a_batch_has_read_it_ends_the_run_and_not_the_stream(
    kafka: KafkaBroker, own_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, by_name: bool
) -> None:
    monkeypatch.setattr(consumer, "_DOUBT_SECONDS", 0.5)
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    runs, other = TopicRuns(world, tmp_path), f"{own_name}.other"
    world.make(other, 1)
    source = runs.address(f"{world.source},{other}" if by_name else f"^{own_name}\\.(public\\.orders|other)")
    _write(world, range(5))
    _write(world, range(5), other)
    begin = topic_runs.HereRuntime.run_tasks

    def without_topic(runtime: HereRuntime, task: NumberedTask, count: int) -> list[bytes]:
        world.admin.delete_topics([other])[other].result()
        until(lambda: other not in world.admin.list_topics().topics, "the end of the topic")
        return begin(runtime, task, count)

    monkeypatch.setattr(topic_runs.HereRuntime, "run_tasks", without_topic)
    with pytest.raises(AssertionError, match=f"Topic {other} went"), FollowingRun(runs, source=source) as run:
        run.until(lambda: run.error)
    monkeypatch.setattr(topic_runs.HereRuntime, "run_tasks", begin)
    with FollowingRun(runs, source=source) as run:
        _write(world, range(5, 10))
        run.until(lambda: sum(event.read for event in runs.events if isinstance(event, BatchCommitted)) == 10)
    assert run.report is not None
    assert run.report.mapped == 10
    assert f"{other}/0 went before 5 offsets of it were read" in run.report.problems[-1]


def _ids(world: LaneWorld) -> set[int]:
    return {one.document["payload"]["own"]["id"] for one in world.sent(world.sink)}


def _begin(world: LaneWorld, spec: RunSpec) -> None:
    """Begin a lane as far as its tasks."""
    with contextlib.closing(LaneStart(spec)) as start:
        order = start.order(cast(Runtime, HereRuntime(Path(spec.policy.folder))), "token")
    words = LaneTopic(world.servers, order.lane_topic)
    words.publish(start_key(spec.run_id), b"token", 10.0)
    words.close()


def _forget(world: LaneWorld) -> None:
    """Do what servers do with a group that was at rest for a week."""
    world.admin.delete_consumer_groups([world.name])[world.name].result()


def _write(world: LaneWorld, numbers: Iterable[int], topic: str = "") -> None:
    """Write with a client that is gone then: those that stay ask for topics that are gone, and so make them."""
    producer = Producer(dict(world.servers.client_settings))
    for number in numbers:
        key, value = change(number)
        producer.produce(topic or world.source, value, key)
    assert producer.flush(30.0) == 0
