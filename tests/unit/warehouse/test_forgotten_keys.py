"""Forgotten keys: what was known of them is gone, and does not come back when it is sent again, late, or replayed."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.epochs import EpochStart, in_epochs
from metl_gui.core.dimensional.rows.forgotten import ForgottenKey, LastForgotten, mark_of, remembered
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.warehouse_model import Dimension, Fact, Model
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_epochs import answer, answers
from tests.unit.warehouse.test_loads import KEYS, OWNER, PERSONS, VISITS, declarations, messages, repeats, row_key
from tests.unit.warehouse.worlds import (
    PERSON,
    at,
    dimension_rows,
    expected_dimension,
    expected_visits,
    model_of,
    parse,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

SECRET = b"a secret of tests"


def loader_of(target: WarehouseTarget, declared: tuple[Dimension, Fact], secret: bytes = SECRET) -> TargetInputs:
    """Return a loader of its own: reports are of one load."""
    return TargetInputs(target, model_of(*declared)[1], OWNER, secret=lambda: secret)


def known_of(key: str, loaded: Sequence[Message]) -> ForgottenKey:
    """Return a key as it is forgotten after some messages."""
    of_key: dict[str, list[Message]] = defaultdict(list)
    for one in loaded:
        if row_key(key) in (one.row_key, one.old_key):
            of_key[one.schema].append(one)
    last = {
        schema: LastForgotten(max(one.order_key for one in found), max(one.commit for one in found))
        for schema, found in of_key.items()
    }
    return ForgottenKey(row_key(key), last)


WORLDS = (
    messages("person"),
    messages("visit"),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(KEYS)), max_size=2, unique_by=lambda one: one[1]),
    declarations(),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
TOGETHER = [HealthCheck.function_scoped_fixture]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forgotten")


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    worlds: tuple[list[Message], list[Message]],
    forgets: Sequence[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    dimension, fact = declared
    persons, visits = repeats(worlds[0], chance), repeats(worlds[1], chance)
    chance.shuffle(persons)
    chance.shuffle(visits)
    loaded: list[Message] = []
    forgotten: list[ForgottenKey] = []
    for number in range(count):
        came = persons[number::count]
        parts = [part(folder, "person", came), part(folder, "visit", visits[number::count])]
        loader_of(target, declared).load(parts, f"load {number}")
        loaded += remembered(in_epochs(came, ()), forgotten)
        for after, key in forgets:
            if after == number and (known := known_of(key, loaded)).last:
                loader_of(target, declared).forget("person", row_key(key))
                forgotten.append(known)
                loaded = remembered(loaded, forgotten)
    left = remembered(in_epochs(worlds[0], ()), forgotten)
    facts, needed, before = expected_visits(fact, dimension, worlds[1], left)
    assert visit_rows(target, flag=fact.on_delete == "flag") == facts
    assert dimension_rows(target) == expected_dimension(dimension, left, needed, before)
    assert [one for one in audit(target, loader_of(target, declared).shapes, OWNER) if one.table == "metl_loads"] == []
    again = loader_of(target, declared)
    again.load([part(folder, "person", persons), part(folder, "visit", visits)], "again")
    assert (again.report.appended, again.report.keys.changed) == (0, 0)


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLDS)
def test_keys_that_are_forgotten_between_loads_give_what_the_oracle_gives(
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    forgets: list[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, (persons, visits), forgets, declared, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLDS)
def test_keys_that_are_forgotten_between_loads_give_it_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    forgets: list[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_against_the_oracle(target, folder, (persons, visits), forgets, declared, count, chance)


EPOCHS = (messages("person"), answers(), WORLDS[2], declarations(), st.randoms(use_true_random=False))


def left(messages: Sequence[Message], starts: Sequence[EpochStart], forgotten: Sequence[ForgottenKey]) -> list[Message]:
    """Return what is left of messages that are without their epochs, as others may begin later."""
    return [
        msgspec.structs.replace(one, old_key=kept.old_key)
        for one in messages
        for kept in remembered(in_epochs([one], starts), forgotten)
    ]


def check_epochs_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    persons: list[Message],
    given_answers: Sequence[tuple[int, EpochStart]],
    forgets: Sequence[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    chance.shuffle(persons)
    starts: list[EpochStart] = []
    stored: list[Message] = []
    forgotten: list[ForgottenKey] = []
    loader_of(target, declared).load([], "nothing")
    for number in range(4):
        for before, start in given_answers:
            if before == number:
                answer(target, declared, start, starts)
                starts.append(start)
        # The last load sends all of them again, from where they were.
        came = persons if number == 3 else persons[number::3]
        loader_of(target, declared).load([part(folder, "person", came)], f"load {number}")
        stored += left(came, starts, forgotten)
        for after, key in forgets:
            if after == number and (known := known_of(key, list(in_epochs(stored, starts)))).last:
                loader_of(target, declared).forget("person", row_key(key))
                stored = left(stored, starts, [known])
                forgotten.append(known)
    dimension, _ = declared
    assert dimension_rows(target) == expected_dimension(dimension, in_epochs(stored, starts))


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*EPOCHS)
def test_keys_that_are_forgotten_before_epochs_begin_stay_away_as_by_the_oracle(
    folder: Path,
    persons: list[Message],
    given_answers: list[tuple[int, EpochStart]],
    forgets: list[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_epochs_against_the_oracle(target, folder, persons, given_answers, forgets, declared, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*EPOCHS)
def test_keys_that_are_forgotten_before_epochs_begin_stay_away_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    given_answers: list[tuple[int, EpochStart]],
    forgets: list[tuple[int, str]],
    declared: tuple[Dimension, Fact],
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_epochs_against_the_oracle(target, folder, persons, given_answers, forgets, declared, chance)


DECLARED = (person_dimension(), visit_fact())
LATER = Message("a", row_key("1"), "0005", "u", {"id": 1, "city": "Jena"}, committed_at=at(9), seen_at=at(9))


def everything(target: WarehouseTarget, tables: Sequence[str]) -> str:
    return repr([target.rows(f"SELECT * FROM {table}") for table in tables])


def test_nothing_of_a_forgotten_key_is_left_and_old_messages_of_it_stay_away(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    tame = [msgspec.structs.replace(one, values={**one.values, "nick": "Wolf"}) for one in PERSONS]
    loader_of(target, DECLARED).load([part(tmp_path, "person", tame)], "first")
    loader = loader_of(target, DECLARED)
    purge = loader.forget("person", row_key("1"))
    assert (purge.messages, purge.set_aside, purge.numbers, purge.linked) == (2, 0, 3, ())
    assert loader.report.tables["person"].removed == 2
    kept = [
        "metl_history_person", "metl_set_aside_person", "person", "metl_forgotten", "metl_owners_person",
        "metl_loads", "metl_target", "metl_members_person", "metl_versions_person",
    ]  # fmt: skip
    assert "Wolf" not in everything(target, kept)
    assert row_key("1") not in everything(target, kept)
    again = loader_of(target, DECLARED).load([part(tmp_path, "person", [*tame, LATER])], "again")
    assert (again.messages, again.void, again.forgotten, again.appended) == (3, 2, 2, 1)
    cities = "SELECT city, first_known FROM person WHERE person_key > 0"
    assert target.rows(cities) == [("Jena", at(9))]
    assert audit(target, loader.shapes, OWNER) == ()
    rebuilt = loader_of(target, DECLARED)
    rebuilt.rebuild()
    assert target.rows(cities) == [("Jena", at(9))]
    late = loader_of(target, DECLARED).load([part(tmp_path, "person", tame[1:])], "late")
    assert (late.forgotten, late.keys.changed) == (1, 0)


def logged(offset: int, place: int, hour: int, city: str) -> Message:
    values = {"id": 1, "city": city}
    position = Position("people", 0, offset)
    return Message("a", row_key("1"), f"p{place:04}", "u", values, 0, position, at(hour), at(hour))


def test_a_later_epoch_does_not_bring_back_what_was_forgotten(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    known = [logged(1, 50, 1, "Kiel"), logged(3, 7, 3, "Ulm"), logged(4, 60, 4, "Jena")]
    loader_of(target, DECLARED).load([part(tmp_path, "person", known)], "first")
    loader_of(target, DECLARED).forget("person", row_key("1"))
    loader_of(target, DECLARED).begin_epoch("a", [Position("people", 0, 2)])
    from_elsewhere = [msgspec.structs.replace(one, position=Position("people", 0, n)) for n, one in enumerate(known, 5)]
    never_loaded = logged(8, 5, 2, "Bonn")
    again = [*known, *from_elsewhere, never_loaded]
    report = loader_of(target, DECLARED).load([part(tmp_path, "person", again)], "again")
    assert (report.forgotten, report.appended) == (7, 0)
    assert target.rows("SELECT city FROM person WHERE person_key > 0") == []
    later = logged(9, 6, 9, "Köln")
    report = loader_of(target, DECLARED).load([part(tmp_path, "person", [later, *known])], "later")
    assert (report.forgotten, report.appended) == (3, 1)
    assert target.rows("SELECT city FROM person WHERE person_key > 0") == [("Köln",)]


def test_keys_of_an_entity_that_the_model_has_no_more_are_forgotten(tmp_path: Path, new_target: NewTarget) -> None:
    target, key = new_target(tmp_path), VISITS[0].row_key
    assert key is not None
    loader_of(target, DECLARED).load([part(tmp_path, "person", PERSONS), part(tmp_path, "visit", VISITS)], "first")
    persons = shapes(Model(name="world", tables=(person_dimension(),)), [PERSON], parse)
    inputs = TargetInputs(target, persons, OWNER, secret=lambda: SECRET)
    inputs.rebuild()
    of_key = [one for one in VISITS if one.row_key == key]
    assert inputs.forget("visit", key).messages == len(of_key) == inputs.report.purged > 0
    with pytest.raises(TargetError, match="has no message of visit with it"):
        inputs.forget("visit", key)
    assert key not in everything(target, ["metl_history_visit", "metl_set_aside_visit"])
    loader_of(target, DECLARED).rebuild()
    again = loader_of(target, DECLARED).load([part(tmp_path, "visit", VISITS)], "again")
    assert (again.forgotten, again.appended) == (len(of_key), 0)
    assert audit(target, loader_of(target, DECLARED).shapes, OWNER) == ()


def test_facts_of_a_forgotten_member_refer_to_an_inferred_one(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    parts = [part(tmp_path, "person", PERSONS), part(tmp_path, "visit", VISITS)]
    loader_of(target, DECLARED).load(parts, "first")
    loader_of(target, DECLARED).forget("person", row_key("1"))
    inferred = "SELECT id, city, is_inferred FROM person WHERE person_key > 0 ORDER BY id"
    assert [(int(key), *rest) for key, *rest in target.rows(inferred)] == [(1, None, True), (9, None, True)]
    assert audit(target, loader_of(target, DECLARED).shapes, OWNER) == ()


def test_other_keys_of_a_row_are_told_and_do_not_name_the_forgotten_one(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    moved = Message(
        "a",
        row_key("2"),
        "0006",
        "c",
        {"id": 2, "city": "Jena"},
        committed_at=at(9),
        seen_at=at(9),
        old_key=row_key("1"),
    )
    loader_of(target, DECLARED).load([part(tmp_path, "person", [*PERSONS, moved])], "first")
    purge = loader_of(target, DECLARED).forget("person", row_key("1"))
    assert (purge.messages, purge.links, purge.linked) == (2, 1, (row_key("2"),))
    again = loader_of(target, DECLARED).load([part(tmp_path, "person", [*PERSONS, moved])], "again")
    assert (again.forgotten, again.repeated, again.appended) == (2, 1, 0)
    assert row_key("1") not in everything(target, ["metl_history_person", "metl_owners_person"])


def test_a_key_that_no_message_has_is_not_forgotten(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    loader_of(target, DECLARED).load([part(tmp_path, "person", PERSONS)], "first")
    with pytest.raises(TargetError, match="not known"):
        loader_of(target, DECLARED).forget("person", row_key("7"))
    assert target.rows("SELECT COUNT(*) FROM metl_forgotten") == [(0,)]
    assert len(target.rows("SELECT load FROM metl_loads")) == 1


@pytest.mark.parametrize("secret", [None, b"another secret of tests"])
def test_a_load_without_the_secret_of_the_target_is_refused(
    secret: bytes | None, tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    loader_of(target, DECLARED).load([part(tmp_path, "person", PERSONS)], "first")
    loader_of(target, DECLARED).forget("person", row_key("1"))
    shapes = loader_of(target, DECLARED).shapes
    other = TargetInputs(target, shapes, OWNER, secret=None if secret is None else lambda: secret)
    with pytest.raises(TargetError, match="secret"):
        other.load([part(tmp_path, "person", PERSONS)], "again")
    assert target.rows("SELECT COUNT(*) FROM metl_history_person") == [(0,)]
    assert TargetInputs(target, shapes, OWNER).load([part(tmp_path, "visit", VISITS)], "visits").appended == 2


def test_marks_differ_by_secret_entity_and_key() -> None:
    marks = {
        mark_of(secret, entity, key) for secret in (b"one", b"two") for entity in ("a", "ab") for key in ("b", "c")
    }
    assert len(marks) == 8
    assert all(len(mark) == 64 for mark in marks)
