"""Avro bytes as JSON text: what fastavro wrote, as Debezium's converter writes it, and hostile bytes bounded."""

from __future__ import annotations

import io
import json
import math
import struct
import tracemalloc
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.engine.kernel.avro_values import AvroReader, java_text
from metl_gui.errors import RecordError
from metl_gui.formats.avro_container import written_long
from metl_gui.formats.avro_types import read_avro

UNBOUNDED = {"type": "record", "name": "node", "fields": [{"name": "next", "type": ["null", "node"]}]}


def encoded(schema: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def text(schema: Any, value: Any) -> str:
    return AvroReader(read_avro(schema)).read(encoded(schema, value)).decode()


def refusal(schema: Any, body: bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        AvroReader(read_avro(schema)).read(body)
    return caught.value


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
FIXED_DECIMAL = {"type": "fixed", "name": "f", "size": 4, "connect.name": "org.apache.kafka.connect.data.Decimal"}
ENTRIES = {
    "type": "array",
    "items": {
        "type": "record",
        "name": "MapEntry",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": ["null", "string"]}],
    },
}
TEXT_ENTRIES = json.loads(json.dumps(ENTRIES).replace('"int"', '"string"'))


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ("bytes", b"\xde\xad\xbe\xef", '"3q2+7w=="'),
        ("string", 'a"\\/\b\f\n\r\t\x1f\x7fé☃😀', '"a\\"\\\\/\\b\\f\\n\\r\\t\\u001F\x7fé☃😀"'),
        ("long", -(2**63), "-9223372036854775808"),
        ("int", 2**31 - 1, "2147483647"),
        ("boolean", True, "true"),
        ("double", math.nan, '"NaN"'),
        ("double", -math.inf, '"-Infinity"'),
        ("float", math.inf, '"Infinity"'),
        ("float", 0.1, "0.1"),
        ("float", 16777216.0, "1.6777216E7"),
        ("double", 1e22, "1.0E22"),
        ("double", -0.0, "-0.0"),
        ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "B", '"B"'),
        ({"type": "fixed", "name": "f", "size": 2}, b"ab", '"YWI="'),
        ({"type": "map", "values": "int"}, {"é": 1, "b": 2}, '{"é":1,"b":2}'),
        ({"type": "map", "values": "int"}, {}, "{}"),
        ({"type": "array", "items": ["null", "int"]}, [1, None], "[1,null]"),
        (ENTRIES, [{"key": 1, "value": "a"}, {"key": 2, "value": None}], '[[1,"a"],[2,null]]'),
        (TEXT_ENTRIES, [{"key": "x", "value": "a"}], '{"x":"a"}'),
        (["null", "string", "int"], 5, '{"string":null,"int":5}'),
        (["null", "string", "int"], None, "null"),
        ({"type": "int", "logicalType": "date"}, 18321, "18321"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1577836800123, "1577836800123"),
        ({"type": "record", "name": "r", "fields": []}, {}, "{}"),
    ],
)
def test_values_are_written_as_the_json_converter_writes_them(schema: Any, value: Any, expected: str) -> None:
    assert text(schema, value) == expected


@pytest.mark.parametrize(
    ("raw", "shortest"),
    [(b"\x00\x00\x04\xd2", b"\x04\xd2"), (b"\xff\xff\xff\x80", b"\x80"), (b"\x00\x00\x00\x80", b"\x00\x80")],
)
def test_a_decimal_is_written_with_as_few_bytes_as_it_takes(raw: bytes, shortest: bytes) -> None:
    plain = b64encode(shortest).decode()
    assert AvroReader(read_avro(FIXED_DECIMAL)).read(raw).decode() == f'"{plain}"'
    assert AvroReader(read_avro(DECIMAL)).read(written_long(4) + raw).decode() == f'"{plain}"'


def test_null_stays_null_where_the_schema_has_a_default() -> None:
    field = {"name": "phone", "type": [{"type": "string", "connect.default": "000"}, "null"], "default": "000"}
    assert text({"type": "record", "name": "r", "fields": [field]}, {"phone": None}) == '{"phone":null}'


