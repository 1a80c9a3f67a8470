"""Loads of random messages, by the oracle: any order, any batching and any repetition give the same warehouse."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Model
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.worlds import (
    PERSON,
    VISIT,
    at,
    day_rows,
    dimension_rows,
    expected_days,
    expected_dimension,
    expected_visits,
    guest,
    model_of,
    parse,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

OWNER = Owner(project="world", mode="test")
KEYS = ("1", "2", "3")


def row_key(key: str) -> str:
    return f'{{"id":{key}}}'


@st.composite
def messages(
    draw: st.DrawFn, entity: str, of: Callable[[str, str], st.SearchStrategy[dict[str, Any]]] | None = None
) -> list[Message]:
    """Draw messages of few rows of two schemas, with all that makes their order matter.

    Args:
        draw: of hypothesis.
        entity: whose messages they are.
        of: draws what a message carries, by entity and key.
    """
    found = []
    ops = draw(st.sampled_from(["ccccuuuuuudddrt", "ccccuuuuuudddrt", "ccuuur"]))
    # What messages of a schema leave out is always the same, or not.
    lacks = draw(st.one_of(st.none(), st.fixed_dictionaries({schema: st.sets(st.integers(0, 4)) for schema in "ab"})))
    for offset in range(draw(st.integers(0, 9))):
        op, key = draw(st.sampled_from(ops)), draw(st.sampled_from(KEYS))
        place = draw(st.integers(1, 25))
        old = draw(st.sampled_from([None, None, None, *KEYS])) if op == "c" else None
        schema = draw(st.sampled_from("ab"))
        carried = of(entity, key) if of is not None else values(entity, key, lacks[schema] if lacks else None)
        found.append(
            Message(
                schema=schema,
                row_key=None if op == "t" else row_key(key),
                order_key=f"{place:04}",
                op=op,
                values=draw(carried) if op in "cur" else {},
                publication=draw(st.sampled_from([0, 0, 0, 1])),
                position=Position("log", 0, offset),
                committed_at=draw(st.sampled_from([None, at(place), at(place), at(place - 9), at(place + 90)])),
                seen_at=at(place + draw(st.integers(0, 3))),
                old_key=None if old in (None, key) else row_key(str(old)),
            )
        )
    return found


@st.composite
def values(draw: st.DrawFn, entity: str, key: str, lacks: Collection[int] | None = None) -> dict[str, Any]:
    """Draw what a message carries: all but some that its schema lacks, by their number, or now and then not all."""
    time = draw(st.sampled_from([None, at(3), at(11), at(30)]))
    number = draw(st.sampled_from([int(key), int(key), int(key), 1, 2, None]))
    if entity == "person":
        found = {
            "id": number,
            "city": draw(st.sampled_from(["Kiel", "Bonn", None])),
            "mood": draw(st.sampled_from("xy")),
            "nick": draw(st.sampled_from("mno")),
            "since": time,
        }
    else:
        found = {
            "no": number,
            "who": draw(st.sampled_from([1, 2, 3, 4, None])),
            "at": time,
            "fee": draw(st.integers(1, 3)),
        }
    if lacks is None:
        lacks = draw(st.sets(st.integers(0, len(found) - 1), max_size=3)) if draw(st.booleans()) else ()
    return {name: value for number, (name, value) in enumerate(found.items()) if number not in lacks}


@st.composite
def declarations(draw: st.DrawFn) -> tuple[Dimension, Fact]:
    """Draw a dimension and a fact of which rules differ."""
    dimension = person_dimension(
        on_delete=draw(st.sampled_from(["close", "flag", "remove"])),
        valid_at=draw(st.sampled_from(["", "since"])),
        prefer=draw(st.sampled_from([(), ("b",)])),
        covers_past=draw(st.booleans()),
        leading=draw(st.sampled_from(["", "", "a"])),
    )
    fact = visit_fact(
        on_delete=draw(st.sampled_from(["remove", "flag"])),
        event_time=draw(st.sampled_from(["at", ""])),
        leading=draw(st.sampled_from(["", "", "b"])),
        references=(guest(draw(st.sampled_from(["infer", "infer", "wait", "unknown"]))),),
    )
    return dimension, fact


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loads")


def repeats(found: Sequence[Message], chance: random.Random) -> list[Message]:
    """Return messages with some twice, the second sent again later by another connector."""
    again = [msgspec.structs.replace(one, seen_at=at(200), position=Position("log", 0, 900)) for one in found]
    return [*found, *(one for one in again if chance.random() < 0.3 and one.committed_at is not None)]


def load_batches(
    target: WarehouseTarget,
    folder: Path,
    declared: tuple[Dimension, Fact],
    batches: Sequence[tuple[list[Message], list[Message]]],
) -> None:
    """Load batches one after the other into a new target."""
    dimension, fact = declared
    _, tables = model_of(dimension, fact)
    for number, (persons, visits) in enumerate(batches):
        load_parts(
            target, tables, [part(folder, "person", persons), part(folder, "visit", visits)], f"load {number}", OWNER
        )


WORLDS = (messages("person"), messages("visit"), declarations(), st.integers(1, 3), st.randoms(use_true_random=False))
TOGETHER = [HealthCheck.function_scoped_fixture]


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    dimension, fact = declared
    shuffled = repeats(persons, chance), repeats(visits, chance)
    for one in shuffled:
        chance.shuffle(one)
    load_batches(target, folder, declared, [(shuffled[0][n::count], shuffled[1][n::count]) for n in range(count)])
    facts, needed, before = expected_visits(fact, dimension, visits, persons)
    assert visit_rows(target, flag=fact.on_delete == "flag") == facts
    assert dimension_rows(target) == expected_dimension(dimension, persons, needed, before)
    days, over = day_rows(target)
    assert days == expected_days(dimension, persons, over)


@pytest.mark.parametrize(
    ("valid_at", "event_time", "person", "visit"),
    [
        ("", "", {"id", "city", "mood", "nick"}, {"no", "who", "fee"}),
        ("since", "at", {"id", "city", "mood", "nick", "since"}, {"no", "who", "fee", "at"}),
    ],
)
def test_states_have_those_attributes_alone_of_which_tables_are_made(
    valid_at: str, event_time: str, person: set[str], visit: set[str]
) -> None:
    _, tables = model_of(person_dimension(valid_at=valid_at), visit_fact(event_time=event_time))
    stated = {entity: {column.name for column in history.columns} for entity, history in tables.stated.items()}
    assert stated == {"person": person, "visit": visit}


@settings(max_examples=40, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLDS)
def test_any_order_batching_and_repetition_gives_what_the_oracle_gives(
    folder: Path,
    persons: list[Message],
    visits: list[Message],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, persons, visits, declared, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=12, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLDS)
def test_any_order_batching_and_repetition_gives_it_in_postgresql_too(
    folder: Path,
    login: dict[str, Any],
    persons: list[Message],
    visits: list[Message],
    declared: tuple[Dimension, Fact],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        check_against_the_oracle(target, folder, persons, visits, declared, count, chance)


PERSONS = [
    Message("a", row_key("1"), "0001", "c", {"id": 1, "city": "Kiel"}, committed_at=at(1), seen_at=at(1)),
    Message("a", row_key("1"), "0002", "u", {"id": 1, "city": "Bonn"}, committed_at=at(5), seen_at=at(5)),
]
VISITS = [
    Message(
        "a", row_key("7"), "0009", "c", {"no": 7, "who": 1, "at": at(6), "fee": 3}, committed_at=at(6), seen_at=at(6)
    ),
    Message(
        "a", row_key("8"), "0009", "c", {"no": 8, "who": 9, "at": at(6), "fee": 3}, committed_at=at(6), seen_at=at(6)
    ),
]


class Warehouse:
    """A target that loads come into."""

    def __init__(
        self, new_target: NewTarget, folder: Path, dimension: Dimension | None = None, fact: Fact | None = None
    ) -> None:
        self.folder = folder
        self.target = new_target(folder)
        _, self.tables = model_of(dimension or person_dimension(), fact or visit_fact())
        self.number = 0

    def load(self, persons: Sequence[Message] = (), visits: Sequence[Message] = (), name: str = "") -> LoadReport:
        self.number += 1
        parts = [part(self.folder, "person", persons), part(self.folder, "visit", visits)]
        return load_parts(self.target, self.tables, parts, name or f"load {self.number}", OWNER)


def test_what_is_loaded_again_changes_no_row(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    first = warehouse.load(PERSONS, VISITS)
    assert (first.messages, first.appended, first.repeated) == (4, 4, 0)
    again = warehouse.load(PERSONS, VISITS)
    assert (again.messages, again.appended, again.repeated) == (4, 0, 4)
    assert (first.keys.changed, first.keys.same, again.keys.changed) == (3, 0, 0)
    assert not any(getattr(one, count) for one in again.tables.values() for count in ("inserted", "updated", "removed"))


def test_a_target_that_nothing_was_loaded_into_is_neither_audited_nor_made(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    for ask in (
        Loader(warehouse.target, warehouse.tables, OWNER).rebuild,
        lambda: audit(warehouse.target, warehouse.tables, OWNER),
    ):
        with pytest.raises(TargetError, match="Nothing was loaded"):
            ask()
    assert not warehouse.target.has_table("person")


def test_a_load_of_a_known_name_says_what_it_did_then(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    first = warehouse.load(PERSONS, name="run-1")
    again = warehouse.load(VISITS, name="run-1")
    assert again == msgspec.structs.replace(first, is_repeated=True)
    assert visit_rows(warehouse.target) == []


def test_a_member_that_comes_late_takes_the_key_that_facts_know(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    warehouse.load((), VISITS)
    keys = warehouse.target.rows('SELECT "no", guest_key, guest_durable_key FROM visit ORDER BY "no"')
    assert warehouse.target.rows("SELECT COUNT(*) FROM person WHERE is_inferred") == [(2,)]
    report = warehouse.load(PERSONS[:1])
    assert warehouse.target.rows('SELECT "no", guest_key, guest_durable_key FROM visit ORDER BY "no"') == keys
    assert "visit" not in {table for table, counts in report.tables.items() if counts.updated}
    assert warehouse.target.rows("SELECT id FROM person WHERE is_inferred") == [(9,)]


def test_a_change_that_comes_late_points_just_the_facts_of_its_time_elsewhere(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)
    early = Message(
        "a", row_key("6"), "0003", "c", {"no": 6, "who": 1, "at": at(2), "fee": 1}, committed_at=at(2), seen_at=at(2)
    )
    warehouse.load([PERSONS[0], PERSONS[1]], [early, *VISITS])
    ulm = Message("a", row_key("1"), "00015", "u", {"id": 1, "city": "Ulm"}, committed_at=at(4), seen_at=at(4))
    report = warehouse.load([ulm])
    assert report.tables["visit"].updated == 0
    cities = (
        'SELECT f."no", p.city FROM visit AS f JOIN person AS p ON p.person_key = f.guest_key WHERE p.id = 1 ORDER BY 1'
    )
    assert warehouse.target.rows(cities) == [(6, "Kiel"), (7, "Bonn")]
    ulm_earlier = Message(
        "a", row_key("1"), "00013", "u", {"id": 1, "city": "Jena"}, committed_at=at(1.5), seen_at=at(2)
    )
    report = warehouse.load([ulm_earlier])
    assert report.tables["visit"].updated == 1
    assert warehouse.target.rows(cities) == [(6, "Jena"), (7, "Bonn")]


def test_a_row_that_is_looked_at_again_still_has_what_it_was_under_another_key(
    new_target: NewTarget, tmp_path: Path
) -> None:
    warehouse = Warehouse(new_target, tmp_path)

    def visit(key: str, place: int, number: int, old_key: str | None = None, **values: Any) -> Message:
        time, carried = at(place), {"no": number, **values}
        return Message("a", row_key(key), f"{place:04}", "c", carried, committed_at=time, seen_at=time, old_key=old_key)

    before, moved = visit("3", 1, 3, who=1, fee=5), visit("2", 18, 2, row_key("3"))
    warehouse.load((), [before, moved, visit("1", 1, 2, who=2, fee=7)])
    rows = 'SELECT fee FROM visit WHERE "no" = 2'
    assert warehouse.target.rows(rows) == [(5,)]
    # The other row of this key goes away, so that the moved one is looked at, and not the row that it was.
    warehouse.load((), [visit("1", 2, 1, who=2, fee=7)])
    assert warehouse.target.rows(rows) == [(5,)]
    assert audit(warehouse.target, warehouse.tables, OWNER) == ()


def test_a_load_that_is_stopped_between_two_steps_leaves_nothing(new_target: NewTarget, tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    for stop in range(1, 200, 7):
        folder = tmp_path / str(stop)
        folder.mkdir()
        warehouse = Warehouse(new_target, folder)
        done: list[int] = []

        def count(_step: object, _rows: int, done: list[int] = done, stop: int = stop) -> None:
            done.append(1)
            if len(done) == stop:
                raise StoppedError

        parts = [part(folder, "person", PERSONS), part(folder, "visit", VISITS)]
        try:
            load_parts(warehouse.target, warehouse.tables, parts, "load", OWNER, count)
        except StoppedError:
            assert not warehouse.target.has_table("metl_loads")
            report = load_parts(warehouse.target, warehouse.tables, parts, "load", OWNER)
            assert report.appended == 4
        else:
            assert stop > len(done) > 90
            break
        warehouse.target.close()


def test_a_fact_waits_for_its_member_and_goes_back_when_it_goes(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(
        new_target, tmp_path, person_dimension(on_delete="remove"), visit_fact(references=(guest("wait"),))
    )
    assert warehouse.load((), VISITS).waiting == 2
    assert visit_rows(warehouse.target) == []
    report = warehouse.load(PERSONS)
    assert (report.waiting, report.tables["visit"].inserted) == (1, 1)
    gone = Message("a", row_key("1"), "0003", "d", committed_at=at(9), seen_at=at(9))
    report = warehouse.load([gone])
    assert (report.waiting, report.tables["visit"].removed) == (2, 1)


def test_a_reference_to_what_is_unknown_is_looked_up_again_when_it_comes(new_target: NewTarget, tmp_path: Path) -> None:
    warehouse = Warehouse(new_target, tmp_path, fact=visit_fact(references=(guest("unknown"),)))
    warehouse.load((), VISITS)
    keys = 'SELECT "no", guest_key > 0, guest_durable_key > 0 FROM visit ORDER BY "no"'
    assert warehouse.target.rows(keys) == [(7, False, False), (8, False, False)]
    warehouse.load(PERSONS)
    assert warehouse.target.rows(keys) == [(7, True, True), (8, False, False)]
    assert warehouse.target.rows("SELECT COUNT(*) FROM person WHERE is_inferred") == [(0,)]


def test_rows_that_a_snapshot_taken_again_lacks_are_deleted_as_of_its_place(
    tmp_path: Path, new_target: NewTarget
) -> None:
    warehouse = Warehouse(new_target, tmp_path)

    def person(key: str, place: int, op: str, hours: float) -> Message:
        carried = {"id": int(key), "city": "Kiel"} if op != "d" else {}
        return Message("a", row_key(key), f"{place:04}", op, carried, committed_at=at(hours), seen_at=at(hours))

    # 2 and 3 are gone when the snapshot is taken, 3 comes again, 4 was deleted before; of b there is no snapshot.
    first = [person(key, place, "r", 1) for place, key in enumerate("1234", 1)]
    other = msgspec.structs.replace(person("9", 1, "c", 1), schema="b")
    later = [person("4", 6, "d", 6), person("1", 10, "r", 10), person("3", 12, "c", 12)]
    warehouse.load([*first, other, *later])
    loader = Loader(warehouse.target, warehouse.tables, OWNER)
    assert loader.close_snapshot("a").appended == 2
    ends = "SELECT id, valid_to, is_current FROM person WHERE person_key > 0 ORDER BY id, version_number"
    found = [(int(key), end, is_current) for key, end, is_current in warehouse.target.rows(ends)]
    assert found == [
        (1, None, True), (2, at(10), False), (3, at(10), False), (3, None, True), (4, at(6), False), (9, None, True),
    ]  # fmt: skip
    assert loader.close_snapshot("a").appended == 0
    assert audit(warehouse.target, warehouse.tables, OWNER) == ()


def test_a_dimension_that_is_referred_to_by_member_alone_need_not_cover_the_past(
    tmp_path: Path, new_target: NewTarget
) -> None:
    """A child dimension has no key of a version; the fact beside it needs the time before the first one covered."""
    child = Dimension(name="stay", entity="visit", references=(guest(),), columns=(Column(name="fee", path="fee"),))
    model = Model(name="world", tables=(person_dimension(covers_past=False), child, visit_fact()))
    tables = shapes(model, [PERSON, VISIT], parse)
    early = Message(
        "a", row_key("6"), "0003", "c", {"no": 6, "who": 1, "at": at(0.5), "fee": 1}, committed_at=at(2), seen_at=at(2)
    )
    versions = "SELECT version_number, is_inferred FROM person WHERE id = 1 ORDER BY version_number"
    target = new_target(tmp_path)
    load_parts(target, tables, [part(tmp_path, "person", PERSONS), part(tmp_path, "visit", [early])], "1", OWNER)
    assert target.rows(versions) == [(0, True), (1, False), (2, False)]
    assert audit(target, tables, OWNER) == ()
    gone = Message("a", row_key("6"), "0004", "d", committed_at=at(3), seen_at=at(3))
    load_parts(target, tables, [part(tmp_path, "visit", [gone])], "2", OWNER)
    assert target.rows(versions) == [(1, False), (2, False)]
    assert audit(target, tables, OWNER) == ()
