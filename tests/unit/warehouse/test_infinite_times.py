"""Infinite times of sources, and times of years that no table holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES, INFINITE_TIMES
from metl_gui.core.dimensional.rows.messages import NEVER, Message
from metl_gui.core.dimensional.rows.row_states import FOREVER
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.late_messages import key_study
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.row_reasons import row_reason
from tests.unit.core.dimensional.test_checks import GOOD, codes
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.orders import (
    ON_DUCKDB,
    ON_POSTGRESQL,
    OWNER,
    TIMES,
    load_orders,
    order,
    order_fact,
    tables_of,
)
from tests.unit.warehouse.worlds import (
    PERSON,
    at,
    dimension_rows,
    expected_dimension,
    parse,
    part,
    person_dimension,
    plain,
)

STAGED = {NEVER: INFINITE_TIMES[0], FOREVER: INFINITE_TIMES[1]}
"""What stands for infinite times in staged parts."""

CITY = (Column(name="city", path="city", history=2),)
INFINITIES = st.sampled_from(["open", "null"])


@st.composite
def persons(draw: st.DrawFn) -> list[Message]:
    """Draw changes of two persons, some of which hold since ever or never."""
    return [
        person(
            place,
            draw(st.sampled_from("cuuuud")),
            draw(st.integers(1, 2)),
            city=draw(st.sampled_from(["Kiel", "Bonn"])),
            since=draw(st.sampled_from([None, at(3), at(9), NEVER, FOREVER])),
        )
        for place in range(1, draw(st.integers(1, 8)))
    ]


def person(place: int, op: str = "u", key: int = 1, **values: Any) -> Message:
    """Return a message of a person."""
    carried = {"id": key, **values} if op != "d" else {}
    time = at(place)
    return Message("a", f'{{"id":{key}}}', f"{place:04}", op, carried, committed_at=time, seen_at=time)


def staged(messages: Sequence[Message]) -> list[Message]:
    """Return messages with infinite times as parts have them."""
    return [
        msgspec.structs.replace(one, values={n: STAGED.get(v, v) for n, v in one.values.items()}) for one in messages
    ]


def check_persons(
    target: WarehouseTarget, folder: Path, messages: list[Message], infinity: str, chance: Random
) -> None:
    dimension = person_dimension(columns=CITY, valid_at="since", infinity=infinity)
    tables = shapes(Model(name="world", tables=(dimension,)), [PERSON], parse)
    shuffled = staged(messages)
    chance.shuffle(shuffled)
    for number in range(2):
        load_parts(target, tables, [part(folder, "person", shuffled[number::2])], f"load {number}", OWNER)
    assert dimension_rows(target) == expected_dimension(dimension, messages)
    assert audit(target, tables, OWNER) == ()


CHANCES = st.randoms(use_true_random=False)


@ON_DUCKDB
@given(persons(), INFINITIES, CHANCES)
def test_states_that_hold_since_ever_or_never_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], infinity: str, chance: Random
) -> None:
    folder = tmp_path_factory.mktemp("infinite")
    with new_duckdb() as target:
        check_persons(target, folder, messages, infinity, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@ON_POSTGRESQL
@given(persons(), INFINITIES, CHANCES)
def test_they_are_those_of_the_oracle_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    messages: list[Message],
    infinity: str,
    chance: Random,
) -> None:
    folder = tmp_path_factory.mktemp("infinite")
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_persons(target, folder, messages, infinity, chance)


DEED = EntityHistory(
    "deed", ("id",), tuple(HistoryColumn(n, n, t) for n, t in (("id", "integer"), ("city", "text"), ("since", "date")))
)


@pytest.mark.parametrize(
    ("infinity", "expected"),
    [("open", [("Kiel", NEVER, None)]), ("null", [("Bonn", at(2), None), ("Kiel", at(1), at(2))])],
)
def test_infinite_days_are_infinite_times(
    new_target: NewTarget, tmp_path: Path, infinity: str, expected: list[tuple[Any, ...]]
) -> None:
    deed = Dimension(name="deed", entity="deed", columns=CITY, valid_at="since", infinity=infinity)  # type: ignore[arg-type]
    tables = shapes(Model(name="world", tables=(deed,)), [DEED], parse)
    messages = [
        person(1, city="Kiel", since=INFINITE_DATES[0]),
        person(2, city="Bonn", since=INFINITE_DATES[1]),
    ]
    target = new_target(tmp_path)
    load_parts(target, tables, [part(tmp_path, "deed", messages, DEED)], "load", OWNER)
    rows = target.rows("SELECT city, first_known, valid_to FROM deed WHERE deed_key > 0")
    assert plain(rows) == expected


def test_an_infinite_milestone_is_not_reached_and_an_infinite_event_time_is_none(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    tables = tables_of(order_fact(event_times=TIMES, event_time="at"))
    never, ever = staged([order(1, at=FOREVER, sent=FOREVER, paid=NEVER), order(2, no=2, at=at(5), sent=at(6))])
    load_orders(target, tmp_path, tables, [[never, ever]])
    rows = plain(target.rows('SELECT "no", event_time, sent_at, sent_key, paid_at, paid_at_key FROM "order"'))
    assert rows == [(1, at(1), None, -1, None, -1), (2, at(5), at(6), 20260101, None, -1)]


@pytest.mark.parametrize("infinity", ["open", "null"])
def test_a_member_that_held_since_ever_tells_what_brought_its_values(
    new_target: NewTarget, tmp_path: Path, infinity: str
) -> None:
    since = Column(name="since", path="since", history=2)
    person_of = person_dimension(columns=(*CITY, since), valid_at="since", infinity=infinity)
    tables = shapes(Model(name="world", tables=(person_of,)), [PERSON], parse)
    messages = staged([person(1, city="Kiel", since=NEVER), person(2, city="Bonn", since=at(3))])
    target = new_target(tmp_path)
    load_parts(target, tables, [part(tmp_path, "person", messages)], "load", OWNER)
    city, told = row_reason(target, tables, "person", ("1",)).columns
    assert (city.value, city.brought_by["city"].committed_at) == ("Bonn", at(2))
    assert told.value == "2026-01-01 03:00:00+00:00"
    first, _ = row_reason(target, tables, "person", ("1",), at(1)).columns
    assert (first.value, first.brought_by["city"].committed_at) == ("Kiel", at(1))
    assert len(key_study(target, tables, "person", ("1",)).before.versions) == 2


@pytest.mark.parametrize("type_", ["instant", "timestamp", "date"])
def test_a_text_of_a_year_that_no_table_holds_is_set_aside(new_target: NewTarget, tmp_path: Path, type_: str) -> None:
    target = new_target(tmp_path)
    moved = Column(name="moved", path="city", type=type_)
    tables = shapes(Model(name="w", tables=(person_dimension(columns=(moved,)),)), [PERSON], parse)
    clock = {"instant": " 00:00:00+00", "timestamp": " 00:00:00", "date": ""}[type_]
    texts = [f"2026-01-01{clock}", f"12026-01-01{clock}", "infinity", "soon"]
    messages = [person(place, key=place, city=text) for place, text in enumerate(texts, 1)]
    report = load_parts(target, tables, [part(tmp_path, "person", messages)], "load", OWNER)
    assert (report.appended, report.set_aside) == (2, 2)
    aside = 'SELECT city, "_column" FROM metl_set_aside_person ORDER BY city'
    assert target.rows(aside) == [(texts[1], "person.moved"), ("soon", "person.moved")]


def test_dimensions_of_one_entity_agree_on_infinite_times() -> None:
    two = (
        "{dimension: one, entity: payment, valid_at: at, columns: [], infinity: 'null'}\n"
        "  - {dimension: two, entity: payment, valid_at: at, columns: []}"
    )
    assert codes(GOOD.replace("{time: time}", two)) == {"valid-at-differs": "w: two"}
    assert codes(GOOD.replace("{time: time}", two.replace(", valid_at: at", ""))) == {}
