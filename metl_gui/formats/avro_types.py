"""An Avro schema as a graph of types: names resolved, also across references, whatever order they are defined in.

The input is parsed JSON. A graph is written back as one text that stands for itself (what it refers to is defined in
it), and as the parsing canonical form, of which the fingerprint of single-object encoding is taken.

Source: the Avro specification (names, parsing canonical form, schema fingerprints); docs/reference/cdc.md, "Avro on the
wire".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from metl_gui.errors import SchemaError

Node: TypeAlias = Any
"""A parsed JSON value: a name, an object or a list."""

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NAMED = frozenset({"record", "error", "enum", "fixed"})
MAX_NESTING = 100
"""Types within types, those that references bring in included."""

MAX_TYPES = 50_000
"""Types of one schema."""

MAX_FIXED_BYTES = 2**24
_EMPTY_FINGERPRINT = 0xC15D213AA4D7A795
_NOT_WORDS = frozenset({"type", "name", "namespace", "fields", "symbols", "size", "items", "values"})


@dataclass(slots=True, eq=False)
class AvroField:
    """One field of a record.

    Args:
        name: as written.
        type: its type.
        aliases: what it was called before.
        doc: documentation, may be empty.
        words: everything else that stands there.
    """

    name: str
    type: AvroType
    aliases: tuple[str, ...] = ()
    doc: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class AvroType:
    """One type; a recursive schema is a graph with a way back.

    Args:
        kind: a primitive, ``record``, ``enum``, ``fixed``, ``array``, ``map`` or ``union``.
        name: full name of a named type.
        fields: of a record.
        branches: of a union in their order; the one type of items or values of an array or map.
        symbols: of an enum.
        size_bytes: of a fixed.
        aliases: former full names of a named type.
        words: logical type, ``connect.*`` and everything else that stands there.
    """

    kind: str
    name: str = ""
    fields: tuple[AvroField, ...] = ()
    branches: tuple[AvroType, ...] = ()
    symbols: tuple[str, ...] = ()
    size_bytes: int = 0
    aliases: tuple[str, ...] = ()
    words: Mapping[str, Any] = field(default_factory=dict)

    @property
    def simple_name(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]

    @property
    def is_nullable(self) -> bool:
        """Whether null is one of the alternatives."""
        return self.kind == "null" or any(branch.kind == "null" for branch in self.branches if self.kind == "union")

    @property
    def alternatives(self) -> tuple[AvroType, ...]:
        """What a value may be apart from null: the type itself unless it is a union."""
        return tuple(one for one in self.branches if one.kind != "null") if self.kind == "union" else (self,)


Definitions: TypeAlias = Mapping[str, tuple[Node, str]]
"""Definitions of named types that lie elsewhere: by full name, the node and the namespace around it."""


def read_avro(document: Node, elsewhere: Definitions | None = None) -> AvroType:
    """Resolve a parsed Avro schema.

    Args:
        document: the schema.
        elsewhere: named types that it may refer to without defining them.

    Raises:
        SchemaError: it is no Avro schema, refers to a type that nobody defines, or goes beyond the limits.
    """
    return _Resolver(elsewhere or {}).read(document, "", 0)


def definitions(document: Node) -> Iterator[tuple[str, tuple[Node, str]]]:
    """Yield every named type that a document defines, with its full name and the namespace around it."""
    waiting: list[tuple[Node, str]] = [(document, "")]
    while waiting:
        node, namespace = waiting.pop()
        if isinstance(node, list):
            waiting.extend((one, namespace) for one in node)
        elif isinstance(node, dict):
            inside = namespace
            if node.get("type") in NAMED if isinstance(node.get("type"), str) else False:
                name = _full_name(node.get("name"), node.get("namespace"), namespace)
                if name:
                    yield name, (node, namespace)
                    inside = name.rpartition(".")[0]
            below = [node.get(part) for part in ("type", "items", "values")]
            fields = node.get("fields")
            below += fields if isinstance(fields, list) else []
            waiting.extend((one, inside) for one in below if isinstance(one, dict | list))


def text_of(avro: AvroType) -> str:
    """Write a schema as one JSON text that refers to nothing outside."""
    return json.dumps(_written(avro, set()), separators=(",", ":"), ensure_ascii=False)


def canonical_form(avro: AvroType) -> str:
    """Write the parsing canonical form."""
    return json.dumps(_canonical(avro, set()), separators=(",", ":"), ensure_ascii=False)


def rabin_fingerprint(avro: AvroType) -> int:
    """Return the 64-bit fingerprint (CRC-64-AVRO) that single-object encoding names a schema by."""
    table = _rabin_table()
    found = _EMPTY_FINGERPRINT
    for byte in canonical_form(avro).encode():
        found = (found >> 8) ^ table[(found ^ byte) & 0xFF]
    return found


@cache
def _rabin_table() -> tuple[int, ...]:
    rows = []
    for row in range(256):
        value = row
        for _ in range(8):
            value = (value >> 1) ^ (_EMPTY_FINGERPRINT if value & 1 else 0)
        rows.append(value)
    return tuple(rows)


class _Resolver:
    """Reads one document; named types are found in it first, then elsewhere."""

    def __init__(self, elsewhere: Definitions) -> None:
        self._elsewhere = elsewhere
        self._named: dict[str, AvroType] = {}
        self._nodes: dict[str, Node] = {}
        self._types = 0

    def read(self, node: Node, namespace: str, depth: int) -> AvroType:
        self._types += 1
        if depth > MAX_NESTING or self._types > MAX_TYPES:
            raise refusal("it is too large", f"At most {MAX_TYPES:,} types, nested {MAX_NESTING} deep, are read.")
        if isinstance(node, str):
            return self._called(node, namespace, depth)
        if isinstance(node, list):
            return self._union(node, namespace, depth)
        if isinstance(node, dict):
            return self._object(node, namespace, depth)
        raise refusal("a type is neither a name nor an object", f"It is {node!r:.100}.")

    def _called(self, name: str, namespace: str, depth: int) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        full = _full_name(name, None, namespace)
        for called in dict.fromkeys((full, name)):
            if called in self._named:
                return self._named[called]
            if called in self._elsewhere:
                definition, around = self._elsewhere[called]
                return self.read(definition, around, depth + 1)
        raise refusal(f"it refers to {full}", "Nothing that is imported with it defines a type of this name.")

    def _union(self, node: list[Node], namespace: str, depth: int) -> AvroType:
        branches = tuple(self.read(one, namespace, depth + 1) for one in node)
        told = [branch.name or branch.kind for branch in branches]
        if not branches or len(set(told)) != len(told) or "union" in told:
            raise refusal("a union cannot be read", f"Its alternatives are {', '.join(told) or 'none'}.")
        return AvroType("union", branches=branches)

    def _object(self, node: dict[str, Node], namespace: str, depth: int) -> AvroType:
        if "type" not in node:
            raise refusal("a type is not named", f"It is {json.dumps(node):.100}.")
        kind = node["type"]
        if not isinstance(kind, str):
            return self.read(kind, namespace, depth + 1)
        if kind in NAMED:
            return self._define(node, kind, namespace, depth)
        words = _words(node)
        if kind in ("array", "map"):
            below = node.get("items" if kind == "array" else "values")
            return AvroType(kind, branches=(self.read(below, namespace, depth + 1),), words=words)
        if kind in PRIMITIVES:
            return AvroType(kind, words=words)
        return self._called(kind, namespace, depth)

    def _define(self, node: dict[str, Node], kind: str, namespace: str, depth: int) -> AvroType:
        name = _full_name(node.get("name"), node.get("namespace"), namespace)
        if not name:
            raise refusal(f"a type of the kind {kind} has no name", "Avro names every record, enum and fixed.")
        if name in self._named:
            if self._nodes[name] == node:  # some tools repeat a definition instead of referring to it
                return self._named[name]
            raise refusal(f"{name} is defined twice", "A named type is defined once and then referred to.")
        inside = name.rpartition(".")[0]
        aliases = tuple(_full_name(alias, None, inside) for alias in _texts(node.get("aliases")))
        found = AvroType("record" if kind == "error" else kind, name, aliases=aliases, words=_words(node))
        self._named[name] = found
        self._nodes[name] = node
        if found.kind == "record":
            found.fields = tuple(self._fields(node, name, inside, depth))
        elif found.kind == "enum":
            found.symbols = _texts(node.get("symbols"))
            if not found.symbols:
                raise refusal(f"the enum {name} has no symbols", "")
        else:
            found.size_bytes = _size(node.get("size"), name)
        return found

    def _fields(self, node: dict[str, Node], record: str, namespace: str, depth: int) -> Iterator[AvroField]:
        fields = node.get("fields")
        if not isinstance(fields, list) or not all(isinstance(one, dict) for one in fields):
            raise refusal(f"{record} has no list of fields", "Its member fields must be a list of objects.")
        seen: set[str] = set()
        for one in fields:
            name, doc = one.get("name"), one.get("doc")
            if not isinstance(name, str) or not name:
                raise refusal(f"a field of {record} has no name", "Every field carries its name.")
            if name in seen:
                raise refusal(f"two fields of {record} are called {name}", "")
            seen.add(name)
            found = self.read(one.get("type"), namespace, depth + 1)
            yield AvroField(name, found, _texts(one.get("aliases")), doc if isinstance(doc, str) else "", _words(one))


def _full_name(name: object, namespace: object, around: str) -> str:
    """Return the full name of a type; empty when it has none."""
    if not isinstance(name, str) or not name:
        return ""
    if "." in name:
        return name
    space = namespace if isinstance(namespace, str) else around
    return f"{space}.{name}" if space else name


def _words(node: Mapping[str, Node]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name not in _NOT_WORDS}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str) and one) if isinstance(value, list) else ()


def _size(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_FIXED_BYTES:
        raise refusal(f"the size of {name} is {value!r:.100}", f"A fixed has 0 to {MAX_FIXED_BYTES:,} bytes.")
    return value


def _written(avro: AvroType, defined: set[str]) -> Node:
    if avro.kind == "union":
        return [_written(branch, defined) for branch in avro.branches]
    if avro.name:
        if avro.name in defined:
            return avro.name
        defined.add(avro.name)
    words = {name: value for name, value in avro.words.items() if name != "aliases"}
    if avro.aliases:
        words["aliases"] = list(avro.aliases)
    if not avro.name and not avro.branches and not words:
        return avro.kind
    return {"type": avro.kind} | _own_parts(avro, defined) | words


def _own_parts(avro: AvroType, defined: set[str]) -> dict[str, Node]:
    named = {"name": avro.simple_name, "namespace": avro.name.rpartition(".")[0]} if avro.name else {}
    match avro.kind:
        case "record":
            fields = [{"name": one.name, "type": _written(one.type, defined), **one.words} for one in avro.fields]
            return named | {"fields": fields}
        case "enum":
            return named | {"symbols": list(avro.symbols)}
        case "fixed":
            return named | {"size": avro.size_bytes}
        case "array":
            return {"items": _written(avro.branches[0], defined)}
        case "map":
            return {"values": _written(avro.branches[0], defined)}
        case _:
            return {}


def _canonical(avro: AvroType, defined: set[str]) -> Node:
    if avro.kind == "union":
        return [_canonical(branch, defined) for branch in avro.branches]
    if avro.name:
        if avro.name in defined:
            return avro.name
        defined.add(avro.name)
    match avro.kind:
        case "record":
            fields = [{"name": one.name, "type": _canonical(one.type, defined)} for one in avro.fields]
            return {"name": avro.name, "type": "record", "fields": fields}
        case "enum":
            return {"name": avro.name, "type": "enum", "symbols": list(avro.symbols)}
        case "fixed":
            return {"name": avro.name, "type": "fixed", "size": avro.size_bytes}
        case "array":
            return {"type": "array", "items": _canonical(avro.branches[0], defined)}
        case "map":
            return {"type": "map", "values": _canonical(avro.branches[0], defined)}
        case _:
            return avro.kind


def refusal(what: str, text: str) -> SchemaError:
    """Return why an Avro schema cannot be used."""
    return SchemaError(f"This Avro schema cannot be used: {what}.", text, "Check it where it comes from.")
