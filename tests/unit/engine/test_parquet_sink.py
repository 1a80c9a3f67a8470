"""Typed columns: the same messages in Parquet as in JSON lines, and what does not fit is set aside whole."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.runs.report import check_sums
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import (
    BlockPlan,
    ColumnPlan,
    EntityPlan,
    Plan,
    SchemaPlan,
    SourceType,
    VersionPlan,
)
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.row_code import row_code
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks import typed_rows
from metl_gui.engine.sinks.column_code import SOURCE
from metl_gui.engine.sinks.columns import column
from metl_gui.engine.sinks.jsonl import JsonlSink
from metl_gui.engine.sinks.parquet import NO_VERSION, ParquetSink
from metl_gui.engine.sinks.readers import texts
from metl_gui.engine.spark.task_errors import TaskError, run_error
from metl_gui.engine.tasks.refused_records import counted, set_refused_aside


@pytest.fixture(autouse=True, params=["machine code", "value by value"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to read messages, which must give the same."""
    use_machine_code(monkeypatch, is_used=request.param == "machine code")
    return str(request.param)


def use_machine_code(monkeypatch: pytest.MonkeyPatch, *, is_used: bool) -> None:
    machine = row_code(SOURCE, -1, -1) if is_used else row_code(SOURCE, 1 << 62)
    assert (machine.after(1) is not None) == is_used
    monkeypatch.setattr(typed_rows, "MACHINE", machine)


CONNECT = "org.apache.kafka.connect.data."
TIME = "io.debezium.time."
COLUMNS = (
    ColumnPlan("id", "int64"),
    ColumnPlan("money.amount", "bytes", f"{CONNECT}Decimal", 2),
    ColumnPlan("money.currency", "string"),
    ColumnPlan("small", "int8"),
    ColumnPlan("rate", "double"),
    ColumnPlan("weight", "float"),
    ColumnPlan("is_paid", "boolean"),
    ColumnPlan("day", "int32", f"{TIME}Date"),
    ColumnPlan("at.local", "int64", f"{TIME}MicroTimestamp"),
    ColumnPlan("at.zoned", "string", f"{TIME}ZonedTimestamp"),
    ColumnPlan("exact", "struct", "io.debezium.data.VariableScaleDecimal"),
    ColumnPlan("tags", "array"),
    ColumnPlan("picture", "bytes"),
    ColumnPlan(r"odd\.name", "string"),
)
PATHS = tuple(plan.path for plan in COLUMNS)


def plan_of(columns: Sequence[ColumnPlan] = COLUMNS, sources: Sequence[SourceType] = ()) -> Plan:
    paths = tuple(one.path for one in columns)
    order = BlockPlan("order", "2", tuple((path, path) for path in paths))
    other = BlockPlan("other", "1", ((paths[0], "number"),), is_unreviewed=True)
    version = VersionPlan("1", "", paths, key=(paths[0],), blocks=(order, other), is_inferred=True)
    entities = (
        EntityPlan("order", "2", tuple(columns), tuple(sources)),
        EntityPlan("other", "1", (ColumnPlan("number", columns[0].type),)),
    )
    return Plan(7, "abc", (SchemaPlan("shop.public.orders", (version,)),), entities=entities)


def record(row: str, op: str = "c", ts_ms: str = "1634052484031") -> bytes:
    half = "before" if op == "d" else "after"
    return (
        f'{{"{half}":{row},"source":{{"connector":"postgresql","name":"shop","schema":"public","table":"orders","lsn":5}},'
        f'"op":"{op}","ts_ms":{ts_ms}}}'
    ).encode()


ROW = (
    '{"id":9007199254740993,"money":{"amount":12.50,"currency":"EUR\\u00e9"},"small":-128,"rate":1.0E23,"weight":3.3,'
    '"is_paid":true,"day":-1,"at":{"local":-1,"zoned":"2026-11-22T01:02:03.1234560Z"},'
    '"exact":{"scale":3,"value":"MDk="},"tags":[1, {"a":"b"}],"picture":"AAECAw==","odd.name":"x"}'
)


