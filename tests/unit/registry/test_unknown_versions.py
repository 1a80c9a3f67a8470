"""Versions read off messages that were set aside."""

from __future__ import annotations

import json
from typing import Any

from metl_gui.core.project.version_tasks import VersionTask, Waiting
from metl_gui.registry.messages.unknown_versions import LOOKED_INTO, UnknownVersions

WAIT = Waiting("errors", "r1", "test", "in", 0)


def change(op: str = "c", **columns: Any) -> bytes:
    source = {"name": "shop", "schema": "public", "table": "orders"}
    sides = {"before": columns, "after": None} if op == "d" else {"before": None, "after": columns}
    return json.dumps({**sides, "source": source, "op": op, "ts_ms": 1}).encode()


def with_schema(version: int | None, **columns: Any) -> bytes:
    columns_of = [{"field": name, "type": "string", "optional": True} for name in columns]
    row: dict[str, Any] = {"type": "struct", "fields": columns_of, "field": "after", "name": "shop.public.orders.Value"}
    row |= {"version": version} if version else {}
    parts = [row, {"field": "op", "type": "string"}]
    schema = {"type": "struct", "name": "shop.public.orders.Envelope", "fields": parts}
    return json.dumps({"schema": schema, "payload": {"before": None, "after": columns, "op": "c"}}).encode()


def tasks_of(*records: tuple[bytes, str], schema: str | None = "shop.public.orders") -> list[VersionTask]:
    found = UnknownVersions()
    for raw, said in records:
        found.add(raw, schema, said)
    return found.tasks(WAIT, "messages")


def test_rows_of_one_shape_are_one_task_with_all_its_records() -> None:
    many = LOOKED_INTO * 3
    (task,) = tasks_of(*((change(id=number, note="n"), "id, note") for number in range(many)))
    assert (task.schema, task.records, sorted(task.paths)) == ("shop.public.orders", many, ["id", "note"])
    assert task.declaration.inferred
    assert task.waits[0].errors == "errors"


def test_rows_with_members_missing_are_the_task_of_those_that_have_them() -> None:
    records = [
        (change(id=1, **dict.fromkeys(names, "v")), names) for names in ("abc", "ab", "bc", "a", "") for _ in "xy"
    ]
    (task,) = tasks_of(*records)
    assert task.records == 10
    required = {one.path for one in task.declaration.attributes if not one.optional}
    assert required == {"id"}


def test_a_rename_is_two_tasks_and_their_records_add_up() -> None:
    found = tasks_of(*[(change(id=1, old="v"), "old")] * 3, *[(change(id=1, new="v"), "new")] * 5)
    assert sorted(task.records for task in found) == [3, 5]


def test_deletes_of_a_shape_are_counted_to_it() -> None:
    (task,) = tasks_of((change(id=1, a="v"), "id, a"), (change("d", id=1, a="v"), "id, a"))
    assert task.records == 2


def test_a_schema_in_the_message_is_declared_as_it_stands() -> None:
    first, second = sorted(
        tasks_of(*[(with_schema(3, id="1", a="v"), "f1")] * 2, (with_schema(None, id="1", b="v"), "f2")),
        key=lambda task: task.seen == "3",
    )
    assert (second.seen, second.declaration.label, second.records) == ("3", "3", 2)
    assert not first.declaration.inferred
    assert first.seen == first.declaration.fingerprint[:12]


def test_what_no_schema_answers_to_goes_by_the_name_in_the_messages_with_its_other_names() -> None:
    (task,) = tasks_of((change(id=1), "no schema"), schema=None)
    assert task.schema == task.declaration.name == "shop.public.orders"


def test_a_record_that_nothing_names_or_that_is_no_row_makes_no_task() -> None:
    assert tasks_of((b'{"a":1}', "nothing names it"), (b"\xff", "malformed"), schema=None) == []


def test_samples_hold_forms_and_no_value() -> None:
    (task,) = tasks_of((change(id=1, mail="mira@example.org", age=None), "x"), (change(id=2, mail="b", age=4), "x"))
    told = {one.path: one for one in task.samples}
    assert told["age"].filled == 0.5
    assert told["mail"].patterns
    assert "mira" not in repr(task)
