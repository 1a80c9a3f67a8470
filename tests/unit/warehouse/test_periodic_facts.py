"""Periodic facts of facts: what each fact was at the end of each day, and times that lie too far back for any."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.members import FactState
from metl_gui.core.dimensional.rows.messages import NEVER, Message
from metl_gui.core.dimensional.rows.postings import fact_moments, row_before
from metl_gui.core.warehouse_model import Column, Fact, Model, Periodic
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.orders import (
    HISTORIES,
    ON_DUCKDB,
    ON_POSTGRESQL,
    OWNER,
    TIMES,
    check_orders,
    load_orders,
    order,
    order_fact,
    tables_of,
)
from tests.unit.warehouse.worlds import BERLIN, PERSON, at, ownership, parse, part, person_dimension, plain, states_of

DAILY = Periodic(name="order_day", of="order", every="day", time_zone="Europe/Berlin", columns=("fee", "event_time"))
OPEN_DAILY = Periodic(name="open_day", of="order", every="day", columns=())


@st.composite
def declarations(draw: st.DrawFn) -> Fact:
    """Draw a fact that is removed, flagged or reversed, of which other rules differ."""
    return order_fact(
        event_time=draw(st.sampled_from(["", "at"])),
        where=draw(st.sampled_from(["", "fee > 1"])),
        on_delete=draw(st.sampled_from(["remove", "flag", "reverse"])),
        grain=draw(st.sampled_from([(), (), "row"])),
        leading=draw(st.sampled_from(["", "b"])),
    )


def expected_days(fact: Fact, messages: Sequence[Message], over: datetime | None) -> list[tuple[Any, ...]]:
    """Return the rows of the periodic fact by the oracle: day, grain, fee, event time."""

    def row_of(state: FactState) -> tuple[Any, ...] | None:
        fee = state.values.get("fee")
        event = (state.values.get("at") or state.committed_at) if fact.event_time else state.began_at
        return None if fact.where and not (fee is not None and fee > 1) else (fee, event)

    rows: list[tuple[Any, ...]] = []
    moments = fact_moments(states_of(messages), ownership(fact))
    day = at(-48).astimezone(BERLIN).date()
    while over is not None and (end := datetime.combine(day + timedelta(days=1), time(), BERLIN)) <= over:
        for key, of_fact in moments.items():
            row = row_before(of_fact, row_of, end, is_flagged=fact.on_delete == "flag")
            if row is not None:
                rows.append((int(f"{day:%Y%m%d}"), *key, *row))
        day += timedelta(days=1)
    return sorted(rows, key=repr)


def day_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return the rows of the periodic fact without the end of each period."""
    columns = [one for one in target.columns("order_day") if one != "period_end"]
    return plain(target.rows(f"SELECT {', '.join(columns)} FROM order_day"))


def watermark(target: WarehouseTarget) -> datetime | None:
    found: datetime | None = target.rows("SELECT MIN(latest) FROM metl_watermarks WHERE entity = 'order'")[0][0]
    return found


def check_days(
    target: WarehouseTarget, folder: Path, messages: list[Message], count: int, chance: Random, fact: Fact
) -> None:
    tables = tables_of(fact, DAILY, OPEN_DAILY)

    def rows_and_nothing(target: WarehouseTarget) -> list[tuple[Any, ...]]:
        assert day_rows(target) == expected_days(fact, messages, watermark(target))
        return []

    check_orders(target, folder, tables, messages, count, chance, rows_and_nothing, [])


@ON_DUCKDB
@given(*HISTORIES, declarations())
def test_states_at_the_ends_of_days_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], count: int, chance: Random, fact: Fact
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with new_duckdb() as target:
        check_days(target, folder, messages, count, chance, fact)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@ON_POSTGRESQL
@given(*HISTORIES, declarations())
def test_states_at_the_ends_of_days_are_those_of_the_oracle_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    messages: list[Message],
    count: int,
    chance: Random,
    fact: Fact,
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_days(target, folder, messages, count, chance, fact)


def fees(target: WarehouseTarget) -> list[tuple[int, int]]:
    query = 'SELECT date_key, fee FROM order_day WHERE "no" = 1 ORDER BY 1'
    return [(int(day), int(fee)) for day, fee in target.rows(query)]


