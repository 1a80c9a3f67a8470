"""Avro data files (object container files): the head with its schema, and the blocks behind it, unpacked.

Places are counted as if every block lay unpacked in the file, so that they grow with the records whatever the blocks
are packed with; in a file whose blocks are not packed they are the bytes of the file.

Source: the Avro specification (object container files).
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Iterator
from typing import IO

from metl_gui.errors import SchemaError
from metl_gui.values import Value

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
MAX_HEAD_BYTES = 16 * 2**20
MAX_BLOCK_BYTES = 256 * 2**20
"""Blocks larger than this, unpacked, are refused: they are held as a whole."""

_LONG_BYTES = 10
_PIECE_BYTES = 2**20


class Header(Value):
    """The head of a file.

    Args:
        schema: JSON text of the schema that wrote it.
        codec: what the blocks are packed with.
        sync: stands behind each block.
        size_bytes: how long the head is.
    """

    schema: str
    codec: str
    sync: bytes
    size_bytes: int


class AvroBlock(Value):
    """Some records in a row.

    Args:
        place: where their bytes would begin if every block lay unpacked.
        count: how many records.
        data: their bytes, unpacked.
    """

    place: int
    count: int
    data: bytes


def read_long(buffer: bytes, at: int) -> tuple[int, int]:
    """Read one number of variable length.

    Returns:
        The number, and where the next value begins.

    Raises:
        IndexError: the bytes end in it.
        ValueError: it is longer than 64 bits.
    """
    byte = buffer[at]
    at += 1
    value = byte & 0x7F
    shift = 7
    while byte > 0x7F:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 7 * _LONG_BYTES or value >> 64:
            raise ValueError("a number has more than 64 bits")
    return (value >> 1) ^ -(value & 1), at


def written_long(value: int) -> bytes:
    """Write one number of variable length."""
    rest = (value << 1) ^ (value >> 63)
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    found.append(rest)
    return bytes(found)


def header_of(head: bytes) -> Header:
    """Read the head of a file from its first bytes.

    Raises:
        SchemaError: it is cut off, damaged, or names no schema.
    """
    try:
        found, at = _properties(head, len(MAGIC))
        sync = head[at : at + SYNC_BYTES]
        if not head.startswith(MAGIC) or len(sync) < SYNC_BYTES or at > MAX_HEAD_BYTES:
            raise ValueError("its head is cut off")
        schema, codec = found["avro.schema"].decode(), found.get("avro.codec", b"null").decode()
    except (IndexError, KeyError, ValueError) as error:
        raise SchemaError("The head of this Avro file is damaged.", f"{error}.", "Copy the file again.") from error
    return Header(schema, codec, sync, at + SYNC_BYTES)


def _properties(head: bytes, at: int) -> tuple[dict[str, bytes], int]:
    found: dict[str, bytes] = {}
    while True:
        count, at = read_long(head, at)
        if count < 0:
            count = -count
            _, at = read_long(head, at)
        if not count:
            return found, at
        for _ in range(count):
            name, at = _content(head, at)
            found[name.decode()], at = _content(head, at)


def _content(head: bytes, at: int) -> tuple[bytes, int]:
    size, at = read_long(head, at)
    if not 0 <= size <= len(head) - at:
        raise ValueError("a property of its head is cut off")
    return head[at : at + size], at + size


class Pieces:
    """Bytes that were read already, and the stream that they were read from.

    Args:
        held: what comes first.
        stream: what comes then.
    """

    def __init__(self, held: bytes, stream: IO[bytes]) -> None:
        self._held = held
        self._at = 0
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at the end only."""
        found = self._held[self._at : self._at + size]
        self._at += len(found)
        if len(found) < size:
            self._held, self._at = b"", 0
            found += _all_of(self._stream, size - len(found))
        return found


