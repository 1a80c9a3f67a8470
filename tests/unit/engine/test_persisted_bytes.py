"""Run folders, checkpoints, error stores and topics hold the bytes that earlier versions wrote, and are read by them.

A run folder is read by the next version, a checkpoint is gone on with after an upgrade, and of two computers on one
lane each may run another version. The bytes stand in ``tests/cases/persisted``; where a class or a member gets another
name, it keeps the old one there by ``tag="..."`` or ``msgspec.field(name="...")``. What never leaves the processes of
one version may be renamed freely: ``tests.unit.test_persisted_names`` lists it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args

import msgspec
import pytest

from metl_gui.core.runs.events import RunStarted, decode_event, encode_event
from metl_gui.core.runs.kafka import is_internal
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.runs.report import RunReport, Tally
from metl_gui.core.runs.run_spec import KeptSpec, PlanState, ReplayOrder
from metl_gui.engine.kafka import clients, replay_marks, topic_messages
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.outcomes import error_row
from metl_gui.engine.lanes import load_control, loads, offset_metadata, order, topic, transactional_client
from metl_gui.engine.lanes.coordination import records as agreement_log
from metl_gui.engine.lanes.coordination import records as members
from metl_gui.engine.lanes.order import LaneOrder, PartitionId
from metl_gui.engine.runs import folder_lock, staged_outputs
from metl_gui.engine.runs.event_log import bounded_lines
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sinks.sink import folder_name
from metl_gui.engine.sources.error_store import ErrorStore, ReplayMark, ReplaySource, exclusive
from metl_gui.engine.sources.topic_source import ErrorTopicSource
from metl_gui.engine.streaming.batch_records import PARTIAL, BatchLog, BatchRecord, moves_of
from metl_gui.engine.streaming.checkpoint import Checkpoint, PlanInUse, SourceStatus, StreamHead, claim
from metl_gui.engine.streaming.ledger import BatchPlan, KnownPartition, Ledger
from metl_gui.errors import RecordError
from tests.helpers.persisted import files_below, filled, lay_out, rows
from tests.helpers.run_specs import run_spec
from tests.unit.engine.persisted import EVENT_KINDS, EVENTS, FILES, ROWS

_MATRIX = "01234567-89ab-cdef-0123-456789abcdef"
_PLACE = PartitionId("shop.orders", 3)
_OF_LANE = agreement_log.PartitionKey("lane", "shop.orders", 3)
_STREAM = msgspec.structs.replace(
    filled(KeptSpec), source="/in", sink="kafka://h:9092/t", errors="/errors", checkpoint="/checkpoint"
).spec
_WORDS: Mapping[str, tuple[str, agreement_log.Key | None]] = {
    "a state is announced": ("announced/0a", None),
    "lanes are frozen": ("frozen/0a", None),
    "a member lives": ("member/run-1/0", agreement_log.MemberKey("run-1/0")),
    "a lane took a state up": ("change/lane/7/shop.orders/3", agreement_log.ChangeKey("lane", 7, "shop.orders", 3)),
    "an order to go back": ("set-back/lane/shop.orders/3", _OF_LANE),
    "an order was obeyed": ("obeyed/lane/shop.orders/3", _OF_LANE),
}
"""The records of the topic by which lanes agree, by their rows: the key as it stands there, and what it is read as."""

_NAMES: Mapping[str, Callable[[], object]] = {
    "the topic by which lanes agree": lambda: agreement_log.topic_of(_MATRIX),
    "a part of a plan": lambda: [key for key, _ in agreement_log.chunks_of(b"{}" * (128 << 10) + b"}")],
    "an announcement": lambda: _without_chance(agreement_log.announced_key()),
    "a freeze": lambda: _without_chance(agreement_log.frozen_key()),
    "a member": lambda: agreement_log.member_key("run-1/0"),
    "a change of state": lambda: agreement_log.change_key(agreement_log.ChangeKey("lane", 7, "shop.orders", 3)),
    "an order to go back": lambda: agreement_log.set_back_key(_OF_LANE),
    "an order that was obeyed": lambda: agreement_log.obeyed_key(_OF_LANE),
    "the topic of a lane": lambda: order.lane_topic("shop"),
    "the topic of a lane whose group has odd letters": lambda: order.lane_topic("shop/1"),
    "the newest start of a run": lambda: order.start_key("run-1"),
    "a topic that a lane has begun to read": lambda: order.topic_key("shop.orders"),
    "the run that has to end": lambda: order.stop_key("run-1"),
    "why a task cannot go on": lambda: order.failed_key("run-1", 2),
    "why a task does not get on": lambda: order.trouble_key("run-1", 2),
    "what was gone of a partition": lambda: order.gone_key("run-1", 2, _PLACE),
    "counts of a partition": lambda: order.counts_key(_PLACE),
    "what a load orders": lambda: loads.load_key(_PLACE),
    "what became of a load": lambda: f"{load_control._LOADED}shop.orders",
    "the topic of a load": lambda: load_control.rows_topic("load-1", "shop.orders"),
    "reasons of rows that are skipped": lambda: [loads.SUPERSEDED, loads.SUPERSEDED_PARTLY],
    "the group of a lane without one": lambda: order.group_of("", "run-1"),
    "a member of the group": lambda: transactional_client._name(filled(LaneOrder), 2),
    "who asks servers": lambda: clients._QUIET["client.id"],
    "the groups of replays": lambda: [_replay_group(""), _replay_group("malformed")],
    "the topic of how far replays are": lambda: replay_marks.marks_topic("production", "shop.errors"),
    "headers of messages": lambda: [
        topic_messages.STATE, topic_messages.SCHEMA, topic_messages.VERSION, topic_messages.POSITION,
        topic_messages.REPLAYED,
    ],
    "headers of set-aside records": lambda: sorted(topic_messages.OF_SET_ASIDE),
    "the form of a record from a file": lambda: topic_messages.RECORD,
    "the topic of an entity": lambda: [
        topic_messages.topic_of("metl.{entity}", name) for name in ("order", "order item")
    ],
    "the folder of an entity": lambda: [folder_name(name) for name in ("order", "order/item", "o" * 130)],
    "beside outputs": lambda: [
        folder_lock.owner_of(Path(".out.run-1.partial")).name,
        folder_lock.owner_of_run(Path("run-1")).name,
        folder_lock._lock_of(Path("/nowhere/out")).name,
    ],
    "where replays leave their marks": lambda: ErrorStore(Path(), Path()).again_folder("run-1").as_posix(),
    "a part of a batch in its place": lambda: [
        move.place for move in moves_of([f"/out/{PARTIAL}/000000002-a1/order/part-000000-1.jsonl"], "run-1", 2)
    ],
    "places in a run folder": lambda: [
        run_spec(run_id="", plan=b"", source="", sink="", folder="run-1").errors_folder.as_posix(),
        run_spec(run_id="", plan=b"", source="", sink="", folder="run-1").samples_folder.as_posix(),
    ],
}  # fmt: skip


def _without_chance(key: str) -> str:
    return re.sub(r"[0-9a-f]{16}$", "...", key)


def _replay_group(reason: str) -> str:
    return ErrorTopicSource._group(cast(Any, SimpleNamespace(mode="test", topic="shop.errors")), reason)


@pytest.mark.parametrize(("file", "name", "kind"), ROWS, ids=[f"{file}: {name}" for file, name, _ in ROWS])
def test_a_value_has_the_bytes_that_it_had_before(file: str, name: str, kind: Any) -> None:
    assert msgspec.json.encode(filled(kind)).decode() == rows(file)[name]


@pytest.mark.parametrize(("file", "name", "kind"), ROWS, ids=[f"{file}: {name}" for file, name, _ in ROWS])
def test_bytes_of_before_are_read_as_the_value_that_they_were(file: str, name: str, kind: Any) -> None:
    assert msgspec.json.decode(rows(file)[name], type=kind) == filled(kind)


@pytest.mark.parametrize("file", FILES)
def test_every_row_of_a_case_file_is_held_against_a_value(file: str) -> None:
    assert list(rows(file)) == list(FILES[file])


def test_every_event_has_a_row() -> None:
    assert set(EVENTS.values()) == EVENT_KINDS


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_known_by_its_name_in_the_line(name: str) -> None:
    line = rows("events")[name].encode()
    assert decode_event(line) == filled(EVENTS[name])
    assert encode_event(decode_event(line)) == line


def test_of_lines_of_before_only_points_of_the_course_are_left_out() -> None:
    lines = [line.encode() for line in rows("events").values()]
    points = rb'\{"event":"(RunProgressed|BatchCommitted|LoadCommitted|LaneProgressed)"'
    course = [line for line in lines if re.match(points, line)]
    assert len(course) == 4
    left_out = course[1]
    assert bounded_lines(lines, 2) == [line for line in lines if line != left_out]


def test_the_plan_is_written_and_read_as_before_so_that_its_digest_stays() -> None:
    text = rows("plans")["the plan"].encode()
    assert plans.encode(filled(plans.Plan)) == text
    assert plans.decode(text) == filled(plans.Plan)
    assert agreement_log.digest_of(text) == rows("names")["the digest of the plan"]


@pytest.mark.parametrize("name", _WORDS)
def test_a_record_of_before_is_read_from_the_topic_by_which_lanes_agree(name: str) -> None:
    key, meant = _WORDS[name]
    value = rows("agreement")[name].encode()
    word = agreement_log.read(key, value)
    assert word is not None
    assert word.key == meant
    assert isinstance(word.value, msgspec.Struct)
    assert agreement_log.encoded(word.value) == value


def test_every_kind_of_record_of_the_topic_by_which_lanes_agree_has_a_row() -> None:
    values = {agreement_log.Announced, agreement_log.Frozen, agreement_log.Heartbeat, agreement_log.Change,
              members.SetBackOrder, agreement_log.Obeyed}  # fmt: skip
    assert set(FILES["agreement"].values()) == values == set(get_args(agreement_log.Value))
    assert list(_WORDS) == list(FILES["agreement"])


def test_the_metadata_of_an_offset_is_read_as_before_packed_too() -> None:
    names = rows("lanes")
    note = filled(offset_metadata.OffsetMetadata)
    assert offset_metadata.read_metadata(names["the metadata of an offset"]) == note
    assert offset_metadata.read_metadata(rows("names")["the metadata of an offset, packed"]) == note
    before = re.sub(',"topic_id":"[^"]*"', "", names["the metadata of an offset"])
    assert offset_metadata.read_metadata(before) == msgspec.structs.replace(note, topic_id="")
    counts = offset_metadata.PartitionCounts(number=note.base, since=note.tally)
    assert counts.written(note, lambda _number, _counts: pytest.fail("it fits")) == names["the metadata of an offset"]


def test_counts_in_the_topic_of_a_lane_are_read_as_before() -> None:
    tally = filled(offset_metadata.OffsetMetadata).tally
    kept = bytes.fromhex(rows("names")["counts in the topic of a lane"])
    assert topic._base(kept) == (7, tally)
    assert topic._base(topic.base_value(7, offset_metadata.encoded_base(tally))) == (7, tally)


def test_a_task_is_known_to_brokers_by_its_group_its_run_and_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(transactional_client, "producer", lambda *_, **settings: told.update(settings))
    run = run_spec(run_id="run-1", group="shop")
    transactional_client._producer(msgspec.structs.replace(filled(LaneOrder), run=run), 2)
    assert told["transactional_id"] == rows("names")["a transactional id"]


@pytest.mark.parametrize("name", _NAMES)
def test_a_name_in_folders_and_topics_is_what_it_was_before(name: str) -> None:
    assert _NAMES[name]() == rows("names")[name]


def test_the_topics_of_lanes_and_loads_are_nobodys_records() -> None:
    names = rows("names")
    ours = ("the topic by which lanes agree", "the topic of a lane", "the topic of a load")
    assert [name for name in ours if not is_internal(names[name])] == []


def test_a_row_of_an_error_store_is_written_and_read_as_before() -> None:
    text = rows("names")["a row of an error store"]
    place = ("shop.orders", "2", "in.jsonl@7")
    assert error_row(RecordError("malformed", "no JSON"), 17, place, b"{").decode() == text
    assert msgspec.json.decode(text, type=SetAsideRecord) == SetAsideRecord(
        "malformed", "no JSON", 17, "shop.orders", "2", "in.jsonl@7", "{"
    )


def test_a_run_folder_is_what_it_was_before(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.create(filled(KeptSpec).spec)
    run.append_event(encode_event(filled(RunStarted)))
    run.write_report(filled(RunReport))
    assert files_below(run.path) == rows("folders")["a run folder"]


def test_a_run_folder_of_before_is_read(tmp_path: Path) -> None:
    lay_out(tmp_path, rows("folders")["a run folder"])
    run = RunFolder(tmp_path)
    assert run.report() == filled(RunReport)
    assert [decode_event(line) for line in run.events()] == [filled(RunStarted)]
    asked = msgspec.json.decode((tmp_path / "spec.json").read_bytes(), type=KeptSpec)
    assert asked == filled(KeptSpec).spec.as_kept


def test_a_checkpoint_is_what_it_was_before(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    with checkpoint.exclusive("run-1"):
        head = checkpoint.head(_STREAM)
        checkpoint.use_plan(PlanState(state=3, hash="a" * 64, plan=b"{}", publication=5))
        checkpoint.write_status(filled(SourceStatus))
        checkpoint.add_problem("A file grew.")
        ledger = Ledger(checkpoint.ledger)
        ledger.begin({"shop.orders/0": filled(KnownPartition)})
        ledger.add(filled(BatchPlan), 0)
        BatchLog(checkpoint).add(msgspec.structs.replace(filled(BatchRecord), moves=[]))
    claim(tmp_path / "out", head, tmp_path / "run")
    found = files_below(tmp_path)
    assert found.pop("checkpoint/lock").startswith("run run-1, process ")
    assert found == rows("folders")["a checkpoint"]


def test_a_checkpoint_of_before_is_gone_on_with(tmp_path: Path) -> None:
    lay_out(tmp_path, rows("folders")["a checkpoint"])
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    head = checkpoint.head(_STREAM)
    assert head == StreamHead(
        stream="text 1",
        source="/in",
        sink="kafka://h:9092/t",
        errors="/errors",
        mode=_STREAM.policy.mode,
        checkpoint="/checkpoint",
    )
    claim(tmp_path / "out", head, tmp_path / "run")
    use = checkpoint.plan_in_use()
    assert use is not None
    assert (use.state, use.hash, (checkpoint.plans / use.file).read_bytes()) == (3, "a" * 64, b"{}")
    assert use.publication == 5
    assert checkpoint.status() == filled(SourceStatus)
    assert checkpoint.problem_texts() == ["A file grew."]
    ledger = Ledger(checkpoint.ledger)
    assert ledger.batch(1) == filled(BatchPlan)
    assert ledger.partitions == {"shop.orders/0": filled(KnownPartition)} | filled(BatchPlan).partitions
    records = BatchLog(checkpoint)
    assert records.newest() == msgspec.structs.replace(filled(BatchRecord), moves=[])


def test_the_state_that_batches_took_before_there_was_a_publication_beside_it_is_read() -> None:
    text = b'{"file":"text 1","state":2,"hash":"text 3"}'
    assert msgspec.json.decode(text, type=PlanInUse) == PlanInUse("text 1", 2, "text 3", publication=0)


def test_what_replays_took_out_of_an_error_store_of_before_is_known(tmp_path: Path) -> None:
    lay_out(tmp_path, rows("folders")["an error store"])
    mark = filled(ReplayMark)
    assert ErrorStore.at(tmp_path).marks(mark.mode) == [mark]


def test_an_error_store_with_a_replay_has_the_names_that_it_had_before(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    lay_out(errors, {"reason=malformed/part-000000-0.jsonl": rows("names")["a row of an error store"] + "\n"})
    store = ErrorStore.at(errors)
    spec = run_spec(
        run_id="run-1", plan=b"", source=str(errors), sink=str(tmp_path / "out"), folder=str(tmp_path / "run"),
        errors=str(store.again_folder("run-1")), replay=ReplayOrder(),
    )  # fmt: skip
    source = ReplaySource(store, "run-1", "test", False, True)
    with exclusive(store, is_marked=True):
        source.before_commit(Staging(spec))
        source.after_commit()
    assert sorted(files_below(errors)) == rows("names")["an error store with a replay"]
    marks = store.marks("test")
    assert [(mark.run_id, mark.again, list(mark.read_to)) for mark in marks] == [
        ("run-1", "_replayed/run-1", ["reason=malformed/part-000000-0.jsonl"])
    ]


def test_the_journal_of_outputs_that_are_moved_is_what_it_was_before(tmp_path: Path) -> None:
    staged_outputs.write_journal(tmp_path, [filled(staged_outputs.PlannedMove)])
    assert files_below(tmp_path) == rows("folders")["a run folder whose outputs are moved"]


def test_counts_have_the_names_of_a_report() -> None:
    assert {*Tally.__struct_fields__} <= {*RunReport.__struct_fields__}
