"""What stands in the metadata of a committed offset: the counts of a partition, and what else a lane must not lose.

An offset and its metadata become visible with the messages of the same transaction, so the counts are those of the
messages that consumers read, whatever was killed. A broker takes 4096 bytes of metadata. What is longer is compressed;
what is still longer goes in the same transaction into the topic of the lane, and the metadata counts on from there.

    {"run": ..., "task": 0, "state": 17, "counts": {"n": 10, "m": 10, ...}}
    z:...                                     the same, compressed and in base 85
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from typing import Final

import msgspec

from metl_gui.core.runs.report import KernelFigures, Tally

MOST_BYTES: Final = 4096
"""What a broker takes as metadata of an offset, where nothing else is set."""

_MOST_PLAIN_BYTES: Final = 1 << 20
_MOST_BASE_BYTES: Final = 1 << 26
_COMPRESSED = "z:"


class _KernelFigureArray(msgspec.Struct, array_like=True, frozen=True):
    """``KernelFigures`` without the names of its members."""

    batches: int = 0
    records: int = 0
    nanoseconds: int = 0
    histogram: dict[int, int] = {}
    column_sets: int = 0
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    is_compiled: bool = False


_SHORT = {
    "read": "n",
    "mapped": "m",
    "filtered": "f",
    "set_aside": "a",
    "skipped": "s",
    "messages_out": "o",
    "bytes_in": "bi",
    "bytes_out": "bo",
    "from_unreviewed": "fu",
    "by_entity": "e",
    "by_reason": "r",
    "by_skip": "k",
    "by_version": "v",
    "by_attribute": "at",
    "kernel": "g",
}


class _Counts(msgspec.Struct, kw_only=True, omit_defaults=True, frozen=True, rename=_SHORT):
    """``Tally`` under short names, without what is nothing."""

    read: int = 0
    mapped: int = 0
    filtered: int = 0
    set_aside: int = 0
    skipped: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    from_unreviewed: dict[str, int] = {}
    by_entity: dict[str, int] = {}
    by_reason: dict[str, int] = {}
    by_skip: dict[str, int] = {}
    by_version: dict[str, int] = {}
    by_attribute: dict[str, dict[str, int]] = {}
    kernel: _KernelFigureArray = _KernelFigureArray()


class OffsetMetadata(msgspec.Struct, kw_only=True, omit_defaults=True, frozen=True):
    """What a lane keeps with an offset.

    Args:
        run: the run that committed it; the counts are this run's.
        task: the number of the task.
        states: the states that the run mapped the partition with, in their order, the newest last.
        hash: of the newest state.
        counts: of the partition, on top of what stands in the lane's topic.
        base: which record of the lane's topic they come on top of; 0 for none.
        latency: how many records of the last seconds took how long (``report.bucket_of``).
        is_waiting: the next record is of a version that is not known yet.
        order: the newest order to set back that was obeyed.
        is_carried: the place is a load's that is through, and its counts are among those of the table's changes now.
        loaded: how many records among the counts were rows of loads.
        topic_id: of the topic that was read up to here; empty where it is not known.
    """

    run: str
    task: int = 0
    states: tuple[int, ...] = ()
    hash: str = ""
    counts: _Counts = _Counts()
    base: int = 0
    latency: dict[int, int] = {}
    is_waiting: bool = False
    order: str = ""
    is_carried: bool = False
    loaded: int = 0
    topic_id: str = ""

    @property
    def tally(self) -> Tally:
        """The counts as runs report them."""
        return _tally(self.counts)


class PartitionCounts:
    """The counts of a run in one partition as they grow.

    Args:
        base: what stands in the lane's topic. number: which record of it that is, 0 for none.
        since: what was counted after it.
    """

    def __init__(self, base: Tally | None = None, number: int = 0, since: Tally | None = None) -> None:
        self.base = base or Tally()
        self.number = number
        self.since = since or Tally()

    @property
    def total(self) -> Tally:
        """Everything that the run counted."""
        total = Tally()
        total.add(self.base)
        total.add(self.since)
        return total

    @property
    def read(self) -> int:
        """How many records the run read."""
        return self.base.read + self.since.read

    def after(self, tally: Tally) -> PartitionCounts:
        """Return the counts with what was counted since."""
        since = Tally()
        since.add(self.since)
        since.add(tally)
        return PartitionCounts(self.base, self.number, since)

    def written(self, note: OffsetMetadata, keep: Callable[[int, bytes], None]) -> str:
        """Write the metadata of an offset.

        Args:
            note: what else stands in it.
            keep: takes what is too long for it, with its number, into the lane's topic; in the same transaction.
        """
        text = _encoded(msgspec.structs.replace(note, counts=_counts(self.since), base=self.number))
        if len(text) <= MOST_BYTES:
            return text
        self.base, self.since, self.number = self.total, Tally(), self.number + 1
        keep(self.number, encoded_base(self.base))
        return _encoded(msgspec.structs.replace(note, base=self.number))


def read_metadata(metadata: str | None) -> OffsetMetadata | None:
    """Read the metadata of an offset; None when it is not a lane's."""
    if not metadata:
        return None
    try:
        text = metadata.encode()
        if metadata.startswith(_COMPRESSED):
            text = _unpacked(base64.b85decode(text[len(_COMPRESSED) :]), _MOST_PLAIN_BYTES)
        return msgspec.json.decode(text, type=OffsetMetadata)
    except (ValueError, zlib.error, msgspec.MsgspecError, RecursionError):
        return None


def encoded_base(tally: Tally) -> bytes:
    """Write counts for the lane's topic."""
    return zlib.compress(msgspec.json.encode(_counts(tally)), 1)


def decoded_base(text: bytes) -> Tally:
    """Read counts from the lane's topic.

    Raises:
        ValueError: they cannot be read.
    """
    try:
        return _tally(msgspec.json.decode(_unpacked(text, _MOST_BASE_BYTES), type=_Counts))
    except (zlib.error, msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _encoded(note: OffsetMetadata) -> str:
    plain = msgspec.json.encode(note)
    if len(plain) <= MOST_BYTES:
        return plain.decode()
    return _COMPRESSED + base64.b85encode(zlib.compress(plain, 1)).decode()


def _unpacked(text: bytes, most: int) -> bytes:
    """Decompress, but not without end: whoever may commit offsets or write into the lane's topic may have made it."""
    return zlib.decompressobj().decompress(text, most)


def _counts(tally: Tally) -> _Counts:
    plain = {name: getattr(tally, name) for name in Tally.__struct_fields__ if name != "kernel"}
    figures = _KernelFigureArray(*(getattr(tally.kernel, name) for name in KernelFigures.__struct_fields__))
    return _Counts(**plain, kernel=figures)


def _tally(counts: _Counts) -> Tally:
    plain = {name: getattr(counts, name) for name in Tally.__struct_fields__ if name != "kernel"}
    plain = {name: dict(value) if isinstance(value, dict) else value for name, value in plain.items()}
    figures = {name: getattr(counts.kernel, name) for name in KernelFigures.__struct_fields__}
    figures["histogram"] = dict(figures["histogram"])
    return Tally(**plain, kernel=KernelFigures(**figures))
