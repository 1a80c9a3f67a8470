"""What waits in an error store: read back to the byte, marked once it was sent, in one place at any time."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.runs.run_spec import ReplayOrder
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sources.error_records import read_set_aside
from metl_gui.engine.sources.error_store import MARKS, ErrorStore, ReplaySource, exclusive
from metl_gui.errors import RunError
from tests.helpers.plans import plan_of
from tests.helpers.run_specs import run_spec

RAWS = [b'{"a":"\xc3\xa9\\u00e9","n":1.50}', b"\xff not utf-8 \x00", b"{}", b'{"line":"\\n"}']
SOURCE = Records.of(RAWS, "in/a@b.jsonl", [0, 30, 60, 90])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Set some records aside for one reason, and a few for another."""
    outcome = Kernel(plan_of({"schemas": []})).map(SOURCE)
    rows = [row.text for row in outcome.set_aside]
    assert len(rows) >= 2
    return write(tmp_path / "errors", "unknown_schema", rows)


def write(errors: Path, reason: str, rows: list[bytes], part: str = "part-000000-0.jsonl") -> Path:
    folder = errors / f"reason={reason}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / part).open("ab") as file:
        file.writelines(row + b"\n" for row in rows)
    return errors


def line(raw: str, position: str = "f@1") -> bytes:
    return json.dumps({"reason": "unknown_schema", "detail": "", "position": position, "raw": raw}).encode()


def replay(
    errors: Path, run_id: str, tmp_path: Path, again: list[bytes] | None = None, mode: str = "test"
) -> list[str]:
    """Do what a replay does, without Spark; return what it read and leave ``again`` set aside."""
    found = ErrorStore.at(errors)
    sink = tmp_path / f"out-{run_id}"
    spec = run_spec(
        run_id=run_id, plan=b"", source=str(errors), sink=str(sink), folder=str(tmp_path / run_id),
        errors=str(found.again_folder(run_id)), replay=ReplayOrder(),
    )  # fmt: skip
    with exclusive(found, is_marked=True):
        source, staging = ReplaySource(found, run_id, mode, False, True), Staging(spec)
        staging.prepare()
        files, tasks = source.cut(None, 1)
        read = [raw.decode() for task in tasks for batch in read_set_aside(files, task) for raw in batch.records]
        written = []
        if again:
            write(staging.errors_partial, "unknown_version", again)
            written = [str(path) for path in staging.errors_partial.rglob("*.jsonl")]
        source.before_commit(staging)
        staging.commit(written)
        source.after_commit()
    return read


def test_records_come_out_as_the_bytes_and_positions_they_went_in_with(store: Path) -> None:
    kernel = Kernel(plan_of({"schemas": []}))
    first = kernel.map(SOURCE)
    source = ReplaySource(ErrorStore.at(store), "r", "test", False, False)
    files, tasks = source.cut(None, 2)
    (batch,) = [batch for task in tasks for batch in read_set_aside(files, task)]
    assert list(batch.records) == [RAWS[row.record] for row in first.set_aside]
    again = kernel.map(batch.records)
    assert [row.text for row in again.set_aside] == [row.text for row in first.set_aside]


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_any_cut_reads_each_waiting_record_once(tmp_path: Path, cores: int) -> None:
    rows = [line(f"{number:05}" + "x" * 900) for number in range(4000)]
    source = ReplaySource(ErrorStore.at(write(tmp_path / "e", "unknown_schema", rows)), "r", "test", False, False)
    files, tasks = source.cut(None, cores)
    assert len(tasks) == cores
    numbers = [int(raw[:5]) for task in tasks for batch in read_set_aside(files, task) for raw in batch.records]
    assert numbers == list(range(4000))


def test_what_was_replayed_does_not_wait_any_more_and_what_comes_later_does(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), line("two")])
    assert replay(errors, "r1", tmp_path) == ["one", "two"]
    assert ErrorStore.at(errors).waiting("test") == []
    write(errors, "unknown_schema", [line("three")])
    assert replay(errors, "r2", tmp_path) == ["three"]


