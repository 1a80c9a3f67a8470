"""A place for outputs is one run's at a time: the second is refused by name, whatever process it is; no lock stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs import folder_lock
from metl_gui.engine.runs.folder_lock import PathLock, lock_paths, outermost, refuse_if_locked
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.streaming.checkpoint import check_stream, head_of
from metl_gui.errors import RunError
from metl_gui.workbench.runs import unfinished_runs
from tests.helpers.run_specs import run_spec

_ROOT = Path(__file__).parents[3]
_RUN = """
import os, sys, time
from pathlib import Path
import platformdirs
from metl_gui.core.runs.run_spec import KeptSpec
from metl_gui.engine.runs import folder_lock
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.runs.folder_lock import lock_paths, outermost
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.streaming.checkpoint import claim, head_of
from metl_gui.errors import RunError
folder_lock._DYING_SECONDS = 0.3
kind, base, run_id, at = sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4])
if sys.argv[5]:  # only now: another user may not be let in to where Python lies
    os.setgroups([])
    os.setuid(int(sys.argv[5]))
checkpoint = str(base / f"checkpoint-{run_id}") if kind == "stream" else ""
spec = KeptSpec(run_id=run_id, plan=b"", source=str(base), sink=str(base / "out"), folder=str(base / "runs" / run_id),
                errors=str(base / "errors"), checkpoint=checkpoint).spec
RunFolder(Path(spec.policy.folder)).create(spec)
time.sleep(max(0.0, at - time.time()))
try:
    if kind == "stream":
        head = head_of(spec)
        with lock_paths(outermost(head.folders), run_id):
            for folder in head.folders:
                claim(folder, head, Path(spec.policy.folder))
            print("ready", flush=True)
            sys.stdin.read()
    else:
        staging = Staging(spec)
        staging.prepare()
        print("ready", flush=True)
        sys.stdin.read()
        staging.discard()
except RunError as error:
    print(f"{error.title} {error.text}", flush=True)
except OSError as error:
    print(error, flush=True)
