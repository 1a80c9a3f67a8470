"""Disks that fill, rights that are taken and folders that go away while a task writes: what happened is told in words.

Nothing is lost, because nothing of the run is in place and its source is as it was; nothing is repeated, because
nothing was sent; running it again is how to go on. ``tests/spark/test_faults.py`` tries the same through Spark.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import Format, RunSpec
from metl_gui.engine.execution.driver import drive
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sessions.run_context import RunContext
from metl_gui.engine.sinks import jsonl
from metl_gui.engine.spark.task_errors import TaskError, run_error
from metl_gui.engine.streaming.strategy import BatchStrategy
from metl_gui.engine.tasks.task import TaskAttempt, TaskOrder
from metl_gui.errors import RunError
from metl_gui.own_files import atomic_write
from tests.helpers.run_specs import run_spec
from tests.helpers.topic_runs import HereRuntime

if TYPE_CHECKING:
    from metl_gui.engine.sessions.runtime import Runtime

BLOCK = BlockPlan("order", "1", (("id", "id"), ("note", "note")))
PLAN = Plan(
    7,
    "abc",
    (SchemaPlan("shop.public.orders", (VersionPlan("1", "", ("id", "note"), key=("id",), blocks=(BLOCK,)),)),),
    entities=(EntityPlan("order", "1", (ColumnPlan("id", "int64"), ColumnPlan("note", "string"))),),
)
_DAY_MS = 86_400_000


def batch(number: int) -> Records:
    """Some records that do not pack well, and some that nobody knows."""
    source = '"source":{"connector":"postgresql","name":"shop","schema":"public","table":"orders"}'
    made = [
        f'{{"after":{{"id":{at},"note":"{os.urandom(150).hex()}"}},{source},"op":"c","ts_ms":{at * _DAY_MS}}}'
        for at in range(100)
    ]
    return Records.of([*map(str.encode, made), b'{"bad":"' + os.urandom(20_000).hex().encode() + b'"}'], f"f{number}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount the small disk that this test fills or locks")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def spec_of(folder: Path, out: Path, **options: object) -> RunSpec:
    facts = {"run_id": "r1", "plan": b"", "source": "", "sink": str(out), "folder": str(folder / "run")}
    return run_spec(**(facts | {"errors": str(folder / "errors")} | options))


def run(spec: RunSpec, batches: int, between: Callable[[int], object] = lambda _: None) -> int:
    """Do what a run does on this computer with one task; return how many records it mapped."""
    RunFolder(Path(spec.policy.folder)).create(spec)
    staging = Staging(spec)
    staging.prepare()
    order = TaskOrder(
        run=spec.for_tasks,
        plan="",
        messages=str(staging.messages_partial),
        errors=str(staging.errors_partial),
        samples=str(staging.samples_partial),
        has_samples=False,
        progress=str(staging.samples_partial),
    )
    task = TaskAttempt(order, Kernel(PLAN), 0, 0)
    task.notes.note = lambda *_, **__: None  # type: ignore[method-assign]  # nobody waits for this task
    try:
        for number in range(batches):
            between(number)
            task.map(batch(number))
        staging.commit(task.end().written)
    except TaskError as error:
        staging.discard()
        raise run_error(error) from error
    except RunError:
        staging.discard()
        raise
    return task.tally.mapped


def told(error: RunError, *facts: object) -> None:
    """A person reads what happened to what, that nothing was kept, and what to do."""
    assert all(str(fact) in str(error) for fact in facts), str(error)
    assert "Nothing of this run was kept, and its source is as it was" in error.text
    assert "run again" in error.hint.lower()


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("by_date", [False, True], ids=["whole", "by date"])
@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_a_disk_that_fills_up_leaves_nothing_and_with_room_the_same_run_is_whole(
    disk: Path, tmp_path: Path, format_: Format, by_date: bool
) -> None:
    spec = spec_of(tmp_path, disk / "deep" / "out", format=format_, by_date=by_date)
    with pytest.raises(RunError, match="disk is full") as caught:
        run(spec, 60)
    told(caught.value, disk)
    assert everything(disk) == []
    assert not (tmp_path / "errors").exists()
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    assert run(spec, 60) == 6000


def test_an_error_store_whose_disk_fills_up_keeps_the_messages_back_too(disk: Path, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, tmp_path / "out", errors=str(disk / "errors"))
    with pytest.raises(RunError, match="disk is full") as caught:
        run(spec, 30)
    told(caught.value, disk / ".errors.r1.partial" / "reason=unknown_schema")
    assert everything(disk) == []
    assert not any(path.name.startswith((".out", "out")) for path in tmp_path.iterdir())


@contextlib.contextmanager
def locked_later() -> Iterator[Callable[[Path], None]]:
    """Let a folder be locked against writing, for root too; whoever is not root takes the right from themselves."""
    locked: list[Path] = []

    def lock(folder: Path) -> None:
        locked.append(folder)
        if os.geteuid():
            folder.chmod(0o500)
            return
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)

    try:
        yield lock
    finally:
        for folder in locked:
            if os.geteuid():
                folder.chmod(0o700)
            else:
                subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_rights_that_are_taken_during_the_run_are_named_and_what_is_left_goes_with_the_next_run(
    tmp_path: Path, format_: Format
) -> None:
    spec = spec_of(tmp_path, tmp_path / "out", format=format_)
    partial = tmp_path / ".out.r1.partial"
    with locked_later() as lock:
        with pytest.raises(RunError, match="cannot be written") as caught:
            run(spec, 10, lambda number: lock(partial) if number == 5 else None)
        told(caught.value, tmp_path)
    assert not (tmp_path / "out").exists()
    again = spec_of(tmp_path, tmp_path / "out", format=format_, run_id="r2")
    assert run(again, 3) == 300
    assert [name for name in everything(tmp_path) if name.startswith(".")] == []


def test_an_output_folder_that_somebody_removes_fails_the_run_and_does_not_come_back(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, tmp_path / "place" / "out")
    with pytest.raises(RunError, match="were removed during the run") as caught:
        run(spec, 10, lambda number: shutil.rmtree(tmp_path / "place") if number == 5 else None)
    told(caught.value, tmp_path / "place")
    assert not (tmp_path / "place").exists()
    assert run(spec, 3) == 300


def test_a_single_part_that_somebody_removes_fails_the_run_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_FLUSH_BYTES", 1000)
    spec = spec_of(tmp_path, tmp_path / "out")
    part = tmp_path / ".out.r1.partial" / "order" / "part-000000-0.jsonl"
    with pytest.raises(RunError) as caught:
        run(spec, 6, lambda number: part.unlink() if number == 5 else None)
    told(caught.value, part)
    assert not (tmp_path / "out").exists()


def fill(disk: Path) -> Path:
    """Leave no room on a disk; return the file that takes it."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(512))
    return filler


