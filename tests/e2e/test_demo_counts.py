"""The demo's run on Spark against the same files mapped by A1, message by message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.demo.sample import DemoResult, run_demo
from metl_gui.workbench.session import Workbench
from tests.helpers.expected_runs import Expected, expect, flat
from tests.helpers.spark_fixtures import commands_on


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, spark: SparkProcess) -> DemoResult:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, commands_on(spark):
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        return run_demo()


@pytest.fixture(scope="module")
def expected(demo: DemoResult) -> Expected:
    with Workbench.open(demo.project, for_editing=False) as workbench:
        return expect(workbench.document)


def test_every_record_of_the_demo_is_counted_once_and_as_plain_reading_counts_it(
    demo: DemoResult, expected: Expected
) -> None:
    report = demo.run.report
    assert report.read == report.mapped + report.filtered + report.set_aside + report.skipped == expected.read
    assert (report.mapped, report.filtered) == (expected.mapped, expected.filtered)
    hostile = report.set_aside + report.by_skip.get("other", 0)
    assert hostile == expected.hostile
    assert {kind: n for kind, n in report.by_skip.items() if kind != "other"} == dict(expected.skipped)
    assert sum(report.by_reason.values()) == report.set_aside


def test_the_demo_sends_the_messages_of_sequential_mapping_and_no_other(demo: DemoResult, expected: Expected) -> None:
    found = {}
    for part in Path(demo.run.report.outputs).rglob("*.jsonl"):
        for line in part.read_text(encoding="utf-8").splitlines():
            message = json.loads(line)
            place = message["source"]["position"], message["entity"], message["op"]
            assert place not in found
            found[place] = flat(message["payload"])
    assert found.keys() == expected.payloads.keys()
    differing = {place for place, payload in found.items() if payload != expected.payloads[place]}
    assert differing == set()
    assert demo.run.report.by_entity == dict(expected.by_entity)
    assert len(found) == demo.run.report.messages_out


def test_every_line_of_the_error_store_holds_its_record_whole(demo: DemoResult) -> None:
    stored = [
        json.loads(line)
        for part in Path(demo.run.report.errors).rglob("*.jsonl")
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
    assert len(stored) == demo.run.report.set_aside
    assert all(("raw" in row) != ("raw_base64" in row) for row in stored)
    assert all(row["detail"] for row in stored)
