"""What stands in the metadata of offsets."""

from __future__ import annotations

import base64
import hashlib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.report import KernelFigures, Tally
from metl_gui.engine.lanes.offset_metadata import (
    MOST_BYTES,
    OffsetMetadata,
    PartitionCounts,
    decoded_base,
    encoded_base,
    read_metadata,
)

NAMES = st.text(max_size=40)
NUMBERS = st.integers(0, 2**53)
MAPS = st.dictionaries(NAMES, st.integers(1, 2**40), max_size=30)
TALLIES = st.builds(
    Tally,
    read=NUMBERS,
    mapped=NUMBERS,
    messages_out=NUMBERS,
    bytes_in=NUMBERS,
    by_entity=MAPS,
    by_reason=MAPS,
    by_version=MAPS,
    by_attribute=st.dictionaries(NAMES, MAPS.filter(bool), max_size=6),
    kernel=st.builds(KernelFigures, batches=NUMBERS, histogram=st.dictionaries(st.integers(0, 300), NUMBERS)),
)


def added(*tallies: Tally) -> Tally:
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total


@given(st.lists(TALLIES, max_size=5))
def test_what_stands_in_metadata_and_topic_adds_up_to_everything_that_was_counted(tallies: list[Tally]) -> None:
    counts = PartitionCounts()
    bases: dict[int, bytes] = {}
    metadata = counts.written(OffsetMetadata(run="r"), bases.__setitem__)
    for tally in tallies:
        counts = counts.after(tally)
        metadata = counts.written(OffsetMetadata(run="r", states=(1, 2)), bases.__setitem__)
        assert len(metadata.encode()) <= MOST_BYTES
    note = read_metadata(metadata)
    assert note is not None
    base = decoded_base(bases[note.base]) if note.base else Tally()
    assert added(base, note.tally) == added(*tallies)
    assert counts.read == sum(tally.read for tally in tallies)


@given(st.text() | st.binary().map(lambda raw: f"z:{base64.b85encode(raw).decode()}"))
def test_metadata_of_others_is_no_note_and_raises_nothing(metadata: str) -> None:
    note = read_metadata(metadata)
    assert note is None or note.run is not None


def test_a_note_that_would_unpack_without_end_is_none() -> None:
    bomb = zlib.compress(b'{"run":"' + b"a" * (64 << 20))
    assert read_metadata(f"z:{base64.b85encode(bomb).decode()}") is None


def test_counts_that_would_unpack_without_end_cannot_be_read() -> None:
    plain = zlib.decompress(encoded_base(Tally(read=1, skipped=1)))
    bomb = zlib.compress(plain[:-1] + b',"more":"' + b"a" * (80 << 20) + b'"}')
    with pytest.raises(ValueError, match="truncated"):
        decoded_base(bomb)


def test_counts_come_out_of_the_topic_as_they_went_in() -> None:
    tally = Tally(read=3, by_attribute={"order@1": {hashlib.sha256(bytes([n])).hexdigest(): n + 1 for n in range(200)}})
    assert decoded_base(encoded_base(tally)) == tally


def test_a_damaged_record_of_the_topic_is_told_as_such() -> None:
    with pytest.raises(ValueError, match=r"."):
        decoded_base(b"none of ours")
