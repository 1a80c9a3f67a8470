"""What an audit finds names keys, so that people can look at the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Unique
from metl_gui.warehouse.audit import DIFFERS, audit
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import at, model_of, part, person_dimension, visit_fact

OWNER = Owner(project="world", mode="test")
TWICE = "UPDATE person SET person_key = (SELECT MAX(person_key) FROM person WHERE id = 1) WHERE id = 2"
FEE = Column(name="fee", path="fee", type="decimal(12,0)", tests=(Unique(),))


def messages(rows: Iterable[dict[str, object]]) -> list[Message]:
    return [
        Message("a", f'{{"id":{number}}}', f"{number:04}", "c", values, committed_at=at(number), seen_at=at(number))
        for number, values in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (
            [
                "UPDATE person SET city = 'Ulm' WHERE id = 2",
                "UPDATE visit SET fee = 5 WHERE no = 10",
                "UPDATE visit SET guest_durable_key = 99 WHERE no = 8",
            ],
            {
                ("person", DIFFERS): ["2"],
                ("visit", DIFFERS): ["8", "10"],
                ("visit", "fee is unique"): ["8", "10"],
                ("visit", "guest_durable_key stands in person"): ["8"],
            },
        ),
        (
            [
                "UPDATE visit SET no = 77 WHERE no = 9",
                "UPDATE person SET valid_to = NULL",
                "DELETE FROM metl_loads",
            ],
            {
                ("visit", DIFFERS): ["9"],
                ("visit", "rows come from messages"): ["77"],
                ("person", "versions of a member do not overlap"): ["1"],
                ("metl_loads", "messages are those that are stored, repeated, set aside or taken out"): [],
            },
        ),
        (
            ["UPDATE person SET is_current = true", "UPDATE person SET person_key = 77 WHERE id = 2"],
            {
                ("person", "a member has one current version at most"): ["1"],
                ("person", "keys are those that were given"): ["2"],
                ("person", DIFFERS): ["2", "1"],
            },
        ),
        ([TWICE], {("person", "a key is given once"): ["1", "2"]}),
    ],
)
def test_a_finding_names_the_keys_of_rows(
    new_target: NewTarget, tmp_path: Path, done: Sequence[str], expected: dict[tuple[str, str], list[str]]
) -> None:
    _, tables = model_of(person_dimension(), visit_fact(measures=(FEE,)))
    persons = [{"id": number, "city": city} for number, city in ((1, "Kiel"), (2, "Bonn"))]
    visits = [{"no": no, "who": who, "at": at(9), "fee": no - 3} for no, who in ((8, 1), (9, 1), (10, 2))]
    moved = Message("a", '{"id":0}', "0009", "u", {"city": "Bonn"}, committed_at=at(9), seen_at=at(9))
    target = new_target(tmp_path)
    parts = [part(tmp_path, "person", [*messages(persons), moved])]
    load_parts(target, tables, [*parts, part(tmp_path, "visit", messages(visits))], "load", OWNER)
    for statement in done:
        target.run(statement)
    found = {(one.table, one.rule): [key for (key,) in one.keys] for one in audit(target, tables, OWNER)}
    assert {rule: found.get(rule) for rule in expected} == expected
