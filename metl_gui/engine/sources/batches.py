"""Records of ranges in batches, as fast as memory is read: a block of lines is cut in one call.

Each record of an Avro data file comes in single-object encoding: a mark, the fingerprint of its schema, its bytes. So a
record says by itself which schema reads it, wherever it goes from here: to the kernel, or to the error store and back.
Its place is where its bytes would begin in the file if every block lay unpacked. Where a record cannot be read, nothing
tells where the next one of its block begins. So the rest of that block is handed over as one record, which the kernel
sets aside; the next block is read as usual.

``first_records`` gives the first records of a source, for looking at: without Spark, as a run would cut them out of
their files.

Order: as in the file. Units: offsets are bytes before the record, decompressed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, NamedTuple

import numpy as np

from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.engine.kernel.avro_values import MAX_EMPTY_ITEMS, AvroReader
from metl_gui.engine.kernel.records import Int64Array, Records
from metl_gui.engine.kernel.wire_format import remember_schema
from metl_gui.engine.sources.files import CHUNK_BYTES, FileRange, SourceFile, chunks_of, list_files, plain_bytes
from metl_gui.errors import RecordError, RunError, SchemaError
from metl_gui.formats.avro_container import AvroBlock, Header, read_blocks, read_header
from metl_gui.formats.avro_types import read_avro
from metl_gui.formats.record_delimiters import (
    SNIFF_BYTES,
    DelimitedRecord,
    Framing,
    head_bytes,
    sniff,
    split,
    split_lines,
)

BATCH_RECORDS = 8192
BATCH_BYTES = 4 << 20


def avro_records(head: bytes, stream: IO[bytes], name: str, limit_bytes: int) -> Iterator[Records]:
    """Yield the records of a data file in batches.

    Args:
        head: its first bytes, which were read from the stream already.
        stream: the rest of it.
        name: the name of the file.
        limit_bytes: of a record that is larger only the beginning is kept.

    Raises:
        RunError: the file is cut off, damaged, or packed in a way that is not read.
    """
    try:
        header, rest = read_header(stream, head)
        mark, reader = _prepared(header)
        held = _Held(name, limit_bytes)
        for block in read_blocks(rest, header):
            for place, body in _bodies(block, reader):
                held.add(place, mark + body)
                if held.is_full:
                    yield held.flush()
        if held.raws:
            yield held.flush()
    except (SchemaError, ValueError) as error:
        raise RunError(
            "An Avro file is cut off or damaged.",
            f"{name} cannot be read to its end: {error}.",
            "Nothing was written. Copy the file again, or leave it out of the source.",
        ) from error


def _prepared(header: Header) -> tuple[bytes, AvroReader]:
    mark = remember_schema(header.schema)
    return mark, AvroReader(read_avro(json.loads(header.schema)))


def _bodies(block: AvroBlock, reader: AvroReader) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each record of a block; what cannot be read as one, to the end of the block."""
    at = 0
    for number in range(block.count):
        out = bytearray()
        try:
            end = reader.read_at(block.data, at, out)
        except RecordError:
            yield block.place + at, block.data[at:]
            return
        if end == at and (number + 1) * max(reader.empty_fields, 1) > MAX_EMPTY_ITEMS:
            raise ValueError(f"a block claims {block.count:,} records without bytes")
        yield block.place + at, block.data[at:end]
        at = end
    if at < len(block.data):
        yield block.place + at, block.data[at:]


class _Held:
    """Records on their way into a batch."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        self._name = name
        self._limit_bytes = limit_bytes
        self.raws: list[bytes] = []
        self._places: list[int] = []
        self._sizes: list[int] = []
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether a batch is full."""
        return len(self.raws) >= BATCH_RECORDS or self._bytes >= BATCH_BYTES

    def add(self, place: int, raw: bytes) -> None:
        """Keep a record, or its beginning."""
        kept = raw if len(raw) <= self._limit_bytes else raw[: head_bytes(self._limit_bytes)]
        self.raws.append(kept)
        self._places.append(place)
        self._sizes.append(len(raw))
        self._bytes += len(kept)

    def flush(self) -> Records:
        """Return what is held as a batch and begin another one."""
        is_whole = all(map(int.__eq__, map(len, self.raws), self._sizes))
        found = Records.of(self.raws, self._name, self._places, sizes=None if is_whole else self._sizes)
        self.raws, self._places, self._sizes, self._bytes = [], [], [], 0
        return found


