"""Why a row is as it is: each value leads to the message that brought it, whatever came between."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.dimensional.loads.row_reasons import ColumnReason, RowReason
from metl_gui.core.dimensional.rows.late_messages import VersionRules, member_versions
from metl_gui.core.dimensional.rows.members import Ownership
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.core.dimensional.rows.traced_values import Traced, plain_value, traced, traced_columns
from metl_gui.core.warehouse_model import Column, Reference
from metl_gui.errors import RunError
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.warehouse.late_messages import key_study
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.row_reasons import row_reason
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.orders import load_orders, order, order_fact
from tests.unit.warehouse.orders import tables_of as tables_of_orders
from tests.unit.warehouse.test_cascades import stay_dimension, tables_of
from tests.unit.warehouse.worlds import BEGINNING, at, model_of, part, person_dimension, visit_fact

COLUMNS = (
    Column(name="city", path="city", history=2),
    Column(name="loud", expression="upper(mood)", history=1),
    Column(name="nick", path="nick", history=1),
    Column(name="first_city", path="city", history=0),
)


def message(order: int, op: str, schema: str = "a", **values: Any) -> Message:
    time, place = at(order), Position("people", 2, order)
    return Message(schema, '{"id":1}', f"{order:04}", op, values, committed_at=time, seen_at=time, position=place)


MESSAGES = [
    message(1, "c", id=1, city="Kiel", mood="glad", nick=None),
    message(3, "u", city="Bonn"),
    message(4, "u", mood="sad"),
]
VISIT = Message(
    "v", '{"no":7}', "0001", "c", {"no": 7, "who": 1, "at": at(2), "fee": 5}, committed_at=at(9), seen_at=at(9)
)
STRANGER = Message("v", '{"no":8}', "0002", "c", {"no": 8, "who": 5, "at": at(2)}, committed_at=at(9), seen_at=at(9))


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a loaded target and the tables in it."""
    folder = tmp_path_factory.mktemp("why")
    _, tables = model_of(person_dimension(columns=COLUMNS), visit_fact())
    with DuckDb(folder / "w.duckdb") as target:
        parts = [part(folder, "person", MESSAGES), part(folder, "visit", [VISIT, STRANGER])]
        load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
    return {"path": folder / "w.duckdb", "tables": tables}


def why(reasons: dict[str, Any], table: str, key: str, hour: float | None = None) -> RowReason:
    with DuckDb(reasons["path"], is_read_only=True) as target:
        moment = at(hour) if hour is not None else None
        return row_reason(target, reasons["tables"], table, (key,), moment)


def offsets(columns: Sequence[ColumnReason]) -> dict[str, tuple[str, list[int]]]:
    return {one.column: (one.value, [m.offset for m in one.brought_by.values()]) for one in columns}


def test_each_column_of_a_version_leads_to_the_message_that_brought_its_value(reasons: dict[str, Any]) -> None:
    found = why(reasons, "person", "1")
    assert (found.version, found.since, found.until) == (2, at(3), None)
    assert found.opened_by is not None
    assert (found.opened_by.log, found.opened_by.partition, found.opened_by.offset) == ("people", 2, 3)
    told = offsets(found.columns)
    assert told["city"] == ("Bonn", [3])
    assert told["loud"] == ("SAD", [4])
    assert told["nick"] == ("null", [])
    assert told["first_city"] == ("Kiel", [1])
    by_name = {one.column: one for one in found.columns}
    assert (by_name["loud"].is_expression, by_name["city"].is_expression) == (True, False)
    assert by_name["nick"].how == "null, or no message brought a value"


def test_a_time_says_which_version_is_meant(reasons: dict[str, Any]) -> None:
    found = why(reasons, "person", "1", 2)
    assert (found.version, found.until, offsets(found.columns)["city"]) == (1, at(3), ("Kiel", [1]))


def test_a_fact_is_reached_by_its_grain_and_says_what_its_references_look_up(reasons: dict[str, Any]) -> None:
    found = why(reasons, "visit", "7")
    assert {one.column: one.value for one in found.columns} == {
        "fee": "5",
        "event_time": "2026-01-01 02:00:00+00:00",
        "guest": "1",
    }
    assert [one.brought_by["fee"].schema_version for one in found.columns if one.column == "fee"] == ["1"]


