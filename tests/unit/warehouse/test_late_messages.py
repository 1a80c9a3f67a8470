"""What is told of a late message is what a load of that message then does."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.key_history import KeyVersion
from metl_gui.core.dimensional.rows.epochs import HEAD
from metl_gui.core.dimensional.rows.late_messages import DECLARED, late_message
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.dimensional.rows.row_states import FOREVER
from metl_gui.core.warehouse_model import Column, Dimension, Model, Reference
from metl_gui.warehouse import key_messages
from metl_gui.warehouse import late_messages as module
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.key_history import has_key, key_history
from metl_gui.warehouse.late_messages import KeyStudy, key_study, late_answer
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.row_reasons import row_reason
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_cascades import stay_dimension, tables_of
from tests.unit.warehouse.test_hierarchies import CHIEF, Staff, unit, unit_dimension
from tests.unit.warehouse.worlds import at, model_of, parse, part, person_dimension, visit_fact

KIEL = {"id": 1, "city": "Kiel", "mood": "glad", "nick": "K", "since": at(1)}
COLUMNS = (
    Column(name="city", path="city", history=2),
    Column(name="loud", expression="upper(mood)", history=2),
    Column(name="nick", path="nick", history=1),
    Column(name="first_city", path="city", history=0),
)


def load(
    target: WarehouseTarget, tables: TableShapes, folder: Path, entity: str, messages: Sequence[Message], name: str
) -> None:
    load_parts(target, tables, [part(folder, entity, messages)], name, Owner(project="p", mode="test"))


def person(order: int, op: str, values: dict[str, Any], schema: str = "a", key: int = 1) -> Message:
    time = at(order)
    given = values if op != "d" else {}
    return Message(schema, f'{{"id":{key}}}', f"{order:04}", op, given, committed_at=time, seen_at=time)


def visit(number: int, hour: float) -> Message:
    values = {"no": number, "who": 1, "at": at(hour), "fee": 1}
    time = at(60)
    return Message("v", f'{{"no":{number}}}', f"{number:04}", "c", values, committed_at=time, seen_at=time)


def random_history(dice: random.Random) -> list[Message]:
    """Two sources of one person, with messages that leave values out, hold earlier, delete and bring back."""
    found = [person(1, "c", KIEL)]
    for order in range(2, 9):
        values = {
            "id": 1,
            "city": dice.choice(["Kiel", "Bonn", "Ulm"]),
            "mood": dice.choice(["glad", "sad"]),
            "nick": dice.choice(["K", "B"]),
            "since": at(dice.randrange(50)),
        }
        for left_out in dice.sample(["id", "city", "mood", "nick"], dice.randrange(3)):
            del values[left_out]
        found.append(person(order, "d" if dice.random() < 0.15 else "u", values, dice.choice(["a", "a", "b"])))
    return found


def as_loaded(study: KeyStudy, like: Message, hour: float, values: dict[str, Any]) -> Message:
    """Return the message that is told of, with what its source says and nothing of the study's own."""
    raw = {**values, **({"since": at(hour)} if study.reading.rules.is_declared else {})}
    found = next(one for one in study.reading.messages if one.identity == like.identity)
    message = late_message(study.reading.messages, found, at(hour), study.reading.rules, raw)
    carried = {name: value for name, value in message.values.items() if name != DECLARED}
    return msgspec.structs.replace(message, values=carried, order_key=message.order_key[HEAD:])


