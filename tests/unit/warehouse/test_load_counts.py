"""What a load counts of odd messages: keys with nulls, and other content at one place of a log."""

from __future__ import annotations

from pathlib import Path

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.statements import Step
from metl_gui.workbench.loads.warehouse_loads import load_lines
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER, Warehouse, row_key
from tests.unit.warehouse.worlds import at, part


def person(place: int, key: str, number: int | None, city: str = "Kiel", schema: str = "a") -> Message:
    values = {"id": number, "city": city}
    return Message(schema, row_key(key), f"{place:04}", "c", values, committed_at=at(place), seen_at=at(place))


def test_messages_without_a_business_key_are_counted_by_schema_when_they_come(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    first = [person(1, "1", 1), person(2, "2", None), person(3, "3", None, schema="b"), person(4, "2", None)]
    assert warehouse.load(first).no_business_key == {"a": 2, "b": 1}
    assert warehouse.load([*first, person(5, "2", None)]).no_business_key == {"a": 1}
    assert warehouse.load([person(6, "2", 2)]).no_business_key == {}


def test_a_key_that_a_message_before_carries_is_none_that_is_missing(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    partial = Message("a", row_key("1"), "0002", "u", {"city": "Bonn"}, committed_at=at(2), seen_at=at(2))
    assert warehouse.load([person(1, "1", 1), partial]).no_business_key == {}


def test_other_content_at_one_place_is_counted_once_whatever_the_batches(new_target: NewTarget, tmp_path: Path) -> None:
    said = [
        msgspec.structs.replace(person(1, "1", 1, city), position=Position("log", 0, offset))
        for offset, city in enumerate(("Kiel", "Bonn", "Ulm"))
    ]
    together = Warehouse(new_target, tmp_path)
    assert together.load([*said, *said, person(1, "2", 2)]).ambiguous_order == {"a": 2}
    apart = Warehouse(new_target, tmp_path)
    counts = [apart.load(some).ambiguous_order for some in (said[:1], said[:2], said, said)]
    assert counts == [{}, {"a": 1}, {"a": 1}, {}]
    mapped_again = [msgspec.structs.replace(said[2], publication=1, values={"id": 1, "city": "Jena"})]
    assert apart.load(mapped_again).ambiguous_order == {}
    assert apart.target.rows("SELECT city FROM person WHERE person_key > 0 AND is_current") == [("Jena",)]


def test_a_load_runs_no_step_that_has_nothing_to_write(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    known = [person(1, "1", 1), person(2, "2", 2)]
    warehouse.load(known)
    done: list[Step] = []
    parts = [part(tmp_path, "person", [*known, person(3, "1", 1)])]
    load_parts(warehouse.target, warehouse.tables, parts, "the same again", OWNER, lambda step, _: done.append(step))
    assert any(step.made == "_changed_person" for step in done)
    assert [step.title for step in done if step.table == "person"] == []
    assert [step.title for step in done if step.statement.startswith("UPDATE metl_numbers")] == []


def test_people_read_what_was_counted() -> None:
    report = LoadReport(load="x", messages=3, appended=3, no_business_key={"a": 2}, ambiguous_order={"b": 1})
    assert load_lines(report)[1:] == [
        "a: messages with a null in their key, which make no row: 2.",
        "b: messages that contradict others at one place of the log: 1.",
    ]
