"""What was edited since the index of blocks was made: the new facts of the blocks, and the facts that they replace.

Cost: some fifty bytes an edited block; an edit copies these columns, which are as small as the document's overlay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metl_gui.ui.matrix.block_index import Blocks
from metl_gui.ui.matrix.nodes import Ints, search

NOTHING = np.array([0, 0, 0, -1], np.int64)
"""The facts of a block that is not there: elements, room, flagged elements, status."""


@dataclass(frozen=True, eq=False)
class Edited:
    """Edited blocks.

    Shape: ``key`` int64, sorted (see ``BlockIndex``); ``now`` and ``before`` have a row for each, with the columns of
    ``NOTHING``.
    """

    key: Ints
    now: Ints
    before: Ints

    @classmethod
    def none(cls) -> Edited:
        """Return nothing edited."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 4), np.int64), np.zeros((0, 4), np.int64))

    def __len__(self) -> int:
        return len(self.key)

    @property
    def size_bytes(self) -> int:
        """Memory of the columns."""
        return self.key.nbytes + self.now.nbytes + self.before.nbytes

    def holds(self, keys: Ints) -> npt.NDArray[np.bool_]:
        """Say which keys were edited."""
        if not len(self.key):
            return np.zeros(len(keys), np.bool_)
        at = np.minimum(search(self.key, keys), len(self.key) - 1)
        found: npt.NDArray[np.bool_] = self.key[at] == keys
        return found

    def within(self, xs: range, ys: range, height: int) -> Ints:
        """Return the places of the edited blocks of a rectangle of versions."""
        low, high = search(self.key, np.array([max(xs.start, 0), max(xs.stop, 0)]) * height).tolist()
        y = self.key[low:high] % height
        found: Ints = np.flatnonzero((y >= ys.start) & (y < ys.stop)) + low
        return found

    def blocks(self, places: Ints, height: int, before: bool = False) -> Blocks:
        """Return what is drawn of edited blocks now, or was before; those that are not there left out."""
        facts = (self.before if before else self.now)[places]
        there = facts[:, 3] >= 0
        key, facts = self.key[places][there], facts[there]
        row = np.full(len(key), -1, np.int64)
        return Blocks(key // height, key % height, facts[:, 0], facts[:, 1], facts[:, 2], facts[:, 3], row)

    def with_blocks(self, keys: Ints, before: Ints, now: Ints) -> Edited:
        """Return the columns with other facts of some blocks.

        Args:
            keys: of the blocks, each once.
            before: facts of the index, which count only the first time.
            now: facts now.
        """
        order = np.argsort(keys)
        keys, before, now = keys[order], before[order], now[order]
        known = self.holds(keys)
        whole = self.now.copy()
        whole[search(self.key, keys[known])] = now[known]
        at = search(self.key, keys[~known])
        return Edited(
            np.insert(self.key, at, keys[~known]),
            np.insert(whole, at, now[~known], axis=0),
            np.insert(self.before, at, before[~known], axis=0),
        )
