"""What batches read: whole lines of what grows, whole files of anything else, each byte once, as planned."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.runs.run_spec import PlanState, RunSpec, SourceSpec
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.streaming.checkpoint import Checkpoint, check_stream, read_head
from metl_gui.engine.streaming.ledger import GATHERED_EVERY, Ledger
from metl_gui.engine.streaming.planner import SMALL_BATCH_SECONDS, Planner, mend
from metl_gui.errors import RunError
from tests.helpers.run_specs import run_spec

_REST_SECONDS = 3.0
_LARGE = 1 << 30
Made = Callable[..., Planner]


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return new_checkpoint(tmp_path / "checkpoint")


@pytest.fixture
def planner(checkpoint: Checkpoint, source: Path, clock: Clock) -> Planner:
    return planner_of(checkpoint, source, clock)


def new_checkpoint(path: Path) -> Checkpoint:
    made = Checkpoint(path)
    for folder in (made.ledger, made.plans, made.batches):
        folder.mkdir(parents=True)
    made.use_plan(PlanState(state=1, hash="a", plan=b"{}"))
    return made


def planner_of(
    checkpoint: Checkpoint, source: Path, clock: Clock, batch_bytes: int = _LARGE, rest_seconds: float = _REST_SECONDS
) -> Planner:
    return Planner(checkpoint, SourceSpec(address=str(source), batch_bytes=batch_bytes), 2, rest_seconds, clock)


def read(planner: Planner, number: int) -> list[tuple[str, int, bytes]]:
    """Read a batch as tasks do: (file, offset, record)."""
    plan = planner.ledger.batch(number)
    return [
        (plan.files[batch.file].name, int(offset), bytes(raw))
        for task in plan.tasks
        for batch in read_batches(plan.files, task)
        for offset, raw in zip(batch.records.offsets, batch.records, strict=True)
    ]


def due(planner: Planner, clock: Clock, after: int) -> int:
    """Ask for the next batch when the listing and the pace allow one."""
    clock.now += SMALL_BATCH_SECONDS
    return planner.next_batch(after)


def test_a_last_line_waits_until_it_is_ended(planner: Planner, source: Path, clock: Clock) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":')
    assert due(planner, clock, 0) == 1
    assert read(planner, 1) == [("a.jsonl", 0, b'{"n":1}')]
    assert due(planner, clock, 1) == 1
    with path.open("ab") as file:
        file.write(b'2}\n{"n":3}\n')
    assert due(planner, clock, 1) == 2
    assert read(planner, 2) == [("a.jsonl", 8, b'{"n":2}'), ("a.jsonl", 16, b'{"n":3}')]


def test_a_last_line_of_a_file_that_rests_is_read_and_what_goes_on_within_it_is_told(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint
) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2')
    assert due(planner, clock, 0) == 1
    clock.now += _REST_SECONDS
    assert due(planner, clock, 1) == 2
    assert read(planner, 2) == [("a.jsonl", 8, b'{"n":2')]
    with path.open("ab") as file:
        file.write(b'0}\n{"n":3}\n')
    assert due(planner, clock, 2) == 3
    assert read(planner, 3) == [("a.jsonl", 17, b'{"n":3}')]
    assert "went on within a line at byte 14" in checkpoint.problem_texts()[0]


def test_a_line_feed_that_comes_late_is_no_trouble(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint
) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}')
    due(planner, clock, 0)
    clock.now += _REST_SECONDS
    assert due(planner, clock, 0) == 1
    with path.open("ab") as file:
        file.write(b'\n{"n":2}\n')
    assert due(planner, clock, 1) == 2
    assert read(planner, 2) == [("a.jsonl", 8, b'{"n":2}')]
    assert checkpoint.problem_texts() == []


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b'{"n":1}\n'), b'[{"n":1}]', b'{\n "n":1\n}\n{\n "n":2\n}'],
    ids=["packed", "an array", "objects over several lines"],
)
def test_what_is_no_file_of_lines_is_read_once_and_whole_when_it_rests(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint, content: bytes
) -> None:
    path = source / "a"
    path.write_bytes(content)
    assert due(planner, clock, 0) == 0
    clock.now += _REST_SECONDS
    assert due(planner, clock, 0) == 1
    assert b"1" in read(planner, 1)[0][2]
    path.write_bytes(content + b" ")
    assert due(planner, clock, 1) == 1
    assert "grew by 1 bytes after it was read whole" in checkpoint.problem_texts()[0]


def test_a_file_that_became_shorter_stops_the_planning_by_name(planner: Planner, source: Path, clock: Clock) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}\n')
    due(planner, clock, 0)
    path.write_bytes(b'{"n":1}\n')
    with pytest.raises(RunError, match=r"became shorter.*a\.jsonl has 8 bytes, of which 16"):
        due(planner, clock, 1)


def test_another_file_of_the_same_name_is_told_and_the_others_go_on(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint
) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n')
    due(planner, clock, 0)
    (source / "other").write_bytes(b'{"x":1}\n{"x":2}\n')
    (source / "other").replace(path)
    (source / "b.jsonl").write_bytes(b'{"n":2}\n')
    assert due(planner, clock, 1) == 2
    assert read(planner, 2) == [("b.jsonl", 0, b'{"n":2}')]
    assert "a.jsonl was replaced" in checkpoint.problem_texts()[0]
    assert due(planner, clock, 2) == 2


def test_a_grown_copy_that_takes_the_place_of_a_file_is_the_same_file(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint
) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n')
    due(planner, clock, 0)
    (source / "_copy").write_bytes(b'{"n":1}\n{"n":2}\n')
    (source / "_copy").replace(path)
    assert due(planner, clock, 1) == 2
    assert read(planner, 2) == [("a.jsonl", 8, b'{"n":2}')]
    assert checkpoint.problem_texts() == []


def test_a_file_that_vanishes_with_something_unread_is_told_once(
    planner: Planner, source: Path, clock: Clock, checkpoint: Checkpoint
) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":')
    (source / "b.jsonl").write_bytes(b'{"n":2}\n')
    due(planner, clock, 0)
    path.unlink()
    (source / "b.jsonl").unlink()
    assert due(planner, clock, 1) == 1
    due(planner, clock, 1)
    assert [text[:60] for text in checkpoint.problem_texts()] == [
        "a.jsonl vanished before its last 5 bytes were read. They are"
    ]


def test_a_batch_reads_about_as_much_as_it_may(checkpoint: Checkpoint, source: Path, clock: Clock) -> None:
    lines = [b'{"n":%04d}' % n for n in range(100)]
    (source / "a.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    planner = planner_of(checkpoint, source, clock, batch_bytes=256)
    planner.fix()
    after, found = 0, []
    while (number := planner.next_batch(after)) > after:
        after = number
        part = [raw for _, _, raw in read(planner, number)]
        assert sum(len(raw) + 1 for raw in part) <= 256
        found += part
    assert found == lines


def test_a_fixed_source_reads_nothing_that_came_later(planner: Planner, source: Path) -> None:
    path = source / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}')
    planner.fix()
    with path.open("ab") as file:
        file.write(b'\n{"n":3}\n')
    (source / "b.jsonl").write_bytes(b'{"n":4}\n')
    assert planner.next_batch(0) == 1
    assert [raw for _, _, raw in read(planner, 1)] == [b'{"n":1}', b'{"n":2}']
    assert planner.next_batch(1) == 1


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_line_is_in_one_batch_however_files_grow_and_whenever_the_planner_is_killed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    source = folder / "source"
    source.mkdir()
    checkpoint, clock = new_checkpoint(folder / "checkpoint"), Clock()
    size = data.draw(st.integers(20, 400))
    written: dict[str, bytes] = {}
    after, found = 0, []
    for step in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from(["a", "b", "c"]))
        count = data.draw(st.integers(0, 8))
        text = b"".join(b'{"f":"%b","n":"%d-%d"}\n' % (name.encode(), step, n) for n in range(count))
        # What was cut off last time is ended first; then something is cut off again.
        left = written.get(name, b"")
        cut = data.draw(st.integers(0, len(text)))
        with (source / name).open("ab") as file:
            file.write(left + text[:cut])
        written[name] = text[cut:]
        planner = planner_of(checkpoint, source, clock, size, _LARGE)  # another one: the one before was killed
        while (number := due(planner, clock, after)) > after:
            after = number
            found += read(planner, number)
    for name, left in written.items():
        with (source / name).open("ab") as file:
            file.write(left)
    planner = planner_of(checkpoint, source, clock, size)
    planner.fix()
    while (number := planner.next_batch(after)) > after:
        after = number
        found += read(planner, number)
    for path in source.iterdir():
        mine = [(offset, raw) for name, offset, raw in found if name == path.name]
        place, expected = 0, []
        for line in path.read_bytes().splitlines():
            expected.append((place, line))
            place += len(line) + 1
        assert mine == expected


def test_a_killed_planner_leaves_the_batch_that_it_had_planned(
    planner: Planner, checkpoint: Checkpoint, source: Path, clock: Clock
) -> None:
    (source / "a.jsonl").write_bytes(b'{"n":1}\n')
    due(planner, clock, 0)
    (source / "b.jsonl").write_bytes(b'{"n":2}\n')
    another = planner_of(checkpoint, source, clock)
    assert due(another, clock, 0) == 1
    assert read(another, 1) == [("a.jsonl", 0, b'{"n":1}')]
    assert due(another, clock, 1) == 2


def test_the_ledger_stays_short_and_knows_everything(checkpoint: Checkpoint, source: Path, clock: Clock) -> None:
    planner = planner_of(checkpoint, source, clock)
    for number in range(GATHERED_EVERY + 5):
        (source / f"{number:03d}.jsonl").write_bytes(b'{"n":%d}\n' % number)
        assert due(planner, clock, number) == number + 1
    assert len(list(checkpoint.ledger.glob("0*.json"))) < 10
    assert Ledger(checkpoint.ledger).known.keys() == {f"{n:03d}.jsonl" for n in range(GATHERED_EVERY + 5)}


def test_what_cannot_be_read_any_more_is_taken_out_of_a_batch_that_is_not_in_place(
    planner: Planner, checkpoint: Checkpoint, source: Path, clock: Clock
) -> None:
    for name in ("a", "b"):
        (source / name).write_bytes(b'{"n":"%b"}\n' % name.encode())
    due(planner, clock, 0)
    (source / "a").unlink()
    mend(checkpoint, committed=0)
    another = planner_of(checkpoint, source, clock)
    assert [raw for _, _, raw in read(another, 1)] == [b'{"n":"b"}']
    assert "a went or became shorter before 10 bytes of it were read" in checkpoint.problem_texts()[0]


def test_a_name_that_is_no_text_is_told_of_once_and_the_rest_goes_on(
    checkpoint: Checkpoint, source: Path, clock: Clock
) -> None:
    (source / "good.jsonl").write_text("1\n")
    (source / os.fsdecode(b"bad\xff.jsonl")).write_text("2\n")
    first = planner_of(checkpoint, source, clock)
    assert read(first, first.next_batch(0)) == [("good.jsonl", 0, b"1")]
    clock.now += 10
    assert planner_of(checkpoint, source, clock).next_batch(1) == 1
    (text,) = checkpoint.problem_texts()
    assert "bad\\udcff.jsonl" in text
    assert "not UTF-8" in text


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"[" * 100_000, b"\xff\x00"])
def test_a_damaged_plan_of_a_batch_is_named(checkpoint: Checkpoint, content: bytes) -> None:
    path = checkpoint.ledger / "000000001.json"
    path.write_bytes(content)
    with pytest.raises(RunError, match="is damaged") as refused:
        Ledger(checkpoint.ledger)
    assert str(path) in str(refused.value)
    path.unlink()
    (checkpoint.ledger / "gathered.json").write_bytes(content)
    with pytest.raises(RunError, match="is damaged"):
        Ledger(checkpoint.ledger)


def test_a_problem_that_a_full_disk_cut_short_hides_no_other(checkpoint: Checkpoint) -> None:
    checkpoint.add_problem("one")
    with checkpoint.problems.open("ab") as file:
        file.write(b'"tw\n')
    checkpoint.add_problem("three")
    assert checkpoint.problem_texts() == ["one", "three"]


def test_a_damaged_status_stops_no_run(checkpoint: Checkpoint, source: Path, clock: Clock) -> None:
    (checkpoint.path / "status.json").write_bytes(b"")
    assert checkpoint.status() is None
    (source / "a.jsonl").write_text("1\n")
    planner_of(checkpoint, source, clock).next_batch(0)
    status = checkpoint.status()
    assert status is not None
    assert status.files == 1


def test_a_checkpoint_below_a_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RunError, match="cannot be read") as refused:
            read_head(place)
        assert str(place) in str(refused.value)


def _stream(tmp_path: Path, **places: str) -> RunSpec:
    facts = {"source": str(tmp_path), "sink": "/out", "errors": "/errors", "checkpoint": "/checkpoint"} | places
    return run_spec(run_id="r1", plan=b"", folder="/run", **facts)


@pytest.mark.parametrize("place", ["sink", "errors", "checkpoint", "source"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s3://me:hunter2@h:1/{entity}", "s3://... is an address"),
        ("~nobody-of-this-name/x", "cannot be found"),
        (os.fsdecode(b"odd\xff"), "not UTF-8"),
    ],
)
def test_a_place_that_is_no_folder_here_is_refused_before_anything_is_made(
    tmp_path: Path, place: str, text: str, said: str
) -> None:
    with pytest.raises(RunError, match=re.escape(said)) as refused:
        check_stream(_stream(tmp_path, **{place: text}))
    assert "hunter2" not in str(refused.value)
    str(refused.value).encode()


@pytest.mark.parametrize("place", ["sink", "errors", "source"])
def test_an_address_of_topics_that_cannot_be_read_is_refused_without_showing_it(tmp_path: Path, place: str) -> None:
    with pytest.raises(RunError, match="cannot be read") as refused:
        check_stream(_stream(tmp_path, **{place: "kafka://me:hunter2@h:1/{entity}"}))
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "places",
    [
        {"checkpoint": "/out/checkpoint"},
        {"checkpoint": "/errors"},
        {"sink": "/errors/x"},
        {"sink": "/same", "errors": "/same"},
    ],
)
def test_places_of_a_stream_that_lie_in_each_other_are_refused(tmp_path: Path, places: dict[str, str]) -> None:
    with pytest.raises(RunError, match="folder"):
        check_stream(_stream(tmp_path, **places))
    check_stream(_stream(tmp_path, errors="/checkpoint/errors", sink="/checkpoint/out"))
