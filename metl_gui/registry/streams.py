"""The bytes of a message file, unpacked, piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from metl_gui.errors import SchemaError
from metl_gui.formats.compression import HEAD_BYTES, Codec, codec_of, unpacked
from metl_gui.registry.documents import unreadable

CHUNK_BYTES = 2**20


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file.

    A packed file is first unpacked once to its end, so that a cut one gives nothing at all.

    Raises:
        SchemaError: the file cannot be read, or its packing is broken.
    """
    try:
        if not path.is_file():
            raise SchemaError(f"{path} is no regular file.", "", "Name a file, a folder or a pattern.")
        with path.open("rb") as file:
            codec = codec_of(file.read(HEAD_BYTES))
        if codec is not Codec.PLAIN:
            for _ in _pieces(path, codec):
                pass
        yield from _pieces(path, codec)
    except OSError as error:
        raise unreadable(path, error) from error


def _pieces(path: Path, codec: Codec) -> Iterator[bytes]:
    with path.open("rb") as packed:
        try:
            with unpacked(packed, codec) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk
        except (EOFError, OSError, ValueError, zlib.error) as error:
            if codec is Codec.PLAIN:
                raise
            raise SchemaError(
                f"{path.name} is cut off or damaged.", f"It cannot be unpacked: {error}.", "Copy or pack it again."
            ) from error
