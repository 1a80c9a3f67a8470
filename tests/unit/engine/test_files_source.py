from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sources import files as source
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import FileListing, FileRange, SourceFile, cut_ranges, growth_problems, list_files
from metl_gui.errors import RunError
from metl_gui.formats.compression import Codec
from metl_gui.formats.record_delimiters import DelimitedRecord, Framing, split


def _read(
    files: Sequence[SourceFile], ranges: Iterable[FileRange], limit: int | None = None
) -> list[tuple[int, DelimitedRecord]]:
    return [
        (file, DelimitedRecord(offset, raw, size))
        for file, records, _ in read_batches(files, ranges, limit)
        for offset, raw, size in zip(records.offsets.tolist(), records, _sizes(records), strict=True)
    ]


def _sizes(records: Records) -> list[int]:
    sizes: list[int] = (records.lengths if records.sizes is None else records.sizes).tolist()
    return sizes


def _records(place: Path | str, limit: int | None = None) -> list[tuple[str, int, bytes]]:
    """Everything that the tasks of a run would read."""
    files, tasks = cut_ranges(list_files(str(place)), limit)
    return [(files[file].name, r.offset, r.raw) for task in tasks for file, r in _read(files, task, limit)]


def _zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


LINES = b'{"a":1}\n{"a":2}\n\n{"a":3}'
PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bzip2": bz2.compress, "zstd": _zstd}


@pytest.mark.parametrize("codec", PACKERS)
def test_packed_files_give_the_records_and_offsets_of_what_was_packed(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "named_like_nothing"
    path.write_bytes(PACKERS[codec](LINES) + PACKERS[codec](b'\n{"a":4}\n'))
    assert [(offset, raw) for _, offset, raw in _records(path)] == [
        (0, b'{"a":1}'),
        (8, b'{"a":2}'),
        (17, b'{"a":3}'),
        (25, b'{"a":4}'),
    ]


@pytest.mark.parametrize("codec", PACKERS)
def test_a_packed_file_that_is_cut_off_fails_by_name(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "cut.jsonl"
    data = PACKERS[codec](b"".join(b'{"a":%d}\n' % n for n in range(100_000)))
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(RunError, match=r"cut\.jsonl") as caught:
        _records(path)
    assert codec in caught.value.title
    assert caught.value.hint


def test_a_damaged_gzip_file_fails_by_name(tmp_path: Path) -> None:
    path = tmp_path / "bad.gz"
    data = bytearray(gzip.compress(b'{"a":1}\n' * 1000))
    data[20:24] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"bad\.gz"):
        _records(path)


def test_positions_are_named_from_the_folder_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.jsonl").write_bytes(b"{}\n")
    (tmp_path / "a.json").write_bytes(b"[{},{}]")
    (tmp_path / ".hidden").write_bytes(b"{}")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    assert [name for name, _, _ in _records(tmp_path)] == ["a.json", "a.json", "b/x.jsonl"]
    assert [name for name, _, _ in _records(tmp_path / "b" / "x.jsonl")] == ["x.jsonl"]
    assert [name for name, _, _ in _records(f"{tmp_path}/*/*.jsonl")] == ["b/x.jsonl"]


def test_files_that_hold_no_records_are_left_out_of_a_folder_and_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"{}")
    (tmp_path / "README.md").write_bytes(b"# words")
    listing = list_files(str(tmp_path))
    assert [file.name for file in listing.files] == ["x.jsonl"]
    assert listing.left_out == ("README.md",)


@given(
    lines=st.lists(st.integers(0, 10**6).map(lambda n: json.dumps({"n": n}).encode()) | st.just(b""), max_size=60),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    is_ended=st.booleans(),
    width=st.integers(1, 200),
)
def test_any_cut_into_ranges_reads_each_line_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ending: bytes, is_ended: bool, width: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.jsonl"
    data = ending.join(lines) + (ending if is_ended else b"")
    path.write_bytes(data)
    file = source.SourceFile("x.jsonl", str(path), len(data), Codec.PLAIN, Framing.LINES)
    ranges = [FileRange(0, start, min(start + width, len(data))) for start in range(0, len(data), width)]
    found = [record for _, record in _read([file], ranges)]
    assert found == list(split([data], Framing.LINES))


