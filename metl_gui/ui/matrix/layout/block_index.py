"""The blocks of the matrix by their place on the plane, and the blocks that were edited since they were indexed.

The index lies over the columns of the matrix. Of edited blocks it keeps apart the new facts, and the facts of the index
that they replace.

Order: sorted by (column version, row version), and by (row version, column version).
Cost: 24 bytes a block; a rectangle costs one search for each version on its shorter side and what lies in it. Some
fifty bytes an edited block; an edit copies the columns of these, which are as small as the document's overlay.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.matrix import STATUSES, DpmBase
from metl_gui.ui.matrix.layout.axis import Axis
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, search, spread
from metl_gui.values import Value

WAITS = STATUSES.index(Status.NEEDS_REVIEW)
UNCONFIRMED = STATUSES.index(Status.UNCONFIRMED)


class BlockTile(NamedTuple):
    """One block as it is drawn: where it is, and what it counts."""

    x: int
    y: int
    elements: int
    flagged: int
    status: Status


class Blocks(Value, eq=False):
    """Blocks that are not plain null blocks.

    Shape: one entry a block. Order: by (x, y).

    Args:
        x, y: versions of the axes.
        elements: how many are 1.
        flagged: elements whose types may refuse values.
        status: place in ``core.matrix.matrix.STATUSES``.
        row: row in the base of the matrix, -1 for edited blocks.
    """

    x: Ints
    y: Ints
    elements: Ints
    flagged: Ints
    status: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[BlockTile]:
        columns = (self.x, self.y, self.elements, self.flagged)
        statuses = [STATUSES[code] for code in self.status.tolist()]
        return map(BlockTile, *(column.tolist() for column in columns), statuses)

    def part(self, chosen: Ints) -> Blocks:
        """Return some of the blocks."""
        return Blocks(*(getattr(self, name)[chosen] for name in self.__struct_fields__))

    def joined(self, other: Blocks) -> Blocks:
        """Return both, sorted."""
        if not len(other):
            return self
        names = self.__struct_fields__
        both = Blocks(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))
        return both.part(np.lexsort((both.y, both.x)))


class BlockIndex(Value, eq=False, dict=True):
    """The blocks of the base that lie on the plane.

    Shape: ``key`` (x * height + y) and ``row`` (of the base) have one entry a block, sorted by key; ``turned_key``
    (y * width + x) is sorted too, ``turned`` leads from it to the first order. ``flagged``, where not ``None``, counts
    the elements of a block whose types may refuse values; ``shown`` those that are on the axes, ``None`` where all are.
    """

    base: DpmBase
    columns: Axis
    rows: Axis
    key: Ints
    row: Ints
    turned_key: Ints
    turned: Ints
    flagged: Ints | None = None
    shown: Ints | None = None

    @property
    def height(self) -> int:
        """What x is multiplied by in a key."""
        return max(len(self.rows.version_spans), 1)

    @property
    def width(self) -> int:
        """What y is multiplied by in a turned key."""
        return max(len(self.columns.version_spans), 1)

    @property
    def size_bytes(self) -> int:
        """Memory of the index, without the base."""
        arrays = (self.key, self.row, self.turned_key, self.turned, self.flagged, self.shown)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def waiting(self) -> Ints:
        """Places in the index of the blocks that need review, ascending."""
        return np.flatnonzero(self.base.status[self.row] == WAITS)

    def within(self, xs: range, ys: range) -> Ints:
        """Return the places in the index of the blocks of a rectangle of versions, ascending."""
        return hits_of(self.key, self.turned_key, self.turned, xs, ys, (self.width, self.height))

    def places(self, x: Ints, y: Ints) -> Ints:
        """Return the places in the index of blocks, -1 where there is none."""
        key = x * self.height + y
        if not len(self.key):
            return np.full(len(key), -1, np.int64)
        at = np.minimum(search(self.key, key), len(self.key) - 1)
        found: Ints = np.where(self.key[at] == key, at, -1)
        return found

    def blocks(self, places: Ints) -> Blocks:
        """Return what is drawn of blocks of the index."""
        key, row, base = self.key[places], self.row[places].astype(np.int64), self.base
        x, y = key // self.height, key % self.height
        elements = self.shown[places] if self.shown is not None else base.start[row + 1] - base.start[row]
        flagged = self.flagged[places] if self.flagged is not None else np.zeros(len(places), np.int64)
        return Blocks(x, y, elements, flagged, base.status[row].astype(np.int64), row)


def index_of(base: DpmBase, columns: Axis, rows: Axis) -> BlockIndex:
    """Sort the blocks of a base by their places.

    Cost: a search and two sorts of all blocks.
    """
    x, y = columns.version_items(base.version), rows.version_items(base.entity_version)
    row = np.flatnonzero((x != NOWHERE) & (y != NOWHERE)).astype(np.int32)
    x, y = x[row].astype(np.int64), y[row].astype(np.int64)
    key = x * max(len(rows.version_spans), 1) + y
    order = np.argsort(key, kind="stable")
    turned_key = (y * max(len(columns.version_spans), 1) + x)[order]
    # Within one y the first order is by x already; numbers of 16 bits are sorted without comparing them.
    second = y[order]
    turned = np.argsort(second.astype(np.uint16) if len(rows.version_spans) < 2**16 else second, kind="stable")
    return BlockIndex(base, columns, rows, key[order], row[order], turned_key[turned], turned.astype(np.int32))


def _cut(items: range, count: int) -> range:
    return range(max(items.start, 0), min(items.stop, count))


def hits_of(key: Ints, turned_key: Ints, turned: Ints, xs: range, ys: range, size: tuple[int, int]) -> Ints:
    """Find a rectangle in sorted keys, on its shorter side.

    Args:
        key: x * height + y, sorted.
        turned_key: y * width + x, sorted.
        turned: leads from the second order to the first.
        size: width and height.

    Returns:
        Places in the first order, ascending.
    """
    width, height = size
    xs, ys = _cut(xs, width), _cut(ys, height)
    if not xs or not ys or not len(key):
        return np.zeros(0, np.int64)
    if len(ys) == height:
        low, high = search(key, np.array([xs.start, xs.stop]) * height).tolist()
        return np.arange(low, high)
    if len(xs) <= len(ys):
        return _hits(key, xs, ys, height)
    return np.sort(turned[_hits(turned_key, ys, xs, width)]).astype(np.int64)


def _hits(keys: Ints, outer: range, inner: range, size: int) -> Ints:
    """Return the places of the keys whose outer and inner parts lie in two ranges."""
    at = np.arange(outer.start, outer.stop, dtype=np.int64) * size
    low, high = search(keys, at + inner.start), search(keys, at + inner.stop)
    return spread(low, high)


NOTHING = np.array([0, 0, -1], np.int64)
"""The facts of a block that is not there: elements, flagged elements, status."""


class Edited(Value, eq=False):
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
        return cls(np.zeros(0, np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64))

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
        there = facts[:, 2] >= 0
        key, facts = self.key[places][there], facts[there]
        row = np.full(len(key), -1, np.int64)
        return Blocks(key // height, key % height, facts[:, 0], facts[:, 1], facts[:, 2], row)

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
