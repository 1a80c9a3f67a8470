"""Tests that a model declares on columns are run with each load that touches their tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Accepted, Column, Model, NotNull, Related, Unique
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, parse, part, person_dimension, visit_fact

OWNER = Owner(project="world", mode="test")
CITY = Column(name="city", path="city", history=2, tests=(NotNull(), Accepted(values=("Kiel", "Bonn"))))
NICK = Column(name="nick", path="nick", tests=(Unique(),))
FEE = Column(name="fee", path="fee", type="decimal(12,0)", tests=(Related(table="person", column="id"),))
TABLES = shapes(
    Model(name="world", tables=(person_dimension(columns=(CITY, NICK)), visit_fact(measures=(FEE,)))),
    [PERSON, VISIT],
    parse,
)


def person(key: int, place: int, **values: str | None) -> Message:
    time = at(place)
    return Message("a", f'{{"id":{key}}}', f"{place:04}", "u", {"id": key, **values}, committed_at=time, seen_at=time)


def visit(number: int) -> Message:
    values = {"no": number, "who": 1, "at": at(9), "fee": 3}
    return Message("a", f'{{"no":{number}}}', "0001", "c", values, committed_at=at(9), seen_at=at(9))


class Loads:
    """Loads into a target, one after the other."""

    def __init__(self, target: WarehouseTarget, folder: Path) -> None:
        self.target, self.folder, self.number = target, folder, 0

    def load(self, *messages: Message, entity: str = "person") -> LoadReport:
        self.number += 1
        return load_parts(self.target, TABLES, [part(self.folder, entity, messages)], f"load {self.number}", OWNER)


def test_a_load_tells_what_its_rows_break_and_stands(new_target: NewTarget, tmp_path: Path) -> None:
    loads = Loads(new_target(tmp_path), tmp_path)
    assert loads.load(person(1, 1, city="Kiel", nick="m"), person(2, 1, city="Bonn", nick="n")).tests == {}
    broken = loads.load(person(1, 2, city="Rom", nick="n"), person(2, 2, city=None, nick="n"))
    assert broken.tests == {
        "person: city is not null": 1,
        "person: city is one of Kiel, Bonn": 1,
        "person: nick is unique": 1,
    }
    assert broken.notes[0] == "Test broken by 1 row: person: city is not null."
    assert loads.target.rows("SELECT COUNT(*) FROM person WHERE city = 'Rom'") == [(1,)]
    assert {f"{one.table}: {one.rule}" for one in audit(loads.target, TABLES, OWNER)} == set(broken.tests)


def test_what_was_broken_before_is_told_until_it_is_mended(new_target: NewTarget, tmp_path: Path) -> None:
    loads = Loads(new_target(tmp_path), tmp_path)
    loads.load(person(1, 1, city="Rom"))
    assert loads.load(person(2, 1, city="Kiel")).tests == {"person: city is one of Kiel, Bonn": 1}
    mended = Message("a", '{"id":1}', "0001", "u", {"id": 1, "city": "Kiel"}, 1, committed_at=at(1), seen_at=at(1))
    assert loads.load(mended).tests == {}
    assert Loader(loads.target, TABLES, OWNER).rebuild().tests == {}


def test_what_is_broken_is_told_by_loads_that_do_not_touch_it_too(new_target: NewTarget, tmp_path: Path) -> None:
    loads, told = Loads(new_target(tmp_path), tmp_path), {"person: city is one of Kiel, Bonn": 1}
    loads.load(person(1, 1, city="Rom"))
    assert loads.load(person(1, 1, city="Rom")).tests == told
    assert loads.load(visit(4), entity="visit").tests == {**told, "visit: fee stands in person.id": 1}
    assert Loader(loads.target, TABLES, OWNER).rebuild().tests == {**told, "visit: fee stands in person.id": 1}


def test_what_a_rebuild_finds_broken_is_told_by_the_loads_behind_it(new_target: NewTarget, tmp_path: Path) -> None:
    loads, told = Loads(new_target(tmp_path), tmp_path), {"person: city is one of Kiel, Bonn": 1}
    untested = person_dimension(columns=(replace(CITY, tests=()), replace(NICK, tests=())))
    before = shapes(Model(name="world", tables=(untested, visit_fact())), [PERSON, VISIT], parse)
    load_parts(loads.target, before, [part(tmp_path, "person", [person(1, 1, city="Rom")])], "before", OWNER)
    assert Loader(loads.target, TABLES, OWNER).rebuild().tests == told
    assert loads.load(visit(1), entity="visit").tests == {**told, "visit: fee stands in person.id": 1}
    mended = Message("a", '{"id":1}', "0001", "u", {"id": 1, "city": "Kiel"}, 1, committed_at=at(1), seen_at=at(1))
    assert loads.load(mended).tests == {"visit: fee stands in person.id": 1}
    assert Loader(loads.target, before, OWNER).rebuild().tests == {}


@pytest.mark.parametrize(
    ("type_", "values", "broken"),
    [
        ("decimal(12,2)", ("1", "2.50"), 2),
        ("float", ("1", "2.50", "nan"), 2),
        ("integer", ("1", "1.5", "many"), 2),
        ("decimal(12,2)", ("many", "1.005", "1e999999999", "inf"), 3),
    ],
)
def test_numbers_are_accepted_however_they_are_written(
    new_target: NewTarget, tmp_path: Path, type_: str, values: tuple[str, ...], broken: int
) -> None:
    nick = Column(name="nick", path="nick", type=type_, tests=(Accepted(values=values),))
    tables = shapes(Model(name="world", tables=(person_dimension(columns=(nick,)),)), [PERSON], parse)
    persons = [person(key, 1, nick=text) for key, text in enumerate(("1.00", "2", "7", None), 1)]
    report = load_parts(new_target(tmp_path), tables, [part(tmp_path, "person", persons)], "a load", OWNER)
    assert report.tests == {f"person: nick is one of {', '.join(values)}": broken}


def test_tables_in_which_nothing_can_be_broken_are_not_read(new_target: NewTarget, tmp_path: Path) -> None:
    loads = Loads(new_target(tmp_path), tmp_path)
    loads.load(person(1, 1, city="Kiel"))
    # Behind the loader's back: only an audit looks there.
    loads.target.run("UPDATE person SET city = 'Rom' WHERE person_key > 0")
    assert loads.load(person(1, 1, city="Kiel")).tests == {}


def test_what_must_stand_in_another_table_is_looked_for_there_when_that_changes(
    new_target: NewTarget, tmp_path: Path
) -> None:
    loads = Loads(new_target(tmp_path), tmp_path)
    loads.load(person(1, 1, city="Kiel"))
    assert loads.load(visit(1), entity="visit").tests == {"visit: fee stands in person.id": 1}
    assert loads.load(person(3, 1, city="Kiel")).tests == {}


def test_columns_of_different_types_are_compared_as_texts(new_target: NewTarget, tmp_path: Path) -> None:
    nick = Column(name="nick", path="nick", tests=(Related(table="visit", column="no"),))
    model = Model(name="world", tables=(person_dimension(columns=(nick,)), visit_fact()))
    tables, target = shapes(model, [PERSON, VISIT], parse), new_target(tmp_path)
    persons = [person(1, 1, nick="4"), person(2, 1, nick="four"), person(3, 1, nick=None)]
    parts = [part(tmp_path, "person", persons), part(tmp_path, "visit", [visit(4)])]
    assert load_parts(target, tables, parts, "a load", OWNER).tests == {"person: nick stands in visit.no": 1}
