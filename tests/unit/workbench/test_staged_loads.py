"""What a killed load had staged goes with the next load, and never what a load that lives has staged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.folder_lock import RunLock, owner_of_run
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.workbench.loads.staged_loads import held_load, remove_killed_loads
from metl_gui.workbench.user_folders import loads_folder, run_folder
from tests.helpers.run_specs import run_spec

PROJECT = "01234567-89ab-cdef-0123-456789abcdef"
CHILD = """
import sys
from metl_gui.workbench.loads.staged_loads import held_load
from tests.helpers.run_specs import run_spec
with held_load(sys.argv[1], run_spec(run_id="killed", format="stage")):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return run_folder(PROJECT, "killed")


def stage(folder: Path, sink: Path, format_: str = "stage") -> RunSpec:
    """Write what a run leaves that has staged, and is followed."""
    checkpoint = folder / "checkpoint"
    spec = run_spec(
        run_id="killed", format=format_, folder=str(folder), sink=str(sink), checkpoint=str(checkpoint), plan=b""
    )
    RunFolder(folder).create(spec)
    for place in (sink, checkpoint):
        (place / "person").mkdir(parents=True)
        (place / "person" / "part.parquet").write_bytes(b"x")
    return spec


def killed_load() -> subprocess.Popen[str]:
    """Start a process that holds a load."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, PROJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_load_that_lives_keeps_what_it_staged_and_one_that_was_killed_loses_it(folder: Path) -> None:
    stage(folder, folder / "messages")
    with killed_load() as process:
        assert remove_killed_loads(PROJECT) == ()
        assert (folder / "messages").exists()
        process.kill()
    spark = RunLock(owner_of_run(folder), "killed")
    assert remove_killed_loads(PROJECT) == ()  # its Spark still writes
    spark.release()
    with held_load(PROJECT, run_spec(run_id="next", notes=("so far",))) as spec:
        note = "What load killed had staged was removed: it was killed before it had ended."
        assert spec.policy.notes == ("so far", note)
        assert [one.name for one in loads_folder(PROJECT).iterdir()] == ["next.owner"]
    assert not (folder / "messages").exists()
    assert not (folder / "checkpoint").exists()
    assert (folder / "spec.json").exists()
    assert list(loads_folder(PROJECT).iterdir()) == []


@pytest.mark.parametrize(
    ("sink", "kind", "is_gone"),
    [("metl-killed", "stage", True), ("mine", "stage", False), ("metl-killed", "jsonl", False)],
)
def test_only_folders_of_the_run_itself_are_removed(
    folder: Path, tmp_path: Path, sink: str, kind: str, is_gone: bool
) -> None:
    place = tmp_path / sink / "messages"
    stage(folder, place, kind)
    with killed_load() as process:
        process.kill()
    assert len(remove_killed_loads(PROJECT)) == (kind == "stage")
    assert place.exists() is not is_gone
    assert remove_killed_loads(PROJECT) == ()


def test_nothing_is_removed_for_want_of_a_lock(folder: Path) -> None:
    stage(folder, folder / "messages")
    assert remove_killed_loads(PROJECT) == ()
    assert (folder / "messages").exists()
