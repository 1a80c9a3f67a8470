"""Messages of Kafka as records: columns over one buffer of keys and values, and the wrapper of one when somebody asks.

A message as a record is a wrapper (docs/reference/formats.md, "A record"): topic, partition, offset, time, key and
headers stand beside the value. Both kernels read the columns; a wrapper is written for what is set aside or shown, and
for machine code to learn from. In it a value or key stands as JSON only when it is proven to be one whole object, by
the rules of ``formats.json_text``; else as its exact text, or in base64 when it is no text. So no value can end its
wrapper or add a member to it.
"""

from __future__ import annotations

import base64
import contextlib
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import ClassVar, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.records import Int64Array, Records
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import DEPTH_LIMIT, NULL, accept, depth, quoted
from metl_gui.formats.record_delimiters import head_bytes
from metl_gui.formats.record_wrapper import Wrapped
from metl_gui.values import Value

Key = TypeVar("Key", bound=Hashable)

_COLUMNS = "starts", "stops", "key_starts", "key_stops", "offsets", "times", "place_of", "headers_of"
_MOST_AROUND = 192
"""More than numbers, quotes and names of a wrapper take."""

_MOST_OF_BYTE = 6
"""A byte of text is written as so many at most, where it needs an escape."""


class Parts(NamedTuple):
    """The parts of messages of Kafka, each a column.

    Args:
        places: topic and partition.
        offsets, times: a time below 0 is none.
        keys, headers, values: as bytes, headers as JSON.
    """

    places: list[tuple[str, int]]
    offsets: list[int]
    times: list[int]
    keys: list[bytes | None]
    headers: list[bytes]
    values: list[bytes | None]


