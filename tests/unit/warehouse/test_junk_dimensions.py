"""Junk dimensions: a row for each combination that the fact has, whatever came when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.junk import combinations
from metl_gui.core.dimensional.rows.members import fact_states
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Accepted, Column, Fact, Junk, Table
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError, TableShapes
from metl_gui.warehouse.status import target_status
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.orders import (
    FEE,
    HISTORIES,
    ON_DUCKDB,
    ON_POSTGRESQL,
    OWNER,
    STATUS,
    check_orders,
    load_orders,
    order,
    order_fact,
    tables_of,
)
from tests.unit.warehouse.worlds import ownership, part, plain, states_of

RUSH = Column(name="rush", path="rush")
RATE = Column(name="rate", path="rate", type="integer")
FLAGS = Junk(name="flags", of="order", columns=("status", "rush"))
"""A text that may be null, and one that may be empty."""


def flagged(**changes: Any) -> Fact:
    """Return a fact of which one junk dimension takes two columns and another, of its own, a third."""
    return order_fact(**{"degenerate": (STATUS, RUSH, RATE), "junk": ("rate", "rush"), **changes})


def expected_rows(fact: Fact, messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    """Return the rows of the fact with those of its junk dimensions, behind them these with no fact."""
    found = {
        key: state.values
        for key, state in fact_states(states_of(messages), ownership(fact)).items()
        if state.is_alive or fact.on_delete == "flag"
    }
    rows: list[tuple[Any, ...]] = [
        (*key, *(values.get(c) for c in ("fee", "status", "rush", "rate"))) for key, values in found.items()
    ]
    rows += [("flags", *one) for one in combinations(found.values(), ("status", "rush"))]
    return rows + [("order_junk", *one) for one in combinations(found.values(), ("rate",))]


def joined_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return the rows of the fact joined to its junk dimensions, and those of these."""
    query = """SELECT o."no", o.fee, f.status, f.rush, r.rate FROM "order" AS o
        JOIN flags AS f ON f.flags_key = o.flags_key JOIN order_junk AS r ON r.order_junk_key = o.order_junk_key"""
    flags = [("flags", *row) for row in target.rows("SELECT status, rush FROM flags")]
    rates = [("order_junk", *row) for row in target.rows("SELECT rate FROM order_junk")]
    return plain([*target.rows(query), *flags, *rates])


DELETES = st.sampled_from(["remove", "flag"])


@ON_DUCKDB
@given(*HISTORIES, DELETES)
def test_combinations_are_those_of_the_oracle_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, messages: list[Message], count: int, chance: Random, on_delete: str
) -> None:
    folder, fact = tmp_path_factory.mktemp("orders"), flagged(on_delete=on_delete)
    with new_duckdb() as target:
        expected = expected_rows(fact, messages)
        check_orders(target, folder, tables_of(fact, FLAGS), messages, count, chance, joined_rows, expected)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@ON_POSTGRESQL
@given(*HISTORIES, DELETES)
def test_combinations_are_those_of_the_oracle_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    messages: list[Message],
    count: int,
    chance: Random,
    on_delete: str,
) -> None:
    folder, fact = tmp_path_factory.mktemp("orders"), flagged(on_delete=on_delete)
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        expected = expected_rows(fact, messages)
        check_orders(target, folder, tables_of(fact, FLAGS), messages, count, chance, joined_rows, expected)


def one(place: int, status: str | None, rush: str | None = "", no: int = 1) -> Message:
    """Return a message of one order with its flags."""
    return order(place, "c", no=no, fee=1, rate=7, status=status, rush=rush)


def flags(target: WarehouseTarget) -> dict[tuple[Any, ...], int]:
    """Return the keys of combinations."""
    return {(status, rush): key for status, rush, key in target.rows("SELECT status, rush, flags_key FROM flags")}


