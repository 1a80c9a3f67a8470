"""The first records of a source, for looking at: without Spark, as a run would cut them out of their files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import FileRange, list_files


class FirstRecord(NamedTuple):
    """One record.

    Args:
        raw: its exact bytes, only the beginning where it is too large.
        place: its position.
        is_whole: whether ``raw`` is all of it.
    """

    raw: bytes
    place: str
    is_whole: bool = True


def first_records(source: str, most: int, most_of_file: int | None = None) -> Iterator[FirstRecord]:
    """Yield the first records of a source.

    Args:
        source: a file, a folder or a pattern.
        most: how many in all.
        most_of_file: how many of each file; by default as many as are left.

    Raises:
        RunError: there is no such source, or a file cannot be read.
    """
    listing = list_files(source)
    left = most
    for at, file in enumerate(listing.files):
        limit = left if most_of_file is None else min(left, most_of_file)
        for batch in read_batches(listing.files, [FileRange(at, 0, file.size_bytes)], limit):
            records = batch.records
            for number in range(len(records)):
                raw = records.raw(number)
                is_whole = records.sizes is None or int(records.sizes[number]) == len(raw)
                yield FirstRecord(raw, records.place(number), is_whole)
                left -= 1
        if left <= 0:
            return
