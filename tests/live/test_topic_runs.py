"""Runs from and into topics on a real broker: every record in exactly one count, whatever topics are made of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its own names, marked as others'
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
)

from metl_gui.core.runs.events import BatchCommitted, EngineEvent, SourceTroubled
from metl_gui.core.runs.run_spec import ReplayOrder
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.checks.topic_checks import check_topics, topics_to_create
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader, close_clients
from metl_gui.engine.kafka.topics import create_topics
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.engine.sources.first_messages import first_messages
from metl_gui.errors import RunError
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench
from tests.helpers.lanes import LaneWorld, again, change, order_plan
from tests.helpers.sample_projects import fill
from tests.helpers.topic_runs import FollowingRun, TopicRuns
from tests.unit.engine.test_wire import ANSWERS, GUID, KEY, MAPPING, TOPIC, body, created, framed

pytestmark = pytest.mark.live


@pytest.fixture
def world(kafka: KafkaBroker, own_name: str) -> LaneWorld:
    return LaneWorld(kafka.servers, own_name)


@pytest.fixture
def runs(world: LaneWorld, tmp_path: Path) -> Iterator[TopicRuns]:
    yield TopicRuns(world, tmp_path)
    close_clients()


def put(writer: Producer, topic: str, number: int) -> None:
    key, value = change(number)
    writer.produce(topic, value, key)


def sums(report: Any) -> tuple[int, int, int, int, int]:
    assert report.read == report.mapped + report.filtered + report.set_aside + report.skipped
    return report.read, report.mapped, report.filtered, report.set_aside, report.skipped


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for part in sorted(folder.rglob("*.jsonl")) for line in part.read_bytes().splitlines()]


def read_in_batches(events: list[EngineEvent]) -> int:
    return sum(event.read for event in events if isinstance(event, BatchCommitted))


def test_aborted_and_open_transactions_are_not_read_and_keep_no_run_from_its_end(
    world: LaneWorld, runs: TopicRuns, tmp_path: Path
) -> None:
    writer = Producer({**world.servers.client_settings, "transactional.id": world.name})
    writer.init_transactions()
    for first, is_kept in ((0, True), (100, False), (200, True), (300, False)):
        writer.begin_transaction()
        for number in range(first, first + 50):
            put(writer, world.source, number)
        writer.flush()
        (writer.commit_transaction if is_kept else writer.abort_transaction)()
    writer.begin_transaction()
    put(writer, world.source, 900)
    writer.flush()
    report = runs.run(sink=str(tmp_path / "out"), errors="")
    writer.abort_transaction()
    assert sums(report) == (100, 100, 0, 0, 0)
    ids = sorted(message["payload"]["own"]["id"] for message in lines(tmp_path / "out"))
    assert ids == [*range(50), *range(200, 250)]


def test_every_kind_of_record_is_counted_once_and_what_is_set_aside_keeps_its_bytes(
    world: LaneWorld, runs: TopicRuns
) -> None:
    hostile = b'{"op":"c"},"topic":"x","value":{"a":1'
    framed = b"\x00\x00\x00\x00\x63body"
    name = world.name
    beside = {
        f"{name}.message": b'{"op":"m","message":{"prefix":"p","content":"aGk="},"source":{"schema":"","table":""}}',
        f"{name}.transaction": b'{"status":"BEGIN","id":"571:53","event_count":null,"data_collections":null,"ts_ms":1}',
        f"__debezium-heartbeat.{name}": b'{"ts_ms":1}',
        f"{name}": b'{"source":{},"ts_ms":1,"databaseName":"d","schemaName":null,"ddl":"CREATE ...","tableChanges":[]}',
    }
    writer = Producer({**world.servers.client_settings})
    for topic, value in beside.items():
        world.make(topic, 1)
        writer.produce(topic, value, b'{"a":1}', headers=[("trace", b"\x00\xff"), ("metl.state", b"3")])
    writer.flush()
    world.send(
        [
            change(1),
            (None, change(2)[1]),
            (b"\xff\xfe", change(3)[1]),
            (change(3)[0], None),
            (b"k1", hostile),
            (b"k2", framed),
            (b"k3", b"\xff\x00no text"),
            (b"k4", b""),
            change(4, "c", unknown=1),
        ]
    )
    wrapped = {"schema": {"type": "struct", "fields": []}, "payload": json.loads(change(5)[1])}
    world.send([(change(5)[0], json.dumps(wrapped).encode())])
    topics = runs.address(",".join([world.source, *beside]))
    report = runs.run(source=topics, has_tombstones=True)
    assert sums(report)[0] == 14
    assert report.by_skip == {"tombstone": 1, "message": 1, "transaction": 1, "heartbeat": 1, "schema_change": 1}
    sent = world.sent(world.sink)
    assert {one.document["payload"]["own"]["id"] for one in sent} >= {1, 2, 3}
    aside = {(one.key, one.value): one.headers["metl.reason"] for one in world.sent(world.errors)}
    assert sum(report.by_reason.values()) == len(aside) == report.set_aside
    assert aside[b"k1", hostile] == "malformed"
    assert (b"k2", framed) in aside
    assert (b"k3", b"\xff\x00no text") in aside
    assert (b"k4", b"") in aside
    assert report.outputs == runs.address(world.sink)
    assert report.errors == runs.address(world.errors)


def test_avro_is_read_by_the_ids_in_its_bytes_or_headers_and_waits_whole_where_its_id_is_unknown(
    world: LaneWorld, runs: TopicRuns, tmp_path: Path
) -> None:
    answers = tmp_path / "registry.json"
    answers.write_text(json.dumps(ANSWERS))
    with Workbench.create(tmp_path / "p.metl") as workbench:
        import_sources(workbench, Side.EXTRACTION, [answers])
        fill(workbench, MAPPING)
        plan = plans.encode(compile_plan(workbench.document, wire=workbench.kept.writer_schemas.all()))
    world.make(TOPIC, 1)
    guid, content_id = b"\x01" + UUID(GUID).bytes, (20).to_bytes(8, "big")
    unknown = framed(77, created(9))
    writer = Producer({**world.servers.client_settings})
    records: list[tuple[bytes | None, list[tuple[str, str | bytes | None]]]] = [
        (framed(2, created(0)), []),
        (framed(20, created(1)), []),
        (framed(200, created(2), 8), []),
        (created(3), [("__value_schema_id", guid)]),
        (created(4), [("apicurio.value.contentId", content_id)]),
        (unknown, []),
        (None, []),
    ]
    for number, (value, headers) in enumerate(records):
        writer.produce(TOPIC, value, framed(1, body(KEY, {"id": number})), headers=headers)
    writer.flush()
    report = runs.run(plan=plan, source=runs.address(TOPIC), sink=str(tmp_path / "out"))
    assert (sums(report), report.by_skip) == ((7, 5, 0, 1, 1), {"tombstone": 1})
    assert [message["key"] for message in lines(tmp_path / "out")] == [{"number": number} for number in range(5)]
    (aside,) = world.sent(world.errors)
    assert (aside.value, aside.key) == (unknown, framed(1, body(KEY, {"id": 5})))
    assert "77" in aside.headers["metl.detail"]


def test_a_replay_sends_what_can_be_mapped_now_by_reason_and_finds_nothing_the_second_time(
    world: LaneWorld, runs: TopicRuns, tmp_path: Path
) -> None:
    world.send([change(1, note="new"), (b"k", b"broken"), change(2)])
    assert sums(runs.run()) == (3, 1, 0, 2, 0)
    mended = order_plan(world.source, 8, [("id", "amount"), ("id", "amount", "note")])
    facts: dict[str, Any] = {"plan": mended, "state": 8, "hash": "hash8", "source": runs.address(world.errors)}
    trial = runs.run(**facts, sink="noop", errors="", replay=ReplayOrder())
    assert sums(trial) == (2, 1, 0, 1, 0)
    replayed = runs.run(**facts, replay=ReplayOrder(("unknown_version",)))
    assert sums(replayed) == (1, 1, 0, 0, 0)
    last = world.sent(world.sink)[-1]
    by_position = {one.position: one for one in world.sent(world.sink)}
    again_sent = [one for one in by_position.values() if one.headers.get("metl.replayed")]
    assert [one.document["payload"]["own"]["note"] for one in again_sent] == ["new"], last
    assert again_sent[0].position.startswith(f"{world.source}/")
    assert again_sent[0].document["replayed"] is True
    everything = runs.run(**facts, sink=str(tmp_path / "rest"), replay=ReplayOrder())
    assert sums(everything) == (1, 0, 0, 1, 0)  # the broken one, which goes to the end of the topic and waits there
    assert sums(runs.run(**facts, sink=str(tmp_path / "second"), replay=ReplayOrder(("unknown_version",))))[0] == 0
    waiting = runs.run(**facts, sink="noop", errors="", replay=ReplayOrder())
    assert sums(waiting) == (1, 0, 0, 1, 0)
    assert sums(runs.run(**facts, sink="noop", errors="", replay=ReplayOrder(is_again=True))) == (2, 1, 0, 1, 0)


def test_records_too_large_for_run_or_topic_are_set_aside_with_their_position(
    world: LaneWorld, runs: TopicRuns, tmp_path: Path
) -> None:
    small = f"{world.name}.small"
    world.make(small, 1, {"max.message.bytes": "2000"})
    world.send([change(1), change(2, amount="x" * 5000)])
    by_run = runs.run(sink="noop", errors=str(tmp_path / "errors"), max_record_bytes=1000)
    assert by_run.by_reason == {"too_large": 1}
    (row,) = lines(tmp_path / "errors")
    assert row["position"].startswith(f"{world.source}/")
    assert json.loads(row["raw"])["value"]["after"]["amount"] == "x" * 5000
    by_topic = runs.run(sink=runs.address(small))
    assert (sums(by_topic), by_topic.by_reason) == ((2, 1, 0, 1, 0), {"too_large": 1})
    assert [one.document["payload"]["own"]["id"] for one in world.sent(small)] == [1]
    (aside,) = world.sent(world.errors)
    assert "takes 2,000 at most" in aside.headers["metl.detail"]
    cut = f"{world.name}.cut"
    world.make(cut, 1, {"max.message.bytes": "2000"})
    assert sums(runs.run(sink=runs.address(small), errors=runs.address(cut)))[3] == 1
    (aside,) = world.sent(cut)
    assert aside.value == b""
    assert int(aside.headers["metl.cut"]) > 5000
    replayed = runs.run(sink="noop", errors="", source=runs.address(cut), replay=ReplayOrder(("too_large",)))
    assert replayed.read == 0
    assert any("not whole" in problem for problem in replayed.problems)


def written(world: LaneWorld, topic: str, count: int) -> Producer:
    """Write so many records, and return what wrote them."""
    writer = Producer({**world.servers.client_settings})
    for number in range(count):
        put(writer, topic, number)
    writer.flush()
    return writer


def test_a_compacted_topic_with_holes_is_read_to_its_end_and_takes_no_message_without_a_key(
    world: LaneWorld, runs: TopicRuns, tmp_path: Path
) -> None:
    compacted = f"{world.name}.compacted"
    world.make(compacted, 1, {"cleanup.policy": "compact"})
    source = f"{world.name}.holes"
    world.make(source, 1)
    writer = written(world, source, 20)
    # Records that were deleted before a run are no records of it, and no loss either.
    delete_records(world, source, 5)
    plan = order_plan(source)
    report = runs.run(plan=plan, source=runs.address(source), sink=str(tmp_path / "out"))
    assert (sums(report)[0], report.problems) == (15, ())
    truncate = b'{"op":"t","before":null,"after":null,"source":{"name":"shop","schema":"public","table":"orders"}}'
    writer.produce(source, truncate)
    writer.flush()
    report = runs.run(plan=plan, source=runs.address(source), sink=runs.address(compacted))
    assert (sums(report), report.by_reason) == ((16, 15, 0, 1, 0), {"no_key": 1})
    assert "compacted" in world.sent(world.errors)[-1].headers["metl.detail"]


def test_records_that_go_between_listing_and_reading_are_told_and_the_others_are_read(world: LaneWorld) -> None:
    source = f"{world.name}.shrinking"
    world.make(source, 1)
    written(world, source, 15)
    reader = RangeReader(world.servers, [OffsetRange(source, 0, 10, 15)])
    delete_records(world, source, 13)
    assert [message.offset() for batch in reader.batches() for message in batch] == [13, 14]
    (note,) = reader.notes
    assert "from offset 10 up to 13 (3 offsets) were removed" in note


def delete_records(world: LaneWorld, topic: str, before: int) -> None:
    from confluent_kafka import TopicPartition

    futures = world.admin.delete_records([TopicPartition(topic, 0, before)])
    for future in futures.values():
        future.result()


def test_a_start_at_offsets_a_time_or_the_end_leaves_out_what_lies_before(world: LaneWorld, runs: TopicRuns) -> None:
    single = f"{world.name}.single"
    world.make(single, 1)
    writer = Producer({**world.servers.client_settings})
    for number in range(10):
        key, value = change(number)
        writer.produce(single, value, key, timestamp=1_700_000_000_000 + number * 1000)
    writer.flush()

    def read(start: str) -> int:
        facts: dict[str, Any] = {"plan": order_plan(single), "source": runs.address(single)}
        return runs.run(**facts, sink="noop", errors="", start=start).read

    assert [read(start) for start in ("", "latest", f"{single}/0/7", "2023-11-14T22:13:24Z")] == [10, 0, 3, 6]
    with pytest.raises(RunError, match="does not reach"):
        read(f"{single}/0/99")


def test_a_following_run_reads_partitions_and_topics_that_appear_from_their_beginning(
    world: LaneWorld, runs: TopicRuns
) -> None:
    later = f"{world.name}.public.later"
    pattern = runs.address(rf"^{world.name}\.public\..*")
    with FollowingRun(runs, source=pattern, start="latest") as run:
        run.until((runs.folder / "checkpoint" / "ledger" / "gathered.json").exists)
        world.send(change(number) for number in range(100))
        run.until(lambda: read_in_batches(runs.events) == 100)
        new: Any = NewPartitions
        world.admin.create_partitions([new(world.source, 5)])[world.source].result()
        world.make(later, 1)
        writer = Producer({**world.servers.client_settings})
        for number in range(100, 150):
            key, value = change(number)
            writer.produce(world.source, value, key, partition=4)
        put(writer, later, 900)
        writer.flush()
        run.until(lambda: read_in_batches(runs.events) == 151)
    assert run.report is not None
    assert (sums(run.report)[0], run.report.is_stopped) == (151, True)
    assert not again(world.sent(world.sink))
    assert sorted(one.document["payload"]["own"]["id"] for one in world.sent(world.sink))[:150] == list(range(150))


def test_a_run_killed_after_it_sent_and_before_it_counted_repeats_that_batch_to_be_told_and_loses_nothing(
    world: LaneWorld, runs: TopicRuns
) -> None:
    world.send(change(number) for number in range(400))
    facts: dict[str, Any] = {"checkpoint": str(runs.folder / "checkpoint"), "batch_bytes": 20_000}
    jobs = []

    def kill() -> None:
        jobs.append(1)
        if len(jobs) == 3:
            raise SystemExit("killed")

    with pytest.raises(RunError):
        runs.run(**facts, after_job=lambda: _as_error(kill))
    report = runs.run(**facts)
    positions = Counter(one.position for one in world.sent(world.sink))
    assert len(positions) == 400
    repeats = [position for position, count in positions.items() if count > 1]
    assert 0 < len(repeats) < 400
    assert max(positions.values()) == 2
    values: dict[str, set[bytes | None]] = {}
    for one in world.sent(world.sink):
        values.setdefault(one.position, set()).add(one.value)
    assert all(len(found) == 1 for found in values.values())
    assert read_in_batches(runs.events) == 400
    assert report.read < 400


def _as_error(kill: Any) -> None:
    try:
        kill()
    except SystemExit as end:
        raise RuntimeError(str(end)) from end


def test_a_following_run_waits_for_a_broker_that_is_killed_and_says_so(
    kafka: KafkaBroker, world: LaneWorld, runs: TopicRuns
) -> None:
    with FollowingRun(runs) as run:
        world.send(change(number) for number in range(50))
        run.until(lambda: read_in_batches(runs.events) == 50)
        kafka.kill()
        run.until(lambda: any("waits for them" in text for text in troubles(runs.events)))
        kafka.restart()
        world.send(change(number) for number in range(50, 100))
        run.until(lambda: read_in_batches(runs.events) == 100)
        run.until(lambda: any("answer again" in text for text in troubles(runs.events)))
    assert {one.document["payload"]["own"]["id"] for one in world.sent(world.sink)} == set(range(100))


def troubles(events: list[EngineEvent]) -> list[str]:
    return [event.text for event in list(events) if isinstance(event, SourceTroubled)]


def test_a_run_in_batches_ends_in_words_while_its_error_topic_takes_nothing_and_loses_nothing_once_it_does(
    kafka: KafkaBroker, own_name: str, tmp_path: Path
) -> None:
    world = LaneWorld(kafka.servers, own_name, error_settings={"max.message.bytes": "90"})
    runs = TopicRuns(world, tmp_path)
    facts: dict[str, Any] = {"checkpoint": str(tmp_path / "checkpoint")}
    world.send([*(change(number) for number in range(20)), (b"k", b"no json" * 20)])
    with pytest.raises(RunError, match="larger than topic") as caught:
        runs.run(**facts)
    assert world.errors in caught.value.title
    assert "max.message.bytes" in caught.value.hint
    assert read_in_batches(runs.events) == 0
    room: Any = ConfigEntry
    resource = ConfigResource(ConfigResource.Type.TOPIC, world.errors)
    resource.add_incremental_config(room("max.message.bytes", "100000", incremental_operation=AlterConfigOpType.SET))
    world.admin.incremental_alter_configs([resource])[resource].result()
    assert sums(runs.run(**facts)) == (21, 20, 0, 1, 0)
    assert len({one.position for one in world.sent(world.sink)}) == 20
    assert len({one.position for one in world.sent(world.errors)}) == 1
    close_clients()


def test_missing_topics_are_named_before_a_run_and_made_as_they_were_shown(world: LaneWorld, runs: TopicRuns) -> None:
    spec = runs.spec(sink=runs.address(f"{world.name}-{{entity}}"), errors=runs.address(f"{world.name}-aside"))
    with pytest.raises(RunError, match=f"{world.name}-order is not there") as refused:
        check_topics(spec)
    assert "--create-topics" in refused.value.hint
    plans = topics_to_create(spec)
    assert [plan.name for plan in plans] == [f"{world.name}-order", f"{world.name}-aside"]
    assert "2 partitions, 1 copy" in plans[0].text
    create_topics(world.servers, plans)
    create_topics(world.servers, plans)
    assert topics_to_create(spec) == ()
    check_topics(spec)
    with pytest.raises(RunError, match="There is no topic") as refused:
        check_topics(runs.spec(source=runs.address(world.source + "x")))
    assert world.source in refused.value.hint


def test_the_first_records_of_topics_come_from_all_partitions_and_over_holes(world: LaneWorld, runs: TopicRuns) -> None:
    world.send(change(number) for number in range(60))
    found = list(first_messages(world.servers, runs.address(world.source), 10))
    places = Counter(json.loads(one.record.raw)["partition"] for one in found)
    assert places == {0: 5, 1: 5}
