"""What a kill leaves: nothing that a reader takes for whole, and nothing for ever."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.folder_lock import owner_of_run, run_of_dead
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.staged_outputs import JOURNAL, Staging
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.errors import RunError
from metl_gui.workbench.runs import unfinished_runs
from tests.helpers.run_specs import run_spec

_ROOT = Path(__file__).parents[3]
_RUN = """
import os, sys, time
from pathlib import Path
from metl_gui.core.runs.run_spec import KeptSpec
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.engine.runs.staged_outputs import Staging
base, run_id, stop_at = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spec = KeptSpec(run_id=run_id, plan=b"", source="", sink=str(base / "out"), folder=str(base / "runs" / run_id),
                errors=str(base / "errors")).spec
RunFolder(Path(spec.policy.folder)).create(spec)
staging = Staging(spec)
staging.prepare()
written = []
for entity in ("order", "remark"):
    for day in range(5):
        parts = JsonlParts(staging.messages_partial, "part-000000-0")
        parts.append((entity, f"date=2026-01-0{day + 1}"), [b"{}\\n" * 50])
        written += parts.close()
parts = JsonlParts(staging.errors_partial, "part-000000-0")
parts.append(("reason=malformed",), [b"{}\\n"])
written += parts.close()
count = 0
def step(event, arguments):
    global count
    if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "open"):
        count += 1
        if str(count) == stop_at:
            os.kill(os.getpid(), 9)
print("ready", flush=True)
if stop_at == "wait":
    time.sleep(600)
sys.addaudithook(step)
staging.commit(written)
print(count, flush=True)
"""


def killed(base: Path, run_id: str, stop_at: int | str) -> int:
    """Run and be killed at the n-th thing that the commit does to the disk; return how many it did when it ended."""
    command = [sys.executable, "-c", _RUN, str(base), run_id, str(stop_at)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return int(done.stdout.split()[-1]) if done.returncode == 0 else 0


@contextmanager
def alive(base: Path, run_id: str) -> Iterator[int]:
    command = [sys.executable, "-c", _RUN, str(base), run_id, "wait"]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        try:
            yield run.pid
        finally:
            run.kill()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(unfinished_runs, "runs_folder", lambda _: tmp_path / "runs")
    return tmp_path


def spec_of(base: Path, run_id: str, out: str = "out2") -> RunSpec:
    folder = str(base / "runs" / run_id)
    return run_spec(
        run_id=run_id, plan=b"", source="", sink=str(base / out), folder=folder, errors=str(base / f"{out}-errors")
    )


def visible(base: Path) -> set[str]:
    """What a reader sees: files below folders that are not hidden."""
    files = (path.relative_to(base) for path in base.rglob("*") if path.is_file())
    return {
        file.as_posix() for file in files if file.parts[0] != "runs" and not any(p.startswith(".") for p in file.parts)
    }


def leftovers(base: Path) -> list[str]:
    return sorted(path.name for path in base.rglob(".*"))


WHOLE = {
    "errors/reason=malformed/part-000000-0.jsonl",
    *(f"out/{e}/date=2026-01-0{d}/part-000000-0.jsonl" for e in ("order", "remark") for d in range(1, 6)),
}


def test_a_run_killed_at_any_moment_of_its_commit_is_whole_or_gone_after_the_next_run_begins(base: Path) -> None:
    steps = killed(base / "all", "r0", "never")
    assert visible(base / "all") == WHOLE
    assert steps > 5
    shutil.rmtree(base / "all")
    seen = set()
    chosen = sorted({1, 2, *random.Random(6).sample(range(1, steps + 1), 5), *range(steps - 6, steps + 1)})
    for at in chosen:
        folder = base / "runs"
        for old in (base / "out", base / "errors"):
            shutil.rmtree(old, ignore_errors=True)
        killed(base, f"r{at}", at)
        said = unfinished_runs.clear_killed_runs("p")
        after = visible(base)
        assert after in (set(), WHOLE), (at, after)
        assert leftovers(base) == [], at
        assert not list(folder.rglob(JOURNAL))
        assert after or any(f"r{at} was killed" in line for line in said)
        seen.add(bool(after))
    assert seen == {True, False}


def test_the_next_run_beside_it_removes_what_a_killed_one_left_and_says_so(base: Path) -> None:
    with alive(base, "r1") as process:
        os.kill(process, signal.SIGKILL)
    assert leftovers(base) != []
    staging = Staging(spec_of(base, "r2"))
    staging.prepare()
    assert not (base / ".out.r1.partial").exists()
    assert any("run r1 was killed" in note for note in staging.notes)
    staging.discard()


def test_what_a_run_writes_that_lives_is_left_alone(base: Path) -> None:
    with alive(base, "r1"):
        before = sorted((base / ".out.r1.partial").rglob("*"))
        staging = Staging(spec_of(base, "r2"))
        staging.prepare()
        assert (staging.notes, unfinished_runs.clear_killed_runs("p")) == ((), ())
        assert sorted((base / ".out.r1.partial").rglob("*")) == before
        staging.discard()


def test_a_folder_that_only_looks_like_one_of_a_killed_run_stays(tmp_path: Path) -> None:
    mine = tmp_path / ".notes.2025.partial"
    mine.mkdir()
    (mine / "text").write_text("mine")
    staging = Staging(spec_of(tmp_path, "r2"))
    staging.prepare()
    assert (mine / "text").read_text() == "mine"
    staging.discard()


def test_outputs_that_somebody_else_put_there_since_are_never_taken_back(base: Path) -> None:
    steps = killed(base / "all", "r0", "never")
    moved = 0
    for at in range(steps, 0, -1):
        killed(base, f"r{at}", at)
        if (base / "errors").exists() and not (base / "out").exists():
            moved = at
            break
        for old in ("out", "errors"):
            shutil.rmtree(base / old, ignore_errors=True)
    assert moved
    shutil.rmtree(base / "errors")
    (base / "errors").mkdir()
    (base / "errors" / "mine").write_text("mine")
    unfinished_runs.clear_killed_runs("p")
    assert (base / "errors" / "mine").read_text() == "mine"


def test_a_run_that_ended_leaves_no_sign_of_its_life(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "r1", "out")
    RunFolder(Path(spec.policy.folder)).create(spec)
    staging = Staging(spec)
    staging.prepare()
    assert run_of_dead(owner_of_run(Path(spec.policy.folder))) is None
    staging.commit([])
    assert leftovers(tmp_path) == []


def test_a_part_that_somebody_took_away_fails_the_commit_and_nothing_is_in_place(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "r1", "out")
    RunFolder(Path(spec.policy.folder)).create(spec)
    staging = Staging(spec)
    staging.prepare()
    assert staging.messages_partial is not None
    parts = JsonlParts(staging.messages_partial, "part-000000-0")
    parts.append(("order",), [b"{}\n"])
    (part,) = parts.close()
    Path(part).unlink()
    with pytest.raises(RunError, match="cannot be moved in place") as caught:
        staging.commit([part])
    assert "Nothing of this run was kept" in caught.value.text
    staging.discard()
    assert visible(tmp_path) == set()


def test_the_clock_decides_nothing_of_what_is_dead(base: Path) -> None:
    with alive(base, "r1"):
        old = time.time() - 10 * 365 * 24 * 3600
        for path in [base / ".out.r1.partial", *(base / ".out.r1.partial").rglob("*"), base / "runs" / "r1"]:
            os.utime(path, (old, old))
        assert unfinished_runs.clear_killed_runs("p") == ()
        assert (base / ".out.r1.partial").is_dir()
