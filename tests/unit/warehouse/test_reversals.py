"""Facts that reverse: each change posts the negative of the row before and the new row, whatever comes when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.members import FactState
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.dimensional.rows.postings import fact_moments, postings
from metl_gui.core.warehouse_model import Column, Fact, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.orders import (
    FEE,
    HISTORIES,
    ON_DUCKDB,
    ON_POSTGRESQL,
    OWNER,
    check_orders,
    load_orders,
    order,
    order_fact,
    tables_of,
)
from tests.unit.warehouse.worlds import at, ownership, part, plain, states_of

WHO = Reference(dimension="person", role="who", on=(("who", "id"),))
RATE = Column(name="rate", path="rate", type="integer", additivity="non-additive")


def reversing(**changes: Any) -> Fact:
    """Return a fact that reverses corrections and deletes alike, unless something else is given."""
    given: dict[str, Any] = {"on_correction": "reverse", "on_delete": "reverse"}
    return order_fact(**{**given, "references": (WHO,), "measures": (FEE, RATE), **changes})


@st.composite
def declarations(draw: st.DrawFn) -> Fact:
    """Draw a fact that reverses something, of which other rules differ."""
    corrections, deletes = draw(
        st.sampled_from([("reverse", "reverse"), ("overwrite", "reverse"), ("reverse", "remove"), ("reverse", "flag")])
    )
    return reversing(
        on_correction=corrections,
        on_delete=deletes,
        event_time=draw(st.sampled_from(["", "at"])),
        where=draw(st.sampled_from(["", "", "fee > 1"])),
        grain=draw(st.sampled_from([(), (), "row"])),
        leading=draw(st.sampled_from(["", "", "b"])),
        prefer=draw(st.sampled_from([(), ("b",)])),
    )


def expected_postings(fact: Fact, messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    """Return the rows of the fact: grain, person, event time, fee, rate, status, and what tells postings apart."""

    def row_of(state: FactState) -> tuple[Any, ...] | None:
        values, fee = state.values, state.values.get("fee")
        if fact.where and not (fee is not None and fee > 1):
            return None
        event = (values.get("at") or state.committed_at) if fact.event_time else state.began_at
        flag = (not state.is_alive,) if fact.on_delete == "flag" else ()
        return values.get("who"), event, fee, values.get("rate"), values.get("status"), *flag

    rows: list[tuple[Any, ...]] = []
    for key, moments in fact_moments(states_of(messages), ownership(fact)).items():
        for posting in postings(moments, row_of, on_correction=fact.on_correction, on_delete=fact.on_delete):
            who, event, fee, *rest = posting.row
            amount = -fee if posting.is_reversal and fee is not None else fee
            rows.append((*key, who, event, amount, *rest, posting.posted_at, posting.number, posting.is_reversal))
    return rows


def posted_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return the rows of the fact, each with the business key of the person whose version it refers to."""
    columns = ", ".join(f'o."{one}"' for one in target.columns("order") if not one.startswith("who_"))
    before, after = columns.split(', o."event_time"')
    query = f"""SELECT {before}, p.id, o.event_time{after} FROM "order" AS o
        JOIN person AS p ON p.person_key = o.who_key AND p.person_durable_key = o.who_durable_key"""
    found = target.rows(query)
    assert len(found) == target.rows('SELECT COUNT(*) FROM "order"')[0][0]
    return plain(found)


@ON_DUCKDB
@given(*HISTORIES, declarations())
def test_postings_are_those_of_the_oracle_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], count: int, chance: Random, fact: Fact
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with new_duckdb() as target:
        expected = expected_postings(fact, messages)
        check_orders(target, folder, tables_of(fact), messages, count, chance, posted_rows, expected)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@ON_POSTGRESQL
@given(*HISTORIES, declarations())
def test_postings_are_those_of_the_oracle_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    messages: list[Message],
    count: int,
    chance: Random,
    fact: Fact,
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        expected = expected_postings(fact, messages)
        check_orders(target, folder, tables_of(fact), messages, count, chance, posted_rows, expected)


FIRST = order(1, "c", who=1, fee=10, rate=19, status="new")
SECOND = order(2, "u", who=1, fee=10, rate=19, status="sent")
THIRD = order(3, "u", who=2, fee=7, rate=7, status="sent")
GONE = order(4, "d")