def test_what_is_set_aside_again_waits_there_and_nowhere_else(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), line("two")])
    replay(errors, "r1", tmp_path, again=[line("two")])
    assert [part.name for part in ErrorStore.at(errors).waiting("test")] == [
        f"{MARKS}/r1/reason=unknown_version/part-000000-0.jsonl"
    ]
    assert replay(errors, "r2", tmp_path) == ["two"]
    assert replay(errors, "r3", tmp_path) == []


def test_the_store_that_a_replay_left_is_the_same_store(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), line("two")])
    replay(errors, "r1", tmp_path, again=[line("two")])
    write(errors, "unknown_schema", [line("three")])
    assert replay(errors / MARKS / "r1", "r2", tmp_path) == ["two"]
    assert replay(errors, "r3", tmp_path) == ["three"]


def test_a_test_takes_nothing_away_from_production(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), line("two")])
    replay(errors, "r1", tmp_path, again=[line("two")])
    assert replay(errors, "r2", tmp_path, mode="production") == ["one", "two"]
    assert replay(errors, "r3", tmp_path) == ["two"]


def test_one_reason_can_be_replayed_and_leaves_the_others(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one")])
    write(errors, "no_key", [line("two")])
    assert replay(errors / "reason=no_key", "r1", tmp_path) == ["two"]
    assert replay(errors, "r2", tmp_path) == ["one"]


def test_everything_again_is_what_the_run_set_aside_each_once(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), line("two")])
    replay(errors, "r1", tmp_path, again=[line("two")])
    found = ErrorStore.at(errors)
    parts = found.waiting("test", is_again=True)
    assert [(part.name, part.start) for part in parts] == [("reason=unknown_schema/part-000000-0.jsonl", 0)]
    assert set(found.covered("test", parts, True)) == {
        "reason=unknown_schema/part-000000-0.jsonl",
        f"{MARKS}/r1/reason=unknown_version/part-000000-0.jsonl",
    }


def test_a_replay_that_was_broken_off_before_its_messages_were_in_place_left_all_waiting(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one")])
    replay(errors, "r1", tmp_path)
    mark = errors / MARKS / "r1.json"
    killed = msgspec.json.decode(mark.read_bytes()) | {"is_done": False}
    mark.write_bytes(msgspec.json.encode(killed))
    assert ErrorStore.at(errors).waiting("test") == []
    Path(killed["messages"]).rename(killed["partial"])
    assert [part.reason for part in ErrorStore.at(errors).waiting("test")] == ["unknown_schema"]


def test_a_replay_that_failed_leaves_no_mark(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one")])
    found = ErrorStore.at(errors)
    spec = run_spec(run_id="r1", plan=b"", source="", sink=str(tmp_path / "out"), folder=str(tmp_path / "run"))
    source, staging = ReplaySource(found, "r1", "test", False, True), Staging(spec)
    with exclusive(found, is_marked=True):
        source.before_commit(staging)
        source.on_discard()
    assert list((errors / MARKS).glob("*.json*")) == []
    assert found.waiting("test")


def test_records_that_were_too_large_wait_for_a_larger_limit_or_for_being_named(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "too_large", [line("{")])
    write(errors, "no_key", [line("two")])
    source = ReplaySource(ErrorStore.at(errors), "r", "test", False, False)
    assert [part.reason for part in source.parts] == ["no_key"]
    assert "--max-record-bytes" in source.problems([])[0]
    larger = ReplaySource(ErrorStore.at(errors, limit_bytes=1 << 30), "r", "test", False, False)
    assert ([part.reason for part in larger.parts], larger.problems([])) == (["no_key", "too_large"], ())
    assert [part.reason for part in ErrorStore.at(errors, ["too_large"]).waiting("test")] == ["too_large"]


def test_two_replays_of_one_store_do_not_read_the_same_records(tmp_path: Path) -> None:
    found = ErrorStore.at(write(tmp_path / "e", "unknown_schema", [line("one")]))
    with (
        exclusive(found, is_marked=True),
        pytest.raises(RunError, match="replayed already"),
        exclusive(found, is_marked=True),
    ):
        pass
    with exclusive(found, is_marked=True):
        pass


@pytest.mark.parametrize(
    "broken",
    [
        b'{"reason":"x"',
        b'{"reason":"x"}',
        b"[]",
        b'{"reason":"x","raw_base64":"%"}',
        b'{"reason":"x","size_bytes":1000000000000000000000000000000,"raw":"{}"}',
        b'{"reason":"x","size_bytes":-5,"raw":"{}"}',
    ],
    ids=str,
)
def test_a_damaged_row_is_named_by_file_and_byte(tmp_path: Path, broken: bytes) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one"), broken])
    source = ReplaySource(ErrorStore.at(errors), "r", "test", False, False)
    files, tasks = source.cut(None, 1)
    with pytest.raises(RunError, match=rf"part-000000-0\.jsonl, at byte {len(line('one')) + 1}:"):
        list(read_set_aside(files, tasks[0]))


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 5_000])
def test_a_position_whose_place_no_file_has_is_a_name_as_it_stands(tmp_path: Path, digits: str) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one", f"f@{digits}"), line("two", "f@7")])
    files, tasks = ReplaySource(ErrorStore.at(errors), "r", "test", False, False).cut(None, 1)
    (batch,) = read_set_aside(files, tasks[0])
    assert list(batch.records) == [b"one", b"two"]
    assert [batch.records.position(record) for record in range(2)] == [f"f@{digits}@0", "f@7"]