def test_a_fact_is_there_at_the_end_of_each_day_until_it_is_deleted_and_late_changes_correct_it(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(order_fact(), DAILY)
    other = order(99, "c", no=2, committed=96, fee=9)
    load_orders(target, tmp_path, tables, [[order(1, "c", committed=1, fee=5), order(80, "d", committed=80), other]])
    assert fees(target) == [(20260101, 5), (20260102, 5), (20260103, 5)]
    assert target.rows('SELECT COUNT(*) FROM "order"') == [(1,)]
    late = order(30, "u", committed=30, fee=7)
    report = load_parts(target, tables, [part(tmp_path, "order", [late])], "late", OWNER)
    assert fees(target) == [(20260101, 5), (20260102, 7), (20260103, 7)]
    assert report.tables["order_day"].updated == 2
    assert "metl_runs_order" not in report.tables
    Loader(target, tables, OWNER).rebuild()
    assert fees(target) == [(20260101, 5), (20260102, 7), (20260103, 7)]


def test_a_column_that_is_not_of_the_fact_itself_is_refused() -> None:
    with pytest.raises(ModelError, match="guest_key"):
        tables_of(order_fact(), Periodic(name="d", of="order", every="day", columns=("guest_key",)))
    with pytest.raises(ModelError, match="no dimension and no fact"):
        tables_of(order_fact(), Periodic(name="d", of="day", every="day"))


def test_periods_end_at_midnight_where_the_first_of_them_begins_without_one(
    new_target: NewTarget, tmp_path: Path
) -> None:
    santiago = ZoneInfo("America/Santiago")
    days = Periodic(name="order_day", of="order", every="day", time_zone=santiago.key, columns=())
    target, tables = new_target(tmp_path), tables_of(order_fact(), days)
    first = (datetime(2025, 9, 7, 12, tzinfo=UTC) - at(0)) / timedelta(hours=1)  # clocks went from 0:00 to 1:00
    load_orders(target, tmp_path, tables, [[order(1, committed=first, fee=5), order(2, committed=first + 60, fee=6)]])
    ends = target.rows("SELECT date_key, period_end FROM order_day ORDER BY 1")
    assert [(int(day), end.astimezone(santiago)) for day, end in ends] == [
        (20250907, datetime(2025, 9, 8, tzinfo=santiago)),
        (20250908, datetime(2025, 9, 9, tzinfo=santiago)),
    ]


def person(place: int, since: datetime, committed: float, city: str) -> Message:
    values, time = {"id": 1, "city": city, "since": since}, at(committed)
    return Message("a", '{"id":1}', f"{place:04}", "u", values, committed_at=time, seen_at=time)


def test_no_period_is_there_before_the_first_commit_however_early_a_state_is_declared_to_hold(
    new_target: NewTarget, tmp_path: Path
) -> None:
    dimension = person_dimension(columns=(Column(name="city", path="city", history=2),), valid_at="since")
    days = Periodic(name="person_day", of="person", every="day", columns=("city",))
    tables = shapes(Model(name="world", tables=(dimension, days)), [PERSON], parse)
    target = new_target(tmp_path)

    def load(number: int, *messages: Message) -> list[tuple[Any, ...]]:
        load_parts(target, tables, [part(tmp_path, "person", messages)], f"load {number}", OWNER)
        return target.rows("SELECT date_key, city FROM person_day ORDER BY 1")

    assert load(1, person(3, NEVER, 50, "Kiel"), person(4, at(60), 73, "Bonn")) == [(20260103, "Bonn")]
    # Of another person is told what was committed earlier: days of before are there for all from then on.
    earlier = Message("a", '{"id":2}', "0001", "c", {"id": 2}, committed_at=at(2), seen_at=at(2))
    gone = Message("a", '{"id":2}', "0002", "d", {}, committed_at=at(3), seen_at=at(3))
    assert load(2, earlier, gone) == [(20260101, "Kiel"), (20260102, "Kiel"), (20260103, "Bonn")]
    assert audit(target, tables, OWNER) == ()
    Loader(target, tables, OWNER).rebuild()
    assert load(3) == [(20260101, "Kiel"), (20260102, "Kiel"), (20260103, "Bonn")]


def test_a_clock_that_went_wrong_ends_no_periods_that_have_not_come(new_target: NewTarget, tmp_path: Path) -> None:
    months = Periodic(name="person_month", of="person", every="month", columns=("city",))
    dimension = person_dimension(columns=(Column(name="city", path="city", history=2),))
    tables = shapes(Model(name="world", tables=(dimension, months)), [PERSON], parse)
    target, far = new_target(tmp_path), datetime(9999, 12, 30, tzinfo=UTC)
    wrong = Message("a", '{"id":2}', "0002", "c", {"id": 2}, committed_at=far, seen_at=far)
    for number, one in enumerate((person(1, at(1), 1, "Kiel"), wrong, person(3, at(50), 50, "Bonn"))):
        load_parts(target, tables, [part(tmp_path, "person", [one])], f"load {number}", OWNER)
    latest = datetime.now(UTC) + timedelta(hours=24)
    assert target.rows("SELECT latest FROM metl_watermarks")[0][0] <= latest
    assert target.rows("SELECT MAX(period_end) FROM person_month")[0][0] <= latest
    assert audit(target, tables, OWNER) == ()


def test_days_have_the_milestones_that_were_reached_by_their_ends(new_target: NewTarget, tmp_path: Path) -> None:
    days = Periodic(name="order_day", of="order", every="day", columns=("sent_at", "paid_at"))
    tables, target = tables_of(order_fact(event_times=TIMES), days), new_target(tmp_path)
    messages = [
        order(1, "c", sent=None, paid=None, committed=1),
        order(2, sent=at(25), paid=None, committed=26),
        order(3, sent=at(25), paid=at(49), committed=80),
    ]
    load_orders(target, tmp_path, tables, [[messages[2]], messages[:2]])
    found = plain(target.rows("SELECT date_key, sent_at, paid_at FROM order_day"))
    assert found == [(20260101, None, None), (20260102, at(25), None), (20260103, at(25), None)]
    assert audit(target, tables, OWNER) == ()
