"""What a shared library asks the loader for, read from its dynamic section (64 bit, little endian)."""

from __future__ import annotations

import struct
from pathlib import Path

_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRINGS = 1, 5


def needed_libraries(path: Path) -> set[str]:
    """Return the names of the libraries that a shared library needs directly."""
    image = path.read_bytes()
    assert image[:6] == b"\x7fELF\x02\x01"
    start, size, count = struct.unpack_from("<Q", image, 32) + struct.unpack_from("<HH", image, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", image, start + n * size) for n in range(count)]
    loads = [(address, offset, length) for kind, _, offset, address, _, length, _, _ in segments if kind == _LOAD]
    dynamic = next(segment for segment in segments if segment[0] == _DYNAMIC)
    entries = [struct.unpack_from("<qQ", image, dynamic[2] + at) for at in range(0, dynamic[5], 16)]
    address = next(value for tag, value in entries if tag == _STRINGS)
    strings = next(offset + address - at for at, offset, length in loads if at <= address < at + length)
    return {_text(image, strings + value) for tag, value in entries if tag == _NEEDED}


def _text(image: bytes, at: int) -> str:
    return image[at : image.index(b"\0", at)].decode()
