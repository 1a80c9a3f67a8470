"""The sample in a warehouse: mapped and loaded in one run, loaded from messages that exist, and audited."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.progress import UNWATCHED, Progress, Watch
from metl_gui.core.runs.run_spec import Format, SinkSpec, SourceSpec
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.errors import RunError
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.loads.staged_loads import AGAIN
from metl_gui.workbench.loads.target_secrets import VARIABLE, mask_key_of
from metl_gui.workbench.loads.warehouse_loads import (
    LoadedRun,
    audit_warehouse,
    load_staged,
    load_warehouse,
    rebuild_warehouse,
    staging_request,
    target_tables,
)
from metl_gui.workbench.runs.mapping_run import RunRequest, run_mapping
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import set_values
from tests.helpers.killing import below, module
from tests.helpers.run_requests import run_request


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def sample(home: Path) -> SampleFolder:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    with Workbench.open(sample.project) as opened:
        yield opened


def load(
    workbench: Workbench, spark: SparkProcess, source: Path, target: str, *, is_messages: bool = False
) -> LoadedRun:
    source_spec = SourceSpec(address=str(source), holds="messages") if is_messages else SourceSpec(address=str(source))
    return load_warehouse(workbench, RunRequest(source_spec), target, spark=spark)


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what people read of the tables; keys are numbers that only count."""
    queries = {
        "customer": "SELECT * EXCLUDE (customer_key, customer_durable_key) FROM customer WHERE customer_key > 0",
        "account": """SELECT a.* EXCLUDE (account_key, account_durable_key, owner_durable_key), c.customer_id
            FROM account AS a LEFT JOIN customer_current AS c ON c.customer_durable_key = a.owner_durable_key
            WHERE account_key > 0""",
        "payment": """SELECT p.* EXCLUDE (payer_key, payer_durable_key), c.customer_id, c.version_number
            FROM payment AS p LEFT JOIN customer AS c ON c.customer_key = p.payer_key""",
    }
    with duckdb.connect(str(path), read_only=True) as connection:
        return {table: sorted(connection.execute(query).fetchall(), key=repr) for table, query in queries.items()}


