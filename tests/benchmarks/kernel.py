"""The kernel against an orjson round trip (loads, then dumps) of the same bytes, every acceptance check included.

The envelopes are those that Debezium writes for PostgreSQL, about 436 bytes each, of four tables with several versions
and all operations, as they would follow each other in a file. Before timing, every payload is compared with the row it
came from as exact parsed values, and all messages with those of the reference, byte by byte.

A matrix of 1,000 and of 10,000 versions is measured against one of 50 with the same traffic: its rate must stay.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import orjson

from metl_gui.core.trees.declarations import fingerprint
from metl_gui.engine.kernel.message_records import MessageRecords, Parts, RecordBatch
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.tasks.refused_records import RunningCounts, briefly_counted
from metl_gui.formats.connect_schema import declare
from tests.benchmarks.harness import Case, paired
from tests.benchmarks.kernel_loads import TRAFFIC, Load, loads, many_versions

_MESSAGES = 20_000
_QUICK_MESSAGES = 4_000
_TARGET = 4.0
_OF_LINES = 0.9
_LESSONS = 40
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
    """Measure bare envelopes and the other ways they come, rows of many kinds, and matrices of many sizes."""
    dice = random.Random(7)
    count = _QUICK_MESSAGES if quick else _MESSAGES
    kinds: tuple[tuple[str, Callable[[_Event], bytes], Callable[[bytes], bytes], float | None], ...] = (
        ("envelopes", lambda event: event.envelope, _again, _TARGET),
        ("envelopes in wrappers", _wrapped, _again, _TARGET),
        ("envelopes as text in wrappers", _carried, _again_from_text, _TARGET),
        ("envelopes with schemas", _with_schema, _again, _TARGET),
        ("envelopes with members in any order", partial(_shuffled, dice), _again, None),
        ("envelopes with names of escapes", _with_escaped_names, _again, None),
        ("CloudEvents", _cloud_event, _again, None),
    )
    for name, write, again, target in kinds:
        events = [_event(dice, number, count) for number in range(count)]
        raws = [write(event) for event in events]
        kernel, records = _kernel(_plan()), Records.of(raws, "fx.jsonl")
        _check(kernel, events, records)
        yield _against_orjson(name, kernel, records, target, rounds, again)
    yield _of_messages([_event(dice, number, count) for number in range(count)], rounds)
    for load in loads(count):
        yield _case(load, _TARGET, rounds)
    yield from _sizes(count, rounds)
    yield _of_reference([_event(dice, number, count // 4) for number in range(count // 4)], rounds)


def _of_messages(events: list[_Event], rounds: int) -> Case:
    """Measure envelopes that are values of messages of Kafka, with keys, against the same as lines."""
    parts = Parts(
        places=[(f"fx.public.{event.table}", 0) for event in events],
        offsets=list(range(len(events))),
        times=[1_795_244_088_918] * len(events),
        keys=[orjson.dumps({name: event.row[name] for name in _key(event)}) for event in events],
        headers=[b"null"] * len(events),
        values=[event.envelope for event in events],
    )
    kernels = _kernel(_plan()), _kernel(_plan())
    messages, lines = MessageRecords.of(parts), Records.of([event.envelope for event in events], "fx.jsonl")
    _check(kernels[0], events, messages)
    _check(kernels[1], events, lines)
    return paired(
        "kernel, messages of Kafka",
        lambda: kernels[0].map(messages),
        lambda: kernels[1].map(lines),
        unit="us a message",
        per=1e6 / len(events),
        target=_OF_LINES,
        rounds=rounds,
        note=f"{messages.bytes_in / len(events):.0f} bytes each; their values as lines as baseline",
    )


def _sizes(count: int, rounds: int) -> Iterator[Case]:
    """Measure matrices of many versions: the same traffic must cost the same, traffic over all is reported."""
    for versions in (1, 10, TRAFFIC):
        yield _case(many_versions(versions, versions, count), _TARGET, rounds)
    small = many_versions(TRAFFIC, TRAFFIC, count)
    kernel = _kernel(small.plan)
    for versions in (1_000, 10_000):
        load = many_versions(versions, TRAFFIC, count)
        large, records, same = _taught(load), Records.of(load.raws, "fx.jsonl"), Records.of(small.raws, "fx.jsonl")
        _teach(kernel, same)
        yield paired(
            f"kernel, {load.name}",
            partial(large.map, records),
            partial(kernel.map, same),
            unit="us a message",
            per=1e6 / count,
            target=1.0,
            rounds=rounds,
            note=f"a matrix of {TRAFFIC} versions with the same traffic as baseline",
        )
        yield _case(many_versions(versions, versions, count), None, rounds)


def _case(load: Load, target: float | None, rounds: int) -> Case:
    return _against_orjson(load.name, _taught(load), Records.of(load.raws, "fx.jsonl"), target, rounds)


def _kernel(plan: Plan) -> Kernel:
    return Kernel(plan, choice="compiled", patience=0)


def _teach(kernel: Kernel, records: RecordBatch) -> MappedBatch:
    """Map until nothing more is learned, as a long run does."""
    outcome = kernel.map(records)
    for _ in range(_LESSONS):
        before = outcome.hits
        outcome = kernel.map(records)
        if outcome.hits == before:
            break
    return outcome


def _taught(load: Load) -> Kernel:
    """Make a kernel that knows a load, and fail unless it maps it as the reference does."""
    kernel, records = _kernel(load.plan), Records.of(load.raws, "fx.jsonl")
    outcome = _teach(kernel, records)
    _compare(outcome, Kernel(load.plan, choice="reference").map(records))
    if (outcome.counts()["mapped"], len(outcome)) != (load.mapped, load.messages):
        raise AssertionError(f"{load.name}: not all records were mapped")
    return kernel


def _compare(ours: MappedBatch, theirs: MappedBatch) -> None:
    if bytes(ours.text) != bytes(theirs.text) or ours.counts() != theirs.counts():
        raise AssertionError("machine code and the reference wrote different messages")


def _again(raw: bytes) -> bytes:
    return orjson.dumps(orjson.loads(raw))


def _again_from_text(raw: bytes) -> bytes:
    """Do what text in a wrapper asks for: read the wrapper, key and value in it, write the value."""
    wrapper = orjson.loads(raw)
    orjson.loads(wrapper["key"])
    return orjson.dumps(orjson.loads(wrapper["value"]))


def _against_orjson(
    name: str,
    kernel: Kernel,
    records: Records,
    target: float | None,
    rounds: int,
    again: Callable[[bytes], bytes] = _again,
) -> Case:
    raws, counts = list(records), RunningCounts()
    hits = kernel.map(records).hits

    def mapped() -> None:
        """Map and count, as a task does; names of what was counted are asked for at its end."""
        outcome = kernel.map(records)
        counts.add_mapped(briefly_counted(outcome), outcome)

    return paired(
        f"kernel, {name}",
        mapped,
        lambda: [again(raw) for raw in raws],
        unit="us a message",
        per=1e6 / len(raws),
        target=target,
        rounds=rounds,
        note=f"{len(raws)} records of {records.bytes_in / len(raws):.0f} bytes, {hits} compiled; orjson as baseline",
    )


def _of_reference(events: list[_Event], rounds: int) -> Case:
    records = Records.of([event.envelope for event in events], "fx.jsonl")
    kernel, reference = _kernel(_plan()), Kernel(_plan(), choice="reference")
    _check(kernel, events, records)
    return paired(
        "compiled, envelopes",
        lambda: kernel.map(records),
        lambda: reference.map(records),
        unit="us a message",
        per=1e6 / len(records),
        target=None,
        rounds=rounds,
        note=f"{len(records)} records, the reference as baseline",
    )


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


def _check(kernel: Kernel, events: list[_Event], records: RecordBatch) -> None:
    """Fail unless every record was mapped as the reference does and each payload holds the row's exact values."""
    outcome = _teach(kernel, records)
    _compare(outcome, Kernel(_plan(), choice="reference").map(records))
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
    return _carrier(event, {name: event.row[name] for name in _key(event)}, orjson.Fragment(event.envelope))