_LONG_LINE_BYTES = 8 << 20
_MOST_LINES = 1 << 16
"""Of a batch: each that is set aside takes a kilobyte, however short it is."""

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r"
_LINE_FEED, _RETURN = b"\n\r"
_BLANK_BYTES = np.frombuffer(_BLANK, np.uint8)


class FileBatch(NamedTuple):
    """Some records of one file.

    Args:
        file: index of the file.
        records: the records, with the name of the file.
        rows: of each, where its row in an error store begins and how long that is.
    """

    file: int
    records: Records
    rows: Sequence[tuple[int, int]] = ()


def read_batches(
    files: Sequence[SourceFile],
    ranges: Iterable[FileRange],
    limit: int | None = None,
    limit_bytes: int = LIMIT_BYTES,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[FileBatch]:
    """Yield the records of some ranges, up to a limit.

    Args:
        files: the listing.
        ranges: of its files.
        limit: how many records at most.
        limit_bytes: of a record that is larger only the beginning is kept.
        chunk_bytes: so much is read of lines at once, and makes one batch.

    Raises:
        RunError: a file cannot be read to the end that it had when it was listed.
    """
    left = limit
    for piece in ranges:
        for records in _of_range(files[piece.file], piece, limit_bytes, chunk_bytes):
            batch = FileBatch(piece.file, records)
            if left is None:
                yield batch
                continue
            if left:
                yield FileBatch(batch.file, batch.records.first(left))
            left -= min(left, len(batch.records))
            if not left:
                return


def _of_range(file: SourceFile, piece: FileRange, limit_bytes: int, chunk_bytes: int) -> Iterator[Records]:
    with plain_bytes(file.path, file.size_bytes, file.codec) as stream:
        if piece.start == 0 and piece.stop == file.size_bytes:
            yield from _of_whole(stream, file, limit_bytes, chunk_bytes)
            return
        first = _first_line(stream, piece.start, piece.stop)
        if first is not None:
            stream.seek(first)
            yield from _of_lines(_to_line_end(stream, first, piece.stop, chunk_bytes), file.name, first, limit_bytes)


def _of_whole(stream: IO[bytes], file: SourceFile, limit_bytes: int, chunk_bytes: int) -> Iterator[Records]:
    head = stream.read(SNIFF_BYTES)
    framing = file.framing or sniff(head)
    if framing is Framing.AVRO:
        yield from avro_records(head, stream, file.name, limit_bytes)
        return
    chunks = chain([head], chunks_of(stream, chunk_bytes))
    if framing is not Framing.LINES:
        yield from _gathered(split(chunks, file.framing, limit_bytes), file.name)
        return
    offset = len(_BOM) if head.startswith(_BOM) else 0
    yield from _of_lines(chain([head[offset:]], chunks_of(stream, chunk_bytes)), file.name, offset, limit_bytes)


def _of_lines(chunks: Iterator[bytes], name: str, offset: int, limit_bytes: int) -> Iterator[Records]:
    """Cut blocks of whole lines in one call each; a very long line goes the careful way, and what follows it too."""
    rest = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n")
        if end < 0:
            rest += chunk
            if len(rest) > _LONG_LINE_BYTES:
                yield from _gathered(split_lines(chain([rest], chunks), offset, limit_bytes), name)
                return
            continue
        block = rest + chunk[:end] if rest else chunk[:end]
        yield from _some_at_once(cut_lines(block, name, offset, limit_bytes))
        offset += len(block) + 1
        rest = chunk[end + 1 :]
    if rest:
        yield from _some_at_once(cut_lines(rest, name, offset, limit_bytes))


def _some_at_once(records: Records) -> Iterator[Records]:
    """Yield records as they are, in several batches where their lines are very short."""
    if len(records) <= _MOST_LINES:
        yield records
        return
    for start in range(0, len(records), _MOST_LINES):
        yield records.chosen(range(start, min(start + _MOST_LINES, len(records))))


def cut_lines(block: bytes, name: str, offset: int, limit_bytes: int = LIMIT_BYTES) -> Records:
    """Cut a block of whole lines into records; blank lines are none, and a return at the end of a line is not in it.

    Args:
        block: the lines, without the line feed of the last.
        name: the name of their file.
        offset: where in the file they begin.
        limit_bytes: of a record that is larger only the beginning is kept.
    """
    letters = np.frombuffer(block, np.uint8)
    feeds = np.flatnonzero(letters == _LINE_FEED)
    starts = np.concatenate(([0], feeds + 1))
    stops = np.concatenate((feeds, [len(block)]))
    is_kept = stops > starts
    starts, stops = starts[is_kept], stops[is_kept]
    suspects = np.flatnonzero(np.isin(letters[starts], _BLANK_BYTES))
    if len(suspects):
        is_kept = np.ones(len(starts), np.bool_)
        is_kept[suspects] = [bool(block[starts[at] : stops[at]].strip(_BLANK)) for at in suspects]
        starts, stops = starts[is_kept], stops[is_kept]
    if len(stops):
        stops = stops - (letters[stops - 1] == _RETURN)
    places = _shifted(starts, offset)
    sizes = stops - starts
    if len(block) <= limit_bytes or not (is_large := sizes > limit_bytes).any():
        return Records(block, starts, stops, places, name)
    stops = np.where(is_large, starts + head_bytes(limit_bytes), stops)
    return Records(block, starts, stops, places, name, sizes=sizes)


def _shifted(starts: Int64Array, offset: int) -> Int64Array:
    return starts + offset if offset else starts


def _gathered(records: Iterator[DelimitedRecord], name: str) -> Iterator[Records]:
    held: list[DelimitedRecord] = []
    size = 0
    for record in records:
        held.append(record)
        size += len(record.raw)
        if len(held) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _joined(held, name)
            held, size = [], 0
    if held:
        yield _joined(held, name)


def _joined(records: list[DelimitedRecord], name: str) -> Records:
    sizes = None if all(record.is_whole for record in records) else [record.size_bytes for record in records]
    return Records.of([r.raw for r in records], name, [r.offset for r in records], sizes=sizes)


def _first_line(stream: IO[bytes], start: int, stop: int) -> int | None:
    """Return where the first line of a range begins, None when no line begins in it."""
    if start == 0:
        return len(_BOM) if stream.read(len(_BOM)) == _BOM else 0
    place = start - 1
    stream.seek(place)
    while place < stop - 1:
        chunk = stream.read(min(CHUNK_BYTES, stop - 1 - place))
        if not chunk:
            return None
        found = chunk.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(chunk)
    return None


def _to_line_end(stream: IO[bytes], place: int, stop: int, chunk_bytes: int) -> Iterator[bytes]:
    """Yield the bytes up to the end of the line that crosses ``stop``."""
    chunk = b"\n"
    while place < stop:
        chunk = stream.read(min(chunk_bytes, stop - place))
        if not chunk:
            return
        place += len(chunk)
        yield chunk
    while not chunk.endswith(b"\n"):
        chunk = stream.readline(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


class FirstRecord(NamedTuple):
    """One record.

    Args:
        raw: its exact bytes, only the beginning where it is too large.
        place: its position.
        is_whole: whether ``raw`` is all of it.
    """

    raw: bytes
    place: str
    is_whole: bool = True


def first_records(source: str, most: int, most_of_file: int | None = None) -> Iterator[FirstRecord]:
    """Yield the first records of a source.

    Args:
        source: a file, a folder or a pattern.
        most: how many in all.
        most_of_file: how many of each file; by default as many as are left.

    Raises:
        RunError: there is no such source, or a file cannot be read.
    """
    listing = list_files(source)
    left = most
    for at, file in enumerate(listing.files):
        limit = left if most_of_file is None else min(left, most_of_file)
        for batch in read_batches(listing.files, [FileRange(at, 0, file.size_bytes)], limit):
            records = batch.records
            for number in range(len(records)):
                yield FirstRecord(records.raw(number), records.position(number), records.is_whole(number))
                left -= 1
        if left <= 0:
            return
