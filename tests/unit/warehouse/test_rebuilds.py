"""A rebuild by another model holds what loads by that model would have given."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.messages import Message, Position
from metl_gui.core.warehouse_model import Column, Model, Periodic
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, Owner
from metl_gui.warehouse.plans.shape_maker import shapes
from metl_gui.warehouse.plans.table_shapes import TableShapes
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, at, parse, part, person_dimension

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
