"""What a target says of itself: the inputs of its tables that are no messages."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.dimensional.rows.messages import Position
from metl_gui.warehouse.status import EpochEntry, target_status
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, PERSONS, VISITS, Warehouse
from tests.unit.warehouse.worlds import at


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
    assert str(PERSONS[0].row_key) not in str(found.as_json())
