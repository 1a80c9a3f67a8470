"""Bridges: the elements of lists and the pairs of an entity, whatever the order in which they come."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.bridges import memberships
from metl_gui.core.dimensional.rows.members import Ownership, fact_states, members, versions
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Bridge, Column, Dimension, Fact, Model, Reference, Table
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError, TableShapes
from metl_gui.warehouse.row_reasons import row_reason
from metl_gui.warehouse.status import target_status
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_hierarchies import nothing_changed
from tests.unit.warehouse.test_loads import OWNER, TOGETHER, messages, repeats, row_key
from tests.unit.warehouse.worlds import PERSON, at, expected_members, parse, part, person_dimension, plain, states_of

FILM = EntityHistory(
    "film",
    ("id",),
    tuple(
        HistoryColumn(name, name, type_)
        for name, type_ in (
            ("id", "integer"),
            ("title", "text"),
            ("tags", "json"),
            ("cast", "json"),
            ("shares", "json"),
        )
    ),
)
CREDIT = EntityHistory(
    "credit",
    ("no",),
    tuple(HistoryColumn(name, name, "integer") for name in ("no", "film", "who", "share")),
)
ENTITIES = (PERSON, FILM, CREDIT)
BY_NAME = {one.entity: one for one in ENTITIES}


def tags(**changes: Any) -> Bridge:
    return Bridge(**{"name": "film_tag", "of": "film", "list_path": "tags", "weight": "equal", **changes})


def cast(**changes: Any) -> Bridge:
    given = {"name": "film_cast", "of": "film", "list_path": "cast", "to": "person", "weight": "shares"}
    return Bridge(**{**given, **changes})


def credits_of(**changes: Any) -> Bridge:
    references = (
        Reference(dimension="film", on=(("film", "id"),)),
        Reference(dimension="person", role="actor", on=(("who", "id"),)),
    )
    return Bridge(**{"name": "film_credit", "entity": "credit", "references": references, "weight": "share", **changes})


RELEASED = Bridge(name="release_tag", of="release", list_path="tags")


def film_dimension(**changes: Any) -> Dimension:
    columns = (Column(name="title", path="title", history=2),)
    return Dimension(**{"name": "film", "entity": "film", "columns": columns, **changes})


def tables_of(*bridges: Bridge, film: Dimension | None = None) -> TableShapes:
    release = Fact(name="release", entity="film")
    tables: tuple[Table, ...] = (film or film_dimension(), person_dimension(), release, *bridges)
    return shapes(Model(name="world", tables=tables), ENTITIES, parse)


def owned(listed: str | None, shares: str | None, weight: str) -> list[tuple[Any, ...]]:
    """Return element, count, and weight if there is one, for one owner by the oracle."""
    found, weights = (json.loads(one) if one else [] for one in (listed, shares))
    stated = weights if weight == "shares" else []
    weighed = [(one, Decimal(str(stated[n])) if n < len(stated) else None) for n, one in enumerate(found)]
    rows = memberships(weighed, is_equal=weight == "equal").items()
    return [(element, row.times, *((row.weight,) if weight else ())) for element, row in rows]


def expected_lists(one: Bridge, film: Dimension, bridges: Sequence[Bridge], films: Sequence[Message]) -> list[Any]:
    """Return the rows of a bridge of the dimension: key, number of the version where it goes by these, and the rest."""
    versioned = [each for each in bridges if each.of == "film" and each.as_of == "version"]
    lists = [path for each in versioned for path in (each.list_path, *(["shares"] if each.weight == "shares" else []))]
    rows = []
    for key, member in members(states_of(films), Ownership(("id",))).items():
        of_member = versions(member, ["title", *lists])
        if one.as_of == "version" and (member.is_alive or film.on_delete != "remove"):
            for number, version in enumerate(of_member, 1):
                values = version.by_version
                found = owned(values[one.list_path], values.get("shares"), one.weight)
                rows += [(*key, number, *row) for row in found]
        elif one.as_of == "current" and member.is_alive:
            found = owned(member.latest.get(one.list_path), member.latest.get("shares"), one.weight)
            rows += [(*key, *row) for row in found]
    return sorted(rows, key=repr)


def expected_pairs(one: Bridge, found: Sequence[Message]) -> list[Any]:
    by_film: dict[int, list[tuple[Any, Decimal | None]]] = {}
    for state in fact_states(states_of(found), Ownership(("no",))).values():
        film, who, share = (state.values.get(path) for path in ("film", "who", "share"))
        if state.is_alive and film and who:
            by_film.setdefault(film, []).append((who, None if share is None else Decimal(share)))
    rows = []
    for film, pairs in by_film.items():
        for who, row in memberships(pairs, is_equal=one.weight == "equal").items():
            rows.append((film, who, row.times, *((row.weight,) if one.weight else ())))
    return sorted(rows, key=repr)


def exact(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return rows with numbers as the oracle writes them: weights alone have fractions."""
    return sorted((tuple(int(v) if isinstance(v, Decimal) else v for v in row) for row in rows), key=repr)