def _carried(event: _Event) -> bytes:
    key = orjson.dumps({name: event.row[name] for name in _key(event)}).decode()
    return _carrier(event, key, event.envelope.decode())


def _key(event: _Event) -> tuple[str, ...]:
    return _TABLES[event.table][event.version][:1]


def _carrier(event: _Event, key: object, value: object) -> bytes:
    carrier = {"topic": f"fx.public.{event.table}", "key": key, "value": value}
    return orjson.dumps(carrier | {"partition": 0, "offset": 188, "timestamp": 1_795_244_088_918})


def _with_schema(event: _Event) -> bytes:
    row = _row_schema(_TABLES[event.table][event.version])
    op = {"type": "string", "optional": False, "field": "op"}
    fields = [row | {"field": "before"}, row | {"field": "after"}, op]
    schema = {"type": "struct", "fields": fields, "name": f"fx.public.{event.table}.Envelope"}
    return b'{"schema":' + orjson.dumps(schema) + b',"payload":' + event.envelope + b"}"


def _shuffled(dice: random.Random, event: _Event) -> bytes:
    """Write an envelope whose members, and those of its objects, come in an order of their own."""

    def again(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: again(value[name]) for name in dice.sample(list(value), len(value))}

    return orjson.dumps(again(orjson.loads(event.envelope)))


def _with_escaped_names(event: _Event) -> bytes:
    """Write an envelope with an escape in the name of every column."""
    raw = event.envelope
    for name in event.row:
        raw = raw.replace(b'"%b":' % name.encode(), b'"\\u%04x%b":' % (ord(name[0]), name[1:].encode()))
    return raw


def _cloud_event(event: _Event) -> bytes:
    """Write the same change as the converter for CloudEvents does."""
    content = orjson.loads(event.envelope)
    source = content["source"]
    more = {f"iodebezium{name.replace('_', '')}": text if text is None else str(text) for name, text in source.items()}
    written = {
        "id": f"name:fx;lsn:{source['lsn']};txId:{source['txId']};sequence:{source['sequence']}",
        "source": "/debezium/postgresql/fx",
        "specversion": "1.0",
        "type": "io.debezium.connector.postgresql.DataChangeEvent",
        "time": "2026-11-20T23:22:58.094Z",
        "datacontenttype": "application/json",
        "iodebeziumop": event.op,
        **more,
        "data": {"before": content["before"], "after": content["after"]},
    }
    return orjson.dumps(written)


def _row_schema(names: tuple[str, ...]) -> dict[str, Any]:
    fields = [{"type": "string", "optional": True, "field": name} for name in names]
    return {"type": "struct", "fields": fields, "optional": True}