def test_a_combination_goes_with_its_last_fact_and_comes_back_with_its_key(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(flagged(), FLAGS)
    load_orders(target, tmp_path, tables, [[one(1, "new"), one(2, "done", no=2), one(3, "new", no=3)]])
    first = flags(target)
    assert set(first) == {("new", ""), ("done", "")}
    load_orders(target, tmp_path, tables, [[one(4, "done")]])
    assert flags(target) == first  # the third order still has it
    load_orders(target, tmp_path, tables, [[one(5, "done", no=3)]])
    assert set(flags(target)) == {("done", "")}
    load_orders(target, tmp_path, tables, [[one(6, "new", no=2)]])
    assert flags(target) == first
    Loader(target, tables, OWNER).rebuild()
    assert flags(target) == first
    assert audit(target, tables, OWNER) == ()
    status = target_status(target, tables)
    assert (status.tables["flags"], status.tables["order_junk"]) == (2, 1)


def told(target: WarehouseTarget, tables: TableShapes) -> TargetInputs:
    """Return a loader that knows the secret of the target; each is for one load."""
    return TargetInputs(target, tables, OWNER, secret=lambda: b"a secret of sixteen letters and more")


def test_columns_in_another_order_keep_the_keys_of_their_combinations(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(flagged(), FLAGS)
    load_orders(target, tmp_path, tables, [[one(1, "new", "x"), one(2, "x", "new", no=2), one(3, None, "", no=3)]])
    first = flags(target)
    turned = tables_of(flagged(), Junk(name="flags", of="order", columns=("rush", "status")))
    Loader(target, turned, OWNER).rebuild()
    assert flags(target) == first
    assert audit(target, turned, OWNER) == ()


def test_combinations_of_fewer_columns_are_others_and_those_of_before_come_back(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(flagged(), FLAGS)
    load_orders(target, tmp_path, tables, [[one(1, "new", "x"), one(2, "new", "y", no=2)]])
    first = flags(target)
    fewer = tables_of(flagged(junk=("rate",)), Junk(name="flags", of="order", columns=("status",)))
    Loader(target, fewer, OWNER).rebuild()
    assert [status for (status,) in target.rows("SELECT status FROM flags")] == ["new"]
    assert not set(first.values()).intersection(key for (key,) in target.rows("SELECT flags_key FROM flags"))
    assert target.rows('SELECT rush FROM "order" ORDER BY "no"') == [("x",), ("y",)]
    assert audit(target, fewer, OWNER) == ()
    Loader(target, tables, OWNER).rebuild()
    assert flags(target) == first
    assert audit(target, tables, OWNER) == ()


def test_combinations_that_only_a_forgotten_fact_had_leave_no_value(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(flagged(), FLAGS)
    said = [one(1, "secret"), one(2, "also secret"), one(3, "new", no=2), one(4, "done", no=3), one(5, "new", no=3)]
    load_orders(target, tmp_path, tables, [[message] for message in said])
    first = flags(target)
    purge = told(target, tables).forget("order", str(said[0].row_key))
    assert purge.numbers == 3
    assert flags(target) == {("new", ""): first["new", ""]}
    kept = [
        text for table in ("flags", "order_junk") for text, _ in target.rows(f"SELECT * FROM metl_combinations_{table}")
    ]
    assert len(kept) == 2
    assert "secret" not in repr(kept)
    told(target, tables).load([part(tmp_path, "order", [one(6, "done", no=4)])], "more")
    assert flags(target)["done", ""] > max(first.values())
    assert audit(target, tables, OWNER) == ()


def test_combinations_that_look_alike_when_they_are_put_together_are_several(
    new_target: NewTarget, tmp_path: Path
) -> None:
    alike = [("a", "b1:c"), ("a1:b", "c"), (None, "-"), ("-", None), (None, None), ("", None)]
    target, tables = new_target(tmp_path), tables_of(flagged(), FLAGS)
    messages = [one(number, status, rush, number) for number, (status, rush) in enumerate(alike, 1)]
    load_orders(target, tmp_path, tables, [messages])
    assert len(set(flags(target).values())) == len(alike)
    assert set(flags(target)) == set(alike)


def test_keys_of_combinations_do_not_depend_on_reversals_or_order(tmp_path: Path) -> None:
    fact = flagged(on_correction="reverse", on_delete="reverse")
    messages = [one(1, "new"), one(2, "done"), order(3, "d")]
    for number, told in enumerate(permutations(messages)):
        with DuckDb(tmp_path / f"{number}.duckdb") as target:
            tables = tables_of(fact, FLAGS)
            load_orders(target, tmp_path, tables, [[message] for message in told])
            posted = """SELECT f.status, o.fee FROM "order" AS o JOIN flags AS f ON f.flags_key = o.flags_key
                ORDER BY o.posted_at, o.is_reversal DESC"""
            assert [(status, int(fee)) for status, fee in target.rows(posted)] == [
                ("new", 1), ("new", -1), ("done", 1), ("done", -1),
            ]  # fmt: skip
            assert audit(target, tables, OWNER) == ()


def test_an_audit_finds_what_was_done_to_a_junk_dimension_by_hand(new_target: NewTarget, tmp_path: Path) -> None:
    status = Column(name="status", path="status", tests=(Accepted(values=("new", "done")),))
    target, tables = new_target(tmp_path), tables_of(flagged(degenerate=(status, RUSH, RATE)), FLAGS)
    load_orders(target, tmp_path, tables, [[one(1, "new"), one(2, "done", no=2)]])
    assert audit(target, tables, OWNER) == ()
    target.run("UPDATE flags SET status = 'lost' WHERE status = 'done'")
    target.run("INSERT INTO flags (flags_key, status) VALUES (99, 'new')")
    found = {(finding.table, finding.rule) for finding in audit(target, tables, OWNER)}
    assert found == {
        ("order", "status is one of new, done"),
        ("flags", "flags_key stands in order"),
        ("flags", "follows from the histories"),
    }


def test_a_junk_dimension_that_takes_no_column_is_none(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(flagged(junk=()), Junk(name="flags", of="order", columns=()))
    load_orders(target, tmp_path, tables, [[one(1, "new")]])
    assert not target.has_table("flags")
    assert target.rows('SELECT status, rush FROM "order"') == [("new", "")]
    Loader(target, tables, OWNER).rebuild()
    assert audit(target, tables, OWNER) == ()


@pytest.mark.parametrize(
    ("fact", "more"),
    [
        (flagged(junk=("fee",)), ()),
        (flagged(junk=("no",)), ()),
        (flagged(), (FLAGS, Junk(name="more", of="order", columns=("rush",)))),
        (flagged(measures=(FEE, RATE), degenerate=(STATUS, RUSH)), ()),
    ],
)
def test_what_is_no_column_to_take_or_taken_twice_is_refused(fact: Fact, more: tuple[Table, ...]) -> None:
    with pytest.raises(ModelError, match=r"junk|more"):
        tables_of(fact, *more)
