"""Row expressions in loads: a message of which one cannot be computed is set aside, and ends no load."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Reference
from metl_gui.formats.row_expressions import row_expression
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.expression_check import bound, refusals
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_loads import OWNER
from tests.unit.warehouse.worlds import at, part

_TYPES = {"id": "integer", "s": "text", "d": "decimal(38,2)", "i": "integer", "at": "instant", "b": "boolean"}
HISTORY = EntityHistory("thing", ("id",), tuple(HistoryColumn(one, one, type_) for one, type_ in _TYPES.items()))
HUGE = 10**30


def tables_of(expression: str, type_: str) -> TableShapes:
    column = Column(name="made", expression=expression, type=type_, history=2)
    dimension = Dimension(name="thing", entity="thing", columns=(column,))
    return shapes(Model(name="things", tables=(dimension,)), [HISTORY], row_expression)


def thing(key: int, **values: Any) -> Message:
    time = at(key)
    return Message("a", f'{{"id":{key}}}', f"{key:04}", "c", {"id": key, **values}, committed_at=time, seen_at=time)


@pytest.mark.parametrize(
    ("expression", "type_", "values"),
    [
        ("i * i", "integer", {"i": HUGE}),
        ("i + i", "integer", {"i": 9 * 10**37}),
        ("i * 1.5", "decimal(38,2)", {"i": 10**37}),
        ("d * d", "decimal(38,4)", {"d": Decimal(HUGE)}),
    ],
)
def test_a_message_whose_numbers_grow_too_large_is_set_aside_with_its_column(
    expression: str, type_: str, values: dict[str, Any], new_target: NewTarget, tmp_path: Path
) -> None:
    target, tables = new_target(tmp_path), tables_of(expression, type_)
    messages = [thing(1, **values), thing(2, i=1, d=Decimal(1)), thing(3)]
    report = load_parts(target, tables, [part(tmp_path, "thing", messages, HISTORY)], "load", OWNER)
    assert (report.appended, report.set_aside) == (2, 1)
    assert target.rows('SELECT id, "_column" FROM metl_set_aside_thing') == [(1, "thing.made")]
    found = target.rows("SELECT id, made IS NULL FROM thing WHERE thing_key > 0 ORDER BY id")
    assert found == [(2, False), (3, True)]
    assert audit(target, tables, OWNER) == ()


@pytest.mark.parametrize(
    ("expression", "type_"), [("i / id", "float"), ("i % id", "integer"), ("1 / (id * 1)", "text")]
)
def test_what_is_divided_by_nothing_is_null(expression: str, type_: str, new_target: NewTarget, tmp_path: Path) -> None:
    target, tables = new_target(tmp_path), tables_of(expression, type_)
    messages = [thing(0, i=4), thing(2, i=4)]
    report = load_parts(target, tables, [part(tmp_path, "thing", messages, HISTORY)], "load", OWNER)
    assert (report.appended, report.set_aside) == (2, 0)
    found = target.rows("SELECT id, made IS NULL FROM thing WHERE thing_key > 0 ORDER BY id")
    assert found == [(0, True), (2, False)]


def test_of_a_file_a_constant_that_is_wrong_for_some_messages_sets_these_aside(tmp_path: Path) -> None:
    with DuckDb(tmp_path / "w.duckdb") as target:
        messages = [thing(1), thing(2, i=5)]
        tables = tables_of("coalesce(i, 'n/a')", "text")
        assert load_parts(target, tables, [part(tmp_path, "thing", messages, HISTORY)], "load", OWNER).set_aside == 1
        assert target.rows("SELECT made FROM thing WHERE thing_key > 0") == [("5",)]


def test_a_reference_that_cannot_be_computed_sets_a_message_aside_and_a_condition_leaves_it_out(
    new_target: NewTarget, tmp_path: Path
) -> None:
    fact = Fact(
        name="use",
        entity="thing",
        where="i * i * i < 1000000",
        references=(Reference(dimension="thing", on=(("id * i", "id"),)),),
    )
    dimension = Dimension(name="thing", entity="thing", columns=())
    tables = shapes(Model(name="things", tables=(dimension, fact)), [HISTORY], row_expression)
    target = new_target(tmp_path)
    messages = [thing(1, i=3), thing(2, i=10**20), thing(5, i=5 * 10**37)]
    load_parts(target, tables, [part(tmp_path, "thing", messages, HISTORY)], "load", OWNER)
    assert target.rows('SELECT id, "_column" FROM metl_set_aside_thing') == [(5, "use.id")]
    assert target.rows('SELECT id FROM "use"') == [(1,)]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("s + 1", "No function matches"),
        ("date_trunc('foo', \"at\")", "not recognized"),
        ('extract(foo from "at")', "not recognized"),
        ("\"at\" > '2020-13-01'", "out of range"),
        ("coalesce(i, 'n/a')", "Could not convert"),
        ("b = 'maybe'", "Could not convert"),
        ("case when b then s else i end", "Cannot mix"),
    ],
)
def test_an_expression_that_no_message_could_be_computed_by_is_refused(expression: str, told: str) -> None:
    (why,) = refusals([bound(HISTORY, row_expression(expression))])
    assert told in why
    assert "\n" not in why


@pytest.mark.parametrize(
    "expression",
    [
        "'x'",
        "i / id",
        "i * i",
        "upper(s) || i",
        "case when b then 'yes' else s end",
        "cast(s as date) < '2020-12-01'",
        "substr(s, 1, 3)",
        "date_trunc('month', \"at\")",
        'extract(year from "at")',
        "cast(substr(s, 3) as bigint)",
        "unheard.of",
    ],
)
def test_an_expression_that_some_messages_can_be_computed_by_is_taken(expression: str) -> None:
    assert refusals([bound(HISTORY, row_expression(expression))]) == [""]
