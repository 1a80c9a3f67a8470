"""Records on their way into the kernel: as they lie in one buffer, with the place of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.formats.record_wrapper import Wrapped, unwrap
from metl_gui.values import Value

Int64Array: TypeAlias = NDArray[np.int64]


class Records(Value, eq=False):
    """Some records that lie in one buffer.

    Args:
        buffer: holds all of them; what lies between and around them belongs to none.
        starts, stops: where each begins and ends in the buffer.
        offsets: how many (decompressed) bytes lie before each in its file.
        name: the name of their file as positions say it.
        names: the same for each record, where they come from many files; empty otherwise.
        sizes: how long each is, where of some only the beginning is kept; ``None`` when all are whole.

    Order: as in the file.
    """

    buffer: bytes
    starts: Int64Array
    stops: Int64Array
    offsets: Int64Array
    name: str
    names: Sequence[str] = ()
    sizes: Int64Array | None = None

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

    def unwrapped(self, record: int) -> Wrapped:
        """Take one record apart.

        Raises:
            RecordError: ``malformed``.
        """
        return unwrap(self.raw(record))

    def position(self, record: int) -> str:
        """Return the position of one record, ``file@offset``."""
        return f"{self.names[record] if self.names else self.name}@{self.offsets[record]}"

    def is_whole(self, record: int) -> bool:
        """Return whether all bytes of a record are there."""
        return self.sizes is None or bool(self.sizes[record] <= self.stops[record] - self.starts[record])

    def size(self, record: int) -> int:
        """Return how long a record is."""
        return int(self.stops[record] - self.starts[record] if self.sizes is None else self.sizes[record])

    def first(self, count: int) -> Records:
        """Return the first records only."""
        return self.chosen(range(min(count, len(self))))

    def chosen(self, numbers: Sequence[int]) -> Records:
        """Return some of them."""
        at = np.array(numbers, np.int64)
        return msgspec.structs.replace(
            self,
            starts=self.starts[at],
            stops=self.stops[at],
            offsets=self.offsets[at],
            names=[self.names[number] for number in numbers] if self.names else (),
            sizes=None if self.sizes is None else self.sizes[at],
        )

    @property
    def lengths(self) -> Int64Array:
        """How many bytes of each record are in the buffer; int64 of n."""
        return self.stops - self.starts

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """Of which only the beginning is there; of n."""
        return np.zeros(len(self), np.bool_) if self.sizes is None else self.sizes > self.lengths

    @property
    def bytes_in(self) -> int:
        """How many bytes they have, with what is not kept of them."""
        return int((self.lengths if self.sizes is None else self.sizes).sum())


def _starts(lengths: Int64Array) -> Int64Array:
    ends = accumulate(lengths.tolist(), lambda place, length: place + length + 1, initial=0)
    return np.fromiter(ends, np.int64, len(lengths) + 1)[:-1]
