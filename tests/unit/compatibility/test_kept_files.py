"""Kept files name nobody's computer."""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.compatibility.placeholders import BROKER, HOST, ROOT
from tests.compatibility.topics import read_messages

PLACES = re.compile(rb"(?<![\w.}])/(?:tmp|home|root|work|Users|var|mnt)/")
HOLDERS = re.compile(rb'"host": ?"([^"]*)"')


def test_no_kept_file_names_a_place_or_a_computer_that_is_not_a_placeholder(kept_version: Path) -> None:
    seen = b""
    for name, content in _contents(kept_version):
        assert not PLACES.search(content), name
        assert set(HOLDERS.findall(content)) <= {HOST.encode()}, name
        seen += content
    assert ROOT.encode() in seen
    assert BROKER.encode() in seen


def _contents(kept: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all files of a version, unpacked."""
    for path in sorted(kept.rglob("*")):
        if path.name.endswith(".tar.xz"):
            with tarfile.open(path) as packed:
                for member in packed:
                    file = packed.extractfile(member)
                    yield f"{path.name}/{member.name}", file.read() if file is not None else b""
        elif path.name.endswith(".jsonl.xz"):
            messages = read_messages(path)
            yield path.name, b"\n".join(part for one in messages for part in (one.key, one.value) if part)
        elif path.suffix == ".xz":
            yield path.name, lzma.decompress(path.read_bytes())
        elif path.is_file():
            yield path.name, path.read_bytes()
