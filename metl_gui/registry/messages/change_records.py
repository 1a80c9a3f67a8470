"""Rows of change records, for reading schemas off them: which names, which schema, which key, which row.

How records are cut, unwrapped and classified is the same as in a run (``formats``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from metl_gui.core.trees import schema_names as names
from metl_gui.core.trees.declarations import AttributeDeclaration, KeyPaths
from metl_gui.core.trees.paths import escape
from metl_gui.errors import RecordError, SchemaError
from metl_gui.formats import connect_schema
from metl_gui.formats.json_text import Members, check, is_null, is_object, members, text_of
from metl_gui.formats.record_kind import ROW_KINDS, RecordKind, classify, is_with_schema, op_of
from metl_gui.formats.record_wrapper import SINGLE_OBJECT, Wrapped, is_wrapper, unwrap
from metl_gui.registry.messages.schema_changes import SchemaChangeEvent, read_change
from metl_gui.values import Value


class RowSchema(Value):
    """What the schema half of a message declares.

    Args:
        name: its record name.
        attributes: of the row.
        label: the version of the row schema.
        has_row: it is the schema of an envelope or of a flattened row, so ``attributes`` are columns.
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    label: str | None
    has_row: bool


class RowRecord(Value):
    """One record of a row.

    Args:
        names: names of its schema, the best first.
        declared: what its schema half declares, ``None`` when it has none.
        row: the row, ``None`` where the record shows none that columns can be read off (a delete, a truncate).
        key: what its message key says.
    """

    names: tuple[str, ...]
    declared: RowSchema | None
    row: Mapping[str, Any] | None
    key: KeyPaths


class RecordReader:
    """Reads records; schema halves are parsed once per different text.

    Attributes:
        changes: what the schema change events among the records say.
    """

    def __init__(self) -> None:
        self.changes: list[SchemaChangeEvent] = []
        self._schemas: dict[bytes, RowSchema | SchemaError] = {}
        self._keys: dict[bytes, KeyPaths] = {}

    def read(self, raw: bytes) -> RowRecord | RecordKind:
        """Read one record; a record of no row gives its kind.

        Raises:
            RecordError: it is malformed, or a row that nothing can be read off.
        """
        wrapped = unwrap(raw)
        if wrapped.is_key:
            return RecordKind.KEY
        if wrapped.value is None:
            return RecordKind.TOMBSTONE
        if wrapped.value.startswith((b"\0", SINGLE_OBJECT)):
            what = "their values are binary and only name their schemas: import what the registry holds"
            raise RecordError("undecodable", what)
        if not wrapped.is_checked:
            check(wrapped.value)
        found, schema_half = _halves(members(wrapped.value))
        if found is None:
            return RecordKind.TOMBSTONE
        declared = None if schema_half is None else self._schema(schema_half)
        kind = classify(found, wrapped.topic, declared.name if declared else "")
        if kind is RecordKind.SCHEMA_CHANGE:
            self.changes.append(read_change(_object_of(found), wrapped.topic))
        if kind not in ROW_KINDS:
            return kind
        return self._row_record(raw, wrapped, kind, found, declared)

    def _row_record(
        self, raw: bytes, wrapped: Wrapped, kind: RecordKind, found: Members, declared: RowSchema | None
    ) -> RowRecord:
        source = _object(found.get("source")) if kind is RecordKind.CHANGE else {}
        if kind is RecordKind.CLOUD_EVENT:
            source = _event_source(found)
            found, declared = self._event_data(found)
        named = names.of_change(wrapped.topic, source, declared.name if declared else "")
        if not named:
            raise RecordError(
                "unknown_schema", "nothing names their schema (no topic, no source block, no record name)"
            )
        op = op_of(text_of(found.get("op")))
        row = _without_added(_object_of(found)) if kind is RecordKind.FLATTENED else _row_of(found, op, source)
        if declared is not None and not declared.has_row:
            declared = None
        if declared is not None and kind is RecordKind.FLATTENED:
            declared = _flattened(declared)
        return RowRecord(named, declared, row, None if op == "t" else self._key(raw, wrapped))

    def _event_data(self, found: Members) -> tuple[Members, RowSchema | None]:
        data = found.get("data")
        if data is None or not is_object(data):
            raise RecordError("undecodable", "the data of their CloudEvents is no JSON object, which is not read")
        inner, schema_half = _halves(members(data))
        return inner or {}, None if schema_half is None else self._schema(schema_half)

    def _schema(self, raw: bytes) -> RowSchema | None:
        known = self._schemas.get(raw)
        if known is None:
            known = self._schemas[raw] = _parse_schema(raw)
        if isinstance(known, SchemaError):
            raise RecordError("undecodable", str(known))
        return known

    def _key(self, raw: bytes, wrapped: Wrapped) -> KeyPaths:
        """Return the key paths a record states: ``()`` where its wrapper says that the key is null."""
        if wrapped.key is None:
            return () if _says_no_key(raw) else None
        try:
            check(wrapped.key)
            found = members(wrapped.key)
        except RecordError:
            return None
        if not is_with_schema(found) or is_null(found["schema"]):
            content = found["payload"] if found.keys() == {"schema", "payload"} else wrapped.key
            return _paths(_object(content)) or None
        half = bytes(found["schema"])
        if half not in self._keys:
            self._keys[half] = _key_of_schema(half)
        return self._keys[half]