class MessageRecords(Value, eq=False):
    """Some messages whose keys and values lie in one buffer.

    Args:
        buffer: holds all of them, with ``PADDING`` bytes behind.
        starts, stops: where each value begins and ends; one that ends before it begins is missing.
        key_starts, key_stops: the same of each key.
        offsets, times: of each; a time below 0 is none.
        places, place_of: topics and partitions, and which of them each has.
        headers, headers_of: headers as JSON, and which of them each has.
        topic: the topic that wrappers name where it is not the messages' own; positions name theirs in any case.
        sizes: how long the wrapper is of those of which only the beginning is kept, 0 for the others; ``None`` when
            all are whole. In the buffer these are whole too.
        kept_bytes: how much is kept of these.

    Attributes:
        name, names: of the files that they come from, which are none.

    Order: as in the partitions.
    """

    buffer: bytes
    starts: Int64Array
    stops: Int64Array
    key_starts: Int64Array
    key_stops: Int64Array
    offsets: Int64Array
    times: Int64Array
    places: Sequence[tuple[str, int]]
    place_of: Int64Array
    headers: Sequence[bytes]
    headers_of: Int64Array
    topic: str = ""
    sizes: Int64Array | None = None
    kept_bytes: int = 0
    name: ClassVar[str] = ""
    names: ClassVar[Sequence[str]] = ()

    @classmethod
    def of(cls, parts: Parts, limit_bytes: int = LIMIT_BYTES, topic: str = "") -> MessageRecords:
        """Lay messages that were taken apart into one buffer.

        Args:
            parts: the messages.
            limit_bytes: of one whose wrapper is larger only the beginning is a record.
            topic: see the class.
        """
        buffer, lengths = _joined([*parts.keys, *parts.values])
        contained = np.maximum(lengths, 0)
        starts = np.cumsum(contained) - contained
        stops, count = starts + lengths, len(parts.offsets)
        places, place_of = distinct(parts.places)
        headers, headers_of = distinct(parts.headers)
        found = cls(
            buffer=buffer,
            starts=starts[count:],
            stops=stops[count:],
            key_starts=starts[:count],
            key_stops=stops[:count],
            offsets=np.array(parts.offsets, np.int64),
            times=np.array(parts.times, np.int64),
            places=places,
            place_of=place_of,
            headers=headers,
            headers_of=headers_of,
            topic=topic,
        )
        return found._limited(limit_bytes)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        """Yield each as a record."""
        return map(self.raw, range(len(self)))

    def raw(self, record: int) -> bytes:
        """Return one as a record, only the beginning of one that is too large."""
        whole = self.whole(record)
        return whole if self.is_whole(record) else whole[: self.kept_bytes]

    def whole(self, record: int) -> bytes:
        """Write the wrapper of one, however large it is."""
        _, partition = self.places[self.place_of[record]]
        time = int(self.times[record])
        return b'{"topic":%b,"partition":%d,"offset":%d,"timestamp":%b,%b,"headers":%b,%b}' % (
            quoted(self.topic_of(record)),
            partition,
            self.offsets[record],
            b"%d" % time if time >= 0 else NULL,
            member("key", self.key(record)),
            self.headers[self.headers_of[record]],
            member("value", self.value(record)),
        )

    def unwrapped(self, record: int) -> Wrapped:
        """Return what the wrapper of one says, with no wrapper between; its value is not checked yet."""
        topic, (_, partition) = self.topic_of(record), self.places[self.place_of[record]]
        offset, time = int(self.offsets[record]), int(self.times[record])
        return Wrapped(
            value=self.value(record),
            key=self.key(record),
            topic=topic,
            position=f"{topic}/{partition}/{offset}" if topic and partition >= 0 and offset >= 0 else "",
            timestamp=b"%d" % time if time >= 0 else NULL,
            headers=self.headers[self.headers_of[record]],
            is_checked=False,
        )

    def key(self, record: int) -> bytes | None:
        """Return the key of one."""
        return self._content(self.key_starts[record], self.key_stops[record])

    def value(self, record: int) -> bytes | None:
        """Return the value of one."""
        return self._content(self.starts[record], self.stops[record])

    def topic_of(self, record: int) -> str:
        """Return the topic that the wrapper of one names."""
        return self.topic or self.places[self.place_of[record]][0]

    def _content(self, start: int, stop: int) -> bytes | None:
        return self.buffer[start:stop] if stop >= start else None

    def position(self, record: int) -> str:
        """Return ``topic/partition/offset`` of one."""
        topic, partition = self.places[self.place_of[record]]
        return f"{topic}/{partition}/{self.offsets[record]}"

    def is_whole(self, record: int) -> bool:
        """Return whether one is a record as a whole."""
        return self.sizes is None or not self.sizes[record]

    def size(self, record: int) -> int:
        """Return how long the wrapper of one is."""
        return len(self.raw(record)) if self.sizes is None or self.is_whole(record) else int(self.sizes[record])

    def first(self, count: int) -> MessageRecords:
        """Return the first ones only."""
        return self.chosen(range(min(count, len(self))))

    def chosen(self, numbers: Sequence[int]) -> MessageRecords:
        """Return some of them."""
        at = np.array(numbers, np.int64)
        columns = {name: getattr(self, name)[at] for name in _COLUMNS}
        return msgspec.structs.replace(self, sizes=None if self.sizes is None else self.sizes[at], **columns)

    @property
    def lengths(self) -> Int64Array:
        """How many bytes key and value of each have; int64 of n."""
        values, keys = self.stops - self.starts, self.key_stops - self.key_starts
        found: Int64Array = np.maximum(values, 0) + np.maximum(keys, 0)
        return found

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """Of which only the beginning is a record; of n."""
        return np.zeros(len(self), np.bool_) if self.sizes is None else self.sizes > 0

    @property
    def bytes_in(self) -> int:
        """How many bytes keys and values have."""
        return int(self.lengths.sum())

    def _limited(self, limit_bytes: int) -> MessageRecords:
        """Return them with the sizes of those whose wrapper is larger than a limit."""
        around = _MOST_AROUND + max(map(len, self.headers), default=0)
        around += max((_MOST_OF_BYTE * len(self.topic or topic) for topic, _ in self.places), default=0)
        perhaps = np.flatnonzero(self.lengths * _MOST_OF_BYTE + around > limit_bytes).tolist()
        sizes = np.zeros(len(self), np.int64)
        for record in perhaps:
            size = len(self.whole(record))
            sizes[record] = size if size > limit_bytes else 0
        return msgspec.structs.replace(self, sizes=sizes, kept_bytes=head_bytes(limit_bytes)) if sizes.any() else self


RecordBatch: TypeAlias = Records | MessageRecords
"""What is mapped together: lines of files, or messages of Kafka."""


def member(name: str, content: bytes | None) -> bytes:
    """Write a key or value under its name: whole objects as they are, text quoted, bytes in base64."""
    written = name.encode()
    if content is None:
        return b'"%b":null' % written
    if is_whole(content):
        return b'"%b":%b' % (written, content)
    if content[:1] > b"\x1f" or not content:
        with contextlib.suppress(UnicodeDecodeError):
            return b'"%b":%b' % (written, quoted(content.decode()))
    return b'"%b_b64":"%b"' % (written, base64.b64encode(content))


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


def distinct(values: Sequence[Key]) -> tuple[list[Key], Int64Array]:
    """Return the different values, and for each which it is."""
    if values and values.count(values[0]) == len(values):
        # Most batches come from one partition, and most messages of a topic have the same headers.
        return [values[0]], np.zeros(len(values), np.int64)
    numbers: defaultdict[Key, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    places = np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))
    return list(numbers), places


def _joined(contents: Sequence[bytes | None]) -> tuple[bytes, Int64Array]:
    """Return contents one behind the other with room behind them, and their lengths, -1 of those that are missing."""
    padding = bytes(PADDING)
    try:
        lengths = np.fromiter(map(len, contents), np.int64, len(contents))  # type: ignore[arg-type]
        return b"".join((*contents, padding)), lengths  # type: ignore[arg-type]
    except TypeError:
        # One is missing.
        lengths = np.array([-1 if one is None else len(one) for one in contents], np.int64)
        return b"".join([*(one for one in contents if one), padding]), lengths
