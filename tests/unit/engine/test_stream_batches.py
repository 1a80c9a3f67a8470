"""A batch is in place whole or not at all, whatever is killed between its record and its last move."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.runs.report import Tally
from metl_gui.engine.streaming.batch_records import (
    KEPT_RECORDS,
    PARTIAL,
    BatchLog,
    BatchRecord,
    drop_partials,
    moves_of,
    settle,
)
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.errors import RunError


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    made = Checkpoint(tmp_path / "checkpoint")
    made.batches.mkdir(parents=True)
    return made


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def write_parts(out: Path, number: int, *names: str) -> list[str]:
    paths = [out / PARTIAL / f"{number:09d}-abcd" / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number} {path.name}\n")
    return [str(path) for path in paths]


def record_of(number: int, written: list[str], run_id: str = "run") -> BatchRecord:
    return BatchRecord(
        number=number,
        run_id=run_id,
        state=7,
        hash="abc",
        seconds=0.1,
        tally=Tally(read=1, filtered=1),
        moves=moves_of(written, "stream", number),
        run_tally=Tally(read=number, filtered=number),
        run_batches=number,
        run_states=[7],
        run_seconds=0.5,
        bytes_read=10 * number,
    )


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jsonl") if PARTIAL not in path.parts)


def test_a_batch_has_names_of_its_own_beside_those_of_others(checkpoint: Checkpoint, out: Path) -> None:
    records = BatchLog(checkpoint)
    for number in (1, 2):
        records.add(
            record_of(number, write_parts(out, number, "order/part-000000-0.jsonl", "order/date=x/part-1.jsonl"))
        )
    assert files_in(out) == [
        "order/date=x/part-stream-000000001-1.jsonl",
        "order/date=x/part-stream-000000002-1.jsonl",
        "order/part-stream-000000001-000000-0.jsonl",
        "order/part-stream-000000002-000000-0.jsonl",
    ]
    assert [records.has(number) for number in (0, 1, 2, 3)] == [True, True, True, False]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_moves_that_a_kill_broke_off_are_finished_and_those_made_stay(out: Path, moved: int) -> None:
    record = record_of(1, write_parts(out, 1, "order/part-0.jsonl", "remark/part-0.jsonl"))
    for move in record.moves[:moved]:
        Path(move.place).parent.mkdir(parents=True)
        Path(move.partial).rename(move.place)
    for _ in range(2):
        settle(record)
        assert files_in(out) == ["order/part-stream-000000001-0.jsonl", "remark/part-stream-000000001-0.jsonl"]


def test_a_part_that_is_neither_here_nor_there_is_told(out: Path) -> None:
    record = record_of(1, write_parts(out, 1, "order/part-0.jsonl"))
    Path(record.moves[0].partial).unlink()
    with pytest.raises(RunError, match="Batch 1"):
        settle(record)


def test_what_has_no_record_is_dropped_and_never_seen(checkpoint: Checkpoint, out: Path) -> None:
    write_parts(out, 1, "order/part-0.jsonl")
    assert files_in(out) == []
    drop_partials([out])
    assert list(out.rglob("*.jsonl")) == []
    assert BatchLog(checkpoint).newest() is None


def test_few_records_stay_and_the_newest_of_each_run_has_its_sums(checkpoint: Checkpoint, out: Path) -> None:
    records = BatchLog(checkpoint)
    for number in range(1, KEPT_RECORDS + 10):
        records.add(record_of(number, write_parts(out, number, "order/part-0.jsonl"), "a" if number < 15 else "b"))
    assert len(list(checkpoint.batches.iterdir())) == KEPT_RECORDS
    assert records.has(1)
    newest = records.newest_of("a")
    assert newest is not None
    assert (newest.number, newest.run_tally.read) == (14, 14)
    assert records.newest_of("c") is None
