"""Records that are too large to map, on their way into the error store: whole, and never in memory.

Their rows are like all others, with ``size_bytes`` before the record; a record is copied from its source in pieces,
from an error store verbatim. A packed file is unpacked a second time for that, once for all of its large records; of
an Avro data file one block at a time is in memory, as when it was mapped.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import IO, Annotated, Protocol, Self, TypeAlias

import msgspec

from metl_gui.core.runs.limits import TOO_LARGE
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.wire_format import remember_schema
from metl_gui.engine.sources.batches import FileBatch
from metl_gui.engine.sources.files import CHUNK_BYTES, SourceFile, plain_bytes, shrunken
from metl_gui.errors import RunError, SchemaError
from metl_gui.formats.avro_container import MAGIC, AvroBlock, read_blocks, read_header
from metl_gui.formats.compression import Codec
from metl_gui.formats.json_text import NULL, quoted
from metl_gui.formats.record_delimiters import Framing

SizeBytes: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
"""How long a record is, as a row says it: arrays of 64 bits hold it."""

_WHOLE_TRIPLES = CHUNK_BYTES - CHUNK_BYTES % 3
_RAW = re.compile(rb',"raw(_base64)?":"')
"""Where the record begins in a row; within the texts before it quotes are escaped."""


class LargeRecords(Protocol):
    """Gives the bytes of records of which a batch has only the beginning."""

    def write(self, record: int, into: IO[bytes]) -> None:
        """Write the end of a row: the record itself as one or two members, without a comma before.

        Raises:
            RunError: the source is not what it was.
        """
        ...


def rewritten(path: str, place: int) -> RunError:
    """Make the error for a file that does not have what it had when it was mapped."""
    return RunError(
        "A source file was changed during the run.",
        f"{path}: what stands at byte {place:,} is not what was read there.",
        "Nothing was written. Run again when no other program rewrites the file.",
    )


class FileReader:
    """Reads large records out of one file, forward as long as they are asked for in order.

    Args:
        file: the file.
    """

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._open = ExitStack()
        self._stream: IO[bytes] | None = None
        self._at = 0
        self._blocks: Iterator[AvroBlock] = iter(())
        self._block: AvroBlock | None = None
        self._mark = b""

    def pieces(self, start: int, size: int) -> Iterator[bytes]:
        """Yield the bytes of one record.

        Args:
            start: how many (decompressed) bytes lie before it.
            size: how long it is.

        Raises:
            RunError: the file became shorter, or is another one.
        """
        if self._is_avro:
            yield from self._of_block(start, size)
            return
        for piece in self._passed(start):
            del piece
        yield from self._read(size)

    def close(self) -> None:
        """Let go of the file."""
        self._open.close()
        self._stream = self._block = None

    @cached_property
    def _is_avro(self) -> bool:
        """Whether records lie in blocks, as they were cut when they were mapped."""
        if self.file.framing is not None:
            return self.file.framing is Framing.AVRO
        with plain_bytes(self.file.path, self.file.size_bytes, self.file.codec) as stream:
            return stream.read(len(MAGIC)) == MAGIC

    def _of_block(self, start: int, size: int) -> Iterator[bytes]:
        """Yield a record of an Avro data file in single-object encoding, as the kernel was given it."""
        try:
            block = self._block_at(start)
        except (SchemaError, ValueError) as error:
            raise rewritten(self.file.path, start) from error
        first = start - block.place
        end = first + size - len(self._mark)
        if end > len(block.data):
            raise rewritten(self.file.path, start)
        yield self._mark + block.data[first : min(first + _WHOLE_TRIPLES, end)]
        for at in range(first + _WHOLE_TRIPLES, end, _WHOLE_TRIPLES):
            yield block.data[at : min(at + _WHOLE_TRIPLES, end)]

    def _block_at(self, place: int) -> AvroBlock:
        """Go to the block in which a place lies; an empty record may lie at the end of its block.

        Raises:
            SchemaError, ValueError: the file does not read as it did.
        """
        if self._block is None or place < self._block.place:
            self.close()
            file = self.file
            stream = self._open.enter_context(plain_bytes(file.path, file.size_bytes, file.codec))
            header, rest = read_header(stream)
            self._mark, self._blocks = remember_schema(header.schema), read_blocks(rest, header)
        while self._block is None or place > self._block.place + len(self._block.data):
            self._block = next(self._blocks, None)
            if self._block is None or place < self._block.place:
                raise ValueError("no block has this place")
        return self._block

    def _passed(self, start: int) -> Iterator[bytes]:
        """Go to a place; a plain file is not read for that."""
        if self._stream is None or start < self._at:
            self.close()
            file = self.file
            self._stream, self._at = self._open.enter_context(plain_bytes(file.path, file.size_bytes, file.codec)), 0
        if self.file.codec is Codec.PLAIN:
            self._at = self._stream.seek(start)
        else:
            yield from self._read(start - self._at)

    def _read(self, size: int) -> Iterator[bytes]:
        stream = self._stream
        while size and stream is not None:
            piece = stream.read(min(size, _WHOLE_TRIPLES))
            if not piece:
                raise shrunken(self.file.path, self.file.size_bytes, self._at)
            self._at += len(piece)
            size -= len(piece)
            yield piece


class OfFile:
    """Large records of a batch of a source.

    Args:
        reader: reads its file.
        records: the batch.
    """

    def __init__(self, reader: FileReader, records: Records) -> None:
        self.reader = reader
        self.records = records

    def write(self, record: int, into: IO[bytes]) -> None:
        """Write a record as text where it is text, else as base64; see ``LargeRecords``."""
        place = int(self.records.offsets[record]), self.records.size(record)
        start = into.tell()
        try:
            into.writelines(_as_text(self._checked(record, place)))
        except UnicodeDecodeError:
            into.seek(start)
            into.truncate()
            into.writelines(_as_base64(self._checked(record, place)))

    def _checked(self, record: int, place: tuple[int, int]) -> Iterator[bytes]:
        """Yield a record, if it begins as it did when it was mapped."""
        head = self.records.raw(record)
        for number, piece in enumerate(self.reader.pieces(*place)):
            if not number and not piece.startswith(head[: len(piece)]):
                raise rewritten(self.reader.file.path, place[0])
            yield piece


class OfStore:
    """Large records of a batch of an error store, which go on into another as they stand in their rows.

    Args:
        reader: reads its part.
        rows: where the row of each record begins, and how long it is.
    """

    def __init__(self, reader: FileReader, rows: Sequence[tuple[int, int]]) -> None:
        self.reader = reader
        self.rows = rows

    def write(self, record: int, into: IO[bytes]) -> None:
        """Copy a record out of its row; see ``LargeRecords``."""
        start, size = self.rows[record]
        pieces = self.reader.pieces(start, size)
        first = next(pieces, b"")
        found = _RAW.search(first)
        if found is not None:
            into.write(first[found.start() + 1 :])
            into.writelines(pieces)


class LargeReaders:
    """Readers for the batches of a task, one file open at most, and none while no record is large.

    Args:
        files: the listing.
    """

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.files = files
        self._at = -1
        self._reader: FileReader | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.close()

    def of(self, batch: FileBatch) -> LargeRecords:
        """Return what reads the large records of a batch."""
        if self._reader is None or batch.file != self._at:
            self.__exit__()
            self._reader, self._at = FileReader(self.files[batch.file]), batch.file
        return OfStore(self._reader, batch.rows) if batch.rows else OfFile(self._reader, batch.records)


def write_row(
    state: int, records: RecordBatch, record: int, limit_bytes: int, large: LargeRecords, into: IO[bytes]
) -> None:
    """Write the row of a large record.

    Args:
        state: number of the state it was to be mapped with.
        records: its batch.
        record: which it is.
        limit_bytes: what the run takes.
        large: gives its bytes.
        into: the part, open at its end.

    Raises:
        RunError: the source is not what it was.
    """
    size = records.size(record)
    detail = f"the record has {size:,} bytes, and this run takes no more than {limit_bytes:,}"
    into.write(
        b'{"reason":%b,"detail":%b,"state":%d,"schema":%b,"version":%b,"position":%b,"size_bytes":%d,'
        % (quoted(TOO_LARGE), quoted(detail), state, NULL, NULL, quoted(records.position(record)), size)
    )
    large.write(record, into)
    into.write(b"\n")


class RowHead(msgspec.Struct, frozen=True):
    """What a row of the error store says before its record."""

    reason: str
    position: str | None = None
    size_bytes: SizeBytes | None = None


_text = msgspec.json.Decoder(str).decode
_LONGEST_LETTER = 13
_head = msgspec.json.Decoder(RowHead).decode


def head_of(row: bytes) -> RowHead:
    """Read the beginning of a row of which only that is at hand.

    Raises:
        ValueError: it is no row of a large record.
    """
    found = _RAW.search(row)
    if found is None:
        raise ValueError("its record does not begin where it should")
    return _head(row[: found.start()] + b"}")


def cut_row(beginning: bytes) -> bytes:
    """End a row of which only the beginning is at hand, so that it reads as a row with the beginning of its record."""
    found = _RAW.search(beginning)
    if found is None:
        return beginning
    end = len(beginning)
    if found[1]:
        return beginning[: end - (end - found.end()) % 4] + b'"}'
    text = beginning[found.end() : end]
    # No letter and no escape may be cut in two; a pair of escapes is one letter.
    for left in range(len(text), max(len(text) - _LONGEST_LETTER, 0), -1):
        try:
            _text(b'"' + text[:left] + b'"')
        except (ValueError, msgspec.MsgspecError):
            continue
        return beginning[: found.end() + left] + b'"}'
    return beginning[: found.end()] + b'"}'


def _as_text(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    yield b'"raw":"'
    for piece in pieces:
        yield msgspec.json.encode(decoder.decode(piece))[1:-1]
    decoder.decode(b"", final=True)
    yield b'"}'


def _as_base64(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield b'"raw_base64":"'
    rest = b""
    for piece in pieces:
        whole = rest + piece
        end = len(whole) - len(whole) % 3
        rest = whole[end:]
        yield base64.b64encode(whole[:end])
    yield base64.b64encode(rest) + b'"}'
