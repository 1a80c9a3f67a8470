"""Numbers of forgotten keys: none is left that tells of one, and what facts wait for keeps its own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Model, OnMiss, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER
from tests.unit.warehouse.worlds import PERSON, VISIT, at, guest, model_of, parse, part, person_dimension, visit_fact

NOTHING = {"id": None, "city": None, "mood": None, "nick": None, "since": None}


def inputs(target: WarehouseTarget, tables: TableShapes) -> TargetInputs:
    return TargetInputs(target, tables, OWNER, secret=lambda: b"a secret of tests")


def person(key: int, hour: int, op: str = "c", **values: str) -> Message:
    carried = {**NOTHING, "id": key, **values}
    return Message("a", f'{{"id":{key}}}', f"{hour:04}", op, carried, committed_at=at(hour), seen_at=at(hour))


def visit(number: int, hour: int, op: str = "c", fee: int = 1) -> Message:
    carried = {"no": number, "who": 1, "at": at(hour), "fee": fee}
    return Message("v", f'{{"no":{number}}}', f"{hour:04}", op, carried, committed_at=at(hour), seen_at=at(hour))


@pytest.mark.parametrize("on_miss", ["wait", "unknown"])
def test_facts_find_a_forgotten_member_when_it_comes_again(
    on_miss: OnMiss, tmp_path: Path, new_target: NewTarget
) -> None:
    target, tables = new_target(tmp_path), model_of(person_dimension(), visit_fact(references=(guest(on_miss),)))[1]
    parts = [part(tmp_path, "person", [person(1, 1)]), part(tmp_path, "visit", [visit(1, 2)])]
    inputs(target, tables).load(parts, "first")
    inputs(target, tables).forget("person", '{"id":1}')
    assert target.rows("SELECT guest_key FROM visit") == ([] if on_miss == "wait" else [(0,)])
    again = inputs(target, tables).load([part(tmp_path, "person", [person(1, 9)])], "again")
    assert again.waiting == 0
    found = "SELECT p.id FROM visit AS v JOIN person AS p ON p.person_key = v.guest_key AND p.person_key > 0"
    assert [int(key) for (key,) in target.rows(found)] == [1]
    assert audit(target, tables, OWNER) == ()


def test_children_do_not_name_the_forgotten_key_that_opened_their_versions(
    tmp_path: Path, new_target: NewTarget
) -> None:
    reference = Reference(dimension="person", role="guest", on=(("who", "id"),), as_of="version", cascade=True)
    stay = Dimension(
        name="stay", entity="visit", columns=(Column(name="fee", path="fee", history=2),), references=(reference,)
    )
    tables = shapes(Model(name="world", tables=(person_dimension(), stay)), [PERSON, VISIT], parse)
    target, key = new_target(tmp_path), '{"mail":"eve@example.org"}'
    persons = [
        msgspec.structs.replace(one, row_key=key)
        for one in (person(1, 1, city="Kiel"), person(1, 20, "u", city="Bonn"))
    ]
    visits = [visit(1, 10), visit(1, 15, "u", 2)]
    inputs(target, tables).load([part(tmp_path, "person", persons), part(tmp_path, "visit", visits)], "first")
    opened = "SELECT COUNT(*) FROM metl_versions_stay WHERE opened_by LIKE '%eve@example.org%'"
    assert target.rows(opened) == [(1,)]
    inputs(target, tables).forget("person", key)
    assert target.rows(opened) == [(0,)]
    assert audit(target, tables, OWNER) == ()


def test_a_parent_is_forgotten_that_no_child_was_ever_below(tmp_path: Path) -> None:
    reference = Reference(dimension="person", role="guest", on=(("who", "id"),), cascade=True)
    stay = Dimension(
        name="stay", entity="visit", columns=(Column(name="fee", path="fee", history=2),), references=(reference,)
    )
    tables = shapes(Model(name="world", tables=(person_dimension(), stay)), [PERSON, VISIT], parse)
    parts = [part(tmp_path, "person", [person(1, 1), person(2, 2)]), part(tmp_path, "visit", [visit(1, 2)])]
    with DuckDb(tmp_path / "w.duckdb") as target:
        inputs(target, tables).load(parts, "first")
    with DuckDb(tmp_path / "w.duckdb") as target:  # as each command opens it, with nothing left of a load
        assert inputs(target, tables).forget("person", '{"id":2}').messages == 1
        assert target.rows("SELECT CAST(_k0 AS INTEGER) FROM metl_members_person") == [(1,)]
        assert audit(target, tables, OWNER) == ()


@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_a_key_is_forgotten_of_which_all_messages_are_set_aside(tmp_path: Path, is_rebuilt: bool) -> None:
    wide, narrow = (
        model_of(person_dimension(columns=(Column(name="city", path="city", type=type_, history=2),)))[1]
        for type_ in ("text(9)", "text(4)")
    )
    parts = [part(tmp_path, "person", [person(1, 1, city="Kiel"), person(2, 2, city="Hamburg")])]
    with DuckDb(tmp_path / "w.duckdb") as target:
        inputs(target, wide if is_rebuilt else narrow).load(parts, "first")
    with DuckDb(tmp_path / "w.duckdb") as target:
        inputs(target, narrow).rebuild()
    with DuckDb(tmp_path / "w.duckdb") as target:
        purge = inputs(target, narrow).forget("person", '{"id":2}')
        assert (purge.messages, purge.set_aside, purge.numbers) == (0, 1, 2 if is_rebuilt else 0)
        assert target.rows("SELECT CAST(_k0 AS INTEGER) FROM metl_members_person") == [(1,)]
        assert target.rows("SELECT COUNT(*) FROM metl_versions_person") == [(1,)]
        assert audit(target, narrow, OWNER) == ()


def test_two_dimensions_of_an_entity_forget_a_key_of_it(tmp_path: Path, new_target: NewTarget) -> None:
    reference = Reference(dimension="town", role="home", on=(("city", "city"),), as_of="version", cascade=True)
    moods = (Column(name="spirit", path="mood", history=2),)
    town = Dimension(name="town", entity="person", business_key=("city",), columns=moods)
    persons = Dimension(name="person", entity="person", columns=moods, references=(reference,))
    tables = shapes(Model(name="world", tables=(town, persons)), [PERSON], parse)
    target = new_target(tmp_path)
    messages = [person(1, 1, city="Kiel"), person(2, 2, city="Ulm")]
    inputs(target, tables).load([part(tmp_path, "person", messages)], "first")
    forgets = inputs(target, tables)
    assert forgets.forget("person", '{"id":1}').numbers == 4
    assert forgets.report.keys.changed == 2
    assert target.rows("SELECT _k0 FROM metl_members_town") == [("Ulm",)]
    assert audit(target, tables, OWNER) == ()


def test_tables_that_the_model_has_no_more_keep_no_number_of_a_forgotten_key(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target, fact = new_target(tmp_path), visit_fact(references=(), degenerate=(Column(name="at", path="at"),))
    junk = msgspec.structs.replace(fact, junk=("at",))
    before, after = (
        shapes(Model(name="world", tables=tables), [PERSON, VISIT], parse)
        for tables in ((person_dimension(), junk), (fact,))
    )
    mail = msgspec.structs.replace(person(1, 1, city="Kiel"), row_key='{"mail":"eve@example.org"}')
    parts = [part(tmp_path, "person", [mail]), part(tmp_path, "visit", [visit(1, 2)])]
    inputs(target, before).load(parts, "first")
    inputs(target, after).rebuild()
    kept = ("metl_members_person", "metl_versions_person", "metl_combinations_visit_junk")
    count = " + ".join(f"(SELECT COUNT(*) FROM {table})" for table in kept)
    assert target.rows(f"SELECT {count}") == [(3,)]
    assert inputs(target, after).forget("person", str(mail.row_key)).numbers == 3
    assert target.rows(f"SELECT {count}") == [(0,)]
    inputs(target, before).rebuild()
    assert audit(target, before, OWNER) == ()
    assert target.rows("SELECT visit_junk_key FROM visit") == [(2,)]
