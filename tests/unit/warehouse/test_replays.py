"""Replays: what a later publication covered is void from lower ones, whichever of both is loaded first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.loads.load_report import LoadReport, check_balance
from metl_gui.core.dimensional.rows.messages import Message, Position, held
from metl_gui.core.dimensional.rows.replays import Coverage, CoveredRange, Span, highest, newly_covered
from metl_gui.core.warehouse_model import Dimension, Fact
from metl_gui.errors import BugError
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_loads import OWNER, declarations, messages, repeats, row_key
from tests.unit.warehouse.worlds import (
    at,
    day_rows,
    dimension_rows,
    expected_days,
    expected_dimension,
    expected_visits,
    model_of,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

SPANS = st.builds(
    lambda first, length, publication: Span(first, first + length, publication),
    st.integers(0, 9),
    st.integers(1, 6),
    st.integers(1, 3),
)


def covering(spans: Sequence[Span], offset: int) -> int:
    """Return the highest publication that covers an offset, 0 for none."""
    return max((one.publication for one in spans if one.first <= offset < one.behind), default=0)


@given(st.lists(SPANS, max_size=5), st.lists(SPANS, max_size=3))
def test_of_each_offset_the_highest_publication_that_covered_it_is_kept(known: list[Span], came: list[Span]) -> None:
    kept, fresh = highest([*known, *came]), newly_covered(known, came)
    for offset in range(16):
        before, after = covering(known, offset), covering([*known, *came], offset)
        assert covering(kept, offset) == after
        assert covering(fresh, offset) == (after if after > before else 0)
    for one, following in pairwise(kept):
        assert one.behind < following.first or one.publication != following.publication


@st.composite
def coverages(draw: st.DrawFn) -> list[Coverage]:
    """Draw what few runs covered of the log of the messages, and of one that no message is in."""
    found = []
    for publication in draw(st.lists(st.integers(0, 2), max_size=3)):
        first = draw(st.integers(0, 8))
        log = draw(st.sampled_from(["log", "log", "log", "other"]))
        found.append(Coverage(publication, (CoveredRange(log, 0, first, first + draw(st.integers(0, 7))),)))
    return found


WORLDS = (
    messages("person"),
    messages("visit"),
    coverages(),
    declarations(),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
TOGETHER = [HealthCheck.function_scoped_fixture]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replays")


def load_shuffled(
    target: WarehouseTarget,
    folder: Path,
    tables: TableShapes,
    worlds: tuple[list[Message], list[Message], list[Coverage]],
    count: int,
    chance: random.Random,
) -> list[LoadReport]:
    """Load messages in any batches, each with what some run covered, and at last what is left of that."""
    persons, visits, covered = repeats(worlds[0], chance), repeats(worlds[1], chance), list(worlds[2])
    for some in (persons, visits, covered):
        chance.shuffle(some)
    reports: list[LoadReport] = []
    while len(reports) < max(count, len(covered)):
        number = len(reports)
        parts = [part(folder, "person", persons[number::count]), part(folder, "visit", visits[number::count])]
        coverage = covered[number] if number < len(covered) else Coverage()
        parts = parts if number < count else []
        reports.append(load_parts(target, tables, parts, f"load {number}", OWNER, coverage=coverage))
    return reports


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    worlds: tuple[list[Message], list[Message], list[Coverage]],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    dimension, fact = declared
    _, tables = model_of(dimension, fact)
    load_shuffled(target, folder, tables, worlds, count, chance)
    replays = [one.replay for one in worlds[2]]
    persons, visits = held(worlds[0], replays), held(worlds[1], replays)
    facts, needed, before = expected_visits(fact, dimension, visits, persons)
    assert visit_rows(target, flag=fact.on_delete == "flag") == facts
    assert dimension_rows(target) == expected_dimension(dimension, persons, needed, before)
    days, over = day_rows(target)
    assert days == expected_days(dimension, persons, over)
    assert audit(target, tables, OWNER) == ()


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLDS)
def test_messages_and_replays_in_any_order_give_what_the_oracle_gives(
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    covered: list[Coverage],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, (persons, visits, covered), declared, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLDS)
def test_messages_and_replays_in_any_order_give_it_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    covered: list[Coverage],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_against_the_oracle(target, folder, (persons, visits, covered), declared, count, chance)


def person(offset: int, key: str, city: str, publication: int = 1) -> Message:
    return Message(
        "a",
        row_key(key),
        f"{offset:04}",
        "c",
        {"id": int(key), "city": city},
        publication=publication,
        position=Position("changes.jsonl", 0, offset),
        committed_at=at(offset),
        seen_at=at(offset),
    )


FIRST = [person(1, "1", "Kiel"), person(2, "2", "Bonn"), person(3, "3", "Ulm")]
AGAIN = [person(1, "1", "Jena", 2)]
"""Mapped again: the second of them is filtered out now, and the third was not read."""

COVERED = Coverage(2, (CoveredRange("changes.jsonl", 0, 0, 3),))
CITIES = "SELECT id, city FROM person WHERE person_key > 0 ORDER BY id"


@pytest.mark.parametrize("is_replayed_first", [False, True])
def test_what_a_replay_did_not_produce_again_is_void_too(
    is_replayed_first: bool, tmp_path: Path, new_target: NewTarget
) -> None:
    target, (_, tables) = new_target(tmp_path), model_of(person_dimension(), visit_fact())
    loads = [(FIRST, Coverage()), (AGAIN, COVERED)]
    reports = []
    for number, (persons, coverage) in enumerate(reversed(loads) if is_replayed_first else loads):
        parts = [part(tmp_path, "person", persons)]
        reports.append(load_parts(target, tables, parts, f"load {number}", OWNER, coverage=coverage))
    assert [(int(key), city) for key, city in target.rows(CITIES)] == [(1, "Jena"), (3, "Ulm")]
    assert [one.void for one in reports] == ([0, 2] if is_replayed_first else [0, 0])
    assert [one.appended for one in reports] == ([1, 1] if is_replayed_first else [3, 1])
    assert audit(target, tables, OWNER) == ()
    again = load_parts(target, tables, [part(tmp_path, "person", AGAIN)], "again", OWNER, coverage=COVERED)
    assert (again.repeated, again.void, again.keys.changed) == (1, 0, 0)


def test_a_replay_of_what_is_covered_already_touches_no_row(tmp_path: Path, new_target: NewTarget) -> None:
    target, (_, tables) = new_target(tmp_path), model_of(person_dimension(), visit_fact())
    load_parts(target, tables, [part(tmp_path, "person", FIRST)], "first", OWNER)
    changed = []
    for number, coverage in enumerate((COVERED, COVERED, Coverage(1, COVERED.ranges), Coverage(0, COVERED.ranges))):
        report = load_parts(target, tables, [], f"replay {number}", OWNER, coverage=coverage)
        changed.append((report.keys.changed, report.keys.same))
    assert changed == [(2, 0), (0, 0), (0, 0), (0, 0)]


def test_counts_that_do_not_add_up_are_refused() -> None:
    check_balance(LoadReport(load="x", messages=4, appended=1, repeated=1, void=1, set_aside=1))
    for wrong in ({"messages": 3}, {"messages": 2, "appended": 3, "repeated": -1}):
        with pytest.raises(BugError, match="do not add up"):
            check_balance(msgspec.structs.replace(LoadReport(load="x"), **wrong))


@pytest.mark.parametrize("is_void_whole", [False, True])
def test_void_messages_are_no_part_of_the_last_snapshot(
    is_void_whole: bool, tmp_path: Path, new_target: NewTarget
) -> None:
    target, (_, tables) = new_target(tmp_path), model_of(person_dimension(), visit_fact())

    def taken(offset: int, place: int, key: str, op: str = "r", publication: int = 1) -> Message:
        moved = {"order_key": f"{place:04}", "op": op, "committed_at": at(place), "seen_at": at(place)}
        return msgspec.structs.replace(person(offset, key, "Kiel", publication), **moved)

    first = [taken(0, 5, "1", "c"), taken(1, 6, "2", "c"), taken(2, 8, "1"), taken(3, 8, "2")]
    snapshot = [taken(10, 20, "1"), taken(11, 20, "2")][: 1 if is_void_whole else 2]
    again = [] if is_void_whole else [taken(10, 20, "1", publication=2)]
    covered = Coverage(2, (CoveredRange("changes.jsonl", 0, 9, 99),))
    for number, (messages_of, coverage) in enumerate(((first, Coverage()), (snapshot, Coverage()), (again, covered))):
        parts = [part(tmp_path, "person", messages_of)]
        load_parts(target, tables, parts, f"load {number}", OWNER, coverage=coverage)
    loader = Loader(target, tables, OWNER)
    assert loader.close_snapshot("a").appended == (0 if is_void_whole else 1)
    alive = [int(key) for (key,) in target.rows("SELECT id FROM person WHERE person_key > 0 AND is_current ORDER BY 1")]
    assert alive == ([1, 2] if is_void_whole else [1])
    assert loader.close_snapshot("a").appended == 0
    assert audit(target, tables, OWNER) == ()
