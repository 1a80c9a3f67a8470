"""A disk that fills, a worker that dies and a clock that jumps during a run on a real Spark.

Whatever happens: nothing is lost, because nothing of the run is in place and its source is as it was; nothing is
repeated, because nothing was sent; a person reads what happened to what; and running it again is how to go on. What
else can happen to outputs is tried without Spark in ``tests/unit/engine/test_faults.py``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.runs.events import EngineEvent, RunProgressed
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.errors import RunError
from tests.helpers.killing import WORKER, command_of
from tests.helpers.run_specs import changed
from tests.spark.conftest import SpecOf, order_record

_RECORDS = 60_000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(b"".join(order_record(number) + b"\n" for number in range(_RECORDS)))
    return path


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def run_while(spark: SparkProcess, spec: RunSpec, act: Callable[[], object]) -> RunReport:
    """Run, and do something again and again from the first records on until it says that it is done."""
    done: list[bool] = []

    def seen(event: EngineEvent) -> None:
        if isinstance(event, RunProgressed) and event.tally.read and not done and act() is not False:
            done.append(True)

    return spark.run(spec, seen)


def told(error: RunError, *facts: object) -> None:
    """A person reads what happened, to what, that nothing was kept, and what to do."""
    assert all(str(fact) in str(error) for fact in facts), str(error)
    assert "Nothing of this run was kept, and its source is as it was" in error.text
    assert "run again" in error.hint.lower()


def test_a_disk_that_fills_up_leaves_nothing_and_with_room_the_same_run_is_whole(
    spark: SparkProcess, spec_of: SpecOf, source: Path, disk: Path
) -> None:
    spec = spec_of(source, str(disk / "deep" / "out"), format="parquet")
    with pytest.raises(RunError, match="disk is full") as caught:
        spark.run(spec)
    told(caught.value, disk)
    assert everything(disk) == []
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    assert spark.run(with_new_id(spec)).mapped == _RECORDS


def workers_below(process_id: int) -> list[int]:
    """The Python workers that map below a process."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if entry.name.isdigit() else -1
            if parent == process_id:
                is_worker = WORKER in command_of(int(entry.name)).replace("/", ".")
                below = workers_below(int(entry.name))
                found += [*below, *([int(entry.name)] if is_worker and not below else [])]
    return found


def test_a_worker_that_is_killed_fails_the_run_in_words_and_leaves_nothing(
    spark: SparkProcess, spec_of: SpecOf, source: Path, tmp_path: Path
) -> None:
    with source.open("ab") as file:
        file.write(source.read_bytes() * 19)  # so many that tasks are at work when it is killed
    host = spark.process_id
    assert host is not None
    before = everything(tmp_path)

    def kill() -> bool:
        workers = workers_below(host)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        return bool(workers)

    spec = spec_of(source, format="parquet", by_date=True)
    with pytest.raises(RunError) as caught:
        run_while(spark, spec, kill)
    assert caught.value.hint
    assert [name for name in everything(tmp_path) if not name.startswith("run")] == before
    assert spark.run(with_new_id(spec)).mapped == 20 * _RECORDS


_JUMPS = """
import itertools, time
_real, _jumps = time.time, itertools.cycle((0, -86400 * 400, 86400 * 4000, -3600))
time.time = lambda: _real() + next(_jumps)
time.time_ns = lambda: int(time.time() * 1e9)
"""


def test_a_clock_that_jumps_changes_neither_counts_nor_days_nor_durations(
    spec_of: SpecOf, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The wall clock of everything that runs Python here, years to and fro with each look at it.
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(_JUMPS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "clock"))
    with SparkProcess("local[2]") as jumping:
        spec = spec_of(source, by_date=True)
        report = jumping.run(spec)
    assert (report.read, report.mapped) == (_RECORDS, _RECORDS)
    assert 0 < report.seconds < 600
    assert report.records_per_second > 0
    assert {path.name for path in (tmp_path / "out" / "order").iterdir()} == {"date=1970-01-01"}
    events = [json.loads(line) for line in (Path(spec.policy.folder) / "events.jsonl").read_bytes().splitlines()]
    seconds = [event["seconds"] for event in events if event["event"] == "RunProgressed"]
    assert seconds == sorted(seconds)


def with_new_id(spec: RunSpec) -> RunSpec:
    run_id = new_run_id()
    return changed(spec, run_id=run_id, folder=f"{spec.policy.folder}-{run_id}")
