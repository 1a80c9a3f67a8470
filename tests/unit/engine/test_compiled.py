"""The compiled kernel: what it takes, what it leaves, and that it never says anything else than the reference."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.paths import escape
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.compiled import driver as driving
from metl_gui.engine.kernel.compiled import tables as tables_module
from metl_gui.engine.kernel.compiled.layout import STEADY
from metl_gui.engine.kernel.compiled.tables import Tables
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping import kernel as kernel_module
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.formats.json_text import accept
from tests.fuzz.differences import differences
from tests.fuzz.values import respelled
from tests.helpers.plans import map_all, plan_of


def plan(tables: int = 1, **settings: Any) -> Plan:
    """Make schemas ``srv.pub.t0`` and on, with a row of two columns and one nested in a struct."""
    blocks = [
        {"entity": "one", "entity_version": "1", "targets": [["id", "no"], ["who.name", "person.name"]]},
        {"entity": "two", "entity_version": "7", "targets": [["sum", "sum"]], "is_unreviewed": True},
    ]
    version = {"label": "1", "paths": ["id", "sum", "who.name", "who.age"], "key": ["id"], "blocks": blocks}
    return plan_of({"schemas": [{"name": f"srv.pub.t{n}", "versions": [version], **settings} for n in range(tables)]})


def envelope(row: object, op: str = "c", table: int = 0, before: object = None, **more: Any) -> bytes:
    """Write a change as Debezium does."""
    source = {"name": "srv", "schema": "pub", "table": f"t{table}", "lsn": 7, "ts_ms": 5}
    return json.dumps({"before": before, "after": row, "source": source, "op": op, "ts_ms": 9, **more}).encode()


ROW = {"id": 1, "sum": 2.50, "who": {"name": "é", "age": None}}


def both(plan: Plan, raws: list[bytes]) -> tuple[MappedBatch, MappedBatch]:
    """Map twice by machine code, as it may learn the first time, and by the reference."""
    kernel = Kernel(plan, choice="compiled", patience=0)
    map_all(kernel, raws)
    return map_all(kernel, raws), map_all(Kernel(plan, choice="reference"), raws)


def assert_same(ours: MappedBatch, theirs: MappedBatch) -> None:
    assert ours.messages() == theirs.messages()
    assert ours.fates.tolist() == theirs.fates.tolist()
    assert ours.set_aside == theirs.set_aside
    assert ours.counts() == theirs.counts()


@pytest.mark.parametrize(
    "raw",
    [
        envelope(ROW),
        envelope({"id": 1, "sum": None, "who": None}, "r"),
        envelope({"id": None, "sum": None, "who": {}}, "c"),
        envelope({"who": {"age": 1, "name": "x"}, "id": 1, "sum": 1}, "u", before={"id": 1, "sum": 9, "who": None}),
        envelope(ROW, "u", before=ROW | {"id": 2}),
        envelope(None, "d", before=ROW),
        envelope(None, "t"),
        envelope(ROW, "t", ts_ms=None),
        json.dumps({"topic": "srv.pub.t0", "value": ROW | {"__op": "t", "__ts_ms": 4}}).encode(),
        envelope({"id": 1, "unknown": 2}),
        envelope(ROW, transaction={"id": "1", "total_order": 3, "data_collection_order": 1}),
        envelope(ROW | {"sum": "__debezium_unavailable_value"}),
        json.dumps({"topic": "srv.pub.t0", "value": json.loads(envelope(ROW)), "partition": 0, "offset": 5}).encode(),
        json.dumps({"topic": "srv.pub.t0", "value": envelope(ROW).decode(), "offset": "x", "timestamp": 3}).encode(),
        json.dumps({"topic": "srv.pub.t0", "key": '{"id":4}', "value": envelope(None, "d").decode()}).encode(),
        json.dumps({"topic": "srv.pub.t0", "value": None, "headers": {"__value_schema_id": "1"}}).encode(),
        json.dumps({"topic": "srv.pub.t0", "value": ROW | {"__op": "u", "__deleted": "false", "__ts_ms": 4}}).encode(),
        json.dumps({"topic": "srv.pub.t0", "value": ROW | {"__deleted": "true"}}, indent=2).encode(),
        b'{"ts_ms":1}',
        b"null",
        b"[1]",
    ],
)
def test_a_record_of_any_kind_becomes_what_the_reference_makes_of_it(raw: bytes) -> None:
    assert_same(*both(plan(), [raw] * 3))


@pytest.mark.parametrize("op", ["c", "r"])
def test_rows_without_values_are_sent_where_nothing_is_filtered(op: str) -> None:
    written = json.loads(plans.encode(plan()))
    written["schemas"][0]["versions"][0]["blocks"][1]["is_unfiltered"] = True
    nulls = [{"id": None, "sum": None, "who": None}, {"id": 1, "sum": None, "who": None}, ROW, {"id": None}]
    ours, theirs = both(plan_of(written), [envelope(row, op) for row in nulls])
    assert_same(ours, theirs)
    assert ours.sent_to() == ["two", "one", "two", "one", "two", "two"]
    assert (ours.counts()["mapped"], ours.counts()["filtered"]) == (4, 0)
    assert ours.hits >= 3


def test_what_was_taught_is_mapped_by_machine_code() -> None:
    ours, _ = both(plan(), [envelope(ROW, op) for op in "cru"] + [envelope(None, op, before=ROW) for op in "dt"])
    assert ours.hits == 5


def shuffled(dice: random.Random, value: object) -> object:
    """Put the members of all objects in another order."""
    if not isinstance(value, dict):
        return value
    return {name: shuffled(dice, value[name]) for name in dice.sample(list(value), len(value))}


def compact(text: bytes) -> bytes:
    """Write without the space behind which no name is guessed."""
    return json.dumps(json.loads(text), separators=(",", ":")).encode()


def loaded(kernel: Kernel) -> Tables:
    driver = kernel._machine.loaded
    assert driver is not None
    return driver.tables


def test_members_in_any_order_are_mapped_by_machine_code() -> None:
    dice, fast, slow = random.Random(1), Kernel(plan(), choice="compiled"), Kernel(plan(), choice="reference")
    rows = [ROW, ROW | {"sum": "__debezium_unavailable_value"}, {"id": 1, "sum": None, "who": None}]
    changes = [json.loads(envelope(row, op, before=ROW)) for op in "crud" for row in rows]
    hits = []
    for _ in range(8):
        values = [shuffled(dice, change) for change in changes for _ in range(20)]
        carriers = [
            value if number % 3 else {"topic": "srv.pub.t0", "value": value} for number, value in enumerate(values)
        ]
        raws = [json.dumps(shuffled(dice, carrier)).encode() for carrier in carriers]
        ours, theirs = map_all(fast, raws), map_all(slow, raws)
        assert_same(ours, theirs)
        hits.append(ours.hits)
    assert hits[-1] == 20 * len(changes)
    assert len(loaded(fast).shapes.hashes) < 10


def inferred() -> Plan:
    """Make the same schema with a version that no schema in a message names."""
    written = json.loads(plans.encode(plan()))
    written["schemas"][0]["versions"][0]["is_inferred"] = True
    return plan_of(written)


def cloud_event(
    row: object, op: str = "c", before: object = None, schema: object = None, **more: Any
) -> dict[str, Any]:
    """Make a change as a CloudEvent; ``None`` takes a member away."""
    data: object = {"before": before, "after": row}
    if schema is not None:
        data = {"schema": schema, "payload": data}
    place = {"iodebeziumname": "srv", "iodebeziumschema": "pub", "iodebeziumtable": "t0"}
    event: dict[str, Any] = {
        "id": "1",
        "specversion": "1.0",
        "type": "io.debezium",
        "source": "/debezium",
        "iodebeziumop": op,
        **place,
    }
    event |= {
        "iodebeziumtsms": "1795216978094",
        "iodebeziumsnapshot": "false",
        "iodebeziumlsn": "7",
        "data": data,
        **more,
    }
    return {name: value for name, value in event.items() if value is not None}


HALF = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": []}], "name": "srv.pub.t0.Envelope"}


@pytest.mark.parametrize("schema", [None, HALF])
@pytest.mark.parametrize(
    "event",
    [
        *[
            partial(cloud_event, ROW, op, iodebeziumsnapshot=said)
            for op, said in (("c", "true"), ("r", "last"), ("u", None))
        ],
        partial(cloud_event, ROW, "u", ROW | {"id": 2}),
        partial(cloud_event, ROW, "u", ROW),
        partial(cloud_event, None, "d", ROW),
        partial(cloud_event, None, "t"),
        partial(cloud_event, ROW, "m"),
        partial(cloud_event, ROW | {"sum": "__debezium_unavailable_value"}),
        partial(cloud_event, ROW, iodebeziumord="3", iodebeziumtxtotalorder="2"),
        partial(cloud_event, ROW, iodebeziumtsms=None),
        partial(cloud_event, ROW, iodebeziumtsms=5),
        partial(cloud_event, ROW, iodebeziumtsms="0"),
    ],
)
def test_cloud_events_are_mapped_by_machine_code(event: Callable[..., dict[str, Any]], schema: object) -> None:
    made, dice = event(schema=schema), random.Random(3)
    carrier = {"topic": "srv.pub.t0", "partition": 0, "offset": 5, "timestamp": 77, "key": '{"id":4}'}
    carried = [
        carrier | {"value": made},
        carrier | {"value": json.dumps(made)},
        carrier | {"value": shuffled(dice, made)},
    ]
    raws = [json.dumps(value).encode() for value in (made, shuffled(dice, made), *carried)]
    ours, theirs = both(inferred(), raws * 2)
    assert not differences(ours, theirs)
    assert not ours.set_aside
    assert ours.hits == len(raws) * 2


@pytest.mark.parametrize("time", ["00", "06", "-1", "1.5", "x", "", "1" * 17, [1], {}, True, 1.5, "12 "])
def test_a_time_of_a_cloud_event_that_is_rare_is_read_by_the_reference(time: object) -> None:
    raws = [json.dumps(cloud_event(ROW, iodebeziumtsms=one)).encode() for one in ("5", time, "5")]
    ours, theirs = both(plan(), raws)
    assert not differences(ours, theirs)
    assert ours.hits == 2


def test_cloud_events_whose_data_is_anything_else_become_what_the_reference_makes_of_them() -> None:
    bare = {"schema": HALF, "payload": None}
    datas: list[object] = [
        {},
        "AAAA",
        1,
        [],
        {"after": 1},
        bare,
        bare | {"payload": 1},
        bare | {"payload": {"before": ROW}},
    ]
    halves: list[object] = [None, {}, 1]
    datas += [{"schema": half, "payload": {"before": ROW}} for half in halves]
    events = [cloud_event(ROW, op, data=data) for data in datas for op in "cd"]
    events += [cloud_event(ROW, op, data=None) for op in "ud"]
    events += [{"schema": HALF, "payload": one} for one in (cloud_event(ROW), cloud_event(ROW, schema=HALF))]
    events += [cloud_event(ROW, data=None, data_base64="AAAA"), cloud_event(None, "d", ROW) | {"op": "c", "after": {}}]
    values = [{"topic": "srv.pub.t0", "key": {"id": 1}, "value": event} for event in events]
    aside = [{"topic": "srv.pub.t0", "data": {"before": ROW}, "value": event} for event in events]
    for known in (plan(), inferred()):
        ours, theirs = both(known, [json.dumps(one).encode() for one in (*events, *values, *aside, *events)])
        assert not differences(ours, theirs)


def test_a_schema_around_a_cloud_event_and_one_within_it_are_told_apart() -> None:
    topic = {"topic": "srv.pub.t0"}
    events = [partial(cloud_event, ROW, iodebeziumlsn=str(number)) for number in range(4)]
    around = [topic | {"value": {"schema": HALF, "payload": event()}} for event in events[:2]]
    within = [topic | {"value": event(schema=HALF)} for event in events[2:]]
    for order in (around + within, within + around):
        ours, theirs = both(inferred(), [json.dumps(one).encode() for one in order])
        assert not differences(ours, theirs)
        assert ours.hits == 4


def test_another_order_that_stays_is_learned_and_then_guessed() -> None:
    dice, kernel = random.Random(2), Kernel(plan(), choice="compiled", patience=0)
    first, other = (json.dumps(shuffled(dice, json.loads(envelope(ROW)))).encode() for _ in range(2))
    map_all(kernel, [first] * 3)
    before = len(loaded(kernel).shapes.hashes)
    map_all(kernel, [other] * (STEADY - 1))
    assert len(loaded(kernel).shapes.hashes) == before
    ours = map_all(kernel, [other] * 20)
    assert len(loaded(kernel).shapes.hashes) > before
    assert ours.hits == 20
    assert_same(ours, map_all(Kernel(plan(), choice="reference"), [other] * 20))


def test_a_message_key_that_alone_names_the_columns_gives_their_order() -> None:
    version = {"label": "1", "paths": ["id", "sum"], "blocks": [{"entity": "e", "entity_version": "1", "targets": []}]}
    version["blocks"] = [{"entity": "e", "entity_version": "1", "targets": [["id", "no"], ["sum", "sum"]]}]
    keys = [{"id": 1, "sum": 2}, {"sum": 2, "id": 1}] * 10
    value = json.loads(envelope({"id": 1, "sum": 2}))
    raws = [json.dumps({"topic": "srv.pub.t0", "key": json.dumps(key), "value": value}).encode() for key in keys]
    ours, theirs = both(plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]}), raws)
    assert_same(ours, theirs)
    assert (ours.hits, len(set(ours.messages()))) == (len(raws), len(raws))
    assert b'"key":{"sum":2,"no":1}' in ours.message(1)


NAMES = ("é", "naïve_name_that_is_long", 'q"', "a\\", "tab\t", "😀", "plain", "a_name_of_sixteen", "", "/")


@pytest.mark.parametrize("names", [NAMES, *[(name,) for name in NAMES]])
def test_names_with_escapes_are_mapped_by_machine_code(names: tuple[str, ...]) -> None:
    paths = [escape(name) for name in names]
    blocks = [{"entity": "e", "entity_version": "1", "targets": [[path, f"c{at}"] for at, path in enumerate(paths)]}]
    version = {"label": "1", "paths": paths, "key": paths[:1], "blocks": blocks}
    world = plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]})
    fast, slow, dice = Kernel(world, choice="compiled", patience=0), Kernel(world, choice="reference"), random.Random(4)
    text = compact(envelope({name: number for number, name in enumerate(names)})).decode()
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    carried = json.dumps({"topic": "srv.pub.t0", "value": text})
    missed = []
    for _ in range(3):
        raws = [text, plain, carried, *(respelled(dice, carried) for _ in range(50))]
        encoded = [raw.encode() for raw in raws]
        ours, theirs = map_all(fast, encoded), map_all(slow, encoded)
        assert_same(ours, theirs)
        assert set(ours.fates.tolist()) == {RecordOutcome.MAPPED}
        missed.append(len(raws) - ours.hits)
    assert missed[-1] == 0


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("é", "é"), ("é", "\\u00e9"), ("éé", "\\u00E9\\u00e9"), ('q"', '\\u0071\\"'), ("a\\", "a\\\\")],
)
def test_names_are_guessed_as_they_are_spelled_whatever_values_look_like(name: str, spelled: str) -> None:
    version = {"label": "1", "paths": [escape(name), "b"], "key": ["b"], "blocks": []}
    world = plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]})
    kernel = Kernel(world, choice="compiled", patience=0)
    others = [json.dumps(name), json.dumps(name, ensure_ascii=False)]
    text = compact(envelope({"NAME": 1, "b": "VALUE"})).decode()
    raw = text.replace("NAME", spelled).replace('"VALUE"', f"[{','.join(others)}]").encode()
    map_all(kernel, [raw] * 2)
    learned = bytes(loaded(kernel).blob.column)
    assert f'"{spelled}":"b":'.encode() in learned


def test_a_name_is_never_guessed_as_the_text_that_it_stands_for() -> None:
    """A name that ends in a backslash would, without its escape, hide its closing quote."""
    blocks = [{"entity": "e", "entity_version": "1", "targets": [["b", "b"]]}]
    version = {"label": "1", "paths": [escape("a\\"), "b"], "key": ["b"], "blocks": blocks}
    good = compact(envelope({"a\\": 1, "b": 2}))
    bare, lone = good.replace(b'"a\\\\"', b'"a\\"'), good.replace(b'"a\\\\"', b'"a\\ud800"')
    assert len({good, bare, lone}) == 3
    ours, theirs = both(plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]}), [good, bare, lone] * 3)
    assert_same(ours, theirs)
    assert (ours.hits, [aside.reason for aside in ours.set_aside]) == (3, ["malformed"] * 6)


@pytest.mark.parametrize("op", ["c", "r", "u", "d", "key change"])
def test_rows_with_values_that_are_unavailable_are_mapped_by_machine_code(op: str) -> None:
    form = "__debezium_unavailable_value"
    rows = [ROW, ROW | {"sum": form}, ROW | {"who": {"name": form}}, ROW | {"sum": form, "who": {"name": form}}]
    rows += [{"id": 1, "sum": form, "who": None}, ROW | {"sum": [form]}, ROW | {"sum": {form: form}}]
    changed = ROW | {"id": 2}
    raws = [
        envelope(None, "d", before=row)
        if op == "d"
        else envelope(row, "u", before=changed)
        if op == "key change"
        else envelope(row, op)
        for row in rows
    ]
    for settings in ({}, {"has_full_images": True}):
        ours, theirs = both(plan(**settings), raws)
        assert not differences(ours, theirs)
        # Objects within the old row are not looked into.
        assert ours.hits == (0 if settings and op == "key change" else len(raws))


def test_an_old_row_that_is_given_whole_is_read_as_it_is_whatever_was_learned_before() -> None:
    raws = [envelope(ROW, "u", before={"id": 2, "sum": 1, "who": who}) for who in (None, None, None, {"name": "x"})]
    ours, theirs = both(plan(has_full_images=True), raws)
    assert_same(ours, theirs)


def test_an_object_that_is_looked_into_and_mapped_whole_is_copied_by_machine_code() -> None:
    targets = [["id", "no"], ["who", "person"], ["who.name", "name"]]
    blocks = [{"entity": "one", "entity_version": "1", "targets": targets}]
    version = {"label": "1", "paths": ["id", "who", "who.name"], "key": ["id"], "blocks": blocks}
    raws = [envelope({"id": 1, "who": who}) for who in ({"name": "é"}, {"name": [1, {"a": 2}]}, {}, None, 5)]
    ours, theirs = both(plan_of({"schemas": [{"name": "srv.pub.t0", "versions": [version]}]}), raws)
    assert_same(ours, theirs)
    assert ours.hits >= 3


def test_an_object_with_a_name_twice_is_set_aside_although_its_names_add_up_to_those_of_another() -> None:
    good = b'{"after":{"id":1,"sum":2},"op":"c","source":{"name":"srv","schema":"pub","table":"t0"}}'
    bad = [good.replace(b'"sum"', b'"id"'), good.replace(b'"op"', b'"after"'), good.replace(b'"table"', b'"name"')]
    ours, theirs = both(plan(), [good, *bad, good])
    assert_same(ours, theirs)
    assert ours.fates.tolist() == [RecordOutcome.MAPPED, *[RecordOutcome.SET_ASIDE] * 3, RecordOutcome.MAPPED]


texts = st.one_of(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
        max_leaves=8,
    ).map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.binary(max_size=24),
    st.sampled_from(
        [b"1e5", b"-0", b"01", b"1.", b"\\u0041", b'"\\ud83d\\ude00"', b'"\\ud800"', b'"\\uDC00x"', b"tru"]
    ),
)

TAUGHT = Kernel(plan(), choice="compiled", patience=0)
map_all(TAUGHT, [envelope(ROW)] * 2)
_MOULD = envelope(ROW | {"sum": "MARK"})


@given(texts)
def test_machine_code_takes_no_value_that_is_no_accepted_text(text: bytes) -> None:
    raw = _MOULD.replace(b'"MARK"', text)
    outcome = map_all(TAUGHT, [raw])
    if outcome.hits:
        accept(raw)
    assert_same(outcome, map_all(Kernel(plan(), choice="reference"), [raw]))


@pytest.mark.parametrize("depth", [61, 62, 63, 64, 65, 200])
@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_beyond_the_limit_is_left_to_the_reference(depth: int, brackets: tuple[bytes, bytes]) -> None:
    raw = _MOULD.replace(b'"MARK"', brackets[0] * depth + b"1" + brackets[1] * depth)
    assert_same(*both(plan(), [raw]))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 63, 64, 65, 500])
def test_strings_of_any_length_and_place_in_the_buffer_are_copied_whole(count: int) -> None:
    raws = [envelope(ROW | {"sum": "x" * (count + shift)}) for shift in range(16)]
    ours, theirs = both(plan(), raws)
    assert_same(ours, theirs)
    assert ours.hits == len(raws)


def test_records_at_the_very_end_of_their_buffer_are_mapped_from_a_copy() -> None:
    kernel, raw = Kernel(plan(), choice="compiled", patience=0), envelope(ROW)
    for records in (Records.of([raw], "f"), Records.of([raw] * 2, "f"), Records.of([raw, b"{}", raw], "f")):
        map_all(kernel, list(records))
        assert kernel.map(records).messages().count(map_all(kernel, [raw]).message(0)) >= 1


def test_room_for_output_grows_in_the_middle_of_a_batch() -> None:
    wide = plan_of(
        {
            "schemas": [
                {
                    "name": "srv.pub.t0",
                    "versions": [
                        {
                            "label": "1",
                            "paths": ["id"],
                            "key": ["id"],
                            "blocks": [
                                {"entity": f"e{n}" * 50, "entity_version": "1", "targets": [["id", "i"]]}
                                for n in range(40)
                            ],
                        }
                    ],
                }
            ]
        }
    )
    ours, theirs = both(wide, [envelope({"id": n}) for n in range(300)])
    assert_same(ours, theirs)
    assert len(ours) == 12_000


def test_more_kinds_of_records_than_there_is_room_for_are_dropped_and_learned_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables_module, "MOST_NUMBERED", 20)
    many = plan(30)
    fast = Kernel(many, choice="compiled", patience=0)
    slow = Kernel(many, choice="reference")
    for start in (0, 10, 20, 0):
        raws = [envelope(ROW, table=start + n % 10) for n in range(40)]
        assert_same(map_all(fast, raws), map_all(slow, raws))
    assert fast.evictions > 0


def test_learning_is_rationed_when_every_record_is_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driving, "FIRST_CREDIT", 3.0)
    fast, slow = Kernel(plan(), choice="compiled", patience=0), Kernel(plan(), choice="reference")
    raws = [envelope({"id": 1, f"x{n}": 1}) for n in range(100)]
    assert_same(map_all(fast, raws), map_all(slow, raws))
    assert fast.column_sets < 20


def test_a_program_that_disagrees_with_the_reference_is_never_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(plan(), choice="compiled", patience=0)
    real = Tables.fixed
    monkeypatch.setattr(Tables, "fixed", lambda tables, text: real(tables, text.replace(b'"payload"', b'"payLoad"')))
    raws = [envelope(ROW)] * 5
    ours = map_all(kernel, raws)
    assert ours.hits == 0
    assert_same(ours, map_all(Kernel(plan(), choice="reference"), raws))


def test_records_of_many_files_keep_the_places_that_each_has() -> None:
    raws = [envelope(ROW)] * 6
    names = ["a", "a", 'b"\\', "c", "c", "a"]
    records = Records.of(raws, "x", range(0, 600, 100), names)
    fast, slow = Kernel(plan(), choice="compiled", patience=0), Kernel(plan(), choice="reference")
    fast.map(records)
    assert_same(fast.map(records), slow.map(records))


def test_records_of_which_only_the_beginning_is_there_stand_between_others() -> None:
    raws = [envelope(ROW), b'{"after"', envelope(ROW)]
    records = Records.of(raws, "x", sizes=[len(raws[0]), 500, len(raws[2])])
    fast, slow = Kernel(plan(), choice="compiled", patience=0), Kernel(plan(), choice="reference")
    fast.map(records)
    assert_same(fast.map(records), slow.map(records))


def test_schema_halves_are_told_apart_wherever_they_differ() -> None:
    dice = random.Random(3)
    raws = []
    for _ in range(60):
        names = dice.sample(["id", "sum", "other", "more", "a_rather_long_name_of_a_column"], dice.randrange(1, 6))
        schema = {"type": "struct", "fields": [{"field": name, "type": "int32"} for name in names]}
        raws.append(b'{"schema":%b,"payload":%b}' % (json.dumps(schema).encode(), envelope(ROW)))
    ours, theirs = both(plan(is_inferred=True), raws * 2)
    assert_same(ours, theirs)


def test_without_machine_code_the_reference_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "WORTH_RECORDS", 0)
    monkeypatch.setattr(build, "is_ready", lambda: False)
    kernel = Kernel(plan())
    assert map_all(kernel, [envelope(ROW)]).hits == 0
    assert not kernel.is_compiled


def test_without_numba_even_who_wants_machine_code_gets_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "is_possible", lambda: False)
    kernel = Kernel(plan(), choice="compiled")
    assert map_all(kernel, [envelope(ROW)]).fates.tolist() == [RecordOutcome.MAPPED]
    assert not kernel.is_compiled
    assert "numba" in build.why_not()


def test_machine_code_is_not_loaded_for_a_few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "is_ready", lambda: pytest.fail("it was looked for"))
    assert map_all(Kernel(plan()), [envelope(ROW)] * 10).hits == 0