@pytest.mark.parametrize("when", ["before it begins", "while a batch is mapped"])
def test_a_run_in_batches_whose_checkpoint_has_no_room_ends_in_words_and_with_room_it_is_whole(
    disk: Path, tmp_path: Path, when: str
) -> None:
    source = tmp_path / "orders.jsonl"
    records = batch(0)
    places = zip(records.starts, records.stops, strict=True)
    source.write_bytes(b"\n".join(records.buffer[int(start) : int(stop)] for start, stop in places))
    facts = {"source": str(source), "plan": plans.encode(PLAN), "checkpoint": str(disk / "checkpoint")}
    spec = spec_of(tmp_path, tmp_path / "out", **facts, state=7, hash="abc")

    def go(after_job: Callable[[], object] = lambda: None) -> RunReport:
        runtime = cast("Runtime", HereRuntime(tmp_path / "runtime", after_job))
        return drive(BatchStrategy(RunContext(runtime, spec, lambda _event: None)))

    if when == "before it begins":
        fill(disk)
    with pytest.raises(RunError) as caught:
        go(lambda: fill(disk))
    assert caught.value.title == "A disk is full."
    assert str(disk) in caught.value.text
    assert "What is in place stays. Free some space" in caught.value.hint
    assert not list((tmp_path / "out").glob("*/part-*"))
    fill(disk).unlink()
    report = go()
    assert (report.read, report.mapped, report.set_aside) == (101, 100, 1)
    (part,) = (tmp_path / "out").rglob("part-*")
    assert len(part.read_bytes().splitlines()) == 100


def test_a_file_of_a_checkpoint_for_which_there_is_no_room_is_named_and_leaves_the_one_before(disk: Path) -> None:
    path = disk / "current.json"
    atomic_write(path, b"before", durable=True)
    with pytest.raises(OSError, match="No space left") as caught:
        atomic_write(path, bytes(1 << 20), durable=True)
    error = run_error(caught.value)
    assert (error.title, str(path) in error.text) == ("A disk is full.", True)
    assert everything(disk) == ["current.json"]
    assert path.read_bytes() == b"before"
