"""What a target tells of one business key: its messages in log order, its versions, nothing of another key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.replays import Coverage, CoveredRange
from metl_gui.warehouse import key_history as module
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.key_history import key_history, keys_of
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import at, model_of, part, person_dimension

_, SHAPES = model_of(person_dimension(valid_at="since"))


def message(order: int, op: str, values: dict[str, Any], key: int = 1, publication: int = 0) -> Message:
    return Message(
        schema="a",
        row_key=f'{{"id":{key}}}',
        order_key=f"{order:04}",
        op=op,
        values=values,
        publication=publication,
        committed_at=at(order),
        seen_at=at(order),
    )


def load(target: WarehouseTarget, folder: Path, messages: Sequence[Message], name: str = "load") -> None:
    load_parts(target, SHAPES, [part(folder, "person", messages)], name, Owner(project="p", mode="test"))


KIEL = message(1, "c", {"id": 1, "city": "Kiel", "since": at(1)})
BONN = message(3, "u", {"id": 1, "city": "Bonn", "since": at(30)})
ULM = message(4, "u", {"city": "Ulm", "since": at(20)})
"""Comes last and holds before: its key is what it was."""

OTHER = message(2, "c", {"id": 2, "city": "Jena", "since": at(2)}, key=2)


def cities(found: KeyHistory) -> list[tuple[str, Any, Any]]:
    return [(dict(one.values)["city"], one.since, one.until) for one in found.versions]


def test_messages_stand_in_log_order_and_versions_in_that_of_time(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, [ULM, OTHER, BONN, KIEL])
    found = key_history(target, SHAPES, "person", ("1",))
    assert [dict(one.values)["city"] for one in found.messages] == ["Kiel", "Bonn", "Ulm"]
    assert [one.holds_from for one in found.messages] == [at(1), at(30), at(20)]
    assert "id" not in dict(found.messages[2].values)
    assert cities(found) == [("Kiel", None, at(20)), ("Ulm", at(20), at(30)), ("Bonn", at(30), None)]
    assert [one.is_current for one in found.versions] == [False, False, True]


def test_a_delete_has_no_values_and_a_replaced_message_is_void(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, [KIEL, message(5, "d", {})])
    load(target, tmp_path, [message(1, "c", {"id": 1, "city": "Kiel an der Förde"}, publication=1)], "later")
    found = key_history(target, SHAPES, "person", ("1",)).messages
    assert [(one.op, one.is_void) for one in found] == [("c", True), ("c", False), ("d", False)]
    assert found[2].values == ()


def test_keys_with_most_versions_come_first_and_one_that_there_is_not_has_nothing(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, [OTHER, KIEL, BONN])
    assert keys_of(target, SHAPES.dimension("person")) == (("1",), ("2",))
    for strange in ("3", "", "x' OR '1'='1"):
        found = key_history(target, SHAPES, "person", (strange,))
        assert (found.messages, found.versions) == ((), ())


def test_a_key_with_very_many_messages_is_cut_and_says_so(
    new_target: NewTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, [KIEL, BONN, ULM])
    monkeypatch.setattr(module, "MOST", 2)
    found = key_history(target, SHAPES, "person", ("1",))
    assert (len(found.messages), len(found.versions), found.is_cut) == (2, 2, True)


def test_what_a_replay_did_not_bring_again_is_void(new_target: NewTarget, tmp_path: Path) -> None:
    target, owner = new_target(tmp_path), Owner(project="p", mode="test")
    first, second = (replace(one, position=Position("log", 0, at_)) for at_, one in enumerate((KIEL, BONN)))
    load(target, tmp_path, [first, second])
    again = [part(tmp_path, "person", [replace(first, publication=2)])]
    covered = Coverage(2, (CoveredRange("log", 0, 0, 9),))
    load_parts(target, SHAPES, again, "again", owner, coverage=covered)
    found = key_history(target, SHAPES, "person", ("1",))
    told = [(dict(one.values)["city"], one.is_void) for one in found.messages]
    assert told == [("Kiel", True), ("Kiel", False), ("Bonn", True)]
    assert [dict(one.values)["city"] for one in found.versions] == ["Kiel"]


def test_a_key_that_takes_in_the_schema_has_the_messages_of_that_schema_alone(
    new_target: NewTarget, tmp_path: Path
) -> None:
    _, tables = model_of(person_dimension(key_includes_schema=True))
    target, owner = new_target(tmp_path), Owner(project="p", mode="test")
    both = [KIEL, replace(BONN, schema="b")]
    load_parts(target, tables, [part(tmp_path, "person", both)], "load", owner)
    keys = keys_of(target, tables.dimension("person"))
    assert keys == (("a", "1"), ("b", "1"))
    found = [key_history(target, tables, "person", key) for key in keys]
    assert [[(one.schema, dict(one.values)["city"]) for one in each.messages] for each in found] == [
        [("a", "Kiel")],
        [("b", "Bonn")],
    ]
    assert [len(each.versions) for each in found] == [1, 1]
