"""Records on their way into the kernel: as they lie in one buffer, with the place of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.formats.json_text import quoted

Int64Array: TypeAlias = NDArray[np.int64]


class Parts(NamedTuple):
    """The parts of the messages of Kafka that records were written from, each a column.

    Args:
        places: topic and partition.
        offsets, times: a time below 0 is none.
        keys, headers, values: as bytes, headers as JSON.
    """

    places: list[tuple[str, int]]
    offsets: list[int]
    times: list[int]
    keys: list[bytes | None]
    headers: list[bytes]
    values: list[bytes | None]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Some records that lie in one buffer.

    Args:
        buffer: holds all of them; what lies between and around them belongs to none.
        starts, stops: where each begins and ends in the buffer.
        offsets: how many (decompressed) bytes lie before each in its file.
        name: the name of their file as positions say it.
        names: the same for each record, where they come from many files; empty otherwise.
        sizes: how long each is, where of some only the beginning is kept; ``None`` when all are whole.
        positions: the whole position of each, where they come from no file; ``None`` when they do.
        source_bytes: how many bytes they had where they come from, when that is not what lies here.
        parts: what they were written from, at least as many; ``None`` when that is not at hand.

    Order: as in the file.
    """

    buffer: bytes
    starts: Int64Array
    stops: Int64Array
    offsets: Int64Array
    name: str
    names: Sequence[str] = ()
    sizes: Int64Array | None = None
    positions: Sequence[str] | None = None
    source_bytes: int | None = None
    parts: Parts | None = None

    @classmethod
    def of(
        cls,
        raws: Sequence[bytes],
        name: str,
        offsets: Sequence[int] | None = None,
        names: Sequence[str] = (),
        sizes: Sequence[int] | None = None,
    ) -> Records:
        """Lay records that are apart into one buffer, one a line.

        Args:
            raws: the records.
            name: the name of their file.
            offsets: where each begins in it; ``None`` when they are its lines.
            names: see the class.
            sizes: see the class.
        """
        lengths = np.fromiter(map(len, raws), np.int64, len(raws))
        starts = _starts(lengths)
        return cls(
            buffer=b"\n".join(raws),
            starts=starts,
            stops=starts + lengths,
            offsets=starts if offsets is None else np.array(offsets, np.int64),
            name=name,
            names=names,
            sizes=None if sizes is None else np.array(sizes, np.int64),
        )

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes of each."""
        for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True):
            yield self.buffer[start:stop]

    def raw(self, record: int) -> bytes:
        """Return the bytes of one record."""
        return self.buffer[self.starts[record] : self.stops[record]]

    def position(self, record: int) -> str:
        """Return the position of one record, ``file@offset`` where it comes from a file."""
        if self.positions is not None:
            return self.positions[record]
        return f"{self.names[record] if self.names else self.name}@{self.offsets[record]}"

    def first(self, count: int) -> Records:
        """Return the first records only."""
        sizes = None if self.sizes is None else self.sizes[:count]
        places = self.starts[:count], self.stops[:count], self.offsets[:count]
        positions = None if self.positions is None else self.positions[:count]
        return Records(self.buffer, *places, self.name, self.names[:count], sizes, positions, parts=self.parts)

    @property
    def lengths(self) -> Int64Array:
        """How many bytes of each record are in the buffer; int64 of n."""
        return self.stops - self.starts

    @property
    def bytes_in(self) -> int:
        """How many bytes they have, with what is not kept of them."""
        if self.source_bytes is not None:
            return self.source_bytes
        return int((self.lengths if self.sizes is None else self.sizes).sum())


def head_of(topic: str, partition: int) -> bytes:
    """Write what all records of a partition of Kafka begin with, up to the offset."""
    return b'{"topic":%b,"partition":%d,"offset":' % (quoted(topic), partition)


def _starts(lengths: Int64Array) -> Int64Array:
    ends = accumulate(lengths.tolist(), lambda place, length: place + length + 1, initial=0)
    return np.fromiter(ends, np.int64, len(lengths) + 1)[:-1]
