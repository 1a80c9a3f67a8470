"""One record read as a change of a row, whatever shape it came in: envelope, flattened row or CloudEvent.

Source: docs/reference/message.md; docs/reference/cdc.md.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

from msgspec import Raw

from metl_gui.core.project.writer_schemas import of_content, of_global
from metl_gui.core.trees import schema_names as names
from metl_gui.engine.kernel.headers import old_key_in
from metl_gui.engine.kernel.message_layout import ORDINAL, ORIGIN_NAMES, TIME, TOTAL_ORDER
from metl_gui.engine.kernel.wire_format import DecodedValue, InlineSchema, WireDecoder, is_framed, schema_half
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import (
    BLANK,
    NULL,
    Members,
    bytes_of,
    check,
    is_null,
    is_object,
    is_text,
    malformed,
    members,
    members_unless_repeated,
    text_of,
)
from metl_gui.formats.record_kind import HEARTBEAT_TOPIC, ROW_KINDS, RecordKind, classify, is_with_schema, op_of
from metl_gui.formats.record_wrapper import SINGLE_OBJECT, Wrapped

_SCHEMA_ADDRESS = re.compile(r"/ids/(?:(globalids|contentids)/)?(\d{1,18})/?$", re.IGNORECASE)
_ADDRESSED: dict[str, Callable[[str], str]] = {"globalids": of_global, "contentids": of_content}
_KEPT_LETTERS = 4096
"""Longer names are worked out anew each time, so that a hostile stream cannot fill the memory."""

_TRUE, _FALSE = b"true", b"false"
_BOOLEANS = {_TRUE: "true", _FALSE: "false"}
_SNAPSHOT = "snapshot"
_SNAPSHOTS = {"false": _FALSE} | dict.fromkeys(
    ("true", "first", "first_in_data_collection", "last_in_data_collection", "last", "incremental"), _TRUE
)
"""What the words of a source block say; older messages have booleans."""

_ATTRIBUTES = {name: f"iodebezium{name.replace('_', '')}" for name in (*ORIGIN_NAMES, TIME, _SNAPSHOT)}
"""What a CloudEvent calls the members of a source block."""

_WHOLE = re.compile(rb"-?[0-9]{1,19}")
_PLACE = ("name", "schema", "db", "table", "collection")


@dataclass(slots=True)
class RowChange:
    """One change of one row.

    Args:
        op: ``c r u d t``.
        names: names its schema may go by, the best one first.
        row: the row after the change, before it for a delete; ``None`` when there is none.
        before: the row before an update, where it is given.
        key_text: the message key as it came.
        written: the value as its registry's schema decoded it, ``None`` where it came as text.
        unframe: decodes a key that is in the framing of a registry.
        ts_ms: as JSON.
        origin: members of the source block that say where in the log it stands, ``total_order`` among them.
        committed_at_ms: when the source committed it, as JSON; a whole number of 64 bits, or null.
        snapshot: whether it was read by a snapshot, as JSON; null where the source does not say.
        old_key_text: the key that the row had before its key changed, as a header says it.
        fingerprint: of the row schema in the message, empty when there is none.
        position: transport position the wrapper gave, empty for none.
        is_flattened: members that begin with two underscores may be metadata.
    """

    op: str
    names: tuple[str, ...]
    row: Members | None = None
    before: Members | None = None
    key_text: bytes | None = None
    written: DecodedValue | None = None
    unframe: Callable[[bytes], bytes | None] | None = None
    ts_ms: bytes = NULL
    origin: dict[str, bytes] = field(default_factory=dict)
    committed_at_ms: bytes = NULL
    snapshot: bytes = NULL
    old_key_text: bytes | None = None
    fingerprint: str = ""
    position: str = ""
    is_flattened: bool = False

    def key(self) -> Members | None:
        """Read the message key; ``None`` when there is none that names columns.

        Raises:
            RecordError: ``malformed`` or ``undecodable``.
        """
        if self.unframe is not None and self.key_text is not None:
            return _key(self.unframe(self.key_text))
        return _key(self.key_text)

    def old_key(self) -> Members | None:
        """Read the key that a header names as the old one; ``None`` where there is none that names columns.

        A header that cannot be read says nothing: the change itself is whole without it.
        """
        try:
            return _key(self.old_key_text)
        except RecordError:
            return None


def read_wrapped(
    wrapped: Wrapped, known: frozenset[str], wire: WireDecoder | None = None, written: DecodedValue | None = None
) -> RowChange | RecordKind:
    """Read one record that was taken apart.

    Args:
        wrapped: the record.
        known: names and aliases of the schemas of the plan.
        wire: decodes what is in the framing of a registry.
        written: the value, where somebody decoded it before.

    Returns:
        The change, or the kind of a record that is skipped.

    Raises:
        RecordError: ``malformed``, ``undecodable``, ``unknown_version`` or ``too_large``.
    """
    if wrapped.is_key:
        return RecordKind.KEY
    if wrapped.value is None:
        return RecordKind.TOMBSTONE
    if written is not None or (wire is not None and is_framed(wrapped.value, wrapped.headers)):
        if wrapped.topic.startswith(HEARTBEAT_TOPIC):
            return RecordKind.HEARTBEAT
        if written is None and wire is not None:
            written = wire.written(wrapped.value, wrapped.topic, wrapped.headers)
        if written is not None:
            return _read_text(written.text, wrapped, known, wire, written)
    if not wrapped.is_checked:
        if wrapped.value[:1] in (b"\0", b"\xc3"):
            _refuse_framed(wrapped.value)
        check(wrapped.value)
    return _read_text(wrapped.value, wrapped, known, wire, None)


def _refuse_framed(value: bytes) -> None:
    """Say of bytes that begin as those of a registry do that nothing reads them.

    Raises:
        RecordError: ``undecodable``.
    """
    if value[:1] == b"\0" or value.startswith(SINGLE_OBJECT):
        raise RecordError("undecodable", "the value begins as in a registry's framing, but is too short or set to none")


def _read_text(
    text: bytes, wrapped: Wrapped, known: frozenset[str], wire: WireDecoder | None, written: DecodedValue | None
) -> RowChange | RecordKind:
    """Read the text of a value, as it came or as it was decoded."""
    if text.strip(BLANK) == NULL:
        return RecordKind.TOMBSTONE
    found = members(text)
    half = InlineSchema() if written is None else written.half
    if (written is None or not written.is_plain) and is_with_schema(found):
        if is_null(found["payload"]):
            return RecordKind.TOMBSTONE
        half = schema_half(bytes(found["schema"]))
        found = members(found["payload"])
    is_known = wrapped.topic in known or names.of_record(half.record_name) in known
    kind = classify(found, wrapped.topic, half.record_name, is_known=is_known)
    if kind not in ROW_KINDS:
        return kind
    change = _change(kind, found, wrapped, half, wire)
    if isinstance(change, RowChange):
        _note_writer(change, wrapped, wire, written)
    return change


def _note_writer(change: RowChange, wrapped: Wrapped, wire: WireDecoder | None, written: DecodedValue | None) -> None:
    """Note what decoded a value, and what decodes its key when somebody asks for that."""
    change.written = change.written or written
    if change.written is not None:
        change.names = tuple(dict.fromkeys((*change.names, *change.written.names)))
    if wire is not None and wrapped.key is not None and is_framed(wrapped.key, wrapped.headers):
        change.unframe = partial(_unframed, wire, wrapped.topic, wrapped.headers)


def _unframed(wire: WireDecoder, topic: str, headers: bytes, key: bytes) -> bytes | None:
    """Decode a key; one whose schema nobody knows says nothing, as the row may say the same."""
    try:
        written = wire.written(key, topic, headers, "key")
    except RecordError as error:
        if error.reason != "unknown_version":
            raise
        return None
    return key if written is None else written.text


def _change(
    kind: RecordKind, found: Members, wrapped: Wrapped, half: InlineSchema, wire: WireDecoder | None
) -> RowChange | RecordKind:
    if kind is RecordKind.CHANGE:
        change: RowChange | RecordKind = _of_envelope(found, wrapped.topic, half)
    elif kind is RecordKind.FLATTENED:
        change = _of_flattened(found, wrapped.topic, half)
    else:
        change = _of_cloud_event(found, wrapped.topic, half, wire)
    if isinstance(change, RowChange):
        change.key_text = wrapped.key
        change.old_key_text = old_key_in(wrapped.headers)
        change.position = wrapped.position
        if change.ts_ms == NULL and wrapped.timestamp:
            change.ts_ms = _milliseconds(wrapped.timestamp)
    return change


def _of_envelope(found: Members, topic: str, half: InlineSchema) -> RowChange:
    op = op_of(text_of(found["op"]))
    source = _object(found, "source")
    transaction, total_order = found.get("transaction"), None
    if transaction is not None and is_object(transaction):
        total_order = members_unless_repeated(transaction).get(TOTAL_ORDER, NULL)
    before, after = _row(found.get("before")), _row(found.get("after"))
    if op in ("c", "r", "u") and after is None:
        _refuse_rowless(found, op)
    return RowChange(
        op=op,
        names=_names(topic, source, half.record_name),
        row=before if op == "d" else after,
        before=before if op == "u" else None,
        ts_ms=_milliseconds(found.get("ts_ms"), source.get("ts_ms")),
        origin=_origin(source.get, source.get(TIME), total_order),
        committed_at_ms=_whole(source.get(TIME)),
        snapshot=_snapshot(source.get(_SNAPSHOT), when_null=_FALSE),
        fingerprint=half.fingerprint,
    )


def _refuse_rowless(found: Members, op: str) -> None:
    if "updateDescription" in found:
        raise RecordError("undecodable", "the update carries no row, only a description of what changed")
    raise malformed(f"a change with op {op} carries no row")


def _of_flattened(found: Members, topic: str, half: InlineSchema) -> RowChange:
    # The transform writes text; a cast behind it, as many pipelines have, makes it a boolean.
    is_deleted = text_of(found.get("__deleted")) == "true" or bytes(found.get("__deleted", b"")) == b"true"
    op = "d" if is_deleted else op_of(text_of(found.get("__op")))
    time = _metadata(found, TIME, "__source_")

    def member(name: str) -> bytes | None:
        return _metadata(found, name, "__source_", "__", "__transaction_")

    return RowChange(
        op=op if op in ("c", "r", "u", "d") else "u",
        names=names.of_change(topic, None, half.record_name),
        row=found,
        ts_ms=_milliseconds(*(_metadata(found, "ts_ms", prefix) for prefix in ("__", "__source_"))),
        origin=_origin(member, time, member(TOTAL_ORDER)),
        committed_at_ms=_whole(time),
        snapshot=_snapshot(_metadata(found, _SNAPSHOT, "__source_", "__"), when_null=NULL),
        fingerprint=half.flattened_fingerprint,
        is_flattened=True,
    )


def _origin(
    member: Callable[[str], bytes | Raw | None], time: bytes | Raw | None, total_order: bytes | Raw | None
) -> dict[str, bytes]:
    """Return what says where in the log a change stands.

    Args:
        member: gives a member of the source block.
        time: the time in the database, which orders only together with an ordinal.
        total_order: the place of the change in its transaction.
    """
    found = {name: bytes_of(raw) for name in ORIGIN_NAMES for raw in (member(name),) if raw is not None}
    if ORDINAL in found and time is not None:
        found[TIME] = bytes_of(time)
    if total_order is not None:
        found[TOTAL_ORDER] = bytes_of(total_order)
    return found


def _snapshot(raw: bytes | Raw | None, *, when_null: bytes) -> bytes:
    """Return whether a source block says that a snapshot read the row, as JSON; null for what it does not say.

    Args:
        raw: the member as it came, ``None`` where it is missing.
        when_null: what null stands for.
    """
    if raw is None:
        return NULL
    if is_null(raw):
        return when_null
    word = text_of(raw) if is_text(raw) else _BOOLEANS.get(bytes(raw))
    return _SNAPSHOTS.get(word or "", NULL)


def _whole(raw: bytes | Raw | None) -> bytes:
    """Return a whole number of 64 bits as it came; null for anything else."""
    written = NULL if raw is None else bytes_of(raw)
    is_whole = _WHOLE.fullmatch(written) is not None and -(1 << 63) <= int(written) < 1 << 63
    return written if is_whole else NULL


def _metadata(found: Members, name: str, *prefixes: str) -> bytes | None:
    return next((bytes_of(found[prefix + name]) for prefix in prefixes if prefix + name in found), None)


def _of_cloud_event(found: Members, topic: str, half: InlineSchema, wire: WireDecoder | None) -> RowChange | RecordKind:
    op = op_of(text_of(found.get("iodebeziumop")))
    if op == "m":
        return RecordKind.MESSAGE
    if op not in ("c", "r", "u", "d", "t"):
        return RecordKind.OTHER
    rows, inner, written = _event_data(found, topic, wire)
    half = half if inner is None else inner
    source = {part: found[f"iodebezium{part}"] for part in _PLACE if f"iodebezium{part}" in found}
    before, after = _row(rows.get("before")), _row(rows.get("after"))
    if op in ("c", "r", "u") and after is None:
        _refuse_rowless(rows, op)
    time = _milliseconds(found.get(_ATTRIBUTES[TIME]))
    return RowChange(
        op=op,
        names=_names(topic, source, half.record_name),
        row=before if op == "d" else after,
        before=before if op == "u" else None,
        ts_ms=time,
        origin=_origin(
            lambda name: found.get(_ATTRIBUTES[name]), found.get(_ATTRIBUTES[TIME]), found.get("iodebeziumtxtotalorder")
        ),
        committed_at_ms=_whole(time),
        snapshot=_snapshot(found.get(_ATTRIBUTES[_SNAPSHOT]), when_null=_FALSE),
        fingerprint=half.fingerprint,
        written=written,
    )


def _event_data(
    found: Members, topic: str, wire: WireDecoder | None
) -> tuple[Members, InlineSchema | None, DecodedValue | None]:
    """Return the rows in the data of a CloudEvent, and what their own schema says of them where they have one."""
    data = found.get("data", found.get("data_base64"))
    if is_null(data) or data is None:
        return {}, None, None
    if is_text(data):
        written = _decoded_data(text_of(data) or "", text_of(found.get("dataschema")) or "", topic, wire)
        return members(written.text), written.half, written
    rows = members(data)
    if not is_with_schema(rows):
        return rows, None, None
    payload = rows["payload"]
    return members(payload) if is_object(payload) else {}, schema_half(bytes(rows["schema"])), None


def _decoded_data(text: str, schema: str, topic: str, wire: WireDecoder | None) -> DecodedValue:
    """Decode the data of a CloudEvent that is base64: by the frame it is in, or by the id that the event names.

    Raises:
        RecordError: ``undecodable`` or ``unknown_version``.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RecordError("undecodable", "the data of the CloudEvent is text and neither JSON nor base64") from None
    named = _SCHEMA_ADDRESS.search(schema)
    kind, number = (named[1] or "", named[2]) if named else ("", "")
    id_ = _ADDRESSED.get(kind.lower(), str)(number) if number else ""
    found = None if wire is None else _written_data(wire, content, topic)
    if found is None and wire is not None and id_:
        found = wire.by_id(id_, content, topic) or wire.by_id(number, content, topic)
    if found is None:
        detail = f"its schema {schema} is not known" if schema else "nothing names its schema"
        raise RecordError("undecodable", f"the data of the CloudEvent is binary, and {detail}")
    return found


def _written_data(wire: WireDecoder, content: bytes, topic: str) -> DecodedValue | None:
    """Decode data by its own frame; ``None`` where it has none, or none that is known."""
    try:
        return wire.written(content, topic)
    except RecordError as error:
        if error.reason != "unknown_version":
            raise
        return None


def _object(found: Members, name: str) -> Members:
    raw = found.get(name)
    return members(raw) if raw is not None and is_object(raw) else {}


def _row(raw: Raw | None) -> Members | None:
    if raw is None or is_null(raw):
        return None
    if is_text(raw):
        raise RecordError("undecodable", "the row is text and not an object, as documents of MongoDB are")
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
        written = NULL if raw is None else bytes_of(raw)
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
