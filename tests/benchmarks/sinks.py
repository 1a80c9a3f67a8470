"""Typed columns in Parquet against JSON lines: the same messages, written into a folder as one task does.

The messages are those of orders with values of many types: whole numbers, decimals as digits and as bytes in base64,
texts, days and times, fractions, truths, lists. Before timing, what stands in the Parquet parts is compared with the
messages, value by value; a sink that refuses a record fails the benchmark. Batches are mapped beforehand.
"""

from __future__ import annotations

import base64
import json
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.row_code import MAKING_ROWS
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.column_code import MACHINE
from metl_gui.engine.sinks.jsonl import JsonlSink
from metl_gui.engine.sinks.parquet import ParquetSink
from tests.benchmarks.harness import Case, paired
from tests.benchmarks.kernel_loads import envelope

_MESSAGES = 100_000
_QUICK_MESSAGES = 20_000
_BATCH = 5_000
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
ORDER_COLUMNS = (
    ColumnPlan("id", "int64"),
    ColumnPlan("customer", "int32"),
    ColumnPlan("money.amount", "bytes", _DECIMAL, 2),
    ColumnPlan("money.fee", "bytes", _DECIMAL, 4),
    ColumnPlan("money.currency", "string"),
    ColumnPlan("status", "string"),
    ColumnPlan("note", "string"),
    ColumnPlan("rate", "double"),
    ColumnPlan("is_paid", "boolean"),
    ColumnPlan("day", "int32", "io.debezium.time.Date"),
    ColumnPlan("at.booked", "int64", "io.debezium.time.MicroTimestamp"),
    ColumnPlan("at.seen", "string", "io.debezium.time.ZonedTimestamp"),
    ColumnPlan("tags", "array"),
)


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure one kind of row, whole and cut by day."""
    count = _QUICK_MESSAGES if quick else _MESSAGES
    dice = random.Random(7)
    plan = order_plan()
    rows = [order_row(dice, number) for number in range(count)]
    kernel = Kernel(plan)
    # As after many rows: machine code is there.
    if MACHINE.after(MAKING_ROWS + 1) is None:
        raise AssertionError("there is no machine code")
    batches = []
    for start in range(0, count, _BATCH):
        raws = [envelope(start + n, "orders", row) for n, row in enumerate(rows[start : start + _BATCH])]
        batches.append(kernel.map(Records.of(raws, "fx.jsonl")))
    _check(plan, batches, by_date=False)
    yield _conversion(plan, batches, rounds)
    for name, by_date in (("rows of 13 columns", False), ("rows of 13 columns, by date", True)):
        _check(plan, batches, by_date)
        yield _case(name, plan, batches, by_date, rounds)


def _case(name: str, plan: Plan, batches: list[MappedBatch], by_date: bool, rounds: int) -> Case:
    count = sum(map(len, batches))
    return paired(
        f"parquet, {name}",
        lambda: _written("parquet", plan, batches, by_date),
        lambda: _written("jsonl", plan, batches, by_date),
        unit="us a message",
        per=1e6 / count,
        target=None,
        rounds=rounds,
        note=f"{count} messages of {sum(len(one.text) for one in batches) / count:.0f} bytes; JSON lines as baseline",
    )


def _conversion(plan: Plan, batches: list[MappedBatch], rounds: int) -> Case:
    """Measure what is made of messages before pyarrow writes it."""
    count = sum(map(len, batches))
    return paired(
        "arrow, rows of 13 columns",
        lambda: _converted(plan, batches),
        lambda: _written("jsonl", plan, batches, False),
        unit="us a message",
        per=1e6 / count,
        target=None,
        rounds=rounds,
        note=f"{count} messages as tables, nothing written; JSON lines, written, as baseline",
    )


def _converted(plan: Plan, batches: list[MappedBatch]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        sink = ParquetSink(Path(folder), "part-000000-0", plan, held_bytes=1 << 50)
        return sum(len(sink.append(outcome)) for outcome in batches)


def _written(kind: str, plan: Plan, batches: list[MappedBatch], by_date: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return len(_write(kind, Path(folder), plan, batches, by_date))


def _write(kind: str, folder: Path, plan: Plan, batches: list[MappedBatch], by_date: bool) -> list[str]:
    name = "part-000000-0"
    sink = (
        ParquetSink(folder, name, plan, by_date=by_date)
        if kind == "parquet"
        else JsonlSink(folder, name, by_date=by_date)
    )
    for outcome in batches:
        if sink.append(outcome):
            raise AssertionError("a record was refused")
    return sink.close()


def _check(plan: Plan, batches: list[MappedBatch], by_date: bool) -> None:
    """Fail unless both wrote the same."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        lines = _write("jsonl", Path(one), plan, batches, by_date)
        messages = [
            json.loads(line, parse_float=Decimal) for path in lines for line in Path(path).read_bytes().splitlines()
        ]
        parts = _write("parquet", Path(other), plan, batches, by_date)
        rows = [row for path in parts for row in pq.ParquetFile(path).read().to_pylist()]
    by_place = sorted(messages, key=lambda message: str(message["source"]["position"]))
    for row, message in zip(sorted(rows, key=lambda row: str(row["source"]["position"])), by_place, strict=True):
        told = {**row, "key": json.loads(row["key"]), "payload": {**row["payload"]}}
        source = row["source"]
        told["source"] = source | {name: json.loads(source[name] or "null") for name in ("origin", "old_key")}
        told["payload"]["tags"] = json.loads(row["payload"]["tags"])
        meant = {"unchanged": [], "replayed": False, "absent": [], **message, "payload": _meant(message["payload"])}
        del meant["version"]
        if Decimal(told.pop("digits")["rate"]) != message["payload"]["rate"]:
            raise AssertionError("a fraction is not as it was written")
        if told != meant:
            raise AssertionError(f"{told} is not {meant}")


