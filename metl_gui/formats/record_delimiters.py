"""Cut the bytes of a file into records: JSON lines, JSON arrays or concatenated JSON, with the place of each.

Memory stays near the size of one record: what is larger than the limit is passed over, and only its beginning kept.
A record that is broken never takes its neighbours with it: lines end at the line, and in the other framings a
broken value ends at the next line that begins with a bracket.

Source: docs/reference/formats.md, "Files".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.errors import RecordError
from metl_gui.formats.avro_container import MAGIC
from metl_gui.formats.json_text import accept

HEAD_BYTES = 4096
"""How much of a record that is too large is kept."""

SNIFF_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"


class Framing(StrEnum):
    """How records follow each other in a file."""

    LINES = "lines"
    ARRAY = "array"
    CONCATENATED = "concatenated"
    AVRO = "avro"


class DelimitedRecord(NamedTuple):
    """One record as it lies in its file.

    Args:
        offset: bytes before it (decompressed).
        raw: its exact bytes, only the beginning when it is too large.
        size_bytes: how long it is.
    """

    offset: int
    raw: bytes
    size_bytes: int

    @property
    def is_whole(self) -> bool:
        """Whether ``raw`` is the whole record."""
        return len(self.raw) == self.size_bytes


def head_bytes(limit_bytes: int) -> int:
    """Return how much is kept of a record beyond a limit: never so much that it would seem whole."""
    return min(HEAD_BYTES, limit_bytes)


def sniff(head: bytes) -> Framing:
    """Tell the framing of a file from its first bytes (``SNIFF_BYTES`` are enough).

    A square bracket at the beginning says array, unless its line is whole by itself and more lines follow. Otherwise
    the first value decides: lines when it fills its line, concatenated when it spans lines or shares one. When it is
    broken, the file counts as lines. An Avro data file begins with a mark of its own; its records are cut elsewhere.
    """
    if head.startswith(MAGIC):
        return Framing.AVRO
    start = head.removeprefix(_BOM).lstrip(_BLANK)
    line, _, rest = start.partition(b"\n")
    if start.startswith(b"["):
        return Framing.LINES if rest.strip(_BLANK) and _is_value(line) else Framing.ARRAY
    if not start or _is_value(line):
        return Framing.LINES
    first = next(_split_values(iter((start,)), 0, LIMIT_BYTES), None)
    return Framing.CONCATENATED if first is not None and _is_value(first.raw) else Framing.LINES


def split(
    chunks: Iterable[bytes], framing: Framing | None = None, limit_bytes: int = LIMIT_BYTES
) -> Iterator[DelimitedRecord]:
    """Yield the records of a file from its bytes in any pieces.

    Args:
        chunks: the decompressed bytes from the beginning of the file.
        framing: ``None`` tells it from the first bytes.
        limit_bytes: see ``LIMIT_BYTES``.
    """
    source = iter(chunks)
    head = b""
    for chunk in source:
        head += chunk
        if len(head) >= SNIFF_BYTES:
            break
    chosen = sniff(head[:SNIFF_BYTES]) if framing is None else framing
    offset = len(_BOM) if head.startswith(_BOM) else 0
    pieces = _chain(head[offset:], source)
    if chosen is Framing.LINES:
        return split_lines(pieces, offset, limit_bytes)
    return _split_values(pieces, offset, limit_bytes)


def split_lines(chunks: Iterable[bytes], offset: int = 0, limit_bytes: int = LIMIT_BYTES) -> Iterator[DelimitedRecord]:
    """Yield the lines of JSON lines that are not blank.

    Args:
        chunks: bytes that begin at the start of a line.
        offset: where in the file they begin.
        limit_bytes: see ``LIMIT_BYTES``.
    """
    kept, size = bytearray(), 0
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        if kept or size or not others:
            size += len(first)
            _grow(kept, size, first, limit_bytes)
            if not others:
                continue
            yield from _line(offset, bytes(kept), size)
            kept.clear()
        else:
            size = len(first)
            yield from _line(offset, first if size <= limit_bytes else first[: head_bytes(limit_bytes)], size)
        offset += size + 1
        for line in others[:-1]:
            yield from _line(offset, line if len(line) <= limit_bytes else line[: head_bytes(limit_bytes)], len(line))
            offset += len(line) + 1
        size = len(others[-1])
        _grow(kept, size, others[-1], limit_bytes)
    yield from _line(offset, bytes(kept), size)


def _line(offset: int, kept: bytes, size: int) -> Iterator[DelimitedRecord]:
    if kept.strip(_BLANK) or size > len(kept):
        is_ended = size == len(kept) and kept.endswith(b"\r")
        yield DelimitedRecord(offset, kept[:-1] if is_ended else kept, size - is_ended)


def _grow(kept: bytearray, size: int, more: bytes, limit_bytes: int) -> None:
    """Add to a record that is now ``size`` bytes long; beyond the limit its beginning only is kept."""
    kept += more if size <= limit_bytes else more[:HEAD_BYTES]
    if size > limit_bytes:
        del kept[head_bytes(limit_bytes) :]


def _chain(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def _is_value(line: bytes) -> bool:
    try:
        accept(line)
    except RecordError:
        return False
    return True


_OUTSIDE = re.compile(rb"[^ \t\r\n,\]]")
_INSIDE = re.compile(rb'[\[{]+|[\]}]+|["\n]')
_STRING_END = re.compile(rb'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+("|\n)', re.DOTALL)
_SCALAR_END = re.compile(rb"[ \t\r\n,\]\[{}]")
_RESTART = re.compile(rb"\n[ \t]*(?=[\[{])")
_MORE = 1 << 18


class _Values:
    """A cursor over values that follow each other, whatever stands between them."""

    def __init__(self, chunks: Iterator[bytes], offset: int, limit_bytes: int) -> None:
        self.chunks = chunks
        self.base = offset
        self.limit_bytes = limit_bytes
        self.held = b""
        self.at = 0
        self.is_at_end = False
        self.array_is_open = False

    def fill(self) -> bool:
        """Drop what lies before the cursor and read more; say whether there was any."""
        self.held = self.held[self.at :]
        self.base += self.at
        self.at = 0
        pieces: list[bytes] = []
        size = 0
        wanted = max(_MORE, min(len(self.held), self.limit_bytes - len(self.held)))
        while size < wanted and not self.is_at_end:
            piece = next(self.chunks, None)
            if piece is None:
                self.is_at_end = True
            else:
                pieces.append(piece)
                size += len(piece)
        self.held = self.held + b"".join(pieces)
        return bool(size)

    def start(self) -> bool:
        """Move to the first byte of the next value; the outermost bracket of an array file is passed over."""
        while True:
            found = _OUTSIDE.search(self.held, self.at)
            if found is None:
                self.at = len(self.held)
                if not self.fill():
                    return False
                continue
            self.at = found.start()
            if self.array_is_open or self.held[self.at] != ord("["):
                return True
            self.array_is_open = True
            self.at += 1


def _split_values(chunks: Iterator[bytes], offset: int, limit_bytes: int) -> Iterator[DelimitedRecord]:
    cursor = _Values(chunks, offset, limit_bytes)
    while cursor.start():
        yield _next_value(cursor)


def _next_value(cursor: _Values) -> DelimitedRecord:
    """Take the value that begins at the cursor; a broken one ends before the next line that begins with a bracket."""
    offset, head, passed = cursor.base + cursor.at, b"", 0
    scan = _Scan(cursor.at)
    while True:
        end = scan.end(cursor.held)
        if end < 0:
            scan.move(-cursor.at)
            if cursor.fill():
                if len(cursor.held) + passed > cursor.limit_bytes:
                    head = head or cursor.held[: head_bytes(cursor.limit_bytes)]
                    passed += scan.at
                    cursor.at = scan.at
                continue
            end = len(cursor.held)
        raw = cursor.held[cursor.at : end].rstrip(_BLANK)
        cursor.at = end
        size = passed + len(raw)
        if size > cursor.limit_bytes:
            return DelimitedRecord(offset, (head or raw)[: head_bytes(cursor.limit_bytes)], size)
        return DelimitedRecord(offset, raw, size)


class _Scan:
    """How far the search for the end of one value has come; text once searched is not searched again.

    Args:
        start: where the value begins in the text at hand.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.at = start
        self.level = 0
        self.is_begun = False
        self.is_scalar = False
        self.is_broken = False
        self.is_in_string = False

    def move(self, by: int) -> None:
        """Follow the text at hand, of which some was dropped."""
        self.start += by
        self.at += by

    def end(self, held: bytes) -> int:
        """Return where the value ends, -1 when more text is needed."""
        if not self.is_begun:
            self.is_begun = True
            self.is_scalar = held[self.at : self.at + 1] not in (b"[", b"{", b'"')
        while not (self.is_scalar or self.is_broken):
            if not (self._through_string(held) if self.is_in_string else self._to_next(held)):
                return -1
            if self._is_balanced():
                return self.at
        found = (_SCALAR_END if self.is_scalar else _RESTART).search(
            held, max(self.at, self.start + 1) - self.is_broken
        )
        self.at = found.start() if found else len(held)
        return self.at + self.is_broken if found else -1

    def _is_balanced(self) -> bool:
        return not (self.level or self.is_broken or self.is_in_string)

    def _through_string(self, held: bytes) -> bool:
        """Skip the end of a string; say whether it was there."""
        found = _STRING_END.match(held, self.at)
        if found is None:
            tail = held[self.at :]
            self.at = len(held) - (len(tail) - len(tail.rstrip(b"\\"))) % 2
            return False
        self.is_in_string = False
        self.is_broken = found[1] == b"\n"
        self.at = found.end()
        return True

    def _to_next(self, held: bytes) -> bool:
        """Skip brackets of one direction, a quote or a line end; say whether the text at hand was enough."""
        found = _INSIDE.search(held, self.at)
        self.at = found.start() if found else len(held)
        if found is None or (found[0] == b"\n" and self.at + 1 == len(held)):
            return False
        letter = held[self.at]
        count = len(found[0]) if letter in b"[{" else min(len(found[0]), max(self.level, 1))
        self.level += count * ((letter in b"[{") - (letter in b"]}"))
        self.is_in_string = letter == ord('"')
        self.is_broken = letter == ord("\n") and self._is_restart(held)
        self.at += count
        return True

    def _is_restart(self, held: bytes) -> bool:
        """Return whether the next line begins a value where JSON allows none, so that this one was never closed."""
        before = held[max(self.at - 64, 0) : self.at].rstrip(_BLANK)[-1:]
        return held[self.at + 1] in b"[{" and before not in (b"[", b",", b":", b"")