@given(st.floats())
def test_a_double_keeps_its_value_in_the_words_of_java(value: float) -> None:
    found = json.loads(java_text(value))
    if isinstance(found, str):
        assert found == {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    else:
        assert struct.pack("<d", found) == struct.pack("<d", value)
        assert ("E" in java_text(value).decode()) == (value != 0 and not 1e-3 <= abs(value) < 1e7)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_written_with_the_digits_that_32_bits_need(value: float) -> None:
    found = text("float", value)
    assert struct.pack("<f", float(found)) == struct.pack("<f", value)
    assert len(found.partition("E")[0].replace("-", "").replace(".", "").strip("0")) <= 9


def _shapes(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas with a value that they allow and the JSON value that it becomes."""

    @st.composite
    def record(draw: st.DrawFn) -> Any:
        fields = draw(st.lists(children, max_size=4))
        parts = [{"name": f"f{at}", "type": schema} for at, (schema, _, _) in enumerate(fields)]
        schema = {"type": "record", "name": "r", "fields": parts}
        return (
            schema,
            {f"f{at}": v for at, (_, v, _) in enumerate(fields)},
            {f"f{at}": j for at, (_, _, j) in enumerate(fields)},
        )

    @st.composite
    def items(draw: st.DrawFn) -> Any:
        schema, value, expected = draw(children)
        length = draw(st.integers(0, 5))
        return {"type": "array", "items": schema}, [value] * length, [expected] * length

    @st.composite
    def mapping(draw: st.DrawFn) -> Any:
        schema, value, expected = draw(children)
        keys = draw(st.lists(st.text(max_size=5), max_size=3, unique=True))
        return {"type": "map", "values": schema}, dict.fromkeys(keys, value), dict.fromkeys(keys, expected)

    @st.composite
    def optional(draw: st.DrawFn) -> Any:
        schema, value, expected = draw(children)
        if schema == "null" or isinstance(schema, list):
            return schema, value, expected
        branches = draw(st.permutations(["null", schema]))
        return draw(st.sampled_from([(branches, value, expected), (branches, None, None)]))

    return st.one_of(record(), items(), mapping(), optional())


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LEAVES = st.one_of(
    st.builds(lambda v: ("long", v, v), st.integers(-(2**63), 2**63 - 1)),
    st.builds(lambda v: ("int", v, v), st.integers(-(2**31), 2**31 - 1)),
    st.builds(lambda v: ("string", v, v), TEXT),
    st.builds(lambda v: ("bytes", v, b64encode(v).decode()), st.binary(max_size=20)),
    st.builds(lambda v: ("double", v, v), st.floats(allow_nan=False, allow_infinity=False)),
    st.builds(lambda v: ("boolean", v, v), st.booleans()),
    st.just(("null", None, None)),
)


def _named(schema: Any, numbers: Iterator[int]) -> Any:
    """Give every record a name of its own."""
    if isinstance(schema, list):
        return [_named(one, numbers) for one in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {"name": f"r{next(numbers)}"} if schema["type"] == "record" else {}
    fields = [{**one, "type": _named(one["type"], numbers)} for one in schema.get("fields", ())]
    below = {part: _named(schema[part], numbers) for part in ("items", "values") if part in schema}
    return schema | renamed | below | ({"fields": fields} if "fields" in schema else {})


SHAPES = st.recursive(LEAVES, _shapes, max_leaves=12).map(lambda shape: (_named(shape[0], count()), *shape[1:]))


@settings(max_examples=150)
@given(SHAPES)
def test_what_fastavro_wrote_is_read_with_the_same_values(shape: tuple[Any, Any, Any]) -> None:
    schema, value, expected = shape
    assert json.loads(text(schema, value)) == expected


@settings(max_examples=200)
@given(SHAPES, st.data())
def test_changed_bytes_are_read_to_their_end_or_refused(shape: tuple[Any, Any, Any], data: st.DataObject) -> None:
    schema, value, _ = shape
    body = bytearray(encoded(schema, value))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(body) - 1, 0)))
        body[at : at + 1] = data.draw(st.binary(max_size=3))
    reader = AvroReader(read_avro(schema))
    with suppress(RecordError):
        json.loads(reader.read(bytes(body)))


@pytest.mark.parametrize(
    ("schema", "body"),
    [
        ("long", b""),
        ("long", b"\x80" * 9),
        ("long", b"\x80" * 30 + b"\x01"),
        ("long", b"\x02\x02"),
        ("int", written_long(2**31)),
        ("boolean", b"\x02"),
        ("string", b"\x03abc"),
        ("string", b"\x02\xff"),
        ("string", b"\x06\xed\xa0\x80"),
        ("bytes", written_long(2**62) + b"abc"),
        ("double", b"1234"),
        (["null", "string"], b"\x01"),
        (["null", "string"], b"\x08"),
        (["null", "string", "int"], b"\x01"),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, b"\x01"),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, b"\x02"),
        ({"type": "fixed", "name": "f", "size": 4}, b"abc"),
        ({"type": "array", "items": "int"}, written_long(2**62)),
        ({"type": "array", "items": "int"}, written_long(-(2**62)) + b"\x02\x02"),
        ({"type": "array", "items": "null"}, written_long(2**62) + b"\0"),
        ({"type": "array", "items": {"type": "record", "name": "r", "fields": []}}, written_long(10**9) + b"\0"),
        ({"type": "map", "values": "int"}, written_long(2**40) + b"\0"),
        (UNBOUNDED, b"\x02" * 100_000 + b"\0"),
        ({"type": "array", "items": ["null", {"type": "array", "items": "null"}]}, b"\x02" * 1_000),
    ],
)
def test_bytes_that_claim_more_than_they_hold_are_undecodable_within_bounded_memory(schema: Any, body: bytes) -> None:
    tracemalloc.start()
    try:
        error = refusal(schema, body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.reason == "undecodable"
    assert error.detail
    assert peak < 8 * 2**20


def test_blocks_of_items_without_bytes_are_counted_together() -> None:
    schema = {"type": "array", "items": "null"}
    reader = AvroReader(read_avro(schema))
    for _ in range(3):
        assert json.loads(reader.read(written_long(60_000) + b"\0")) == [None] * 60_000
    assert refusal(schema, written_long(60_000) * 2 + b"\0").reason == "undecodable"
    nested = {"type": "array", "items": schema}
    assert refusal(nested, b"\x04" + (written_long(60_000) + b"\0") * 2 + b"\0").reason == "undecodable"


def doubled(levels: int, leaf: Any = "null", name: str = "b") -> Any:
    """Make a schema of few letters that is twice as large with each level when it is written out."""
    made: Any = {"type": "record", "name": "R0", "fields": [{"name": "a", "type": leaf}]}
    for level in range(1, levels):
        fields = [{"name": "a", "type": made}, {"name": name, "type": f"R{level - 1}"}]
        made = {"type": "record", "name": f"R{level}", "fields": fields}
    return made


@pytest.mark.parametrize("levels", [16, 40, 95])
def test_records_without_bytes_in_records_are_refused_before_their_text_is_written(levels: int) -> None:
    assert "fields without bytes" in refusal(doubled(levels), b"").detail
    assert "fields without bytes" in refusal({"type": "array", "items": doubled(levels)}, b"\x02\0").detail
    assert "fields without bytes" in refusal(["string", doubled(levels)], b"\0\x02a").detail
    assert "fields without bytes" in refusal(doubled(10, name="b" * 4_000), b"").detail


def test_few_fields_without_bytes_are_written_and_count_where_items_have_them() -> None:
    reader = AvroReader(read_avro({"type": "array", "items": doubled(10)}))
    items = 42
    assert len(json.loads(reader.read(written_long(items) + b"\0"))) == items
    assert "claims 43 items" in refusal({"type": "array", "items": doubled(10)}, written_long(43) + b"\0").detail
    assert not AvroReader(read_avro(doubled(40, "int"))).refusal


def test_records_that_hold_each_other_without_end_are_refused() -> None:
    inner = {"type": "record", "name": "S", "fields": [{"name": "r", "type": "R"}, {"name": "t", "type": "R"}]}
    fields = [{"name": "u", "type": ["null", inner]}, {"name": "s", "type": "S"}]
    assert "without end" in refusal({"type": "record", "name": "R", "fields": fields}, b"\0").detail


def test_the_text_of_a_record_is_bounded_where_no_list_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metl_gui.engine.kernel.avro_values.LIMIT_BYTES", 2**10)
    assert refusal(doubled(9, "boolean"), b"\1" * 256).reason == "too_large"


def test_a_record_is_as_large_as_its_bytes_make_it_however_large_its_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metl_gui.engine.kernel.avro_values.LIMIT_BYTES", 2**10)
    schema = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "string"}]}
    text = "\x01" * 2_000
    assert (
        AvroReader(read_avro(schema)).read(encoded(schema, {"b": text}))
        == json.dumps({"b": text}).replace(" ", "").encode()
    )


def test_a_value_whose_text_would_be_too_large_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metl_gui.engine.kernel.avro_values.LIMIT_BYTES", 2**10)
    assert (
        refusal({"type": "array", "items": "int"}, encoded({"type": "array", "items": "int"}, [7] * 2_000)).reason
        == "too_large"
    )


def test_a_recursive_value_is_read_to_the_depth_that_records_may_have() -> None:
    assert AvroReader(read_avro(UNBOUNDED)).read(b"\x02" * 3 + b"\0") == b'{"next":{"next":{"next":{"next":null}}}}'
    assert "nested deeper" in refusal(UNBOUNDED, b"\x02" * 200 + b"\0").detail