def _halves(found: Members) -> tuple[Members | None, bytes | None]:
    """Return the payload and the schema half of a value; no payload where it is null."""
    if not is_with_schema(found):
        return found, None
    schema, payload = found["schema"], found["payload"]
    half = None if is_null(schema) or b'"type"' not in bytes(schema) else bytes(schema)
    if is_null(payload):
        return None, half
    return members(payload), half


def _parse_schema(raw: bytes) -> RowSchema | SchemaError:
    try:
        schema = _decode(raw)
        is_envelope, has_op = connect_schema.is_envelope(schema), _has_op(schema)
        has_row = is_envelope or not has_op
        row = connect_schema.row_of(schema)
        attributes = connect_schema.declare(row) if has_row else ()
        named = row if is_envelope and not has_op else schema
        return RowSchema(connect_schema.record_name(named), attributes, connect_schema.row_label(schema), has_row)
    except SchemaError as error:
        return error


def _has_op(schema: Mapping[str, Any]) -> bool:
    fields = schema.get("fields")
    return isinstance(fields, list) and any(isinstance(one, dict) and one.get("field") == "op" for one in fields)


def _row_of(found: Members, op: str, source: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the row of a change that shows all columns; what a delete shows depends on the table's settings."""
    after = found.get("after")
    if op in ("d", "t") or after is None or is_null(after):
        return None
    if not is_object(after):
        kind = "MongoDB documents" if source.get("connector") == "mongodb" else "text"
        raise RecordError("undecodable", f"their rows are {kind}, which are not read")
    return _object(after)


def _without_added(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in row.items() if not name.startswith(connect_schema.ADDED_PREFIX)}


def _flattened(declared: RowSchema) -> RowSchema:
    kept = connect_schema.without_added(declared.attributes)
    return RowSchema(declared.name, kept, declared.label, declared.has_row)


def _event_source(found: Members) -> dict[str, Any]:
    parts = ("name", "schema", "db", "table", "collection", "connector")
    return {part: text_of(found.get(f"iodebezium{part}")) for part in parts}


def _key_of_schema(raw: bytes) -> KeyPaths:
    try:
        return connect_schema.key_paths(_decode(raw)) or None
    except SchemaError:
        return None


def _says_no_key(raw: bytes) -> bool:
    found = members(raw)
    return is_wrapper(found) and "key" in found


def _paths(row: Mapping[str, Any], prefix: str = "") -> tuple[str, ...]:
    paths: list[str] = []
    for name, value in row.items():
        path = prefix + escape(name)
        paths.extend(_paths(value, path + ".") if isinstance(value, dict) and value else (path,))
    return tuple(paths)


def _object(raw: msgspec.Raw | bytes | None) -> dict[str, Any]:
    return _decode(bytes(raw)) if raw is not None and is_object(raw) else {}


def _object_of(found: Members) -> dict[str, Any]:
    return {name: _decode(bytes(raw)) for name, raw in found.items()}


def _decode(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return json.loads(raw)  # numbers beyond all floats; the text itself was accepted before