@pytest.mark.parametrize(
    ("place", "said"), [("absent", "no such error store"), (".", "no error store"), ("e/reason=no_key", "no_key")]
)
def test_what_is_no_error_store_is_refused_with_a_way_out(tmp_path: Path, place: str, said: str) -> None:
    write(tmp_path / "e", "unknown_schema", [line("one")])
    (tmp_path / "e" / "reason=no_key").mkdir()
    with pytest.raises(RunError, match=said) as caught:
        ErrorStore.at(tmp_path / place)
    assert caught.value.hint


def test_the_home_folder_of_somebody_unknown_is_no_error_store() -> None:
    with pytest.raises(RunError, match="no such error store") as caught:
        ErrorStore.at("~nobody-at-all/errors")
    assert "~nobody-at-all/errors" in caught.value.text
    assert caught.value.hint


def test_a_mark_that_cannot_be_read_stops_a_replay_and_is_named(tmp_path: Path) -> None:
    errors = write(tmp_path / "e", "unknown_schema", [line("one")])
    replay(errors, "r1", tmp_path)
    (errors / MARKS / "r1.json").write_text("{")
    with pytest.raises(RunError, match=r"r1\.json"):
        ErrorStore.at(errors).waiting("test")


def test_what_was_set_aside_again_waits_in_a_folder_of_any_name(tmp_path: Path) -> None:
    store = write(tmp_path / "errors", "unknown_schema", [line("first")])
    odd = write(store / "again [1]*", "unknown_version", [line("again")])
    replay(store, "r1", tmp_path)
    mark_of(store, "r1", odd.name)
    assert [part.name for part in ErrorStore.at(store).waiting("test")] == [
        "again [1]*/reason=unknown_version/part-000000-0.jsonl"
    ]


@pytest.mark.parametrize("again", ["/etc", "../elsewhere", "_replayed/../../elsewhere"])
def test_a_mark_that_leads_out_of_its_store_is_refused_and_nothing_there_is_read(tmp_path: Path, again: str) -> None:
    store = write(tmp_path / "errors", "unknown_schema", [line("first")])
    write(tmp_path / "elsewhere", "unknown_version", [line("not yours")])
    replay(store, "r1", tmp_path)
    mark_of(store, "r1", again)
    with pytest.raises(RunError, match="leads out of the store"):
        ErrorStore.at(store).waiting("test")


def mark_of(store: Path, run_id: str, again: str) -> None:
    """Say in the mark of a replay that it put what was set aside again elsewhere."""
    path = store / MARKS / f"{run_id}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "again": again}))
