"""Attributes that come, get other names, or become texts: all that stands in a target stays what it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.dimensional.rows.messages import Message
from metl_gui.core.warehouse_model import Column, Dimension, Fact, Junk, Model, Periodic, Reference
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.staging.sink import StageSink, staged_parts
from metl_gui.warehouse.audit import audit
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.loader import Loader, load_parts
from metl_gui.warehouse.plans.shapes.shape_maker import shapes
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.target_inputs import TargetInputs
from tests.unit.engine.test_stage_sink import ORDER, ROW, plan_of, record
from tests.unit.warehouse import orders, test_bridges, test_hierarchies
from tests.unit.warehouse.conftest import SERVER, NewTarget
from tests.unit.warehouse.test_loads import OWNER
from tests.unit.warehouse.worlds import at, parse, part, visit_fact

TYPES = {
    "count": "integer",
    "price": "decimal(38,2)",
    "weight": "float",
    "is_paid": "boolean",
    "day": "date",
    "local": "timestamp",
    "zoned": "instant",
    "words": "json",
}
VALUES = {
    "count": 5,
    "price": Decimal("1.50"),
    "weight": 0.25,
    "is_paid": True,
    "day": date(801, 2, 3),
    "local": at(0).replace(tzinfo=None, microsecond=60),
    "zoned": datetime(2026, 7, 2, 3, tzinfo=UTC),
    "words": "[1,2]",
}
TEXTS = {
    "count": "5",
    "price": "1.50",
    "weight": "0.25",
    "is_paid": "true",
    "day": "0801-02-03",
    "local": "2026-01-01 00:00:00.000060",
    "zoned": "2026-07-02 03:00:00.000000Z",
    "words": "[1,2]",
}
TABLES = (
    Dimension(
        name="thing",
        entity="thing",
        columns=(
            *(Column(name=name, path=name, history=2) for name in TYPES),
            Column(name="before", path="count", history=3),
            Column(name="whole", path="count", type="integer", history=1),
        ),
    ),
    Fact(
        name="use",
        entity="use",
        references=(Reference(dimension="thing", on=(("of", "id"),)),),
        degenerate=(Column(name="why", path="why"),),
        junk=("why",),
    ),
    Periodic(name="thing_day", of="thing", every="day", columns=("count", "zoned")),
    Junk(name="reasons", of="use", columns=("why",)),
)


def tables(key: str = "integer", why: str = "integer", **types: str) -> TableShapes:
    """Return the tables over entities of some types."""
    listed = {"id": key, **TYPES, **types}
    thing = EntityHistory("thing", ("id",), tuple(HistoryColumn(name, name, type_) for name, type_ in listed.items()))
    of_use = {"no": "integer", "of": key, "why": why}
    use = EntityHistory("use", ("no",), tuple(HistoryColumn(name, name, type_) for name, type_ in of_use.items()))
    return shapes(Model(name="things", tables=TABLES), [thing, use], parse)


TYPED, AS_TEXT = tables(), tables("text", "text", **dict.fromkeys(TYPES, "text"))


def thing(place: int, key: Any, **values: Any) -> Message:
    return said(place, {"id": key, **values}, key)


def use(place: int, of: Any, why: Any) -> Message:
    return said(place, {"no": place, "of": of, "why": why}, place)


def said(place: int, values: dict[str, Any], key: Any) -> Message:
    when = at(place * 30)
    return Message("a", f'{{"key":{key}}}', f"{place:04}", "u", values, committed_at=when, seen_at=when)


BEFORE = [thing(1, 1, **VALUES), thing(3, 1, **VALUES | {"count": 6, "is_paid": None}), thing(4, 2, **VALUES)]
SAME = [
    thing(1, "1", **TEXTS), thing(3, "1", **TEXTS | {"count": "6", "is_paid": None}), thing(4, "2", **TEXTS),
]  # fmt: skip
AFTER = [thing(2, "1", **TEXTS | {"price": "1.505"}), thing(5, "2", **TEXTS | {"count": "many"})]


def load(target: WarehouseTarget, folder: Path, model: TableShapes, name: str, *of: Sequence[Message]) -> LoadReport:
    """Load messages of things and of uses."""
    entities = zip(("thing", "use"), of, strict=False)
    parts = [part(folder, entity, messages, model.histories[entity]) for entity, messages in entities]
    return load_parts(target, model, parts, name, OWNER)


_THING = f"t.id, {', '.join(f't.{name}' for name in (*TYPES, 'before', 'before_previous', 'whole'))}"
_VERSION = "t.valid_from, t.valid_to, t.is_current, t.is_inferred, t.version_number"
_CONTENT = (
    f"SELECT {_THING}, {_VERSION} FROM thing AS t",
    f"SELECT {_THING}, {_VERSION} FROM thing_current AS t",
    f"SELECT {_THING}, {_VERSION} FROM thing_now AS t",
    f"""SELECT u.no, r.why, {_THING}, {_VERSION} FROM "use" AS u JOIN thing AS t ON t.thing_key = u.thing_key
    JOIN reasons AS r ON r.reasons_key = u.reasons_key""",
    """SELECT t.id, t.version_number, d.period_end, d."count", d.zoned FROM thing_day AS d
    JOIN thing AS t ON t.thing_key = d.thing_key""",
)
"""All but the numbers of keys."""


def content(target: WarehouseTarget) -> list[list[tuple[Any, ...]]]:
    return [sorted(target.rows(query), key=repr) for query in _CONTENT]


def test_what_stands_becomes_the_text_that_would_have_been_loaded(new_target: NewTarget, tmp_path: Path) -> None:
    widened, fresh = new_target(tmp_path), new_target(tmp_path)
    load(widened, tmp_path, TYPED, "typed", BEFORE, [use(6, 1, 7), use(7, 3, 8)])
    load(fresh, tmp_path, AS_TEXT, "texts", SAME, [use(6, "1", "7"), use(7, "3", "8")])
    again = load(widened, tmp_path, AS_TEXT, "as texts", SAME, [use(6, "1", "7"), use(7, "3", "8")])
    assert again.ambiguous_order == {}  # the same content
    assert {(one.inserted, one.updated, one.removed) for one in again.tables.values()} == {(0, 0, 0)}
    assert content(widened) == content(fresh)
    for target in (widened, fresh):
        load(target, tmp_path, AS_TEXT, "later", AFTER, [use(8, "2", "none")])
    assert content(widened) == content(fresh)
    assert audit(widened, AS_TEXT, OWNER) == ()
    aside = [target.rows('SELECT row_key, "_column" FROM metl_set_aside_thing') for target in (widened, fresh)]
    assert aside[0] == aside[1] == [('{"key":2}', "thing.whole")]  # many is no whole number
    before = content(widened)
    Loader(widened, AS_TEXT, OWNER).rebuild()
    assert content(widened) == before


def staged_as(folder: Path, history: EntityHistory) -> list[StagedPart]:
    """Stage a change as a run does, in the types of a history."""
    folder.mkdir()
    plan = plan_of()
    sink = StageSink(folder, "part", plan, [history])
    assert sink.append(Kernel(plan).map(Records.of([record(ROW)], "f"))) == {}
    sink.close()
    return list(staged_parts(folder))


def test_texts_are_those_that_are_staged_of_the_same_change(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    as_text = tuple(msgspec.structs.replace(one, type="text") for one in ORDER.columns)
    model = Model(name="orders", tables=(Dimension(name="orders", entity="order", business_key=("name",)),))
    typed, texts = ORDER, msgspec.structs.replace(ORDER, columns=as_text)
    load_parts(target, shapes(model, [typed], parse), staged_as(tmp_path / "typed", typed), "typed", OWNER)
    tables = shapes(model, [texts], parse)
    again = load_parts(target, tables, staged_as(tmp_path / "texts", texts), "texts", OWNER)
    assert (again.repeated, again.appended, again.ambiguous_order) == (1, 0, {})
    assert audit(target, tables, OWNER) == ()


def test_a_key_that_became_text_takes_texts_of_any_length(new_target: NewTarget, tmp_path: Path) -> None:
    target, long = new_target(tmp_path), "".join(chr(65 + number * 7 % 26) + str(number) for number in range(2_000))
    load(target, tmp_path, TYPED, "typed", BEFORE, [use(6, 1, 7)])
    load(target, tmp_path, TYPED, "typed again", BEFORE)  # the first load goes without indexes
    load(target, tmp_path, AS_TEXT, "as texts", [thing(9, long, **TEXTS)], [use(10, long, long)])
    assert target.rows("SELECT COUNT(*) FROM thing WHERE NOT is_inferred AND thing_key > 0") == [(4,)]
    Loader(target, AS_TEXT, OWNER).rebuild()
    assert audit(target, AS_TEXT, OWNER) == ()


def test_a_rebuild_makes_texts_too(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, TYPED, "typed", BEFORE)
    Loader(target, AS_TEXT, OWNER).rebuild()
    assert target.rows("SELECT DISTINCT local, zoned FROM thing WHERE thing_key > 0") == [
        (TEXTS["local"], TEXTS["zoned"])
    ]
    load(target, tmp_path, AS_TEXT, "later", AFTER)
    assert audit(target, AS_TEXT, OWNER) == ()


def test_infinite_times_are_words_as_texts(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, TYPED, "typed", BEFORE[:1])
    target.run("UPDATE metl_history_thing SET zoned = 'infinity'")
    Loader(target, AS_TEXT, OWNER).rebuild()
    assert target.rows("SELECT zoned FROM thing WHERE thing_key > 0") == [("infinity",)]


@pytest.mark.parametrize("model", [TYPED, tables(price="decimal(38,4)"), tables(count="float")])
def test_a_type_that_may_not_hold_what_is_there_is_refused_and_nothing_is_changed(
    new_target: NewTarget, tmp_path: Path, model: TableShapes
) -> None:
    target = new_target(tmp_path)
    first, messages = (AS_TEXT, AFTER) if model is TYPED else (TYPED, BEFORE)
    load(target, tmp_path, first, "first", messages)
    before = content(target)
    with pytest.raises(TargetError, match="may not hold") as refused:
        load(target, tmp_path, model, "another", [])
    assert "another target" in refused.value.hint
    assert content(target) == before
    load(target, tmp_path, first, "again", messages)
    assert content(target) == before


def named(**paths: Sequence[str]) -> TableShapes:
    """Return the tables over things of which each attribute has a path in each version, from the last on."""
    versions = max(map(len, paths.values()))
    columns = []
    for name, of in {"id": ["id"] * versions, **paths}.items():
        by_label = dict(zip(map(str, range(versions, 0, -1)), of, strict=False))
        columns.append(HistoryColumn(name, of[0], "integer" if name == "id" else "text", by_label))
    listed = tuple(Column(name=f"c_{number}", path=of[0], history=2) for number, of in enumerate(paths.values()))
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=listed),))
    return shapes(model, [EntityHistory("thing", ("id",), tuple(columns))], parse)


RENAMES = [
    ({"mood": ["mood"]}, {"temper": ["temper", "mood"]}),
    ({"a": ["a"], "b": ["b"]}, {"b": ["b", "a"], "a": ["a", "b"]}),
    ({"a": ["a"], "b": ["b"]}, {"new": ["new"], "b": ["b", "a"], "c": ["c", "b"]}),
    ({"a": ["a"]}, {"a": ["a"], "a_2": ["a_2", "a"]}),
]


@pytest.mark.parametrize(("first", "then"), RENAMES)
def test_an_attribute_keeps_its_values_under_another_name(
    new_target: NewTarget, tmp_path: Path, first: dict[str, list[str]], then: dict[str, list[str]]
) -> None:
    target, fresh, before = new_target(tmp_path), new_target(tmp_path), named(**first)
    names = {old: next(name for name, of in then.items() if of[-1] == old and len(of) > 1) for old in first}
    values = [{old: f"{old}-{number}" for old in first} for number in (1, 2)] + [{}]
    old = [thing(number, number, **of) for number, of in enumerate(values, 1)]
    new = [
        thing(number, number, **{names[name]: value for name, value in of.items()})
        for number, of in enumerate(values, 1)
    ]
    after = named(**then)
    # Columns are declared of attributes: the model is the one that it was.
    one = before.model.tables[0]
    assert isinstance(one, Dimension)
    model = msgspec.structs.replace(before.model, tables=(one,))
    paths = shapes(model, list(after.histories.values()), parse)
    load(target, tmp_path, before, "before", old)
    if first.keys() & then.keys():
        with pytest.raises(TargetError, match="Other attributes than before are called"):
            load(target, tmp_path, paths, "after", [])
        Loader(target, paths, OWNER).rebuild()
    again = {name: value for name, value in new[1].values.items() if name != "id"}
    more = [thing(5, 1, **{name: f"{name}-5" for name in then}), thing(2, 2, **again)]
    report = load(target, tmp_path, paths, "after", [*more, *new])
    assert (report.repeated, report.ambiguous_order) == (4, {})
    load(fresh, tmp_path, paths, "all", [*new, *more])
    columns = ", ".join(f"c_{number}" for number in range(len(first)))
    query = f"SELECT id, version_number, {columns} FROM thing WHERE thing_key > 0 ORDER BY 1, 2"
    assert target.rows(query) == fresh.rows(query)
    kept = f"SELECT row_key, order_key, absent, {', '.join(then)} FROM metl_history_thing ORDER BY 1, 2"
    assert target.rows(kept) == fresh.rows(kept)
    assert audit(target, paths, OWNER) == ()


def every(*names: str) -> TableShapes:
    """Return a dimension of all attributes."""
    columns = tuple(HistoryColumn(name, name, "integer" if name == "id" else "text") for name in ("id", *names))
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing"),))
    return shapes(model, [EntityHistory("thing", ("id",), columns)], parse)


def test_a_dimension_of_all_attributes_takes_one_that_is_new(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, every("mood"), "before", [thing(1, 1, mood="x"), thing(2, 2)])
    report = load(target, tmp_path, every("hue", "mood"), "after", [thing(3, 1, hue="red"), thing(2, 2)])
    assert report.repeated == 1
    assert target.rows("SELECT id, mood, hue FROM thing_current WHERE thing_key > 0 ORDER BY 1") == [
        (1, "x", "red"), (2, None, None),
    ]  # fmt: skip
    assert audit(target, every("hue", "mood"), OWNER) == ()


def test_a_state_of_before_an_attribute_says_nothing_of_it(new_target: NewTarget, tmp_path: Path) -> None:
    columns = (Column(name="mood", path="mood", history=2),)
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=columns),))
    later = every("hue", "mood").histories["thing"]
    earlier = msgspec.structs.replace(later, columns=(later.columns[0], later.columns[2]))
    now, then = shapes(model, [later], parse), shapes(model, [earlier], parse)
    target = new_target(tmp_path)
    load(target, tmp_path, now, "now", [thing(1, 1, hue="red", mood="x")])
    load(target, tmp_path, then, "then", [thing(2, 1, mood="y")])
    report = load(target, tmp_path, now, "now again", [thing(3, 1, mood="z"), thing(2, 1, mood="y")])
    assert (report.repeated, report.ambiguous_order) == (1, {})
    kept = "SELECT absent, hue FROM metl_history_thing ORDER BY order_key"
    assert target.rows(kept) == [([], "red"), (["hue"], None), (["hue"], None)]
    hued = Dimension(name="thing", entity="thing", columns=(*columns, Column(name="hue", path="hue", history=2)))
    coloured = shapes(msgspec.structs.replace(model, tables=(hued,)), [later], parse)
    Loader(target, coloured, OWNER).rebuild()
    assert target.rows("SELECT mood, hue FROM thing_current WHERE thing_key > 0") == [("z", "red")]
    assert audit(target, coloured, OWNER) == ()


def test_what_a_state_does_not_have_stays_absent_when_it_adds_another(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    of_none = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=()),))
    said = [(("hue", "mood"), {"mood": "x"}), (("mood",), {"mood": "y"}), (("mood", "size"), {"size": "z"})]
    for number, (names, values) in enumerate(said, 1):
        state = shapes(of_none, [every(*names).histories["thing"]], parse)
        load(target, tmp_path, state, f"state {number}", [thing(number, 1, **values)])
    kept = "SELECT absent FROM metl_history_thing ORDER BY order_key"
    assert [absent for (absent,) in target.rows(kept)] == [["hue", "size"], ["hue", "size"], ["hue", "mood"]]


def of_paths(**columns: dict[str, str]) -> TableShapes:
    """Return a dimension of all attributes, each with its path by label of a version."""
    listed = [HistoryColumn("id", "id", "integer", dict.fromkeys("123", "id"))]
    listed += [HistoryColumn(name, [*paths.values()][-1], "text", paths) for name, paths in columns.items()]
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing"),))
    return shapes(model, [EntityHistory("thing", ("id",), tuple(listed))], parse)


KEPT_THINGS = "SELECT row_key, absent, {} FROM metl_history_thing ORDER BY order_key"
A, B = {"1": "a"}, {"1": "b"}


def test_of_two_attributes_that_became_one_the_other_is_kept_beside(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, of_paths(a=A, b=B), "two", [thing(1, 1, a="x", b="y")])
    joined = of_paths(b={"1": "a", "2": "b"})
    Loader(target, joined, OWNER).rebuild()
    load(target, tmp_path, joined, "one", [thing(2, 1, b="z")])
    assert target.rows(KEPT_THINGS.format("b, b_2")) == [
        ('{"key":1}', [], "x", "y"), ('{"key":1}', ["b_2"], "z", None),
    ]  # fmt: skip
    assert audit(target, joined, OWNER) == ()
    apart = of_paths(a=A, b=B)
    Loader(target, apart, OWNER).rebuild()
    assert target.rows(KEPT_THINGS.format("a, b")) == [('{"key":1}', [], "x", "y"), ('{"key":1}', ["b"], "z", None)]


def test_one_attribute_that_became_two_keeps_its_values_in_that_of_its_name(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, of_paths(b={"1": "a", "2": "b"}), "one", [thing(1, 1, b="x")])
    two = of_paths(a=A, b={"2": "b"})
    Loader(target, two, OWNER).rebuild()
    load(target, tmp_path, two, "two", [thing(2, 1, a="p", b="q")])
    assert target.rows(KEPT_THINGS.format("a, b")) == [('{"key":1}', ["a"], None, "x"), ('{"key":1}', [], "p", "q")]
    assert audit(target, two, OWNER) == ()


def test_a_name_that_another_attribute_takes_is_asked_about(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, of_paths(a=A, b=B), "before", [thing(1, 1, a="x", b="y")])
    # What was a in the first version is b, and what is a now came with the second.
    after = of_paths(a={"2": "a"}, b=A, c=B)
    with pytest.raises(TargetError, match="Other attributes than before are called a of thing, b of thing") as refused:
        load(target, tmp_path, after, "after", [thing(2, 1)])
    assert "rebuild" in refused.value.hint
    Loader(target, after, OWNER).rebuild()
    assert target.rows(KEPT_THINGS.format("a, b, c")) == [('{"key":1}', ["a"], None, "x", "y")]


def test_a_path_that_meant_an_attribute_of_before_is_asked_about(new_target: NewTarget, tmp_path: Path) -> None:
    columns = (Column(name="feeling", path="mood", history=2),)
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=columns),))
    older, newer = {"1": "mood", "2": "temper"}, {"3": "mood"}
    before = shapes(model, [of_paths(temper=older).histories["thing"]], parse)
    after = shapes(model, [of_paths(mood=newer, temper=older).histories["thing"]], parse)
    target = new_target(tmp_path)
    load(target, tmp_path, before, "before", [thing(1, 1, temper="x")])
    with pytest.raises(TargetError, match="Other attributes than before are called mood of thing"):
        load(target, tmp_path, after, "after", [thing(2, 1, mood="y", temper="z")])
    Loader(target, after, OWNER).rebuild()
    load(target, tmp_path, after, "after", [thing(2, 1, mood="y", temper="z")])
    assert target.rows("SELECT feeling FROM thing WHERE thing_key > 0 ORDER BY version_number") == [(None,), ("y",)]
    assert audit(target, after, OWNER) == ()


def test_a_target_that_does_not_say_what_it_holds_keeps_what_a_state_has_not(
    new_target: NewTarget, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=()),))
    both, one = (shapes(model, [every(*names).histories["thing"]], parse) for names in (("hue", "mood"), ("mood",)))
    load(target, tmp_path, both, "both", [thing(1, 1, hue="red", mood="x")])
    target.run("DELETE FROM metl_target WHERE name = 'attributes of thing'")
    load(target, tmp_path, one, "one", [thing(2, 1, mood="y")])
    report = load(target, tmp_path, both, "again", [thing(1, 1, hue="red", mood="x"), thing(3, 1, hue="", mood="")])
    assert (report.repeated, report.ambiguous_order) == (1, {})
    kept = [([], "red", "x"), (["hue"], None, "y"), ([], "", "")]
    assert target.rows("SELECT absent, hue, mood FROM metl_history_thing ORDER BY order_key") == kept


def test_messages_are_not_made_one_by_a_state_that_lacks_what_they_carry(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    model = Model(name="things", tables=(Dimension(name="thing", entity="thing", columns=()),))
    both, one = (shapes(model, [every(*names).histories["thing"]], parse) for names in (("hue", "mood"), ("mood",)))
    load(target, tmp_path, both, "both", [thing(1, 1, hue="red", mood="x"), thing(2, 1, hue="red", mood="y")])
    with pytest.raises(TargetError, match="holds hue of thing, which this state of the project has not"):
        TargetInputs(target, one, OWNER).compact(at(90))
    assert TargetInputs(target, both, OWNER).compact(at(90)).purged == 1


def test_combinations_of_times_are_known_as_texts(new_target: NewTarget, tmp_path: Path) -> None:
    typed, texts = tables(why="timestamp"), tables(why="text")
    target, when = new_target(tmp_path), at(0).replace(tzinfo=None)
    load(target, tmp_path, typed, "typed", [], [use(1, 1, when)])
    keys = 'SELECT no, reasons_key FROM "use" ORDER BY no'
    before = target.rows(keys)
    load(target, tmp_path, texts, "texts", [], [use(2, 1, "2026-01-01 00:00:00.000000")])
    assert target.rows(keys) == [before[0], (2, before[0][1])]
    assert audit(target, texts, OWNER) == ()


@pytest.mark.parametrize("new_target", [pytest.param("postgresql", marks=SERVER)], indirect=True)
def test_texts_are_compared_by_their_bytes(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, TYPED, "typed", BEFORE)
    load(target, tmp_path, AS_TEXT, "as texts", [])
    collation = """SELECT DISTINCT collation_name FROM information_schema.columns
        WHERE table_name = ? AND table_schema = CURRENT_SCHEMA() AND column_name IN ('price', 'words')"""
    for table in ("metl_history_thing", "thing"):
        assert target.rows(collation, [table]) == [("C",)]


KINDS = {
    "bridges": test_bridges.tables_of(
        test_bridges.tags(weight="equal"), test_bridges.cast(), test_bridges.credits_of()
    ),
    "hierarchies": test_hierarchies.tables_of(test_hierarchies.unit_dimension(), visit_fact(references=())),
    "reversals": orders.tables_of(orders.order_fact(on_correction="reverse")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_are_found_to_be_what_they_are(new_target: NewTarget, tmp_path: Path, kind: str) -> None:
    made = KINDS[kind]
    target = new_target(tmp_path)
    load_parts(target, made, [], "first", OWNER)
    target.run("DELETE FROM metl_target WHERE name = 'tables'")
    load_parts(target, made, [], "another", OWNER)
    assert target.rows("SELECT COUNT(*) FROM metl_target WHERE name = 'tables'") == [(1,)]


def test_tables_that_would_have_other_columns_are_to_be_made_anew(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    history = EntityHistory("thing", ("id",), (
        HistoryColumn("id", "id", "integer", {"1": "id"}), HistoryColumn("mood", "mood", "text", {"1": "mood"}),
    ))  # fmt: skip
    of_all = Model(name="things", tables=(Dimension(name="thing", entity="thing"),))
    load(target, tmp_path, shapes(of_all, [history], parse), "before", [thing(1, 1, mood="x")])
    renamed = EntityHistory("thing", ("id",), (
        HistoryColumn("id", "id", "integer", {"1": "id", "2": "id"}),
        HistoryColumn("temper", "temper", "text", {"1": "mood", "2": "temper"}),
    ))  # fmt: skip
    after = shapes(of_all, [renamed], parse)
    with pytest.raises(TargetError, match="temper, mood") as refused:
        load(target, tmp_path, after, "after", [thing(2, 1, temper="y")])
    assert "rebuild" in refused.value.hint
    Loader(target, after, OWNER).rebuild()
    assert target.rows("SELECT temper FROM thing WHERE thing_key > 0") == [("x",)]
    load(target, tmp_path, after, "after", [thing(2, 1, temper="y")])
    assert audit(target, after, OWNER) == ()


@pytest.mark.parametrize("new_target", [pytest.param("postgresql", marks=SERVER)], indirect=True)
def test_a_view_that_stands_in_the_way_is_named(new_target: NewTarget, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    load(target, tmp_path, TYPED, "typed", BEFORE)
    target.run("CREATE VIEW dear AS SELECT id, price FROM thing WHERE price > 1")
    with pytest.raises(TargetError, match="dear"):
        load(target, tmp_path, AS_TEXT, "as texts", [])
    assert target.columns("thing")["price"] == "DECIMAL(38,2)"
    assert target.columns("metl_history_thing")["price"] == "DECIMAL(38,2)"