def test_the_sample_is_mapped_loaded_audited_and_loaded_again_without_a_change(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    path = tmp_path / "fx.duckdb"
    target = f"duckdb:{path}"
    done = load(workbench, spark, sample.messages, target)
    report, entities = done.load, ("customer", "account", "payment")
    assert report.messages == report.appended == sum(done.run.report.by_entity[entity] for entity in entities)
    assert report.tables["payment"].inserted == len(contents(path)["payment"]) > 0
    assert not Path(done.run.report.outputs).exists()
    assert audit_warehouse(workbench, target).problems == ()

    before = contents(path)
    again = load(workbench, spark, sample.messages, target).load
    assert (again.appended, again.repeated) == (0, report.messages)
    assert all((t.inserted, t.updated, t.removed) == (0, 0, 0) for t in again.tables.values())
    assert contents(path) == before

    # What one run wrote as messages, loaded file by file in another order, is the same warehouse.
    run = run_mapping(workbench, run_request(str(sample.messages), str(tmp_path / "messages")), spark)
    other = tmp_path / "other.duckdb"
    counted = 0
    for entity in sorted(entities, reverse=True):
        part = load(workbench, spark, Path(run.report.outputs) / entity, f"duckdb:{other}", is_messages=True).load
        assert part.messages == part.appended + part.repeated + part.void + part.set_aside
        counted += part.appended
    assert counted == report.appended
    assert contents(other) == before
    assert audit_warehouse(workbench, f"duckdb:{other}").problems == ()


def test_messages_in_parquet_become_the_warehouse_that_lines_of_json_do(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    kinds: tuple[Format, ...] = ("jsonl", "parquet")
    runs = {
        kind: run_mapping(workbench, run_request(str(sample.messages), str(tmp_path / kind), format=kind), spark).report
        for kind in kinds
    }
    refused = {
        json.loads(line)["position"]
        for path in Path(runs["parquet"].errors).glob("reason=type_mismatch/*")
        for line in path.read_text().splitlines()
    }
    for part in Path(runs["jsonl"].outputs).rglob("*.jsonl"):  # typed columns take no record in part
        lines = part.read_text().splitlines(keepends=True)
        part.write_text("".join(line for line in lines if json.loads(line)["source"]["position"] not in refused))
    done, found = {}, {}
    targets = {kind: f"duckdb:{tmp_path / kind}.duckdb" for kind in kinds}
    for kind, target in targets.items():
        done[kind] = load(workbench, spark, Path(runs[kind].outputs), target, is_messages=True)
        found[kind] = contents(tmp_path / f"{kind}.duckdb")
        assert audit_warehouse(workbench, target).problems == ()
    again = load(workbench, spark, Path(runs["parquet"].outputs), targets["parquet"], is_messages=True).load
    json_lines, typed = done["jsonl"], done["parquet"]
    assert found["parquet"] == found["jsonl"]
    assert typed.load.messages == typed.load.appended == json_lines.load.messages > 2000
    assert (again.appended, again.repeated) == (0, typed.load.messages)
    assert typed.run.report.by_version == json_lines.run.report.by_version
    assert typed.run.report.by_entity == json_lines.run.report.by_entity


def test_a_load_of_parquet_that_is_killed_while_it_stages_leaves_nothing_and_is_done_again(
    sample: SampleFolder, spark: SparkProcess, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    path = tmp_path / "fx.duckdb"
    with Workbench.open(sample.project) as workbench:
        asked = run_request(str(sample.messages), str(tmp_path / "messages"), format="parquet")
        source = run_mapping(workbench, asked, spark).report.outputs
    before = {*home.rglob("*.parquet")}
    command = ["warehouse", "load", str(sample.project), "--source", source, "--target", f"duckdb:{path}"]
    with subprocess.Popen([sys.executable, "-m", module("metl_gui.cli.main"), *command]) as loading:
        while loading.poll() is None and before.issuperset(home.rglob("*.parquet")):
            time.sleep(0.002)
        for process_id in (loading.pid, *below(loading.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
    assert loading.returncode == -signal.SIGKILL
    assert not path.exists()
    with Workbench.open(sample.project) as workbench:
        done = load(workbench, spark, Path(source), f"duckdb:{path}", is_messages=True).load
        assert done.messages == done.appended > 2000
        assert audit_warehouse(workbench, f"duckdb:{path}").problems == ()


def test_an_audit_finds_what_was_changed_by_hand_and_a_rebuild_mends_it(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    path = tmp_path / "fx.duckdb"
    target = f"duckdb:{path}"
    load(workbench, spark, sample.messages, target)
    before = contents(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE customer SET country = 'XX' WHERE customer_key = 5")
        connection.execute("DELETE FROM payment WHERE payment_id = (SELECT MIN(payment_id) FROM payment)")
    found = {(one.table, one.rule): one.rows for one in audit_warehouse(workbench, target).problems}
    assert found == {("customer", "follows from the histories"): 1, ("payment", "follows from the histories"): 1}
    rebuild_warehouse(workbench, target)
    assert contents(path) == before

    set_values(workbench, "customer", [("columns.segment.history", "2")])
    with pytest.raises(TargetError, match="rebuild"):
        load(workbench, spark, sample.messages / "payments.jsonl", target)
    keys = "SELECT customer_id, MIN(customer_key) FROM customer WHERE customer_key > 0 GROUP BY ALL ORDER BY ALL"
    with duckdb.connect(str(path), read_only=True) as connection:
        kept = connection.execute(keys).fetchall()
    rebuild_warehouse(workbench, target)
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute(keys).fetchall() == kept
    assert audit_warehouse(workbench, target).problems == ()


def test_a_plan_says_what_a_load_would_do_and_leaves_nothing(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    request = RunRequest(SourceSpec(address=str(sample.messages / "payments.jsonl")))
    planned = load_warehouse(workbench, request, f"duckdb:{tmp_path / 'fx.duckdb'}", spark=spark, is_dry=True).load
    assert planned.tables["payment"].inserted > 0
    assert list(tmp_path.iterdir()) == []


def test_what_tasks_stage_for_a_target_of_hashes_has_no_masked_value_in_it(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, source = "a secret for tests alone", sample.messages / "accounts.jsonl"
    monkeypatch.setenv(VARIABLE, secret)
    entity = workbench.document.cdm.named("account")
    assert entity is not None
    workbench.do(SetSettings(Side.CDM, entity.id, (("mask", "iban"),)))
    try:
        found, tables = target_tables(workbench.document, f"duckdb:{tmp_path}/fx.duckdb?masked=hash")
        asked = RunRequest(SourceSpec(address=str(source)), state=workbench.document.state)
        request, tables = staging_request(workbench, asked, found, tables)
        run = run_mapping(workbench, request, spark)
        outputs = Path(run.report.outputs)
        staged = "".join(str(pq.read_table(path).to_pylist()) for path in outputs.rglob("*.parquet"))
        kept = "".join(path.read_text(errors="replace") for path in outputs.parent.rglob("*.json*"))
        ibans = set(re.findall(r'iban\\":\\"([A-Z0-9]+)', source.read_text()))
        assert len(ibans) > 10
        assert not [one for one in ibans if one in staged or one in kept]
        key = mask_key_of(workbench.project_id, makes=False)
        assert any(key.hashed(one) in staged for one in ibans)
        assert secret not in kept
        assert base64.b64encode(key.value).decode() not in kept
        owner = Owner(project=workbench.project_id, mode="test")
        assert load_staged(found, tables, owner, run, UNWATCHED).tables["account"].inserted > 0
    finally:
        workbench.do(SetSettings(Side.CDM, entity.id, (("mask", ""),)))


def test_a_part_that_is_damaged_is_staged_again_once(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, home: Path, tmp_path: Path
) -> None:
    times: list[int] = []

    def damage(progress: Progress) -> None:
        """Change a byte of a part between its run and its load, as often as is left."""
        if progress.text == "Loading the warehouse" and times:
            part = next(home.glob("cache/**/messages/account/*.parquet"))
            whole = part.read_bytes()
            part.write_bytes(whole[: len(whole) // 2] if len(times) > 1 else whole[:-40] + b"X" + whole[-39:])
            times.pop()

    def loaded(damages: int) -> LoadedRun:
        times[:] = [1] * damages
        errors = SinkSpec(errors=str(tmp_path / f"errors-{damages}"))
        request = RunRequest(SourceSpec(address=str(sample.messages / "accounts.jsonl")), errors)
        return load_warehouse(workbench, request, f"duckdb:{tmp_path}/fx.duckdb", spark=spark, watch=Watch(damage))

    with pytest.raises(TargetError, match="A staged part is damaged"):
        loaded(2)
    assert list((tmp_path).glob("errors*")) == []
    done = loaded(1)
    assert done.load.appended > 0
    assert AGAIN in done.run.report.problems
    assert AGAIN not in loaded(0).run.report.problems


def test_what_is_no_target_is_refused_before_anything_runs(workbench: Workbench, sample: SampleFolder) -> None:
    with pytest.raises(RunError, match="no target"):
        load_warehouse(workbench, RunRequest(SourceSpec(address=str(sample.messages))), "sqlite:fx.db")
