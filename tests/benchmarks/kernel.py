"""The kernel against an orjson round trip (loads, then dumps) of the same bytes, every acceptance check included.

The envelopes are those that Debezium writes for PostgreSQL, about 436 bytes each, of four tables with several versions
and all operations, as they would follow each other in a file. Before timing, every payload is compared with the row it
came from as exact parsed values.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from metl_gui.core.connect_schema import declare
from metl_gui.core.declarations import fingerprint
from metl_gui.engine.kernel.kernel import Kernel
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from tests.benchmarks.harness import Case, paired

_MESSAGES = 20_000
_QUICK_MESSAGES = 4_000
_TARGET = 0.7
_TABLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "payments": (
        ("id", "customer_id", "amount", "currency", "status", "booked_at"),
        ("id", "customer_id", "amount", "currency", "status", "booked_at", "note"),
    ),
    "accounts": (
        ("id", "iban", "owner_id", "balance", "opened_on"),
        ("id", "iban", "owner_id", "balance", "closed_on"),
    ),
    "cards": (("card_id", "account_id", "expires", "pin_tries", "wallet"),),
    "entries": (("entry_id", "journal_id", "account_id", "amount", "currency", "text", "day"),),
}


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure bare envelopes with the target, and two other ways they come without one."""
    dice = random.Random(7)
    count = _QUICK_MESSAGES if quick else _MESSAGES
    kinds: tuple[tuple[str, Callable[[_Event], bytes], float | None], ...] = (
        ("envelopes", lambda event: event.envelope, _TARGET),
        ("envelopes in wrappers", _wrapped, None),
        ("envelopes with schemas", _with_schema, None),
    )
    for name, write, target in kinds:
        events = [_event(dice, number, count) for number in range(count)]
        yield _case(name, events, [write(event) for event in events], target, rounds)


@dataclass(frozen=True, slots=True)
class _Event:
    table: str
    version: int
    op: str
    row: dict[str, Any]
    envelope: bytes


def _event(dice: random.Random, number: int, count: int) -> _Event:
    """Make one change of a table picked at random; its columns change once, halfway."""
    table = dice.choice(list(_TABLES))
    version = len(_TABLES[table]) * number // count
    op = dice.choices("cuurd", k=1)[0]
    row = {name: _value(dice, name) for name in _TABLES[table][version]}
    lsn = 29_983_544 + 8 * number
    content = {
        "before": row if op == "d" else None,
        "after": None if op == "d" else row,
        "source": {
            "version": "3.6.3.Final",
            "connector": "postgresql",
            "name": "fx",
            "ts_ms": 1_795_217_683_000 + number,
            "snapshot": "last" if op == "r" else "false",
            "db": "pay",
            "sequence": f'["{lsn - 56}","{lsn}"]',
            "schema": "public",
            "table": table,
            "txId": 1000 + number // 3,
            "lsn": lsn,
            "xmin": None,
        },
        "transaction": None,
        "op": op,
        "ts_ms": 1_795_217_683_500 + number,
    }
    return _Event(table, version, op, row, orjson.dumps(content))


def _value(dice: random.Random, name: str) -> int | float | str | None:
    if name.endswith("id") or name in ("pin_tries", "day", "opened_on", "expires"):
        return dice.randrange(1, 10**6)
    if name in ("amount", "balance"):
        return dice.randrange(100, 10**7) / 100
    if dice.random() < 0.1:
        return None
    return "".join(dice.choices("abcdefghij klmnopqrst", k=dice.randrange(3, 18)))


def _plan() -> Plan:
    schemas = []
    for table, versions in _TABLES.items():
        plans = []
        for number, names in enumerate(versions):
            targets = tuple((name, f"facts.{name}" if at % 3 == 2 else f"{name}_of") for at, name in enumerate(names))
            blocks = (BlockPlan(f"{table}_entity", "2", targets),)
            print_ = fingerprint(declare(_row_schema(names)))
            plans.append(VersionPlan(str(number + 1), print_, names, names[:1], names[:1], blocks))
        schemas.append(SchemaPlan(f"fx.public.{table}", tuple(plans)))
    return Plan(17, "0" * 64, tuple(schemas))


def _case(name: str, events: list[_Event], raws: list[bytes], target: float | None, rounds: int) -> Case:
    kernel, records = Kernel(_plan()), Records.of(raws, "fx.jsonl")
    _check(kernel, events, records)
    return paired(
        f"kernel, {name}",
        lambda: kernel.map(records),
        lambda: [orjson.dumps(orjson.loads(raw)) for raw in raws],
        unit="us a message",
        per=1e6 / len(raws),
        target=target,
        rounds=rounds,
        note=f"{len(raws)} records of {sum(map(len, raws)) / len(raws):.0f} bytes, orjson round trip as baseline",
    )


def _check(kernel: Kernel, events: list[_Event], records: Records) -> None:
    """Fail unless every record was mapped and each payload holds the row's exact values."""
    outcome = kernel.map(records)
    if outcome.fates.any() or outcome.records.tolist() != list(range(len(records))):
        raise AssertionError("a record was not mapped")
    for event, text in zip(events, outcome.messages(), strict=True):
        payload = json.loads(text, parse_float=Decimal)["payload"]
        row = json.loads(event.envelope, parse_float=Decimal)["before" if event.op == "d" else "after"]
        names = list(row)[:1] if event.op == "d" else list(row)
        values = [value for value in _leaves(payload) if value is not None]
        if sorted(map(str, values)) != sorted(str(row[name]) for name in names if row[name] is not None):
            raise AssertionError(f"the payload {payload} does not hold the values of {row}")


def _leaves(payload: dict[str, Any]) -> Iterator[Any]:
    for value in payload.values():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield value


def _wrapped(event: _Event) -> bytes:
    key = orjson.dumps({name: event.row[name] for name in _TABLES[event.table][event.version][:1]}).decode()
    carrier = {"topic": f"fx.public.{event.table}", "key": key, "value": event.envelope.decode()}
    return orjson.dumps(carrier | {"partition": 0, "offset": 188, "timestamp": 1_795_244_088_918})


def _with_schema(event: _Event) -> bytes:
    row = _row_schema(_TABLES[event.table][event.version])
    op = {"type": "string", "optional": False, "field": "op"}
    fields = [row | {"field": "before"}, row | {"field": "after"}, op]
    schema = {"type": "struct", "fields": fields, "name": f"fx.public.{event.table}.Envelope"}
    return b'{"schema":' + orjson.dumps(schema) + b',"payload":' + event.envelope + b"}"


def _row_schema(names: tuple[str, ...]) -> dict[str, Any]:
    fields = [{"type": "string", "optional": True, "field": name} for name in names]
    return {"type": "struct", "fields": fields, "optional": True}
