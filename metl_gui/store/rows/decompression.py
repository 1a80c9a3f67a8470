"""Unpacking what a project file holds deflated, up to a bound: a few bytes can be made to grow a thousandfold.

The bound grows with the packed bytes that one reading meets, for no fixed number fits: undoing an import of the largest
project that this program is made for, 10^7 attributes, is one change of some gigabytes. Changes of such imports were
measured to unpack to 18 times their size, decisions on 100,000 blocks at once to 45 times, with one long comment on all
of them to 98 times; what is small anyway may grow more. Changes are written such that they keep the bound.
"""

from __future__ import annotations

import zlib

TIMES = 128
"""What one reading unpacks may have so many times the bytes of what is packed ..."""

LEAST_BYTES = 32 << 20
"""... and so many bytes more."""


class Unpacking:
    """Unpacks the parts that one reading needs; all together have one bound.

    Args:
        what: a part, for people.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._left = LEAST_BYTES

    def unpacked(self, part: bytes, bits: int = zlib.MAX_WBITS) -> bytes:
        """Inflate one part.

        Args:
            part: the packed bytes.
            bits: of the window, as ``zlib`` counts them.

        Raises:
            ValueError: it is damaged, cut off, or grows beyond the bound.
        """
        self._left += TIMES * len(part)
        opener = zlib.decompressobj(bits)
        try:
            found = opener.decompress(part, self._left + 1)
        except zlib.error as error:
            raise ValueError(f"{self._what} cannot be unpacked: {error}") from error
        self._left -= len(found)
        if self._left < 0:
            raise ValueError(f"{self._what} grows beyond all measure when it is unpacked")
        if not opener.eof:
            raise ValueError(f"{self._what} is cut off")
        return found
