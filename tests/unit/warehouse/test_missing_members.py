"""Members that no message has brought: listed with what refers to them, until their message comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.dimensional.loads.load_report import TableCounts
from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Model, OnMiss
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.missing_members import missing_members
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, guest, model_of, parse, part, person_dimension, visit_fact

OWNER = Owner(project="p", mode="test")


def message(entity: str, number: int, values: dict[str, Any]) -> Message:
    return Message(
        schema=entity,
        row_key=f'{{"n":{number}}}',
        order_key=f"{number:04}",
        op="c",
        values=values,
        committed_at=at(number),
        seen_at=at(number),
    )


def visit(number: int, who: int | None) -> Message:
    return message("visit", number, {"no": number, "who": who, "at": at(number), "fee": 1})


VISITS = [visit(1, 7), visit(2, 7), visit(3, 8), visit(4, None)]


@pytest.mark.parametrize(("on_miss", "kind"), [("infer", "inferred"), ("wait", "waiting"), ("unknown", "unknown")])
def test_a_missing_member_is_listed_with_its_facts_until_it_comes(
    tmp_path: Path, new_target: NewTarget, on_miss: OnMiss, kind: str
) -> None:
    _, shapes = model_of(person_dimension(), visit_fact(references=(guest(on_miss),)))
    target = new_target(tmp_path)
    load_parts(target, shapes, [part(tmp_path, "visit", VISITS)], "1", OWNER)
    seven, eight = missing_members(target, shapes)
    assert (seven.dimension, seven.key, seven.fact, seven.role) == ("person", ("7",), "visit", "guest")
    assert (seven.kind, seven.facts, eight.key, eight.facts) == (kind, 2, ("8",), 1)
    assert seven.since == (at(1) if on_miss == "infer" else None)
    came = message("person", 9, {"id": 7, "city": "Kiel"})
    load_parts(target, shapes, [part(tmp_path, "person", [came])], "2", OWNER)
    assert missing_members(target, shapes) == (eight,)


@pytest.mark.parametrize("covers_past", [True, False])
def test_a_fact_that_waits_for_one_member_lets_no_other_be_inferred(
    tmp_path: Path, new_target: NewTarget, covers_past: bool
) -> None:
    host = msgspec.structs.replace(guest("wait"), role="host", on=(("fee", "id"),))
    _, shapes = model_of(person_dimension(covers_past=covers_past), visit_fact(references=(guest(), host)))
    target = new_target(tmp_path)
    visits = [visit(1, 7), message("visit", 2, {"no": 2, "who": 8, "at": at(2), "fee": 5})]
    known = [message("person", number, {"id": number, "city": "Kiel"}) for number in (5, 8)]
    load_parts(target, shapes, [part(tmp_path, "visit", visits), part(tmp_path, "person", known)], "1", OWNER)
    rows = 'SELECT "no" FROM visit'
    inferred = "SELECT id, version_number FROM person WHERE is_inferred ORDER BY id"
    before = [] if covers_past else [(5, 0), (8, 0)]
    assert [(int(key), number) for key, number in target.rows(inferred)] == before
    assert target.rows(rows) == [(2,)]
    again = load_parts(target, shapes, [part(tmp_path, "visit", visits)], "2", OWNER)
    assert again.tables.get("person", TableCounts()) == TableCounts()
    assert audit(target, shapes, OWNER) == ()
    load_parts(target, shapes, [part(tmp_path, "person", [message("person", 1, {"id": 1})])], "3", OWNER)
    assert sorted(target.rows(rows)) == [(1,), (2,)]
    assert [int(key) for key, number in target.rows(inferred) if number] == [7]
    assert audit(target, shapes, OWNER) == ()


def test_a_member_that_comes_alone_is_met_by_facts_whose_entity_has_another_table(
    tmp_path: Path, new_target: NewTarget
) -> None:
    stay = Dimension(name="stay", entity="visit", columns=(Column(name="fee", path="fee"),))
    model = Model(name="world", tables=(person_dimension(), stay, visit_fact(references=(guest("wait"),))))
    tables = shapes(model, [PERSON, VISIT], parse)
    target = new_target(tmp_path)
    load_parts(target, tables, [part(tmp_path, "visit", VISITS)], "1", OWNER)
    assert target.rows('SELECT "no" FROM visit') == [(4,)]
    target.reopen()
    came = message("person", 9, {"id": 7, "city": "Kiel"})
    load_parts(target, tables, [part(tmp_path, "person", [came])], "2", OWNER)
    assert sorted(target.rows('SELECT "no" FROM visit')) == [(1,), (2,), (4,)]
    assert audit(target, tables, OWNER) == ()


def test_many_facts_before_the_first_version_of_a_member_share_one_row_of_that_time(
    tmp_path: Path, new_target: NewTarget
) -> None:
    _, shapes = model_of(person_dimension(covers_past=False), visit_fact())
    target = new_target(tmp_path)
    load_parts(target, shapes, [part(tmp_path, "visit", VISITS)], "1", OWNER)
    came = message("person", 9, {"id": 7, "city": "Kiel"})
    load_parts(target, shapes, [part(tmp_path, "person", [came])], "2", OWNER)
    versions = "SELECT id, version_number FROM person WHERE is_inferred OR id = 7 ORDER BY id, version_number"
    assert [(int(key), number) for key, number in target.rows(versions)] == [(7, 0), (7, 1), (8, 1)]
    assert audit(target, shapes, OWNER) == ()


def test_so_many_are_read_of_each_reference_and_the_oldest_first(tmp_path: Path, new_target: NewTarget) -> None:
    _, shapes = model_of(person_dimension(), visit_fact())
    target = new_target(tmp_path)
    load_parts(target, shapes, [part(tmp_path, "visit", [visit(2, 1), visit(1, 2)])], "1", OWNER)
    found: tuple[MissingMember, ...] = missing_members(target, shapes, limit=1)
    assert [one.key for one in found] == [("2",)]
