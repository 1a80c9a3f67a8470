"""Production runs as processes of their own: killed at any moment, gone on with, and nothing lost or doubled."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.runs.events import BatchCommitted, EngineEvent, StateChanged
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.runs.history import RunStatus, compare_runs, events_of, runs
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.production import (
    died_runs,
    follow_events,
    live_runs,
    resume_production,
    start_production,
    stop_run,
)
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import end_everything, kill_after_a_batch, places, wait_for
from tests.helpers.run_requests import run_request

_COPIES = 1
_BATCH_BYTES = 300_000


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    """The sample's project; no process of its runs outlives the test."""
    with Workbench.open(sample.project) as opened:
        yield opened
        for run in live_runs(opened.project_id):
            stop_run(run, 10)
            end_everything(run)


@pytest.fixture
def source(sample: SampleFolder, tmp_path: Path) -> Path:
    """The sample's messages, several times."""
    folder = tmp_path / "source"
    folder.mkdir()
    for copy in range(_COPIES):
        for path in sample.messages.glob("*.jsonl"):
            (folder / f"{copy}-{path.name}").write_bytes(path.read_bytes())
    return folder


@pytest.mark.slow
def test_a_production_run_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing(
    workbench: Workbench, source: Path, spark: SparkProcess, tmp_path: Path
) -> None:
    undisturbed = run_mapping(
        workbench, run_request(str(source), str(tmp_path / "undisturbed"), mode="production"), spark
    ).report
    chance = random.Random(5)
    request = run_request(str(source), str(tmp_path / "out"), errors=str(tmp_path / "errors"), batch_bytes=_BATCH_BYTES)
    run = start_production(workbench, request)
    for what in ("jvm", "production"):  # all of them at random by python -m tests.kill_runs
        kill_after_a_batch(run, what, chance)
    wait_for(lambda: not run.is_alive)
    assert [died.run_id for died in died_runs(workbench.project_id)] == [run.run_id]
    past = runs(workbench)[0]
    assert (past.status, past.can_go_on) == (RunStatus.DIED, True)
    assert "--resume" in past.problems[0]
    again = resume_production(workbench, run.run_id)
    report = follow_events(again, lambda _event: None)
    assert report is not None
    assert report.failure == ""
    for name in ("read", "mapped", "filtered", "set_aside", "skipped", "messages_out", "by_entity", "by_reason"):
        assert getattr(report, name) == getattr(undisturbed, name), name
    assert report.batches > 2
    assert places(tmp_path / "out") == places(tmp_path / "undisturbed")
    newest = runs(workbench)[0]
    assert (newest.run_id, newest.status) == (run.run_id, RunStatus.FINISHED)
    compared = compare_runs(runs(workbench)[1], newest)
    assert not [each for each in compared.fill_rates if each.change]
    assert sum(isinstance(event, BatchCommitted) for event in events_of(workbench, run.run_id)) > 0


@pytest.mark.slow
def test_a_production_run_outlives_its_starter_and_takes_what_is_published_until_it_is_stopped(
    workbench: Workbench, sample: SampleFolder, tmp_path: Path
) -> None:
    live = tmp_path / "live"
    live.mkdir()
    messages = sorted(sample.messages.glob("*.jsonl"))
    (live / messages[0].name).write_bytes(messages[0].read_bytes())
    starter = subprocess.Popen(
        [
            *(
                sys.executable,
                "-m",
                "metl_gui.cli.main",
                "run",
                str(sample.project),
                "--follow",
                "--mode",
                "production",
            ),
            *("--source", str(live), "--sink", str(tmp_path / "out")),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: bool(live_runs(workbench.project_id)))
    starter.kill()
    starter.wait()
    run = live_runs(workbench.project_id)[0]
    with pytest.raises(RunError, match=rf"Run {run.run_id} is going on with the same output folder"):
        start_production(workbench, run_request(str(live), str(tmp_path / "out"), follow=True))
    seen: list[EngineEvent] = []
    told: list[bool] = []

    def take(event: EngineEvent) -> None:
        seen.append(event)
        if isinstance(event, BatchCommitted) and not told:
            told.append(True)
            workbench.undo()
            publish(workbench)
            state = workbench.document.state
            # The process looks once a second; what is there when the next file comes is mapped with the new state.
            wait_for(lambda: any(p.name.startswith(f"{state}-") for p in (run.folder / "checkpoint/plans").iterdir()))
            (live / messages[1].name).write_bytes(messages[1].read_bytes())
        if isinstance(event, StateChanged):
            stop_run(run, 0)

    report = follow_events(run, take)
    assert report is not None
    assert (report.is_stopped, report.failure, report.state) == (True, "", workbench.document.state)
    assert len(report.states) == 2
    assert live_runs(workbench.project_id) == ()
    past = runs(workbench)[0]
    assert (past.run_id, past.status, past.spec["follow"]) == (run.run_id, RunStatus.STOPPED, True)
