"""Runs that are cancelled or killed: in the history of their project with what they had counted, their outputs gone."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.cli.main import main
from metl_gui.core.runs.events import EngineEvent, RunProgressed
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import HOST, below, command_of, wait_for
from tests.helpers.long_runs import counted, many_files
from tests.helpers.run_requests import run_request

METL = [sys.executable, "-m", "metl_gui.cli.main"]
_TIMES = 400


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give runs a cache of their own, and no machine code, so that they last until somebody acts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("METL_KERNEL_CACHE", "/dev/null/nowhere")


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return fresh_copy()


@pytest.fixture
def project(sample: SampleFolder) -> Path:
    return sample.project


@pytest.fixture
def long_source(sample: SampleFolder, tmp_path: Path) -> Path:
    return many_files(sample.messages / "payments.jsonl", tmp_path / "long", _TIMES)


@contextlib.contextmanager
def command_that_runs(project: Path, source: Path, sink: Path) -> Iterator[subprocess.Popen[str]]:
    """Do ``metl run`` until it has counted something."""
    command = [*METL, "run", str(project), "--source", str(source), "--sink", str(sink), "--spark", "local[2]"]
    with Workbench.open(project, for_editing=False) as workbench:
        project_id = workbench.project_id
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            wait_for(lambda: counted(project_id) > 0 or running.poll() is not None)
            yield running
        finally:
            running.kill()


def told(*arguments: str) -> str:
    """Do a command that looks at runs, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["runs", *arguments]) == 0
    return printed.getvalue()


def listed(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(told(str(project), "--json"))["runs"]
    return found


def check_kept(run: dict[str, Any], outcome: str, source: Path) -> None:
    report = run["report"]
    assert (run["status"], run["outcome"], report["outcome"]) == (outcome, outcome, outcome)
    assert 0 < report["read"] < _TIMES * 1_408
    assert report["read"] == report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"]
    assert (report["source"], run["spec"]["source"], run["can_go_on"]) == (str(source), str(source), False)
    assert report["outputs"] == report["errors"] == ""
    assert "counted until then; none of its messages was kept" in report["problems"][-1]


def test_a_run_that_ctrl_c_ends_is_in_the_history_as_cancelled_with_what_it_had_counted(
    project: Path, long_source: Path, tmp_path: Path
) -> None:
    with command_that_runs(project, long_source, tmp_path / "out") as running:
        running.send_signal(signal.SIGINT)
        running.communicate()
    assert running.returncode == 130
    (run,) = listed(project)
    check_kept(run, "cancelled", long_source)
    assert not (tmp_path / "out").exists()
    shown = told(str(project))
    assert f"  cancelled  test        state {run['report']['state']}" in shown
    assert f"{run['report']['read']:,} read" in shown


def test_a_run_whose_command_is_killed_is_in_the_history_as_killed_with_what_it_had_counted(
    project: Path, long_source: Path, tmp_path: Path
) -> None:
    with command_that_runs(project, long_source, tmp_path / "out") as running:
        assert listed(project) == []  # whoever looks meanwhile takes a run that lives for none that was killed
        running.kill()
        running.communicate()
    (run,) = listed(project)
    check_kept(run, "killed", long_source)
    assert "was killed, or the computer was switched off" in run["report"]["failure"]
    assert not (tmp_path / "out").exists()
    assert [again["run_id"] for again in listed(project)] == [run["run_id"]]


def test_a_run_whose_window_is_killed_is_in_the_history_as_killed_with_what_it_had_counted(
    project: Path, long_source: Path
) -> None:
    with Workbench.open(project, for_editing=False) as workbench:
        project_id = workbench.project_id
    command = [sys.executable, "-m", "metl_gui.ui.main", str(project), "--run", str(long_source)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": os.environ["XDG_CACHE_HOME"]}
    with subprocess.Popen(command, env=environment) as window:
        try:
            wait_for(lambda: counted(project_id) > 0 or window.poll() is not None)
        finally:
            window.kill()
    (run,) = listed(project)
    check_kept(run, "killed", long_source)
    assert not (Path(run["folder"]) / "messages").exists()


@pytest.mark.parametrize("victim", [HOST, "java"])
def test_a_run_whose_spark_is_killed_fails_and_is_in_the_history_as_killed_with_what_it_had_counted(
    slow_spark: SparkProcess, project: Path, long_source: Path, tmp_path: Path, victim: str
) -> None:
    def kill(event: EngineEvent) -> None:
        if isinstance(event, RunProgressed) and event.tally.read:
            own = [slow_spark.process_id or 0, *below(slow_spark.process_id or 0)]
            os.kill(next(i for i in own if victim in command_of(i)), signal.SIGKILL)

    request = run_request(str(long_source), str(tmp_path / "out"), "local[2]")
    with Workbench.open(project) as workbench, pytest.raises(RunError) as caught:
        run_mapping(workbench, request, slow_spark, once(kill))
    (run,) = listed(project)
    check_kept(run, "killed", long_source)
    assert run["report"]["failure"] == str(caught.value)
    assert not (tmp_path / "out").exists()


def once(act: Callable[[EngineEvent], None]) -> Callable[[EngineEvent], None]:
    """Act on the first event that tells of records."""
    is_done: list[bool] = []

    def take(event: EngineEvent) -> None:
        if not is_done and isinstance(event, RunProgressed) and event.tally.read:
            is_done.append(True)
            act(event)

    return take