def run(folder: Path, plan: Plan, raws: list[bytes], **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Write records in both formats; return the counts and the rows of the error store."""
    kernel = Kernel(plan)
    records = Records.of(raws, "f")
    return write(folder, kernel, records, **options)


def write(folder: Path, kernel: Kernel, records: Records, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Write what a kernel makes of records, as ``run`` does."""
    outcome, plan = kernel.map(records), kernel.plan
    lines = JsonlSink(folder / "jsonl", "part-000000-0")
    typed = ParquetSink(folder / "parquet", "part-000000-0", plan, **options)
    for sink in (lines, typed):
        sink.folder.mkdir(parents=True) if isinstance(sink, ParquetSink) else sink.parts.root.mkdir(parents=True)
    tally = counted(outcome)
    lines.append(outcome)
    refused = typed.append(outcome)
    rows = set_refused_aside(tally, refused, kernel, records)
    lines.close()
    typed.close()
    check_sums(tally)
    return tally, [json.loads(row.text) for row in rows]


def written(folder: Path, entity: str = "order") -> list[dict[str, Any]]:
    return [
        json.loads(line) for part in (folder / "jsonl" / entity).glob("*") for line in part.read_bytes().splitlines()
    ]


def stored(folder: Path, entity: str = "order", version: str = "2") -> list[dict[str, Any]]:
    parts = sorted((folder / "parquet" / entity / f"version={version}").rglob("*.parquet"))
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]


