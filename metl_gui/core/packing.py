"""What the bytes of a file are packed with, and the same bytes unpacked."""

from __future__ import annotations

import bz2
import gzip
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


def codec_of(head: bytes) -> Codec:
    """Tell the packing from the first bytes of a file, not from its name."""
    return next((codec for magic, codec in _MAGIC if head.startswith(magic)), Codec.PLAIN)


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
            return bz2.BZ2File(stream, "rb")
        case Codec.ZSTD:
            import pyarrow as pa  # takes a tenth of a second, and few files need it

            return cast(IO[bytes], pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))
