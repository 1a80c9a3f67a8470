"""The sample loaded again after an edit: what it was mapped to before is void, whichever of both comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.loads.warehouse_loads import audit_warehouse, load_warehouse
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    with Workbench.open(sample.project) as opened:
        yield opened


def test_what_a_run_covered_is_void_from_lower_states_before_and_after_it(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    source = SourceSpec(address=str(sample.messages / "payments.jsonl"))
    before = replace(RunRequest(source), state=workbench.document.state)
    target = f"duckdb:{tmp_path / 'fx.duckdb'}"
    first = load_warehouse(workbench, before, target, spark=spark).load
    set_settings(workbench, "fx.payments.orders", ["time_zone=Europe/Berlin"])
    after = replace(before, state=workbench.document.state)
    second = load_warehouse(workbench, after, target, spark=spark).load
    assert (second.void, second.repeated, second.appended) == (0, 0, second.messages)
    assert audit_warehouse(workbench, target).problems == ()
    with duckdb.connect(str(tmp_path / "fx.duckdb"), read_only=True) as connection:
        publications = "SELECT DISTINCT publication FROM metl_replays"
        assert connection.execute(publications).fetchall() == [(after.state,)]
    last = load_warehouse(workbench, before, target, spark=spark).load
    assert (last.repeated, last.void) == (first.messages, 0)
    reversed_ = f"duckdb:{tmp_path / 'reversed.duckdb'}"
    load_warehouse(workbench, after, reversed_, spark=spark)
    late = load_warehouse(workbench, before, reversed_, spark=spark).load
    assert (late.void, late.appended, late.keys.changed) == (first.messages, 0, 0)
