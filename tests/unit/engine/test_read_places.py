"""What a run covered: files by their beginnings, and where the records of a dump stood."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.rows.replays import WHOLE, Coverage, CoveredRange
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sources.files import LOG_HEAD_BYTES, list_files
from metl_gui.engine.sources.source import FileSource
from metl_gui.engine.staging.read_places import ReadPlaces, joined
from metl_gui.engine.staging.sink import keep_coverage, staged_coverage


def wrapper(partition: int, offset: int) -> bytes:
    return b'{"topic":"orders","key":null,"value":{"id":1},"partition":%d,"offset":%d}' % (partition, offset)


def test_records_that_say_where_they_stood_cover_those_offsets_and_no_gap_between() -> None:
    places = ReadPlaces()
    places.note(Records.of([wrapper(0, 8), wrapper(0, 7), wrapper(1, 7)], "dump.jsonl"))
    places.note(Records.of([wrapper(0, 9), wrapper(0, 11)], "dump.jsonl"))
    found = [CoveredRange("orders", 0, 7, 10), CoveredRange("orders", 0, 11, 12), CoveredRange("orders", 1, 7, 8)]
    assert places.ranges() == found


def test_records_that_are_no_wrappers_cover_nothing() -> None:
    raws = [
        b'{"before":null,"after":{"topic":"orders","partition":0,"offset":1},"op":"c"}',
        b'{"topic":"orders","partition":0,"offset":1,"op":"c","after":{}}',
        b'{"topic":"orders","partition":0,"value":{}}',
        b'{"topic":"orders","partition":0,"offset":1,',
        b"[1, 2]",
        b"\xff",
    ]
    places = ReadPlaces()
    places.note(Records.of(raws, "changes.jsonl"))
    assert places.ranges() == []


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), max_size=8))
def test_joined_ranges_cover_the_same_offsets_and_do_not_touch(drawn: list[tuple[int, int]]) -> None:
    found = joined(CoveredRange("log", 0, first, first + length) for first, length in drawn)
    offsets = [offset for one in found for offset in range(one.first, one.behind)]
    assert offsets == sorted({offset for first, length in drawn for offset in range(first, first + length)})
    bounds = [bound for one in found for bound in (one.first, one.behind)]
    assert len(bounds) == len(set(bounds))


def test_files_of_one_name_are_different_logs_and_one_that_grows_stays_what_it_is(tmp_path: Path) -> None:
    head = b'{"id":1}\n' * (LOG_HEAD_BYTES // 9 + 1)
    sources = []
    for number, content in enumerate((head, head + b'{"id":2}\n', b'{"id":3}\n' + head)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "part.jsonl").write_bytes(content)
        sources.append(FileSource(list_files(str(folder))))
    first, grown, other = (one.log_names()["part.jsonl"] for one in sources)
    assert first == grown != other
    assert first < "part.jsonl"
    assert sources[1].covered() == (CoveredRange(first, 0, 0, len(head) + 9),)


def test_a_packed_file_is_covered_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "part.jsonl.gz").write_bytes(b"\x1f\x8b" + bytes(40))
    (range_,) = FileSource(list_files(str(tmp_path / "part.jsonl.gz"))).covered()
    assert (range_.first, range_.behind) == (0, WHOLE)


def test_what_was_covered_is_read_as_it_was_kept(tmp_path: Path) -> None:
    assert staged_coverage(tmp_path) == Coverage()
    kept = Coverage(3, (CoveredRange("orders", 1, 5, 9),))
    keep_coverage(tmp_path, kept)
    assert staged_coverage(tmp_path) == kept
