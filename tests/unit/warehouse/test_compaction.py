"""Compaction: rows keep one state of before, and what comes later and is older is set aside."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.compaction import compacted, is_too_late
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import row_states
from metl_gui.core.warehouse_model import Column, Dimension, Fact
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_loads import OWNER, declarations, messages, row_key
from tests.unit.warehouse.worlds import (
    at,
    dimension_rows,
    expected_dimension,
    expected_visits,
    model_of,
    ownership,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

TOGETHER = [HealthCheck.function_scoped_fixture]
WORLDS = (
    messages("person"),
    messages("visit"),
    st.lists(st.integers(0, 30), min_size=1, max_size=2),
    declarations(),
    st.randoms(use_true_random=False),
)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compaction")


class Stored:
    """What a target holds of an entity by the oracle.

    Args:
        table: the one that is made of the entity.
    """

    def __init__(self, table: Dimension | Fact) -> None:
        self.table = table
        self.valid_at = table.valid_at if isinstance(table, Dimension) else ""
        self.messages: list[Message] = []
        self.before: datetime | None = None

    def load(self, came: Sequence[Message]) -> None:
        known = list(self.messages)
        for one in came:
            if one in known or self.before is None or not is_too_late(one, known, self.before):
                self.messages.append(one)

    def compact(self, before: datetime) -> None:
        holding = held(self.messages)
        states = row_states(holding, lambda values: values.get(self.valid_at) if self.valid_at else None)
        keys, is_dimension = ownership(self.table), isinstance(self.table, Dimension)
        owned = [(one.row, keys.owner(one)) for one in states if one.ever_held or not is_dimension]
        owners = [(row, key) for row, key in owned if key is not None]
        keeps_first = isinstance(self.table, Fact) and not self.table.event_time
        self.messages = compacted(holding, states, before, [owners], keeps_first=keeps_first)
        self.before = before


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    worlds: tuple[list[Message], list[Message]],
    hours: Sequence[int],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    dimension, fact = declared
    tables = model_of(*declared)[1]
    persons, visits = ([*one, *one[:4]] for one in worlds)
    chance.shuffle(persons)
    chance.shuffle(visits)
    stored = Stored(dimension), Stored(fact)
    for number, hour in enumerate([*sorted(hours), None]):
        came = persons[number :: len(hours) + 1], visits[number :: len(hours) + 1]
        parts = [part(folder, "person", came[0]), part(folder, "visit", came[1])]
        TargetInputs(target, tables, OWNER).load(parts, f"load {number}")
        for of_entity, some in zip(stored, came, strict=True):
            of_entity.load(some)
            if hour is not None:
                of_entity.compact(at(hour))
        if hour is not None:
            TargetInputs(target, tables, OWNER).compact(at(hour))
    facts, needed, before = expected_visits(fact, dimension, stored[1].messages, stored[0].messages)
    assert visit_rows(target, flag=fact.on_delete == "flag") == facts
    assert dimension_rows(target) == expected_dimension(dimension, stored[0].messages, needed, before)
    assert [one for one in audit(target, tables, OWNER) if one.table == "metl_loads"] == []


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLDS)
def test_targets_that_are_compacted_between_loads_hold_what_the_oracle_gives(
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    hours: list[int],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, (persons, visits), hours, declared, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLDS)
def test_targets_that_are_compacted_between_loads_hold_it_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    hours: list[int],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_against_the_oracle(target, folder, (persons, visits), hours, declared, chance)


def person(place: int, op: str = "u", **values: Any) -> Message:
    carried = {"id": 1, **values} if op != "d" else {}
    return Message("a", row_key("1"), f"{place:04}", op, carried, committed_at=at(place), seen_at=at(place))


CITIES = "SELECT city, mood, first_known, is_current FROM person WHERE person_key > 0 ORDER BY version_number"


class Persons:
    """A target of persons alone."""

    def __init__(self, target: WarehouseTarget, folder: Path) -> None:
        self.target, self.folder, self.tables = target, folder, model_of(person_dimension(), visit_fact())[1]
        self.loads = 0

    def load(self, *found: Message) -> LoadReport:
        self.loads += 1
        some = [part(self.folder, "person", found)]
        return TargetInputs(self.target, self.tables, OWNER).load(some, f"load {self.loads}")

    def compact(self, hour: int) -> LoadReport:
        return TargetInputs(self.target, self.tables, OWNER).compact(at(hour))


HISTORY = [person(1, "c", city="Kiel", mood="x"), person(2, city="Bonn"), person(3, city="Ulm"), person(6, city="Jena")]


def test_a_row_keeps_one_state_of_before_with_what_earlier_messages_said(tmp_path: Path, new_target: NewTarget) -> None:
    persons = Persons(new_target(tmp_path), tmp_path)
    persons.load(*HISTORY)
    assert persons.compact(5).purged == 2
    expected = [("Ulm", "x", at(3), False), ("Jena", "x", at(6), True)]
    assert persons.target.rows(CITIES) == expected
    late = persons.load(person(2, city="Köln"), person(7, city="Bern"), HISTORY[3])
    assert (late.set_aside, late.appended, late.repeated) == (1, 1, 1)
    assert persons.target.rows('SELECT "_column" FROM metl_set_aside_person') == [("too_late",)]
    assert audit(persons.target, persons.tables, OWNER) == ()
    TargetInputs(persons.target, persons.tables, OWNER).rebuild()
    assert persons.target.rows("SELECT COUNT(*) FROM metl_set_aside_person") == [(1,)]
    assert [city for city, *_ in persons.target.rows(CITIES)] == ["Ulm", "Jena", "Bern"]


def test_a_row_that_was_deleted_before_keeps_its_last_state_and_its_end(tmp_path: Path, new_target: NewTarget) -> None:
    persons = Persons(new_target(tmp_path), tmp_path)
    persons.load(*HISTORY[:3], person(4, "d"))
    assert persons.compact(5).purged == 2
    assert persons.target.rows("SELECT city, valid_to FROM person WHERE person_key > 0") == [("Ulm", at(4))]
    assert persons.compact(5).purged == 0
    assert audit(persons.target, persons.tables, OWNER) == ()


def test_a_target_is_not_compacted_up_to_an_earlier_time(tmp_path: Path, new_target: NewTarget) -> None:
    persons = Persons(new_target(tmp_path), tmp_path)
    persons.load(*HISTORY)
    persons.compact(5)
    with pytest.raises(TargetError, match="later time"):
        persons.compact(4)
    assert persons.compact(7).purged == 1
    assert [city for city, *_ in persons.target.rows(CITIES)] == ["Jena"]


def test_rows_whose_keys_changed_stay_whole(tmp_path: Path, new_target: NewTarget) -> None:
    persons = Persons(new_target(tmp_path), tmp_path)
    moved = msgspec.structs.replace(
        person(3, "c", city="Ulm"), row_key=row_key("2"), old_key=row_key("1"), values={"id": 2, "city": "Ulm"}
    )
    persons.load(*HISTORY[:2], person(3, "d"), moved)
    assert persons.compact(9).purged == 0


def test_what_was_current_stays_current_whatever_came_last(tmp_path: Path, new_target: NewTarget) -> None:
    target, tables = new_target(tmp_path), model_of(person_dimension(valid_at="since"), visit_fact())[1]
    late = [person(n, city=c, since=at(s)) for n, c, s in ((1, "Kiel", 1), (2, "Bonn", 50), (3, "Ulm", 25))]
    TargetInputs(target, tables, OWNER).load([part(tmp_path, "person", late)], "load")
    before = target.rows(CITIES)
    assert before[-1][0] == "Bonn"
    assert TargetInputs(target, tables, OWNER).compact(at(60)).purged == 0
    assert target.rows(CITIES) == before


def test_a_member_of_several_rows_keeps_the_values_of_the_one_that_set_them(
    tmp_path: Path, new_target: NewTarget
) -> None:
    persons = Persons(new_target(tmp_path), tmp_path)
    other = msgspec.structs.replace(person(3, city="Bonn"), schema="b")
    persons.load(person(1, "c", city="Kiel", mood="x"), person(5, city="Kiel", mood="y"), other)
    before = persons.target.rows(CITIES)
    assert persons.compact(9).purged == 0
    assert persons.target.rows(CITIES) == before


def test_a_fact_happens_when_its_first_message_was_committed_still(tmp_path: Path, new_target: NewTarget) -> None:
    target, tables = new_target(tmp_path), model_of(person_dimension(), visit_fact(event_time=""))[1]
    visits = [
        Message("a", row_key("7"), f"{n:04}", "u", {"no": 7, "fee": n}, committed_at=at(n), seen_at=at(n))
        for n in (2, 5, 30)
    ]
    TargetInputs(target, tables, OWNER).load([part(tmp_path, "visit", visits)], "load")
    assert TargetInputs(target, tables, OWNER).compact(at(60)).purged == 1
    assert target.rows("SELECT event_time, fee FROM visit") == [(at(2), 30)]
    assert audit(target, tables, OWNER) == ()


def test_what_was_set_aside_before_a_compaction_stays_aside_though_it_would_fit_now(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    narrow, wide = (
        model_of(
            person_dimension(
                columns=(
                    Column(name="city", path="city", type=type_, history=2),
                    Column(name="mood", path="mood", history=2),
                )
            )
        )[1]
        for type_ in ("text(5)", "text(50)")
    )
    persons = [person(1, "c", city="Kiel", mood="x"), person(2, city="Hannover"), person(3, city="Ulm")]
    TargetInputs(target, narrow, OWNER).load([part(tmp_path, "person", persons)], "first")
    assert TargetInputs(target, narrow, OWNER).compact(at(9)).purged == 1
    late = [part(tmp_path, "person", [person(20, city="Greifswald")])]
    assert TargetInputs(target, narrow, OWNER).load(late, "late").set_aside == 1
    TargetInputs(target, wide, OWNER).load([], "wide")
    moods = "SELECT city, mood FROM person WHERE person_key > 0 ORDER BY first_known"
    assert target.rows(moods) == [("Ulm", "x"), ("Greifswald", "x")]
    aside = 'SELECT city, "_column" FROM metl_set_aside_person'
    assert target.rows(aside) == [("Hannover", "too_late")]
    assert audit(target, wide, OWNER) == ()
    TargetInputs(target, wide, OWNER).rebuild()
    assert (target.rows(moods)[0], target.rows(aside)) == (("Ulm", "x"), [("Hannover", "too_late")])
