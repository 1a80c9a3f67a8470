"""Whom the files of real runs are open to, where a person's umask lets everybody read."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

_BATCH_SECONDS = 120.0


class Home:
    """A home of its own, with the demo done in it.

    Args:
        folder: where it lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folders = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "DATA", "CONFIG")}
        self.environment = {**os.environ, **folders, "TMPDIR": str(folder / "tmp")}
        (folder / "tmp").mkdir()
        self.project = Path(self.metl("demo", "--no-window")["project"])
        self.source = str(self.project.parent / "cdc")

    def metl(self, *arguments: str) -> dict[str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "metl_gui.cli.main", *arguments, "--json"],
            env=self.environment,
            cwd=self.folder,
            umask=0o022,
            capture_output=True,
            check=True,
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found

    def open_to_others(self) -> list[str]:
        """List what others can read of ours, with its mode; what lies in a closed folder they cannot reach."""
        roots = list(self.folder.glob("*/metl-gui"))
        assert {path.parent.name for path in roots} >= {"cache", "data"}
        found = [path for root in roots for path in (root, *root.rglob("*"))]
        modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in found}
        return [f"{mode:o} {path}" for path, mode in modes.items() if mode & 0o077]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


def modes_below(folder: Path) -> set[tuple[bool, int]]:
    """List which modes folders and files have."""
    return {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))}


def test_nobody_else_reads_what_the_demo_leaves(home: Home) -> None:
    assert home.open_to_others() == []
    assert list((home.folder / "tmp").iterdir()) == []


def test_only_outputs_that_a_person_named_are_open_as_the_umask_says(home: Home) -> None:
    named = ("--sink", str(home.folder / "out"), "--errors", str(home.folder / "aside"))
    home.metl("run", str(home.project), "--source", home.source, *named)
    for folder in ("out", "aside"):
        assert modes_below(home.folder / folder) == {(True, 0o755), (False, 0o644)}
    assert home.open_to_others() == []


def test_nobody_else_reads_what_a_run_in_batches_keeps(home: Home) -> None:
    """Its checkpoint, and the error store of each batch."""
    sink = home.folder / "stream"
    following = ("--follow", "--mode", "production", "--detach")
    run = home.metl("run", str(home.project), "--source", home.source, "--sink", str(sink), *following)
    end = time.monotonic() + _BATCH_SECONDS
    while not list(sink.glob("*/part-*")):
        assert time.monotonic() < end, "no batch was put in place"
        time.sleep(0.1)
    home.metl("runs", str(home.project), "--stop", run["run_id"])
    (checkpoint,) = home.folder.glob("cache/metl-gui/runs/*/*/checkpoint")
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o700
    assert list((checkpoint.parent / "errors").glob("reason=*/part-*"))
    assert home.open_to_others() == []
    assert modes_below(sink) == {(True, 0o755), (False, 0o644)}