def _all_of(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes; a stream of packed bytes may give them bit by bit."""
    found = bytearray()
    while len(found) < size and (piece := stream.read(min(size - len(found), _PIECE_BYTES))):
        found += piece
    return bytes(found)


def read_header(stream: IO[bytes], head: bytes = b"") -> tuple[Header, Pieces]:
    """Read the head of a file.

    Args:
        stream: the file.
        head: what was read from it already.

    Returns:
        The head, and everything behind it.

    Raises:
        SchemaError: see ``header_of``.
    """
    while True:
        try:
            header = header_of(head)
        except SchemaError:
            more = stream.read(_PIECE_BYTES) if len(head) < MAX_HEAD_BYTES else b""
            if not more:
                raise
            head += more
            continue
        return header, Pieces(head[header.size_bytes :], stream)


def read_blocks(stream: Pieces, header: Header) -> Iterator[AvroBlock]:
    """Yield the blocks behind the head.

    Raises:
        ValueError: a block is cut off, damaged, too large, or packed in a way that is not read.
    """
    place = header.size_bytes
    while True:
        count = _long_of(stream, may_end=True)
        if count is None:
            return
        size = _long_of(stream) or 0
        if count < 0 or not 0 <= size <= MAX_BLOCK_BYTES:
            raise ValueError(f"a block says it has {count:,} records in {size:,} bytes")
        packed = _exactly(stream, size)
        if _exactly(stream, SYNC_BYTES) != header.sync:
            raise ValueError("a block does not end where it should")
        data = unpacked(packed, header.codec)
        place += len(written_long(count)) + len(written_long(len(data)))
        yield AvroBlock(place, count, data)
        place += len(data) + SYNC_BYTES


def _long_of(stream: Pieces, *, may_end: bool = False) -> int | None:
    held = bytearray()
    while len(held) < _LONG_BYTES:
        byte = stream.read(1)
        if not byte and may_end and not held:
            return None
        if not byte:
            raise ValueError("it ends within a block")
        held += byte
        if byte[0] < 0x80:
            return read_long(bytes(held), 0)[0]
    raise ValueError("the size of a block cannot be read")


def _exactly(stream: Pieces, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise ValueError("it ends within a block")
    return found


def unpacked(packed: bytes, codec: str) -> bytes:
    """Unpack the bytes of a block, up to a limit.

    Raises:
        ValueError: they are damaged, too large, or packed with something else than ``null``, ``deflate``,
            ``bzip2``, ``xz``, ``snappy`` or ``zstandard``.
    """
    try:
        match codec:
            case "null":
                return packed
            case "deflate":
                return _whole(zlib.decompressobj(-zlib.MAX_WBITS), packed)
            case "bzip2":
                return _whole(bz2.BZ2Decompressor(), packed)
            case "xz":
                return _whole(lzma.LZMADecompressor(), packed)
            case "snappy":
                return _unsnapped(packed)
            case "zstandard":
                return _of_frames(packed)
            case _:
                raise ValueError(f"its blocks are packed with {codec}, which is not read")
    except (zlib.error, OSError, EOFError, lzma.LZMAError, IndexError) as error:
        raise ValueError(f"a block cannot be unpacked: {error}") from error


def _whole(decompressor: zlib._Decompress | bz2.BZ2Decompressor | lzma.LZMADecompressor, packed: bytes) -> bytes:
    found = decompressor.decompress(packed, MAX_BLOCK_BYTES + 1)
    if len(found) > MAX_BLOCK_BYTES:
        raise _too_large()
    if not decompressor.eof:
        raise ValueError("the bytes of a block end too early")
    return found


def _unsnapped(packed: bytes) -> bytes:
    """Unpack raw snappy, which begins with the size of its content; a checksum of four bytes follows it."""
    import pyarrow as pa  # takes a tenth of a second, and few files need it

    content, checksum = packed[:-4], packed[-4:]
    size, shift = 0, 0
    for byte in content[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > MAX_BLOCK_BYTES:
        raise _too_large()
    found = bytes(pa.decompress(content, decompressed_size=size, codec="snappy", asbytes=True)) if size else b""
    if zlib.crc32(found).to_bytes(4, "big") != checksum:
        raise ValueError("the checksum of a block is wrong")
    return found


def _of_frames(packed: bytes) -> bytes:
    import pyarrow as pa  # as above

    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        found = bytearray()
        while piece := stream.read(_PIECE_BYTES):
            found += piece
            if len(found) > MAX_BLOCK_BYTES:
                raise _too_large()
    return bytes(found)


def _too_large() -> ValueError:
    return ValueError(f"a block has more than {MAX_BLOCK_BYTES // 2**20} MiB when it is unpacked")
