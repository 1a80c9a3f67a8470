"""What the star diagram of a warehouse model shows, and where its boxes lie."""

from __future__ import annotations

from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import (
    Bridge,
    Column,
    Dates,
    Dimension,
    Fact,
    Hierarchy,
    Junk,
    Model,
    Periodic,
    Reference,
    TimesOfDay,
)
from metl_gui.workbench.warehouse.star import (
    NO_STAR,
    BoxKind,
    Star,
    StarBox,
    arranged,
    nearest,
    read_places,
    star_of,
)

CUSTOMER = Dimension(name="customer", entity="person", columns=(Column(name="a", path="a"),))
PAYMENT = Fact(
    name="payment",
    entity="payment",
    references=(Reference(dimension="customer", role="payer"), Reference(dimension="customer", as_of="current")),
)
TABLES = (
    CUSTOMER,
    PAYMENT,
    Periodic(name="daily", of="customer", every="day"),
    Dates(name="date", first="2020-01-01", last="2021-01-01"),
    TimesOfDay(name="time"),
    Bridge(name="emails", of="customer", list_path="emails"),
    Hierarchy(name="tree", of="customer"),
    Junk(name="flags", of="payment", columns=("a",)),
)
STAR = star_of(Model(name="m", tables=TABLES))


def test_every_table_has_a_box_and_each_entity_one() -> None:
    kinds = [box.kind for box in STAR.boxes.values()]
    assert len(kinds) == len(TABLES) + 2
    assert kinds.count(BoxKind.ENTITY) == 2
    assert STAR.boxes["table:daily"].facts == "every day · UTC"


def test_lines_lead_from_entities_over_tables_to_what_they_refer_to() -> None:
    lines = {(line.start, line.end, line.words) for line in STAR.lines}
    assert ("entity:person", "table:customer", "") in lines
    assert ("table:payment", "table:customer", "payer · as of event") in lines
    assert ("table:payment", "table:customer", "as of current") in lines
    assert ("table:customer", "table:daily", "end of each day") in lines


def test_what_leads_nowhere_has_no_line() -> None:
    lost = Fact(name="f", entity="f", references=(Reference(dimension="gone"),))
    assert [line.end for line in star_of(Model(name="m", tables=(lost,))).lines] == ["table:f"]


def test_a_box_has_the_worst_problem_of_its_table_and_not_of_one_whose_name_it_begins() -> None:
    problems = [
        Problem(Severity.WARNING, "c", "m: customer", "", ""),
        Problem(Severity.ERROR, "c", "m: customer.a", "", ""),
        Problem(Severity.ERROR, "c", "m: payments", "", ""),
    ]
    star = star_of(Model(name="m", tables=TABLES), (), problems)
    assert star.boxes["table:customer"].problem == "error"
    assert star.boxes["table:payment"].problem == ""


def test_a_proposed_table_that_is_there_is_no_ghost() -> None:
    star = star_of(Model(name="m", tables=(CUSTOMER,)), (CUSTOMER, PAYMENT))
    assert [box.name for box in star.boxes.values() if box.is_ghost] == ["payment"]
    assert star.boxes["table:payment"].spoken.startswith("proposed fact payment")


def test_boxes_lie_apart_and_those_that_were_moved_where_they_were_put() -> None:
    places = arranged(STAR, {"table:date": (7.0, 8.0)})
    assert places["table:date"] == (7.0, 8.0)
    assert len(set(places.values())) == len(STAR.boxes)
    assert places["entity:person"][0] < places["table:customer"][0] < places["table:payment"][0]


def test_more_boxes_of_a_kind_than_a_screen_has_rows_stand_in_several_columns() -> None:
    many = tuple(Dimension(name=f"d{number}", entity="person") for number in range(25))
    places = arranged(star_of(Model(name="m", tables=(*many, PAYMENT))), {})
    columns = {places[f"table:d{number}"][0] for number in range(25)}
    assert len(columns) == 3
    assert max(columns) < places["table:payment"][0]


def test_arrows_reach_every_box_from_any_other() -> None:
    places = arranged(STAR, {})
    reached, waiting = set(), ["entity:person"]
    while waiting:
        key = waiting.pop()
        if key not in reached:
            reached.add(key)
            waiting += [nearest(places, key, direction) for direction in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    assert reached == set(places)
    assert nearest({}, "", (1, 0)) == ""
    assert arranged(NO_STAR, {}) == {}


def test_places_that_are_none_are_left_out() -> None:
    kept = {"a": [1, 2.5], "b": [1], "c": ["x", 1], "d": [float("inf"), 0], "e": [1e9, 0], "f": "no"}
    assert read_places(kept) == {"a": (1.0, 2.5)}


def test_a_diagram_of_hundreds_of_boxes_is_no_ribbon() -> None:
    boxes = [StarBox(f"entity:{at}", BoxKind.ENTITY, str(at), "") for at in range(300)]
    places = arranged(Star({box.key: box for box in boxes}, ()), {})
    assert len(set(places.values())) == 300
    width, height = (max(p[axis] for p in places.values()) - min(p[axis] for p in places.values()) for axis in (0, 1))
    assert 1 < width / height < 3
