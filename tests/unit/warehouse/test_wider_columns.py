"""Columns that a model makes wider: a target takes them in place, with what was set aside for want of room."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.models.wider_types import is_wider, widened_entities
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Junk, Model, Periodic, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.status import target_status
from tests.unit.warehouse.conftest import SERVER, NewTarget
from tests.unit.warehouse.test_attribute_changes import load, said
from tests.unit.warehouse.test_loads import OWNER
from tests.unit.warehouse.worlds import parse


def history(entity: str, key: str, **types: str) -> EntityHistory:
    """Return the history of an entity with a key of whole numbers."""
    columns = {key: "integer", **types}
    return EntityHistory(entity, (key,), tuple(HistoryColumn(one, one, type_) for one, type_ in columns.items()))


HISTORIES = [
    history("thing", "id", price="decimal(38,2)", name="text"),
    history("use", "no", of="integer", paid="decimal(38,2)"),
]


def model(
    price: str = "decimal(5,2)", name: str = "text(3)", paid: str = "decimal(4,1)", why: str = "text(2)"
) -> Model:
    """Return a model whose columns have some types."""
    columns = (Column(name="price", path="price", type=price, history=2), Column(name="name", path="name", type=name))
    use = Fact(
        name="use",
        entity="use",
        references=(Reference(dimension="thing", on=(("of", "id"),)),),
        measures=(Column(name="paid", path="paid", type=paid),),
        degenerate=(Column(name="why", expression="CAST(paid AS VARCHAR)", type=why),),
        junk=("why",),
    )
    return Model(
        name="things",
        tables=(
            Dimension(name="thing", entity="thing", columns=columns),
            use,
            Periodic(name="thing_day", of="thing", every="day", columns=("price",)),
            Junk(name="reasons", of="use", columns=("why",)),
        ),
    )


def tables(made: Model) -> TableShapes:
    return shapes(made, HISTORIES, parse)


def thing(place: int, key: int, price: str, name: str) -> Message:
    return said(place, {"id": key, "price": Decimal(price), "name": name}, key)


def use(place: int, of: int, paid: str) -> Message:
    return said(place, {"no": place, "of": of, "paid": Decimal(paid)}, place)


THINGS = [thing(1, 1, "999.99", "abc"), thing(2, 1, "1000.00", "abc"), thing(3, 2, "1.50", "abcd")]
USES = [use(1, 1, "1.50"), use(2, 2, "9999.50")]
WIDE = tables(model("decimal(9,4)", "text", "decimal(7,2)", "text(2)"))
PLAIN = tables(model(why="text(9)"))
WIDER = tables(model("decimal(9,4)", "text", "decimal(7,2)", "text(9)"))
_CONTENT = (
    "SELECT t.id, t.price, t.name, t.valid_from, t.is_current, t.version_number FROM thing AS t",
    "SELECT t.id, t.price FROM thing_now AS t",
    "SELECT t.id, d.price, d.period_end FROM thing_day AS d JOIN thing AS t ON t.thing_key = d.thing_key",
    """SELECT u.no, u.paid, r.why, t.id, t.version_number FROM "use" AS u
    JOIN thing AS t ON t.thing_key = u.thing_key JOIN reasons AS r ON r.reasons_key = u.reasons_key""",
)


def content(target: Any) -> list[list[tuple[Any, ...]]]:
    return [sorted(target.rows(query), key=repr) for query in _CONTENT]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("decimal(5,2)", "decimal(6,2)", True),
        ("decimal(5,2)", "decimal(6,3)", True),
        ("decimal(5,2)", "decimal(5, 2)", True),
        ("decimal(5,2)", "decimal(5,3)", False),
        ("decimal(5,2)", "decimal(6,1)", False),
        ("text(3)", "text(4)", True),
        ("text(3)", "text", True),
        ("text(3)", "text(2)", False),
        ("text", "text(9)", False),
        ("integer", "decimal(38,2)", False),
        ("decimal(5,2)", "text", False),
        ("", "text", False),
        ("text(3)", "text(3)", False),
    ],
)
def test_a_type_is_wider_when_it_holds_every_value_of_the_other_as_it_is(
    before: str, after: str, expected: bool
) -> None:
    assert is_wider(before, after) is expected


def test_only_wider_columns_are_no_other_model() -> None:
    first = model()
    assert widened_entities(first, first) == frozenset()
    assert widened_entities(first, model(name="text(9)")) == frozenset({"thing"})
    assert widened_entities(first, model("decimal(9,2)", paid="decimal(9,1)")) == frozenset({"thing", "use"})
    assert widened_entities(model(name="text(9)"), first) is None
    assert widened_entities(first, model(why="text(9)")) is None
    assert widened_entities(first, replace(model(name="text"), name="others")) is None
    assert widened_entities(first, replace(first, tables=first.tables[:-1])) is None
    reordered = (first.tables[1], first.tables[0], *first.tables[2:])
    assert widened_entities(first, replace(first, tables=reordered)) is None


def test_wider_columns_are_taken_in_place_with_what_had_no_room(new_target: NewTarget, tmp_path: Path) -> None:
    target, anew = new_target(tmp_path), new_target(tmp_path)
    narrow = load(target, tmp_path, PLAIN, "narrow", THINGS, USES)
    assert (narrow.appended, narrow.set_aside) == (2, 3)
    keys = sorted(target.rows("SELECT id, thing_durable_key FROM thing WHERE thing_key > 0"))
    assert target_status(target, WIDER).changes == ()

    wide = load(target, tmp_path, WIDER, "wide", [thing(4, 2, "2.50", "abcd")], [])
    assert (wide.messages, wide.appended, wide.repeated, wide.void, wide.set_aside) == (1, 1, 0, 0, 0)
    assert wide.tables["use"].inserted == 1
    assert target.rows("SELECT COUNT(*) FROM metl_set_aside_thing") == [(0,)]
    assert target.columns("thing")["price"].replace(" ", "") == "DECIMAL(9,4)"
    load(anew, tmp_path, WIDER, "all", [*THINGS, thing(4, 2, "2.50", "abcd")], USES)
    assert content(target) == content(anew)
    assert audit(target, WIDER, OWNER) == ()
    assert set(keys) <= set(target.rows("SELECT id, thing_durable_key FROM thing WHERE thing_key > 0"))

    again = load(target, tmp_path, WIDER, "again", THINGS, USES)
    assert (again.messages, again.repeated) == (5, 5)
    assert target_status(target, WIDER).changes == ()


def test_what_was_set_aside_comes_with_the_next_load_whatever_opens_the_target_before(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, PLAIN, "narrow", THINGS, USES)
    assert audit(target, WIDER, OWNER) == ()
    Loader(target, WIDER, OWNER).close_snapshot("a")
    assert target.rows("SELECT COUNT(*) FROM metl_set_aside_thing") == [(2,)]
    load(target, tmp_path, WIDER, "wide", [], [])
    assert target.rows("SELECT COUNT(*) FROM metl_set_aside_thing") == [(0,)]
    assert audit(target, WIDER, OWNER) == ()


def test_a_rebuild_takes_up_what_wider_columns_left_to_the_next_load(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, PLAIN, "narrow", THINGS, USES)
    Loader(target, WIDER, OWNER).close_snapshot("a")
    alone = Fact(name="use", entity="use", measures=(Column(name="paid", path="paid", type="decimal(7,2)"),))
    fewer = shapes(Model(name="things", tables=(alone,)), HISTORIES[1:], parse)
    Loader(target, fewer, OWNER).rebuild()
    assert load_parts(target, fewer, [], "after", OWNER).appended == 0
    assert sorted(target.rows('SELECT "no", paid FROM "use"')) == [(1, Decimal("1.50")), (2, Decimal("9999.50"))]


def test_what_still_has_no_room_stays_set_aside(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, PLAIN, "narrow", THINGS, USES)
    longer = tables(model(name="text(4)", why="text(9)"))
    report = load(target, tmp_path, longer, "longer", [], [])
    assert (report.messages, report.appended, report.tables["thing"].inserted) == (0, 0, 1)
    assert target.rows('SELECT "_column" FROM metl_set_aside_thing') == [("thing.price",)]
    assert audit(target, longer, OWNER) == ()


@pytest.mark.parametrize("other", [tables(model(name="text(2)", why="text(9)")), WIDE])
def test_narrower_columns_and_those_of_junk_ask_for_a_rebuild(
    new_target: NewTarget, tmp_path: Path, other: TableShapes
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, PLAIN, "first", THINGS, USES)
    before = content(target)
    with pytest.raises(TargetError, match="The model has changed") as refused:
        load(target, tmp_path, other, "another", [], [])
    assert "rebuild" in refused.value.hint
    assert content(target) == before
    assert target_status(target, other).changes


@pytest.mark.parametrize("new_target", [pytest.param("postgresql", marks=SERVER)], indirect=True)
def test_a_view_on_a_column_that_becomes_wider_stays(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, PLAIN, "first", THINGS, USES)
    target.run("CREATE VIEW dear AS SELECT id, price FROM thing_now WHERE price > 1")
    assert target.rows("SELECT * FROM dear") == [(1, Decimal("999.99"))]
    load(target, tmp_path, WIDER, "wide", [], [])
    assert sorted(target.rows("SELECT * FROM dear")) == [(1, Decimal("1000.0000")), (2, Decimal("1.5000"))]
