"""Accumulating snapshots: rows that get one milestone after the other, whatever the order in which they are told."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Model
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.orders import (
    HISTORIES,
    ON_DUCKDB,
    ON_POSTGRESQL,
    TIMES,
    check_orders,
    expected_orders,
    load_orders,
    order,
    order_fact,
    order_rows,
    tables_of,
)
from tests.unit.warehouse.worlds import ORDER, at, parse, plain

SNAPSHOT = order_fact(event_times=TIMES, event_time="at", on_delete="flag")


@ON_DUCKDB
@given(*HISTORIES)
def test_milestones_come_out_as_the_oracle_says_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], count: int, chance: Random
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with new_duckdb() as target:
        expected = expected_orders(SNAPSHOT, messages)
        check_orders(target, folder, tables_of(SNAPSHOT), messages, count, chance, order_rows, expected)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@ON_POSTGRESQL
@given(*HISTORIES)
def test_milestones_come_out_as_the_oracle_says_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    messages: list[Message],
    count: int,
    chance: Random,
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        expected = expected_orders(SNAPSHOT, messages)
        check_orders(target, folder, tables_of(SNAPSHOT), messages, count, chance, order_rows, expected)


PLACED = order(1, "c", at=at(1), sent=None, paid=None, fee=5, status="new")
SENT = order(2, "u", at=at(1), sent=at(30), paid=None, fee=5, status="sent")
PAID = order(3, "u", at=at(1), sent=at(30), paid=at(90), fee=5, status="paid")


def test_a_row_has_the_milestones_that_were_reached_and_no_day_for_the_others(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    rows = []
    for message in (PLACED, SENT, PAID):
        load_orders(target, tmp_path, tables_of(SNAPSHOT), [[message]])
        rows += plain(target.rows('SELECT sent_at, sent_key, paid_at, paid_at_key, status FROM "order"'))
    # The table of days ends before the payment.
    assert rows == [
        (None, -1, None, -1, "new"),
        (at(30), 20260102, None, -1, "sent"),
        (at(30), 20260102, at(90), 0, "paid"),
    ]


def test_a_milestone_that_is_told_late_does_not_take_back_a_later_one(tmp_path: Path) -> None:
    for number, told in enumerate(permutations((PLACED, SENT, PAID))):
        with DuckDb(tmp_path / f"{number}.duckdb") as target:
            load_orders(target, tmp_path, tables_of(SNAPSHOT), [[one] for one in told])
            assert order_rows(target) == expected_orders(SNAPSHOT, [PLACED, SENT, PAID])


def test_a_time_with_a_role_needs_a_table_of_days_and_one_without_does_not() -> None:
    def columns(*times: Any) -> list[str]:
        model = Model(name="world", tables=(order_fact(event_times=times),))
        found = shapes(model, [ORDER], parse).facts[0]
        return [one.key for one in found.references]

    assert columns(TIMES[1]) == []
    with pytest.raises(ModelError, match="sent_at"):
        columns(*TIMES)
