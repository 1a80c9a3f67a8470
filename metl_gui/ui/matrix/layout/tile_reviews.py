"""Who looked at the blocks of a tile, and when: what overlays of age and reviewer show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.matrix import STATUSES
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.block_index import Blocks
from metl_gui.ui.matrix.layout.placement import Bools
from metl_gui.ui.matrix.layout.tile_counts import versions_of
from metl_gui.ui.matrix.layout.tree_columns import Ints
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.layout.content import PlaneContent

_DENSE = 2_000_000
"""Up to this number tiles are counted in one array instead of being sorted."""

_CONFIRMED = STATUSES.index(Status.CONFIRMED)


class TileReview(NamedTuple):
    """What is known of the blocks of one tile.

    Args:
        x, y: items of the axes.
        newest_ms: when a block was last confirmed (milliseconds since 1970), 0 for never.
        who: who confirmed most of them, a place in ``Content.people``.
        confirmed: how many blocks are confirmed.
        blocks: how many there are.
    """

    x: int
    y: int
    newest_ms: int = 0
    who: int = 0
    confirmed: int = 0
    blocks: int = 0


class TileReviews(Value, eq=False):
    """What is known of the blocks of tiles.

    Shape: one entry a tile. Order: by (x, y). See ``TileReview``.
    """

    x: Ints
    y: Ints
    newest_ms: Ints
    who: Ints
    confirmed: Ints
    blocks: Ints

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[TileReview]:
        return map(TileReview, *(column.tolist() for column in self._columns))

    @property
    def _columns(self) -> list[Ints]:
        return [getattr(self, name) for name in self.__struct_fields__]

    @property
    def size_bytes(self) -> int:
        """Memory of the columns."""
        return sum(column.nbytes for column in self._columns)

    def part(self, chosen: Ints | Bools) -> TileReviews:
        """Return some of the tiles."""
        return TileReviews(*(column[chosen] for column in self._columns))

    def within(self, xs: range, ys: range) -> TileReviews:
        """Return the tiles of a rectangle of items."""
        low, high = np.searchsorted(self.x, (xs.start, xs.stop)).tolist()
        y = self.y[low:high]
        return self.part(np.flatnonzero((y >= ys.start) & (y < ys.stop)) + low)

    def joined(self, other: TileReviews) -> TileReviews:
        """Return the facts of these tiles and of others, sorted."""
        both = zip(self._columns, other._columns, strict=True)
        whole = TileReviews(*(np.concatenate(columns) for columns in both))
        return whole.part(np.lexsort((whole.y, whole.x)))


class LevelReviews(Value, eq=False):
    """The facts of one pair of levels.

    Cost: the blocks of what is asked; of groups all blocks once, then what is returned and the tiles that were edited.
    """

    content: PlaneContent
    level_x: Level
    level_y: Level

    def within(self, xs: range, ys: range) -> TileReviews:
        """Return the facts of the tiles of a rectangle of items."""
        if self.level_x >= Level.GROUP and self.level_y >= Level.GROUP:
            return self._all().within(xs, ys)
        content = self.content
        wide, tall = versions_of(content.columns, self.level_x, xs), versions_of(content.rows, self.level_y, ys)
        return self._gathered(content.blocks_within(wide, tall))

    def _all(self) -> TileReviews:
        """Return the facts of all tiles: of the index gathered once, those that were edited once for each content."""
        content, pair = self.content, (self.level_x, self.level_y)
        if pair not in content.known_facts:
            content.known_facts[pair] = self._gathered(content.index.blocks(np.arange(len(content.index.key))))
        if len(content.edited) and pair not in content.edited_facts:
            content.edited_facts[pair] = self._with_edited(content.known_facts[pair])
        return content.edited_facts.get(pair, content.known_facts[pair])

    def _with_edited(self, known: TileReviews) -> TileReviews:
        index, edited = self.content.index, self.content.edited
        height = len(self.content.rows.spans(self.level_y)) or 1
        tile, changed = self._tiles(index.key), np.unique(self._tiles(edited.key))
        is_changed = np.zeros((len(self.content.columns.spans(self.level_x)) or 1) * height, np.bool_)
        is_changed[changed] = True
        places = np.flatnonzero(is_changed[tile])
        blocks = index.blocks(places[~edited.holds(index.key[places])])
        fresh = self._gathered(blocks.joined(edited.blocks(np.arange(len(edited)), index.height)))
        return known.part(~is_changed[known.x * height + known.y]).joined(fresh)

    def _tiles(self, keys: Ints) -> Ints:
        """Return the numbers of the tiles in which blocks lie."""
        content = self.content
        height, rows = content.index.height, len(content.rows.spans(self.level_y)) or 1
        x = content.columns.parents(Level.VERSION, keys // height, self.level_x)
        return x * rows + content.rows.parents(Level.VERSION, keys % height, self.level_y)

    def _gathered(self, blocks: Blocks) -> TileReviews:
        content, base = self.content, self.content.index.base
        when, who = np.zeros(len(blocks), np.int64), np.zeros(len(blocks), np.int64)
        old = blocks.row >= 0
        when[old], who[old] = base.when_ms[blocks.row[old]], base.who[blocks.row[old]]
        for at in np.flatnonzero(~old).tolist():
            block = content.block_at(int(blocks.x[at]), int(blocks.y[at]))
            if block is not None:
                when[at], who[at] = block.when_ms, content.people.index(block.who)
        x = content.columns.parents(Level.VERSION, blocks.x, max(self.level_x, Level.VERSION))
        y = content.rows.parents(Level.VERSION, blocks.y, max(self.level_y, Level.VERSION))
        return _gathered(x, y, when, who, blocks.status == _CONFIRMED)


def _gathered(x: Ints, y: Ints, when: Ints, who: Ints, confirmed: Bools) -> TileReviews:
    if not len(x):
        return TileReviews(*(np.zeros(0, np.int64) for _ in TileReviews.__struct_fields__))
    height = int(y.max()) + 1
    key = x.astype(np.int64) * height + y
    tiles, tile, blocks = _numbered(key)
    newest = np.zeros(len(tiles), np.int64)
    known = np.flatnonzero(confirmed & (when > 0))
    np.maximum.at(newest, tile[known], when[known])
    most = _most(tile, who, confirmed, len(tiles))
    sums = np.bincount(tile, confirmed, minlength=len(tiles)).astype(np.int64)
    return TileReviews(tiles // height, tiles % height, newest, most, sums, blocks)


def _numbered(key: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the different keys, which of them each one is, and how often each occurs."""
    if int(key.max()) > _DENSE:
        tiles, tile, counts = np.unique(key, return_inverse=True, return_counts=True)
        return tiles, tile, counts
    counts = np.bincount(key)
    tiles = np.flatnonzero(counts)
    number = np.cumsum(counts > 0) - 1
    return tiles, number[key], counts[tiles]


def _most(tile: Ints, who: Ints, confirmed: Bools, tiles: int) -> Ints:
    """Return who confirmed most blocks of every tile; of two, the one who comes first in the list."""
    found = np.zeros(tiles, np.int64)
    chosen = confirmed & (who > 0)
    if not chosen.any():
        return found
    people = int(who.max()) + 1
    pairs, _, numbers = _numbered(tile[chosen] * people + who[chosen])
    order = np.lexsort((-(pairs % people), numbers, pairs // people))
    last = order[np.append(np.flatnonzero(np.diff(pairs[order] // people)), len(order) - 1)]
    found[pairs[last] // people] = pairs[last] % people
    return found
