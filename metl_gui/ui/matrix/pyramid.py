"""Numbers of what lies in the tiles of a pair of levels: elements, room, and blocks that ask for something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.block_index import UNCONFIRMED, WAITS, Blocks
from metl_gui.ui.matrix.nodes import Ints
from metl_gui.ui.matrix.spans import Floats

if TYPE_CHECKING:
    from metl_gui.ui.matrix.content import Content


class Tile(NamedTuple):
    """What one tile holds.

    Args:
        x, y: items of the axes.
        elements: how many are 1.
        room: the sum of min(columns, rows) of its non-null blocks; 0 where a tile is less than a block.
        waiting: blocks that need review.
        flagged: elements whose types differ.
        unconfirmed: blocks that nobody confirmed.
    """

    x: int
    y: int
    elements: int = 0
    room: int = 0
    waiting: int = 0
    flagged: int = 0
    unconfirmed: int = 0

    @property
    def share(self) -> float:
        """Elements over room."""
        return min(self.elements / self.room, 1.0) if self.room else float(self.elements > 0)

    @property
    def unmapped(self) -> int:
        """How many more elements the blocks could hold."""
        return max(self.room - self.elements, 0)


@dataclass(frozen=True, eq=False)
class Tiles:
    """Tiles that hold something.

    Shape: one entry a tile. Order: by (x, y). See ``Tile``.
    """

    x: Ints
    y: Ints
    elements: Ints
    room: Ints
    waiting: Ints
    flagged: Ints
    unconfirmed: Ints

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[Tile]:
        return map(Tile, *(getattr(self, name).tolist() for name in self.__dataclass_fields__))

    @property
    def share(self) -> Floats:
        """Elements over room of every tile."""
        return np.minimum(np.where(self.room > 0, self.elements / np.maximum(self.room, 1), self.elements > 0), 1.0)


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of one pair of levels."""

    content: Content
    level_x: Level
    level_y: Level

    def within(self, xs: range, ys: range) -> Tiles:
        """Return the tiles of a rectangle of items that hold something."""
        content = self.content
        wide, tall = versions_of(content.columns, self.level_x, xs), versions_of(content.rows, self.level_y, ys)
        if Level.ATTRIBUTE in (self.level_x, self.level_y):
            return self._of_elements(xs, ys)
        return self._of_blocks(content.blocks_within(wide, tall))

    def at(self, x: int, y: int) -> Tile:
        """Return one tile, zeros where nothing is."""
        return next(iter(self.within(range(x, x + 1), range(y, y + 1))), Tile(x, y))

    def _of_blocks(self, blocks: Blocks) -> Tiles:
        x = self.content.columns.parents(Level.VERSION, blocks.x, self.level_x)
        y = self.content.rows.parents(Level.VERSION, blocks.y, self.level_y)
        numbers = (
            blocks.elements,
            blocks.room,
            blocks.status == WAITS,
            blocks.flagged,
            (blocks.status == UNCONFIRMED) & (blocks.elements > 0),
        )
        return _summed(x, y, numbers)

    def _of_elements(self, xs: range, ys: range) -> Tiles:
        """Count element by element where a tile is thinner than a block."""
        from metl_gui.ui.matrix.content import Mark

        content = self.content
        columns, rows = _positions_of(content.columns, self.level_x, xs), _positions_of(content.rows, self.level_y, ys)
        found = content.elements_within(columns, rows)
        x = content.columns.parents(Level.ATTRIBUTE, found.column, self.level_x)
        y = content.rows.parents(Level.ATTRIBUTE, found.row, self.level_y)
        one = np.ones(len(found), np.int64)
        nothing = np.zeros(len(found), np.int64)
        flagged = (found.mark & int(Mark.TYPE_DIFFERS)) != 0
        return _summed(x, y, (one, nothing, nothing, flagged, nothing))


def _summed(x: Ints, y: Ints, numbers: tuple[Ints, ...]) -> Tiles:
    """Add up the numbers of equal tiles and leave out those without anything."""
    if not len(x):
        return Tiles(*(np.zeros(0, np.int64) for _ in Tiles.__dataclass_fields__))
    height = int(y.max()) + 1
    key = x.astype(np.int64) * height + y
    tiles, inverse = np.unique(key, return_inverse=True)
    sums = [np.bincount(inverse, n, minlength=len(tiles)).astype(np.int64) for n in numbers]
    holds = (sums[0] > 0) | (sums[2] > 0)
    return Tiles(*(each[holds] for each in (tiles // height, tiles % height, *sums)))


def versions_of(axis: Axis, level: Level, items: range) -> range:
    """Return the versions that items of a level hold, or that hold attributes."""
    positions = _positions_of(axis, level, items)
    if not positions:
        return range(0)
    return range(axis.version_at(positions.start), axis.version_at(positions.stop - 1) + 1)


def _positions_of(axis: Axis, level: Level, items: range) -> range:
    spans = axis.spans(level)
    low, high = max(items.start, 0), min(items.stop, len(spans))
    return range(spans.first(low), spans.last(high - 1)) if low < high else range(0)
