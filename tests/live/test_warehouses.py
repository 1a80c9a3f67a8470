"""The sample in a schema of a PostgreSQL database, beside the same in a DuckDB file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.stack.postgres import PostgresServer
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.plans.statements import name, names
from metl_gui.workbench.demo.sample import fresh_copy
from metl_gui.workbench.loads.targets import find_target
from metl_gui.workbench.loads.warehouse_loads import audit_warehouse, load_warehouse, model_shapes, rebuild_warehouse
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench


@pytest.fixture
def password(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where libpq looks for one, as no address holds it."""
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    return postgres.password


def contents(target: WarehouseTarget, tables: list[str]) -> dict[str, list[str]]:
    """Return the rows of tables, as text, without the keys that only count."""
    found = {}
    for table in tables:
        columns = target.columns(table)
        kept = [one for one in columns if not one.endswith("_key") or one.startswith("booked") or table == "date"]
        listed = ", ".join(f"CAST({name(one)} AS VARCHAR) AS {name(one)}" for one in kept)
        rows: list[tuple[Any, ...]] = target.rows(
            f"SELECT {names(kept)} FROM (SELECT {listed} FROM {name(table)}) AS t"
        )
        found[table] = sorted(map(repr, rows))
    return found


def test_the_sample_is_the_same_warehouse_in_postgresql_as_in_a_file(
    postgres: PostgresServer,
    password: str,
    spark: SparkProcess,
    own_folders: dict[str, str],
    own_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, own_folders[variable])
    sample = fresh_copy()
    server, file = f"{postgres.address}?schema={own_name}", f"duckdb:{tmp_path}/fx.duckdb"
    with Workbench.open(sample.project) as workbench:
        request = RunRequest(SourceSpec(address=str(sample.messages)))
        reports = [load_warehouse(workbench, request, target, spark=spark).load for target in (server, file)]
        assert reports[0].tables == reports[1].tables
        assert reports[0].appended == reports[1].appended > 0
        assert audit_warehouse(workbench, server).problems == ()
        again = load_warehouse(workbench, request, server, spark=spark).load
        assert (again.appended, again.repeated) == (0, again.messages)
        tables = [one.name for one in model_shapes(workbench.document).model.tables]
        with find_target(server, "").open() as ours, find_target(file, "").open() as others:
            expected = contents(others, tables)
            assert contents(ours, tables) == expected
        rebuild_warehouse(workbench, server)
        with find_target(server, "").open() as ours:
            assert contents(ours, tables) == expected
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if password.encode() in path.read_bytes()]
