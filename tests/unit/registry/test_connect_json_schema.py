"""JSON Schemas that Connect's converter registers give the attributes that Avro and messages with schemas give."""

from __future__ import annotations

from typing import Any

import pytest

from metl_gui.errors import SchemaError
from metl_gui.formats import connect_schema
from metl_gui.registry.schemas import connect_json_schema, json_schema


def nullable(schema: dict[str, Any], index: int) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, schema], "connect.index": index}


ROW = {
    "type": "object",
    "title": "shop.public.orders.Value",
    "properties": {
        "day": nullable(
            {"type": "integer", "title": "io.debezium.time.Date", "connect.version": 1, "connect.type": "int32"}, 2
        ),
        "id": {"type": "integer", "connect.type": "int64", "connect.index": 0},
        "total": {
            "type": "number",
            "title": "org.apache.kafka.connect.data.Decimal",
            "connect.type": "bytes",
            "connect.parameters": {"scale": "2"},
            "connect.index": 1,
        },
        "tags": nullable({"type": "array", "items": {"type": "string"}}, 3),
        "ratio": nullable({"type": "number", "connect.type": "float32"}, 4),
    },
}
ENVELOPE = {
    "type": "object",
    "title": "shop.public.orders.Envelope",
    "properties": {
        "before": nullable(ROW, 0),
        "after": nullable({"$ref": "#/definitions/row"}, 1),
        "source": {"type": "object", "properties": {}, "connect.index": 2},
        "op": {"type": "string", "connect.index": 3},
    },
    "definitions": {"row": ROW},
}


def test_an_envelope_gives_the_row_with_the_types_of_connect() -> None:
    assert connect_json_schema.is_connect(ENVELOPE)
    connect = connect_json_schema.as_connect(ENVELOPE, {})
    declared = connect_schema.declare(connect_schema.row_of(connect))
    assert [(one.path, one.type, one.logical, one.scale, one.optional) for one in declared] == [
        ("id", "int64", "", None, False),
        ("total", "bytes", "org.apache.kafka.connect.data.Decimal", 2, False),
        ("day", "int32", "io.debezium.time.Date", None, True),
        ("tags", "array", "", None, True),
        ("ratio", "float", "", None, True),
    ]


def test_an_envelope_in_plain_json_schema_gives_its_row_too() -> None:
    row = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    plain = {
        "type": "object",
        "title": "orders",
        "properties": {
            "op": {"type": "string"},
            "source": {"type": "object"},
            "after": {"oneOf": [{"type": "null"}, row]},
        },
    }
    assert not connect_json_schema.is_connect(plain)
    assert [one.path for one in json_schema.declare(plain, "orders", "here").attributes] == ["id"]


def test_a_schema_that_leads_back_to_itself_ends_and_one_that_multiplies_is_refused() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "id": {"type": "integer", "connect.type": "int8"}},
    }
    declared = connect_schema.declare(connect_json_schema.as_connect(node, {}))
    assert [(one.path, one.type) for one in declared] == [("next", "struct"), ("id", "int8")]
    levels = {
        f"l{at}": {"type": "object", "properties": {name: {"$ref": f"#/definitions/l{at + 1}"} for name in "abcdefgh"}}
        for at in range(8)
    }
    wide = {
        "type": "object",
        "properties": {"x": {"$ref": "#/definitions/l0", "connect.index": 0}},
        "definitions": {**levels, "l8": {"type": "string"}},
    }
    with pytest.raises(SchemaError, match="too large"):
        connect_json_schema.as_connect(wide, {})
