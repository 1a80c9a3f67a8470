"""Texts that hardly repeat are packed as running text where the format of the file knows how."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.plans.dimensions.dimension_tables import create_dimension
from metl_gui.warehouse.plans.load_plan import create_histories
from metl_gui.warehouse.plans.statements import name
from tests.unit.warehouse.worlds import HISTORIES, model_of, person_dimension


@pytest.mark.parametrize(("format_", "packing"), [("v2.0.0", "ZSTD"), ("v1.0.0", "FSST")])
def test_texts_are_packed_as_the_format_of_the_file_allows(tmp_path: Path, format_: str, packing: str) -> None:
    path = tmp_path / "w.duckdb"
    duckdb.connect(str(path), config={"storage_compatibility_version": format_}).close()
    _, found = model_of(person_dimension())
    with DuckDb(path) as target:
        for step in (*create_histories(HISTORIES.values()), *create_dimension(found.dimensions[0])):
            if step.unlike:
                target.step(step)
        kept = "row_key, order_key, op, seen_at"
        texts = "SELECT 'row ' || i, 'p' || i * 8, 'u', TIMESTAMPTZ '2026-01-01' FROM RANGE(20000) AS t(i)"
        target.run(f"INSERT INTO metl_history_person ({kept}) {texts}")
        target.run("INSERT INTO metl_versions_person SELECT i, 'p' || i * 8, i FROM RANGE(20000) AS t(i)")
        target.run("CHECKPOINT")
        for table, column in (("history", "row_key"), ("history", "order_key"), ("versions", "opened_by")):
            assert _packings(target, f"metl_{table}_person", column) == {packing}
        assert packing not in _packings(target, "metl_history_person", "op")


def _packings(target: DuckDb, table: str, column: str) -> set[str]:
    query = """SELECT DISTINCT compression FROM pragma_storage_info(?)
        WHERE column_name = ? AND segment_type = 'VARCHAR'"""
    return {packing for (packing,) in target.rows(query, [table, column])}


def test_every_column_that_is_packed_so_is_one_of_the_table() -> None:
    _, found = model_of(person_dimension())
    steps = [*create_histories(HISTORIES.values()), *create_dimension(found.dimensions[0])]
    packed = [
        (step.statement, f"({name(one)} VARCHAR", f" {name(one)} VARCHAR") for step in steps for one in step.unlike
    ]
    assert len(packed) == 7
    assert all(first in statement or later in statement for statement, first, later in packed)
