"""Draw writer schemas of Avro, and bytes that they may have written."""

from __future__ import annotations

import struct
from random import Random
from typing import Any, TypeAlias

from metl_gui.formats.avro_container import written_long

Schema: TypeAlias = Any
"""As it is written in JSON."""

_TEXTS = (
    "", "a", "open", "é☃", "😀" * 3, 'quote " and \\', "\b\f\n\r\t\0\x1f\x7f", "x" * 15, "x" * 16, "x" * 17, "17",
    "null", "☃" * 40, "\u2028", "__debezium_unavailable_value", "c", "u", "d", "r", "true", '{"a":1}', "word " * 30,
    "\x01" * 40,
)  # fmt: skip
_DOUBLES = (
    0.0, -0.0, 1.0, -1.5, 4140.02, 0.1, 0.30000000000000004, 1e-3, 9.99e-4, 1e7, 9999999.99, 9999999.999999998, 5e-324,
    1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 123456.789012345, 0.001234567890123,
    2.0**-9, 2.0**53, 1 / 3, 8388608.0, 0.00101, 99999.5, 1e6 + 1 / 1024,
)  # fmt: skip
_LONGS = (0, 1, -1, 63, -64, 64, 8191, 10**9, -(10**9), 2**31 - 1, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63))
_NAMES = (
    "id",
    "name",
    "total",
    "note",
    "a",
    "é",
    "op",
    "before",
    "after",
    "schema",
    "payload",
    "ts_ms",
    "__deleted",
    "x.y",
)
_PRIMITIVES = ("null", "boolean", "int", "long", "long", "float", "double", "double", "string", "string", "bytes")


class Drawer:
    """Draws schemas, whose named types have names of their own.

    Args:
        dice: decides.
    """

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self._types = 0

    def name(self) -> str:
        """Return a new name."""
        self._types += 1
        return f"T{self._types}"

    def type(self, depth: int = 0) -> Schema:
        """Draw a type."""
        drawn = self.dice.random()
        if depth > 2 or drawn < 0.5:
            return self.dice.choice(_PRIMITIVES)
        if drawn < 0.75:
            one = self.type(depth + 1)
            is_plain = not isinstance(one, list) and one != "null"
            return self.dice.choice((["null", one], [one, "null"])) if is_plain else one
        kind = self.dice.choice(("record", "array", "map", "enum", "fixed", "decimal", "union", "entries", "recursive"))
        return getattr(self, f"_{kind}")(depth + 1)

    def row(self, names: tuple[str, ...]) -> Schema:
        """Draw a record with these columns."""
        return self._fields("Value", [{"name": name, "type": self.type()} for name in names])

    def _record(self, depth: int) -> Schema:
        names = self.dice.sample(_NAMES, self.dice.randrange(4))
        return self._fields(self.name(), [{"name": name, "type": self.type(depth)} for name in names])

    def _fields(self, name: str, fields: list[Schema]) -> Schema:
        return {"type": "record", "name": name, "fields": fields}

    def _array(self, depth: int) -> Schema:
        return {"type": "array", "items": self.type(depth)}

    def _map(self, depth: int) -> Schema:
        return {"type": "map", "values": self.type(depth)}

    def _enum(self, _depth: int) -> Schema:
        return {"type": "enum", "name": self.name(), "symbols": [f"S{n}" for n in range(self.dice.randrange(1, 5))]}

    def _fixed(self, _depth: int) -> Schema:
        made = {"type": "fixed", "name": self.name(), "size": self.dice.choice((0, 1, 2, 3, 4, 16, 33))}
        return made | ({"logicalType": "decimal", "precision": 2} if self.dice.random() < 0.4 else {})

    def _decimal(self, _depth: int) -> Schema:
        return {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}

    def _union(self, depth: int) -> Schema:
        some = self.dice.sample(("null", "int", "string", "double", "bytes", "boolean"), self.dice.randrange(1, 5))
        return [*some, self._record(depth)] if self.dice.random() < 0.3 else some

    def _entries(self, depth: int) -> Schema:
        key = self.dice.choice(("string", "int", "long", ["null", "string"], "bytes"))
        fields = [{"name": "key", "type": key}, {"name": "value", "type": self.type(depth)}]
        named = {"connect.internal.type": "MapEntry"} if self.dice.random() < 0.7 else {}
        return {"type": "array", "items": self._fields(self.name(), fields) | named}

    def _recursive(self, _depth: int) -> Schema:
        name = self.name()
        return self._fields(name, [{"name": "next", "type": ["null", name]}, {"name": "n", "type": "int"}])


