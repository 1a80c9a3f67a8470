"""Real changes of a real table, from Debezium's topic through production runs in batches and into topics and files."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metl_gui.engine.execution.client import SparkProcess
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.postgres import PostgresServer
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.production import live_runs, resume_production, start_production, stop_run
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import committed, end_everything, kill
from tests.helpers.lanes import LaneWorld, Sent
from tests.helpers.run_requests import run_request
from tests.helpers.table_project import table_project
from tests.live.conftest import WatchTables

pytestmark = [pytest.mark.live, pytest.mark.spark]

ROWS = 300
COLUMNS = {"id": "int64", "count": "int64", "name": "string"}


@pytest.fixture
def table(postgres: PostgresServer, own_name: str) -> str:
    postgres.execute(
        f"CREATE TABLE {own_name} (id bigint PRIMARY KEY, count bigint NOT NULL, name text);"
        f"ALTER TABLE {own_name} REPLICA IDENTITY FULL"
    )
    return own_name


@pytest.fixture
def workbench(tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A project of the table; no process of its runs outlives the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with table_project(tmp_path / "orders.metl", f"{table}.public.{table}", COLUMNS, "order") as opened:
        yield opened
        for run in live_runs(opened.project_id):
            stop_run(run, 10)
            end_everything(run)


def wait_for(is_so: Callable[[], object], seconds: float = 300.0) -> None:
    """Wait for a condition, long enough for a computer that starts several Java programs at once."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def rows_of(postgres: PostgresServer, table: str) -> dict[int, tuple[int, str]]:
    rows = postgres.execute(f"SELECT id, count, name FROM {table}")
    return {int(str(id_)): (int(str(count)), str(name)) for id_, count, name in rows}


def last_of(found: list[Sent]) -> dict[int, tuple[int, str]]:
    """Return the rows that a consumer ends with who never goes back to a lower position of a row."""
    rows: dict[int, tuple[int, dict[str, Any]]] = {}
    for one in found:
        if one.value is None:
            continue
        told = one.document
        place, id_ = int(one.position.rpartition("/")[2]), told["key"]["id"]
        if place >= rows.get(id_, (-1, {}))[0]:
            rows[id_] = place, told
    kept = {id_: told["payload"] for id_, (_, told) in rows.items() if told["op"] != "d"}
    return {id_: (payload["count"], payload["name"]) for id_, payload in kept.items()}


def test_changes_of_a_table_survive_the_kill_of_their_run_with_repeats_that_can_be_told(
    kafka: KafkaBroker,
    postgres: PostgresServer,
    debezium: WatchTables,
    table: str,
    workbench: Workbench,
    spark: SparkProcess,
    tmp_path: Path,
) -> None:
    world = LaneWorld(kafka.servers, table)
    debezium([f"public.{table}"], table)
    source = kafka.address(f"{table}.public.{table}")
    postgres.execute(f"INSERT INTO {table} SELECT n, 0, 'row ' || n FROM generate_series(1, {ROWS}) n")
    wait_for(lambda: f"{table}.public.{table}" in world.admin.list_topics(timeout=10).topics)
    request = run_request(
        source=source,
        sink=kafka.address(world.sink),
        errors=kafka.address(world.errors),
        mode="production",
        follow=True,
        has_tombstones=True,
        spark="local[2]",
    )
    run = start_production(workbench, request)
    wait_for(lambda: committed(run) > 0 or not run.is_alive)
    postgres.execute(f"UPDATE {table} SET count = count + 1 WHERE id <= 100")
    kill(run, "production")
    wait_for(lambda: not run.is_alive)
    postgres.execute(f"UPDATE {table} SET count = count + 1 WHERE id <= 50; DELETE FROM {table} WHERE id > 290")
    run = resume_production(workbench, run.run_id)
    rows = rows_of(postgres, table)
    assert len(rows) == ROWS - 10
    changes = ROWS + 100 + 50 + 10
    # Messages are there before their batch counts; a run that is stopped in between sends them again.
    wait_for(lambda: run.report().read >= changes + 10 or not run.is_alive)
    assert last_of(world.sent(world.sink)) == rows
    assert stop_run(run, 60)
    report = run.report()
    assert (report.read, report.mapped, report.skipped) == (changes + 10, changes, 10)  # and Debezium's tombstones
    found = world.sent(world.sink)
    by_position = Counter(one.position for one in found if one.value is not None)
    assert len(by_position) == changes
    contents = {(one.position, one.value) for one in found if one.value is not None}
    assert len(contents) == changes, "a repeat says something else than what it repeats"
    assert all(one.headers["metl.schema"] == f"{table}.public.{table}" for one in found)

    out = tmp_path / "files"
    asked = run_request(source=source, sink=str(out), errors=str(tmp_path / "aside"), mode="production")
    told = run_mapping(workbench, asked, spark).report
    assert (told.read, told.mapped, told.messages_out) == (changes + 10, changes, changes)
    lines = [line for part in out.rglob("*.jsonl") for line in part.read_bytes().splitlines()]
    written = {json.loads(line)["source"]["position"] for line in lines}
    assert written == set(by_position)