@pytest.mark.parametrize("covers_past", [True, False])
def test_a_version_that_follows_from_one_of_a_parent_is_told_as_the_table_has_it(
    tmp_path: Path, new_target: NewTarget, covers_past: bool
) -> None:
    tables, target = tables_of(person_dimension(), stay_dimension(covers_past=covers_past)), new_target(tmp_path)
    stays = [
        msgspec.structs.replace(VISIT, committed_at=at(hour), seen_at=at(hour), order_key=f"{hour:04}", values=values)
        for hour, values in ((2, VISIT.values), (6, {**VISIT.values, "who": 5}), (8, VISIT.values))
    ]
    parts = [part(tmp_path, "person", MESSAGES), part(tmp_path, "visit", stays)]
    load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
    rows = target.rows("SELECT version_number, first_known, valid_to FROM stay WHERE stay_key > 0 ORDER BY 1")
    assert [number for number, *_ in rows] == [1, 2, 3, 4, 5]
    for number, since, until in rows:
        found = row_reason(target, tables, "stay", ("7",), since)
        shown = None if covers_past and number == 1 else since
        assert (found.version, found.since, found.until) == (number, shown, until)
        follows = since in (at(3), at(4))
        assert (found.follows, found.opened_by is None) == (("person",) if follows else (), follows)
        assert [one.value for one in found.columns if one.column == "guest"] == ["5" if since == at(6) else "1"]
    assert row_reason(target, tables, "stay", ("7",)).version == 5


def test_a_member_that_no_message_brought_is_inferred_and_one_that_there_is_not_is_refused(
    reasons: dict[str, Any],
) -> None:
    assert why(reasons, "person", "5").is_inferred
    with pytest.raises(RunError, match="no person 6"):
        why(reasons, "person", "6")
    with pytest.raises(RunError, match="no such fact"):
        why(reasons, "visit", "6")


def test_an_inferred_member_says_which_message_of_which_fact_refers_to_it(reasons: dict[str, Any]) -> None:
    found = why(reasons, "person", "5")
    (row,) = found.inferred_by
    assert (row.table, row.key, row.role, row.rows) == ("visit", ("8",), "guest", 1)
    (column,) = row.columns
    assert column.value == "5"
    assert column.brought_by["who"].row_key == '{"no":8}'
    assert row.words == "visit 8 refers to it by guest"


def test_the_time_before_a_first_version_says_what_refers_to_it_then(new_target: NewTarget, tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS, covers_past=False), visit_fact())
    target = new_target(tmp_path)
    other = msgspec.structs.replace(VISIT, row_key='{"no":6}', values={**VISIT.values, "no": 6, "at": at(3)})
    later = msgspec.structs.replace(VISIT, row_key='{"no":5}', values={**VISIT.values, "no": 5, "at": at(9)})
    parts = [part(tmp_path, "person", [message(7, "c", id=1)]), part(tmp_path, "visit", [VISIT, other, later])]
    load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
    found = row_reason(target, tables, "person", ("1",), BEGINNING)
    assert (found.is_inferred, found.until, found.version) == (True, at(7), 0)
    (row,) = found.inferred_by
    assert (row.table, row.key, row.rows) == ("visit", ("7",), 2)
    assert row.words == "visit 7 refers to it by guest, as 1 more row does"
    assert [one.value for one in row.columns] == ["1"]
    target.run('UPDATE visit SET "no" = 77 WHERE "no" = 7')
    (row,) = row_reason(target, tables, "person", ("1",), BEGINNING).inferred_by
    assert (row.key, row.rows, row.columns) == (("77",), 2, ())


def test_a_time_before_all_versions_to_which_nothing_refers_is_refused(tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS, covers_past=False), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        parts = [part(tmp_path, "person", [message(7, "c", id=1)])]
        load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
        with pytest.raises(RunError, match="no version that holds then"):
            row_reason(target, tables, "person", ("1",), BEGINNING)


