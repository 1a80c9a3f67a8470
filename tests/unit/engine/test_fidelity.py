"""Values leave as the bytes they came in, whatever they are and whatever carries them, and a mapper by hand agrees."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.declarations import fingerprint
from metl_gui.core.trees.paths import escape
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import DEFAULT_PLACEHOLDER, Plan
from metl_gui.engine.kernel.reference import forms_of
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.formats.connect_schema import declare
from tests.helpers.by_hand import PLACEHOLDER, Message, Row, Told, Verdict, map_by_hand
from tests.helpers.carriers import CARRIERS, NAME, row_text, schema_of
from tests.helpers.json_texts import values
from tests.helpers.plans import FATES, map_all, plan_of, row

PATHS = ("id", "a", "b", "n.x", "n.y", "m.o.p", "m.o.q", "a_name_of_more_than_sixteen_bytes", "é")
TARGETS = ("i", "c.a", "c.b", "d.e.f", "d.e.g", "h", "ü")
TYPES = ("int32", "int64", "string")

texts = st.one_of(values, values, st.sampled_from([PLACEHOLDER, "null", '""', "0", "1e400", "-0.0"]))


def kernel_of(plan: Plan) -> Kernel:
    """Make a kernel that hands over to machine code, where there is a compiler, when it has seen a record once."""
    return Kernel(plan, choice="compiled", patience=0)


@st.composite
def versions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw one version as cases write it."""
    paths = draw(st.lists(st.sampled_from(PATHS), min_size=1, unique=True))
    required = draw(st.lists(st.sampled_from(paths), max_size=1))
    key = draw(st.one_of(st.none(), st.just([]), st.lists(st.sampled_from(paths), max_size=2, unique=True)))
    return {"paths": paths, "required": required, "key": key, "blocks": draw(st.lists(blocks(paths), max_size=3))}