def ledger(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return fee, rate, status, time and kind of each posting, in order."""
    query = """SELECT fee, rate, status, posted_at, is_reversal FROM "order"
        ORDER BY posted_at, posting, is_reversal DESC"""
    return [(int(fee), int(rate), status, *rest) for fee, rate, status, *rest in target.rows(query)]


CASES: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    "every change is posted": (
        {},
        [
            (10, 19, "new", at(1), False),
            (-10, 19, "new", at(2), True),
            (10, 19, "sent", at(2), False),
            (-10, 19, "sent", at(3), True),
            (7, 7, "sent", at(3), False),
            (-7, 7, "sent", at(4), True),
        ],
    ),
    "corrections overwrite and a delete is posted": (
        {"on_correction": "overwrite"},
        [(7, 7, "sent", at(3), False), (-7, 7, "sent", at(4), True)],
    ),
    "a delete leaves no posting": ({"on_delete": "remove"}, []),
    "a delete is posted as a correction": (
        {"on_delete": "flag", "degenerate": (Column(name="status", expression="'one'"),)},
        [
            (10, 19, "one", at(1), False),
            (-10, 19, "one", at(3), True),
            (7, 7, "one", at(3), False),
            (-7, 7, "one", at(4), True),
            (7, 7, "one", at(4), False),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_ledger_of_one_fact_is_this_in_every_order(case: str, tmp_path: Path) -> None:
    changes, expected = CASES[case]
    for number, messages in enumerate(list(permutations((FIRST, SECOND, THIRD, GONE)))[::5]):
        with DuckDb(tmp_path / f"{number}.duckdb") as target:
            load_orders(target, tmp_path, tables_of(reversing(**changes)), [[one] for one in messages])
            assert ledger(target) == expected


def test_a_message_that_comes_late_changes_just_the_postings_that_differ(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(reversing())
    load_orders(target, tmp_path, tables, [[FIRST, THIRD], [order(9, "c", no=2, who=1, fee=1, rate=1, status="")]])
    report = load_parts(target, tables, [part(tmp_path, "order", [SECOND])], "late", OWNER)
    counts = report.tables["order"]
    # What was taken back and posted anew at the time of the late one, and what the next one takes back.
    assert (counts.inserted, counts.updated, counts.removed) == (2, 1, 0)
    assert ledger(target)[:5] == CASES["every change is posted"][1][:5]


def test_sums_of_postings_are_what_the_facts_are_now(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(reversing())
    other = order(5, "c", no=2, who=1, fee=3, rate=1, status="new")
    load_orders(target, tmp_path, tables, [[GONE, other, SECOND], [THIRD, FIRST]])
    sums = 'SELECT "no", SUM(fee), SUM(CASE WHEN is_reversal THEN -1 ELSE 1 END) FROM "order" GROUP BY 1 ORDER BY 1'
    assert [tuple(map(int, row)) for row in target.rows(sums)] == [(1, 0, 0), (2, 3, 1)]


def test_a_posting_and_its_reversal_point_to_the_version_of_their_event_time(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(reversing(event_time="at"))

    def person(place: int, hours: float, city: str) -> Message:
        values, time = {"id": 1, "city": city, "mood": "x", "nick": "m", "since": None}, at(hours)
        return Message("a", '{"id":1}', f"{place:04}", "u", values, committed_at=time, seen_at=time)

    placed = order(1, "c", who=1, at=at(5), fee=1, rate=1, status="new")
    moved = order(2, "u", who=1, at=at(20), fee=1, rate=1, status="new")
    load_orders(target, tmp_path, tables, [[placed, moved]])
    parts = [part(tmp_path, "person", [person(1, 1, "Kiel"), person(3, 15, "Bonn")])]
    load_parts(target, tables, parts, "persons", OWNER)
    cities = """SELECT p.city, o.is_reversal FROM "order" AS o JOIN person AS p ON p.person_key = o.who_key
        ORDER BY o.posted_at, o.is_reversal DESC"""
    assert target.rows(cities) == [("Kiel", False), ("Kiel", True), ("Bonn", False)]
    report = load_parts(target, tables, [part(tmp_path, "person", [person(2, 3, "Ulm")])], "late", OWNER)
    assert report.tables["order"].updated == 2
    assert target.rows(cities) == [("Ulm", False), ("Ulm", True), ("Bonn", False)]
    assert audit(target, tables, OWNER) == ()


def test_a_posting_waits_for_its_member_and_its_reversal_with_it(new_target: NewTarget, tmp_path: Path) -> None:
    waiting = Reference(dimension="person", role="who", on=(("who", "id"),), on_miss="wait")
    target, tables = new_target(tmp_path), tables_of(reversing(references=(waiting,)))
    load_orders(target, tmp_path, tables, [[FIRST, THIRD]])
    assert ledger(target) == []
    person = Message("a", '{"id":1}', "0001", "c", {"id": 1, "city": "Kiel"}, committed_at=at(1), seen_at=at(1))
    report = load_parts(target, tables, [part(tmp_path, "person", [person])], "person", OWNER)
    assert ledger(target) == [(10, 19, "new", at(1), False), (-10, 19, "new", at(3), True)]
    assert report.waiting == 1
    assert audit(target, tables, OWNER) == ()
