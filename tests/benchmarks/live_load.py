"""What the live benchmark sends: changes of one table as Debezium writes them with schemas, in one or many versions.

A version has a column more than the one before it, and keeps the others; so the same renames serve all of them.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fastavro
import orjson

from metl_gui.core.project.writer_schemas import AVRO
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan, WriterSchemaPlan
from metl_gui.engine.kernel.wire_format import schema_half
from tests.benchmarks.kernel_loads import envelope

TOPIC_SCHEMA = "shop.public.orders"
ENTITY = "order"
RENAMES = {"id": "order_number", "customer": "buyer", "total": "amount", "note": "remark", "state": "status"}
KEY_ID, VALUE_ID = 100, 101
"""What messages in Avro call the schema of keys, and that of the first version; those of later ones count on."""

_NUMBERS = frozenset({"ts_ms", "txId", "lsn", "xmin"})
_SOURCE = {
    name: "int64" if name in _NUMBERS else "string"
    for name in (
        "version", "connector", "name", "ts_ms", "snapshot", "db", "sequence", "schema", "table", "txId", "lsn", "xmin",
    )
}  # fmt: skip
_BASE = {"id": "int64", "customer": "string", "total": "double", "note": "string", "state": "string"}


@dataclass(frozen=True, slots=True)
class Change:
    """One record for Kafka."""

    key: bytes
    value: bytes


def columns(version: int) -> dict[str, str]:
    """Return the columns of a version with their types; the first version is 0."""
    return {**_BASE, **{f"extra_{number}": "int64" for number in range(version)}}


def targets(version: int) -> dict[str, str]:
    """Return what each column of a version becomes."""
    return {name: RENAMES.get(name, name) for name in columns(version)}


def plan_of_versions(versions: int, is_avro: bool = False) -> Plan:
    """Make the plan that maps all versions; of Avro with the schemas that values and keys name."""
    made = []
    for version in range(versions):
        names = tuple(columns(version))
        block = BlockPlan(ENTITY, "1", tuple(targets(version).items()))
        fingerprint = _fingerprint(version)
        made.append(VersionPlan(str(version + 1), fingerprint, names, names[:1], names[:1], (block,)))
    schemas = (SchemaPlan(TOPIC_SCHEMA, tuple(made)),)
    return Plan(17, "0" * 64, schemas, wire=tuple(_wire(versions)) if is_avro else (), framing="confluent")


def _wire(versions: int) -> Iterator[WriterSchemaPlan]:
    yield WriterSchemaPlan(str(KEY_ID), AVRO, json.dumps(_avro_key()), TOPIC_SCHEMA)
    for version in range(versions):
        text = json.dumps(_avro_envelope(version))
        yield WriterSchemaPlan(str(VALUE_ID + version), AVRO, text, TOPIC_SCHEMA, str(version + 1))


def avro_changes(count: int, versions: int = 1) -> Iterator[Change]:
    """Make the same changes in Avro, framed as Confluent does."""
    key_schema = fastavro.parse_schema(_avro_key())
    schemas = [fastavro.parse_schema(_avro_envelope(version)) for version in range(versions)]
    for change in changes(count, versions, has_schemas=False):
        payload = json.loads(change.value)
        version = len(payload["after"]) - len(_BASE)
        value = _framed(VALUE_ID + version, schemas[version], payload)
        yield Change(_framed(KEY_ID, key_schema, json.loads(change.key)), value)


def _framed(id_: int, schema: Any, datum: Any) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, schema, datum)
    return b"\0" + id_.to_bytes(4, "big") + body.getvalue()


def _avro_key() -> dict[str, Any]:
    return {
        "type": "record", "name": "Key", "namespace": TOPIC_SCHEMA, "fields": [{"name": "id", "type": "long"}],
    }  # fmt: skip


def _avro_envelope(version: int) -> dict[str, Any]:
    plain = {"int64": "long", "string": "string", "double": "double"}

    def fields(types: dict[str, str], required: int) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": plain[type_]}
            if at < required
            else {"name": name, "type": ["null", plain[type_]], "default": None}
            for at, (name, type_) in enumerate(types.items())
        ]

    value = {"type": "record", "name": "Value", "fields": fields(columns(version), 1)}
    source = {
        "type": "record",
        "name": "Source",
        "namespace": "io.debezium.connector.postgresql",
        "fields": fields(_SOURCE, 0),
    }
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": TOPIC_SCHEMA,
        "fields": [
            {"name": "before", "type": ["null", value], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "source", "type": source},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }


def changes(count: int, versions: int = 1, has_schemas: bool = True) -> Iterator[Change]:
    """Make changes whose rows are spread over the versions by chance, always the same ones."""
    dice = random.Random(7)
    halves = [json.dumps(_envelope_schema(version)).encode() for version in range(versions)]
    key_half = json.dumps(_struct("Key", {"id": "int64"}, 1)).encode()
    for number in range(count):
        version = dice.randrange(versions)
        row: dict[str, Any] = {
            "id": number,
            "customer": f"customer {dice.randrange(10**5)}",
            "total": dice.randrange(10**6) / 100,
            "note": "as agreed on the phone" if dice.random() < 0.5 else "\u2013",
            "state": dice.choice(["open", "paid", "sent"]),
        } | {name: dice.randrange(10**6) for name in list(columns(version))[len(_BASE) :]}
        change = envelope(number, "orders", row).replace(b'"name":"fx"', b'"name":"shop"')
        key = orjson.dumps({"id": number})
        if has_schemas:
            change = b'{"schema":%b,"payload":%b}' % (halves[version], change)
            key = b'{"schema":%b,"payload":%b}' % (key_half, key)
        yield Change(key, change)


def _fingerprint(version: int) -> str:
    return schema_half(json.dumps(_envelope_schema(version)).encode()).fingerprint


def _envelope_schema(version: int) -> dict[str, Any]:
    row = columns(version)
    return {
        "type": "struct",
        "optional": False,
        "name": f"{TOPIC_SCHEMA}.Envelope",
        "version": 2,
        "fields": [
            _struct("Value", row, 1) | {"optional": True, "field": "before"},
            _struct("Value", row, 1) | {"optional": True, "field": "after"},
            _struct("Source", _SOURCE, 0) | {"name": "io.debezium.connector.postgresql.Source", "field": "source"},
            {
                "type": "struct",
                "optional": True,
                "name": "event.block",
                "version": 1,
                "field": "transaction",
                "fields": [
                    {"type": "string", "optional": False, "field": "id"},
                    {"type": "int64", "optional": False, "field": "total_order"},
                    {"type": "int64", "optional": False, "field": "data_collection_order"},
                ],
            },
            {"type": "string", "optional": False, "field": "op"},
            {"type": "int64", "optional": True, "field": "ts_ms"},
        ],
    }


def _struct(name: str, fields: dict[str, str], required: int) -> dict[str, Any]:
    return {
        "type": "struct",
        "optional": False,
        "name": f"{TOPIC_SCHEMA}.{name}",
        "fields": [
            {"type": type_, "optional": at >= required, "field": field}
            for at, (field, type_) in enumerate(fields.items())
        ],
    }
