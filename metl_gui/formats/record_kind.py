"""Which kind of record a value is, by its members and its topic.

Source: docs/reference/cdc.md, "Kinds of record in a topic"; docs/reference/cdc.md, "The envelope";
docs/reference/cdc.md, "Flattened rows".
"""

from __future__ import annotations

from enum import StrEnum

from metl_gui.formats.json_text import Members, is_null, is_object, is_text, members_unless_repeated, text_of

HEARTBEAT_TOPIC = "__debezium-heartbeat"
ROW_OPS = frozenset("crudt")
_ENVELOPE_OPS = ROW_OPS | {"m"}


class RecordKind(StrEnum):
    """The kinds of record of a change stream. The last eight, without a row of a table, are skipped and counted."""

    CHANGE = "change"
    FLATTENED = "flattened"
    CLOUD_EVENT = "cloud_event"
    TOMBSTONE = "tombstone"
    HEARTBEAT = "heartbeat"
    TRANSACTION = "transaction"
    SCHEMA_CHANGE = "schema_change"
    MESSAGE = "message"
    NOTIFICATION = "notification"
    SIGNAL = "signal"
    KEY = "key"
    OTHER = "other"


ROW_KINDS = frozenset({RecordKind.CHANGE, RecordKind.FLATTENED, RecordKind.CLOUD_EVENT})
_HEARTBEAT = frozenset({"ts_ms", "ts_us", "ts_ns"})
_TRANSACTION = frozenset({"status", "id", "ts_ms", "ts_us", "ts_ns", "event_count", "data_collections"})
_NOTIFICATION = frozenset({"id", "type", "aggregate_type", "additional_data", "timestamp"})
_SIGNAL = frozenset({"id", "type", "data"})
_SCHEMA_CHANGE = frozenset(
    {"source", "ts_ms", "ts_us", "ts_ns", "databaseName", "schemaName", "ddl", "tableChanges", "position", "status"}
)


def is_with_schema(found: Members) -> bool:
    """Return whether an object is a Connect schema and its payload, and not a row with two columns of those names.

    The schema has a type, or is empty or null beside a payload that is an object or null.
    """
    if found.keys() != {"schema", "payload"}:
        return False
    schema, payload = found["schema"], found["payload"]
    if is_object(schema) and "type" in members_unless_repeated(schema):
        return True
    is_bare = is_null(schema) or not bytes(schema).strip(b"{} \t\r\n")
    return is_bare and (is_null(payload) or is_object(payload))


def classify(found: Members, topic: str = "", record_name: str = "", *, is_known: bool = False) -> RecordKind:
    """Tell the kind of a value.

    Args:
        found: the members of the payload.
        topic: empty when the record names none.
        record_name: name of its Connect schema, empty when it has none.
        is_known: the topic names a schema of the tree, so that members that happen to look like those of a
            heartbeat, transaction, notification or signal are columns.
    """
    if topic.startswith(HEARTBEAT_TOPIC) or record_name.endswith(".Heartbeat"):
        return RecordKind.HEARTBEAT
    if "specversion" in found and "type" in found:
        return RecordKind.CLOUD_EVENT
    if "op" in found and _is_envelope(found):
        return _change(found)
    if is_known:
        return RecordKind.FLATTENED
    return _by_members(found, record_name)


def op_of(text: str | None) -> str:
    """Return an operation in the form it is written in, lower case; empty when there is none."""
    return text.strip().lower() if text else ""


def _is_envelope(found: Members) -> bool:
    """Return whether members with an operation are those of an envelope, and not columns of the same names.

    An envelope has objects or nulls there; one of a document store may have rows as text.
    """
    parts = [found[name] for name in ("before", "after", "source") if name in found]
    if not parts or any(map(is_object, parts)) or all(map(is_null, parts)):
        return bool(parts)
    return not found.keys().isdisjoint(("before", "after")) and op_of(text_of(found["op"])) in _ENVELOPE_OPS


def _change(found: Members) -> RecordKind:
    op = op_of(text_of(found["op"]))
    if op == "m":
        return RecordKind.MESSAGE
    return RecordKind.CHANGE if op in ROW_OPS else RecordKind.OTHER


def _by_members(found: Members, record_name: str) -> RecordKind:
    names = found.keys()
    if record_name.endswith(".SchemaChangeValue") or _is_schema_change(found):
        return RecordKind.SCHEMA_CHANGE
    if names and names <= _HEARTBEAT:
        return RecordKind.HEARTBEAT
    if names <= _TRANSACTION and "id" in names and text_of(found.get("status")) in ("BEGIN", "END"):
        return RecordKind.TRANSACTION
    if names <= _NOTIFICATION and {"aggregate_type", "type"} <= names:
        return RecordKind.NOTIFICATION
    if names <= _SIGNAL and {"type", "data"} <= names and is_text(found["type"]):
        return RecordKind.SIGNAL
    return RecordKind.FLATTENED


def _is_schema_change(found: Members) -> bool:
    names = found.keys()
    return ("tableChanges" in names or "ddl" in names) and (names <= _SCHEMA_CHANGE or "databaseName" in names)