def bridge_rows(target: WarehouseTarget, one: Bridge) -> list[tuple[Any, ...]]:
    """Return the rows of a bridge with business keys in the place of keys."""
    weight = ", b.weight" if one.weight else ""
    if one.of == "release":
        return exact(target.rows(f"SELECT b.id, b.tags, b.count{weight} FROM {one.name} AS b"))
    number, on = ("", "f.film_durable_key = b.film_durable_key AND f.version_number = 1")
    if one.as_of == "version":
        number, on = ", f.version_number", "f.film_key = b.film_key AND f.film_durable_key = b.film_durable_key"
    element, join = f"b.{one.list_path}", ""
    if role := "actor" if one.entity else "cast" if one.to else "":
        element, join = (
            "p.id",
            f"JOIN person AS p ON p.person_durable_key = b.{role}_durable_key AND p.version_number = 1",
        )
    query = f"SELECT f.id{number}, {element}, b.count{weight} FROM {one.name} AS b JOIN film AS f ON {on} {join}"
    assert target.rows(f"SELECT COUNT(*) FROM {one.name}") == target.rows(f"SELECT COUNT(*) FROM ({query}) AS q")
    return exact(target.rows(query))


def film_values(_entity: str, key: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw what a message of a film carries: as many shares as people, where it carries both."""
    people = st.lists(st.tuples(st.sampled_from([1, 2, 5, 5, None]), st.sampled_from([0.5, 0.25, 1])), max_size=3)
    lists = st.none() | people
    listed = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=4)

    def carried(drawn: tuple[int | None, str, list[Any] | None, list[Any] | None, set[str]]) -> dict[str, Any]:
        number, title, some, of_people, left_out = drawn
        both = zip(*of_people, strict=True) if of_people else ([], [])
        cast, shares = (None, None) if of_people is None else (json.dumps(list(one)) for one in both)
        found = {"id": number, "title": title, "tags": None if some is None else json.dumps(some)}
        return {name: v for name, v in {**found, "cast": cast, "shares": shares}.items() if name not in left_out}

    number = st.sampled_from([int(key), int(key), 1, None])
    left_out = st.sampled_from([set(), set(), {"tags"}, {"cast"}, {"shares", "title"}])
    return st.tuples(number, st.sampled_from("xy"), st.none() | listed, lists, left_out).map(carried)


def credit_values(_entity: str, key: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw what a message of a credit carries."""
    some = st.sampled_from([1, 2, 7, None])
    return st.fixed_dictionaries({"no": st.just(int(key)), "film": some, "who": some}, optional={"share": some})


@st.composite
def declarations(draw: st.DrawFn) -> tuple[Dimension, tuple[Bridge, ...]]:
    as_of = st.sampled_from(["version", "current"])
    return film_dimension(on_delete=draw(st.sampled_from(["close", "flag", "remove"]))), (
        tags(as_of=draw(as_of), weight=draw(st.sampled_from(["", "equal"]))),
        cast(as_of=draw(as_of), weight=draw(st.sampled_from(["equal", "shares"]))),
        credits_of(weight=draw(st.sampled_from(["", "equal", "share"]))),
        RELEASED,
    )


WORLD = (
    messages("film", film_values),
    messages("credit", credit_values),
    messages("person"),
    declarations(),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    found: tuple[list[Message], list[Message], list[Message]],
    declared: tuple[Dimension, tuple[Bridge, ...]],
    count: int,
    chance: random.Random,
) -> None:
    film, bridges = declared
    tables = tables_of(*bridges, film=film)
    shuffled = [repeats(one, chance) for one in found]
    for each in shuffled:
        chance.shuffle(each)

    def load(load: str, batch: Sequence[Sequence[Message]]) -> LoadReport:
        parts = [
            part(folder, entity, each, BY_NAME[entity])
            for entity, each in zip(("film", "credit", "person"), batch, strict=True)
        ]
        return load_parts(target, tables, parts, load, OWNER)

    for number in range(count):
        load(f"load {number}", [each[number::count] for each in shuffled])
    films, credited, persons = found
    tagged, played, paired, released = bridges
    expected = expected_lists(played, film, bridges, films)
    assert bridge_rows(target, tagged) == expected_lists(tagged, film, bridges, films)
    assert bridge_rows(target, played) == expected
    pairs = expected_pairs(paired, credited)
    assert bridge_rows(target, paired) == pairs
    states = fact_states(states_of(films), Ownership(("id",))).items()
    rows = [(*key, *row) for key, one in states if one.is_alive for row in owned(one.values.get("tags"), None, "")]
    assert bridge_rows(target, released) == sorted(rows, key=repr)
    needed = {row[2] if played.as_of == "version" else row[1] for row in expected}
    needed |= {state.values.get("who") for state in credit_states(credited)}
    known = {key[0] for key in expected_members(person_dimension(), persons)}
    assert plain(target.rows("SELECT id FROM person WHERE is_inferred")) == [
        (one,) for one in sorted(needed - known - {None})
    ]
    assert nothing_changed(load("again", shuffled))
    assert audit(target, tables, OWNER) == ()


def credit_states(found: Sequence[Message]) -> list[Any]:
    return [one for one in fact_states(states_of(found), Ownership(("no",))).values() if one.is_alive]


@settings(max_examples=15, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_the_same_bridges(
    tmp_path_factory: pytest.TempPathFactory,
    films: list[Message],
    credited: list[Message],
    persons: list[Message],
    declared: tuple[Dimension, tuple[Bridge, ...]],
    count: int,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("bridges")
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, (films, credited, persons), declared, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_the_same_bridges_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    films: list[Message],
    credited: list[Message],
    persons: list[Message],
    declared: tuple[Dimension, tuple[Bridge, ...]],
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        folder = tmp_path_factory.mktemp("bridges")
        check_against_the_oracle(target, folder, (films, credited, persons), declared, count, chance)


def film(key: int, place: int, op: str = "u", **values: Any) -> Message:
    carried = {} if op == "d" else {"id": key, "title": "x", **{n: json.dumps(v) for n, v in values.items()}}
    return Message("a", row_key(str(key)), f"{place:04}", op, carried, committed_at=at(place), seen_at=at(place))


def credit(key: int, place: int, film: int, who: int, share: int, op: str = "u") -> Message:
    carried = {} if op == "d" else {"no": key, "film": film, "who": who, "share": share}
    return Message("a", row_key(str(key)), f"{place:04}", op, carried, committed_at=at(place), seen_at=at(place))


class Films:
    """A target that films and credits come into."""

    def __init__(self, new_target: NewTarget, folder: Path, *bridges: Bridge, on_delete: str = "close") -> None:
        self.folder, self.target = folder, new_target(folder)
        self.tables = tables_of(*bridges, film=film_dimension(on_delete=on_delete))
        self.number = 0

    def load(self, *films: Message, credited: Sequence[Message] = ()) -> LoadReport:
        self.number += 1
        parts = [part(self.folder, "film", films, FILM), part(self.folder, "credit", credited, CREDIT)]
        return load_parts(self.target, self.tables, parts, f"load {self.number}", OWNER)


def test_an_element_that_stands_twice_is_one_row_and_nulls_are_none(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, tags())
    films.load(film(1, 1, tags=["b", "a", None, "b"]), film(2, 1, tags=[]), film(3, 1, tags=None))
    assert bridge_rows(films.target, tags()) == [(1, "a", 1, 0.5), (1, "b", 2, 0.5)]
    counts = films.load(film(1, 2, tags=["b", "c"])).tables["film_tag"]
    assert bridge_rows(films.target, tags()) == [(1, "b", 1, 0.5), (1, "c", 1, 0.5)]
    assert (counts.inserted, counts.updated, counts.removed) == (1, 1, 1)


def test_each_version_keeps_the_list_of_its_time(new_target: NewTarget, tmp_path: Path) -> None:
    one = tags(as_of="version", weight="")
    films = Films(new_target, tmp_path, one)
    films.load(film(1, 1, tags=["a"]), film(1, 9, tags=["c"]))
    films.load(film(1, 5, tags=["b"]))
    assert bridge_rows(films.target, one) == [(1, 1, "a", 1), (1, 2, "b", 1), (1, 3, "c", 1)]


def test_weights_that_are_declared_are_added_up_for_an_element_that_stands_twice(
    new_target: NewTarget, tmp_path: Path
) -> None:
    films = Films(new_target, tmp_path, cast())
    films.load(film(1, 1, cast=[4, 5, 4], shares=[0.1, 0.7, 0.2]))
    assert bridge_rows(films.target, cast()) == [(1, 4, 2, 0.3), (1, 5, 1, 0.7)]
    assert plain(films.target.rows("SELECT id FROM person WHERE is_inferred")) == [(4,), (5,)]


def test_a_message_with_weights_and_without_its_list_fits(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, cast())
    report = films.load(film(1, 1, cast=[4], shares=[1]), film(2, 1, shares=[1, 1]))
    assert (report.set_aside, films.target.rows("SELECT COUNT(*) FROM film WHERE film_key > 0")) == (0, [(2,)])


def test_a_list_that_makes_a_version_is_told_as_one(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, Bridge(name="film_tag", of="film", list_path="tags", as_of="version"))
    films.load(film(1, 1, tags=["a"]), film(1, 2, tags=["b"]))
    stands = films.target.rows("SELECT version_number, valid_from FROM film WHERE is_current AND film_key > 0")
    found = row_reason(films.target, films.tables, "film", ("1",))
    assert [(found.version, found.since)] == stands == [(2, at(2))]


def test_members_that_no_list_has_any_longer_are_not_inferred(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, cast())
    films.load(film(1, 1, cast=[4, 5], shares=[1, 1]), film(2, 1, cast=[5], shares=[1]))
    films.load(film(1, 2, "d"))
    assert plain(films.target.rows("SELECT id FROM person WHERE is_inferred")) == [(5,)]
    assert bridge_rows(films.target, cast()) == [(2, 5, 1, 1.0)]
    assert audit(films.target, films.tables, OWNER) == ()


def test_pairs_of_an_entity_are_counted_for_each_owner(new_target: NewTarget, tmp_path: Path) -> None:
    equal = credits_of(weight="equal")
    films = Films(new_target, tmp_path, equal)
    first = [credit(1, 1, 7, 4, 1), credit(2, 1, 7, 4, 1), credit(3, 1, 7, 5, 1), credit(4, 1, 8, 4, 1)]
    films.load(credited=first)
    assert bridge_rows(films.target, equal) == [(7, 4, 2, 0.5), (7, 5, 1, 0.5), (8, 4, 1, 1.0)]
    films.load(credited=[credit(3, 2, 7, 5, 1, "d"), credit(1, 2, 8, 5, 1)])
    assert bridge_rows(films.target, equal) == [(7, 4, 1, 1.0), (8, 4, 1, 0.5), (8, 5, 1, 0.5)]
    report = target_status(films.target, films.tables)
    assert (report.tables["film_credit"], [t for t in report.tables if t.startswith("metl_")]) == (3, [])


def test_pairs_lead_to_members_whose_business_keys_have_several_parts(new_target: NewTarget, tmp_path: Path) -> None:
    played = Dimension(name="played", entity="credit", business_key=("film", "who"), columns=())
    references = (
        Reference(dimension="played", on=(("who", "who"), ("film", "film"))),
        Reference(dimension="film", on=(("film", "id"),)),
    )
    one = credits_of(references=references, weight="")
    model = Model(name="world", tables=(film_dimension(), played, one))
    target, tables = new_target(tmp_path), shapes(model, ENTITIES, parse)
    found = [credit(1, 1, 7, 4, 1), credit(2, 1, 7, 4, 1), credit(3, 1, 7, 5, 1), credit(2, 2, 4, 7, 1)]
    for number, message in enumerate(reversed(found)):
        load_parts(target, tables, [part(tmp_path, "credit", [message], CREDIT)], f"load {number}", OWNER)
    query = """SELECT p.film, p.who, f.id, b.count FROM film_credit AS b
        JOIN played AS p ON p.played_durable_key = b.played_durable_key
        JOIN film AS f ON f.film_durable_key = b.film_durable_key"""
    assert exact(target.rows(query)) == [(4, 7, 4, 1), (7, 4, 7, 1), (7, 5, 7, 1)]
    assert audit(target, tables, OWNER) == ()


def test_a_message_whose_list_does_not_fit_is_set_aside_and_goes_in_where_it_fits(
    new_target: NewTarget, tmp_path: Path
) -> None:
    films = Films(new_target, tmp_path, tags(), cast())
    lone = msgspec.structs.replace(film(9, 1), values={"id": 9, "tags": '["\\ud800"]'})
    report = films.load(
        film(1, 1, tags={"a": 1}), film(2, 1, tags=["a", ["b"]]), film(3, 1, cast=["x"], shares=[1]),
        film(4, 1, cast=[4], shares=[1, 2]), film(5, 1, cast=[4], shares=["much"]), film(6, 1, tags=["a"]), lone,
    )  # fmt: skip
    assert (report.set_aside, report.appended) == (6, 1)
    columns = 'SELECT "_column", COUNT(*) FROM metl_set_aside_film GROUP BY "_column" ORDER BY 1'
    assert films.target.rows(columns) == [("film_cast.cast", 3), ("film_tag.tags", 3)]
    films.tables = tables_of(tags())
    Loader(films.target, films.tables, OWNER).rebuild()
    assert films.target.rows(columns) == [("film_tag.tags", 3)]
    assert films.target.rows("SELECT COUNT(*) FROM film WHERE film_key > 0") == [(4,)]


def test_an_element_that_is_near_a_key_is_none(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, cast(weight=""))
    assert films.load(film(1, 1, cast=[4.0]), film(2, 1, cast=[4, 4.5])).set_aside == 1
    assert films.target.rows("SELECT id FROM person WHERE person_key > 0") == [(4,)]


def test_numbers_in_a_list_are_written_alike_everywhere(new_target: NewTarget, tmp_path: Path) -> None:
    one = tags(weight="")
    films = Films(new_target, tmp_path, one)
    text = '[1e2, 1.50, -0, 12345678901234567890123, 0.1, true, "\\u00e4", "1e2"]'
    films.load(msgspec.structs.replace(film(1, 1), values={"id": 1, "tags": text}))
    found = {row[1] for row in bridge_rows(films.target, one)}
    assert found == {"100.0", "1.5", "0", "12345678901234567890123", "0.1", "true", "ä", "1e2"}


def test_an_audit_finds_rows_of_a_bridge_that_somebody_wrote(new_target: NewTarget, tmp_path: Path) -> None:
    films = Films(new_target, tmp_path, tags(), credits_of())
    films.load(film(1, 1, tags=["a"]), credited=[credit(1, 1, 1, 4, 1)])
    films.target.run("UPDATE film_tag SET count = 5")
    films.target.run("INSERT INTO film_tag VALUES (77, 'z', 1, 1)")
    films.target.run("INSERT INTO film_credit VALUES (1, 78, 1, 1)")
    rules = {(finding.table, finding.rule) for finding in audit(films.target, films.tables, OWNER)}
    assert ("film_tag", "follows from the histories") in rules
    assert ("film_tag", "owners stand in film") in rules
    assert ("film_credit", "owners stand in metl_links_film_credit") in rules


@pytest.mark.parametrize(
    ("bridge", "said"),
    [
        (tags(as_of="version", of="release"), "version of a fact"),
        (credits_of(as_of="version"), "version of an entity"),
        (tags(list_path="title"), "title of film is text"),
        (tags(of="nothing"), "no dimension or fact"),
        (tags(to="release"), "leads to release"),
        (credits_of(references=credits_of().references[:1]), "has 1"),
    ],
)
def test_a_bridge_that_cannot_be_is_refused_by_name(bridge: Bridge, said: str) -> None:
    with pytest.raises(ModelError) as refused:
        tables_of(bridge)
    assert said in refused.value.text
