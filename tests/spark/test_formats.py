"""Outputs in typed columns and by date, from a real run, read back with pyarrow and with a real Spark."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from metl_gui.core.runs.report import RunReport
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import ColumnPlan, EntityPlan, SourceType
from metl_gui.engine.mapping.plan_compiler import entity_plans
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.runs.mapping_run import RunResult, run_mapping
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import run_request
from tests.helpers.run_specs import changed
from tests.spark.conftest import SpecOf, order_record

_READ = """
import os, sys
import pyarrow as pa
sys.path.insert(0, sys.argv[3])
from metl_gui.engine.spark.java import find_java
os.environ.update(JAVA_HOME=str(find_java().path), SPARK_LOCAL_IP="127.0.0.1")
from pyspark.sql import SparkSession
settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
for entity in os.listdir(sys.argv[1]):
    table = spark.read.parquet(f"{sys.argv[1]}/{entity}").toArrow()
    with pa.OSFile(f"{sys.argv[2]}/{entity}.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
spark.stop()
"""


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFolder:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return fresh_copy()


@pytest.fixture
def workbench(sample: SampleFolder) -> Iterator[Workbench]:
    with Workbench.open(sample.project) as opened:
        yield opened


def run(workbench: Workbench, spark: SparkProcess, source: Path, sink: Path, **options: Any) -> RunResult:
    return run_mapping(workbench, run_request(str(source), str(sink), **options), spark)


def read_by_spark(folder: Path, into: Path) -> dict[str, list[dict[str, Any]]]:
    into.mkdir()
    command = [sys.executable, "-c", _READ, str(folder), str(into), str(Path(__file__).parents[2])]
    subprocess.run(command, check=True, capture_output=True)
    return {path.stem: pa.ipc.open_file(str(path)).read_all().to_pylist() for path in into.iterdir()}


def refusals(report: RunReport) -> list[dict[str, Any]]:
    """The rows of the error store of what does not fit its columns."""
    parts = (Path(report.errors) / "reason=type_mismatch").glob("*")
    return [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]


def meant(column: ColumnPlan | SourceType, value: Any) -> object:
    """What a value of a message says, by the type of its source; written apart from what writes columns."""
    if value is None:
        return None
    if column.type in ("array", "map", "struct", "any", "union", "unknown"):
        return value
    match column.logical.rpartition(".")[2]:
        case "date":
            return date.fromisoformat(value)
        case "Decimal" if isinstance(value, str):
            return Decimal(int.from_bytes(base64.b64decode(value), "big", signed=True)).scaleb(-(column.scale or 0))
        case "Date":
            return date(1970, 1, 1) + timedelta(days=value)
        case "MicroTimestamp":
            local = datetime(1970, 1, 1) + timedelta(microseconds=value)  # noqa: DTZ001 - a local time
            zone_name = column.time_zone if isinstance(column, SourceType) else ""
            return local.replace(tzinfo=ZoneInfo(zone_name)) if zone_name else local
        case "Timestamp":
            zone = UTC if column.logical.startswith("org.apache") else None
            return datetime(1970, 1, 1, tzinfo=zone) + timedelta(milliseconds=value)
        case "ZonedTimestamp" | "date-time":
            return datetime.fromisoformat(value)
        case _:
            return base64.b64decode(value) if column.type == "bytes" and isinstance(value, str) else value


def typed(column: ColumnPlan, value: object) -> object:
    return float(value) if column.type == "number" and isinstance(value, Decimal | int) else value


def in_columns(message: dict[str, Any], plan: EntityPlan) -> dict[str, Any]:
    """Write a message as the row that it should be."""
    source = message["source"]
    of_source: dict[str, list[SourceType]] = {}
    for one in plan.sources:
        if (one.schema, one.version) == (source["schema"], source["version"]):
            of_source.setdefault(one.path, []).append(one)

    def read(column: ColumnPlan) -> object:
        value = at(message["payload"], column.path)
        kinds = of_source.get(column.path, [])
        kind = next((one for one in kinds if (one.type == "string") == isinstance(value, str)), None)
        return meant(kind or next(iter(kinds), column), value)

    said = {column.path: read(column) for column in plan.columns}
    return {
        "entity": message["entity"],
        "state": message["state"],
        "op": message["op"],
        "key": message["key"],
        "ts_ms": message["ts_ms"],
        "source": source,
        "payload": {column.path: typed(column, said[column.path]) for column in plan.columns},
        "unchanged": message.get("unchanged", []),
        "replayed": message.get("replayed", False),
        "absent": [column.path for column in plan.columns if not is_carried(message, column.path)],
        "digits": {column.path: text for column in plan.columns if (text := as_written(column, said[column.path]))},
    }


def is_carried(message: dict[str, Any], path: str) -> bool:
    *parents, leaf = path.split(".")
    found = at(message["payload"], ".".join(parents)) if parents else message["payload"]
    return isinstance(found, dict) and leaf in found and path not in message.get("unchanged", [])


def as_written(column: ColumnPlan, value: object) -> str:
    """The digits of a number that its column does not say; empty for all other values."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int):
        return ""
    if column.logical.endswith("Decimal"):
        return "" if str(value) == f"{value:.{column.scale}f}" else str(value)
    return str(value) if column.type in ("float", "double", "number") else ""


def as_told(row: dict[str, Any], plan: EntityPlan) -> dict[str, Any]:
    """Read the JSON in a row, and take its payload apart by paths."""
    told = {name: value for name, value in row.items() if name not in ("version", "date")}
    payload = {column.path: at(row["payload"], column.path) for column in plan.columns}
    for column in plan.columns:
        if column.type in ("array", "map", "struct", "any", "union", "unknown") and payload[column.path] is not None:
            payload[column.path] = json.loads(payload[column.path], parse_float=Decimal)
    return told | {
        "key": row["key"] and json.loads(row["key"], parse_float=Decimal),
        "source": row["source"]
        | {name: row["source"][name] and json.loads(row["source"][name]) for name in ("origin", "old_key")},
        "payload": payload,
        "digits": {
            column.path: text
            for column in plan.columns
            if (text := at(row.get("digits") or {}, column.path)) is not None
        },
    }


def at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def by_place(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["source"]["position"], row["op"]))


