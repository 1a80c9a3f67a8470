"""A replay into a warehouse that fails deletes nothing that it did not make."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest

from metl_gui.core.runs.run_spec import ReplayOrder, RunSpec, SinkSpec, SourceSpec
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.errors import UserError
from metl_gui.workbench.loads import replayed_loads
from metl_gui.workbench.loads.replayed_loads import replay_into_warehouse
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import import_model
from tests.unit.workbench.conftest import fill, write_table

_MODEL = """warehouse: pay
tables:
  - {dimension: p, entity: payment, business_key: [payment_id], columns: [{name: amount, from: amount, type: text}]}
"""
_RECORD = {"reason": "malformed", "detail": "x", "state": 1, "schema": "", "version": "", "position": "f@0", "raw": "{"}


@pytest.fixture
def project(tmp_path: Path) -> Workbench:
    workbench = Workbench.create(tmp_path / "pay.metl")
    fill(workbench)
    rows = ("fx.pay.orders,1,id,payment,1,payment_id", "fx.pay.orders,1,amount,payment,1,amount")
    import_mapping(workbench, write_table(tmp_path, *rows))
    (tmp_path / "m.yaml").write_text(_MODEL)
    import_model(workbench, tmp_path / "m.yaml")
    return workbench


@pytest.mark.parametrize("set_aside", ["precious", "errors"])
def test_the_folder_for_what_is_set_aside_again_stays_when_it_is_refused(
    project: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_aside: str
) -> None:
    store = tmp_path / "errors" / "reason=malformed"
    store.mkdir(parents=True)
    (store / "part-000000-0-0.jsonl").write_bytes(msgspec.json.encode(_RECORD) + b"\n")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")

    def run_prepared(_workbench: Workbench, spec: RunSpec, *_: Any, **__: Any) -> NoReturn:
        Staging(spec).prepare()  # the first thing a run does
        raise AssertionError("The folder was not refused.")

    monkeypatch.setattr(replayed_loads, "run_prepared", run_prepared)
    request = RunRequest(
        SourceSpec(address=str(tmp_path / "errors"), replay=ReplayOrder(())),
        SinkSpec(errors=str(tmp_path / set_aside)),
    )
    with project, pytest.raises(UserError):
        replay_into_warehouse(project, request, f"duckdb:{tmp_path / 'x.duckdb'}")
    assert (store / "part-000000-0-0.jsonl").is_file()
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "years of work"
