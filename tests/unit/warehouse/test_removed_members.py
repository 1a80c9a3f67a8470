"""Members that are removed and still referred to are inferred, and keep one key for as long as they are."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.warehouse.audit import audit
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, PERSONS, VISITS, Warehouse, row_key
from tests.unit.warehouse.worlds import at, person_dimension

KEYS = "SELECT person_key, is_inferred FROM person WHERE id = 1"
GONE = Message("a", row_key("1"), "0003", "d", committed_at=at(9), seen_at=at(9))


def test_a_removed_member_keeps_the_key_that_it_is_inferred_with(tmp_path: Path, new_target: NewTarget) -> None:
    warehouse = Warehouse(new_target, tmp_path, person_dimension(on_delete="remove"))
    warehouse.load([*PERSONS, GONE], VISITS[:1])
    first = warehouse.target.rows(KEYS)
    assert [is_inferred for _, is_inferred in first] == [True]
    assert audit(warehouse.target, warehouse.tables, OWNER) == ()
    late = Message("a", row_key("1"), "00015", "u", {"id": 1, "city": "Ulm"}, committed_at=at(2), seen_at=at(2))
    assert warehouse.load([late]).tables["visit"].updated == 0
    assert warehouse.target.rows(KEYS) == first


def test_a_removed_member_that_comes_again_takes_that_key_along(tmp_path: Path, new_target: NewTarget) -> None:
    warehouse = Warehouse(new_target, tmp_path, person_dimension(on_delete="remove"))
    warehouse.load([*PERSONS, GONE], VISITS[:1])
    ((key, _),) = warehouse.target.rows(KEYS)
    back = Message("a", row_key("1"), "0004", "c", {"id": 1, "city": "Jena"}, committed_at=at(11), seen_at=at(11))
    warehouse.load([back])
    assert (key, False) in warehouse.target.rows(KEYS)
    assert audit(warehouse.target, warehouse.tables, OWNER) == ()
