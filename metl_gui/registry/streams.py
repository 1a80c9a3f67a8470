"""The bytes of a file that may be packed with gzip, bzip2 or zstd, piece by piece."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from metl_gui.errors import SchemaError
from metl_gui.registry.documents import unreadable

CHUNK_BYTES = 2**20
GZIP, BZIP2, ZSTD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file.

    A packed file is first unpacked once to its end, so that a truncated one gives nothing at all.

    Raises:
        SchemaError: the file cannot be read, or its packing is broken.
    """
    try:
        if not path.is_file():
            raise SchemaError(f"{path} is no regular file.", "", "Name a file, a folder or a pattern.")
        with path.open("rb") as file:
            head = file.read(4)
        if head.startswith((GZIP, BZIP2, ZSTD)):
            for _ in _pieces(path, head):
                pass
        yield from _pieces(path, head)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, error) from error
    except OSError as error:
        raise (_broken(path, error) if error.errno is None else unreadable(path, error)) from error


def _pieces(path: Path, head: bytes) -> Iterator[bytes]:
    with _opened(path, head) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _opened(path: Path, head: bytes) -> BinaryIO:
    if head.startswith(GZIP):
        return cast(BinaryIO, gzip.open(path))
    if head.startswith(BZIP2):
        return cast(BinaryIO, bz2.open(path))
    if head.startswith(ZSTD):
        import pyarrow as pa  # takes a tenth of a second, and few files need it

        return cast(BinaryIO, pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _broken(path: Path, error: Exception) -> SchemaError:
    return SchemaError(f"{path.name} is broken or cut off.", f"{error}.".replace("..", "."), "Copy or pack it again.")
