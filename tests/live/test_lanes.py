"""Fast lanes on a real broker: what a consumer reads that reads only what is committed, whatever dies meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]

from metl_gui.core.runs.events import EngineEvent, LaneProgressed, RunFinished
from metl_gui.core.runs.run_spec import PlanState, RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.lanes.coordination.announcements import announce, order_set_back
from metl_gui.engine.lanes.coordination.records import SetBackOrder
from metl_gui.engine.lanes.order import LaneOrder, PartitionId, Trouble, lane_topic, trouble_key
from metl_gui.engine.lanes.report import lane_report
from metl_gui.engine.lanes.start import LaneStart
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KafkaBroker
from tests.helpers.killing import WORKER, below, command_of
from tests.helpers.lanes import LaneThreads, LaneWorld, again, change, order_plan, until
from tests.helpers.run_specs import changed

pytestmark = pytest.mark.live


def test_messages_carry_key_headers_and_tombstones_and_the_rest_is_set_aside_as_it_came(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    world.send([change(1), change(2), change(2, "d"), (b"k", b"\xff no json"), (b"t", None)])
    with LaneThreads(world.order(plan, has_tombstones=True), plan):
        world.wait_for_read(5)
    tally = world.tally()
    assert (tally.read, tally.mapped, tally.set_aside, tally.skipped) == (5, 3, 1, 1)
    first, second, deleted, tombstone = world.sent(world.sink)
    assert json.loads(first.key or b"") == {"own": {"id": 1}}
    assert (first.headers["metl.state"], first.headers["metl.schema"]) == ("7", world.source)
    assert [one.position for one in (first, second, deleted, tombstone)] == [
        f"{world.source}/0/{n}" for n in (0, 1, 2, 2)
    ]
    assert (deleted.document["op"], tombstone.value, tombstone.key) == ("d", None, deleted.key)
    (aside,) = world.sent(world.errors)
    assert (aside.key, aside.value, aside.headers["metl.reason"]) == (b"k", b"\xff no json", "malformed")


@pytest.mark.logs(r"begins again at what is committed")
def test_a_broker_that_is_killed_amid_the_flow_loses_and_repeats_nothing(kafka: KafkaBroker, own_name: str) -> None:
    world = LaneWorld(kafka.servers, own_name)
    plan, count = order_plan(world.source), 30_000
    sending = threading.Thread(target=lambda: world.send(change(n) for n in range(count)))
    with LaneThreads(world.order(plan), plan, tasks=2):
        sending.start()
        world.wait_for_read(2_000)
        kafka.kill()
        kafka.restart()
        sending.join()
        world.wait_for_read(count)
    found = world.sent(world.sink)
    tally = world.tally()
    assert not again(found)
    assert sorted(one.document["payload"]["own"]["id"] for one in found) == list(range(count))
    assert (tally.read, tally.messages_out, tally.by_entity) == (count, count, {"order": count})


@pytest.mark.logs(r"cannot go on")
def test_a_lane_stops_with_a_sentence_when_its_error_topic_takes_nothing_and_goes_on_where_it_was(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1, error_settings={"max.message.bytes": "90"})
    plan = order_plan(world.source)
    world.send([change(1), (b"k", b"no json" * 20), change(2)])
    with LaneThreads(world.order(plan), plan) as lane:
        until(lambda: lane.failure, "the failure")
        failure = lane.failure
    assert failure is not None
    assert failure.title == f"The lane cannot write to its error topic {world.errors}."
    assert "max.message.bytes" in failure.hint
    assert not world.sent(world.sink, world.errors)
    world.errors += ".larger"
    world.make(world.errors, 1)
    with LaneThreads(world.order(plan), plan):
        world.wait_for_read(3)
    assert [one.document["payload"]["own"]["id"] for one in world.sent(world.sink)] == [1, 2]
    assert len(world.sent(world.errors)) == 1


def test_a_record_of_a_version_that_is_not_known_waits_with_its_partition_and_is_mapped_once_it_is_published(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    world.send([change(1), change(2, city="Ulm"), change(1, "u"), change(2, "u", city="Bonn")])
    order = world.order(plan, wait_seconds=50.0, matrix=own_name)
    with LaneThreads(order, plan):
        until(lambda: any(note.is_waiting for _, note in world.notes().values()), "the wait")
        assert world.tally().read == 1
        newer = order_plan(world.source, 8, [("id", "amount"), ("id", "amount", "city")])
        announce(kafka.servers, own_name, PlanState(state=8, hash="hash8", plan=newer, publication=1))
        world.wait_for_read(4)
    found = world.sent(world.sink)
    assert [(one.document["payload"]["own"]["id"], one.headers["metl.state"]) for one in found] == [
        (1, "7"), (2, "8"), (1, "8"), (2, "8"),
    ]  # fmt: skip
    assert not world.sent(world.errors)
    assert world.notes()[PartitionId(world.source, 0)][1].states == (7, 8)


def test_a_version_that_nobody_publishes_is_set_aside_after_the_wait_and_not_waited_for_twice(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    world.send([change(1), *(change(n, city="Ulm") for n in range(2, 50)), change(50)])
    with LaneThreads(world.order(plan, wait_seconds=0.5), plan):
        world.wait_for_read(50)
    assert len(world.sent(world.sink)) == 2
    assert world.tally().by_reason == {"unknown_version": 48}
    assert {one.headers["metl.reason"] for one in world.sent(world.errors)} == {"unknown_version"}


def test_counts_too_long_for_an_offset_go_on_in_another_attempt_of_the_task(kafka: KafkaBroker, own_name: str) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    wide = ("id", "amount", *(hashlib.sha256(str(n).encode()).hexdigest() for n in range(100)))
    plan = order_plan(world.source, versions=[wide])
    row: dict[str, Any] = {name: n for n, name in enumerate(wide)}
    for attempt in (1, 2):
        world.send(change(n, **row) for n in range(5))
        with LaneThreads(world.order(plan), plan):
            world.wait_for_read(5 * attempt)
    ((_, note),) = world.notes().values()
    assert note.base > 0
    assert world.tally().by_attribute["order@1"] == dict.fromkeys((f"own.{name}" for name in wide), 10)


def test_partitions_that_appear_and_tasks_that_come_share_the_work_without_repeating_any(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan, order = order_plan(world.source), world.order(order_plan(world.source))
    with LaneThreads(order, plan):
        world.send(change(n) for n in range(500))
        world.wait_for_read(500)
    with LaneThreads(order_again(order), plan, tasks=2):
        _widen(world, 4)
        world.send(change(n) for n in range(500, 5_000))
        until(lambda: len({note.task for _, note in world.notes().values()}) == 2, "the second task")
        world.wait_for_read(5_000)
    found = world.sent(world.sink)
    assert not again(found)
    assert sorted(one.document["payload"]["own"]["id"] for one in found) == list(range(5_000))


def test_an_order_to_set_back_is_obeyed_once_and_what_it_repeats_is_counted_as_read(
    kafka: KafkaBroker, own_name: str
) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    world.send(change(n) for n in range(10))
    order = world.order(plan, matrix=own_name)
    back = SetBackOrder(id="one", topic=world.source, partition=0, offset=4)
    with LaneThreads(order, plan):
        world.wait_for_read(10)
        order_set_back(kafka.servers, own_name, order.group, [back])
        world.wait_for_read(16)
    with LaneThreads(order_again(order), plan):
        world.send([change(10)])
        world.wait_for_read(17)
    ids = [one.document["payload"]["own"]["id"] for one in world.sent(world.sink)]
    assert ids == [*range(10), *range(4, 10), 10]


@pytest.mark.logs(r"the records from offset \d+ up")
def test_records_that_are_gone_before_a_lane_reads_them_are_told_for_good(kafka: KafkaBroker, own_name: str) -> None:
    world = LaneWorld(kafka.servers, own_name, partitions=1)
    plan = order_plan(world.source)
    order = world.order(plan)
    world.send(change(n) for n in range(10))
    with LaneThreads(order, plan):
        world.wait_for_read(10)
    world.send(change(n) for n in range(10, 15))
    gone = TopicPartition(world.source, 0, 13)
    world.admin.delete_records([gone])[gone].result()
    told = "from offset 10 up to 13 (3 offsets) were removed"
    with LaneThreads(order_again(order), plan) as lane:
        world.wait_for_read(12)
        until(lambda: told.encode() in b"".join(lane.words.under(trouble_key(order.run_id)).values()), "what is told")
        world.send([change(15)])
        world.wait_for_read(13)
    (text,) = lane.words.under(trouble_key(order.run_id)).values()
    assert told in msgspec.json.decode(text, type=Trouble).text


def test_a_group_is_taken_over_once_its_run_has_ended_and_both_reports_say_whose_counts_it_holds(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    plan = order_plan(world.source)
    spec = world.spec(plan, tmp_path)
    other = changed(spec, run_id=f"other-{own_name}", start="earliest")
    world.send(change(n) for n in range(10))
    with LaneThreads(world.order(plan), plan):
        world.wait_for_read(10)
        with pytest.raises(RunError, match=f"(?s)Somebody else is at work in the consumer group.*{spec.run_id}-0"):
            LaneStart(other)
    with contextlib.closing(LaneStart(other)) as start:
        (note,) = start.notes
    assert f"where run {spec.run_id} ended, and --start is not heeded" in note
    assert (lane_report(spec, "").read, lane_report(spec, "").problems) == (10, ())
    assert f"run {spec.run_id} counted last" in lane_report(other, "").problems[0]


def order_again(order: LaneOrder) -> LaneOrder:
    """Return the order of the same run as it is started again."""
    return msgspec.structs.replace(order, token=f"{order.token}-again")


def _widen(world: LaneWorld, partitions: int) -> None:
    new: Any = NewPartitions
    world.admin.create_partitions([new(world.source, partitions)])[world.source].result()


def test_a_killed_worker_and_a_stop_leave_one_report_whose_counts_add_up_to_what_consumers_read(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    spec = world.spec(order_plan(world.source), tmp_path)
    events: list[EngineEvent] = []
    with SparkProcess("local[2,4]") as spark:
        lane = started(spark, spec, events)
        world.send(change(n) for n in range(3_000))
        world.wait_for_read(3_000)
        _kill_a_worker(spark)
        world.send(change(n) for n in range(3_000, 6_000))
        world.wait_for_read(6_000)
        spark.cancel()
        lane.join()
        (stopped,) = (event.report for event in events if isinstance(event, RunFinished))
        world.send(change(n) for n in range(6_000, 6_500))
        # Without --follow a lane ends by itself at what was there.
        report = spark.run(changed(spec, follow=False))
    assert (stopped.is_stopped, stopped.read, stopped.by_entity) == (True, 6_000, {"order": 6_000})
    assert (report.is_stopped, report.read, report.messages_out) == (False, 6_500, 6_500)
    found = world.sent(world.sink)
    assert not again(found)
    assert sorted(one.document["payload"]["own"]["id"] for one in found) == list(range(6_500))
    told = [event for event in events if isinstance(event, LaneProgressed)][-1]
    assert (told.tally.read, [one.lag for one in told.partitions]) == (6_000, [0, 0])


def test_a_lane_that_is_stopped_while_its_tasks_hang_leaves_no_transaction_open_before_its_readers(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    spec = world.spec(order_plan(world.source), tmp_path)
    events: list[EngineEvent] = []
    with SparkProcess("local[2,4]") as spark, contextlib.ExitStack() as stack:
        lane = started(spark, spec, events)
        is_over = threading.Event()
        changes = flowing(is_over)
        world.send([next(changes)])
        world.wait_for_read(1)  # what is sent while Spark starts would only pile up
        sending = threading.Thread(target=world.send, args=(changes,))
        sending.start()
        stack.callback(sending.join)
        stack.callback(is_over.set)
        world.wait_for_read(2_000)
        hang_within_a_transaction(world, _workers(spark))
        spark.cancel()
        lane.join()
        assert not world.is_held_up()
    (stopped,) = (event.report for event in events if isinstance(event, RunFinished))
    assert stopped.read == stopped.messages_out == len(world.sent(world.sink))


def flowing(is_over: threading.Event) -> Iterator[tuple[bytes, bytes]]:
    """Yield changes, some thousands a second, for as long as they are wanted."""
    for number in itertools.count():
        if is_over.is_set():
            return
        if number % 10 == 0:
            time.sleep(0.001)
        yield change(number)


def started(spark: SparkProcess, spec: RunSpec, events: list[EngineEvent]) -> threading.Thread:
    """Start a lane beside the test; the thread lasts as long as it."""
    lane = threading.Thread(target=spark.run, args=(spec, events.append))
    lane.start()
    return lane


def hang_within_a_transaction(world: LaneWorld, workers: list[int]) -> None:
    """Stop the processes of tasks where they are in the middle of one."""

    def are_stopped_within_one() -> bool:
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        if world.is_held_up():
            return True
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        return False

    until(are_stopped_within_one, "a transaction")


def test_a_lane_that_is_tried_ends_at_what_was_there_and_leaves_no_topic_of_its_own(
    kafka: KafkaBroker, spark: SparkProcess, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name)
    spec = world.spec(order_plan(world.source), tmp_path)
    world.send(change(n) for n in range(10))
    report = spark.run(changed(spec, mode="test", group="", follow=False))
    assert (report.read, report.mapped, report.problems) == (10, 10, ())
    until(lambda: lane_topic(f"metl-{spec.run_id}") not in world.admin.list_topics().topics, "the topic's end")


def _kill_a_worker(spark: SparkProcess) -> None:
    os.kill(_workers(spark)[-1], signal.SIGKILL)


def _workers(spark: SparkProcess) -> list[int]:
    daemons = [one for one in below(spark.process_id or 0) if WORKER in command_of(one)]
    return [one for one in daemons if any(one in below(other) for other in daemons)]
