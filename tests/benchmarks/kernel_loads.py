"""Records of many kinds for the kernel's benchmark: wide and deep rows, escapes, fan-out, unmapped rows, versions."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan

TRAFFIC = 50
"""Versions that the traffic of a large matrix touches."""

_VERSIONS = 10
_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Load:
    """Some records, and the plan that maps them.

    Args:
        name: what is special about them.
        plan: the plan.
        raws: the records.
        mapped: how many of them become messages.
        messages: how many messages.
    """

    name: str
    plan: Plan
    raws: list[bytes]
    mapped: int
    messages: int


def envelope(number: int, schema: str, row: dict[str, Any]) -> bytes:
    """Write one change as Debezium does for PostgreSQL."""
    lsn = 29_983_544 + 8 * number
    source = {
        "version": "3.6.3.Final",
        "connector": "postgresql",
        "name": "fx",
        "ts_ms": 1_795_217_683_000 + number,
        "snapshot": "false",
        "db": "pay",
        "sequence": f'["{lsn - 56}","{lsn}"]',
        "schema": "public",
        "table": schema,
        "txId": 1000 + number // 3,
        "lsn": lsn,
        "xmin": None,
    }
    change = {
        "before": None,
        "after": row,
        "source": source,
        "transaction": None,
        "op": "u",
        "ts_ms": 1_795_217_683_500,
    }
    return orjson.dumps(change)


def loads(count: int) -> Iterator[Load]:
    """Make the loads that the contract names."""
    dice = random.Random(7)
    yield _wide(dice, count // 20)
    yield _deep(dice, count // 2)
    yield _unmapped(dice, count)
    yield _fanned(dice, count // 2)
    for name, letter in (("no escapes", "a"), ("nothing but escapes", "\n")):
        yield _escaped(name, letter, count // 2)


def many_versions(versions: int, touched: int, count: int) -> Load:
    """Make a plan of so many versions, ten of a schema, and traffic that touches some of them."""
    dice = random.Random(versions)
    schemas = []
    for first in range(0, versions, _VERSIONS):
        plans = []
        for number in range(min(_VERSIONS, versions - first)):
            names = tuple(f"col_{first}_{number}_{column}" for column in range(_COLUMNS))
            plans.append(_version(str(number + 1), names, [("e", names)]))
        schemas.append(SchemaPlan(f"fx.public.t{first}", tuple(plans)))
    raws = []
    for number in range(count):
        version = dice.randrange(touched)
        first, place = version - version % _VERSIONS, version % _VERSIONS
        row = {f"col_{first}_{place}_{column}": dice.randrange(10**6) for column in range(_COLUMNS)}
        raws.append(envelope(number, f"t{first}", row))
    name = f"{versions:,} versions in the matrix, traffic over {touched:,}"
    return Load(name, _plan(*schemas), raws, count, count)


def _plan(*schemas: SchemaPlan) -> Plan:
    return Plan(17, "0" * 64, schemas)


def _version(label: str, names: tuple[str, ...], entities: list[tuple[str, tuple[str, ...]]]) -> VersionPlan:
    blocks = tuple(BlockPlan(entity, "1", tuple((name, f"{name}_of") for name in some)) for entity, some in entities)
    return VersionPlan(label, "", names, names[:1], names[:1], blocks)


def _one(schema: str, names: tuple[str, ...], entities: list[tuple[str, tuple[str, ...]]]) -> Plan:
    return _plan(SchemaPlan(f"fx.public.{schema}", (_version("1", names, entities),)))


def _wide(dice: random.Random, count: int) -> Load:
    names = tuple(f"attribute_{number}" for number in range(400))
    raws = [envelope(n, "wide", {name: dice.randrange(10**6) for name in names}) for n in range(count)]
    return Load("wide rows (400 attributes)", _one("wide", names, [("wide", names)]), raws, count, count)


def _deep(dice: random.Random, count: int) -> Load:
    raws = []
    for number in range(count):
        inner: Any = [dice.randrange(100)]
        for level in range(50):
            inner = {f"l{level}": inner} if level % 2 else [inner]
        raws.append(envelope(number, "deep", {"id": number, "tree": inner}))
    names = ("id", "tree")
    return Load("deep rows (55 levels)", _one("deep", names, [("deep", names)]), raws, count, count)


def _unmapped(dice: random.Random, count: int) -> Load:
    names = ("id", "one", "two", "three", "four")
    mapped = SchemaPlan("fx.public.mapped", (_version("1", names, [("e", names)]),))
    other = SchemaPlan("fx.public.other", (_version("1", names, []),))
    picked = [number % 20 == 0 for number in range(count)]
    raws = [
        envelope(n, "mapped" if is_mapped else "other", {name: dice.randrange(10**6) for name in names})
        for n, is_mapped in enumerate(picked)
    ]
    return Load("95 % unmapped rows", _plan(mapped, other), raws, sum(picked), sum(picked))


def _fanned(dice: random.Random, count: int) -> Load:
    names = tuple(string.ascii_lowercase[:10])
    entities = [(f"entity_{number}", names[number : number + 6]) for number in range(5)]
    raws = [envelope(n, "fan", {name: dice.randrange(10**6) for name in names}) for n in range(count)]
    return Load("fan-out 1 to 5", _one("fan", names, entities), raws, count, 5 * count)


def _escaped(name: str, letter: str, count: int) -> Load:
    names = ("id", "text", "note")
    raws = [envelope(n, "text", {"id": n, "text": letter * 100, "note": letter * 50}) for n in range(count)]
    return Load(name, _one("text", names, [("e", names)]), raws, count, count)
