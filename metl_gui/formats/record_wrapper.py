"""What one record says before its content is looked at: topic, key, value, headers and position.

A record is a bare value, or a wrapper: an object that carries a Kafka record. Both become one ``Wrapped``.

Source: docs/reference/formats.md, "A record".
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from msgspec import Raw

from metl_gui.formats.json_text import Members, accept, check, is_null, is_object, is_text, malformed, members, text_of

VALUE_NAMES = ("value", "value_b64", "message")
WRAPPER_NAMES = frozenset(
    {"topic", *VALUE_NAMES, "key", "key_b64", "headers", "partition", "offset", "timestamp", "part"}
)
BARE = (b'{"before":', b'{"after":', b'{"op":')
"""How a record begins that is certainly no wrapper."""

SINGLE_OBJECT = b"\xc3\x01"
"""How a record in Avro's single-object encoding begins; no UTF-8 text does."""

_BARE_MARKS = frozenset({"before", "after", "op", "specversion", "ddl", "tableChanges", "payload"})


@dataclass(slots=True)
class Wrapped:
    """The parts of one record; bytes are exact wire text.

    Args:
        value: the value, ``None`` for a tombstone; not checked yet where ``is_checked`` is false.
        key: the key, ``None`` when there is none; not checked yet.
        topic: the topic, empty when the record names none.
        position: ``topic/partition/offset``, empty when the record does not say.
        timestamp: the timestamp as JSON, empty when there is none.
        headers: the headers as JSON, empty when there are none.
        is_key: the record is the key part of another one.
        is_checked: the value is part of text that was already accepted.
    """

    value: bytes | None
    key: bytes | None = None
    topic: str = ""
    position: str = ""
    timestamp: bytes = b""
    headers: bytes = b""
    is_key: bool = False
    is_checked: bool = True


def unwrap(raw: bytes) -> Wrapped:
    """Take one record apart.

    Raises:
        RecordError: ``malformed``.
    """
    if raw.startswith(BARE) or raw.startswith(SINGLE_OBJECT):
        return Wrapped(raw, is_checked=False)
    text = raw.strip(b" \t\r\n")
    if text == b"null":
        return Wrapped(None)
    check(raw)
    if not text.startswith(b"{"):
        return Wrapped(accept(text))
    found = members(raw)
    return _wrapped(found) if is_wrapper(found) else Wrapped(raw)


def is_wrapper(found: Members) -> bool:
    """Return whether an object is a wrapper and not a row or envelope that has members of the same names.

    An envelope, a CloudEvent, a schema change and a value with its schema are never wrappers. A topic alone makes one
    only when nothing but members of a wrapper stand beside it; a value is text, null or an object.
    """
    if not _BARE_MARKS.isdisjoint(found):
        return False
    carrier = next((name for name in VALUE_NAMES if name in found), None)
    if carrier is None:
        return "topic" in found and WRAPPER_NAMES.issuperset(found)
    value = found[carrier]
    return is_null(value) or is_text(value) or (is_object(value) and carrier != "value_b64")


def _wrapped(found: Members) -> Wrapped:
    topic = text_of(found.get("topic")) or ""
    value, is_checked = _content(found, ("value", "message"), "value_b64")
    key, _ = _content(found, ("key",), "key_b64")
    partition, offset = (bytes(found.get(name, b"")) for name in ("partition", "offset"))
    is_placed = bool(topic) and partition.isdigit() and offset.isdigit()
    return Wrapped(
        value=value,
        key=key,
        topic=topic,
        position=f"{topic}/{partition.decode()}/{offset.decode()}" if is_placed else "",
        timestamp=bytes(found.get("timestamp", b"")),
        headers=bytes(found.get("headers", b"")),
        is_key=text_of(found.get("part")) == "key",
        is_checked=is_checked,
    )


def _content(found: Members, names: tuple[str, ...], encoded: str) -> tuple[bytes | None, bool]:
    """Return a value or key as wire bytes, and whether they are part of text that was already checked."""
    for name in names:
        if not is_null(found.get(name)):
            return _wire(found[name])
    if is_null(found.get(encoded)):
        return None, True
    text = text_of(found[encoded])
    try:
        return base64.b64decode(text or "", validate=True) if text is not None else _refuse(encoded), False
    except (binascii.Error, ValueError):
        return _refuse(encoded), False


def _wire(raw: Raw) -> tuple[bytes, bool]:
    if is_text(raw):
        wire = text_of(raw)
        return (wire or "").encode(), False
    return bytes(raw), True


def _refuse(name: str) -> bytes:
    raise malformed(f"{name} is not base64")
