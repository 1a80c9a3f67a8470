"""What several source rows of one key say together is asked where there are such keys, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.statements import Step
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, Warehouse, row_key
from tests.unit.warehouse.worlds import at, part, visit_fact


def person(place: int, schema: str, row: str, number: int, city: str) -> Message:
    values = {"id": number, "city": city}
    return Message(schema, row_key(row), f"{place:04}", "c", values, committed_at=at(place), seen_at=at(place))


def visit(place: int, schema: str, row: str, number: int, fee: int) -> Message:
    values = {"no": number, "who": 1, "at": at(place), "fee": fee}
    return Message(schema, row_key(row), f"{place:04}", "c", values, committed_at=at(place), seen_at=at(place))


def asked_of_shared_keys(warehouse: Warehouse, persons: list[Message], visits: list[Message], name: str) -> set[str]:
    """Load messages, and return the titles of the steps that looked for keys which several rows have."""
    parts, done = [part(warehouse.folder, "person", persons), part(warehouse.folder, "visit", visits)], list[Step]()
    load_parts(warehouse.target, warehouse.tables, parts, name, OWNER, lambda step, _: done.append(step))
    assert {"_shared_person", "_shared_visit"} <= {step.made for step in done}
    return {step.title for step in done if '"_shared_' in step.statement and not step.made.startswith("_shared_")}


def test_rows_of_one_key_are_put_together_where_there_are_any(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    persons = [person(1, "a", "1", 1, "Kiel"), person(2, "a", "2", 2, "Bonn")]
    assert asked_of_shared_keys(warehouse, persons, [visit(3, "a", "1", 1, 10)], "alone") == set()
    asked = asked_of_shared_keys(warehouse, [person(4, "b", "9", 1, "Ulm")], [visit(5, "b", "9", 1, 20)], "together")
    assert asked == {"Lay out the times of person", "Find the last values of person", "Find the last values of visit"}
    found = warehouse.target.rows("SELECT id, city FROM person WHERE person_key > 0 AND is_current ORDER BY id")
    assert [(int(id_), city) for id_, city in found] == [(1, "Ulm"), (2, "Bonn")]
    assert [int(fee) for (fee,) in warehouse.target.rows("SELECT fee FROM visit")] == [20]


def test_postings_of_rows_of_one_key_are_put_together_where_there_are_any(
    new_target: NewTarget, tmp_path: Path
) -> None:
    fact = visit_fact(on_correction="reverse", on_delete="reverse")
    warehouse = Warehouse(new_target, tmp_path, fact=fact)
    asked = asked_of_shared_keys(warehouse, [person(1, "a", "1", 1, "Kiel")], [visit(2, "a", "1", 1, 10)], "one")
    assert asked == set()
    asked = asked_of_shared_keys(warehouse, [person(3, "a", "2", 2, "Bonn")], [visit(4, "b", "9", 1, 20)], "two")
    assert asked == {"Find what visit was at each time"}
    assert sorted(int(fee) for (fee,) in warehouse.target.rows("SELECT fee FROM visit")) == [-10, 10, 20]