@st.composite
def blocks(draw: st.DrawFn, paths: list[str]) -> dict[str, Any]:
    """Draw one block."""
    sources = draw(st.lists(st.sampled_from(paths), max_size=len(TARGETS), unique=True))
    targets = draw(st.permutations(TARGETS))
    entity = draw(st.sampled_from(["e", "f", "g"]))
    return {
        "entity": entity,
        "entity_version": "1",
        "targets": [list(pair) for pair in zip(sources, targets, strict=False)],
    }


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a schema whose versions all have a fingerprint of their own."""
    drawn = [
        version | {"label": str(number), "fingerprint": fingerprint(declare(_schema(version, number)))}
        for number, version in enumerate(draw(st.lists(versions(), min_size=1, max_size=3)))
    ]
    return {"name": NAME, "versions": drawn, "has_full_images": draw(st.booleans())}


def _schema(version: dict[str, Any], number: int) -> dict[str, Any]:
    return schema_of(tuple(version["paths"]), tuple(version["required"]), TYPES[number])


@st.composite
def changes(draw: st.DrawFn, schema: dict[str, Any], carrier: str) -> tuple[Told, str]:
    """Draw a change that most likely suits a version, and the schema that comes with it."""
    number = draw(st.integers(0, len(schema["versions"]) - 1))
    version = schema["versions"][number]
    op = draw(st.sampled_from("crud"))
    after: Row | None = draw(rows(version["paths"]))
    before = draw(st.one_of(st.none(), st.just(after), rows(version["paths"])))
    if op == "d":
        before, after = (after if carrier == "flattened" or draw(st.booleans()) else None), None
    elif carrier == "flattened":
        before = None
    key: Row | None = None
    if carrier != "bare" and draw(st.booleans()):
        named = [path for path in version["key"] or version["paths"] if "." not in path]
        key = {path: draw(texts) for path in draw(st.lists(st.sampled_from(named), unique=True))} if named else None
    text = json.dumps(_schema(version, number)) if draw(st.booleans()) else ""
    return Told(op, after, before, key, version["label"] if text else ""), text


@st.composite
def rows(draw: st.DrawFn, paths: list[str]) -> Row:
    """Draw a row: most of the columns, each with any value."""
    kept = draw(st.one_of(st.just(paths), st.lists(st.sampled_from(paths), unique=True)))
    return {path: draw(texts) for path in kept}


@given(st.sampled_from(sorted(CARRIERS)), st.data(), st.randoms(use_true_random=False))
def test_a_mapper_by_hand_agrees_on_fates_keys_operations_and_every_byte_of_every_value(
    carrier: str, data: st.DataObject, dice: Random
) -> None:
    schema = data.draw(schemas())
    told, text = data.draw(changes(schema, carrier))
    raw = CARRIERS[carrier](dice, told, text)
    verdict = map_by_hand(schema, told)
    kernel = kernel_of(plan_of({"schemas": [schema]}))
    for _ in range(3):
        outcome = map_all(kernel, [raw])
        assert [FATES[fate] for fate in outcome.fates] == [verdict.fate]
        assert [aside.reason for aside in outcome.set_aside] == ([verdict.reason] if verdict.reason else [])
        assert_sent(outcome, verdict)


def assert_sent(outcome: MappedBatch, verdict: Verdict) -> None:
    """Hold what was sent to what was worked out by hand."""
    assert len(outcome.messages()) == len(verdict.messages)
    filled: Counter[tuple[str, str, str]] = Counter()
    for entity, text, expected in zip(outcome.sent_to(), outcome.messages(), verdict.messages, strict=True):
        found = members(text)
        head = [json.loads(found[name]) for name in ("entity", "version", "state", "op")]
        assert head == [entity, expected.entity_version, 17, expected.op]
        assert entity == expected.entity
        assert json.loads(found["source"])["version"] == verdict.version
        assert_values(found, expected)
        filled.update(
            (entity, expected.entity_version, path) for path, value in expected.payload.items() if value != "null"
        )
    assert outcome.filled == filled


def assert_values(found: dict[str, bytes], expected: Message) -> None:
    """Hold key, payload and what is unchanged to the bytes that came in."""
    if expected.key is None:
        assert found["key"] == b"null"
    else:
        assert values_at(found["key"], expected.key) == {path: text.encode() for path, text in expected.key.items()}
    assert values_at(found["payload"], expected.payload) == {
        path: text.encode() for path, text in expected.payload.items()
    }
    assert frozenset(json.loads(found.get("unchanged", b"[]"))) == expected.unchanged


def members(text: bytes) -> dict[str, bytes]:
    """Read the members of an object, each with its bytes."""
    return {name: bytes(raw) for name, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()}


def values_at(text: bytes, paths: Row, prefix: str = "") -> dict[str, bytes]:
    """Read the bytes of all leaves, of which the paths are known."""
    found: dict[str, bytes] = {}
    for name, raw in members(text).items():
        path = prefix + (name if name.startswith("@") else escape(name))
        found |= {path: raw} if path in paths else values_at(raw, paths, path + ".")
    return found


ONE: dict[str, Any] = {
    "name": NAME,
    "versions": [
        {
            "label": "1",
            "paths": ["id", "a"],
            "key": ["id"],
            "fingerprint": fingerprint(declare(schema_of(("id", "a"), (), "int32"))),
            "blocks": [{"entity": "e", "entity_version": "1", "targets": [["id", "i"], ["a", "x.a"]]}],
        }
    ],
}
SCHEMA = json.dumps(schema_of(("id", "a"), (), "int32"))

UNUSUAL = [
    "1234567890123456789012345678901234567",
    "12345678901234567890123456789.01234567",
    "0.0000000000000000000000000000000000001",
    "-0.0",
    "-0",
    "1.50",
    "1e400",
    "-1E-400",
    "18446744073709551616",
    '"NaN"',
    '"-Infinity"',
    '"\\ud83d\\ude00"',
    '"\\u00e9\\/\\u0000"',
    '"\\uD83D\\uDE00é😀"',
    '{"a":1,"a":2,"\\u0061":3}',
    '[ { "k" :\t[ ] } , null ]',
    '"\u2028\u2029\x7f\ufeff"',
    '"' + "x" * 100_000 + '"',
]


@pytest.mark.parametrize("has_schema", [False, True], ids=["bare value", "with schema"])
@pytest.mark.parametrize("carrier", sorted(CARRIERS))
def test_unusual_values_leave_as_they_came_in(carrier: str, has_schema: bool) -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    for number, text in enumerate(UNUSUAL * 2):
        raw = CARRIERS[carrier](Random(number), Told("c", {"id": "1", "a": text}), SCHEMA if has_schema else "")
        outcome = map_all(kernel, [raw])
        payload = members(members(outcome.messages()[0])["payload"])
        assert members(payload["x"])["a"].decode() == text


REFUSED = [
    *("NaN", "Infinity", "-Infinity", "01", "-01", "1.", ".5", "+1", "1e", "0x1", "1_0", "nul", "True", "'a'", "[1,]"),
    *('"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"', '"\\ud800\\n"', '"\\x"', '"\\u00g0"', '"\t"', '"\x00"', '"a'),
    *(
        '{"a":1,}',
        "{a:1}",
        "[1 2]",
        "\ufeff1",
        "1\x00",
        "\x0c1",
        '{"\\ud800":1}',
        '["\\udfff"]',
        '{"a":{"b":"\\udc00"}}',
    ),
]


@pytest.mark.parametrize("carrier", ["bare", "wrapped"])
def test_text_that_is_not_accepted_is_malformed_in_every_place_and_never_sent(carrier: str) -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    for number, text in enumerate(REFUSED * 2):
        for told in (Told("c", {"id": "1", "a": text}), Told("u", {"id": "1"}, {"id": "1", "a": text})):
            outcome = map_all(kernel, [CARRIERS[carrier](Random(number), told, "")])
            assert [aside.reason for aside in outcome.set_aside] == ["malformed"], text
            assert row(outcome)["raw"]


@pytest.mark.parametrize("broken", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"])
def test_bytes_that_are_not_strict_utf8_are_malformed_wherever_they_stand(broken: bytes) -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    good = (
        b'{"topic":"srv.public.t","value":{"before":null,"after":{"id":1,"a":"@"},"source":{"x":"@"},"op":"c"},"@":"@"}'
    )
    assert map_all(kernel, [good] * 3).fates.tolist() == [RecordOutcome.MAPPED] * 3
    pieces = good.split(b"@")
    for at in range(1, len(pieces)):
        raw = b"@".join(pieces[:at]) + broken + b"@".join(pieces[at:])
        assert [aside.reason for aside in map_all(kernel, [raw]).set_aside] == ["malformed"]


ROOMS = {
    "envelope": '{"op":"c","after":{"id":1,"a":2},"source":{"name":"srv","schema":"public","table":"t"},%s}',
    "source": '{"op":"c","after":{"id":1,"a":2},"source":{"name":"srv","schema":"public","table":"t",%s}}',
    "row": '{"op":"c","source":{"name":"srv","schema":"public","table":"t"},"after":{"id":1,%s}}',
    "old row": '{"op":"u","after":{"id":1},"source":{"name":"srv","schema":"public","table":"t"},"before":{"id":1,%s}}',
    "wrapper": '{"value":{"op":"c","after":{"id":1}},"topic":"srv.public.t",%s}',
}


@pytest.mark.parametrize("room", sorted(ROOMS))
@pytest.mark.parametrize("other", ['"a":1', '"a":2', '"\\u0061":2', '"a" : null'])
def test_a_name_that_is_there_twice_is_malformed_in_envelope_source_row_and_wrapper(room: str, other: str) -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    twice = ROOMS[room] % f'"a":1,{other}'
    outcome = map_all(kernel, [twice.encode()] * 3)
    assert {aside.reason for aside in outcome.set_aside} == {"malformed"}
    assert map_all(kernel, [(ROOMS[room] % '"a":1').encode()]).fates.tolist() == [RecordOutcome.MAPPED]


@pytest.mark.parametrize(("carrier", "above"), [("bare", 2), ("wrapped text", 2), ("wrapped", 3), ("with schema", 3)])
def test_nesting_of_64_levels_is_sent_and_of_65_is_malformed(carrier: str, above: int) -> None:
    source = '"source":{"name":"srv","schema":"public","table":"t"}'
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    for opening, closing in (("[", "]"), ('{"k":', "}"), ('[{"[":[', "]}]")):
        each = opening.count("[") + opening.count("{") - opening.count('"[')
        for levels in (63, 64, 65):
            count = (levels - above) // each
            plain = levels - above - count * each
            text = "[" * plain + opening * count + '"x"' + closing * count + "]" * plain
            value = f'{{"op":"c",{source},"after":{{"id":1,"a":{text}}}}}'
            if carrier == "with schema":
                value = f'{{"schema":{SCHEMA},"payload":{value}}}'
            elif carrier != "bare":
                value = f'{{"value":{value if carrier == "wrapped" else json.dumps(value)}}}'
            outcome = map_all(kernel, [value.encode()] * 2)
            assert [aside.reason for aside in outcome.set_aside] == ["malformed"] * (2 if levels == 65 else 0), levels
            for message in outcome.messages():
                assert f'"a":{text}'.encode() in message


@pytest.mark.parametrize("form", sorted(forms_of(DEFAULT_PLACEHOLDER)))
@pytest.mark.parametrize("op", ["c", "r", "u"])
def test_every_shape_of_a_placeholder_is_unchanged_and_never_a_value(form: bytes, op: str) -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    for number, carrier in enumerate(sorted(CARRIERS) * 2):
        raw = CARRIERS[carrier](Random(number), Told(op, {"id": "1", "a": form.decode()}), "")
        message = json.loads(map_all(kernel, [raw]).messages()[0])
        assert message["unchanged"] == ["x.a"]
        assert message["payload"] == {"i": 1}


def test_a_row_may_be_written_in_any_order_and_with_any_space() -> None:
    kernel = kernel_of(plan_of({"schemas": [ONE]}))
    told = Told("u", {"id": "1", "a": "[1, 2]"}, {"id": "1", "a": "0"}, {"id": "1"})
    raws = [CARRIERS["wrapped"](Random(number), told, "") for number in range(200)]
    texts_sent = {
        text.split(b'"position"')[0] + text.split(b'"payload"')[1] for text in map_all(kernel, raws).messages()
    }
    assert len(set(raws)) > 100
    assert len(texts_sent) == 1
    assert row_text(Random(1), None) == "null"


def test_what_is_said_of_a_hostile_record_is_short_and_the_record_is_kept_whole() -> None:
    names = ",".join(f'"{"n" * 50}{number}":1' for number in range(10_000))
    raw = f'{{"topic":"{NAME}","value":{{"op":"c","after":{{{names}}}}}}}'.encode()
    written = row(map_all(kernel_of(plan_of({"schemas": [ONE]})), [raw]))
    assert written["reason"] == "unknown_version"
    assert len(written["detail"]) < 2100
    assert written["raw"].encode() == raw
