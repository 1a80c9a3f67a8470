"""Tests that a model declares on columns of facts, whose values may stand in several rows or in another table."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.warehouse_model import Accepted, Column, Fact, Junk, NotNull, Related, Unique
from metl_gui.warehouse.audit import audit
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.orders import OWNER, load_orders, order, order_fact, tables_of

FLAGS = Junk(name="flags", of="order", columns=("status",))
FEE = Column(name="fee", path="fee", type="decimal(12,0)", tests=(Accepted(values=("1", "2")),))
STATUS = Column(name="status", path="status", tests=(Unique(), NotNull()))
RUSH = Column(name="rush", path="rush", tests=(Related(table="order", column="status"),))


def reversing() -> Fact:
    """Return a fact of which every change is posted, with tests on a measure and on what a junk dimension took."""
    return order_fact(measures=(FEE,), degenerate=(STATUS, RUSH), on_correction="reverse", on_delete="reverse")


def test_columns_of_postings_and_of_junk_dimensions_are_tested_as_those_of_facts(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(reversing(), FLAGS)
    # The first order gives its status up before the second has it, and is what it was again after a correction.
    first = [order(1, "c", fee=1, status="a", rush="b"), order(2, fee=2, status="b", rush="b")]
    second = order(3, "c", no=2, fee=1, status="a", rush="b")
    load_orders(target, tmp_path, tables, [[*first, second, order(4, fee=1, status="b", rush="b")]])
    assert audit(target, tables, OWNER) == ()


def test_what_fails_a_test_is_found_in_what_facts_are_now(new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(reversing(), FLAGS)
    orders = [
        order(1, "c", fee=1, status="a", rush="a"),
        order(2, "c", no=2, fee=3, status="a", rush="lost"),
        order(3, "c", no=3, fee=1, status=None, rush="a"),
    ]
    load_orders(target, tmp_path, tables, [orders])
    found = {(one.table, one.rule): one.rows for one in audit(target, tables, OWNER)}
    assert found == {
        ("order", "fee is one of 1, 2"): 1,
        ("order", "status is unique"): 1,
        ("order", "status is not null"): 1,
        ("order", "rush stands in order.status"): 1,
    }