@pytest.mark.parametrize("seed", range(5))
def test_versions_and_rekeyed_facts_are_those_of_a_real_load(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    declared = dice.choice(["since", ""])
    policy = dice.choice(["close", "flag", "remove"])
    dimension = person_dimension(columns=COLUMNS, valid_at=declared, on_delete=policy, covers_past=dice.random() < 0.5)
    _, tables = model_of(dimension, visit_fact())
    messages = random_history(dice)
    with DuckDb(tmp_path / "w.duckdb") as target:
        load(target, tables, tmp_path, "person", messages, "first")
        load(target, tables, tmp_path, "visit", [visit(n, dice.randrange(50) + 0.5) for n in range(12)], "visits")
        study = key_study(target, tables, "person", ("1",))
        like = dice.choice([one for one in study.reading.messages if one.schema == "a"])
        hour, changed = dice.randrange(45) + 0.25, {} if like.is_delete else {"city": "Jena"}
        told = late_answer(study, (like.schema, str(like.row_key), like.order_key, like.op), at(hour), changed)
        before = facts(target)
        load(target, tables, tmp_path, "person", [as_loaded(study, like, hour, changed)], "late")
        found = [one for one in key_history(target, tables, "person", ("1",)).versions if not one.is_inferred]
        assert list(told.versions) == found
        after = facts(target)
    assert told.effect.rekeyed == (("visit", sum(before[n] != after[n] for n in before)),)


def stay(order: int, op: str, who: int | None, fee: int) -> Message:
    values = {"no": 1, "who": who, "fee": fee, "at": at(order)} if op != "d" else {}
    return Message("v", '{"no":1}', f"{order:04}", op, values, committed_at=at(order), seen_at=at(order))


@pytest.mark.parametrize("seed", range(8))
def test_versions_of_a_child_that_its_parents_cut_are_those_of_a_real_load(
    new_target: NewTarget, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    covers_past, policy = dice.random() < 0.5, dice.choice(["close", "flag", "remove"])
    child = stay_dimension(columns=(Column(name="fee", path="fee", history=dice.choice([1, 2])),), on_delete=policy)
    tables = tables_of(person_dimension(columns=COLUMNS, covers_past=covers_past), child)
    persons = [
        person(order, "d" if dice.random() < 0.1 else "u", KIEL | {"id": key, "city": f"city {order}"}, key=key)
        for order in range(2, 20)
        for key in [dice.choice([1, 2])]
    ]
    whos = [dice.choice([1, 2, 3, None]) for _ in range(4)]
    stays = [stay(order * 5, "d" if dice.random() < 0.1 else "u", who, order) for order, who in enumerate(whos)]
    target = new_target(tmp_path)
    load(target, tables, tmp_path, "person", persons, "persons")
    load(target, tables, tmp_path, "visit", stays, "stays")
    told_beside_load(
        target, tables, ("stay", "1"), dice, {}, lambda late: load(target, tables, tmp_path, "visit", [late], "late")
    )


def told_beside_load(
    target: WarehouseTarget,
    tables: TableShapes,
    of: tuple[str, str],
    dice: random.Random,
    values: dict[str, str],
    take: Callable[[Message], object],
) -> tuple[module.LateAnswer, bool]:
    """Ask of a late message, load it, and compare; return what was told, and whether versions changed."""
    table, key = of
    shape = tables.dimension(table)
    columns = ", ".join([shape.version_key, "first_known", "valid_to", *(one.name for one in shape.columns)])
    is_own = f"{shape.version_key} > 0 AND NOT is_inferred AND {has_key([one.name for one in shape.key])}"

    def written() -> dict[int, tuple[Any, ...]]:
        return {
            number: tuple(values)
            for number, *values in target.rows(f"SELECT {columns} FROM {table} WHERE {is_own}", [key])
        }

    def versions() -> list[KeyVersion]:
        return [one for one in key_history(target, tables, table, (key,)).versions if not one.is_inferred]

    study, before, was = key_study(target, tables, table, (key,)), versions(), written()
    assert len(study.before.versions) == len(before)
    like, hour = dice.choice(study.reading.messages), dice.randrange(25) + 0.25
    told = late_answer(study, (like.schema, str(like.row_key), like.order_key, like.op), at(hour), values)
    take(as_loaded(study, like, hour, {} if like.is_delete else values))
    assert list(told.versions) == versions()
    now, effect = written(), told.effect
    closed = {one for one in was.keys() & now.keys() if (now[one][1] or FOREVER) < (was[one][1] or FOREVER)}
    changed = {one for one in was.keys() & now.keys() - closed if now[one] != was[one]}
    counts = len(now.keys() - was.keys()), len(was.keys() - now.keys()), len(closed), len(changed)
    assert (effect.opened, effect.gone, effect.closed, effect.changed) == counts
    return told, list(told.versions) != before


UNDER = msgspec.structs.replace(CHIEF, cascade=True)


@pytest.mark.parametrize("seed", range(6))
def test_versions_that_members_above_hand_down_are_those_of_a_real_load(
    new_target: NewTarget, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    covers_past, policy = dice.random() < 0.5, dice.choice(["close", "flag", "remove"])
    units = Staff(new_target, tmp_path, references=(UNDER,), covers_past=covers_past, on_delete=policy)
    # Who is above another has a smaller key, so that nobody is above himself.
    bosses: dict[int, list[int | None]] = {1: [None], 2: [1, None], 3: [1, 2, None], 4: [1, 2, 3]}
    changes = [
        unit(key, dice.choice(bosses[key]), order, "d" if dice.random() < 0.1 else "u", dice.choice("xyz"))
        for order in range(1, 25)
        for key in [dice.randrange(1, 5)]
    ]
    units.load(*changes)
    told, is_changed = told_beside_load(units.target, units.tables, ("unit", "3"), dice, {"title": "late"}, units.load)
    assert told.effect.uncounted == (("unit",) if is_changed else ())


def test_a_member_among_those_above_it_is_told_nothing_of(new_target: NewTarget, tmp_path: Path) -> None:
    units = Staff(new_target, tmp_path, references=(UNDER,))
    units.load(unit(7, 8, 1), unit(8, 9, 1), unit(9, 7, 1), unit(3, 7, 1), unit(4, 5, 2))
    for key in "789":
        with pytest.raises(TargetError, match="cannot be told here") as refused:
            key_study(units.target, units.tables, "unit", (key,))
        assert "hands its versions down to itself" in str(refused.value)
    assert len(key_study(units.target, units.tables, "unit", ("3",)).before.versions) == 1
    # Of one that others named and nobody sent there is nothing to tell.
    assert key_study(units.target, units.tables, "unit", ("5",)).before.versions == ()


def test_a_root_that_names_itself_and_those_below_it_are_told_of(new_target: NewTarget, tmp_path: Path) -> None:
    units = Staff(new_target, tmp_path, references=(UNDER,))
    units.load(unit(1, 1, 1), unit(2, 1, 2), unit(1, 1, 8, title="y"))
    for key in ("1", "2"):
        told_beside_load(units.target, units.tables, ("unit", key), random.Random(3), {"title": "late"}, units.load)


def test_what_may_bring_versions_to_a_member_above_is_told_nothing_of(new_target: NewTarget, tmp_path: Path) -> None:
    units = Staff(new_target, tmp_path, references=(UNDER,))
    moved = [msgspec.structs.replace(unit(key, None, key), row_key='{"id":"r"}') for key in (2, 3)]
    units.load(*moved, unit(2, 3, 4))
    study = key_study(units.target, units.tables, "unit", ("2",))
    for like in study.reading.messages:
        place = (like.schema, str(like.row_key), like.order_key, like.op)
        with pytest.raises(TargetError, match="cannot be told here"):
            late_answer(study, place, at(10), {"title": "late"})
    units.load(unit(8, None, 1), unit(9, 8, 1))
    (like,) = (study := key_study(units.target, units.tables, "unit", ("9",))).reading.messages
    place = (like.schema, str(like.row_key), like.order_key, like.op)
    assert late_answer(study, place, at(10), {"title": "late"}).effect.opened == 1
    with pytest.raises(TargetError, match="cannot be told here"):
        late_answer(study, place, at(10), {"id": "8"})


def test_a_dimension_above_of_the_same_entity_is_refused(new_target: NewTarget, tmp_path: Path) -> None:
    town = Dimension(
        name="town", entity="person", business_key=("city",), columns=(Column(name="mood", path="mood", history=2),)
    )
    home = Reference(dimension="town", role="home", on=(("city", "city"),), as_of="version", cascade=True)
    tables = tables_of(person_dimension(columns=COLUMNS, references=(home,)), town)
    target = new_target(tmp_path)
    load(target, tables, tmp_path, "person", [person(1, "c", KIEL), person(30, "u", {**KIEL, "mood": "sad"})], "first")
    assert len(key_study(target, tables, "town", ("Kiel",)).before.versions) == 2
    with pytest.raises(TargetError, match="cannot be told here") as refused:
        key_study(target, tables, "person", ("1",))
    assert "makes versions of town, which make some of person" in str(refused.value)


@pytest.mark.parametrize(
    ("type_", "above", "below"),
    [("text", "a" * 250, "b" * 250), ("boolean", True, False), ("instant", at(1), at(2)), ("float", 1e16, 0.5)],
)
def test_members_are_found_above_one_another_whatever_their_keys(
    new_target: NewTarget, tmp_path: Path, type_: str, above: Any, below: Any
) -> None:
    types = {"id": type_, "boss": type_, "title": "text"}
    history = EntityHistory("unit", ("id",), tuple(HistoryColumn(name, name, one) for name, one in types.items()))
    tables = shapes(Model(name="world", tables=(unit_dimension(references=(UNDER,), parent=()),)), [history], parse)
    target = new_target(tmp_path)

    def take(*messages: Message) -> None:
        found = [part(tmp_path, "unit", messages, history)]
        load_parts(target, tables, found, str(len(messages)), Owner(project="p", mode="test"))

    def of(row: str, key: Any, boss: Any, place: int, title: str = "x") -> Message:
        values = {"id": key, "boss": boss, "title": title}
        return msgspec.structs.replace(unit(1, None, place), row_key=row, values=values)

    take(of("one", above, None, 1), of("two", below, above, 2), of("one", above, None, 5, "y"))
    ((key,),) = target.rows("SELECT CAST(id AS VARCHAR) FROM unit WHERE version_number = 1 AND chief_key > 0")
    assert len(key_study(target, tables, "unit", (key,)).before.versions) == 2
    take(of("one", above, below, 9), of("one", above, below, 9))
    with pytest.raises(TargetError, match="cannot be told here"):
        key_study(target, tables, "unit", (key,))


def facts(target: WarehouseTarget) -> dict[int, int]:
    return dict(target.rows("SELECT no, guest_key FROM visit"))


BONN = {"id": 1, "city": "Bonn", "mood": "glad", "nick": "K", "since": at(30)}


def told_of(tmp_path: Path, hour: float, values: dict[str, str], **changes: Any) -> module.LateAnswer:
    _, tables = model_of(person_dimension(columns=COLUMNS, **changes), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        load(target, tables, tmp_path, "person", [person(1, "c", KIEL), person(30, "u", BONN)], "first")
        load(target, tables, tmp_path, "visit", [visit(1, 10), visit(2, 25), visit(3, 40)], "visits")
        study = key_study(target, tables, "person", ("1",))
    first = min(study.reading.messages, key=lambda one: one.order)
    return late_answer(study, (first.schema, str(first.row_key), first.order_key, first.op), at(hour), values)


@pytest.mark.parametrize("declared", ["since", ""])
def test_ulm_that_comes_last_and_holds_between_is_told_in_words(tmp_path: Path, declared: str) -> None:
    told = told_of(tmp_path, 20, {"city": "Ulm"}, valid_at=declared)
    cities = [(dict(one.values)["city"], one.since, one.until) for one in told.versions]
    assert cities == [("Kiel", None, at(20)), ("Ulm", at(20), at(30)), ("Bonn", at(30), None)]
    assert told.effect.words == "1 version opened, 1 version would end earlier, 1 row of visit re-keyed."


def test_both_kinds_of_target_tell_the_same_of_a_late_message_and_why_a_version_is_so(
    new_target: NewTarget, tmp_path: Path
) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS, valid_at="since"), visit_fact())
    target = new_target(tmp_path)
    load(target, tables, tmp_path, "person", [person(1, "c", KIEL), person(30, "u", BONN)], "first")
    load(target, tables, tmp_path, "visit", [visit(1, 10), visit(2, 25)], "visits")
    study = key_study(target, tables, "person", ("1",))
    first = min(study.reading.messages, key=lambda one: one.order)
    like = (first.schema, str(first.row_key), first.order_key, first.op)
    told = late_answer(study, like, at(20), {"city": "Ulm"})
    assert told.effect.words == "1 version opened, 1 version would end earlier, 1 row of visit re-keyed."
    (city, *_) = row_reason(target, tables, "person", ("1",)).columns
    assert (city.value, city.brought_by["city"].committed_at) == ("Bonn", at(30))


def test_what_says_nothing_new_changes_nothing(tmp_path: Path) -> None:
    assert told_of(tmp_path, 20, {}, valid_at="since").effect.words == "Nothing would change."


def test_a_value_of_another_type_and_an_attribute_that_there_is_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="x is no value of id"):
        told_of(tmp_path, 20, {"id": "x"})
    with pytest.raises(TargetError, match="no attribute town"):
        told_of(tmp_path / "..", 20, {"town": "Ulm"})


def test_a_key_with_too_many_messages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_messages, "MOST", 1)
    with pytest.raises(TargetError, match="cannot be told"):
        told_of(tmp_path, 20, {})