def _meant(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a payload as their types mean them."""
    fee = int.from_bytes(base64.b64decode(payload["money"]["fee"]), "big", signed=True)
    booked = datetime(1970, 1, 1) + timedelta(microseconds=payload["at"]["booked"])  # noqa: DTZ001 - a local time
    return payload | {
        "money": payload["money"] | {"fee": Decimal(fee).scaleb(-4)},
        "rate": float(payload["rate"]),
        "day": date(1970, 1, 1) + timedelta(days=payload["day"]),
        "at": {"booked": booked, "seen": datetime.fromisoformat(payload["at"]["seen"])},
    }


def order_row(dice: random.Random, number: int) -> dict[str, Any]:
    """Return a row of an order."""
    fee = dice.randrange(-(10**6), 10**6)
    seen = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=dice.randrange(10**6))
    return {
        "id": number,
        "customer": dice.randrange(10**6),
        "amount": dice.randrange(10**7) / 100,
        "fee": base64.b64encode(fee.to_bytes(4, "big", signed=True)).decode(),
        "currency": dice.choice(("EUR", "USD", "JPY")),
        "status": dice.choice(("open", "paid", "sent back")),
        "note": None if dice.random() < 0.3 else "".join(dice.choices("abcdefghij klmnopqrst", k=dice.randrange(40))),
        "rate": dice.randrange(10**8) / 1e6,
        "is_paid": dice.random() < 0.5,
        "day": dice.randrange(20_000, 21_000),
        "booked": 1_795_217_683_000_000 + dice.randrange(10**12),
        "seen": seen.isoformat().replace("+00:00", "Z"),
        "tags": [dice.randrange(100) for _ in range(dice.randrange(4))],
    }


def order_plan() -> Plan:
    """Return a plan that maps the columns of orders one to one."""
    names = tuple(column.path.rpartition(".")[2] for column in ORDER_COLUMNS)
    targets = tuple((name, column.path) for name, column in zip(names, ORDER_COLUMNS, strict=True))
    version = VersionPlan("1", "", names, names[:1], names[:1], (BlockPlan("order", "2", targets),))
    entities = (EntityPlan("order", "2", ORDER_COLUMNS),)
    return Plan(17, "0" * 64, (SchemaPlan("fx.public.orders", (version,)),), entities=entities)
