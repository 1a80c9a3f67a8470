"""Dimensions that refer to versions of others, and have new versions with them, whatever the order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.cascades import cascaded
from metl_gui.core.dimensional.rows.members import Key, MemberVersion, Opening, Ownership, members, versions
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Model, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError, TableShapes
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_hierarchies import nothing_changed
from tests.unit.warehouse.test_loads import OWNER, TOGETHER, messages, repeats, row_key
from tests.unit.warehouse.worlds import (
    BEGINNING,
    PERSON,
    VISIT,
    at,
    expected_members,
    parse,
    part,
    person_dimension,
    plain,
    states_of,
    visit_fact,
)


def stay_dimension(*, cascade: bool = True, as_of: Any = "version", **changes: Any) -> Dimension:
    guest = Reference(dimension="person", role="guest", on=(("who", "id"),), as_of=as_of, cascade=cascade)
    given = {"name": "stay", "entity": "visit", "columns": (Column(name="fee", path="fee"),), "references": (guest,)}
    return Dimension(**{**given, **changes})


def tables_of(person: Dimension, stay: Dimension) -> TableShapes:
    return shapes(Model(name="world", tables=(stay, person)), [PERSON, VISIT], parse)


def starts_of(person: Dimension, of_member: Sequence[MemberVersion]) -> list[tuple[datetime, Opening]]:
    """Return since when the versions of a person stand in the table, and what opened them."""
    found = [(one.valid_from, one.opened_by) for one in of_member]
    return [(BEGINNING, found[0][1]), *found[1:]] if person.covers_past and found else found


def expected_stays(
    person: Dimension, stay: Dimension, persons: Sequence[Message], visits: Sequence[Message]
) -> list[tuple[Any, ...]]:
    """Return the versions of stays: key, number, since when, the guest, and the number of the guest's version."""
    known = expected_members(person, persons)

    def starts(who: Any) -> list[tuple[datetime, Opening]]:
        return starts_of(person, known.get((who,), (True, ()))[1])

    rows: list[tuple[Any, ...]] = []
    for key, one in members(states_of(visits), Ownership(("no",))).items():
        cut = cascaded(one, "cascade", lambda values: starts(values.get("who")))
        for number, version in enumerate(versions(cut if stay.references[0].cascade else one, ["who", "cascade"]), 1):
            who = version.by_version["who"]
            of_guest = sum(1 for since, _ in starts(who) if since <= version.valid_from) if (who,) in known else 1
            held = {"version": of_guest, "current": len(starts(who)) or 1}.get(stay.references[0].as_of)
            if one.is_alive or stay.on_delete != "remove":
                rows.append((*key, number, version.valid_from, who, None if who is None else held))
    return sorted(rows, key=repr)


def stay_rows(target: WarehouseTarget, as_of: str = "version") -> list[tuple[Any, ...]]:
    if as_of == "durable":
        query = """SELECT s."no", s.version_number, s.first_known, p.id, NULL FROM stay AS s
            LEFT JOIN person AS p ON p.person_durable_key = s.guest_durable_key AND p.version_number = 1
            WHERE s.stay_key > 0"""
        return plain(target.rows(query))
    query = """SELECT s."no", s.version_number, s.first_known, p.id, CASE WHEN s.guest_key > 0 THEN p.version_number END
        FROM stay AS s JOIN person AS p ON p.person_key = s.guest_key AND p.person_durable_key = s.guest_durable_key
        WHERE s.stay_key > 0"""
    return plain(target.rows(query))


WORLD = (
    messages("person"),
    messages("visit"),
    st.tuples(
        st.booleans(),
        st.tuples(st.booleans(), st.sampled_from(["durable", "current", "version", "version"])),
        *[st.sampled_from(["close", "flag", "remove"])] * 2,
    ),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    rules: tuple[bool, tuple[bool, str], Any, Any],
    count: int,
    chance: random.Random,
) -> None:
    covers_past, (cascade, as_of), *on_delete = rules
    person = person_dimension(covers_past=covers_past, on_delete=on_delete[0])
    stay = stay_dimension(cascade=cascade, as_of=as_of, on_delete=on_delete[1])
    tables = tables_of(person, stay)
    shuffled = repeats(persons, chance), repeats(visits, chance)
    for each in shuffled:
        chance.shuffle(each)

    def load(load: str, persons: Sequence[Message], visits: Sequence[Message]) -> LoadReport:
        return load_parts(target, tables, [part(folder, "person", persons), part(folder, "visit", visits)], load, OWNER)

    for number in range(count):
        load(f"load {number}", shuffled[0][number::count], shuffled[1][number::count])
    expected = expected_stays(person, stay, persons, visits)
    assert stay_rows(target, as_of) == expected
    known: set[Key] = set(expected_members(person, persons))
    inferred = {(who, 1) for *_, who, _ in expected if who is not None and (who,) not in known}
    early = {(who, 0) for *_, who, version in expected if version == 0 and as_of == "version"}
    found = plain(target.rows("SELECT id, version_number FROM person WHERE is_inferred"))
    assert found == sorted(inferred | early, key=repr)
    assert nothing_changed(load("again", *shuffled))
    assert audit(target, tables, OWNER) == ()


