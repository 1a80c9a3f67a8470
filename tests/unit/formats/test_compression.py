from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from metl_gui.formats.compression import HEAD_BYTES, Codec, codec_of, unpacked

TEXT = b"".join(b"line %d\n" % number for number in range(100_000))
SKIPPABLE = b"\x5a\x2a\x4d\x18\x04\x00\x00\x00skip"


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


PACKERS: dict[Codec, Callable[[bytes], bytes]] = {
    Codec.GZIP: gzip.compress,
    Codec.BZIP2: bz2.compress,
    Codec.ZSTD: zstd,
}
PACKED = {
    Codec.PLAIN: TEXT,
    Codec.GZIP: gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:]),
    Codec.BZIP2: bz2.compress(TEXT),
    Codec.ZSTD: zstd(TEXT),
}


@pytest.mark.parametrize("codec", Codec)
def test_packed_bytes_come_back_whole_and_are_told_by_their_beginning(tmp_path: Path, codec: Codec) -> None:
    path = tmp_path / "file"
    path.write_bytes(PACKED[codec])
    assert codec_of(PACKED[codec][:HEAD_BYTES]) is codec
    with path.open("rb") as file, unpacked(file, codec) as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.BZIP2, Codec.ZSTD])
def test_a_cut_file_raises_instead_of_ending_early(codec: Codec) -> None:
    half = io.BytesIO(PACKED[codec][: len(PACKED[codec]) // 2])
    with pytest.raises((EOFError, OSError)), unpacked(io.BufferedReader(half), codec) as stream:
        stream.read()


PIECES = [TEXT[:1000], b"", TEXT[1000:50_000], TEXT[50_000:]]
JOINED = {
    "gzip": (Codec.GZIP, b"".join(map(gzip.compress, PIECES))),
    "gzip behind which a tape is blank": (Codec.GZIP, b"".join(map(gzip.compress, PIECES)) + bytes(512)),
    "bzip2": (Codec.BZIP2, b"".join(map(bz2.compress, PIECES))),
    "zstd": (Codec.ZSTD, b"".join(map(zstd, PIECES))),
    "zstd with frames to skip": (Codec.ZSTD, SKIPPABLE + b"".join(zstd(piece) + SKIPPABLE for piece in PIECES)),
}


@pytest.mark.parametrize("name", JOINED)
def test_packed_pieces_one_after_the_other_come_back_as_one(name: str) -> None:
    codec, packed = JOINED[name]
    assert codec_of(packed[:HEAD_BYTES]) is codec
    with unpacked(io.BufferedReader(io.BytesIO(packed)), codec) as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.BZIP2, Codec.ZSTD])
@pytest.mark.parametrize("damage", ["cut in a later piece", "a later piece begins wrongly", "something else behind"])
def test_what_follows_a_whole_piece_is_never_passed_over(codec: Codec, damage: str) -> None:
    first, second = PACKERS[codec](TEXT[:1000]), PACKERS[codec](TEXT[1000:])
    packed = {
        "cut in a later piece": first + second[:-20],
        "a later piece begins wrongly": first + b"\x01" + second[1:],
        "something else behind": first + second + b'{"a": 1}\n',
    }[damage]
    with pytest.raises((EOFError, OSError)), unpacked(io.BufferedReader(io.BytesIO(packed)), codec) as stream:
        stream.read()
