"""References to business keys of several parts, and to those that take in the schema, as loads look them up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError
from metl_gui.warehouse.row_reasons import row_reason
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse import worlds
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, VISIT, at, parse, part, visit_fact

OWNER = Owner(project="world", mode="test")
HOLDING = EntityHistory(
    "holding",
    ("bank.id", "client.id"),
    tuple(HistoryColumn(path.replace(".", "_"), path, "integer") for path in ("bank.id", "client.id")),
)


def message(schema: str, key: str, place: int, **values: Any) -> Message:
    return Message(schema, key, f"{place:04}", "u", values, committed_at=at(place), seen_at=at(place))


def holding_model(*on: tuple[str, str]) -> Model:
    columns = (Column(name="bank", path="bank.id"), Column(name="client", path="client.id"))
    return Model(
        name="world",
        tables=(
            Dimension(name="holding", entity="holding", columns=columns),
            visit_fact(references=(Reference(dimension="holding", on=on),)),
        ),
    )


@pytest.mark.parametrize("right", [("bank.id", "client.id"), ("bank", "client")])
def test_parts_of_a_key_with_one_last_name_are_each_looked_up(
    right: tuple[str, str], new_target: NewTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(worlds.HISTORIES, "holding", HOLDING)
    tables = shapes(holding_model(("fee", right[0]), ("who", right[1])), [HOLDING, VISIT], parse)
    target = new_target(tmp_path)
    parts = [
        part(tmp_path, "holding", [message("a", "1", 1, bank_id=1, client_id=2)]),
        part(tmp_path, "visit", [message("v", "1", 2, no=1, fee=1, who=2)]),
    ]
    load_parts(target, tables, parts, "a load", OWNER)
    joined = "SELECT h.bank, h.client FROM visit AS v JOIN holding AS h ON h.holding_key = v.holding_key"
    assert target.rows(joined) == [(1, 2)]
    assert target.rows("SELECT COUNT(*) FROM holding WHERE holding_key > 0") == [(1,)]


def test_a_reference_that_may_mean_several_parts_of_a_key_is_refused() -> None:
    with pytest.raises(ModelError, match=r"bank\.id or client\.id"):
        shapes(holding_model(("fee", "id"), ("who", "client.id")), [HOLDING, VISIT], parse)


GUEST = Reference(dimension="person", role="guest", on=(("who", "id"),))
STAY = Dimension(name="visit", entity="visit", key_includes_schema=True, columns=(Column(name="fee", path="fee"),))
STAYS = msgspec.structs.replace(STAY, references=(msgspec.structs.replace(GUEST, as_of="version", cascade=True),))


@pytest.mark.parametrize(
    "visits",
    [
        STAYS,
        visit_fact(references=(GUEST,), key_includes_schema=True),
        visit_fact(references=(GUEST,), grain="row"),
        visit_fact(references=(GUEST,), key_includes_schema=True, on_correction="reverse", on_delete="reverse"),
    ],
)
def test_a_row_refers_to_the_member_of_its_own_schema(
    visits: Dimension | Fact, new_target: NewTarget, tmp_path: Path
) -> None:
    persons = Dimension(
        name="person", entity="person", key_includes_schema=True, columns=(Column(name="city", path="city", history=2),)
    )
    tables = shapes(Model(name="world", tables=(persons, visits)), [PERSON, VISIT], parse)
    target = new_target(tmp_path)
    come = [message(schema, '{"no":1}', 5, no=1, who=1, at=at(5), fee=1) for schema in ("a", "b")]
    load_parts(target, tables, [part(tmp_path, "visit", come)], "visits", OWNER)
    there = [message(schema, '{"id":1}', 1, id=1, city=city) for schema, city in (("a", "Kiel"), ("b", "Bonn"))]
    load_parts(target, tables, [part(tmp_path, "person", there)], "persons", OWNER)
    joined = """SELECT v.schema, p.schema, p.city FROM visit AS v
        JOIN person AS p ON p.person_key = v.guest_key WHERE v.guest_key > 0 ORDER BY 1"""
    assert target.rows(joined) == [("a", "a", "Kiel"), ("b", "b", "Bonn")]
    assert audit(target, tables, OWNER) == ()
    key = ("b", '{"no":1}' if isinstance(visits, Fact) and visits.grain == "row" else "1")
    told = row_reason(target, tables, "visit", key).columns
    assert [one.value for one in told if one.column == "guest"] == ["b", "1"]


def test_a_reference_that_looks_a_schema_up_finds_its_member(new_target: NewTarget, tmp_path: Path) -> None:
    persons = Dimension(name="person", entity="person", key_includes_schema=True, columns=())
    visits = visit_fact(references=(msgspec.structs.replace(GUEST, on=(("who", "id"), ("'b'", "schema"))),))
    tables = shapes(Model(name="world", tables=(persons, visits)), [PERSON, VISIT], parse)
    target = new_target(tmp_path)
    parts = [
        part(tmp_path, "person", [message(schema, '{"id":1}', 1, id=1) for schema in ("a", "b")]),
        part(tmp_path, "visit", [message("v", '{"no":1}', 2, no=1, who=1, at=at(2), fee=1)]),
    ]
    load_parts(target, tables, parts, "a load", OWNER)
    joined = "SELECT p.schema FROM visit AS v JOIN person AS p ON p.person_key = v.guest_key"
    assert target.rows(joined) == [("b",)]
    silent = Model(name="world", tables=(persons, visit_fact(references=(GUEST,))))
    with pytest.raises(ModelError, match="does not say what schema"):
        shapes(silent, [PERSON, VISIT], parse)
