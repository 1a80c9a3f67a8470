"""What several source rows of one key say together, and what stood there before, is asked where there is any."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.statements import Step
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, Warehouse, row_key
from tests.unit.warehouse.worlds import at, part, person_dimension, visit_fact


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


def steps_of(warehouse: Warehouse, persons: list[Message], name: str) -> dict[str, str]:
    """Load messages, and return the statements that were run by their titles."""
    parts, done = [part(warehouse.folder, "person", persons)], dict[str, str]()

    def note(step: Step, _rows: int) -> None:
        done[step.title] = step.statement

    load_parts(warehouse.target, warehouse.tables, parts, name, OWNER, note)
    return done


def test_what_stands_there_is_looked_at_where_there_is_any(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    one, two = (
        steps_of(warehouse, [person(first + id_, "a", str(id_), id_, f"{load} {id_}") for id_ in range(3)], load)
        for load, first in (("one", 1), ("two", 4))
    )
    for title, looked_at in {
        "Give keys to versions of person": "metl_versions_person",
        "Find rows of person that are no longer": "_wanted_person",
        "Find rows of person that differ": "_before_person",
        "Find rows of person that are new": "_before_person",
    }.items():
        assert looked_at not in one[title]
        assert looked_at in two[title]
    query = "SELECT person_key, city FROM person WHERE person_key > 0 ORDER BY person_key"
    found = [(int(key), city.split()[0]) for key, city in warehouse.target.rows(query)]
    assert found == [*((key, "one") for key in (1, 2, 3)), *((key, "two") for key in (4, 5, 6))]


@pytest.mark.parametrize("column", ["rowid", "ROWID"])
def test_a_column_that_is_called_as_places_of_rows_are_changes_no_key(
    new_target: NewTarget, tmp_path: Path, column: str
) -> None:
    columns = Column(name="city", path="city", history=2), Column(name=column, path="mood", history=2)
    dimension = person_dimension(columns=columns)
    warehouse = Warehouse(new_target, tmp_path, dimension)
    steps_of(warehouse, [person(id_, "a", str(id_), id_, "Kiel") for id_ in (1, 2, 3)], "one")
    found = warehouse.target.rows("SELECT person_key, version_number FROM person WHERE person_key > 0 ORDER BY 1")
    assert [tuple(map(int, row)) for row in found] == [(1, 1), (2, 1), (3, 1)]