def test_every_type_is_stored_as_what_it_is(tmp_path: Path) -> None:
    tally, rows = run(tmp_path, plan_of(), [record(ROW)])
    assert (tally.mapped, tally.messages_out, rows) == (1, 2, [])
    (row,) = stored(tmp_path)
    assert row["payload"] == {
        "id": 9007199254740993,
        "money": {"amount": Decimal("12.50"), "currency": "EURé"},
        "small": -128,
        "rate": 1e23,
        "weight": pytest.approx(3.3),
        "is_paid": True,
        "day": date(1969, 12, 31),
        "at": {
            "local": datetime(1969, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001 - the column has no zone
            "zoned": datetime(2026, 11, 22, 1, 2, 3, 123456, UTC),
        },
        "exact": "12.345",
        "tags": '[1, {"a":"b"}]',
        "picture": b"\0\1\2\3",
        "odd.name": "x",
    }
    message = written(tmp_path)[0]
    assert {name: row[name] for name in ("entity", "state", "op", "ts_ms", "unchanged", "replayed")} == {
        "entity": "order",
        "state": 7,
        "op": "c",
        "ts_ms": 1634052484031,
        "unchanged": [],
        "replayed": False,
    }
    assert json.loads(row["key"]) == message["key"]
    assert row["source"] | {"origin": json.loads(row["source"]["origin"])} == message["source"]


def moved(source: str) -> bytes:
    return f'{{"before":{{"id":1}},"after":{{"id":2}},"source":{source},"op":"u","ts_ms":1}}'.encode()


PLACE = '"name":"shop","schema":"public","table":"orders"'
KEYED = [ColumnPlan("id", "int64")]


def test_what_a_source_says_stands_in_typed_columns_behind_those_of_before(tmp_path: Path) -> None:
    said = ['"snapshot":"last","ts_ms":9223372036854775807', '"snapshot":"false","ts_ms":null', '"ts_ms":"5"']
    records = Records.of([moved(f"{{{PLACE},{members}}}") for members in said], "f")
    _, rows = write(tmp_path, Kernel(plan_of(KEYED), publication=7), records)
    assert rows == []
    (part,) = (tmp_path / "parquet" / "order").rglob("*.parquet")
    names: dict[str, Any] = {
        "schema": pa.string(),
        "version": pa.string(),
        "position": pa.string(),
        "origin": pa.string(),
    }
    names |= {"committed_at_ms": pa.int64(), "snapshot": pa.bool_(), "old_key": pa.string(), "publication": pa.int64()}
    assert pq.read_schema(part).field("source").type == pa.struct(list(names.items()))
    found = [row["source"] for row in stored(tmp_path)]
    assert [row["committed_at_ms"] for row in found] == [9223372036854775807] * 2 + [None] * 4
    assert [row["snapshot"] for row in found] == [True, True, False, False, None, None]
    assert [row["old_key"] for row in found] == [None, '{"id":1}'] * 3
    assert {row["publication"] for row in found} == {7}


def test_what_a_message_leaves_out_and_numbers_as_written_stand_behind_what_was_there(tmp_path: Path) -> None:
    source = SourceType("shop.public.orders", "1", "money.amount", "bytes", f"{CONNECT}Decimal", 2)
    raws = [
        record('{"id":1,"money":{"amount":1.5},"rate":1.0E2,"weight":3.10}'),
        record('{"id":2,"money":{"amount":"BNI="},"rate":"NaN"}'),
        record('{"id":3,"money":{"amount":12.50}}', "d"),
    ]
    run(tmp_path, plan_of(sources=[source]), raws)
    (part,) = (tmp_path / "parquet" / "order").rglob("*.parquet")
    table = pq.ParquetFile(part).read()
    assert table.schema.names == [
        *("entity", "state", "op", "key", "ts_ms", "source", "payload", "unchanged", "replayed"),
        *("absent", "digits"),
    ]
    assert table.schema.field("absent").type == pa.list_(pa.string())
    text = pa.string()
    digits = pa.struct([("money", pa.struct([("amount", text)])), ("rate", text), ("weight", text)])
    assert table.schema.field("digits").type == digits
    assert table.schema.metadata == {b"metl.entity": b"order", b"metl.entity_version": b"2"}
    rows = table.to_pylist()
    assert [row["absent"] for row in rows] == [[], [], [path for path in PATHS if path != "id"]]
    assert [row["digits"] for row in rows] == [
        {"money": {"amount": "1.5"}, "rate": "1.0E2", "weight": "3.10"},
        {"money": {"amount": None}, "rate": None, "weight": None},
        {"money": {"amount": None}, "rate": None, "weight": None},
    ]
    assert pq.ParquetFile(next((tmp_path / "parquet" / "other").rglob("*.parquet"))).schema_arrow.names[-1] == "absent"


@pytest.mark.parametrize("is_first", [True, False])
def test_files_of_before_are_read_together_with_new_ones(tmp_path: Path, is_first: bool) -> None:
    run(tmp_path, plan_of(KEYED), [moved(f'{{{PLACE},"snapshot":"true"}}')])
    (part,) = (tmp_path / "parquet" / "order").rglob("*.parquet")
    table = pq.ParquetFile(part).read()
    at = table.schema.get_field_index("source")
    whole: Any = table["source"].combine_chunks()
    names = ["schema", "version", "position", "origin"]
    before = tmp_path / "before.parquet"
    earlier: Any = pa.StructArray.from_arrays([whole.field(name) for name in names], names)
    pq.write_table(table.set_column(at, "source", earlier).drop_columns(["absent"]), before)
    paths = [str(before), str(part)] if is_first else [str(part), str(before)]
    rows = ds.dataset(paths).to_table().to_pylist()
    assert [{name: row["source"][name] for name in names} for row in rows] == earlier.to_pylist() * 2
    nothing: list[str] = []
    assert [row.get("absent") for row in rows] == ([None] * 4 if is_first else [nothing, nothing, None, None])
    assert [row["source"].get("snapshot") for row in rows] == ([None] * 4 if is_first else [True, True, None, None])


def test_a_time_beyond_every_calendar_keeps_its_number(tmp_path: Path) -> None:
    run(tmp_path, plan_of(), [record('{"id":1,"at":{"local":9223372036825200000}}')])
    (part,) = (tmp_path / "parquet" / "order").rglob("*.parquet")
    table = pq.ParquetFile(part).read()
    local = pa.compute.struct_field(table["payload"].combine_chunks(), ["at", "local"])
    assert local.cast(pa.int64()).to_pylist() == [9223372036825200000]


WRONG = [
    ("id", "1.50"),
    ("id", "9223372036854775808"),
    ("id", '"1"'),
    ("money.amount", "1.505"),
    ("money.amount", "1234567890123456789012345678901234567"),
    ("money.amount", "true"),
    ("money.amount", '"12.50"'),
    ("money.amount", "[1,2]"),
    ("money.currency", "5"),
    ("small", "128"),
    ("rate", "9007199254740993"),
    ("rate", "0.123456789012345678"),
    ("rate", "1e400"),
    ("rate", "1e-400"),
    ("rate", "1e-9999999999999999999"),
    ("rate", '"nan"'),
    ("weight", "0.0e9999999999999999999"),
    ("weight", "0.1234567891"),
    ("weight", "16777217"),
    ("weight", "1e39"),
    ("is_paid", "1"),
    ("day", "2147483648"),
    ("at.local", "1.5"),
    ("at.zoned", '"infinity"'),
    ("at.zoned", '"2026-11-22T01:02:03.1234567Z"'),
    ("exact", '"MDk="'),
    ("exact", '"x"'),
    ("picture", '"not base64"'),
    (r"odd\.name", "{}"),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=lambda text: str(text)[:40])
def test_a_value_that_does_not_fit_sets_its_record_aside_once_and_no_entity_gets_it(
    tmp_path: Path, path: str, value: str
) -> None:
    raws = [record('{"id":1}'), record(row_with(path, value)), record('{"id":3}', "u")]
    tally, rows = run(tmp_path, plan_of(), raws)
    assert (tally.read, tally.mapped, tally.set_aside) == (3, 2, 1)
    assert (tally.by_reason, tally.by_entity) == ({"type_mismatch": 1}, {"order": 2, "other": 2})
    assert tally.from_unreviewed == {"other": 2}
    (row,) = rows
    assert path in row["detail"]
    assert row["detail"].endswith(value)
    assert (row["reason"], row["raw"].encode(), row["position"]) == ("type_mismatch", raws[1], f"f@{len(raws[0]) + 1}")
    assert (row["schema"], row["version"]) == ("shop.public.orders", "1")
    assert [one["payload"]["id"] for one in stored(tmp_path)] == [1, 3]
    assert [one["payload"]["number"] for one in stored(tmp_path, "other", "1")] == [1, 3]


def row_with(path: str, value: str) -> str:
    if path == "id":
        return f'{{"id":{value}}}'
    if path == r"odd\.name":
        return f'{{"id":2,"odd.name":{value}}}'
    *parents, leaf = path.split(".")
    inner = f'{{"{leaf}":{value}}}'
    return f'{{"id":2,"{parents[0]}":{inner}}}' if parents else f'{{"id":2,"{leaf}":{value}}}'


FITS = [
    ("money.amount", "1e3", Decimal("1000.00")),
    ("money.amount", "1.5000", Decimal("1.50")),
    ("money.amount", "-999999999999999999999999999999999999.99", Decimal("-999999999999999999999999999999999999.99")),
    ("money.amount", '"BNI="', Decimal("12.34")),
    ("money.amount", '"/w=="', Decimal("-0.01")),
    ("money.amount", '{"scale":1,"value":"BNI="}', Decimal("123.40")),
    ("rate", '"Infinity"', float("inf")),
    ("rate", "9007199254740992", 2.0**53),
    ("rate", "4.9E-324", 5e-324),
    ("weight", "3.4028235E38", 3.4028234663852886e38),
    ("exact", "1234567890123456789012345678901234567890.5", "1234567890123456789012345678901234567890.5"),
    ("at.zoned", '"2026-11-22T03:00:00+02:00"', datetime(2026, 11, 22, 1, tzinfo=UTC)),
    ("tags", '"text"', '"text"'),
    ("small", "null", None),
]


@pytest.mark.parametrize(("path", "value", "kept"), FITS, ids=lambda text: str(text)[:40])
def test_a_value_that_fits_is_kept_exactly(tmp_path: Path, path: str, value: str, kept: object) -> None:
    tally, _ = run(tmp_path, plan_of(), [record(row_with(path, value))])
    assert tally.set_aside == 0
    found = stored(tmp_path)[0]["payload"]
    for name in path.split("."):
        found = found[name]
    assert found == kept


def test_texts_of_a_decimal_count_in_the_scale_of_their_source_and_plain_texts_are_refused(tmp_path: Path) -> None:
    columns = (ColumnPlan("id", "int64"), ColumnPlan("amount", "bytes", f"{CONNECT}Decimal", 4))
    raws = [record('{"id":1,"amount":"BNI="}')]
    place = "shop.public.orders", "1", "amount"
    scaled = plan_of(columns, [SourceType(*place, "bytes", f"{CONNECT}Decimal", 2)])
    run(tmp_path / "scaled", scaled, raws)
    assert stored(tmp_path / "scaled")[0]["payload"]["amount"] == Decimal("12.3400")
    tally, rows = run(tmp_path / "plain", plan_of(columns, [SourceType(*place, "string")]), raws)
    assert (tally.mapped, tally.set_aside) == (0, 1)
    assert "BNI=" in rows[0]["detail"]


LOCAL = {name: ("int64", f"{TIME}{name}") for name in ("Timestamp", "MicroTimestamp", "NanoTimestamp")}
BERLIN = {name: (*kind, None, "Europe/Berlin") for name, kind in LOCAL.items()}
SUMMER, SKIPPED, TWICE, LATER = 1782907200000000, 1774751400000000, 1792895400000000, 2540289600000000
"""In microseconds: noon of 2026-07-01, half past two on 2026-03-29 and 2026-10-25, and noon of 2050-07-01."""

NOON = datetime(2026, 7, 1, 10, tzinfo=UTC)
SOURCES = [
    (BERLIN["MicroTimestamp"], ("string", "date-time"), f"{SUMMER}", NOON),
    (BERLIN["MicroTimestamp"], ("string", f"{TIME}ZonedTimestamp"), f"{LATER}", datetime(2050, 7, 1, 10, tzinfo=UTC)),
    (BERLIN["Timestamp"], ("int64", f"{CONNECT}Timestamp"), f"{SUMMER // 1000}", NOON),
    (BERLIN["NanoTimestamp"], ("string", "date-time"), f"{SUMMER}000", NOON),
    (BERLIN["NanoTimestamp"], ("string", "date-time"), f"{SUMMER}001", None),
    (BERLIN["MicroTimestamp"], ("int64", f"{CONNECT}Timestamp"), f"{SUMMER + 1}", None),
    (BERLIN["MicroTimestamp"], ("string", "date-time"), f"{SKIPPED}", None),
    (BERLIN["MicroTimestamp"], ("string", "date-time"), f"{TWICE}", None),
    (BERLIN["MicroTimestamp"], ("string", "date-time"), "9223372036825200000", None),
    (BERLIN["MicroTimestamp"], ("string", "date-time"), '"2026-07-01T12:00:00"', None),
    (("string", f"{TIME}IsoTimestamp", None, "Europe/Berlin"), ("string", "date-time"), '"2026-07-01T12:00:00Z"', NOON),
    (BERLIN["MicroTimestamp"], LOCAL["Timestamp"], f"{SUMMER}", NOON.replace(hour=12, tzinfo=None)),
    (LOCAL["Timestamp"], LOCAL["MicroTimestamp"], "5", datetime(1970, 1, 1, 0, 0, 0, 5000)),  # noqa: DTZ001 - no zone
    (LOCAL["NanoTimestamp"], LOCAL["MicroTimestamp"], "5000", datetime(1970, 1, 1, 0, 0, 0, 5)),  # noqa: DTZ001 - no zone
    (LOCAL["NanoTimestamp"], LOCAL["MicroTimestamp"], "5001", None),
    (LOCAL["Timestamp"], LOCAL["MicroTimestamp"], "9223372036854775807", None),
    (LOCAL["MicroTimestamp"], LOCAL["NanoTimestamp"], "5", None),
    (LOCAL["MicroTimestamp"], ("string", "date-time"), "5", None),
    (("string", f"{TIME}ZonedTimestamp"), ("string", f"{TIME}IsoTimestamp"), '"2026-11-22T01:02:03Z"', None),
    (("int32", f"{TIME}Date"), ("string", "date"), "-1", date(1969, 12, 31)),
    (("int32", f"{TIME}Date"), ("string", "date-time"), "-1", None),
    (("int32", ""), ("string", "date"), "-1", None),
    (("int32", f"{TIME}Time"), ("int64", f"{TIME}MicroTime"), "5", None),
    (("bytes", f"{CONNECT}Decimal", 2), ("number",), '"BNI="', 12.34),
    (("bytes", f"{CONNECT}Decimal", 0), ("int64",), '"BNI="', 1234),
    (("bytes", f"{CONNECT}Decimal", 2), ("int64",), '"BNI="', None),
    (("bytes", f"{CONNECT}Decimal", 2), ("number",), '"AJi6wLFNRBQ4qv8="', None),
    (("string",), ("bytes",), '"BNI="', None),
    (("string",), ("number",), '"12.34"', None),
]


@pytest.mark.parametrize(("source", "target", "value", "kept"), SOURCES, ids=lambda what: str(what)[:60])
def test_a_value_goes_where_the_same_is_said_of_it_and_nowhere_else(
    tmp_path: Path, source: tuple[Any, ...], target: tuple[Any, ...], value: str, kept: object
) -> None:
    columns = (ColumnPlan("id", "int64"), ColumnPlan("at", *target))
    plan = plan_of(columns, [SourceType("shop.public.orders", "1", "at", *source)])
    tally, _ = run(tmp_path, plan, [record(f'{{"id":1,"at":{value}}}'), record('{"id":2}')])
    assert (tally.mapped, tally.set_aside) == ((2, 0) if kept is not None else (1, 1))
    assert [row["payload"]["at"] for row in stored(tmp_path)] == ([kept, None] if kept is not None else [None])


REFUSED = [
    ("", SUMMER, "a local time, and shop.public.orders states no time zone"),
    ("", SUMMER, "(metl set PROJECT --schema shop.public.orders time_zone=NAME)"),
    ("Europe/Berlin", SKIPPED, "2026-03-29T02:30:00 is skipped in Europe/Berlin"),
    ("Europe/Berlin", TWICE, "2026-10-25T02:30:00 comes twice in Europe/Berlin"),
    ("Pacific/Apia", 1325203200000000, "2011-12-30T00:00:00 is skipped in Pacific/Apia"),
    ("Europe/Berlin", 9223372036825200000, "a local time of no calendar"),
]


@pytest.mark.parametrize(("zone", "value", "said"), REFUSED, ids=lambda what: str(what)[:30])
def test_a_local_time_that_is_no_instant_is_refused_with_the_attribute_and_why(
    tmp_path: Path, zone: str, value: int, said: str
) -> None:
    columns = (ColumnPlan("id", "int64"), ColumnPlan("at", "string", "date-time"))
    source = SourceType("shop.public.orders", "1", "at", *LOCAL["MicroTimestamp"], time_zone=zone)
    _, rows = run(tmp_path, plan_of(columns, [source]), [record('{"id":1}'), record(f'{{"id":2,"at":{value}}}')])
    (row,) = rows
    assert row["reason"] == "type_mismatch"
    assert row["detail"].startswith("order@2 at takes instants with up to 6 digits of a second, and not ")
    assert said in row["detail"]
    assert [row["payload"] for row in stored(tmp_path)] == [{"id": 1, "at": None}]


@pytest.mark.parametrize("kinds", ["text first", "number first"])
def test_texts_and_numbers_of_one_version_are_each_read_as_what_a_version_says(tmp_path: Path, kinds: str) -> None:
    columns = (ColumnPlan("id", "int64"), ColumnPlan("at", "string", "date-time"))
    place = "shop.public.orders", "1", "at"
    sources = [
        SourceType(*place, "string", f"{TIME}ZonedTimestamp", time_zone="Europe/Berlin"),
        SourceType(*place, *LOCAL["MicroTimestamp"], time_zone="Europe/Berlin"),
    ]
    if kinds == "number first":
        sources.reverse()
    values = [
        f"{SUMMER}",
        '"2026-07-01T10:00:00Z"',
        "null",
        f"{SKIPPED}",
        '"noon"',
        "1.5",
        '"2026-07-01T12:00:00+02:00"',
    ]
    raws = [record(f'{{"id":{number},"at":{value}}}') for number, value in enumerate(values)]
    _, rows = run(tmp_path, plan_of(columns, sources), raws)
    kept = [(row["payload"]["id"], row["payload"]["at"]) for row in stored(tmp_path)]
    assert kept == [(0, NOON), (1, NOON), (2, None), (6, NOON)]
    assert [row["detail"].partition("not ")[2] for row in rows] == [
        f"{SKIPPED}: 2026-03-29T02:30:00 is skipped in Europe/Berlin",
        '"noon"',
        "1.5",
    ]


def test_a_zone_that_a_computer_does_not_know_ends_the_run(tmp_path: Path) -> None:
    columns = (ColumnPlan("id", "int64"), ColumnPlan("at", "string", "date-time"))
    source = SourceType("shop.public.orders", "1", "at", *LOCAL["MicroTimestamp"], time_zone="Mars/Olympus")
    with pytest.raises(TaskError) as raised:
        run(tmp_path, plan_of(columns, [source]), [record('{"id":1,"at":5}')])
    assert run_error(raised.value).title == "A computer of this run does not know the time zone Mars/Olympus."


def test_deletes_carry_their_key_and_truncates_lie_with_what_has_no_version(tmp_path: Path) -> None:
    truncate = record("null", "t")
    run(tmp_path, plan_of(), [record(ROW), record('{"id":5,"small":3}', "d"), truncate])
    rows = stored(tmp_path)
    assert [row["op"] for row in rows] == ["c", "d"]
    assert (rows[1]["payload"]["id"], rows[1]["payload"]["small"]) == (5, None)
    (emptied,) = stored(tmp_path, "order", NO_VERSION)
    assert (emptied["op"], emptied["key"], emptied["payload"]["id"]) == ("t", None, None)
    table = ds.dataset(tmp_path / "parquet" / "order", partitioning="hive").to_table()
    assert sorted(table["version"].to_pylist(), key=str) == [2, 2, None]


def test_each_day_has_its_folder_and_times_of_no_day_have_one_too(tmp_path: Path) -> None:
    stamps = ["0", "86399999", "86400000", "-1", "null", "9223372036854775807"]
    raws = [record(f'{{"id":{number}}}', ts_ms=stamp) for number, stamp in enumerate(stamps)]
    run(tmp_path, plan_of(), raws, by_date=True)
    folder = tmp_path / "parquet" / "order" / "version=2"
    found = {
        day.name: [row["payload"]["id"] for part in day.iterdir() for row in pq.ParquetFile(part).read().to_pylist()]
        for day in folder.iterdir()
    }
    assert found == {
        "date=1970-01-01": [0, 1],
        "date=1970-01-02": [2],
        "date=1969-12-31": [3],
        "date=unknown": [4, 5],
    }


def test_what_waits_in_memory_is_bounded_and_the_parts_keep_the_order(tmp_path: Path) -> None:
    plan = plan_of()
    kernel = Kernel(plan)
    sink = ParquetSink(tmp_path, "part-000000-0", plan, held_bytes=20_000)
    most = 0
    for batch in range(40):
        rows = [record(f'{{"id":{batch * 50 + number},"odd.name":"{"x" * 50}"}}') for number in range(50)]
        sink.append(kernel.map(Records.of(rows, "f")))
        most = max(most, sum(sink._parts._sizes.values()))
    parts = sink.close()
    assert most <= 20_000
    assert len(parts) > 10
    numbered = sorted((Path(part) for part in parts if "/order/" in part), key=lambda p: int(p.stem.split("-")[-1]))
    ids = [row["payload"]["id"] for part in numbered for row in pq.ParquetFile(part).read().to_pylist()]
    assert ids == list(range(2000))


_scalars = {
    "id": st.integers(-(2**63), 2**63 - 1).map(str),
    "money.amount": st.decimals(1 - 10**36, 10**36 - 1, allow_nan=False, places=2).map(lambda d: format(d, "f")),
    "money.currency": st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(json.dumps),
    "rate": st.floats(allow_nan=False, allow_infinity=False).map(repr),
    "is_paid": st.sampled_from(["true", "false"]),
    "day": st.integers(-700_000, 2_000_000).map(str),
    "tags": st.lists(st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)).map(json.dumps),
    "picture": st.binary(max_size=8).map(lambda b: json.dumps(base64.b64encode(b).decode())),
}


