"""What the bytes of a file are packed with, and the same bytes unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
from contextlib import AbstractContextManager
from enum import StrEnum
from io import BufferedReader
from typing import IO, cast

HEAD_BYTES = 4


class Codec(StrEnum):
    """What a file is packed with."""

    PLAIN = "plain"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    ZSTD = "zstd"


_MAGIC = ((b"\x1f\x8b", Codec.GZIP), (b"BZh", Codec.BZIP2), (b"\x28\xb5\x2f\xfd", Codec.ZSTD))
_SKIPPABLE = b"\x2a\x4d\x18"
"""Ends the mark of a zstd frame without content, which parallel packers put first; its first byte is any of sixteen."""

_NOT_READ = (
    (b"\xfd7zXZ\0", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xff\x06\0\0sNaPpY", "snappy"),
)
NOT_READ_BYTES = 16
"""No mark of a packing is longer."""

_PIECE_BYTES = 1 << 18


def codec_of(head: bytes) -> Codec:
    """Tell the packing from the first bytes of a file, not from its name."""
    if head[1:4] == _SKIPPABLE and head[0] >> 4 == 5:
        return Codec.ZSTD
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), Codec.PLAIN)


def unread_packing(head: bytes) -> str:
    """Name the packing that the first bytes of a file tell and that nothing here unpacks; empty where there is none."""
    return next((name for magic, name in _NOT_READ if head.startswith(magic)), "")


def unpacked(stream: BufferedReader, codec: Codec) -> AbstractContextManager[IO[bytes]]:
    """Open a stream of packed bytes as a stream of plain ones.

    Reading raises ``EOFError``, ``OSError``, ``ValueError`` or ``zlib.error`` where the packing is broken or cut off.
    """
    match codec:
        case Codec.PLAIN:
            return stream
        case Codec.GZIP:
            return cast(IO[bytes], gzip.GzipFile(fileobj=stream, mode="rb"))
        case Codec.BZIP2:
            return io.BufferedReader(_Bzip2(stream))
        case Codec.ZSTD:
            import pyarrow as pa  # takes a tenth of a second, and few files need it

            return cast(IO[bytes], pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))


class _Bzip2(io.RawIOBase):
    """Streams of bzip2, one after the other.

    Python's own reader takes what follows a stream and begins no other one for nothing, so that a file of which the
    beginning of a later stream is damaged would lose all the rest without a word.

    Args:
        stream: the packed bytes.
    """

    def __init__(self, stream: BufferedReader) -> None:
        super().__init__()
        self._stream = stream
        self._decompressor = bz2.BZ2Decompressor()

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: object) -> int:
        """Unpack some bytes.

        Raises:
            EOFError: the file ends within a stream.
            OSError: it is damaged, or something else follows a stream.
        """
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # typeshed has no public name for a buffer
        while True:
            packed = self._next()
            if packed is None:
                return 0
            found = self._decompressor.decompress(packed, len(view))
            if found:
                view[: len(found)] = found
                return len(found)

    def _next(self) -> bytes | None:
        """Return what to unpack next, ``None`` at the end of the file."""
        if self._decompressor.eof:
            packed = self._decompressor.unused_data or self._stream.read(_PIECE_BYTES)
            if not packed:
                return None
            self._decompressor = bz2.BZ2Decompressor()
            return packed
        if not self._decompressor.needs_input:
            return b""
        packed = self._stream.read(_PIECE_BYTES)
        if not packed:
            raise EOFError("it ends within a stream")
        return packed
