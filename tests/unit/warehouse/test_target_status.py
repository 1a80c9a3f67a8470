"""What a target says of itself: the inputs of its tables that are no messages."""

from __future__ import annotations

from pathlib import Path

import msgspec

from metl_gui.core.dimensional.loads.load_report import TableCounts
from metl_gui.core.dimensional.loads.rebuild_cost import RebuildCost
from metl_gui.core.dimensional.rows.messages import Position
from metl_gui.warehouse.attribute_changes import remember
from metl_gui.warehouse.load_memory import rate_of, remember_rate
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.status import EpochEntry, target_status
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, PERSONS, VISITS, Warehouse
from tests.unit.warehouse.worlds import at, model_of, person_dimension, visit_fact


def test_epochs_forgotten_keys_and_compactions_are_told(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    warehouse.load(PERSONS, VISITS)
    target, tables = warehouse.target, warehouse.tables
    before = target_status(target, tables)
    assert (before.epochs, before.forgotten, before.compacted_before) == ((), {}, None)
    inputs = TargetInputs(target, tables, OWNER, secret=lambda: b"a secret of tests")
    inputs.begin_epoch("a", [Position("log", 0, 900)])
    inputs.forget("person", str(PERSONS[0].row_key))
    inputs.compact(at(0.5))
    found = target_status(target, tables)
    assert found.epochs == (EpochEntry(schema="a", begins_at="log/0/900", epoch=1),)
    assert (found.forgotten, found.compacted_before) == ({"person": 1}, at(0.5))
    assert list(found.forgotten_at) == ["person"]
    assert found.forgotten_at["person"].tzinfo is not None
    assert str(PERSONS[0].row_key) not in str(found.as_json())


def test_a_rebuild_that_is_needed_is_told_with_what_it_makes_anew_and_how_long_that_takes(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    warehouse.load(PERSONS, VISITS)
    target = warehouse.target
    assert target_status(target, warehouse.tables).rebuild is None
    assert (rate_of(target) or 0) > 0
    remember(target, "rows per second", "0.1")
    _, changed = model_of(person_dimension(on_delete="flag"), visit_fact())
    found = target_status(target, changed)
    versions, facts = found.tables["person"], found.tables["visit"]
    assert versions > 0
    assert facts > 0
    rows = sum(found.tables.values())
    assert found.rebuild == RebuildCost(tables=3, rows=rows, versions=versions, facts=facts, minutes=rows / 6)
    assert found.as_json()["rebuild"]["facts"] == facts
    Loader(target, changed, OWNER).rebuild()
    assert target_status(target, changed).rebuild is None
    assert (rate_of(target) or 0) > 0.1


def test_the_greatest_rate_of_a_target_stays_and_loads_that_write_nothing_have_none(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    warehouse.load(PERSONS, VISITS)
    target = warehouse.target
    for rows, seconds, known in ((100, 1.0, 100.0), (10, 1.0, 100.0), (0, 1.0, 100.0), (300, 2.0, 150.0)):
        if rows == 100:
            remember(target, "rows per second", "0")
        remember_rate(target, [TableCounts(inserted=rows)], seconds)
        assert rate_of(target) == known
    assert target.rows("SELECT COUNT(*) FROM metl_target WHERE name = 'rows per second'") == [(1,)]


def test_a_rebuild_is_said_in_one_line() -> None:
    cost = RebuildCost(tables=1, rows=2_000, versions=1_500, facts=1)
    assert cost.words == "2,000 rows in 1 table anew, 1,500 versions, 1 fact re-keyed"
    for minutes, words in ((0.4, "under a minute"), (1.2, "about 1 minute"), (90.4, "about 90 minutes")):
        assert msgspec.structs.replace(cost, minutes=minutes).words.endswith(words)


def test_a_target_of_before_says_when_the_keys_were_forgotten_that_came_since(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    warehouse.load(PERSONS, VISITS)
    target, tables = warehouse.target, warehouse.tables
    inputs = TargetInputs(target, tables, OWNER, secret=lambda: b"a secret of tests")
    inputs.forget("person", str(PERSONS[0].row_key))
    target.run("ALTER TABLE metl_forgotten DROP COLUMN forgotten_at")
    found = target_status(target, tables)
    assert (found.forgotten, found.forgotten_at) == ({"person": 1}, {})
    inputs.forget("visit", str(VISITS[0].row_key))
    found = target_status(target, tables)
    assert (found.forgotten, list(found.forgotten_at)) == ({"person": 1, "visit": 1}, ["visit"])
