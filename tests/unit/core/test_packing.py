from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest

from metl_gui.core.packing import HEAD_BYTES, Codec, codec_of, unpacked

TEXT = b"".join(b"line %d\n" % number for number in range(100_000))
PACKED = {
    Codec.PLAIN: TEXT,
    Codec.GZIP: gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:]),
    Codec.BZIP2: bz2.compress(TEXT),
    Codec.ZSTD: pa.compress(TEXT, "zstd", asbytes=True),
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