def test_very_short_lines_come_in_batches_that_each_have_a_bound(tmp_path: Path) -> None:
    (tmp_path / "short.jsonl").write_bytes(b"1\n" * 200_000)
    listing = list_files(str(tmp_path))
    found = [batch.records for batch in read_batches(listing.files, [FileRange(0, 0, 400_000)], chunk_bytes=8 << 20)]
    assert max(map(len, found)) <= 1 << 16
    assert [place for records in found for place in records.offsets.tolist()] == list(range(0, 400_000, 2))


def test_a_byte_order_mark_is_no_part_of_the_first_record_of_a_range(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    data = b'\xef\xbb\xbf{"a":1}\n{"a":2}\n'
    path.write_bytes(data)
    file = source.SourceFile("x.jsonl", str(path), len(data), Codec.PLAIN, Framing.LINES)
    ranges = [FileRange(0, 0, 5), FileRange(0, 5, len(data))]
    assert [(r.offset, r.raw) for _, r in _read([file], ranges)] == [(3, b'{"a":1}'), (11, b'{"a":2}')]


def test_big_json_lines_become_many_ranges_and_a_big_array_one(tmp_path: Path) -> None:
    record = json.dumps({"text": "x" * 1000}).encode()
    (tmp_path / "array.json").write_bytes(b"[" + b",\n".join([record] * 3000) + b"]")
    (tmp_path / "lines.jsonl").write_bytes(b"\n".join([record] * 3000))
    files, tasks = cut_ranges(list_files(str(tmp_path)), cores=6)
    by_file = [
        sum(files[piece.file].name == name for task in tasks for piece in task)
        for name in ("array.json", "lines.jsonl")
    ]
    assert by_file == [1, 3]
    assert len(_records(tmp_path)) == 6000


def test_a_limit_reads_that_many_records_in_the_order_of_the_source(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jsonl").write_bytes(b"{}\n" * 10)
    assert [name for name, _, _ in _records(tmp_path, 13)] == ["a.jsonl"] * 10 + ["b.jsonl"] * 3


@pytest.mark.parametrize("limit", [0, 1])
def test_an_empty_file_gives_no_record(tmp_path: Path, limit: int) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"")
    assert _records(tmp_path, limit or None) == []


def test_what_is_appended_after_the_listing_is_reported_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n')
    listing = list_files(str(path))
    with path.open("ab") as file:
        file.write(b'{"a":2}\n')
    files, tasks = cut_ranges(listing)
    assert [r.raw for _, r in _read(files, tasks[0])] == [b'{"a":1}']
    [problem] = growth_problems(files)
    assert "x.jsonl grew by 8 bytes" in problem


def test_a_file_that_became_shorter_fails_by_name_while_reading_and_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n' * 10)
    listing: FileListing = list_files(str(path))
    path.write_bytes(b'{"a":1}\n')
    files, tasks = cut_ranges(listing)
    with pytest.raises(RunError, match=r"x\.jsonl.*80 bytes"):
        _read(files, tasks[0])
    with pytest.raises(RunError, match=r"x\.jsonl"):
        growth_problems(files)


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing.jsonl", "does not exist"), ("empty", "is empty"), ("*.none", "matches nothing"), ("only", "README")],
)
def test_a_source_without_files_is_refused_with_a_way_out(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "README.md").write_bytes(b"")
    with pytest.raises(RunError) as caught:
        list_files(str(tmp_path / name))
    assert said in str(caught.value)
    assert caught.value.hint


def test_a_misspelt_source_is_answered_with_the_near_name(tmp_path: Path) -> None:
    (tmp_path / "payments.jsonl").write_bytes(b"{}")
    with pytest.raises(RunError) as caught:
        list_files(str(tmp_path / "payment.jsonl"))
    assert "payments.jsonl" in caught.value.hint


