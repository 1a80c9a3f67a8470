"""Rows of histories from real runs: of changes as they are mapped, and of messages that exist; both say the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui.core.dimensional.histories import entity_histories
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.staging.sink import staged_parts
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.runs.mapping_run import RunResult, run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleFolder]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("sample")
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    with Workbench.open(sample.project) as opened:
        yield opened


def run(workbench: Workbench, spark: SparkProcess, source: Path, sink: Path, **options: Any) -> RunResult:
    return run_mapping(workbench, run_request(str(source), str(sink), **options), spark)


def rows_by_entity(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what is staged, rows in the order of their places."""
    found: dict[str, list[dict[str, Any]]] = {}
    for part in staged_parts(folder):
        table = pq.ParquetFile(part.path).read()
        assert table.num_rows == part.rows
        found.setdefault(part.entity, []).extend(without_batches(table).to_pylist())
    return {entity: sorted(rows, key=place) for entity, rows in sorted(found.items())}


def without_batches(table: pa.Table) -> pa.Table:
    """Return times as numbers, as Python has no dates and times of all years."""
    columns = [
        column.cast(pa.int64())
        if pa.types.is_timestamp(column.type)
        else column.cast(pa.int32())
        if pa.types.is_date(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["position_log"], row["position_partition"], row["position_offset"], row["op"], row["row_key"] or ""


def test_changes_staged_by_a_run_are_the_messages_of_its_report_and_messages_staged_are_the_same_rows(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    staged = run(workbench, spark, sample.messages, tmp_path / "stage", format="stage").report
    rows = rows_by_entity(tmp_path / "stage")
    assert staged.format == "stage"
    assert {entity: len(found) for entity, found in rows.items()} == staged.by_entity
    columns = {one.entity: [column.name for column in one.columns] for one in entity_histories(workbench.document)}
    assert all(list(found[0])[15:] == columns[entity] for entity, found in rows.items())

    written = run(workbench, spark, sample.messages, tmp_path / "lines").report
    again = run(workbench, spark, tmp_path / "lines", tmp_path / "again", format="stage", holds="messages").report
    assert again.read == written.messages_out
    assert again.mapped == sum(again.by_entity.values())
    assert again.set_aside == again.by_reason.get("type_mismatch", 0) == again.read - again.mapped
    # A mapping run sets whole records aside, with what their other blocks became.
    refused = {json.loads(line)["position"] for line in set_aside(Path(staged.errors), "type_mismatch")}
    left = {
        entity: [row for row in found if position(row) not in refused]
        for entity, found in rows_by_entity(tmp_path / "again").items()
    }
    assert left == rows
    assert Counter(again.by_entity) >= Counter(staged.by_entity)


def position(row: dict[str, Any]) -> str:
    return f"{row['position_log']}/{row['position_partition']}/{row['position_offset']}"


def set_aside(errors: Path, reason: str) -> list[bytes]:
    parts = (errors / f"reason={reason}").glob("*")
    return [line for part in parts for line in part.read_bytes().splitlines()]
