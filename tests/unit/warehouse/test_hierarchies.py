"""Hierarchies: who stands above whom, by the current versions, whatever the order in which members come and go."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.cascades import cascaded_within
from metl_gui.core.dimensional.rows.hierarchies import MOST_LEVELS, lineage
from metl_gui.core.dimensional.rows.members import Key, Ownership, members, versions
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Hierarchy, Model, Reference
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.postgres_target import PostgreSql
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import ModelError, TableShapes
from tests.unit.warehouse.conftest import NewTarget, new_duckdb, new_schema
from tests.unit.warehouse.test_loads import OWNER, TOGETHER, messages, repeats, row_key
from tests.unit.warehouse.worlds import VISIT, at, expected_facts, parse, part, plain, states_of, visit_fact

UNIT = EntityHistory(
    "unit",
    ("id",),
    tuple(
        HistoryColumn(name, name, type_) for name, type_ in (("id", "integer"), ("boss", "integer"), ("title", "text"))
    ),
)
GUEST = Reference(dimension="unit", role="guest", on=(("who", "id"),))

CHIEF = Reference(dimension="unit", role="chief", on=(("boss", "id"),), as_of="version")


def unit_dimension(**changes: Any) -> Dimension:
    columns = (Column(name="title", path="title", history=2),)
    return Dimension(**{"name": "unit", "entity": "unit", "columns": columns, "parent": ("boss",), **changes})


def tables_of(dimension: Dimension, fact: Fact | None = None) -> TableShapes:
    above = Hierarchy(name="unit_above", of="unit")
    tables = (dimension, above) if fact is None else (dimension, fact, above)
    return shapes(Model(name="world", tables=tables), [UNIT, VISIT], parse)


def staff(found: Sequence[Message], visits: Sequence[Message], one: Dimension, fact: Fact) -> dict[Key, Key | None]:
    """Return the current members with their parents by the oracle, inferred ones too."""
    known = members(states_of(found), Ownership(("id",)))
    by_key = {
        key: (member.is_alive, versions(member, ["boss", "title"]))
        for key, member in known.items()
        if member.is_alive or one.on_delete != "remove"
    }
    bosses = [version.by_version["boss"] for _, of_member in by_key.values() for version in of_member]
    guests = [state.values.get("who") for state in expected_facts(fact, visits).values()]
    parents: dict[Key, Key | None] = {(who,): None for who in (*bosses, *guests) if who and (who,) not in by_key}
    for key, (is_alive, of_member) in by_key.items():
        if is_alive:
            boss = of_member[-1].by_version["boss"]
            parents[key] = None if boss is None else (boss,)
    return parents


def expected_chiefs(found: Sequence[Message], one: Dimension) -> list[tuple[Any, ...]]:
    """Return the versions of units: key, number, since when, the chief, and the number of the chief's version."""
    known = members(states_of(found), Ownership(("id",)))
    own = {
        key: versions(member, ["boss", "title"])
        for key, member in known.items()
        if member.is_alive or one.on_delete != "remove"
    }
    chief = one.references[0]
    cut = cascaded_within(
        own, lambda values: [] if values["boss"] is None else [(values["boss"],)], covers_past=one.covers_past
    )
    rows = []
    for key, of_member in (cut if chief.cascade else own).items():
        for number, version in enumerate(of_member, 1):
            boss = version.by_version["boss"]
            of_boss = (cut if chief.cascade else own).get((boss,), ())
            starts = [other.valid_from for other in of_boss[int(one.covers_past) :]]
            held = {
                "current": len(of_boss) or 1,
                "version": (sum(1 for since in starts if since <= version.valid_from) + one.covers_past)
                if of_boss
                else 1,
            }
            rows.append((*key, number, version.valid_from, boss, None if boss is None else held.get(chief.as_of)))
    return sorted(rows, key=repr)


def chief_rows(target: WarehouseTarget, one: Dimension) -> list[tuple[Any, ...]]:
    versioned = one.references[0].as_of != "durable"
    number = "CASE WHEN u.chief_key > 0 THEN c.version_number END" if versioned else "NULL"
    on = "c.unit_key = u.chief_key" if versioned else "c.version_number = 1"
    query = f"""SELECT u.id, u.version_number, u.first_known, c.id, {number}
        FROM unit AS u LEFT JOIN unit AS c ON {on} AND c.unit_durable_key = u.chief_durable_key
        WHERE u.unit_key > 0 AND NOT u.is_inferred"""
    return plain(target.rows(query))


def hierarchy_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    query = """SELECT a.id, d.id, h.depth FROM unit_above AS h
        JOIN unit AS a ON a.unit_durable_key = h.ancestor_durable_key AND a.is_current
        JOIN unit AS d ON d.unit_durable_key = h.descendant_durable_key AND d.is_current"""
    assert target.rows("SELECT COUNT(*) FROM unit_above") == target.rows(f"SELECT COUNT(*) FROM ({query}) AS q")
    return plain(target.rows(query))