@pytest.mark.parametrize("pattern", ["**", "**/*", "*", "**/*.jsonl", "d*/**"])
def test_a_pattern_reads_each_file_once_however_often_it_matches(tmp_path: Path, pattern: str) -> None:
    deep = tmp_path / "data" / "deep"
    deep.mkdir(parents=True)
    for at, folder in enumerate((deep.parent, deep)):
        (folder / "x.jsonl").write_bytes(b'{"a":%d}\n' % at)
    files = [file.name for file in list_files(str(tmp_path / pattern)).files]
    assert files == ["data/deep/x.jsonl", "data/x.jsonl"]
    assert sorted(source.source_paths(str(tmp_path / pattern))[1]) == [deep / "x.jsonl", deep.parent / "x.jsonl"]


def test_a_pattern_passes_over_folders_that_a_folder_would_but_for_those_that_it_names(tmp_path: Path) -> None:
    for name in ("data", "_out", ".kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.jsonl").write_bytes(b'{"a":1}\n')
    for pattern in ("*", "**", "*/*.jsonl", "**/x.jsonl"):
        assert [file.name for file in list_files(str(tmp_path / pattern)).files] == ["data/x.jsonl"]
    assert [file.name for file in list_files(str(tmp_path / "_o*" / "*")).files] == ["_out/x.jsonl"]
    assert [file.name for file in list_files(str(tmp_path / "_out" / "*")).files] == ["x.jsonl"]


def test_what_is_left_out_is_named_in_text_though_its_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b'{"a":1}\n')
    (tmp_path / os.fsdecode(b"notes\xff.csv")).touch()
    assert list_files(str(tmp_path)).left_out == ("notes\\udcff.csv",)


def test_a_link_whose_name_is_no_text_is_refused_though_its_file_has_one(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "x.jsonl").write_bytes(b'{"a":1}\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"l\xff.jsonl")).symlink_to(tmp_path / "kept" / "x.jsonl")
    with pytest.raises(RunError, match="not UTF-8"):
        list_files(str(tmp_path / "in"))


def test_folders_that_links_lead_to_are_read_as_subfolders_each_once(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "in", tmp_path / "kept" / "2026"
    for folder in (root / "own", root / "_kept" / "1", elsewhere / "deep", tmp_path / "_hidden"):
        folder.mkdir(parents=True)
        (folder / "x.jsonl").write_bytes(b'{"a":1}\n')
    links = {"again": elsewhere, "first": elsewhere, "inner": elsewhere / "deep", "latest": root / "own"}
    links["newest"] = root / "_kept" / "1"
    for name, target in {**links, "_link": elsewhere, "loop": root, "up": tmp_path}.items():
        (root / name).symlink_to(target)
    (elsewhere / "back").symlink_to(root)
    names = [file.name for file in list_files(str(root)).files]
    assert names == ["inner/x.jsonl", "newest/x.jsonl", "own/x.jsonl"]
    assert [file.name for file in list_files(str(tmp_path / "i*")).files] == ["in/own/x.jsonl"]
    assert [file.name for file in list_files(str(root / "in*")).files] == ["inner/x.jsonl"]


@pytest.mark.parametrize("name", ["xz", "zip"])
def test_a_file_that_is_packed_in_a_way_that_is_not_read_is_refused_by_name(tmp_path: Path, name: str) -> None:
    text = b'{"a":1}\n'
    (tmp_path / "x.jsonl").write_bytes(text)
    packed = io.BytesIO()
    if name == "xz":
        packed.write(lzma.compress(text))
    else:
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("x.jsonl", text)
    (tmp_path / "y").write_bytes(packed.getvalue())
    for address in (tmp_path, tmp_path / "y"):
        with pytest.raises(RunError, match=f"y is packed with {name}") as refused:
            list_files(str(address))
        assert "gzip" in refused.value.hint
