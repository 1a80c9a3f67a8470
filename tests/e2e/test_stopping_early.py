"""Ctrl+C while a run still starts: nothing of it stays, wherever it was caught."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.own_files import make_folder
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from tests.helpers.killing import HOST, below, command_of

_SECONDS = 180.0


def _has(process_id: int, word: str) -> bool:
    return any(word in command_of(each) for each in below(process_id))


_MOMENTS: dict[str, Callable[[int, Path], bool]] = {
    "its Spark process begins": lambda process_id, _: _has(process_id, HOST),
    "its temporary folder is there": lambda _, temporary: any(temporary.iterdir()),
    "Java begins": lambda process_id, _: _has(process_id, "org.apache.spark.deploy"),
    "Java has its own folder": lambda _, temporary: any(temporary.glob("metl-spark-*/local/*")),
}


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Found as a person's is, by no variable: who looks for it elsewhere meets the temporary folder.
    kernels = tmp_path / "cache" / "metl-gui" / "kernel"
    make_folder(kernels.parent)
    kernels.symlink_to(os.environ["METL_KERNEL_CACHE"])
    monkeypatch.delenv("METL_KERNEL_CACHE")
    return fresh_copy()


def left_in(*folders: Path) -> list[str]:
    return [str(path) for folder in folders for path in folder.rglob("*") if path.is_dir() or path.suffix != ".lock"]


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_run_that_is_stopped_while_it_starts_leaves_no_folder(
    sample: SampleFolder, tmp_path: Path, moment: str, again: bool
) -> None:
    temporary, place = tmp_path / "tmp", tmp_path / "place"
    temporary.mkdir()
    place.mkdir()
    command = ["run", str(sample.project), "--source", str(sample.messages), "--sink", str(place / "out")]
    with subprocess.Popen(
        [sys.executable, "-m", "metl_gui.cli.main", *command],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            end = time.monotonic() + _SECONDS
            while not _MOMENTS[moment](run.pid, temporary):
                assert run.poll() is None, "it ended before"
                assert time.monotonic() < end, "the moment did not come"
                time.sleep(0.005)
            started = below(run.pid)
            run.send_signal(signal.SIGINT)
            if again:
                time.sleep(0.05)
                run.send_signal(signal.SIGINT)
            said = run.communicate(timeout=_SECONDS)[0]
        finally:
            run.kill()
    assert run.returncode == 130, said
    assert not [command_of(each) for each in started if command_of(each)]
    assert left_in(temporary, place) == []
    runs = tmp_path / "cache" / "metl-gui" / "runs"
    assert not list(runs.glob("*/*"))
