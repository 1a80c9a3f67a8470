"""Messages of Kafka as records of the kernel: each a wrapper (docs/reference/formats.md, "A record"), in one buffer.

Topic, partition, offset, time, key and headers stand beside the value, so that position, key, tombstones and what is
set aside come from the kernel as they do for files. A value or key stands as JSON only when it is proven to be one
whole object (in machine code over the batch, by the rules of ``formats.json_text``); else as its exact text, or in
base64 when it is no text. So no value can end its wrapper or add a member to it.

Order: as the messages.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kafka.machine_code import MACHINE
from metl_gui.engine.kernel.records import Parts, Records, head_of
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import DEPTH_LIMIT, NULL, accept, depth, quoted
from metl_gui.formats.record_delimiting import head_bytes

if TYPE_CHECKING:
    from confluent_kafka import Message

Headers: TypeAlias = "list[tuple[str, str | bytes | None]] | dict[str, str | bytes | None] | None"
"""As a message has them; consumers return a list whose values are bytes."""

Column: TypeAlias = "NDArray[np.int64]"

_PADDING = bytes(64)
_MOST_KEPT = 4096
_AROUND_BYTES = 128
"""More than numbers, quotes and names of a wrapper take."""

_headers: dict[tuple[tuple[str, str | bytes | None], ...], bytes] = {}
"""Headers that were written before: most messages of a topic have the same."""


class Positions(Sequence[str]):
    """Positions of messages, written when somebody asks.

    Args:
        places: topic and partition of each.
        offsets: of each.
    """

    def __init__(self, places: Sequence[tuple[str, int]], offsets: Sequence[int]) -> None:
        self.places = places
        self.offsets = offsets

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Positions: ...

    def __getitem__(self, at: int | slice) -> str | Positions:
        """Return ``topic/partition/offset`` of one, or some of them."""
        if isinstance(at, slice):
            return Positions(self.places[at], self.offsets[at])
        topic, partition = self.places[at]
        return f"{topic}/{partition}/{self.offsets[at]}"


def records_of(messages: Sequence[Message], limit_bytes: int = LIMIT_BYTES, topic: str = "") -> Records:
    """Write messages as records.

    Args:
        messages: as a consumer returned them, none an error.
        limit_bytes: a record that is larger ends at its beginning; all of it lies in the buffer all the same.
        topic: the topic that the records name, where it is not theirs; their positions stay where they are.
    """
    columns = Parts(
        [(message.topic() or "", message.partition() or 0) for message in messages],
        [message.offset() or 0 for message in messages],
        [_time(*message.timestamp()) for message in messages],
        [message.key() for message in messages],
        [headers_json(message.headers()) for message in messages],
        [message.value() for message in messages],
    )
    if topic:
        named = columns._replace(places=[(topic, partition) for _, partition in columns.places])
        positions = Positions(columns.places, columns.offsets)
        return dataclasses.replace(records_of_columns(named, limit_bytes), positions=positions)
    return records_of_columns(columns, limit_bytes)


def records_of_columns(columns: Parts, limit_bytes: int = LIMIT_BYTES) -> Records:
    """Write messages that were taken apart as records; the arguments are those of ``records_of``."""
    machine = MACHINE.after(len(columns.offsets))
    if machine is None:
        texts = [wrapper(columns, number) for number in range(len(columns.offsets))]
        lengths = _numbers(map(len, texts))
        stops = np.cumsum(lengths)
        starts = stops - lengths
        buffer = b"".join((*texts, _PADDING))
    else:
        buffer, starts, stops = _wrapped(machine, columns)
    sizes = stops - starts
    is_large = sizes > limit_bytes
    has_large = bool(is_large.any())
    if has_large:
        stops = np.where(is_large, starts + head_bytes(limit_bytes), stops)
    return Records(
        buffer=buffer,
        starts=starts,
        stops=stops,
        offsets=np.array(columns.offsets, np.int64),
        name="",
        sizes=sizes if has_large else None,
        positions=Positions(columns.places, columns.offsets),
        source_bytes=sum(len(one) for column in (columns.keys, columns.values) for one in column if one),
        parts=columns,
    )


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


def wrapper(columns: Parts, number: int) -> bytes:
    """Write one message as a record, in Python."""
    topic, partition = columns.places[number]
    time = columns.times[number]
    return b'%b%d,"timestamp":%b,%b,"headers":%b,%b}' % (
        head_of(topic, partition),
        columns.offsets[number],
        b"%d" % time if time >= 0 else NULL,
        _member(b"key", columns.keys[number]),
        columns.headers[number],
        _member(b"value", columns.values[number]),
    )


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


def _member(name: bytes, content: bytes | None) -> bytes:
    """Write a key or value under its name: whole objects as they are, text quoted, bytes in base64."""
    if content is None:
        return b'"%b":null' % name
    if is_whole(content):
        return b'"%b":%b' % (name, content)
    if content[:1] > b"\x1f" or not content:
        with contextlib.suppress(UnicodeDecodeError):
            return b'"%b":%b' % (name, quoted(content.decode()))
    return b'"%b_b64":"%b"' % (name, base64.b64encode(content))


def is_whole(content: bytes) -> bool:
    """Say whether bytes are one object of JSON and nothing else, not too deep to have one around it."""
    if not (content.startswith(b"{") and content.endswith(b"}")):
        return False
    if content.count(b"{") + content.count(b"[") >= DEPTH_LIMIT and depth(content) >= DEPTH_LIMIT:
        return False
    try:
        return accept(content) == content
    except RecordError:
        return False


def _numbers(numbers: Iterable[int]) -> Column:
    return np.fromiter(numbers, np.int64)


def _wrapped(machine: Any, columns: Parts) -> tuple[bytes, Column, Column]:
    """Let machine code write what it may, and add the others behind."""
    heads, head_of_each = _shared(columns.places)
    headers, headers_of_each = _shared(columns.headers)
    head_texts = [head_of(*place) for place in heads]
    written = machine.Wrapping(
        head_texts, head_of_each, headers, headers_of_each,
        np.array(columns.offsets, np.int64), np.array(columns.times, np.int64), columns.keys, columns.values,
    )  # fmt: skip
    starts, stops, buffer = written.starts, written.stops, written.text
    if written.left:
        behind = [buffer]
        end = len(buffer)
        for number in np.flatnonzero(starts == stops).tolist():
            text = wrapper(columns, number)
            behind.append(text)
            starts[number], stops[number] = end, end + len(text)
            end += len(text)
        buffer = b"".join((*behind, _PADDING))
    return buffer, starts, stops


def _shared(values: Sequence[Any]) -> tuple[list[Any], Column]:
    """Return the different values, and for each which it is."""
    numbers: dict[Any, int] = {}
    places = _numbers([numbers.setdefault(value, len(numbers)) for value in values])
    return list(numbers), places
