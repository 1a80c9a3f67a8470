"""Who looked at the blocks of a tile, and when: what overlays of age and reviewer show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metl_gui.core.blocks import Status
from metl_gui.core.matrix import STATUSES
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.counts import versions_of
from metl_gui.ui.matrix.nodes import Ints

if TYPE_CHECKING:
    from metl_gui.ui.matrix.content import Content

_CONFIRMED = STATUSES.index(Status.CONFIRMED)


class TileFacts(NamedTuple):
    """What is known of the blocks of one tile.

    Args:
        x, y: items of the axes.
        newest_ms, oldest_ms: when a block was last and first confirmed (milliseconds since 1970), 0 for never.
        who: who confirmed most of them, a place in ``Content.people``.
        confirmed: how many blocks are confirmed.
        blocks: how many there are.
    """

    x: int
    y: int
    newest_ms: int = 0
    oldest_ms: int = 0
    who: int = 0
    confirmed: int = 0
    blocks: int = 0


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of the blocks of tiles.

    Shape: one entry a tile. Order: by (x, y). See ``TileFacts``.
    """

    x: Ints
    y: Ints
    newest_ms: Ints
    oldest_ms: Ints
    who: Ints
    confirmed: Ints
    blocks: Ints

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[TileFacts]:
        return map(TileFacts, *(getattr(self, name).tolist() for name in self.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class FactsOf:
    """The facts of one pair of levels, gathered for what is asked."""

    content: Content
    level_x: Level
    level_y: Level

    def within(self, xs: range, ys: range) -> Facts:
        """Return the facts of the tiles of a rectangle of items.

        Cost: the blocks in it.
        """
        content = self.content
        wide, tall = versions_of(content.columns, self.level_x, xs), versions_of(content.rows, self.level_y, ys)
        x, y, when, who, confirmed = _blocks(content, wide, tall)
        x = content.columns.parents(Level.VERSION, x, max(self.level_x, Level.VERSION))
        y = content.rows.parents(Level.VERSION, y, max(self.level_y, Level.VERSION))
        return _gathered(x, y, when, who, confirmed)

    def at(self, x: int, y: int) -> TileFacts:
        """Return the facts of one tile."""
        return next(iter(self.within(range(x, x + 1), range(y, y + 1))), TileFacts(x, y))


def _blocks(content: Content, xs: range, ys: range) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return place, time, person and whether it is confirmed of every block of a rectangle of versions."""
    blocks, base = content.blocks_within(xs, ys), content.index.base
    row = blocks.row
    when = np.where(row >= 0, base.when_ms[row], 0) if len(base.when_ms) else np.zeros(len(row), np.int64)
    who = np.where(row >= 0, base.who[row], 0) if len(base.who) else np.zeros(len(row), np.int64)
    for at in np.flatnonzero(row < 0).tolist():
        block = content.block_at(int(blocks.x[at]), int(blocks.y[at]))
        if block is not None:
            when[at], who[at] = block.when_ms, content.people.index(block.who)
    return blocks.x, blocks.y, when, who, blocks.status == _CONFIRMED


def _gathered(x: Ints, y: Ints, when: Ints, who: Ints, confirmed: Ints) -> Facts:
    if not len(x):
        return Facts(*(np.zeros(0, np.int64) for _ in Facts.__dataclass_fields__))
    height = int(y.max()) + 1
    tiles, inverse = np.unique(x.astype(np.int64) * height + y, return_inverse=True)
    count = len(tiles)
    newest, oldest = np.zeros(count, np.int64), np.full(count, np.iinfo(np.int64).max)
    known = np.flatnonzero(confirmed & (when > 0))
    np.maximum.at(newest, inverse[known], when[known])
    np.minimum.at(oldest, inverse[known], when[known])
    sums = np.bincount(inverse, confirmed, minlength=count).astype(np.int64)
    blocks = np.bincount(inverse, minlength=count)
    return Facts(
        tiles // height,
        tiles % height,
        newest,
        np.where(newest > 0, oldest, 0),
        _most(inverse, who, confirmed, count),
        sums,
        blocks,
    )


def _most(tile: Ints, who: Ints, counts: Ints, tiles: int) -> Ints:
    """Return who confirmed most blocks of every tile; of two, the one who comes first in the list."""
    found = np.zeros(tiles, np.int64)
    chosen = counts & (who > 0)
    if not chosen.any():
        return found
    people = int(who.max()) + 1
    pairs, numbers = np.unique(tile[chosen] * people + who[chosen], return_counts=True)
    order = np.lexsort((-(pairs % people), numbers, pairs // people))
    last = order[np.append(np.flatnonzero(np.diff(pairs[order] // people)), len(order) - 1)]
    found[pairs[last] // people] = pairs[last] % people
    return found
