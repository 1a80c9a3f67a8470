"""Many texts searched at once: their bytes in lower case, one after another, looked through by numpy.

Cost: one comparison a byte for the first letter of a word, then only what is left; nothing is done text by text in
Python, so that a key press in a search box costs the same however the texts are cut.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.trees import TextTable
from metl_gui.values import Value

EXACT, STARTS, WORD_STARTS, INSIDE, ABSENT = range(5)
"""How well a text has a word, best first: it is the word, starts with it, has a part that does, has it, lacks it."""

_LETTERS = np.zeros(256, np.bool_)
_LETTERS[[*range(ord("a"), ord("z") + 1), *range(ord("0"), ord("9") + 1), *range(128, 256)]] = True


class Haystack(Value, eq=False):
    """Texts to search in.

    Shape: ``letters`` uint8 of all texts in lower case, ``offsets`` int64 of n + 1.
    """

    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Haystack:
        """Take texts in the given order."""
        found = list(texts)
        whole = "".join(found)
        if not whole.isascii():
            return cls._of_lowered(TextTable.of(text.lower() for text in found))
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, found), np.int64, len(found)), out=offsets[1:])
        return cls._of_lowered(TextTable(whole.lower().encode("ascii"), offsets))

    @classmethod
    def on(cls, table: TextTable) -> Haystack:
        """Take the texts of a table; where all are ASCII their offsets are shared."""
        if table.blob.isascii():
            return cls._of_lowered(TextTable(table.blob.lower(), table.offsets))
        return cls.of(table[at] for at in range(len(table.offsets) - 1))

    @classmethod
    def _of_lowered(cls, table: TextTable) -> Haystack:
        """Take texts that are in lower case."""
        return cls(np.frombuffer(table.blob, np.uint8), table.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def having(self, word: str) -> NDArray[np.bool_]:
        """Return for every text whether it contains a word, whatever its case; bool of n."""
        found = np.zeros(len(self), np.bool_)
        found[self._hits(word)[0]] = True
        return found

    def ranks(self, word: str) -> NDArray[np.uint8]:
        """Return for every text how well it contains a word: ``EXACT`` to ``ABSENT``; uint8 of n."""
        found = np.full(len(self), ABSENT, np.uint8)
        rows, at, size = self._hits(word)
        if not len(rows):
            return found
        starts = at == self.offsets[rows]
        is_whole = starts & (at + size == self.offsets[rows + 1])
        begins_part = ~_LETTERS[self.letters[np.maximum(at - 1, 0)]]
        rank = np.select([is_whole, starts, begins_part], [EXACT, STARTS, WORD_STARTS], INSIDE)
        np.minimum.at(found, rows, rank.astype(np.uint8))
        return found

    def rows_of(self, text: str) -> NDArray[np.intp]:
        """Return the rows of the texts that equal this one but for case, ascending; intp."""
        rows, at, size = self._hits(text)
        found: NDArray[np.intp] = rows[(at == self.offsets[rows]) & (at + size == self.offsets[rows + 1])]
        return found

    def _hits(self, word: str) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
        """Return the texts a word stands in, where, and its length in bytes."""
        needle = np.frombuffer(word.lower().encode("utf-8", "surrogatepass"), np.uint8)
        size = len(needle)
        if not size or size > len(self.letters):
            return np.zeros(0, np.intp), np.zeros(0, np.intp), size
        at = np.flatnonzero(self.letters[: len(self.letters) - size + 1] == needle[0])
        for step in range(1, size):
            at = at[self.letters[at + step] == needle[step]]
        rows = np.searchsorted(self.offsets, at, side="right") - 1
        is_within = at + size <= self.offsets[rows + 1]
        return rows[is_within], at[is_within], size
