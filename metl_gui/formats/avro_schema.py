"""An Avro schema as the Connect schema that Kafka Connect's own converter makes of it.

So the attributes of a row are the same ones, with the same fingerprint, whether its messages come as Avro or as JSON
with schemas. What Avro alone can say keeps its own words: a logical type that Connect does not have stays the logical
name, an enum is a string with the logical name ``enum``, several alternatives are one leaf of the type ``union``.

Source: docs/reference/cdc.md, "Types"; docs/reference/cdc.md, "Avro on the wire"; the ``connect.*`` properties are
those that the Avro converter writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from metl_gui.core.trees import schema_names
from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths
from metl_gui.core.trees.paths import escape
from metl_gui.formats import connect_schema
from metl_gui.formats.avro_types import AvroField, AvroType, refusal
from metl_gui.values import Value

UNION = "io.confluent.connect.avro.Union"
"""Connect name of the struct that several alternatives become: a member for each, all but one of them null."""

DECIMAL = "org.apache.kafka.connect.data.Decimal"
MAX_NODES = 50_000
"""Nodes of one tree; types that are used again and again multiply, and end here."""

_CONNECT = "org.apache.kafka.connect.data."
_LOGICAL = {
    ("int", "date"): f"{_CONNECT}Date",
    ("int", "time-millis"): f"{_CONNECT}Time",
    ("long", "timestamp-millis"): f"{_CONNECT}Timestamp",
}
_PLAIN = {
    "null": "null",
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "bytes": "bytes",
    "string": "string",
    "enum": "string",
    "fixed": "bytes",
    "map": "map",
}
_SMALL = frozenset({"int8", "int16"})
_ROWLESS = (".Heartbeat", ".MessageValue", ".TransactionMetadataValue", ".SchemaChangeValue", ".Notification")
_ROWLESS_KEYS = (".ServerNameKey", ".MessageKey", ".TransactionMetadataKey", ".SchemaChangeKey")
_Connect: TypeAlias = dict[str, Any]


class AvroRow(Value):
    """What an Avro schema says of the rows of a table.

    Args:
        name: the Connect name of the record, which names the schema where nothing better does.
        attributes: of the row; of an envelope those of the row in it, without what the flattening transform adds.
        label: the version that the row states.
        former_names: what the schema was called before, by the aliases of its record.
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    label: str | None
    former_names: tuple[str, ...] = ()


def row_of(avro: AvroType) -> AvroRow:
    """Read the row that a schema describes.

    Raises:
        SchemaError: it describes no record, or one without fields.
    """
    if avro.kind != "record":
        raise refusal(f"it describes {_article(avro.kind)}, not a record", "Only records have attributes.")
    holder = holder_of(avro)
    connect = as_connect(holder)
    if connect_schema.is_envelope(connect):
        own = connect_schema.declare(as_connect(_row_in(holder)))  # by itself, so that aliases are paths of the row
    else:
        own = connect_schema.declare(connect)
        own = connect_schema.without_added(own) or own
    if not own:
        raise refusal(f"{avro.name} has no fields", "So there is nothing to map.")
    former = tuple(dict.fromkeys(schema_names.of_record(alias) for alias in avro.aliases))
    return AvroRow(connect_schema.record_name(connect), own, connect_schema.row_label(connect), former)


def holder_of(avro: AvroType) -> AvroType:
    """Return the record that holds the row: the data of a CloudEvent, else the record itself."""
    fields = {one.name: one.type for one in avro.fields}
    if not {"specversion", "type", "data"} <= fields.keys():
        return avro
    data = fields["data"].alternatives
    return data[0] if len(data) == 1 and data[0].kind == "record" else avro


def _row_in(envelope: AvroType) -> AvroType:
    """Return the record of the row in an envelope, that of ``after`` first."""
    rows = {one.name: one.type.alternatives[0] for one in envelope.fields if one.type.alternatives}
    return next(rows[name] for name in ("after", "before") if name in rows and rows[name].kind == "record")


def key_of(avro: AvroType) -> KeyPaths:
    """Return the key paths that a key schema names, ``None`` when it names no columns.

    Raises:
        SchemaError: it goes beyond the limits.
    """
    return connect_schema.key_paths(as_connect(avro)) or None


def is_key(avro: AvroType) -> bool:
    """Return whether a record is the key of a table by its name."""
    return avro.kind == "record" and (avro.simple_name == "Key" or avro.name.endswith(_ROWLESS_KEYS))


def is_rowless(avro: AvroType) -> bool:
    """Return whether the records of a schema are of no row: heartbeats, logical messages, transactions and the like."""
    if avro.kind != "record":
        return True
    members = {one.name for one in avro.fields}
    has_no_row = "op" in members and "source" in members and not members & {"before", "after"}
    return has_no_row or is_rowless_name(avro.name) or {"ddl", "tableChanges"} <= members