def cut_rows(target: WarehouseTarget) -> list[tuple[Any, ...]]:
    query = """SELECT m.id, p.id FROM metl_cycles_unit_above AS c
        JOIN unit AS m ON m.unit_durable_key = c.member_durable_key AND m.is_current
        JOIN unit AS p ON p.unit_durable_key = c.parent_durable_key AND p.is_current"""
    return plain(target.rows(query))


def nothing_changed(report: LoadReport) -> bool:
    return not any((one.inserted, one.updated, one.removed) != (0, 0, 0) for one in report.tables.values())


def unit_values(_entity: str, key: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw what a message of a unit carries."""
    return st.fixed_dictionaries(
        {"id": st.sampled_from([int(key), int(key), 1, None])},
        optional={"boss": st.sampled_from([1, 2, 3, 3, 4, None]), "title": st.sampled_from("xy")},
    )


@st.composite
def unit_dimensions(draw: st.DrawFn) -> Dimension:
    """Draw a dimension of units that refer to their chiefs, who are units."""
    as_of = draw(st.sampled_from(["durable", "current", "version", "version"]))
    chief = msgspec.structs.replace(CHIEF, as_of=as_of, cascade=draw(st.booleans()))
    return unit_dimension(
        on_delete=draw(st.sampled_from(["close", "flag", "remove"])),
        covers_past=draw(st.booleans()),
        references=(chief,),
    )


WORLD = (
    messages("unit", unit_values),
    messages("visit"),
    unit_dimensions(),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)


def check_against_the_oracle(
    target: WarehouseTarget,
    folder: Path,
    units: list[Message],
    visits: list[Message],
    one: Dimension,
    count: int,
    chance: random.Random,
) -> None:
    fact = visit_fact(references=(GUEST,))
    tables = tables_of(one, fact)
    shuffled = repeats(units, chance), repeats(visits, chance)
    for each in shuffled:
        chance.shuffle(each)

    def load(load: str, units: Sequence[Message], visits: Sequence[Message]) -> LoadReport:
        return load_parts(
            target, tables, [part(folder, "unit", units, UNIT), part(folder, "visit", visits)], load, OWNER
        )

    for number in range(count):
        load(f"load {number}", shuffled[0][number::count], shuffled[1][number::count])
    expected = lineage(staff(units, visits, one, fact))
    assert hierarchy_rows(target) == plain((*up, *down, depth) for up, down, depth in expected.rows)
    assert cut_rows(target) == plain((*member, *parent) for member, parent in expected.cut.items())
    assert chief_rows(target, one) == expected_chiefs(units, one)
    assert nothing_changed(load("again", *shuffled))
    assert audit(target, tables, OWNER) == ()


@settings(max_examples=25, deadline=None, suppress_health_check=TOGETHER)
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_one_hierarchy(
    tmp_path_factory: pytest.TempPathFactory,
    units: list[Message],
    visits: list[Message],
    one: Dimension,
    count: int,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("hierarchies")
    with new_duckdb() as target:
        check_against_the_oracle(target, folder, units, visits, one, count, chance)


@pytest.mark.live
@pytest.mark.xdist_group("live")
@settings(max_examples=8, deadline=None, suppress_health_check=TOGETHER, phases=set(Phase) - {Phase.shrink})
@given(*WORLD)
def test_any_order_batching_and_repetition_gives_one_hierarchy_in_postgresql_too(
    tmp_path_factory: pytest.TempPathFactory,
    login: dict[str, Any],
    units: list[Message],
    visits: list[Message],
    one: Dimension,
    count: int,
    chance: random.Random,
) -> None:
    with PostgreSql(login, new_schema(), "the warehouse") as target:
        folder = tmp_path_factory.mktemp("hierarchies")
        check_against_the_oracle(target, folder, units, visits, one, count, chance)


def unit(key: int, boss: int | None, place: int, op: str = "u", title: str = "x") -> Message:
    values = {} if op == "d" else {"id": key, "boss": boss, "title": title}
    return Message("a", row_key(str(key)), f"{place:04}", op, values, committed_at=at(place), seen_at=at(place))


class Staff:
    """A target that units come into."""

    def __init__(self, new_target: NewTarget, folder: Path, **changes: Any) -> None:
        self.folder, self.target, self.tables = folder, new_target(folder), tables_of(unit_dimension(**changes))
        self.number = 0

    def load(self, *units: Message) -> LoadReport:
        self.number += 1
        return load_parts(
            self.target, self.tables, [part(self.folder, "unit", units, UNIT)], f"load {self.number}", OWNER
        )

    def pairs(self) -> set[tuple[int, int, int]]:
        """Return ancestors and descendants that differ."""
        return {row for row in hierarchy_rows(self.target) if row[2]}


@pytest.fixture
def units(new_target: NewTarget, tmp_path: Path) -> Staff:
    return Staff(new_target, tmp_path)


def test_what_hangs_below_a_member_moves_with_it_and_the_rest_is_not_written(units: Staff) -> None:
    units.load(unit(1, None, 1), unit(2, 1, 1), unit(3, 2, 1), unit(4, 3, 1), unit(7, 1, 1), unit(8, 7, 1))
    assert units.pairs() == {
        (1, 2, 1), (1, 3, 2), (2, 3, 1), (1, 4, 3), (2, 4, 2), (3, 4, 1), (1, 7, 1), (1, 8, 2), (7, 8, 1),
    }  # fmt: skip
    counts = units.load(unit(3, 7, 2)).tables["unit_above"]
    assert units.pairs() == {
        (1, 2, 1), (1, 3, 2), (7, 3, 1), (1, 4, 3), (7, 4, 2), (3, 4, 1), (1, 7, 1), (1, 8, 2), (7, 8, 1),
    }  # fmt: skip
    assert (counts.inserted, counts.updated, counts.removed) == (2, 0, 2)


def test_a_cycle_is_cut_at_its_smallest_key_and_listed_until_it_is_none(units: Staff) -> None:
    units.load(unit(12, 9, 1), unit(9, 10, 1), unit(10, 12, 1), unit(5, 12, 1))
    assert cut_rows(units.target) == [(9, 10)]
    assert units.pairs() == {(9, 12, 1), (9, 10, 2), (12, 10, 1), (9, 5, 2), (12, 5, 1)}
    units.load(unit(12, None, 2))
    assert cut_rows(units.target) == []
    assert units.pairs() == {(12, 10, 1), (12, 9, 2), (10, 9, 1), (12, 5, 1)}
    assert audit(units.target, units.tables, OWNER) == ()


def test_who_is_his_own_parent_is_a_cycle_of_one(units: Staff) -> None:
    units.load(unit(1, 1, 1), unit(2, 1, 1))
    assert (units.pairs(), cut_rows(units.target)) == ({(1, 2, 1)}, [(1, 1)])


def test_a_parent_that_nobody_sent_is_inferred_and_takes_its_place_when_it_comes(units: Staff) -> None:
    units.load(unit(2, 1, 5), unit(3, 1, 5), unit(3, None, 6), unit(3, 1, 7))
    units.load(unit(3, None, 8, "d"))
    assert units.pairs() == {(1, 2, 1)}
    assert units.target.rows("SELECT id FROM unit WHERE is_inferred") == [(1,)]
    units.load(unit(1, 7, 6))
    assert units.pairs() == {(1, 2, 1), (7, 1, 1), (7, 2, 2)}
    units.load(unit(1, None, 3))
    assert units.pairs() == {(1, 2, 1), (7, 1, 1), (7, 2, 2)}


def test_what_a_deleted_member_held_up_stands_alone_until_it_comes_again(units: Staff) -> None:
    units.load(unit(1, None, 1), unit(2, 1, 1), unit(3, 2, 1))
    units.load(unit(2, None, 2, "d"))
    assert units.pairs() == set()
    units.load(unit(2, 1, 3, "c"))
    assert units.pairs() == {(1, 2, 1), (1, 3, 2), (2, 3, 1)}


def test_a_removed_parent_is_inferred_again_for_its_children(new_target: NewTarget, tmp_path: Path) -> None:
    units = Staff(new_target, tmp_path, on_delete="remove")
    units.load(unit(1, None, 1), unit(2, 1, 1), unit(3, 2, 1))
    units.load(unit(2, None, 2, "d"))
    assert units.pairs() == {(2, 3, 1)}
    units.load(unit(3, None, 3, "d"))
    assert plain(units.target.rows("SELECT id FROM unit WHERE unit_key > 0")) == [(1,)]
    assert units.pairs() == set()
    assert audit(units.target, units.tables, OWNER) == ()


def test_a_member_refers_to_the_version_of_one_that_the_same_load_brought_or_inferred(
    new_target: NewTarget, tmp_path: Path
) -> None:
    units = Staff(new_target, tmp_path, references=(CHIEF,), covers_past=False)
    units.load(unit(1, None, 1), unit(2, 1, 1), unit(3, 9, 1))
    chiefs = "SELECT u.id, c.id, c.version_number FROM unit AS u JOIN unit AS c ON c.unit_key = u.chief_key"
    found = f"{chiefs} WHERE u.unit_key > 0 AND u.chief_durable_key > 0"
    assert plain(units.target.rows(found)) == [(2, 1, 1), (3, 9, 1)]
    units.load(unit(9, None, 4))
    assert plain(units.target.rows(found)) == [(2, 1, 1), (3, 9, 0)]
    units.load(unit(9, None, 1))
    assert plain(units.target.rows(found)) == [(2, 1, 1), (3, 9, 1)]
    assert audit(units.target, units.tables, OWNER) == ()


def test_versions_are_handed_down_to_all_below_and_once_around_a_circle(new_target: NewTarget, tmp_path: Path) -> None:
    cascade = msgspec.structs.replace(CHIEF, cascade=True)
    units = Staff(new_target, tmp_path, references=(cascade,))
    units.load(unit(1, None, 1), unit(2, 1, 1), unit(3, 2, 1), unit(7, 8, 1), unit(8, 7, 1), unit(9, 8, 1))
    counts = units.load(unit(1, None, 4, title="y"), unit(7, 8, 5, title="y")).tables["unit"]
    assert (counts.inserted, counts.closed) == (6, 6)
    assert chief_rows(units.target, units.tables.model.dimensions[0]) == [
        *((1, 1, at(1), None, None), (1, 2, at(4), None, None), (2, 1, at(1), 1, 1), (2, 2, at(4), 1, 2)),
        *((3, 1, at(1), 2, 1), (3, 2, at(4), 2, 2), (7, 1, at(1), 8, 1), (7, 2, at(5), 8, 2)),
        *((8, 1, at(1), 7, 1), (8, 2, at(5), 7, 2), (9, 1, at(1), 8, 1), (9, 2, at(5), 8, 2)),
    ]
    units.load(unit(2, None, 2))
    assert [row[1:3] for row in chief_rows(units.target, units.tables.model.dimensions[0]) if row[0] == 3] == [
        (1, at(1)),
        (2, at(2)),
    ]
    assert audit(units.target, units.tables, OWNER) == ()


def test_a_chain_is_followed_as_far_as_the_rule_goes(units: Staff) -> None:
    last = MOST_LEVELS + 30
    units.load(*(unit(key, key - 1 or None, 1) for key in range(1, last + 1)))
    expected = lineage({(key,): (key - 1,) if key > 1 else None for key in range(1, last + 1)})
    assert hierarchy_rows(units.target) == plain((*up, *down, depth) for up, down, depth in expected.rows)
    assert max(depth for *_, depth in expected.rows) == MOST_LEVELS
    units.load(unit(10, None, 2))
    assert (1, 9, 8) in units.pairs()
    assert (9, 10, 1) not in units.pairs()
    assert audit(units.target, units.tables, OWNER) == ()


def test_an_audit_finds_rows_that_somebody_wrote(units: Staff) -> None:
    units.load(unit(1, None, 1), unit(2, 1, 1))
    units.target.run("UPDATE unit_above SET depth = 5 WHERE depth = 1")
    units.target.run("INSERT INTO unit_above VALUES (77, 78, 1)")
    rules = {(finding.table, finding.rule) for finding in audit(units.target, units.tables, OWNER)}
    assert ("unit_above", "follows from the histories") in rules
    assert ("unit_above", "descendant_durable_key is a current member of unit") in rules


def test_a_change_of_parent_makes_a_version(units: Staff) -> None:
    units.load(unit(1, None, 1), unit(2, None, 1), unit(3, 1, 1), unit(3, 2, 4))
    query = """SELECT c.version_number, p.id FROM unit AS c JOIN unit AS p
        ON p.unit_durable_key = c.parent_durable_key WHERE c.id = 3"""
    assert plain(units.target.rows(query)) == [(1, 1), (2, 2)]


def test_a_hierarchy_of_what_has_no_parent_is_refused() -> None:
    with pytest.raises(ModelError, match="needs parents"):
        tables_of(unit_dimension(parent=()))


def test_a_parent_of_another_number_of_parts_is_refused() -> None:
    with pytest.raises(ModelError, match="whole key"):
        tables_of(unit_dimension(parent=("boss", "title")))


def test_schemas_that_number_on_their_own_have_parents_of_their_own(new_target: NewTarget, tmp_path: Path) -> None:
    units = Staff(new_target, tmp_path, key_includes_schema=True)
    units.load(unit(1, None, 1), unit(2, 1, 1), Message("b", row_key("2"), "0001", "c", {"id": 2, "boss": 1}))
    query = """SELECT c."schema", p."schema", p.is_inferred FROM unit AS c
        JOIN unit AS p ON p.unit_durable_key = c.parent_durable_key WHERE c.id = 2"""
    assert plain(units.target.rows(query)) == [("a", "a", False), ("b", "b", True)]