def test_a_key_with_hundreds_of_messages_is_told_of_whole(tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS), visit_fact())
    cities = [{**KIEL, "city": f"city {hour}"} for hour in range(700)]
    with DuckDb(tmp_path / "w.duckdb") as target:
        load(target, tables, tmp_path, "person", [person(n, "u", one) for n, one in enumerate(cities, 1)], "first")
        study = key_study(target, tables, "person", ("1",))
        found = row_reason(target, tables, "person", ("1",), at(350))
    assert (len(study.before.versions), found.version) == (700, 350)
    last = max(study.reading.messages, key=lambda one: one.order)
    told = late_answer(study, (last.schema, str(last.row_key), last.order_key, last.op), at(350.5), {"city": "Ulm"})
    assert told.effect.words == "1 version opened, 1 version would end earlier."
    assert (told.versions[350].since, dict(told.versions[350].values)["city"]) == (at(350.5), "Ulm")


def test_what_is_not_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TIMES", 2)
    assert told_of(tmp_path, 20, {"city": "Ulm"}).effect.words.endswith("Not all rows of visit were looked at.")
    assert (
        told_of(tmp_path / "..", 20, {}).effect.words == "Nothing would change. Not all rows of visit were looked at."
    )


def test_versions_that_follow_from_those_of_a_parent_are_said_to_be_left_out(
    tmp_path: Path, new_target: NewTarget
) -> None:
    tables, target = tables_of(person_dimension(columns=COLUMNS), stay_dimension()), new_target(tmp_path)
    load(target, tables, tmp_path, "person", [person(1, "c", KIEL), person(30, "u", BONN)], "first")
    load(target, tables, tmp_path, "visit", [stay(10, "c", 1, 1)], "visits")
    study = key_study(target, tables, "person", ("1",))
    first = min(study.reading.messages, key=lambda one: one.order)
    like = (first.schema, str(first.row_key), first.order_key, first.op)
    told = late_answer(study, like, at(20), {"city": "Ulm"}).effect.words
    assert told.endswith("1 version would end earlier. Versions of stay that follow from them are not counted.")
    assert late_answer(study, like, at(2), {}).effect.words == "Nothing would change."
    child = key_study(target, tables, "stay", ("1",))
    (visited,) = child.reading.messages
    like = (visited.schema, str(visited.row_key), visited.order_key, visited.op)
    assert len(child.before.versions) == 2
    with pytest.raises(TargetError, match="another member of person"):
        late_answer(child, like, at(20), {"who": "2"})


def test_a_late_message_makes_versions_of_a_member_that_was_removed(tmp_path: Path) -> None:
    _, tables = model_of(person_dimension(columns=COLUMNS, on_delete="remove"), visit_fact())
    with DuckDb(tmp_path / "w.duckdb") as target:
        load(target, tables, tmp_path, "person", [person(1, "c", KIEL), person(30, "d", {})], "first")
        study = key_study(target, tables, "person", ("1",))
    first = min(study.reading.messages, key=lambda one: one.order)
    told = late_answer(study, (first.schema, str(first.row_key), first.order_key, first.op), at(40), {"city": "Ulm"})
    assert [dict(one.values)["city"] for one in told.versions] == ["Kiel", "Ulm"]
