"""Runs of the sample on a real Spark, from the workbench."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.progress import Progress, Watch
from metl_gui.core.runs.events import EngineEvent, RunFinished, RunStarted
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.folder_lock import lock_paths
from metl_gui.errors import ProjectError, RunCancelled, RunError, UserError
from metl_gui.packaged import sample_projects
from metl_gui.workbench.demo.sample import SampleFolder, add_waiting, fresh_copy
from metl_gui.workbench.runs.history import RunStatus, runs
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.samples.kept_samples import sample_overview
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    with Workbench.open(sample.project) as opened:
        yield opened


def test_a_test_run_maps_unreviewed_blocks_and_counts_them(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess
) -> None:
    add_waiting(workbench, sample)
    events: list[EngineEvent] = []
    told: list[Progress] = []
    result = run_mapping(workbench, run_request(str(sample.messages)), spark, events.append, Watch(told.append))
    report = result.as_json()
    counts = json.loads((sample_projects() / "fx" / "counts.json").read_text())
    assert report["read"] == sum(file["lines"] for file in counts["files"].values())
    done = result.report
    assert done.read == done.mapped + done.filtered + done.set_aside + done.skipped
    assert set(result.report.from_unreviewed) == {"payment", "ledger_entry"}
    assert report["state"] == workbench.document.state
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert told[-1].done == told[-1].total
    parts = Path(result.report.outputs).rglob("*.jsonl")
    lines = [line for part in parts for line in part.read_bytes().splitlines()]
    assert len(lines) == result.report.messages_out == sum(result.report.by_entity.values())
    (logged,) = workbench.kept.runs.newest()
    assert logged.report == json.loads(json.dumps(report))
    (shown,) = result.first_results(1, "payment")
    assert {sent.entity for sent in shown.outgoing} >= {"payment"}
    assert result.first_set_aside(3)[0].incoming
    previews = Previews.of_project(workbench)
    previews.take(workbench.document)
    for kept in result.first_results(500):
        previewed = [each.text for each in previews.of(kept.incoming, kept.place).messages]
        assert previewed == [bytes(sent.message) for sent in kept.outgoing], "a preview is what the run wrote"
    assert {each.schema for each in sample_overview(workbench)} >= {"fx.payments.orders", "fx.rates.daily"}


def test_a_run_into_a_place_that_another_run_holds_is_refused_by_name_before_it_begins(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    request = run_request(str(sample.messages / "ledger.jsonl"), sink=str(tmp_path / "out"))
    events: list[EngineEvent] = []
    with lock_paths([tmp_path / "out"], "the-first"):
        for process in (spark, None):
            with pytest.raises(RunError, match="Another run writes there") as refused:
                run_mapping(workbench, request, process, events.append)
            assert "held by run the-first since" in refused.value.text
    assert not [event for event in events if isinstance(event, RunStarted)]
    assert not (tmp_path / "out").exists()
    assert run_mapping(workbench, request, spark).report.mapped
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_an_earlier_state_can_be_run(workbench: Workbench, sample: SampleFolder, spark: SparkProcess) -> None:
    request = run_request(str(sample.messages / "ledger.jsonl"), sink="noop", state=0)
    report = run_mapping(workbench, request, spark).report
    assert (report.state, report.mapped, report.outputs) == (0, 0, "")
    assert report.by_reason["unknown_schema"] == report.set_aside


def test_a_run_of_a_project_that_another_edits_is_kept_with_it(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess
) -> None:
    with Workbench.open(sample.project, for_editing=False) as reader:
        run_mapping(reader, run_request(str(sample.messages / "ledger.jsonl"), sink="noop", limit=10), spark)
    assert [run.report["read"] for run in workbench.kept.runs.newest()] == [10]


def test_a_cancelled_run_leaves_no_output_and_stays_in_the_history_as_cancelled(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess
) -> None:
    told: list[Progress] = []
    watch = Watch(told.append, lambda: any(progress.text.startswith("Mapping") for progress in told))
    out = sample.path / "out"
    with pytest.raises(RunCancelled):
        run_mapping(workbench, run_request(str(sample.messages), sink=str(out)), spark, watch=watch)
    assert not out.exists()
    (run,) = runs(workbench)
    assert run.status is RunStatus.CANCELLED


def test_what_cannot_be_run_is_refused_before_spark_is_asked(workbench: Workbench, sample: SampleFolder) -> None:
    source = str(sample.messages)
    with pytest.raises(UserError, match=r"State 0 of .* is not published"):
        run_mapping(workbench, run_request(source, mode="production", state=0))
    with pytest.raises(RunError, match="limit of 0"):
        run_mapping(workbench, run_request(source, limit=0))
    with pytest.raises(ProjectError, match="no state 9999"):
        run_mapping(workbench, run_request(source, state=9999))


def test_a_source_that_is_not_there_is_named(workbench: Workbench, sample: SampleFolder, spark: SparkProcess) -> None:
    with pytest.raises(RunError, match=r"ledgr\.jsonl"):
        run_mapping(workbench, run_request(str(sample.messages / "ledgr.jsonl"), sink="noop"), spark)
