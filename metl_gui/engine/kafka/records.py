"""Messages of consumers as records of the kernel (``kernel.message_records``), and their headers as JSON.

Order: as the messages.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kernel.message_records import MessageRecords, Parts
from metl_gui.formats.json_text import NULL

if TYPE_CHECKING:
    from confluent_kafka import Message

Headers: TypeAlias = "list[tuple[str, str | bytes | None]] | dict[str, str | bytes | None] | None"
"""As a message has them; consumers return a list whose values are bytes."""

_topic, _partition, _offset, _timestamp = map(methodcaller, ("topic", "partition", "offset", "timestamp"))
_key, _headers_of, _value = map(methodcaller, ("key", "headers", "value"))
"""What messages say, asked of many at once by ``map``, which takes two thirds of the time of a loop."""

_MOST_KEPT = 4096

_headers: dict[tuple[tuple[str, str | bytes | None], ...], bytes] = {}
"""Headers that were written before: most messages of a topic have the same."""


def records_of(messages: Sequence[Message], limit_bytes: int = LIMIT_BYTES, topic: str = "") -> MessageRecords:
    """Return messages as records.

    Args:
        messages: as a consumer returned them, none of them an error, which has no place.
        limit_bytes: a record that is larger ends at its beginning; all of it lies in the buffer all the same.
        topic: the topic that the records name, where it is not theirs; their positions stay where they are.
    """
    parts = Parts(
        list(_places(messages)),
        list(map(_offset, messages)),
        [milliseconds if kind else -1 for kind, milliseconds in map(_timestamp, messages)],
        list(map(_key, messages)),
        [headers_json(headers) if headers else NULL for headers in map(_headers_of, messages)],
        list(map(_value, messages)),
    )
    return MessageRecords.of(parts, limit_bytes, topic)


def by_partition(messages: Sequence[Message]) -> dict[tuple[str, int], list[Message]]:
    """Return messages by topic and partition, those of each in their order."""
    found: defaultdict[tuple[str, int], list[Message]] = defaultdict(list)
    for place, message in zip(_places(messages), messages, strict=True):
        found[place].append(message)
    return found


def _places(messages: Sequence[Message]) -> Iterator[tuple[str, int]]:
    return zip(map(_topic, messages), map(_partition, messages), strict=True)


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
