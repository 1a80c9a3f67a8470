"""Messages as rows of histories: exact values in wide types, and what a warehouse tells messages apart by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import COLUMNS, INFINITE_DATES, INFINITE_TIMES, StagedPart
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, SourceType, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.row_code import row_code
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks import typed_rows
from metl_gui.engine.sinks.column_code import SOURCE
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.engine.staging.columns import history_column
from metl_gui.engine.staging.sink import StageSink, staged_parts


@pytest.fixture(autouse=True, params=["machine code", "value by value"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to read messages, which must give the same."""
    is_used = request.param == "machine code"
    monkeypatch.setattr(typed_rows, "MACHINE", row_code(SOURCE, -1, -1) if is_used else row_code(SOURCE, 1 << 62))
    return str(request.param)


CONNECT, TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
ATTRIBUTES: dict[str, tuple[ColumnPlan, str]] = {
    "id": (ColumnPlan("id", "int64"), "integer"),
    "amount": (ColumnPlan("money.amount", "bytes", f"{CONNECT}Decimal", 2), "decimal(38,2)"),
    "rate": (ColumnPlan("rate", "number"), "text"),
    "weight": (ColumnPlan("weight", "float"), "float"),
    "is_paid": (ColumnPlan("is_paid", "boolean"), "boolean"),
    "day": (ColumnPlan("day", "int32", f"{TIME}Date"), "date"),
    "local": (ColumnPlan("at.local", "int64", f"{TIME}Timestamp"), "timestamp"),
    "zoned": (ColumnPlan("at.zoned", "string", f"{TIME}ZonedTimestamp"), "instant"),
    "nanos": (ColumnPlan("at.nanos", "int64", f"{TIME}NanoTimestamp"), "integer"),
    "exact": (ColumnPlan("exact", "struct", "io.debezium.data.VariableScaleDecimal"), "text"),
    "tags": (ColumnPlan("tags", "array"), "json"),
    "name": (ColumnPlan("name", "string"), "text"),
    "picture": (ColumnPlan("picture", "bytes"), "text"),
}
PLANS = tuple(plan for plan, _ in ATTRIBUTES.values())
ORDER = EntityHistory(
    "order",
    ("id",),
    tuple(HistoryColumn(name, plan.path, type_, {"2": plan.path}) for name, (plan, type_) in ATTRIBUTES.items()),
)


def plan_of(columns: Sequence[ColumnPlan] = PLANS, sources: Sequence[SourceType] = ()) -> Plan:
    paths = tuple(one.path for one in columns)
    order = BlockPlan("order", "2", tuple((path, path) for path in paths))
    other = BlockPlan("other", "1", (("id", "number"),))
    version = VersionPlan("1", "", paths, key=("id",), blocks=(order, other), is_inferred=True)
    entities = (
        EntityPlan("order", "2", tuple(columns), tuple(sources)),
        EntityPlan("other", "1", (ColumnPlan("number", "int64"),)),
    )
    return Plan(7, "abc", (SchemaPlan("shop.orders", (version,), placeholder="gone"),), entities=entities)


def record(row: str, op: str = "c", offset: int = 5, committed: int = 1634052484000) -> bytes:
    half = "before" if op == "d" else "after"
    value = (
        f'{{"{half}":{row},"source":{{"connector":"postgresql","name":"shop","schema":"public","table":"orders",'
        f'"lsn":{offset},"ts_ms":{committed},"snapshot":"false"}},"op":"{op}","ts_ms":1634052485000}}'
    )
    return f'{{"topic":"shop.orders","partition":3,"offset":{offset},"value":{value}}}'.encode()


ROW = (
    '{"id":9007199254740993,"money":{"amount":12.50},"rate":1.500E-400,"weight":3.3,"is_paid":true,"day":-1,'
    '"at":{"local":-1,"zoned":"2026-11-22T01:02:03.1234560Z","nanos":1634052484000000001},'
    '"exact":{"scale":3,"value":"MDk="},"tags":[1, {"a":"b"}],"name":"x\\u00e9","picture":"AAEC"}'
)


TRUNCATE = (
    b'{"topic":"shop.orders","partition":3,"offset":9,"value":{"before":null,"after":null,"op":"t","ts_ms":1,'
    b'"source":{"schema":"public","table":"orders","lsn":9}}}'
)


def staged(
    folder: Path,
    raws: list[bytes],
    plan: Plan | None = None,
    histories: Sequence[EntityHistory] = (ORDER,),
    **asked: Any,
) -> tuple[list[dict[str, Any]], dict[int, RejectedRecord]]:
    """Stage records; return the rows of orders, and what was refused."""
    kernel = Kernel(plan or plan_of(), **asked)
    folder.mkdir(exist_ok=True)
    sink = StageSink(folder, "part-000000-0", kernel.plan, histories)
    refused = sink.append(kernel.map(Records.of(raws, "f")))
    sink.close()
    parts = sorted((folder / "order").glob("*.parquet"))
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()], refused


