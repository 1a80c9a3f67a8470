"""What runs and loads set aside, replayed into a warehouse: taken out of the error store once its load stands."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from metl_gui.core.runs.run_spec import ReplayOrder, SourceSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.sources.error_store import ErrorStore
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.loads.replayed_loads import replay_into_warehouse
from metl_gui.workbench.loads.warehouse_loads import LoadedRun, audit_warehouse, load_warehouse
from metl_gui.workbench.runs.mapping_run import RunRequest, run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request
from tests.spark.test_warehouse import contents, home, sample, workbench

__all__ = ["home", "sample", "workbench"]


def load(workbench: Workbench, spark: SparkProcess, source: SourceSpec, target: str) -> LoadedRun:
    return load_warehouse(workbench, RunRequest(source), target, spark=spark)


def replayed(
    workbench: Workbench, spark: SparkProcess, errors: str, target: str, *, is_messages: bool = False
) -> LoadedRun:
    holds: Any = "messages" if is_messages else UNSET
    source = SourceSpec(address=errors, replay=ReplayOrder(("too_large",)), holds=holds)
    return replay_into_warehouse(workbench, RunRequest(source), target, spark=spark)


@pytest.mark.parametrize("is_messages", [False, True])
def test_what_was_set_aside_comes_in_later_and_makes_the_warehouse_whole(
    workbench: Workbench,
    sample: SampleFolder,
    spark: SparkProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_messages: bool,
) -> None:
    address = str(sample.messages / "payments.jsonl")
    if is_messages:
        address = run_mapping(workbench, run_request(address, str(tmp_path / "messages")), spark).report.outputs
    whole = SourceSpec(address=address, holds="messages" if is_messages else UNSET)
    parts = msgspec.structs.replace(whole, max_record_bytes=median_bytes(Path(address)))
    load(workbench, spark, whole, f"duckdb:{tmp_path / 'whole.duckdb'}")
    target = f"duckdb:{tmp_path / 'fx.duckdb'}"
    first = load(workbench, spark, parts, target)
    errors = first.run.report.errors
    waiting = first.run.report.by_reason["too_large"]
    assert waiting > 0
    assert first.load.appended > 0

    # A load that the target refuses leaves all waiting.
    with monkeypatch.context() as patch:
        patch.setattr("metl_gui.warehouse.loader.Loader.load", refuse)
        with pytest.raises(TargetError, match="refused"):
            replayed(workbench, spark, errors, target, is_messages=is_messages)
    assert ErrorStore.at(errors).marks("test") == []
    assert not list(Path(errors).glob("replayed/*/reason=*"))

    done = replayed(workbench, spark, errors, target, is_messages=is_messages)
    assert (done.run.report.read, done.load.appended > 0, done.load.repeated) == (waiting, True, 0)
    assert not Path(done.run.report.outputs).exists()
    assert contents(tmp_path / "fx.duckdb") == contents(tmp_path / "whole.duckdb")
    assert audit_warehouse(workbench, target).problems == ()
    again = replayed(workbench, spark, errors, target, is_messages=is_messages)
    assert (again.run.report.read, again.load.messages) == (0, 0)


def median_bytes(source: Path) -> int:
    """Return a limit that about half of the records exceed."""
    files = source.rglob("*.jsonl") if source.is_dir() else [source]
    return int(median(len(line) for file in files for line in file.read_bytes().splitlines()))


def refuse(*_: object, **__: object) -> None:
    raise TargetError("The target refused it")