@settings(max_examples=20, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_the_same_children(
    tmp_path_factory: pytest.TempPathFactory,
    persons: list[Message],
    visits: list[Message],
    rules: tuple[bool, tuple[bool, str], Any, Any],
    count: int,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("cascades")
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, persons, visits, rules, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_the_same_children_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    rules: tuple[bool, tuple[bool, str], Any, Any],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        folder = tmp_path_factory.mktemp("cascades")
        check_against_the_oracle(target, folder, persons, visits, rules, count, chance)


def person(place: int, city: str, hours: float) -> Message:
    values = {"id": 1, "city": city}
    return Message("a", row_key("1"), f"{place:04}", "u", values, committed_at=at(hours), seen_at=at(hours))


def visit(hours: float) -> Message:
    values = {"no": 7, "who": 1, "fee": 1}
    return Message("a", row_key("7"), "0001", "c", values, committed_at=at(hours), seen_at=at(hours))


class Stays:
    """A target that persons and visits come into."""

    def __init__(self, new_target: NewTarget, folder: Path, *, covers_past: bool = True, cascade: bool = True) -> None:
        self.folder, self.target = folder, new_target(folder)
        self.tables = tables_of(person_dimension(covers_past=covers_past), stay_dimension(cascade=cascade))
        self.number = 0

    def load(self, persons: Sequence[Message] = (), visits: Sequence[Message] = ()) -> LoadReport:
        self.number += 1
        parts = [part(self.folder, "person", persons), part(self.folder, "visit", visits)]
        return load_parts(self.target, self.tables, parts, f"load {self.number}", OWNER)


@pytest.mark.parametrize("cascade", [True, False])
def test_a_version_of_the_parent_makes_one_of_the_child_where_it_cascades(
    new_target: NewTarget, tmp_path: Path, cascade: bool
) -> None:
    stays = Stays(new_target, tmp_path, cascade=cascade)
    stays.load([person(1, "Kiel", 1)], [visit(3)])
    counts = stays.load([person(5, "Bonn", 9)]).tables["stay"]
    assert (counts.inserted, counts.updated, counts.closed) == ((1, 1, 1) if cascade else (0, 0, 0))
    stays.load([person(3, "Ulm", 6)])
    numbers = [(7, 1, at(3), 1, 1), (7, 2, at(6), 1, 2), (7, 3, at(9), 1, 3)]
    assert stay_rows(stays.target) == (numbers if cascade else numbers[:1])
    assert audit(stays.target, stays.tables, OWNER) == ()


def test_a_child_of_the_time_before_its_parent_has_a_version_that_ends_where_the_parent_begins(
    new_target: NewTarget, tmp_path: Path
) -> None:
    stays = Stays(new_target, tmp_path, covers_past=False, cascade=False)
    stays.load([person(5, "Kiel", 5)], [visit(3)])
    versions_ = "SELECT version_number, valid_to, is_inferred FROM person WHERE id = 1 ORDER BY 1"
    assert plain(stays.target.rows(versions_)) == [(0, at(5), True), (1, None, False)]
    assert stay_rows(stays.target) == [(7, 1, at(3), 1, 0)]
    stays.load([person(2, "Bonn", 2)])
    assert stay_rows(stays.target) == [(7, 1, at(3), 1, 1)]
    assert plain(stays.target.rows(versions_)) == [(1, at(5), False), (2, None, False)]
    assert audit(stays.target, stays.tables, OWNER) == ()


def test_a_parent_that_comes_late_takes_the_key_that_its_child_knows(new_target: NewTarget, tmp_path: Path) -> None:
    stays = Stays(new_target, tmp_path)
    stays.load((), [visit(3)])
    keys = stays.target.rows("SELECT guest_key, guest_durable_key FROM stay WHERE stay_key > 0")
    assert keys[0][0] > 0
    stays.load([person(1, "Kiel", 1)])
    assert stays.target.rows("SELECT guest_key, guest_durable_key FROM stay WHERE stay_key > 0") == keys
    assert stay_rows(stays.target) == [(7, 1, at(3), 1, 1)]


def test_an_audit_finds_nothing_where_a_removed_parent_was_inferred_again(
    new_target: NewTarget, tmp_path: Path
) -> None:
    stays = Stays(new_target, tmp_path)
    stays.tables = tables_of(person_dimension(on_delete="remove"), stay_dimension())
    stays.load([person(1, "Kiel", 1)], [visit(3)])
    stays.load([Message("a", row_key("1"), "0009", "d", committed_at=at(9), seen_at=at(9))])
    assert plain(stays.target.rows("SELECT id, is_inferred FROM person WHERE person_key > 0")) == [(1, True)]
    assert audit(stays.target, stays.tables, OWNER) == ()


def test_a_fact_has_no_versions_that_a_cascade_could_make() -> None:
    guest = Reference(dimension="person", role="guest", on=(("who", "id"),), cascade=True)
    with pytest.raises(ModelError, match="not carry this out"):
        shapes(
            Model(name="world", tables=(visit_fact(references=(guest,)), person_dimension())), [PERSON, VISIT], parse
        )
