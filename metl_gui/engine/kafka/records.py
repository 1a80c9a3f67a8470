"""Messages of consumers as records of the kernel (``kernel.message_records``), and their headers as JSON.

Order: as the messages.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kernel.message_records import MessageRecords, Parts
from metl_gui.formats.json_text import NULL

if TYPE_CHECKING:
    from confluent_kafka import Message

Headers: TypeAlias = "list[tuple[str, str | bytes | None]] | dict[str, str | bytes | None] | None"
"""As a message has them; consumers return a list whose values are bytes."""

_MOST_KEPT = 4096

_headers: dict[tuple[tuple[str, str | bytes | None], ...], bytes] = {}
"""Headers that were written before: most messages of a topic have the same."""


def records_of(messages: Sequence[Message], limit_bytes: int = LIMIT_BYTES, topic: str = "") -> MessageRecords:
    """Return messages as records.

    Args:
        messages: as a consumer returned them, none an error.
        limit_bytes: a record that is larger ends at its beginning; all of it lies in the buffer all the same.
        topic: the topic that the records name, where it is not theirs; their positions stay where they are.
    """
    parts = Parts(
        [(message.topic() or "", message.partition() or 0) for message in messages],
        [message.offset() or 0 for message in messages],
        [_time(*message.timestamp()) for message in messages],
        [message.key() for message in messages],
        [headers_json(message.headers()) for message in messages],
        [message.value() for message in messages],
    )
    return MessageRecords.of(parts, limit_bytes, topic)


def headers_json(headers: Headers) -> bytes:
    """Write headers as pairs of name and value: text as it is, bytes in base64."""
    if not headers:
        return NULL
    key = tuple(headers.items() if isinstance(headers, dict) else headers)
    found = _headers.get(key)
    if found is None:
        found = msgspec.json.encode(
            [(name, _header_text(value) if isinstance(value, bytes) else value) for name, value in key]
        )
        if len(_headers) >= _MOST_KEPT:
            _headers.clear()
        _headers[key] = found
    return found


def _time(kind: int, milliseconds: int) -> int:
    return milliseconds if kind else -1


def _header_text(value: bytes) -> str:
    """Return a header as text; what may be a number or an id in bytes becomes base64."""
    if value.isascii():
        text = value.decode()
        if text.isprintable():
            return text
    else:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = "\0"
        if text.isprintable():
            return text
    return base64.b64encode(value).decode()
