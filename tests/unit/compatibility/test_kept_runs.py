"""Run folders of earlier versions: listed, shown, charted, and their outputs and errors looked into."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.runs.events import RunProgressed, RunStarted, decode_event, encode_event
from metl_gui.workbench.runs.history import events_of, find_past
from metl_gui.workbench.samples.run_records import first_results, first_set_aside
from metl_gui.workbench.session import Workbench
from tests.compatibility.answers import lacking
from tests.compatibility.installed import Installed

RUNS = {
    "first": "finished",
    "replay": "finished",
    "test": "finished",
    "parquet": "finished",
    "production": "finished",
    "stream": "stopped",
    "ended": "stopped",
    "died": "died",
    "cancelled": "cancelled",
    "killed-spark": "killed",
    "switched-off": "killed",
}


@pytest.mark.parametrize("run", RUNS)
def test_a_kept_run_is_shown_with_the_report_and_the_order_that_it_had(looked_at: Installed, run: str) -> None:
    shown = looked_at.metl("runs", looked_at.project, "--show", looked_at.json("runs.json")[run])
    then = _listed(looked_at, run)
    assert (shown["status"], list(lacking(then, shown))) == (RUNS[run], [])
    report = shown["report"]
    assert report["read"] > 0
    assert report["read"] == report["mapped"] + report["filtered"] + report["set_aside"] + report["skipped"]


@pytest.mark.parametrize("run", RUNS)
def test_every_event_of_a_kept_run_is_read_as_it_was_told(looked_at: Installed, run: str) -> None:
    path = next(looked_at.root.glob(f"cache/*/runs/*/{looked_at.json('runs.json')[run]}/events.jsonl"))
    lines = path.read_bytes().splitlines()
    told = [json.loads(encode_event(decode_event(line))) for line in lines]
    assert [list(lacking(json.loads(line), event)) for line, event in zip(lines, told, strict=True)] == [[]] * len(
        lines
    )


@pytest.mark.parametrize("run", RUNS)
def test_the_charts_of_a_kept_run_have_its_beginning_and_its_counts(looked_at: Installed, run: str) -> None:
    with Workbench.open(looked_at.project, for_editing=False) as workbench:
        past = find_past(workbench, looked_at.json("runs.json")[run])
        events = events_of(workbench, past.run_id)
    told = [event.tally for event in events if isinstance(event, RunProgressed)]
    assert any(isinstance(event, RunStarted) for event in events)
    assert 0 < told[-1].read <= past.report.read
    assert told[-1].read == past.report.read or past.report.batches


def test_a_run_that_was_switched_off_is_taken_up_once_by_whoever_looks_first(kept: Installed) -> None:
    run_id = kept.json("runs.json")["switched-off"]
    folder = next(kept.root.glob(f"cache/*/runs/*/{run_id}"))
    assert (folder / "begun.json").exists()
    for _ in range(2):
        found = [one["run_id"] for one in kept.metl("runs", kept.project)["runs"]]
        assert found.count(run_id) == 1
    assert not (folder / "begun.json").exists()


def test_two_kept_runs_are_compared_figure_by_figure(looked_at: Installed) -> None:
    ids = looked_at.json("runs.json")
    compared = looked_at.metl("runs", looked_at.project, "--compare", ids["test"], ids["production"])
    before, after = (_listed(looked_at, run)["report"] for run in ("test", "production"))
    figures = {row["name"]: (row["a"], row["b"]) for row in compared["rows"]}
    assert figures["messages"] == (before["messages_out"], after["messages_out"])
    reasons = {row["name"]: (row["a"], row["b"]) for row in compared["by_reason"]}
    assert reasons["block_needs_review"] == (0, after["by_reason"]["block_needs_review"])


def test_records_that_a_kept_run_kept_beside_their_messages_are_those_messages(looked_at: Installed) -> None:
    folder = next(looked_at.root.glob(f"cache/*/runs/*/{looked_at.json('runs.json')['test']}"))
    shown = first_results(folder / "samples", 20, "payment")
    written = (looked_at.root / "out" / "test").glob("payment/*.jsonl")
    lines = {line for path in written for line in path.read_bytes().splitlines()}
    assert shown
    assert {bytes(sent.message) for record in shown for sent in record.outgoing if sent.entity == "payment"} <= lines


def test_a_kept_error_store_shows_as_many_records_of_each_reason_as_were_set_aside(looked_at: Installed) -> None:
    report = _listed(looked_at, "first")["report"]
    found = first_set_aside(Path(looked_at.root / "errors"), 1_000)
    assert Counter(record.reason for record in found) == report["by_reason"]
    raw = b"".join(path.read_bytes() for path in (looked_at.root / "source").glob("*.jsonl"))
    assert all(record.incoming in raw for record in found)


def _listed(installed: Installed, run: str) -> dict[str, Any]:
    """Return what the version itself listed of a run."""
    run_id = installed.json("runs.json")[run]
    (found,) = (one for one in installed.json("answers/runs.json")["runs"] if one["run_id"] == run_id)
    return dict(found)
