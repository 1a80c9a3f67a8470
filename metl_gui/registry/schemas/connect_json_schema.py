"""JSON Schemas that Kafka Connect's converter registers, read back as the Connect schemas they were made of.

So the attributes of a row are the same ones, with the same fingerprint, as in messages that carry their schema.
The converter states the Connect type beside the JSON one (``connect.type``), the name as ``title``, and ``null`` as one
of two alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.errors import SchemaError
from metl_gui.formats.connect_schema import MAX_DEPTH
from metl_gui.registry.schemas.json_schema_nodes import References

MAX_NODES = 50_000

_MARKS = ("connect.type", "connect.version", "connect.parameters", "connect.index")
_PLAIN = {"integer": "int64", "number": "double", "boolean": "boolean", "string": "string", "null": "null"}
_FLOATS = {"float32": "float", "float64": "double"}
_NULL = {"type": "null"}


def is_connect(schema: object) -> bool:
    """Return whether a JSON Schema was written by Connect's converter."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return False
    nodes = [schema, *schema["properties"].values()]
    return any(isinstance(node, dict) and any(mark in node for mark in _MARKS) for node in nodes)


def as_connect(schema: dict[str, Any], referred: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Connect schema that a JSON Schema was made of.

    Args:
        schema: the JSON Schema.
        referred: documents that it refers to, by the names it uses for them.

    Raises:
        SchemaError: it goes beyond the limits, or a reference leads nowhere.
    """
    return _ConnectSchemaReader(References(schema, referred)).node(schema, ())


class _ConnectSchemaReader:
    """Reads one schema; counts nodes, because what is referred to twice is written twice."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._nodes = 0

    def node(self, node: Any, trail: tuple[int, ...]) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise SchemaError("It is too large.", f"Written out it has more than {MAX_NODES:,} nodes.", "Split it.")
        if not isinstance(node, dict):
            raise SchemaError("A part of it is no schema.", f"It is {node!r:.100}.", "Write an object.")
        if id(node) in trail or len(trail) > MAX_DEPTH:
            return {"type": "struct", "fields": []}
        inside = (*trail, id(node))
        if "$ref" in node:
            return self.node(self._references.resolve(node["$ref"], node), inside)
        choice = node.get("oneOf")
        if isinstance(choice, list):
            return self._choice(choice, inside)
        return self._value(node, inside) | _words(node)

    def _choice(self, choice: list[Any], inside: tuple[int, ...]) -> dict[str, Any]:
        others = [one for one in choice if one != _NULL]
        optional = {"optional": True} if len(others) < len(choice) else {}
        if len(others) == 1:
            return self.node(others[0], inside) | optional
        return {"type": "struct", "name": "io.confluent.connect.avro.Union", "fields": []} | optional

    def _value(self, node: dict[str, Any], inside: tuple[int, ...]) -> dict[str, Any]:
        stated, kind = node.get("connect.type"), node.get("type")
        if stated == "map" or (kind == "object" and isinstance(node.get("additionalProperties"), dict)):
            return {"type": "map"}
        if isinstance(stated, str):
            return {"type": _FLOATS.get(stated, stated)}
        if kind == "array":
            return {"type": "array"}
        if kind == "object" or "properties" in node:
            return {"type": "struct", "fields": self._fields(node, inside)}
        return {"type": _PLAIN.get(kind, "string") if isinstance(kind, str) else "string"}

    def _fields(self, node: dict[str, Any], inside: tuple[int, ...]) -> list[dict[str, Any]]:
        properties = node.get("properties")
        listed = properties.items() if isinstance(properties, dict) else ()
        ordered = sorted(listed, key=lambda item: _index(item[1]))
        return [self.node(below, inside) | {"field": name} for name, below in ordered]


def _index(node: object) -> int:
    found = node.get("connect.index") if isinstance(node, dict) else None
    return found if isinstance(found, int) else 0


def _words(node: dict[str, Any]) -> dict[str, Any]:
    found = {
        "name": node.get("title"),
        "version": node.get("connect.version"),
        "parameters": node.get("connect.parameters"),
        "doc": node.get("description"),
    }
    return {word: value for word, value in found.items() if value is not None}
