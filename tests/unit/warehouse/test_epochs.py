"""Epochs: a log that goes back is asked about, and places before and after an answer are not of one log."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.epochs import EpochStart, falls, in_epochs, start_of
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.replays import Coverage
from metl_gui.core.warehouse_model import Dimension, Fact, Model
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.epochs import LogFellError
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_loads import OWNER, declarations, messages, row_key
from tests.unit.warehouse.worlds import (
    VISIT,
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

ORDERED = Coverage(is_ordered=True)
TOGETHER = [HealthCheck.function_scoped_fixture]


@st.composite
def answers(draw: st.DrawFn) -> list[tuple[int, EpochStart]]:
    """Draw answers for the log of the messages, by offset, each with the number of the load that it comes before."""
    found: list[tuple[int, EpochStart]] = []
    epochs = {"a": 0, "b": 0}
    offsets = draw(st.lists(st.integers(0, 9), max_size=3, unique=True))
    for offset, before in zip(sorted(offsets), sorted(draw(st.integers(0, 3)) for _ in offsets), strict=True):
        schema = draw(st.sampled_from("ab"))
        if not draw(st.booleans()):
            epochs[schema] += 1
        found.append((before, EpochStart(schema, Position("log", 0, offset), epochs[schema])))
    return found


WORLDS = (
    messages("person"),
    messages("visit"),
    answers(),
    declarations(),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("epochs")


def answer(
    target: WarehouseTarget, declared: tuple[Dimension, Fact], start: EpochStart, known: Sequence[EpochStart]
) -> None:
    """Give an answer that begins the epoch of a start."""
    before = start_of(start.schema, start.position, known).epoch
    loader = TargetInputs(target, model_of(*declared)[1], OWNER)
    loader.begin_epoch(start.schema, [start.position], is_same=start.epoch == before)


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    worlds: tuple[list[Message], list[Message]],
    given_answers: Sequence[tuple[int, EpochStart]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    dimension, fact = declared
    # Sent again from the same place: from another, a message would be of the epoch of that.
    persons, visits = (
        [*found, *(msgspec.structs.replace(one, seen_at=at(200)) for one in found if one.committed_at)]
        for found in worlds
    )
    chance.shuffle(persons)
    chance.shuffle(visits)
    known: list[EpochStart] = []
    tables = model_of(*declared)[1]
    TargetInputs(target, tables, OWNER).load([], "nothing")
    for number in range(4):
        for before, start in given_answers:
            if before == number:
                answer(target, declared, start, known)
                known.append(start)
        if number < count:
            parts = [part(folder, "person", persons[number::count]), part(folder, "visit", visits[number::count])]
            TargetInputs(target, tables, OWNER).load(parts, f"load {number}")
    placed_persons, placed_visits = (list(in_epochs(one, known)) for one in worlds)
    facts, needed, before_ = expected_visits(fact, dimension, placed_visits, placed_persons)
    assert visit_rows(target, flag=fact.on_delete == "flag") == facts
    assert dimension_rows(target) == expected_dimension(dimension, placed_persons, needed, before_)
    again = TargetInputs(target, tables, OWNER).load([part(folder, "person", persons)], "again")
    assert (again.appended, again.keys.changed) == (0, 0)


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLDS)
def test_epochs_that_begin_between_loads_give_what_the_oracle_gives(
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    given_answers: list[tuple[int, EpochStart]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, (persons, visits), given_answers, declared, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLDS)
def test_epochs_that_begin_between_loads_give_it_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    given_answers: list[tuple[int, EpochStart]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_against_the_oracle(target, folder, (persons, visits), given_answers, declared, count, chance)


DECLARED = (person_dimension(), visit_fact())


@settings(max_examples=15, deadline=None, suppress_health_check=TOGETHER)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from("12"), st.sampled_from("ab")), max_size=7),
    st.lists(st.integers(0, 7), max_size=2),
    st.lists(st.integers(0, 7), max_size=2, unique=True),
)
def test_a_load_asks_where_the_oracle_finds_that_a_log_went_back(
    folder: Path, drawn: list[tuple[int, str, str]], cuts: list[int], answered: list[int]
) -> None:
    starts = [EpochStart("a", Position("log", 0, offset), number) for number, offset in enumerate(sorted(answered), 1)]
    found = [
        Message(schema, row_key(key), f"p{place:04}", "u", {"id": int(key)}, position=Position("log", 0, offset))
        for offset, (place, key, schema) in enumerate(drawn)
    ]
    fallen = list(falls(in_epochs(found, starts), starts))
    bounds = [0, *sorted(min(cut, len(found)) for cut in cuts), len(found)]
    tables = model_of(*DECLARED)[1]
    done = 0
    with new_duckdb() as target:
        TargetInputs(target, tables, OWNER).load([], "nothing")
        for start in starts:
            TargetInputs(target, tables, OWNER).begin_epoch("a", [start.position])
        with contextlib.suppress(LogFellError):
            for number, (first, behind) in enumerate(pairwise(bounds)):
                some = part(folder, "person", found[first:behind])
                TargetInputs(target, tables, OWNER).load([some], f"load {number}", ORDERED)
                done += 1
    first_fall = min((one.position.offset for one in fallen), default=len(found))
    assert done == sum(1 for behind in bounds[1:] if behind <= first_fall)


def person(offset: int, place: int, city: str) -> Message:
    return Message(
        "a",
        row_key("1"),
        f"p{place:04}",
        "u",
        {"id": 1, "city": city},
        position=Position("people", 0, offset),
        committed_at=at(offset),
        seen_at=at(offset),
    )


BEFORE = [person(1, 50, "Kiel"), person(2, 51, "Bonn")]
AFTER = [person(3, 7, "Ulm"), person(4, 8, "Jena")]
"""The log of the source begins anew."""

NOW = "SELECT city FROM person WHERE person_key > 0 AND is_current"


def load(target: WarehouseTarget, folder: Path, found: Sequence[Message], name: str) -> LoadReport:
    tables = model_of(*DECLARED)[1]
    return TargetInputs(target, tables, OWNER).load([part(folder, "person", found)], name, ORDERED)


def test_a_log_that_begins_anew_is_asked_about_and_goes_on_in_another_epoch(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, BEFORE, "before")
    with pytest.raises(LogFellError, match="The log of a went back") as refused:
        load(target, tmp_path, AFTER, "after")
    assert "--from 'people/0/3'" in refused.value.hint
    assert target.rows(NOW) == [("Bonn",)]
    loader = TargetInputs(target, model_of(*DECLARED)[1], OWNER)
    assert loader.begin_epoch("a", [Position("people", 0, 3)]) == 1
    report = load(target, tmp_path, AFTER, "after")
    assert (report.appended, target.rows(NOW)) == (2, [("Jena",)])
    assert audit(target, loader.shapes, OWNER) == ()
    with pytest.raises(LogFellError, match="people/0/5"):
        load(target, tmp_path, [person(5, 2, "Köln")], "anew")
    assert load(target, tmp_path, [*BEFORE, *AFTER], "again").repeated == 4


def test_old_messages_that_are_sent_again_stay_where_they_were_in_the_log(
    tmp_path: Path, new_target: NewTarget
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, BEFORE, "before")
    loader = TargetInputs(target, model_of(*DECLARED)[1], OWNER)
    assert loader.begin_epoch("a", [Position("people", 0, 3)], is_same=True) == 1
    assert load(target, tmp_path, AFTER, "after").appended == 2
    assert target.rows(NOW) == [("Bonn",)]


def test_an_answer_that_comes_late_moves_what_was_stored(tmp_path: Path, new_target: NewTarget) -> None:
    target, tables = new_target(tmp_path), model_of(*DECLARED)[1]
    TargetInputs(target, tables, OWNER).load([part(tmp_path, "person", [*AFTER, *BEFORE])], "unasked")
    assert target.rows(NOW) == [("Bonn",)]
    loader = TargetInputs(target, tables, OWNER)
    loader.begin_epoch("a", [Position("people", 0, 3)])
    assert target.rows(NOW) == [("Jena",)]
    assert loader.report.keys.changed == 1
    assert audit(target, tables, OWNER) == ()
    TargetInputs(target, tables, OWNER).rebuild()
    assert target.rows(NOW) == [("Jena",)]


def test_an_answer_reaches_what_the_model_has_no_more(tmp_path: Path, new_target: NewTarget) -> None:
    target, tables = new_target(tmp_path), model_of(*DECLARED)[1]
    TargetInputs(target, tables, OWNER).load([part(tmp_path, "person", [*AFTER, *BEFORE])], "unasked")
    visits = shapes(Model(name="world", tables=(visit_fact(references=()),)), [VISIT], parse)
    TargetInputs(target, visits, OWNER).rebuild()
    TargetInputs(target, visits, OWNER).begin_epoch("a", [Position("people", 0, 3)])
    TargetInputs(target, tables, OWNER).rebuild()
    assert target.rows(NOW) == [("Jena",)]
    assert load(target, tmp_path, [*BEFORE, *AFTER], "again").repeated == 4
    assert audit(target, tables, OWNER) == ()


def test_known_messages_that_are_sent_again_are_not_asked_about(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, BEFORE, "before")
    again = [msgspec.structs.replace(one, position=Position("people", 0, n)) for n, one in enumerate(BEFORE, 8)]
    assert load(target, tmp_path, [*again, person(10, 60, "Ulm")], "again").repeated == 2


def test_an_epoch_that_would_begin_before_another_is_refused(tmp_path: Path, new_target: NewTarget) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, BEFORE, "before")
    loader = TargetInputs(target, model_of(*DECLARED)[1], OWNER)
    loader.begin_epoch("a", [Position("people", 0, 3)])
    for offset in (2, 3):
        with pytest.raises(TargetError, match="begins there or later"):
            loader.begin_epoch("a", [Position("people", 0, offset)])
    assert loader.begin_epoch("b", [Position("people", 0, 2)]) == 1