"""
_NOBODY = 65534


def start(
    base: Path, run_id: str, kind: str = "run", at: float = 0.0, user: int | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _RUN, kind, str(base), run_id, str(at), "" if user is None else str(user)]
    return subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(run: subprocess.Popen[str]) -> str:
    assert run.stdout is not None
    return run.stdout.readline().strip()


@contextmanager
def alive(base: Path, run_id: str, kind: str = "run", user: int | None = None) -> Iterator[int]:
    with start(base, run_id, kind, user=user) as run:
        assert said(run) == "ready"
        try:
            yield run.pid
        finally:
            run.kill()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(unfinished_runs, "runs_folder", lambda _: tmp_path / "runs")
    monkeypatch.setattr(folder_lock, "_DYING_SECONDS", 0.1)
    return tmp_path


def spec_of(base: Path, run_id: str, sink: str = "out", errors: str = "errors", checkpoint: str = "") -> RunSpec:
    return run_spec(
        run_id=run_id,
        plan=b"",
        source=str(base),
        sink=str(base / sink),
        folder=str(base / "runs" / run_id),
        errors=str(base / errors),
        checkpoint=str(base / checkpoint) if checkpoint else "",
    )


def hidden(base: Path) -> list[str]:
    return sorted(path.name for path in base.rglob(".*"))


@pytest.mark.parametrize("kind", ["run", "stream"])
def test_the_second_run_is_refused_with_who_holds_the_place_since_when_and_in_which_process(
    base: Path, kind: str
) -> None:
    with alive(base, "r1", kind) as process:
        before = hidden(base)
        second, with_its_errors = spec_of(base, "r2"), spec_of(base, "r2", sink="other")
        refusals: tuple[Callable[[], None], ...] = (
            Staging(second).check,
            Staging(second).prepare,
            Staging(with_its_errors).prepare,
            lambda: check_stream(spec_of(base, "r2", checkpoint="c2")),
        )
        for refused in refusals:
            with pytest.raises(RunError, match="Another run writes there") as caught:
                refused()
            assert f"run r1 since {time.gmtime().tm_year}" in caught.value.text
            assert f"process {process} on " in caught.value.text
            assert str(base) in caught.value.text
        assert hidden(base) == before
        (base / "apart").mkdir()
        beside = Staging(spec_of(base / "apart", "r3"))
        beside.prepare()
        beside.discard()


@pytest.mark.parametrize("kind", ["run", "stream"])
def test_a_run_that_was_killed_holds_nothing_any_more_and_leaves_no_lock_for_ever(base: Path, kind: str) -> None:
    with alive(base, "r1", kind) as process:
        os.kill(process, signal.SIGKILL)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    refuse_if_locked(base / "out")
    assert ".out.lock" in hidden(base)
    with lock_paths([base / "out"], "r2"), pytest.raises(RunError, match="run r2"):
        PathLock(base / "out", "r3")
    assert ".out.lock" not in hidden(base)


@pytest.mark.parametrize("kinds", [("run",) * 4, ("stream",) * 4, ("run", "stream") * 2])
def test_of_runs_that_start_at_the_same_instant_exactly_one_wins(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    at = time.time() + 3.0
    runs = [start(tmp_path, f"r{number}", kind, at) for number, kind in enumerate(kinds)]
    answers = [said(run) for run in runs]
    (winner,) = (number for number, answer in enumerate(answers) if answer == "ready")
    assert all(f"is held by run r{winner} since" in answer for answer in answers if answer != "ready")
    for run in runs:
        run.communicate()
    assert not [name for name in hidden(tmp_path) if name.endswith(".lock")]


def test_what_lies_in_a_place_that_is_held_is_held_with_it(base: Path) -> None:
    with alive(base, "r1"):
        with pytest.raises(RunError, match="run r1"):
            Staging(spec_of(base, "r2", sink="out/below", errors="other")).prepare()
        assert not (base / "out").exists()
    assert outermost([base / "out" / "errors", base / "out", base / "outer"]) == [base / "out", base / "outer"]


def test_two_ways_to_one_folder_are_one_place(base: Path) -> None:
    (base / "link").symlink_to(base / "out")
    with alive(base, "r1"), pytest.raises(RunError, match="run r1"):
        Staging(spec_of(base, "r2", sink="link", errors="other")).prepare()


def test_no_link_leads_a_lock_into_a_file_of_somebody_else(base: Path) -> None:
    (base / "precious").write_text("precious")
    (base / ".out.lock").symlink_to(base / "precious")
    with pytest.raises(RunError, match="cannot be written"):
        Staging(spec_of(base, "r1")).prepare()
    assert (base / "precious").read_text() == "precious"
    (base / ".out.lock").unlink()
    os.mkfifo(base / ".out.lock")
    Staging(spec_of(base, "r1")).check()


def test_whoever_reads_the_name_of_a_holder_from_a_damaged_file_is_told_of_another_run(base: Path) -> None:
    with alive(base, "r1"):
        for damage in (b"", b"\xff", b'{"run": 1}', b'{"run":"x","since_ms":99999999999999999,"process":1,"host":""}'):
            (base / ".out.lock").write_bytes(damage)
            with pytest.raises(RunError, match="held by another run"):
                refuse_if_locked(base / "out")


def test_a_lock_that_a_killed_run_left_goes_with_what_else_it_left(base: Path) -> None:
    with alive(base, "r1"):
        assert unfinished_runs.clear_killed_runs("p") == ()
        assert {".out.lock", ".errors.lock"} <= set(hidden(base))
    assert unfinished_runs.clear_killed_runs("p")
    assert hidden(base) == []


def test_who_cleans_up_for_a_run_waits_for_its_lock_and_leaves_those_of_others(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of(base, "r1")
    monkeypatch.setattr(folder_lock, "_DYING_SECONDS", 5.0)
    with alive(base, "r1") as process:
        killing = threading.Timer(0.1, os.kill, (process, signal.SIGKILL))
        killing.start()
        Staging(spec).discard()
        assert not [name for name in hidden(base) if name.endswith(".lock")]
        killing.join()
    monkeypatch.setattr(folder_lock, "_DYING_SECONDS", 0.1)
    with alive(base, "r2"):
        Staging(spec).discard()
        assert {".out.lock", ".errors.lock"} <= set(hidden(base))


def test_a_stream_holds_its_own_outputs_only(base: Path) -> None:
    spec = spec_of(base, "r1", errors="out/errors", checkpoint="c")
    with lock_paths(outermost(head_of(spec).folders), "r1"):
        assert hidden(base) == [".out.lock"]


@pytest.fixture
def volumes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the system with folders in it that are somebody else's, as where a container has its volumes."""
    if os.geteuid() != 0:
        pytest.skip("only root may act as somebody else")
    monkeypatch.setattr(folder_lock, "_DYING_SECONDS", 0.1)
    place = Path(tempfile.mkdtemp(prefix="metl-volumes-"))
    place.chmod(0o755)
    for name in ("out", "errors", "runs"):
        (place / name).mkdir()
        os.chown(place / name, _NOBODY, -1)
    yield place
    shutil.rmtree(place)


def test_a_stream_runs_into_folders_beside_which_it_may_not_write_and_holds_them(volumes: Path) -> None:
    with alive(volumes, "r1", "stream", _NOBODY):
        assert not list(volumes.glob(".*"))
        with start(volumes, "r2", "stream", user=_NOBODY) as second:
            assert "is held by another run" in said(second)
        for place in (volumes / "out", volumes / "out" / "below"):
            with pytest.raises(RunError, match="Another run writes there"):
                PathLock(place, "r3")
        with pytest.raises(RunError, match="Another run writes there"):
            refuse_if_locked(volumes / "out")
        assert not list(volumes.glob(".*"))
    with lock_paths([volumes / "out"], "r4"), start(volumes, "r5", "stream", user=_NOBODY) as last:
        assert "is held by run r4" in said(last)


def test_a_place_that_is_not_there_and_cannot_be_made_is_told_as_it_is(volumes: Path) -> None:
    shutil.rmtree(volumes / "out")
    with start(volumes, "r1", "stream", user=_NOBODY) as run:
        assert "Permission denied" in said(run)
