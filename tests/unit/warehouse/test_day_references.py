"""Days and times of the day that facts and dimensions refer to."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES, INFINITE_TIMES
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Fact, Model, Reference, Table, TimesOfDay
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import at, parse, part

OWNER = Owner(project="world", mode="test")
TYPES = {"id": "integer", "name": "text", "boss": "integer", "at": "instant", "born": "date", "local": "timestamp"}
PERSON = EntityHistory("person", ("id",), tuple(HistoryColumn(name, name, type_) for name, type_ in TYPES.items()))
DAYS = Dates(name="day", first="2020-01-01", last="2029-12-31")
CALENDAR = (DAYS, TimesOfDay(name="clock"))
TO_TIMES = tuple(
    Reference(dimension=table, role=f"{path}_{table}", on=path, time_zone="Europe/Berlin")
    for table in ("day", "clock")
    for path in ("at", "born", "local")
)
KEYS = ", ".join(f"{one.role}_key" for one in TO_TIMES)
NAME = Column(name="name", path="name", history=2)
TIMES = {"at": at(30.5), "born": date(2024, 2, 29), "local": datetime(2031, 5, 1, 10, 0, 1)}  # noqa: DTZ001
ENDLESS = {"at": INFINITE_TIMES[1], "born": INFINITE_DATES[1]}
EXPECTED = [(20260102, 20240229, 0, 27000, 0, 36001), (-1,) * 6, (0, 0, -1, -1, -1, -1)]
"""The keys for times, for nulls, and for infinite times."""


def person(place: int, key: int, **values: Any) -> Message:
    carried = {**dict.fromkeys(TYPES), "id": key, **values}
    return Message("a", f'{{"id":{key}}}', f"{place:04}", "u", carried, committed_at=at(place), seen_at=at(place))


def tables_of(*tables: Table) -> TableShapes:
    return shapes(Model(name="world", tables=(*CALENDAR, *tables)), [PERSON], parse)


def load(target: WarehouseTarget, folder: Path, tables: TableShapes, *messages: Message) -> None:
    parts = [part(folder, "person", messages, PERSON)]
    load_parts(target, tables, parts, f"load {messages[0].order_key}", OWNER)
    assert audit(target, tables, OWNER) == ()


@pytest.mark.parametrize(
    "table",
    [
        Fact(name="person", entity="person", references=TO_TIMES),
        Dimension(name="person", entity="person", columns=(NAME,), references=TO_TIMES, parent=("boss",)),
    ],
)
def test_times_lead_to_days_and_seconds_and_what_has_none_to_the_row_for_none(
    new_target: NewTarget, tmp_path: Path, table: Table
) -> None:
    target, tables = new_target(tmp_path), tables_of(table)
    load(target, tmp_path, tables, person(1, 1, **TIMES), person(1, 2), person(1, 3, **ENDLESS))
    query = f"SELECT {KEYS} FROM person WHERE id > 0 ORDER BY id"
    assert target.rows(query) == EXPECTED
    Loader(target, tables, OWNER).rebuild()
    assert target.rows(query) == EXPECTED


@pytest.mark.parametrize("as_of", ["durable", "current", "version"])
def test_another_day_makes_another_version_beside_references_to_members(
    new_target: NewTarget, tmp_path: Path, as_of: Any
) -> None:
    boss = Reference(dimension="boss", on=(("boss", "id"),), as_of=as_of)
    born = Reference(dimension="day", role="born", on="born")
    child = Dimension(name="person", entity="person", columns=(NAME,), references=(born, boss))
    target, tables = new_target(tmp_path), tables_of(Dimension(name="boss", entity="person", columns=(NAME,)), child)
    load(target, tmp_path, tables, person(1, 1, born=date(2024, 2, 29), boss=2), person(1, 2))
    load(target, tmp_path, tables, person(5, 1, born=date(2024, 3, 1), boss=2), person(5, 2, name="chief"))
    query = "SELECT id, version_number, born_key, boss_durable_key > 0 FROM person WHERE person_key > 0 ORDER BY 1, 2"
    assert target.rows(query) == [
        (1, 1, 20240229, True), (1, 2, 20240301, True), (2, 1, -1, False), (2, 2, -1, False),
    ]  # fmt: skip
