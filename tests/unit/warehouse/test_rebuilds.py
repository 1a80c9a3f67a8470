"""A rebuild by another model holds what loads by that model would have given."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.warehouse_model import Bridge, Column, Dimension, Junk, Model, Periodic, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, parse, part, person_dimension, visit_fact

OWNER = Owner(project="world", mode="test")
DAYS = Periodic(name="person_day", of="person", every="day", time_zone="UTC", columns=("city",))


def tables(type_: str) -> TableShapes:
    """Return the tables of persons and their days, with cities of a type."""
    persons = person_dimension(columns=(Column(name="city", path="city", history=1, type=type_),))
    return shapes(Model(name="world", tables=(persons, DAYS)), [PERSON], parse)


def person(key: int, hour: int, city: str, op: str = "c") -> Message:
    values = {"id": key, "city": city, "mood": None, "nick": None, "since": None}
    place = Position("p", 0, hour)
    time = at(hour)
    return Message("a", f'{{"id":{key}}}', f"{hour:04}", op, values, position=place, committed_at=time, seen_at=time)


MESSAGES = [person(1, 1, "Kielkielkiel"), person(2, 70, "12"), person(1, 90, "Bonnbonnbonn", "u")]


def everything(target: WarehouseTarget) -> list[object]:
    """Return what a target holds, but for when and by what it came."""
    return [
        target.rows("SELECT id, city, first_known FROM person WHERE person_key > 0 ORDER BY id"),
        target.rows("SELECT date_key, city FROM person_day ORDER BY 1, 2"),
        target.rows("SELECT row_key, order_key, seen_at, position_offset FROM metl_history_person ORDER BY 1, 2"),
        target.rows('SELECT row_key, order_key, city, "_column" FROM metl_set_aside_person ORDER BY 1, 2'),
    ]


def loaded(target: WarehouseTarget, folder: Path, type_: str, messages: list[Message]) -> WarehouseTarget:
    Loader(target, tables(type_), OWNER).load([part(folder, "person", messages)], "a load")
    return target


@pytest.mark.parametrize("narrow", ["text(3)", "integer"])
def test_what_a_narrower_type_cannot_hold_is_set_aside(narrow: str, tmp_path: Path, new_target: NewTarget) -> None:
    target = loaded(new_target(tmp_path), tmp_path, "text(30)", MESSAGES)
    rebuilt = Loader(target, tables(narrow), OWNER).rebuild()
    assert rebuilt.set_aside == 2
    assert target.rows("SELECT city FROM metl_set_aside_person ORDER BY city") == [("Bonnbonnbonn",), ("Kielkielkiel",)]
    fresh = loaded(new_target(tmp_path), tmp_path, narrow, MESSAGES)
    assert everything(target)[0] == everything(fresh)[0]
    assert everything(target)[2:] == everything(fresh)[2:]
    assert audit(target, tables(narrow), OWNER) == ()
    again = Loader(target, tables(narrow), OWNER).load([part(tmp_path, "person", MESSAGES)], "again")
    assert (again.repeated, again.appended, again.set_aside, again.keys.changed) == (3, 0, 0, 0)


def test_what_was_set_aside_and_fits_now_counts_as_if_it_had_come(tmp_path: Path, new_target: NewTarget) -> None:
    target = loaded(new_target(tmp_path), tmp_path, "text(3)", MESSAGES)
    Loader(target, tables("text(30)"), OWNER).rebuild()
    fresh = loaded(new_target(tmp_path), tmp_path, "text(30)", MESSAGES)
    assert everything(target) == everything(fresh)
    assert len(target.rows("SELECT * FROM person_day")) > 0
    watermarks = "SELECT entity, schema, latest, earliest FROM metl_watermarks"
    assert target.rows(watermarks) == fresh.rows(watermarks)
    assert audit(target, tables("text(30)"), OWNER) == ()


def test_a_message_that_was_set_aside_twice_is_taken_up_once(tmp_path: Path, new_target: NewTarget) -> None:
    later = msgspec.structs.replace(MESSAGES[0], position=Position("p", 0, 5), seen_at=at(9))
    target = loaded(new_target(tmp_path), tmp_path, "text(3)", [MESSAGES[0], later])
    Loader(target, tables("text(30)"), OWNER).rebuild()
    assert target.rows("SELECT seen_at, position_offset FROM metl_history_person") == [(at(1), 1)]
    assert target.rows("SELECT COUNT(*) FROM metl_set_aside_person") == [(0,)]


def test_there_and_back_again_a_rebuild_changes_nothing(tmp_path: Path, new_target: NewTarget) -> None:
    target = loaded(new_target(tmp_path), tmp_path, "text(30)", MESSAGES)
    before = everything(target)
    Loader(target, tables("integer"), OWNER).rebuild()
    Loader(target, tables("text(30)"), OWNER).rebuild()
    assert everything(target) == before
    assert audit(target, tables("text(30)"), OWNER) == ()


def test_pairs_whose_members_may_be_missing_are_made_again(tmp_path: Path, new_target: NewTarget) -> None:
    references = tuple(
        Reference(dimension="person", role=role, on=((path, "id"),), on_miss="wait")
        for role, path in (("guest", "who"), ("host", "fee"))
    )
    pairs = Bridge(name="pairs", entity="visit", references=references)
    made = shapes(Model(name="world", tables=(person_dimension(), pairs)), [PERSON, VISIT], parse)
    target = new_target(tmp_path)
    values = {"no": 1, "who": 1, "at": None, "fee": 2}
    visit = Message("v", '{"no":1}', "0003", "c", values, committed_at=at(3), seen_at=at(3))
    parts = [part(tmp_path, "person", [person(1, 1, "Kiel"), person(2, 2, "Ulm")]), part(tmp_path, "visit", [visit])]
    Loader(target, made, OWNER).load(parts, "a load")
    before = target.rows("SELECT * FROM pairs")
    Loader(target, made, OWNER).rebuild()
    assert target.rows("SELECT * FROM pairs") == before
    assert len(before) == 1


def keyed(column: str) -> TableShapes:
    """Return the tables of a dimension with a column as its business key."""
    cities = Dimension(
        name="place", entity="person", business_key=(column,), columns=(Column(name="spirit", path="mood"),)
    )
    return shapes(Model(name="world", tables=(cities,)), [PERSON], parse)


def test_a_key_by_another_column_takes_no_number_of_the_one_before(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    swapped = [
        Message("a", f'{{"id":{key}}}', f"000{key}", "c", {"id": key, "city": city, "nick": nick}, seen_at=at(key))
        for key, city, nick in ((1, "Kiel", "Ulm"), (2, "Ulm", "Kiel"))
    ]
    Loader(target, keyed("city"), OWNER).load([part(tmp_path, "person", swapped)], "a load")
    numbers = "SELECT {}, place_durable_key FROM place WHERE place_key > 0 ORDER BY 1"
    before = target.rows(numbers.format("city"))
    Loader(target, keyed("city"), OWNER).rebuild()
    assert target.rows(numbers.format("city")) == before
    Loader(target, keyed("nick"), OWNER).rebuild()
    after = target.rows(numbers.format("nick"))
    assert len(after) == 2
    assert {key for _, key in before}.isdisjoint(key for _, key in after)


def test_what_a_target_does_with_masked_values_is_written_once(tmp_path: Path, new_target: NewTarget) -> None:
    target = loaded(new_target(tmp_path), tmp_path, "text(30)", MESSAGES)
    Loader(target, tables("text(30)"), OWNER).rebuild()
    assert target.rows("SELECT COUNT(*) FROM metl_target WHERE name = 'masked'") == [(1,)]


def named(table: str, junk: str) -> TableShapes:
    """Return the tables of persons under a name, and of visits with a junk dimension under another."""
    persons = person_dimension(name=table, columns=(Column(name="city", path="city", history=2),))
    reference = Reference(dimension=table, role="guest", on=(("who", "id"),))
    visits = visit_fact(references=(reference,), degenerate=(Column(name="no2", path="no"),))
    flags = Junk(name=junk, of="visit", columns=("no2",))
    return shapes(Model(name="world", tables=(persons, visits, flags)), [PERSON, VISIT], parse)


def visit(number: int) -> Message:
    values = {"no": number, "who": number, "at": at(100), "fee": 1}
    return Message("v", f'{{"no":{number}}}', f"{number:04}", "c", values, committed_at=at(100), seen_at=at(100))


def test_a_table_that_is_renamed_in_its_capitals_alone_goes_on_with_its_keys(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target, keys = (
        new_target(tmp_path),
        'SELECT id, "{0}_key", "{0}_durable_key" FROM "{0}" WHERE "{0}_key" > 0 ORDER BY 2',
    )
    before, after = named("person", "flags"), named("Person", "Flags")
    parts = [part(tmp_path, "person", MESSAGES[:2]), part(tmp_path, "visit", [visit(1)])]
    Loader(target, before, OWNER).load(parts, "a load")
    had, junk = target.rows(keys.format("person")), target.rows("SELECT flags_key FROM flags")
    Loader(target, after, OWNER).rebuild()
    assert target.rows(keys.format("Person")) == had
    assert target.rows('SELECT "Flags_key" FROM "Flags"') == junk
    assert sorted(target.rows("SELECT dimension FROM metl_numbers")) == [("Flags",), ("Person",)]
    parts = [part(tmp_path, "person", MESSAGES[2:]), part(tmp_path, "visit", [visit(2)])]
    Loader(target, after, OWNER).load(parts, "another load")
    found = target.rows(keys.format("Person"))
    assert len({key for _, key, _ in found}) == len(found) == len(had) + 1
    assert len(target.rows('SELECT DISTINCT "Flags_key" FROM "Flags"')) == 2
    assert audit(target, after, OWNER) == ()
