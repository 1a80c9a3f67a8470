"""Orders: random histories of a fact with several times, and the rows that follow from them by the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.fact_rows import milestones
from metl_gui.core.dimensional.rows.members import fact_states
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.warehouse_model import Column, Dates, EventTime, Fact, Model, Table
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import names
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.worlds import (
    ORDER,
    PERSON,
    at,
    ownership,
    parse,
    part,
    person_dimension,
    plain,
    states_of,
)

OWNER = Owner(project="world", mode="test")
DAYS = Dates(name="day", first="2026-01-01", last="2026-01-02")
FIRST, LAST = date(2026, 1, 1), date(2026, 1, 2)
TIMES = (EventTime(name="sent_at", path="sent", role="sent"), EventTime(name="paid_at", path="paid"))
FEE = Column(name="fee", path="fee", type="decimal(12,0)", additivity="additive")
STATUS = Column(name="status", path="status")

ON_DUCKDB = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ON_POSTGRESQL = settings(ON_DUCKDB, max_examples=8, phases=set(Phase) - {Phase.shrink})


def order_fact(**changes: Any) -> Fact:
    """Return the fact, with nothing but a measure and a degenerate dimension unless more is given."""
    return Fact(**{"name": "order", "entity": "order", "measures": (FEE,), "degenerate": (STATUS,), **changes})


def tables_of(fact: Fact, *more: Table) -> TableShapes:
    """Return the tables of a model with persons, days and the fact."""
    tables = (person_dimension(), DAYS, fact, *more)
    return shapes(Model(name="world", tables=tables), [PERSON, ORDER], parse)


def order(place: int, op: str = "u", no: int = 1, schema: str = "a", committed: float = 0, **carried: Any) -> Message:
    """Return a message of one order; it is committed at its place unless another time is given."""
    time, row = at(committed or place), f'{{"no":{no}}}'
    values = {"no": no, **carried} if op in "cur" else {}
    return Message(schema, row, f"{place:04}", op, values, committed_at=time, seen_at=time)


@st.composite
def orders(draw: st.DrawFn) -> list[Message]:
    """Draw messages of three orders in two schemas; now and then one leaves something out, or has a wrong clock."""
    found = []
    for offset in range(draw(st.integers(0, 10))):
        op, no = draw(st.sampled_from("cuuuuuuudddrt")), draw(st.integers(1, 3))
        place = draw(st.integers(1, 25))
        time = st.sampled_from([None, at(3), at(30), at(60)])
        values = {
            "no": draw(st.sampled_from([no, no, no, 1, None])),
            "who": draw(st.sampled_from([1, 2, None])),
            **{each: draw(time) for each in ("at", "sent", "paid")},
            "fee": draw(st.integers(1, 3)),
            "rate": draw(st.sampled_from([7, 19])),
            "status": draw(st.sampled_from(["new", "done", None])),
            "rush": draw(st.sampled_from(["y", ""])),
        }
        left_out = draw(st.sets(st.sampled_from(list(values)), max_size=4)) if draw(st.booleans()) else set()
        found.append(
            Message(
                schema=draw(st.sampled_from("aab")),
                row_key=None if op == "t" else f'{{"no":{no}}}',
                order_key=f"{place:04}",
                op=op,
                values={name: value for name, value in values.items() if name not in left_out} if op in "cur" else {},
                position=Position("log", 0, offset),
                committed_at=at(place + draw(st.sampled_from([0, 0, 0, -9, 2]))),
                seen_at=at(place + 3),
            )
        )
    return found


HISTORIES = (orders(), st.integers(1, 3), st.randoms(use_true_random=False))
"""What is drawn for a test: messages, in how many batches they come, and in which order."""


def load_orders(
    target: WarehouseTarget, folder: Path, tables: TableShapes, batches: Iterable[Sequence[Message]]
) -> list[int]:
    """Load batches of orders, and return for each how many rows it changed."""
    changed = []
    for batch in batches:
        number = target.rows("SELECT COUNT(*) FROM metl_loads")[0][0] if target.has_table("metl_loads") else 0
        report = load_parts(target, tables, [part(folder, "order", batch)], f"load {number}", OWNER)
        changed.append(sum(one.inserted + one.updated + one.removed for one in report.tables.values()))
    return changed


def check_orders(
    target: WarehouseTarget,
    folder: Path,
    tables: TableShapes,
    messages: Sequence[Message],
    count: int,
    chance: Random,
    rows_of: Callable[[WarehouseTarget], list[tuple[Any, ...]]],
    expected: list[tuple[Any, ...]],
) -> None:
    """Load messages shuffled, some twice, in batches, and hold rows against those that are expected.

    What is loaded again changes no row, and an audit finds nothing.
    """
    again = [msgspec.structs.replace(one, seen_at=at(200), position=Position("log", 0, 900)) for one in messages]
    shuffled = [*messages, *(one for one in again if chance.random() < 0.3)]
    chance.shuffle(shuffled)
    load_orders(target, folder, tables, [shuffled[number::count] for number in range(count)])
    assert rows_of(target) == sorted(expected, key=repr)
    assert audit(target, tables, OWNER) == ()
    assert load_orders(target, folder, tables, [messages]) == [0]


def order_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    """Return the rows of the fact, without the keys of persons, which differ between targets."""
    columns = [one for one in target.columns("order") if not one.startswith("who_")]
    return plain(target.rows(f'SELECT {names(columns)} FROM "order"'))


def expected_orders(fact: Fact, messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    """Return the rows of a fact that is overwritten: grain, days, event time, milestones, columns."""
    rows: list[tuple[Any, ...]] = []
    for key, state in fact_states(states_of(messages), ownership(fact)).items():
        if state.is_alive or fact.on_delete == "flag":
            flag = (not state.is_alive,) if fact.on_delete == "flag" else ()
            rows.append((*key, *row_values(fact, state.values, state.committed_at, state.began_at), *flag))
    return rows


def row_values(fact: Fact, values: Any, committed_at: datetime, began_at: datetime) -> tuple[Any, ...]:
    """Return the columns of a row of the fact between its grain and what is behind its columns."""
    reached = milestones(values, [one.path for one in fact.event_times], FIRST, LAST)
    event = (values.get(fact.event_time) or committed_at) if fact.event_time else began_at
    columns = (values.get(one.path) for one in (*fact.measures, *fact.degenerate))
    return (*(one.day for one in reached), event, *(one.time for one in reached), *columns)
