"""Cases that must come out right, by the oracle and by the database alike, in every order of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.worlds import (
    at,
    dimension_rows,
    expected_dimension,
    expected_visits,
    model_of,
    part,
    person_dimension,
    visit_fact,
    visit_rows,
)

OWNER = Owner(project="world", mode="test")
CITY = (Column(name="city", path="city", history=2),)
ONE, TWO = '{"id":1}', '{"id":2}'


def message(
    place: int,
    op: str,
    committed: float,
    key: str | None = ONE,
    *,
    old: str | None = None,
    seen: float = 0,
    **values: Any,
) -> Message:
    """Return a message of one schema; values that are given are those that it carries."""
    carried = {"id": 1, "city": None, "since": None} | values if op in "cur" else {}
    time = at(committed)
    return Message("s", key, f"{place:04}", op, carried, committed_at=time, seen_at=at(seen or committed), old_key=old)


def versions(folder: Path, messages: Sequence[Message], valid_at: str = "") -> list[tuple[Any, ...]]:
    """Load messages one by one, hold the rows against the oracle, and return city, start and end of each version."""
    dimension = person_dimension(columns=CITY, valid_at=valid_at)
    _, tables = model_of(dimension)
    path = folder / f"{len(list(folder.glob('*.duckdb')))}.duckdb"
    with DuckDb(path) as target:
        for number, one in enumerate(messages):
            load_parts(
                target, tables, [part(folder, "person", [one])], f"load {number}", Owner(project="w", mode="test")
            )
        assert dimension_rows(target) == expected_dimension(dimension, messages)
        query = "SELECT id, city, first_known, valid_to FROM person WHERE person_key > 0 ORDER BY id, first_known"
        return [(int(key), city, since, until) for key, city, since, until in target.rows(query)]


CASES: dict[str, tuple[list[Message], str, list[tuple[Any, ...]]]] = {
    "a delete ends what was to hold later": (
        [
            message(1, "c", 10, city="Kiel", since=at(10)),
            message(2, "u", 12, city="Bonn", since=at(99)),
            message(3, "d", 30),
        ],
        "since",
        [(1, "Kiel", at(10), at(30))],
    ),
    "a row that is made again from an earlier time on ends its life before": (
        [
            message(1, "c", 10, city="Kiel", since=at(10)),
            message(2, "d", 30),
            message(3, "c", 40, city="Bonn", since=at(20)),
        ],
        "since",
        [(1, "Kiel", at(10), at(20)), (1, "Bonn", at(20), None)],
    ),
    "a change of key at one position is a delete and a create": (
        [
            message(1, "c", 10, city="Kiel"),
            message(2, "d", 20),
            message(2, "c", 20, TWO, old=ONE, id=2, city="Kiel"),
        ],
        "",
        [(1, "Kiel", at(10), at(20)), (2, "Kiel", at(20), None)],
    ),
    "a snapshot that is taken again makes no version": (
        [
            message(1, "r", 10, city="Kiel"),
            message(2, "u", 20, city="Bonn"),
            message(3, "r", 30, city="Bonn"),
        ],
        "",
        [(1, "Kiel", at(10), at(20)), (1, "Bonn", at(20), None)],
    ),
    "a clock that jumped ahead once does not hold back what follows": (
        [
            message(1, "c", 10, city="Kiel"),
            message(2, "u", 9000, seen=20, city="Bonn"),
            message(3, "u", 30, city="Ulm"),
        ],
        "",
        [(1, "Kiel", at(10), at(20)), (1, "Bonn", at(20), at(30)), (1, "Ulm", at(30), None)],
    ),
    "a truncate ends what it found": (
        [
            message(1, "c", 10, city="Kiel"),
            message(2, "t", 20, None),
            message(3, "c", 30, city="Bonn"),
        ],
        "",
        [(1, "Kiel", at(10), at(20)), (1, "Bonn", at(30), None)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_case_comes_out_right_in_every_order(name: str, tmp_path: Path) -> None:
    messages, valid_at, expected = CASES[name]
    for order in permutations(messages):
        assert versions(tmp_path, order, valid_at) == expected


def test_a_change_that_arrives_last_and_is_valid_between_two_others_stands_between_them(tmp_path: Path) -> None:
    january, february, march = at(0), at(31 * 24), at(59 * 24)
    persons = [
        message(1, "c", 10, city="Kiel", since=january),
        message(2, "u", 20, city="Bonn", since=march),
        message(3, "u", 30, city="Ulm", since=february),
    ]
    visits = [
        Message("s", f'{{"no":{no}}}', f"{no:04}", "c", {"no": no, "who": 1, "at": time, "fee": 1}, seen_at=time)
        for no, time in ((7, at(10 * 24)), (8, at(40 * 24)), (9, at(70 * 24)))
    ]
    dimension = person_dimension(columns=CITY, valid_at="since")
    _, tables = model_of(dimension, visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        loads = [("person", persons[:2]), ("visit", visits), ("person", persons[2:]), ("person", persons)]
        reports = [
            load_parts(target, tables, [part(tmp_path, entity, messages)], f"load {number}", OWNER)
            for number, (entity, messages) in enumerate(loads)
        ]
        assert reports[2].tables["visit"].updated == 1
        assert (reports[3].appended, reports[3].repeated) == (0, 3)
        cities = 'SELECT f."no", p.city FROM visit AS f JOIN person AS p ON p.person_key = f.guest_key ORDER BY 1'
        assert target.rows(cities) == [(7, "Kiel"), (8, "Ulm"), (9, "Bonn")]
        found = target.rows("SELECT city, valid_from, valid_to FROM person WHERE person_key > 0 ORDER BY valid_from")
        bounds = [(city, None if since.year == 1 else since, until) for city, since, until in found]
        assert bounds == [("Kiel", None, february), ("Ulm", february, march), ("Bonn", march, None)]
        facts, needed, before = expected_visits(visit_fact(), dimension, visits, persons)
        assert visit_rows(target) == facts
        assert dimension_rows(target) == expected_dimension(dimension, persons, needed, before)
