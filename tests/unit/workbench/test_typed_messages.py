"""Messages in typed columns are no source of a warehouse, and that is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.errors import RunError
from metl_gui.workbench.loads.warehouse_loads import load_warehouse
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "messages" / "payment" / "part-0.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PAR1")
    return path


@pytest.mark.parametrize("up", [0, 1, 2])
def test_parquet_is_refused_by_what_it_lacks(workbench: Workbench, parquet: Path, tmp_path: Path, up: int) -> None:
    place = [parquet, *parquet.parents][up]
    request = RunRequest(SourceSpec(address=str(place), holds="messages"))
    with pytest.raises(RunError, match="do not say what a history needs"):
        load_warehouse(workbench, request, f"duckdb:{tmp_path / 'fx.duckdb'}")
    assert not (tmp_path / "fx.duckdb").exists()