def test_a_posting_of_what_a_fact_was_before_names_no_message_of_what_it_is(tmp_path: Path) -> None:
    who = Reference(dimension="person", role="who", on=(("who", "id"),))
    tables = tables_of_orders(order_fact(on_correction="reverse", on_delete="reverse", references=(who,)))
    with DuckDb(tmp_path / "w.duckdb") as target:
        moved = msgspec.structs.replace(order(7, no=3), values={"no": 9, "who": 8})
        first = [order(1, "c", who=5, fee=3), order(5, "c", no=2, who=7), order(5, "c", no=3, who=8)]
        load_orders(target, tmp_path, tables, [first, [order(4, who=6), order(6, "d", no=2), moved]])
        rows = {key: row_reason(target, tables, "person", (key,)).inferred_by for key in "5678"}
    found = {key: (row.key, row.rows, [one.value for one in row.columns]) for key, (row,) in rows.items()}
    assert found == {
        "5": (("1",), 2, []),
        "6": (("1",), 1, ["6"]),
        "7": (("2",), 2, ["7"]),
        "8": (("3",), 3, ["8"]),
    }


@pytest.mark.parametrize(("policy", "until", "is_inferred"), [("flag", None, False), ("remove", None, True)])
def test_a_deleted_member_is_told_as_the_table_has_it(
    tmp_path: Path, policy: str, until: datetime | None, is_inferred: bool
) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS, on_delete=policy), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        parts = [part(tmp_path, "person", [MESSAGES[0], message(8, "d")]), part(tmp_path, "visit", [VISIT])]
        load_parts(target, tables, parts, "load", Owner(project="p", mode="test"))
        found = row_reason(target, tables, "person", ("1",))
        assert (found.is_inferred, found.since, found.until) == (is_inferred, None, until)


def test_facts_that_the_table_does_not_hold_are_refused(tmp_path: Path) -> None:
    fact = msgspec.structs.replace(visit_fact(), where="fee > 5")
    _, tables = model_of(person_dimension(columns=COLUMNS), fact)
    gone = [msgspec.structs.replace(STRANGER, order_key="0003", values={"no": 8, "who": 5, "fee": 9}, op="u")]
    gone.append(msgspec.structs.replace(STRANGER, order_key="0004", values={}, op="d"))
    with DuckDb(tmp_path / "w.duckdb") as target:
        load_parts(target, tables, [part(tmp_path, "visit", [VISIT, *gone])], "load", Owner(project="p", mode="test"))
        for key in "78":
            with pytest.raises(RunError, match="no such fact"):
                row_reason(target, tables, "visit", (key,))


def test_a_table_that_another_declaration_made_is_not_told_by_the_new_one(tmp_path: Path) -> None:
    _, before = model_of(person_dimension(columns=COLUMNS), visit_fact())
    now = (msgspec.structs.replace(COLUMNS[0], history=1), *COLUMNS[1:])
    _, after = model_of(person_dimension(columns=now), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        parts = [part(tmp_path, "person", MESSAGES), part(tmp_path, "visit", [VISIT])]
        load_parts(target, before, parts, "load", Owner(project="p", mode="test"))
        for look in (row_reason, key_study):
            with pytest.raises(TargetError, match=r"columns\.city\.history was 2, is 1"):
                look(target, after, "person", ("1",))
        assert row_reason(target, after, "visit", ("7",)).columns


@pytest.mark.parametrize("seed", range(40))
def test_tracing_changes_no_version_and_each_value_is_that_of_its_message(seed: int) -> None:
    dice = random.Random(seed)
    messages = [message(1, "c", id=1, city="Kiel", mood="glad")]
    for place in range(2, 10):
        values = {"id": 1, "city": dice.choice(["Kiel", "Bonn", None]), "mood": dice.choice(["glad", "sad"])}
        for left_out in dice.sample(sorted(values), dice.randrange(3)):
            del values[left_out]
        is_delete = dice.random() < 0.15
        messages.append(message(place, "d" if is_delete else "u", dice.choice("ab"), **({} if is_delete else values)))
    rules = VersionRules(Ownership(("id",)), ("city",), (("city", 2), ("mood", 1)))
    plain = member_versions(messages, (1,), rules, lambda times: times)
    names = {name: (name,) for name in ("id", "city", "mood")}
    found = member_versions(traced(messages), (1,), rules, traced_columns(lambda times: times, names))
    assert [(one.valid_from, one.valid_to, one.opened_by) for one in found.versions] == [
        (one.valid_from, one.valid_to, one.opened_by) for one in plain.versions
    ]
    for one, other in zip(found.versions, plain.versions, strict=True):
        for name, value in rules.values(one).items():
            assert plain_value(value) == rules.values(other)[name]
            if isinstance(value, Traced) and value.value is not None:
                assert plain_value(value.brought_by[name].values[name]) == value.value
