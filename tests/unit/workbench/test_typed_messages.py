"""Messages in Parquet are checked as a source of a warehouse before anything runs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.errors import RunError
from metl_gui.workbench.loads.followed_loads import follow_warehouse
from metl_gui.workbench.loads.warehouse_loads import load_warehouse
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import import_model
from tests.unit.workbench.test_warehouse_models import PAY


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """A part as versions of before wrote them."""
    path = tmp_path / "messages" / "payment" / "version=2.0.0" / "part-0.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"entity": ["payment"], "op": ["c"], "source": [{"schema": "s"}]}), path)
    return path


@pytest.mark.parametrize("up", [0, 1, 2, 3])
def test_parquet_of_before_is_refused_by_the_column_that_it_lacks(
    mapped: Workbench, part: Path, tmp_path: Path, up: int
) -> None:
    model = tmp_path / "pay.yaml"
    model.write_text(PAY, encoding="utf-8")
    import_model(mapped, model)
    place = [part, *part.parents][up]
    request = RunRequest(SourceSpec(address=str(place), holds="messages"))
    with pytest.raises(RunError) as caught:
        load_warehouse(mapped, request, f"duckdb:{tmp_path / 'fx.duckdb'}")
    assert f"{part} does not say what its messages leave out (column absent)" in caught.value.text
    assert "metl run --format parquet" in caught.value.hint
    assert not (tmp_path / "fx.duckdb").exists()


def test_parquet_is_not_followed(workbench: Workbench, part: Path, tmp_path: Path) -> None:
    request = RunRequest(SourceSpec(address=str(part.parent), holds="messages", follow=True))
    with pytest.raises(RunError, match="not followed"):
        follow_warehouse(workbench, request, f"duckdb:{tmp_path / 'fx.duckdb'}")
    assert not (tmp_path / "fx.duckdb").exists()