def test_a_message_becomes_a_row_of_its_history(tmp_path: Path) -> None:
    rows, refused = staged(tmp_path, [record(ROW)])
    assert refused == {}
    assert rows == [
        {
            "schema": "shop.orders",
            "row_key": '{"id":9007199254740993}',
            "order_key": f"p{5:016x}{5:016x}{0:016x}",
            "op": "c",
            "publication": 7,
            "schema_version": "1",
            "entity_version": "2",
            "committed_at": datetime(2021, 10, 12, 15, 28, 4, tzinfo=UTC),
            "seen_at": datetime(2021, 10, 12, 15, 28, 5, tzinfo=UTC),
            "position_log": "shop.orders",
            "position_partition": 3,
            "position_offset": 5,
            "snapshot": False,
            "old_key": None,
            "absent": [],
            "id": Decimal(9007199254740993),
            "amount": Decimal("12.50"),
            "rate": "1.500E-400",
            "weight": 3.3,
            "is_paid": True,
            "day": date(1969, 12, 31),
            "local": datetime(1969, 12, 31, 23, 59, 59, 999000),  # noqa: DTZ001 - a local time
            "zoned": datetime(2026, 11, 22, 1, 2, 3, 123456, tzinfo=UTC),
            "nanos": Decimal(1634052484000000001),
            "exact": "12.345",
            "tags": '[1, {"a":"b"}]',
            "name": "xé",
            "picture": "AAEC",
        }
    ]


def test_columns_have_their_names_order_and_types(tmp_path: Path) -> None:
    staged(tmp_path, [record(ROW)])
    (part,) = (tmp_path / "order").glob("*.parquet")
    schema = pq.ParquetFile(part).schema_arrow
    assert tuple(schema.names) == (*COLUMNS, *ATTRIBUTES)
    types = {name: schema.field(name).type for name in schema.names}
    texts = ("schema", "row_key", "order_key", "op", "schema_version", "entity_version", "position_log", "old_key")
    assert {types[name] for name in texts} == {pa.string()}
    assert {types[name] for name in ("publication", "position_partition", "position_offset")} == {pa.int64()}
    assert {types[name] for name in ("committed_at", "seen_at", "zoned")} == {pa.timestamp("us", "UTC")}
    assert types["absent"] == pa.list_(pa.field("element", pa.string()))
    assert [str(types[name]) for name in ("id", "nanos", "amount", "weight", "day", "local", "tags", "rate")] == [
        *("decimal128(38, 0)", "decimal128(38, 0)", "decimal128(38, 2)", "double", "date32[day]", "timestamp[us]"),
        *("string", "string"),
    ]


def test_what_a_message_does_not_carry_is_named_in_absent(tmp_path: Path) -> None:
    raws = [
        record('{"id":1,"name":"gone","rate":2}', "u"),
        record('{"id":2}', "d"),
        TRUNCATE,
    ]
    rows, _ = staged(tmp_path, raws)
    update, delete, truncate = rows
    assert (update["absent"], update["name"], update["rate"], update["day"]) == (["name"], None, "2", None)
    assert delete["absent"] == sorted(name for name in ATTRIBUTES if name != "id")
    assert delete["id"] == 2
    assert truncate["absent"] == sorted(ATTRIBUTES)
    assert [truncate[name] for name in ("op", "row_key", "entity_version", "schema_version")] == ["t", None, None, None]
    assert truncate["order_key"] == f"p{9:016x}{9:016x}{0:016x}"


def test_a_changed_key_is_a_delete_and_a_create_that_names_the_row_before(tmp_path: Path) -> None:
    change = record('{"id":2}', "u").replace(b'{"after"', b'{"before":{"id":1.0},"after"')
    rows, _ = staged(tmp_path, [change])
    assert [(row["op"], row["row_key"], row["old_key"]) for row in rows] == [
        ("d", '{"id":1}', None),
        ("c", '{"id":2}', '{"id":1}'),
    ]
    assert rows[0]["order_key"] == rows[1]["order_key"]


def test_columns_of_other_versions_are_empty_and_absent(tmp_path: Path) -> None:
    newer = EntityHistory("order", ("id",), (*ORDER.columns, HistoryColumn("vip", "vip", "boolean", {"3": "vip"})))
    rows, _ = staged(tmp_path, [record(ROW)], histories=[newer])
    assert (rows[0]["absent"], rows[0]["vip"], rows[0]["id"]) == (["vip"], None, Decimal(9007199254740993))


def test_an_attribute_is_found_by_the_path_that_its_version_has(tmp_path: Path) -> None:
    renamed = EntityHistory(
        "order", ("number",), (HistoryColumn("number", "number", "integer", {"2": "id", "3": "number"}),)
    )
    rows, _ = staged(tmp_path, [record(ROW)], histories=[renamed])
    assert (rows[0]["number"], rows[0]["absent"]) == (Decimal(9007199254740993), [])


