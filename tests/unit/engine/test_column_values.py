"""Columns read by machine code have the very rows and refusals that reading values one by one gives."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.engine.kernel.message_fields import alike_messages
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, SourceType, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.row_code import MAKING_ROWS, WORTH_ROWS, row_code
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks import typed_rows
from metl_gui.engine.sinks.column_code import SOURCE
from metl_gui.engine.sinks.column_values import BLOCK
from metl_gui.engine.sinks.message_columns import repeated
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.engine.sinks.typed_rows import TypedRows

CONNECT, TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
COLUMNS = (
    ColumnPlan("id", "int64"),
    ColumnPlan("tiny", "int8"),
    ColumnPlan("money.amount", "bytes", f"{CONNECT}Decimal", 2),
    ColumnPlan("money.of.whom", "string"),
    ColumnPlan("long", "bytes", f"{CONNECT}Decimal", 20),
    ColumnPlan("digits", "bytes", f"{CONNECT}Decimal"),
    ColumnPlan("rate", "double"),
    ColumnPlan("weight", "float"),
    ColumnPlan("is_paid", "boolean"),
    ColumnPlan("day", "int32", f"{TIME}Date"),
    ColumnPlan("local", "int64", f"{TIME}MicroTimestamp"),
    ColumnPlan("zoned", "string", f"{TIME}ZonedTimestamp"),
    ColumnPlan("date", "string", "date"),
    ColumnPlan("tags", "array"),
    ColumnPlan("picture", "bytes"),
)
SOURCES = (
    SourceType("s", "2", "tiny", "bytes", f"{CONNECT}Decimal", 0),
    SourceType("s", "2", "rate", "bytes", f"{CONNECT}Decimal", 2),
    SourceType("s", "2", "money.amount", "bytes", f"{CONNECT}Decimal", 3),
    SourceType("s", "2", "local", "int64", f"{TIME}NanoTimestamp"),
    SourceType("s", "2", "date", "int32", f"{TIME}Date"),
    SourceType("s", "2", "picture", "string"),
)
ENTITY = EntityPlan("e", "1", COLUMNS, SOURCES)


def plan() -> Plan:
    """Two versions of a schema, of which the second has fewer columns, in another order, and of other types."""
    paths = [column.path for column in COLUMNS]
    versions = []
    for label, some in (("1", paths), ("2", paths[::-1][:-3])):
        names = tuple(f"{path.replace('.', '_')}_{label}" for path in some)
        block = BlockPlan("e", "1", tuple(zip(names, some, strict=True)))
        versions.append(VersionPlan(label, "", names, key=names[-1:], blocks=(block,), is_inferred=True))
    return Plan(7, "abc", (SchemaPlan("s", tuple(versions)),), entities=(ENTITY,))


LITERALS = (
    *[
        "0",
        "-0",
        "7",
        "-7",
        "127",
        "128",
        "-128",
        "-129",
        "100000000000000000",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
    ],
    *[
        "9223372036854775808",
        "-9223372036854775808",
        "2147483648",
        "12345678901234567890123456789012345678901",
        "1e3",
        "1E-2",
    ],
    *[
        "0.0",
        "-0.0",
        "1.5",
        "1.50",
        "1.500",
        "-0.00",
        "0.00",
        "-12.30",
        "0.12345678901234567890",
        "-0.00000000000000000000",
        "-12.345",
        "0.1",
        "0.30000000000000004",
        "0.12345678901234567",
        "0.123456789012345678",
    ],
    *[
        "3.3",
        "16777217",
        "0.123456789",
        "0.1234567891",
        "123456.7",
        "1234567.8",
        "100.0",
        "1234567890123456.0",
        "1e400",
        "1e-400",
        "5e-324",
        "0e-9999999999999999999",
        "1e-9999999999999999999",
        "0.0e9999999999999999999",
    ],
    *[
        "0.00000000000000000000001",
        "9007199254740993",
        "90071992547409.93",
        "123456789012345678",
        "99999999999999999.9",
    ],
    *[
        "true",
        "false",
        "null",
        '""',
        '"a"',
        '"\\u00e9"',
        '"é"',
        '"a\\"b"',
        '"\\\\"',
        '"true"',
        '"NaN"',
        '"Infinity"',
        '"-Infinity"',
        '"nan"',
        '"12.50"',
    ],
    *[
        '"BNI="',
        '"/w=="',
        '"\\/w=="',
        '"AA=="',
        '"AB=="',
        '"gAAAAAAAAAA="',
        '"f/////////8="',
        '"AIAAAAAAAAAA"',
        '"AAAA"',
        '"A==="',
        '"="',
        '"===="',
    ],
    *[
        "[]",
        "[1,2]",
        "{}",
        '{"a":"}\\"]"}',
        '[[[]],"]"]',
        '{"scale":1,"value":"BNI="}',
        '["x",{"y":[]}]',
        '","',
    ],
    *['"2026-11-22T01:02:03Z"', '"2026-11-22T01:02:03.1234560Z"', '"2026-11-22T01:02:03.1234567Z"', '"2026-11-22"'],
    *['"2026-11-22Z"', '"2026-11-22T03:00:00+02:00"', '"infinity"', '"2026-13-01"', '"__debezium_unavailable_value"'],
    '[1, {"a" : "b"}]',
    '"two words"',
    '"not base64"',
)
_numbers = st.integers(-(2**70), 2**70).map(str) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
_places = st.decimals(-(10**20), 10**20, allow_nan=False, places=3).map(lambda number: format(number, "f"))
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(
    lambda text: json.dumps(text, ensure_ascii=False)
)
_values = st.sampled_from(LITERALS) | _numbers | _places | _texts


def record(version: int, values: Sequence[str], op: str = "u", ts_ms: str = "5") -> bytes:
    paths = [column.path for column in COLUMNS]
    some = paths if version == 1 else paths[::-1][:-3]
    members = ",".join(
        f'"{path.replace(".", "_")}_{version}":{value}' for path, value in zip(some, values, strict=False)
    )
    row = f'"{"before" if op == "d" else "after"}":{{{members}}}'
    return f'{{{row},"source":{{"name":"s","lsn":5}},"op":"{op}","ts_ms":{ts_ms}}}'.encode()


def mapped(raws: list[bytes]) -> MappedBatch:
    wrapped = [b'{"topic":"s","value":%b}' % raw for raw in raws]
    return Kernel(plan()).map(Records.of(wrapped, 'a "file"'))


def read(
    outcome: MappedBatch, *, by_machine: bool, monkeypatch: pytest.MonkeyPatch
) -> tuple[pa.Table, dict[int, RejectedRecord]]:
    monkeypatch.setattr(typed_rows, "MACHINE", row_code(SOURCE, -1, -1) if by_machine else row_code(SOURCE, 1 << 62))
    table, numbers, refused = TypedRows(ENTITY).table(outcome, list(alike_messages(outcome)))
    assert numbers.tolist() == list(range(len(outcome)))
    table.validate(full=True)
    return table, refused


def assert_same(outcome: MappedBatch, monkeypatch: pytest.MonkeyPatch) -> dict[int, RejectedRecord]:
    expected, wrong = read(outcome, by_machine=False, monkeypatch=monkeypatch)
    found, refused = read(outcome, by_machine=True, monkeypatch=monkeypatch)
    assert found.schema == expected.schema
    assert refused == wrong
    while any(pa.types.is_struct(type_) for type_ in found.schema.types):
        found, expected = found.flatten(), expected.flatten()
    for name, one, other in zip(found.column_names, found.columns, expected.columns, strict=True):
        # Of fractions also the sign of a zero, and what is no number, which equals nothing.
        is_same = repr(one.to_pylist()) == repr(other.to_pylist()) if pa.types.is_floating(one.type) else one == other
        assert is_same, name
    return refused


@pytest.mark.parametrize("literal", LITERALS)
def test_each_value_in_each_column_is_kept_or_refused_as_when_it_is_read_alone(
    literal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raws = []
    for version in (1, 2):
        for number in range(len(COLUMNS)):
            values = ["null"] * len(COLUMNS)
            values[number] = literal
            raws.append(record(version, values))
    outcome = mapped(raws)
    assert len(outcome) > len(COLUMNS)
    assert_same(outcome, monkeypatch)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2]), st.lists(_values, min_size=15, max_size=15), st.sampled_from("cud")),
        min_size=1,
        max_size=12,
    ),
)
def test_any_batch_gives_the_same_rows_and_refusals_both_ways(changes: list[tuple[int, list[str], str]]) -> None:
    outcome = mapped([record(version, values, op) for version, values, op in changes])
    if len(outcome):
        with pytest.MonkeyPatch.context() as monkeypatch:
            assert_same(outcome, monkeypatch)


@pytest.mark.parametrize("count", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_batches_of_any_length_are_read_block_by_block(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(count)
    changes = [(dice.choice([1, 2]), [dice.choice(LITERALS) for _ in COLUMNS]) for _ in range(count)]
    outcome = mapped([record(version, values) for version, values in changes])
    assert len(outcome) > count // 2
    assert_same(outcome, monkeypatch)


def test_digits_stand_where_columns_do_not_say_them(monkeypatch: pytest.MonkeyPatch) -> None:
    amounts = ["12.50", "12.5", "0.05", "-0.00", "-0.50", '"BNI="', "null", "7", "1e1"]
    outcome = mapped([record(1, ["1", "1", amount]) for amount in amounts])
    for by_machine in (False, True):
        table, refused = read(outcome, by_machine=by_machine, monkeypatch=monkeypatch)
        assert not refused
        digits = pc.struct_field(table["digits"], ["money", "amount"]).to_pylist()
        assert digits == [None, "12.5", None, "-0.00", None, None, None, "7", "1e1"]


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("é", pa.string()),
        ("", pa.string()),
        (None, pa.string()),
        (7, pa.int64()),
        (True, pa.bool_()),
        ([], pa.list_(pa.string())),
        (["a", "bc"], pa.list_(pa.string())),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_all_messages_say_is_repeated(value: object, type_: pa.DataType, count: int) -> None:
    found = repeated(value, type_, count)
    found.validate(full=True)
    assert found.equals(pa.array([value] * count, type_))


def test_times_that_no_column_takes_are_refused_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = mapped([record(1, ["1"], ts_ms=stamp) for stamp in ("5", "1.5", "9223372036854775808", "-3")])
    assert sorted(assert_same(outcome, monkeypatch)) == [1, 2]


def test_the_compiler_is_loaded_for_many_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_code(SOURCE).after(WORTH_ROWS) is None
    assert row_code(SOURCE).after(MAKING_ROWS + 1) is not None
    monkeypatch.setattr("metl_gui.engine.kernel.compiled.build.is_possible", lambda: False)
    assert row_code(SOURCE).after(MAKING_ROWS + 1) is None
