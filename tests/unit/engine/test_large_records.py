"""Records of a hundred megabytes, mapped by processes of their own: every byte is sent, and memory stays bounded."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20
LARGE = 100
BOUND = 9
"""A process may take so many times the size of its largest record: as it is read, as a record and as a message."""

SMALL = b'{"topic":"s","value":{"after":{"id":1,"a":2},"op":"c"}}'
VALUES = {
    "one string": (b'"', b"x" * MIB, '😀"'.encode()),
    "escapes": (b'"', b"\\u00e9\\\\" * (MIB // 8), b'"'),
    "two bytes a letter": (b'"', "é".encode() * (MIB // 2), b'"'),
    "a list": (b"[", b"1," * (MIB // 2), b"1]"),
    "an object": (b"{", b'"a":{},' * (MIB // 7), b'"a":{}}'),
}


def pieces(shape: str) -> Iterator[bytes]:
    """Yield a value of so many megabytes in pieces."""
    opening, middle, closing = VALUES[shape]
    yield opening
    for _ in range(LARGE):
        yield middle
    yield closing


def write(path: Path, shape: str) -> int:
    """Write three lines, the second with a very large value; return the checksum of the payload it becomes."""
    checksum = zlib.crc32(b'{"i":7,"a":')
    with path.open("wb") as file:
        file.write(SMALL + b'\n{"topic":"s","value":{"op":"c","after":{"id":7,"a":')
        for piece in pieces(shape):
            file.write(piece)
            checksum = zlib.crc32(piece, checksum)
        file.write(b"}}}\n" + SMALL + b"\n")
    return zlib.crc32(b"}", checksum)


def mapped(path: Path, limit_bytes: int) -> dict[str, Any]:
    """Map a file in a process of its own."""
    command = [sys.executable, "-m", "tests.helpers.map_file", str(path), str(limit_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("shape", ["one string", "escapes", "an object"])
def test_a_value_of_a_hundred_megabytes_is_sent_to_the_byte_within_bounded_memory(tmp_path: Path, shape: str) -> None:
    checksum = write(tmp_path / "large.jsonl", shape)
    found = mapped(tmp_path / "large.jsonl", 200 * MIB)
    assert found["fates"] == ["mapped"] * 3
    assert found["sums"][1] == checksum
    assert found["sums"][0] == found["sums"][2] == zlib.crc32(b'{"i":1,"a":2}')
    assert found["taken_mib"] < BOUND * LARGE


def test_a_record_beyond_the_limit_is_too_large_and_takes_no_memory_and_no_neighbour(tmp_path: Path) -> None:
    write(tmp_path / "large.jsonl", "two bytes a letter")
    found = mapped(tmp_path / "large.jsonl", 4 * MIB)
    assert found["fates"] == ["mapped", "set_aside", "mapped"]
    assert found["reasons"] == ["too_large"]
    assert found["taken_mib"] < LARGE