def test_entities_without_a_history_are_left_out_and_refuse_nothing(tmp_path: Path) -> None:
    other = EntityHistory("other", (), (HistoryColumn("number", "number", "integer", {"1": "number"}),))
    _, refused = staged(tmp_path, [record('{"id":1,"day":"x"}')], histories=[other])
    assert refused == {}
    assert staged_parts(tmp_path) == (StagedPart("other", str(tmp_path / "other" / "part-000000-0-0.parquet"), 1),)


@pytest.mark.parametrize(
    ("member", "attribute"),
    [
        ('"id":1.5', "id"),
        ('"id":"1"', "id"),
        ('"id":true', "id"),
        (f'"id":{10**38}', "id"),
        ('"money":{"amount":1.005}', "money.amount"),
        ('"rate":"1"', "rate"),
        ('"weight":1e400', "weight"),
        ('"is_paid":1', "is_paid"),
        ('"day":2932897', "day"),
        ('"at":{"local":253402300800000}', "at.local"),
        ('"at":{"local":9223372036854775807}', "at.local"),
        ('"at":{"zoned":"yesterday"}', "at.zoned"),
        ('"at":{"zoned":"2026-11-22T01:02:03.1234567Z"}', "at.zoned"),
        ('"name":5', "name"),
    ],
)
def test_a_value_that_its_history_would_change_sets_its_record_aside(
    tmp_path: Path, member: str, attribute: str
) -> None:
    head = "" if member.startswith('"id"') else '"id":1,'
    rows, refused = staged(tmp_path, [record(ROW), record(f"{{{head}{member}}}")])
    assert list(refused) == [1]
    assert refused[1].reason == "type_mismatch"
    assert refused[1].detail.startswith(f"order@2 {attribute} takes ")
    assert len(rows) == 1


def test_a_commit_of_no_calendar_sets_its_record_aside(tmp_path: Path) -> None:
    rows, refused = staged(tmp_path, [record(ROW, committed=1562202942666382000)])
    assert rows == []
    assert refused[0].detail.startswith("order@2 source.committed_at_ms takes times of the years 1 to 9999")


def test_infinite_times_are_the_numbers_that_stand_for_them(tmp_path: Path) -> None:
    values = ['"infinity"', '"-infinity"', '"2026-11-22T00:00:00Z"']
    locals_ = [INFINITE_TIMES[1] // 1000, INFINITE_TIMES[0] // 1000, 0]
    days = [*INFINITE_DATES, 0]
    raws = [
        record(f'{{"id":1,"day":{day},"at":{{"zoned":{zoned},"local":{local}}}}}')
        for zoned, local, day in zip(values, locals_, days, strict=True)
    ]
    sink = StageSink(tmp_path, "part-000000-0", plan_of(), [ORDER])
    assert sink.append(Kernel(plan_of()).map(Records.of(raws, "f"))) == {}
    table = pq.ParquetFile(sink.close()[0]).read()
    times = [table[name].cast(pa.int64()).to_pylist() for name in ("zoned", "local")]
    assert times == [
        [INFINITE_TIMES[1], INFINITE_TIMES[0], 1795305600000000],
        [INFINITE_TIMES[1], INFINITE_TIMES[0], 0],
    ]
    assert table["day"].cast(pa.int32()).to_pylist() == days


def test_the_publication_is_that_of_the_run(tmp_path: Path) -> None:
    rows, _ = staged(tmp_path, [record(ROW)], publication=41)
    assert rows[0]["publication"] == 41


def test_decimals_of_a_source_are_read_in_its_scale(tmp_path: Path) -> None:
    source = SourceType("shop.orders", "1", "id", "bytes", f"{CONNECT}Decimal", 0)
    rows, refused = staged(tmp_path, [record('{"id":"BNI="}')], plan_of(sources=[source]))
    assert refused == {}
    assert rows[0]["id"] == 1234


@pytest.mark.parametrize(
    ("plan", "values", "expected"),
    [
        (ColumnPlan("a", "int64"), [5, None], ["5", None]),
        (ColumnPlan("a", "double"), [1.5], ["1.5"]),
        (ColumnPlan("a", "boolean"), [True], ["true"]),
        (ColumnPlan("a", "int32", f"{TIME}Date"), [0], ["1970-01-01"]),
        (ColumnPlan("a", "int64", f"{TIME}MicroTimestamp"), [1], ["1970-01-01 00:00:00.000001"]),
        (ColumnPlan("a", "string", f"{TIME}ZonedTimestamp"), ["1970-01-01T00:00:00Z"], ["1970-01-01 00:00:00.000000Z"]),
        (ColumnPlan("a", "bytes", f"{CONNECT}Decimal", 2), ["BNI="], ["12.34"]),
        (ColumnPlan("a", "array"), [[1]], ["[1]"]),
    ],
)
def test_an_attribute_whose_versions_differ_is_kept_as_text(
    plan: ColumnPlan, values: list[Any], expected: list[str | None]
) -> None:
    read = history_column(plan, "text").read
    assert read(json.dumps(values, separators=(",", ":")).encode()).to_pylist() == expected
