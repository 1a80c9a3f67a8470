"""Production on a real Spark: published states, what waits held whole, unknown versions imported, and replays.

Every count is compared with one that was worked out without the engine (``tests.helpers.expected_runs``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.runs.report import RunReport
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.workbench.demo.sample import SampleFolder, add_waiting, fresh_copy
from metl_gui.workbench.importing.version_tasks import accept_task, entries, sample_records, version_tasks
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import confirm_all
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.replay import replay, what_waits
from metl_gui.workbench.session import Workbench
from tests.helpers import fx_files
from tests.helpers.expected_runs import Expected, expect, flat
from tests.helpers.run_requests import replay_request, run_request

Payloads = dict[tuple[str, str, str], dict[str, Any]]


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    with Workbench.open(sample.project) as opened:
        yield opened


def sent(*reports: RunReport) -> list[dict[str, Any]]:
    parts = (part for one in reports if one.outputs for part in Path(one.outputs).rglob("*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]


def payloads(*reports: RunReport) -> Payloads:
    """Return the payloads without nulls; each message stands for itself."""
    messages = sent(*reports)
    found = {(m["source"]["position"], m["entity"], m["op"]): flat(m["payload"]) for m in messages}
    assert len(found) == len(messages), "a message was sent twice"
    return found


def add_up(report: RunReport) -> None:
    assert report.read == report.mapped + report.filtered + report.set_aside + report.skipped
    assert sum(report.by_reason.values()) == report.set_aside
    assert sum(report.by_version.values()) <= report.read


def test_production_holds_what_needs_review_whole_and_a_replay_maps_it_once_it_is_confirmed(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    add_waiting(workbench, sample)
    held_state = publish(workbench).state
    held = expect(workbench.document, is_production=True)
    assert held.held
    request = run_request(
        str(sample.messages), str(tmp_path / "out"), mode="production", errors=str(tmp_path / "errors")
    )
    first = run_mapping(workbench, request, spark).report
    compare(first, held)
    assert (first.mode, first.state, first.by_reason["block_needs_review"]) == (
        "production",
        held_state,
        len(held.held),
    )
    assert not first.from_unreviewed
    parts = (tmp_path / "errors" / "reason=block_needs_review").glob("*.jsonl")
    rows = [json.loads(row) for part in parts for row in part.read_bytes().splitlines()]
    assert {row["position"] for row in rows} <= held.held
    assert "fx.payments.orders@" in rows[0]["detail"]
    assert " needs review: " in rows[0]["detail"]

    confirm_all(workbench, "smaller")
    wanted = replay_request(str(tmp_path / "errors"), str(tmp_path / "again"), mode="production")
    unpublished = replay(workbench, wanted, spark).report
    assert unpublished.by_reason["block_needs_review"] == len(held.held), "only what is published counts"
    assert unpublished.mapped == 0

    publish(workbench)
    after = expect(workbench.document, is_production=True)
    again = replay(
        workbench, replay_request(str(tmp_path / "errors"), str(tmp_path / "more"), mode="production"), spark
    )
    assert again.report.mapped + again.report.filtered == len(held.held)
    assert payloads(first, unpublished, again.report) == after.payloads
    assert all(message["replayed"] is True for message in sent(again.report))
    assert not any("replayed" in message for message in sent(first))
    assert {message["state"] for message in sent(again.report)} == {workbench.document.state}
    empty = replay(workbench, wanted, spark).report
    assert empty.read == first.set_aside - len(held.held), "what is malformed waits on"
    assert empty.mapped == 0


def compare(report: RunReport, expected: Expected) -> None:
    """Compare all counts and every payload with what was worked out without the engine."""
    add_up(report)
    assert report.read == expected.read
    assert report.mapped == expected.mapped
    assert report.filtered == expected.filtered
    other = report.by_skip.get("other", 0)
    assert report.by_skip == expected.skipped + Counter(other=other)
    assert report.by_entity == expected.by_entity
    assert report.set_aside + other == expected.hostile + len(expected.held) + len(expected.unknown)
    assert payloads(report) == expected.payloads


def test_what_is_left_is_mapped_where_a_schema_asks_for_it_and_counted_as_unreviewed(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    add_waiting(workbench, sample)
    schema = workbench.document.extraction.named(fx_files.waiting()[0])
    assert schema is not None
    workbench.do(SetSettings(Side.EXTRACTION, schema.id, (("meanwhile", "map what is left"),)))
    publish(workbench)
    report = run_mapping(
        workbench, run_request(str(sample.messages), str(tmp_path / "out"), mode="production"), spark
    ).report
    assert "block_needs_review" not in report.by_reason
    expected = expect(workbench.document)
    compare(report, expected)
    held = expect(workbench.document, is_production=True).held
    unreviewed = Counter(entity for position, entity, _ in expected.payloads if position in held)
    assert report.from_unreviewed == unreviewed


def test_records_of_an_unknown_version_become_a_task_and_once_it_is_accepted_a_replay_maps_them_all(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    before = expect(workbench.document)
    assert before.unknown
    result = run_mapping(workbench, run_request(str(sample.messages), str(tmp_path / "out")), spark)
    first = result.report
    compare(first, before)
    assert first.by_reason["unknown_version"] >= len(before.unknown)
    topic, facts = fx_files.waiting()
    task = next(task for task in result.version_tasks if task.schema == topic)
    assert task.records == len([position for position in before.unknown if position.startswith(f"{topic}/")])
    assert task.paths == {column[0] for column in facts}
    assert {entry.task.id: entry.is_new_schema for entry in entries(workbench)}[task.id] is False
    assert sample_records(workbench, task)
    assert str(tmp_path) not in json.dumps([sample.patterns for sample in task.samples])

    done = accept_task(workbench, task.id)
    assert [version.name for version in done.added] == [topic]
    assert done.needs_review
    assert task.id not in {left.id for left in version_tasks(workbench)}
    assert "unknown_version" in what_waits(first.errors).reasons
    again = replay(workbench, replay_request(first.errors, reasons=("unknown_version",)), spark).report
    add_up(again)
    assert again.read == first.by_reason["unknown_version"]
    assert again.mapped + again.filtered == task.records
    after = expect(workbench.document)
    assert payloads(first, again) == after.payloads
    assert "unknown_version" not in what_waits(first.errors).reasons or again.by_reason.get("unknown_version")
    assert [run.report["is_replay"] for run in workbench.kept.runs.newest()] == [True, False]


def test_a_damaged_error_store_is_named_and_everything_in_it_waits_as_before(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    errors = tmp_path / "errors"
    run_mapping(workbench, run_request(str(sample.messages / "hostile.jsonl"), "noop", errors=str(errors)), spark)
    part = next((errors / "reason=malformed").glob("*.jsonl"))
    part.write_bytes(part.read_bytes() + b'{"reason":"malformed"}\n')
    waiting = what_waits(errors)
    with pytest.raises(RunError, match=part.name):
        replay(workbench, replay_request(str(errors), str(tmp_path / "out")), spark)
    assert what_waits(errors) == waiting
    assert not (tmp_path / "out").exists()


def test_a_trial_marks_nothing(workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    run_mapping(workbench, run_request(str(sample.messages / "hostile.jsonl"), "noop", errors=str(errors)), spark)
    first = replay(workbench, replay_request(str(errors), "noop"), spark).report
    second = replay(workbench, replay_request(str(errors), "noop"), spark).report
    assert first.read == second.read > 0
    assert not list(errors.glob("_replayed/*"))