class Encoder:
    """Draws values of a schema, as bytes.

    Args:
        dice: decides.
        schema: the whole schema.
    """

    def __init__(self, dice: Random, schema: Schema) -> None:
        self.dice = dice
        self.schema = schema
        self._named: dict[str, Schema] = {}
        self._note(schema)

    def encoded(self) -> bytes:
        """Draw one value."""
        return self.of(self.schema, 0)

    def of(self, schema: Schema, depth: int) -> bytes:
        """Draw a value of a type."""
        if isinstance(schema, list):
            place = self.dice.randrange(len(schema)) if self.dice.random() < 0.7 else len(schema) - 1
            if depth > 6 and "null" in schema:
                place = schema.index("null")
            return self._long(place) + self.of(schema[place], depth + 1)
        if isinstance(schema, str):
            return self.of(self._named[schema], depth) if schema in self._named else self._primitive(schema)
        match schema["type"]:
            case "record":
                return b"".join(self._field(one, depth + 1) for one in schema["fields"])
            case "array":
                return self._blocks(lambda: self.of(schema["items"], depth + 1), depth)
            case "map":
                return self._blocks(lambda: self._primitive("string") + self.of(schema["values"], depth + 1), depth)
            case "enum":
                return self._long(self.dice.randrange(len(schema["symbols"])))
            case "fixed":
                return self._digits(schema["size"])
            case kind:
                return self.of(kind, depth)

    def _note(self, schema: Schema) -> None:
        """Note the named types within a schema."""
        if isinstance(schema, dict) and "name" in schema and schema.get("type") in ("record", "enum", "fixed"):
            self._named[schema["name"]] = schema
        for below in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            self._note(below)

    def _field(self, field: Schema, depth: int) -> bytes:
        if field["name"] == "op" and self.dice.random() < 0.9:
            text = self.dice.choice("ccuuudrtm").encode()
            return written_long(len(text)) + text if field["type"] == "string" else self.of(field["type"], depth)
        return self.of(field["type"], depth)

    def _blocks(self, item: Any, depth: int) -> bytes:
        made = b""
        for _ in range(self.dice.choice((0, 1, 1, 2)) if depth < 5 else 0):
            items = [item() for _ in range(self.dice.randrange(1, 4))]
            content = b"".join(items)
            is_sized = self.dice.random() < 0.3
            made += self._long(-len(items)) + self._long(len(content)) if is_sized else self._long(len(items))
            made += content
        return made + self._long(0)

    def _primitive(self, kind: str) -> bytes:
        match kind:
            case "null":
                return b""
            case "boolean":
                return self.dice.choice((b"\0", b"\1"))
            case "int":
                return self._long(self.dice.choice((self.dice.randrange(1000), *_LONGS[:11])))
            case "long":
                return self._long(self.dice.choice((self.dice.randrange(2**41), *_LONGS)))
            case "float":
                value = self.dice.choice((*_DOUBLES[:10], 16777216.0, 3.4e38, self.dice.random()))
                return struct.pack("<f", value)
            case "double":
                rounded = round(self.dice.uniform(-1e7, 1e7), self.dice.randrange(10))
                return struct.pack("<d", self.dice.choice((self.dice.choice(_DOUBLES), rounded, rounded)))
            case "string":
                text = self.dice.choice((*_TEXTS, str(self.dice.randrange(10**6)))).encode()
                return self._long(len(text)) + text
            case _:
                size = self.dice.choice((0, 1, 2, 3, 4, 5, 17, 60))
                return self._long(size) + self._digits(size)

    def _digits(self, size: int) -> bytes:
        zeros = b"\0\0\0" + self.dice.randbytes(size)
        return self.dice.choice((self.dice.randbytes(size), b"\0" * size, b"\xff" * size, zeros[:size]))

    def _long(self, number: int) -> bytes:
        """Write a number, now and then with more bytes than it needs."""
        made = written_long(number)
        if self.dice.random() < 0.01 and len(made) < 9:
            return made[:-1] + bytes([made[-1] | 0x80, 0x80, 0])
        return made