def is_rowless_name(record: str) -> bool:
    """Return whether a record is one of those that Debezium writes beside rows, by its name."""
    return record.endswith((*_ROWLESS, *_ROWLESS_KEYS))


def as_connect(avro: AvroType) -> _Connect:
    """Write a schema as the Connect schema of its values.

    Raises:
        SchemaError: it goes beyond the limits.
    """
    return _ConnectSchemaWriter().node(avro, ("",), ())


class _ConnectSchemaWriter:
    """Writes one schema; counts nodes, because types that are used twice are written twice."""

    def __init__(self) -> None:
        self._nodes = 0

    def node(self, avro: AvroType, prefixes: tuple[str, ...], trail: tuple[AvroType, ...]) -> _Connect:
        """Write one type.

        Args:
            avro: the type.
            prefixes: of the paths below it, the present one first and former ones behind.
            trail: the records it lies in; meeting one of them again is a recursion, which is cut.
        """
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise refusal("it is too large", f"Written out it has more than {MAX_NODES:,} nodes.")
        if avro.kind == "union":
            return self._union(avro, prefixes, trail)
        if avro.kind == "array":
            written: _Connect = {"type": "map" if is_map_entry(avro.branches[0]) else "array"}
        elif avro.kind == "record":
            is_cut = avro in trail or len(trail) > connect_schema.MAX_DEPTH
            fields = [] if is_cut else [self._field(one, prefixes, (*trail, avro)) for one in avro.fields]
            written = {"type": "struct", "fields": fields, "name": avro.name}
        else:
            written = {"type": _plain(avro)}
        return written | _annotations(avro)

    def _union(self, avro: AvroType, prefixes: tuple[str, ...], trail: tuple[AvroType, ...]) -> _Connect:
        found = avro.alternatives
        if len(found) == 1:
            written = self.node(found[0], prefixes, trail)
        else:
            written = {"type": "struct", "name": UNION, "fields": []} if found else {"type": "null"}
        return written | ({"optional": True} if avro.is_nullable else {})

    def _field(self, one: AvroField, prefixes: tuple[str, ...], trail: tuple[AvroType, ...]) -> _Connect:
        called = tuple(escape(name) for name in (one.name, *one.aliases))
        below = tuple(f"{prefix}{name}." for prefix in prefixes for name in called)
        written = self.node(one.type, below, trail) | {"field": one.name}
        if one.type.kind == "null":
            written["optional"] = True
        doc = one.doc or written.get("doc", "")
        if doc:
            written["doc"] = doc
        if one.aliases:
            written["equivalent_to"] = [prefix + name for name in called[1:] for prefix in prefixes]
        return written


def is_map_entry(avro: AvroType) -> bool:
    """Return whether the items of an array are the entries of a Connect map whose keys are no Avro strings."""
    is_entry = avro.simple_name == "MapEntry" or avro.words.get("connect.internal.type") == "MapEntry"
    return avro.kind == "record" and is_entry and [one.name for one in avro.fields] == ["key", "value"]


def is_decimal(avro: AvroType) -> bool:
    """Return whether the bytes of a value are the digits of a decimal."""
    return avro.kind in ("bytes", "fixed") and (
        avro.words.get("connect.name") == DECIMAL or avro.words.get("logicalType") == "decimal"
    )


def _plain(avro: AvroType) -> str:
    small = avro.words.get("connect.type")
    return small if avro.kind == "int" and isinstance(small, str) and small in _SMALL else _PLAIN[avro.kind]


def _annotations(avro: AvroType) -> _Connect:
    """Return the Connect name, version, parameters and documentation that a type states."""
    found: _Connect = {}
    logical = avro.words.get("connect.name") or _logical_name(avro)
    if isinstance(logical, str) and logical:
        found["name"] = logical
    version = avro.words.get("connect.version")
    if isinstance(version, int | str) and not isinstance(version, bool):
        found["version"] = version
    parameters = avro.words.get("connect.parameters")
    parameters = dict(parameters) if isinstance(parameters, Mapping) else {}
    if is_decimal(avro):
        parameters.setdefault("scale", avro.words.get("scale", 0))
    if parameters:
        found["parameters"] = parameters
    doc = avro.words.get("connect.doc") or avro.words.get("doc")
    return found | ({"doc": doc} if isinstance(doc, str) and doc else {})


def _logical_name(avro: AvroType) -> str:
    if avro.kind == "enum":
        return "enum"
    logical = avro.words.get("logicalType")
    if not isinstance(logical, str) or avro.kind in ("record", "array", "map"):
        return ""
    return DECIMAL if is_decimal(avro) else _LOGICAL.get((avro.kind, logical), logical)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
