"""Values that become those of another type: the same values, or set aside."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.statements import names
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import at, parse, part

OWNER = Owner(project="world", mode="test")
TYPES = {
    "no": "integer",
    "text": "text",
    "float": "float",
    "money": "decimal(38,2)",
    "whole": "integer",
    "flag": "boolean",
    "local": "timestamp",
    "at": "instant",
}
THING = EntityHistory("thing", ("no",), tuple(HistoryColumn(name, name, type_) for name, type_ in TYPES.items()))
UNIT = EntityHistory("unit", ("id",), (HistoryColumn("id", "id", "integer"), HistoryColumn("name", "name", "text")))
ASIDE = object()
"""What is expected of a value that no column of the type holds."""

LATE = datetime(2026, 1, 1, 23, 30)  # noqa: DTZ001 (a local time)
EXACT: dict[str, list[tuple[str, Any, Any]]] = {
    "integer": [
        *(("text", one, ASIDE) for one in ("2.5", "15e-1", "1.23456789e-30", "12345678901234567890123.5", "", "x")),
        *(("text", one, 2) for one in ("2", " 2.0 ", "+2.", "20e-1", "0.2E1")),
        *(("text", one, 0) for one in ("0E-10", "-0.00")),
        *(("float", one, ASIDE) for one in (2.5, 1e300, float("nan"))),
        *(("float", one, whole) for one, whole in ((2.0, 2), (-0.0, 0), (1e22, 10**22))),
        *(("text", one, 10**22) for one in ("1e22", "10_000_000_000_000_000_000_000.0")),
        *(("text", one, int(one)) for one in ("9" * 38, "-" + "9" * 38)),
        *(("float", one, ASIDE) for one in (2.5, 1e-9, float("inf"), float("nan"))),
        *(("float", one, int(one)) for one in (-2.0, 1e15, 1e22)),
        *(("money", Decimal(one), ASIDE) for one in ("2.50", "-0.01")),
        ("money", Decimal("2.00"), 2),
    ],
    "decimal(38,2)": [
        *(("text", one, ASIDE) for one in ("1.005", "12.3456789e0", "1e-30", "1e37")),
        *(("text", one, Decimal("12.30")) for one in ("12.3", "12.3000", "123e-1", "0.123E+2")),
        *(("float", one, ASIDE) for one in (1.005, 5e-324)),
        *(("float", one, Decimal(repr(one))) for one in (0.1, 123456789012345.67)),
        ("whole", 10**36, ASIDE),
        ("whole", 10**36 - 1, 10**36 - 1),
    ],
    "float": [
        *(("whole", one, ASIDE) for one in (2**53 + 1, 10**22 + 1)),
        *(("whole", one, float(one)) for one in (2**53, 10**22, -7)),
        *(("text", one, ASIDE) for one in ("9007199254740993", "9007199254740993.00", "many")),
        *(("text", one, float(one)) for one in ("0.1", "9007199254740992", "1e300", "3.14159265358979323846")),
        ("money", Decimal("90071992547409930.00"), ASIDE),
        ("money", Decimal("0.10"), 0.1),
    ],
    "boolean": [
        *(("float", one, ASIDE) for one in (2.5, -1.0, float("nan"))),
        *(("float", one, is_true) for one, is_true in ((1.0, True), (0.0, False))),
        *(("whole", one, is_true) for one, is_true in ((2, ASIDE), (1, True), (0, False))),
        *(("text", one, is_true) for one, is_true in (("2", ASIDE), ("yes", True), ("false", False))),
    ],
    "date": [
        *(("text", one, ASIDE) for one in ("2026-01-01 23:30:00", "2026-01-01T00:00:01Z", "soon")),
        *(("text", one, date(2026, 1, 1)) for one in ("2026-01-01", "2026-01-01 00:00:00")),
        ("local", LATE, date(2026, 1, 1)),
        ("at", LATE.replace(tzinfo=UTC), date(2026, 1, 1)),
    ],
    "time": [("text", "2026-01-01 10:00:00", ASIDE), ("text", "25:00", ASIDE), ("text", "10:00:00", time(10))],
    "text(3)": [
        *(("whole", one, text) for one, text in ((12345, ASIDE), (123, "123"))),
        *(("float", one, text) for one, text in ((1.25, ASIDE), (1.5, "1.5"))),
        *(("text", one, text) for one, text in (("abcd", ASIDE), ("äöü", "äöü"))),
        ("flag", True, ASIDE),
    ],
}
SOURCES = {type_: sorted({source for source, _, _ in cases}) for type_, cases in EXACT.items()}


def thing(number: int, **values: Any) -> Message:
    carried = {**dict.fromkeys(TYPES), "no": number, **values}
    return Message("a", f'{{"no":{number}}}', "0001", "c", carried, committed_at=at(1), seen_at=at(1))


def loaded(target: WarehouseTarget, folder: Path, fact: Fact, *things: Message) -> int:
    """Load things into a fact that may refer to units, and return how many were set aside."""
    units = Dimension(name="unit", entity="unit", columns=(Column(name="name", path="name"),))
    tables = shapes(Model(name="world", tables=(fact, units)), [THING, UNIT], parse)
    report = load_parts(target, tables, [part(folder, "thing", things, THING)], "a load", OWNER)
    assert audit(target, tables, OWNER) == ()
    return report.set_aside


@pytest.mark.parametrize("type_", EXACT)
def test_a_value_is_the_same_in_another_type_or_set_aside(new_target: NewTarget, tmp_path: Path, type_: str) -> None:
    target, cases = new_target(tmp_path), EXACT[type_]
    columns = tuple(Column(name=f"of_{source}", path=source, type=type_) for source in SOURCES[type_])
    fact = Fact(name="thing", entity="thing", degenerate=columns)
    things = [thing(number, **{source: value}) for number, (source, value, _) in enumerate(cases)]
    expected = {number: value for number, (_, _, value) in enumerate(cases) if value is not ASIDE}
    assert loaded(target, tmp_path, fact, *things) == len(cases) - len(expected)
    found = f'SELECT "no", {names([one.name for one in columns])} FROM thing'
    values = {int(number): [one for one in row if one is not None] for number, *row in target.rows(found)}
    assert values == {number: [value] for number, value in expected.items()}


@pytest.mark.parametrize(
    ("expression", "type_", "fits", "other"),
    [
        ("money / 2", "integer", {"money": Decimal(4)}, {"money": Decimal(5)}),
        ("money / 2", "decimal(12,2)", {"money": Decimal("0.20")}, {"money": Decimal("0.01")}),
        ("text || 'x'", "text(3)", {"text": "ab"}, {"text": "abc"}),
        ("whole + 1", "text(3)", {"whole": 998}, {"whole": 999}),
        ("whole - 1", "boolean", {"whole": 2}, {"whole": 3}),
        ("whole + 0", "float", {"whole": 2**53}, {"whole": 2**53 + 1}),
    ],
)
def test_what_a_row_expression_gives_fits_its_type_or_is_set_aside(
    new_target: NewTarget, tmp_path: Path, expression: str, type_: str, fits: dict[str, Any], other: dict[str, Any]
) -> None:
    target = new_target(tmp_path)
    fact = Fact(name="thing", entity="thing", degenerate=(Column(name="found", expression=expression, type=type_),))
    assert loaded(target, tmp_path, fact, thing(1, **fits), thing(2, **other), thing(3)) == 1
    assert target.rows('SELECT "no" FROM thing ORDER BY 1') == [(1,), (3,)]


@pytest.mark.parametrize(("source", "value", "whole"), [("text", "2.5", "3"), ("float", 2.5, 3.0)])
def test_a_reference_leads_to_no_member_whose_key_is_near(
    new_target: NewTarget, tmp_path: Path, source: str, value: object, whole: object
) -> None:
    target = new_target(tmp_path)
    fact = Fact(name="thing", entity="thing", references=(Reference(dimension="unit", on=((source, "id"),)),))
    assert loaded(target, tmp_path, fact, thing(1, **{source: value}), thing(2, **{source: whole})) == 1
    assert target.rows("SELECT id FROM unit WHERE unit_key > 0") == [(3,)]
    assert target.rows('SELECT "_column" FROM metl_set_aside_thing') == [("thing.id",)]
