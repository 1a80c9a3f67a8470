"""One record read as a change of a row, whatever shape it came in: envelope, flattened row or CloudEvent.

Source: contract.md §5, cdc-formats.md §1-§6.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache

from msgspec import Raw

from metl_gui.core import names
from metl_gui.core.classify import ROW_KINDS, Kind, classify, is_with_schema, op_of
from metl_gui.core.connect_schema import declare, record_name, row_of, without_added
from metl_gui.core.declarations import fingerprint
from metl_gui.core.json_text import (
    BLANK,
    NULL,
    Members,
    check,
    is_null,
    is_object,
    is_text,
    malformed,
    members,
    members_unless_repeated,
    text_of,
)
from metl_gui.core.wrappers import Wrapped
from metl_gui.engine.kernel.layout import ORIGIN_NAMES
from metl_gui.errors import RecordError, SchemaError

_KEPT_BYTES = 1 << 18
"""Schema halves larger than this are read anew each time, so that a hostile stream cannot fill the memory."""

_KEPT_LETTERS = 4096
"""The same for names."""

_PLACE = ("name", "schema", "db", "table", "collection")


@dataclass(frozen=True, slots=True)
class SchemaHalf:
    """What the Connect schema of one message says (empty: nothing).

    Args:
        record_name: its record name.
        fingerprint: that of its row.
        flattened_fingerprint: the same without the fields that the flattening transform adds.
    """

    record_name: str = ""
    fingerprint: str = ""
    flattened_fingerprint: str = ""


@dataclass(slots=True)
class Change:
    """One change of one row.

    Args:
        op: ``c r u d t``.
        names: names its schema may go by, the best one first.
        row: the row after the change, before it for a delete; ``None`` when there is none.
        before: the row before an update, where it is given.
        key_text: the message key as it came.
        ts_ms: as JSON.
        origin: members of the source block that say where in the log it stands, ``total_order`` among them.
        fingerprint: of the row schema in the message, empty when there is none.
        position: transport position the wrapper gave, empty for none.
        is_flattened: members that begin with two underscores may be metadata.
    """

    op: str
    names: tuple[str, ...]
    row: Members | None = None
    before: Members | None = None
    key_text: bytes | None = None
    ts_ms: bytes = NULL
    origin: dict[str, bytes] = field(default_factory=dict)
    fingerprint: str = ""
    position: str = ""
    is_flattened: bool = False

    def key(self) -> Members | None:
        """Read the message key; ``None`` when there is none that names columns.

        Raises:
            RecordError: ``malformed``.
        """
        return _key(self.key_text)


def read_wrapped(wrapped: Wrapped, known: frozenset[str]) -> Change | Kind:
    """Read one record that was taken apart.

    Args:
        wrapped: the record.
        known: names and aliases of the schemas of the plan.

    Returns:
        The change, or the kind of a record that is skipped.

    Raises:
        RecordError: ``malformed`` or ``undecodable``.
    """
    if wrapped.is_key:
        return Kind.KEY
    if wrapped.value is None:
        return Kind.TOMBSTONE
    if not wrapped.is_checked:
        if wrapped.value[:1] == b"\0":
            raise RecordError("undecodable", "the value is in the framing of a registry, which is not read yet")
        check(wrapped.value)
        if wrapped.value.strip(BLANK) == NULL:
            return Kind.TOMBSTONE
    found = members(wrapped.value)
    half = SchemaHalf()
    if is_with_schema(found):
        if is_null(found["payload"]):
            return Kind.TOMBSTONE
        half = schema_half(bytes(found["schema"]))
        found = members(found["payload"])
    is_known = wrapped.topic in known or names.of_record(half.record_name) in known
    kind = classify(found, wrapped.topic, half.record_name, is_known=is_known)
    return _change(kind, found, wrapped, half) if kind in ROW_KINDS else kind


def _change(kind: Kind, found: Members, wrapped: Wrapped, half: SchemaHalf) -> Change | Kind:
    if kind is Kind.CHANGE:
        change: Change | Kind = _of_envelope(found, wrapped.topic, half)
    elif kind is Kind.FLATTENED:
        change = _of_flattened(found, wrapped.topic, half)
    else:
        change = _of_cloud_event(found, wrapped.topic)
    if isinstance(change, Change):
        change.key_text = wrapped.key
        change.position = wrapped.position
        if change.ts_ms == NULL and wrapped.timestamp:
            change.ts_ms = _milliseconds(wrapped.timestamp)
    return change


def schema_half(raw: bytes) -> SchemaHalf:
    """Read the schema half of a message; what is no schema of a row says nothing."""
    return _kept_half(raw) if len(raw) <= _KEPT_BYTES else _read_half(raw)


@lru_cache(maxsize=1024)
def _kept_half(raw: bytes) -> SchemaHalf:
    return _read_half(raw)


def _read_half(raw: bytes) -> SchemaHalf:
    try:
        schema = json.loads(raw)
        if not isinstance(schema, dict) or "type" not in schema:
            return SchemaHalf()
        attributes = declare(row_of(schema))
        return SchemaHalf(record_name(schema), fingerprint(attributes), fingerprint(without_added(attributes)))
    except (SchemaError, ValueError, RecursionError):
        return SchemaHalf()


def _of_envelope(found: Members, topic: str, half: SchemaHalf) -> Change:
    op = op_of(text_of(found["op"]))
    source = _object(found, "source")
    origin = {name: bytes(source[name]) for name in ORIGIN_NAMES if name in source}
    transaction = found.get("transaction")
    if transaction is not None and is_object(transaction):
        order = members_unless_repeated(transaction).get("total_order")
        origin["total_order"] = NULL if order is None else bytes(order)
    before, after = _row(found.get("before")), _row(found.get("after"))
    if op in ("c", "r", "u") and after is None:
        _refuse_rowless(found, op)
    return Change(
        op=op,
        names=_names(topic, source, half.record_name),
        row=before if op == "d" else after,
        before=before if op == "u" else None,
        ts_ms=_milliseconds(found.get("ts_ms"), source.get("ts_ms")),
        origin=origin,
        fingerprint=half.fingerprint,
    )


def _refuse_rowless(found: Members, op: str) -> None:
    if "updateDescription" in found:
        raise RecordError("undecodable", "the update carries no row, only a description of what changed")
    raise malformed(f"a change with op {op} carries no row")


def _of_flattened(found: Members, topic: str, half: SchemaHalf) -> Change:
    # The transform writes text; a cast behind it, as many pipelines have, makes it a boolean.
    is_deleted = text_of(found.get("__deleted")) == "true" or bytes(found.get("__deleted", b"")) == b"true"
    op = "d" if is_deleted else op_of(text_of(found.get("__op")))
    origin = {
        name: bytes(raw)
        for name in (*ORIGIN_NAMES, "total_order")
        for raw in (_metadata(found, name, "__source_", "__", "__transaction_"),)
        if raw is not None
    }
    return Change(
        op=op if op in ("c", "r", "u", "d") else "u",
        names=names.of_change(topic, None, half.record_name),
        row=found,
        ts_ms=_milliseconds(*(_metadata(found, "ts_ms", prefix) for prefix in ("__", "__source_"))),
        origin=origin,
        fingerprint=half.flattened_fingerprint,
        is_flattened=True,
    )


def _metadata(found: Members, name: str, *prefixes: str) -> bytes | None:
    return next((bytes(found[prefix + name]) for prefix in prefixes if prefix + name in found), None)


def _of_cloud_event(found: Members, topic: str) -> Change | Kind:
    op = op_of(text_of(found.get("iodebeziumop")))
    if op == "m":
        return Kind.MESSAGE
    if op not in ("c", "r", "u", "d", "t"):
        return Kind.OTHER
    data = found.get("data", found.get("data_base64"))
    if data is not None and is_text(data):
        raise RecordError("undecodable", "the data of the CloudEvent is not JSON")
    rows: Members = {} if is_null(data) or data is None else members(data)
    half = SchemaHalf()
    if is_with_schema(rows):
        half = schema_half(bytes(rows["schema"]))
        rows = members(rows["payload"]) if is_object(rows["payload"]) else {}
    source = {
        part: found[f"iodebezium{part}"] for part in ("name", "schema", "db", "table") if f"iodebezium{part}" in found
    }
    before, after = _row(rows.get("before")), _row(rows.get("after"))
    if op in ("c", "r", "u") and after is None:
        _refuse_rowless(rows, op)
    spelled = {name: f"iodebezium{name.replace('_', '')}" for name in ORIGIN_NAMES} | {
        "total_order": "iodebeziumtxtotalorder"
    }
    return Change(
        op=op,
        names=_names(topic, source, half.record_name),
        row=before if op == "d" else after,
        before=before if op == "u" else None,
        ts_ms=_milliseconds(found.get("iodebeziumtsms")),
        origin={name: bytes(found[spelling]) for name, spelling in spelled.items() if spelling in found},
        fingerprint=half.fingerprint,
    )


def _object(found: Members, name: str) -> Members:
    raw = found.get(name)
    return members(raw) if raw is not None and is_object(raw) else {}


def _row(raw: Raw | None) -> Members | None:
    if raw is None or is_null(raw):
        return None
    if is_text(raw):
        raise RecordError("undecodable", "the row is text and not an object")
    return members(raw)


def _names(topic: str, source: Members, record: str) -> tuple[str, ...]:
    place = [text_of(source.get(part)) or "" for part in _PLACE]
    is_short = sum(map(len, place)) + len(topic) + len(record) <= _KEPT_LETTERS
    return _kept_names(topic, record, *place) if is_short else _names_of(topic, record, *place)


@lru_cache(maxsize=4096)
def _kept_names(topic: str, record: str, *place: str) -> tuple[str, ...]:
    return _names_of(topic, record, *place)


def _names_of(topic: str, record: str, *place: str) -> tuple[str, ...]:
    if topic:
        return names.of_change(topic, None, record)
    parts = dict(zip(_PLACE, place, strict=True))
    found = names.of_change(None, parts, record)
    if parts["schema"] and parts["db"]:
        found += names.of_change(None, {**parts, "schema": ""}, "")
        found += (".".join(parts[part] for part in ("name", "db", "schema", "table") if parts[part]),)
    return found


def _milliseconds(*candidates: bytes | Raw | None) -> bytes:
    """Return the first time that is a number, or text made of digits, as JSON."""
    for raw in candidates:
        written = NULL if raw is None else bytes(raw)
        if written[-1:].isdigit():
            return written
        if is_text(written) and written[1:-1].isdigit():
            return written[1:-1].lstrip(b"0") or b"0"
    return NULL


def _key(raw: bytes | None) -> Members | None:
    if raw is None or not raw.lstrip(BLANK).startswith(b"{"):
        return None
    check(raw)
    found = members(raw)
    if is_with_schema(found):
        payload = found["payload"]
        return members(payload) if is_object(payload) else None
    return found