def test_typed_columns_say_what_the_messages_say_to_pyarrow_and_to_spark(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path
) -> None:
    lines = run(workbench, spark, sample.messages, tmp_path / "jsonl").report
    typed = run(workbench, spark, sample.messages, tmp_path / "parquet", format="parquet").report
    refused = typed.by_reason["type_mismatch"]
    assert (lines.format, typed.format) == ("jsonl", "parquet")
    assert (typed.read, typed.mapped, typed.set_aside) == (
        lines.read,
        lines.mapped - refused,
        lines.set_aside + refused,
    )
    rows = refusals(typed)
    # Whole numbers are no text, and days are no instants: what the matrix flags too. Local times are, as the sample
    # states where they hold.
    assert {row["detail"].split(" takes ")[0] for row in rows} == {
        "refund@2.0.0 refund_id",
        "refund@2.0.0 opened_at",
        "ledger_entry@2.0.0 booked_at",
    }
    assert [row for row in rows if "local time" in row["detail"]] == []
    left_out = {row["position"] for row in rows}
    assert len(left_out) == len(rows) == refused
    planned = {plan.entity: plan for plan in entity_plans(workbench.document)}
    by_spark = read_by_spark(tmp_path / "parquet", tmp_path / "arrow")
    assert set(by_spark) == set(lines.by_entity)
    for entity, plan in planned.items():
        if entity not in lines.by_entity:
            continue
        parts = (tmp_path / "jsonl" / entity).glob("*.jsonl")
        texts = [line for part in parts for line in part.read_bytes().splitlines()]
        messages = [json.loads(line, parse_float=Decimal) for line in texts]
        messages = [message for message in messages if message["source"]["position"] not in left_out]
        expected = by_place([in_columns(message, plan) for message in messages])
        table = ds.dataset(tmp_path / "parquet" / entity, partitioning="hive").to_table()
        assert by_place([as_told(row, plan) for row in table.to_pylist()]) == expected
        assert by_place([as_told(row, plan) for row in by_spark[entity]]) == expected


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_each_day_of_the_messages_has_its_folder(
    workbench: Workbench, sample: SampleFolder, spark: SparkProcess, tmp_path: Path, format_: str
) -> None:
    whole = run(workbench, spark, sample.messages, tmp_path / "whole").report
    dated = run(workbench, spark, sample.messages, tmp_path / "dated", format=format_, by_date=True).report
    assert whole.by_reason == {name: n for name, n in dated.by_reason.items() if name != "type_mismatch"}
    texts = [line for part in (tmp_path / "whole").rglob("*.jsonl") for line in part.read_bytes().splitlines()]
    refused = {row["position"] for row in refusals(dated)}
    assert len(refused) == dated.by_reason.get("type_mismatch", 0)
    messages = [json.loads(line) for line in texts]
    expected = Counter(
        (message["entity"], f"date={datetime.fromtimestamp(message['ts_ms'] / 1000, UTC):%Y-%m-%d}")
        for message in messages
        if message["source"]["position"] not in refused
    )
    found: Counter[tuple[str, str]] = Counter()
    for part in (tmp_path / "dated").rglob("part-*"):
        entity = part.relative_to(tmp_path / "dated").parts[0]
        count = len(part.read_bytes().splitlines()) if format_ == "jsonl" else ds.dataset(part).count_rows()
        found[entity, part.parent.name] += count
    assert found == expected


def test_records_that_do_not_fit_are_set_aside_whole_and_everything_adds_up(
    spark: SparkProcess, spec_of: SpecOf, order_plan: bytes, tmp_path: Path
) -> None:
    (tmp_path / "source.jsonl").write_bytes(b"".join(order_record(number) + b"\n" for number in range(5000)))
    # Amounts are written with one half too much for every other record.
    money = ColumnPlan("money.amount", "bytes", "org.apache.kafka.connect.data.Decimal", 0)
    plan = plans.decode(order_plan)
    columns = EntityPlan("order", "1", (ColumnPlan("order_id", "int64"), money))
    remark = EntityPlan("remark", "1", (ColumnPlan("about", "int64"), ColumnPlan("text", "string")))
    strict = plans.encode(plans.Plan(plan.state, plan.hash, plan.schemas, entities=(columns, remark)))
    report = spark.run(changed(spec_of(tmp_path / "source.jsonl", format="parquet"), plan=strict))
    assert (report.read, report.mapped, report.by_reason) == (5000, 0, {"type_mismatch": 5000})
    assert (report.messages_out, report.by_entity, report.from_unreviewed, report.by_attribute) == (0, {}, {}, {})
    rows = [
        json.loads(line) for part in (tmp_path / "errors").rglob("*.jsonl") for line in part.read_bytes().splitlines()
    ]
    assert {row["raw"].encode() for row in rows} == {order_record(number) for number in range(5000)}
    assert rows[7]["detail"].startswith("order@1 money.amount takes decimals")
    assert not list((tmp_path / "out").rglob("*.parquet"))