def _nested(values: dict[str, str]) -> str:
    money = ",".join(f'"{name[6:]}":{text}' for name, text in values.items() if name.startswith("money."))
    flat = ",".join(f'"{name}":{text}' for name, text in values.items() if not name.startswith("money."))
    return f'{{{flat},"money":{{{money}}}}}'


def _meant(path: str, value: Any) -> object:
    """What a value of a message is to a person, by the type of its column."""
    if value is None:
        return None
    match path:
        case "day":
            return date(1970, 1, 1) + timedelta(days=value)
        case "picture":
            return base64.b64decode(value)
        case "rate":
            return float(value)
        case "tags":
            return value
    return value


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({}, optional=_scalars).map(lambda row: {"id": "1"} | row), min_size=1, max_size=20)
)
def test_rows_say_exactly_what_the_messages_say(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("both")
    tally, refused = run(folder, plan_of(), [record(_nested(row)) for row in rows])
    assert (tally.mapped, refused) == (len(rows), [])
    part = next((folder / "jsonl" / "order").iterdir())
    messages = [json.loads(line, parse_float=Decimal) for line in part.read_bytes().splitlines()]
    found = stored(folder)
    assert len(found) == len(messages)
    for row, message in zip(found, messages, strict=True):
        payload = {**row["payload"], **row["payload"]["money"]}
        expected = {**message["payload"], **message["payload"]["money"]}
        for path in _scalars:
            name = path.removeprefix("money.")
            kept = json.loads(payload[name], parse_float=Decimal) if name == "tags" and payload[name] else payload[name]
            assert kept == _meant(name, expected[name]), name
        assert (row["source"]["position"], json.loads(row["key"])) == (message["source"]["position"], message["key"])


def test_a_type_that_says_nothing_is_kept_as_json() -> None:
    assert {column(ColumnPlan("a", kind)).wants for kind in ("any", "union", "map", "struct", "null", "unknown")} == {
        "any JSON"
    }
    assert column(ColumnPlan("a", "string", "io.debezium.data.Json")).read is texts


def test_nothing_is_made_where_the_folder_of_the_run_is_gone(tmp_path: Path) -> None:
    plan = plan_of()
    outcome: MappedBatch = Kernel(plan).map(Records.of([record(ROW)], "f"))
    sink = ParquetSink(tmp_path / "gone", "part-000000-0", plan)
    sink.append(outcome)
    with pytest.raises(Exception, match="metl-run-error"):
        sink.close()
    assert list(tmp_path.iterdir()) == []
