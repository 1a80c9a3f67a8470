"""A Kafka Connect JSON schema as attributes: what a message with schemas on says about its row.

The input is the parsed JSON half called ``schema`` (``{"type": "struct", "fields": [...]}``); nothing here parses text,
so a caller may keep the answer by the raw bytes of that half.

Source: docs/architecture/model.md, "Trees, versions, lineages"; docs/reference/cdc.md, "The envelope";
docs/reference/cdc.md, "Types".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths, stated_equivalents
from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError

ConnectSchema: TypeAlias = Mapping[str, Any]
"""One node of a Connect JSON schema: ``type`` and what belongs to that type."""

MAX_DEPTH = 64
"""Structs nested deeper than this are cut to a leaf (also the nesting limit of a record).

Source: docs/reference/formats.md, "A record".
"""

ADDED_PREFIX = "__"
"""Begins the names of the fields that the flattening transform adds to a row.

Source: docs/reference/cdc.md, "Flattened rows".
"""

SOURCE_COLUMN = "__debezium.source.column.name"
"""Parameter with the name of the column that a field is read from (``column.propagate.source.type``)."""

PLAIN_TYPES = frozenset({"int8", "int16", "int32", "int64", "float", "double", "boolean", "string", "bytes", "null"})
WHOLE_TYPES = frozenset({"array", "map"})
LOGICAL_PREFIXES = ("io.debezium.", "org.apache.kafka.connect.")
UNION_NAMES = frozenset({"io.confluent.connect.avro.Union", "io.confluent.connect.protobuf.Union"})
_OTHER_SPELLINGS = {"float32": "float", "float64": "double"}
_ROW_FIELDS = ("after", "before")


def declare(schema: ConnectSchema) -> tuple[AttributeDeclaration, ...]:
    """List the attributes of a row struct in schema order.

    Raises:
        SchemaError: the schema is not a struct, names a type Connect does not have, or has one path twice.
    """
    if not _is_struct(schema):
        raise _refusal("the row schema is not a struct", "Only a struct has columns.")
    attributes = tuple(_leaves(schema, "", False, 1))
    if len({attribute.path for attribute in attributes}) != len(attributes):
        raise _refusal("two fields have the same path", f"{_first_repeated(attributes)} is there twice.")
    return attributes


def row_of(schema: ConnectSchema) -> ConnectSchema:
    """Return the row struct of an envelope (that of ``after``, else ``before``), or the schema itself without one."""
    if not is_envelope(schema):
        return schema
    fields = _named_fields(schema)
    return next(fields[name] for name in _ROW_FIELDS if _is_struct(fields.get(name)))


def is_envelope(schema: ConnectSchema) -> bool:
    """Say whether a schema is that of a change: a struct under ``before`` or ``after``, with ``op`` or nothing beside.

    The data of a CloudEvent comes without ``op``, which stands among the attributes of the event.
    """
    if not _is_struct(schema):
        return False
    fields = _named_fields(schema)
    has_row = any(_is_struct(fields.get(name)) for name in _ROW_FIELDS)
    return has_row and ("op" in fields or set(fields) <= set(_ROW_FIELDS))


def without_added(attributes: Iterable[AttributeDeclaration]) -> tuple[AttributeDeclaration, ...]:
    """Leave out what the flattening transform adds to the columns of a row (``__op``, ``__deleted`` ...)."""
    return tuple(attribute for attribute in attributes if not attribute.path.startswith(ADDED_PREFIX))


def columns_of(schema: ConnectSchema) -> tuple[AttributeDeclaration, ...]:
    """List the attributes of the row that a schema describes, without what the flattening transform adds to one.

    The row in an envelope is the table's own: nothing was added to it, however its columns are called.

    Raises:
        SchemaError: as ``declare``.
    """
    own = declare(row_of(schema))
    return own if is_envelope(schema) else without_added(own) or own


def record_name(schema: ConnectSchema) -> str:
    """Return the record name that a schema carries, empty when it has none."""
    name = schema.get("name")
    return name if isinstance(name, str) else ""


def row_label(schema: ConnectSchema) -> str | None:
    """Return the version of the row schema as a label; versions of envelopes say nothing about the row."""
    version = row_of(schema).get("version")
    return str(version) if isinstance(version, int | str) and not isinstance(version, bool) and version != "" else None


def key_paths(schema: ConnectSchema | None) -> KeyPaths:
    """Return the key paths of a key schema: ``()`` for no key, ``None`` for a key that names no columns.

    Raises:
        SchemaError: as ``declare``.
    """
    if schema is None:
        return ()
    if not _is_struct(schema):
        return None
    return tuple(attribute.path for attribute in declare(schema))


def _leaves(
    struct: ConnectSchema, prefix: str, optional: bool, depth: int, were: tuple[str, ...] = ()
) -> Iterator[AttributeDeclaration]:
    """Yield each leaf below a struct; ``were`` are older prefixes."""
    for field in _fields(struct):
        name = escape(_field_name(field))
        path = prefix + name
        may_miss = optional or bool(field.get("optional", False))
        older = (*_stated(field, prefix, name), *(before + name for before in were))
        if _has_own_leaves(field, depth):
            below = tuple(before + "." for before in older)
            yield from _leaves(field, path + ".", may_miss, depth + 1, below)
        else:
            yield _leaf(field, path, may_miss, older)


def _stated(field: ConnectSchema, prefix: str, name: str) -> tuple[str, ...]:
    """Return what a field says it was called: in words of its own, and by the column that it is read from."""
    parameters = field.get("parameters")
    parameters = parameters if isinstance(parameters, Mapping) else {}
    column = parameters.get(SOURCE_COLUMN)
    read_from = (prefix + escape(column),) if isinstance(column, str) and column and escape(column) != name else ()
    return (*(stated_equivalents(field) or stated_equivalents(parameters)), *read_from)


def _has_own_leaves(field: ConnectSchema, depth: int) -> bool:
    name = record_name(field)
    if field.get("type") != "struct" or depth >= MAX_DEPTH:
        return False
    return bool(_fields(field)) and not name.startswith(LOGICAL_PREFIXES) and name not in UNION_NAMES


def _leaf(field: ConnectSchema, path: str, optional: bool, older: tuple[str, ...]) -> AttributeDeclaration:
    name, doc = record_name(field), field.get("doc")
    plain = _plain_type(field, path)
    is_logical = plain != "struct" or name.startswith(LOGICAL_PREFIXES)
    return AttributeDeclaration(
        path=path,
        type="union" if name in UNION_NAMES else plain,
        logical=name if is_logical else "",
        scale=_scale(field),
        optional=optional,
        doc=doc if isinstance(doc, str) else "",
        equivalent_to=older,
    )


def _plain_type(field: ConnectSchema, path: str) -> str:
    written = field.get("type")
    if not isinstance(written, str):
        raise _refusal(f"{path} has no type", "Every field of a Connect schema names its type.")
    plain = _OTHER_SPELLINGS.get(written, written)
    if plain in PLAIN_TYPES or plain in WHOLE_TYPES or plain == "struct":
        return plain
    raise _refusal(f"{path} has the type {written}", "Connect has no such type.")


def _scale(field: ConnectSchema) -> int | None:
    parameters = field.get("parameters")
    written = parameters.get("scale") if isinstance(parameters, Mapping) else None
    try:
        return None if written is None or isinstance(written, bool) else int(written)
    except (TypeError, ValueError, OverflowError):
        return None


def _fields(struct: ConnectSchema) -> list[ConnectSchema]:
    fields = struct.get("fields", [])
    if not isinstance(fields, list) or not all(isinstance(field, Mapping) for field in fields):
        raise _refusal("a struct has no list of fields", "Its member fields must be a list of objects.")
    return fields


def _field_name(field: ConnectSchema) -> str:
    name = field.get("field")
    if not isinstance(name, str) or not name:
        raise _refusal("a field has no name", "Every field of a struct carries its name as field.")
    return name


def _named_fields(struct: ConnectSchema) -> dict[str, ConnectSchema]:
    return {_field_name(field): field for field in _fields(struct)}


def _is_struct(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "struct"


def _first_repeated(attributes: tuple[AttributeDeclaration, ...]) -> str:
    counts = Counter(attribute.path for attribute in attributes)
    return counts.most_common(1)[0][0]


def _refusal(what: str, text: str) -> SchemaError:
    return SchemaError(
        f"This Connect schema cannot be used: {what}.", text, "Check what the converter of this topic writes as schema."
    )
