"""Batches that wait for a warehouse, and streams that go on behind what others read."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.rows.replays import Coverage, CoveredRange
from metl_gui.core.runs.run_spec import PlanState, SourceSpec
from metl_gui.engine.kafka.consumer import OffsetRange
from metl_gui.engine.sources.topic_source import cut_partitions
from metl_gui.engine.staging.part_marks import PartMark
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.engine.streaming.ledger import BatchPlan, KnownPartition
from metl_gui.engine.streaming.planner import Planner
from metl_gui.engine.streaming.staged_batches import (
    StagedBatchFile,
    begin_after,
    covered,
    drop_staged,
    keep_staged,
    known_places,
    staged_batches,
)
from metl_gui.errors import RunError


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b'{"a":1}\n{"a":2}\n')
    return folder


def planner_of(folder: Path, source: Path) -> tuple[Checkpoint, Planner]:
    """Plan batches of files that rest at once."""
    checkpoint = Checkpoint(folder)
    for made in (checkpoint.ledger, checkpoint.plans):
        made.mkdir(parents=True, exist_ok=True)
    checkpoint.use_plan(PlanState(state=1, hash="h", plan=b"{}"))
    planner = Planner(checkpoint, SourceSpec(address=str(source)), 2, 0.0)
    planner.fix()
    return checkpoint, planner


def places_read(folder: Path, source: Path) -> dict[str, str]:
    _, planner = planner_of(folder, source)
    return known_places(planner.ledger.batch(planner.next_batch(0)))


def test_a_stream_goes_on_behind_what_another_one_read(tmp_path: Path, source: Path) -> None:
    places = places_read(tmp_path / "one", source)
    assert set(places) == {"a.jsonl"}
    with (source / "a.jsonl").open("ab") as file:
        file.write(b'{"a":3}\n')
    (source / "b.jsonl").write_bytes(b'{"b":1}\n')
    begin_after(Checkpoint(tmp_path / "two"), places, is_topics=False)
    _, planner = planner_of(tmp_path / "two", source)
    plan = planner.ledger.batch(planner.next_batch(0))
    read = {plan.files[piece.file].name: (piece.start, piece.stop) for task in plan.tasks for piece in task}
    assert read == {"a.jsonl": (16, 24), "b.jsonl": (0, 8)}


def test_a_file_that_became_shorter_meanwhile_is_left_out(tmp_path: Path, source: Path) -> None:
    places = places_read(tmp_path / "one", source)
    (source / "a.jsonl").write_bytes(b"{}\n")
    begin_after(Checkpoint(tmp_path / "two"), places, is_topics=False)
    _, planner = planner_of(tmp_path / "two", source)
    assert "became shorter" in planner.ledger.known["a.jsonl"].given_up
    assert planner.next_batch(0) == 0


def test_partitions_are_begun_where_they_were_read_to(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "two")
    begin_after(checkpoint, {"t/0": '{"topic_id":"x","read_to":5,"end":9}'}, is_topics=True)
    _, planner = planner_of(tmp_path / "two", tmp_path)
    assert planner.ledger.is_begun
    assert planner.ledger.partitions["t/0"].read_to == 5


def test_what_a_target_says_that_nobody_wrote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="taken over"):
        begin_after(Checkpoint(tmp_path / "two"), {"t/0": '{"read_to":"five"}'}, is_topics=True)


def test_batches_wait_in_order_until_they_are_dropped_with_their_parts(tmp_path: Path) -> None:
    checkpoint, parts = Checkpoint(tmp_path), [tmp_path / "one", tmp_path / "two"]
    for number, path in ((12, parts[1]), (3, parts[0])):
        path.write_bytes(b"")
        keep_staged(
            checkpoint,
            StagedBatchFile(
                number=number, parts={str(path): PartMark(1, 2)}, messages=1, set_aside=0, places={"a": "1"}
            ),
        )
    waiting = staged_batches(checkpoint)
    assert [batch.number for batch in waiting] == [3, 12]
    drop_staged(checkpoint, waiting[0])
    assert [batch.number for batch in staged_batches(checkpoint)] == [12]
    assert [path.exists() for path in parts] == [False, True]


def test_a_batch_covers_what_it_reads_of_topics_and_nothing_of_files(tmp_path: Path, source: Path) -> None:
    checkpoint, planner = planner_of(tmp_path / "one", source)
    of_files = planner.ledger.batch(planner.next_batch(0))
    assert covered(of_files, 4) == Coverage(is_ordered=True)
    files, tasks = cut_partitions([OffsetRange("a.b", 0, 5, 9), OffsetRange("a.b", 1, 0, 3)], 2, is_ordered=False)
    known = {"a.b/0": KnownPartition("x", 9, 9), "a.b/1": KnownPartition("x", 3, 3)}
    plan = msgspec.structs.replace(of_files, files=files, tasks=tasks, known={}, partitions=known)
    ranges = (CoveredRange("a.b", 0, 5, 9), CoveredRange("a.b", 1, 0, 3))
    assert covered(plan, 4) == Coverage(4, ranges, is_ordered=True)
    keep_staged(checkpoint, batch := staged_of(plan))
    assert staged_batches(checkpoint) == [batch]


def staged_of(plan: BatchPlan) -> StagedBatchFile:
    return StagedBatchFile(
        number=1, parts={}, messages=7, set_aside=0, places=known_places(plan), coverage=covered(plan, 4)
    )
