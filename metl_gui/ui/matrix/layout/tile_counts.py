"""Counts of the tiles of coarse levels: elements, and blocks that ask for something; edits included.

Kept sparse and sorted. The tiles of schemas x entities are summed up once, those of groups from them when they are
first asked for. These sums describe the matrix as it was laid out; what was edited since is added where they are read,
for groups once for each content.

Cost: building follows the blocks; 8 to 32 bytes a tile that holds something. A rectangle costs, from schemas x entities
up, a search and what is returned; below, its blocks or elements; in either case the edited blocks in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.block_index import UNCONFIRMED, WAITS, BlockIndex, Blocks, hits_of
from metl_gui.ui.matrix.layout.elements import ElementFlag
from metl_gui.ui.matrix.layout.tile_room import TileRoom
from metl_gui.ui.matrix.layout.tree_columns import Ints, search
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.layout.content import PlaneContent


_CHUNK = 250_000


class Tile(NamedTuple):
    """What one tile holds.

    Args:
        x, y: items of the axes.
        elements: how many are 1.
        waiting: blocks that need review.
        flagged: elements whose types may refuse values.
        unconfirmed: blocks that nobody confirmed.
    """

    x: int
    y: int
    elements: int = 0
    waiting: int = 0
    flagged: int = 0
    unconfirmed: int = 0


class Tiles(Value, eq=False):
    """Tiles that hold something.

    Shape: one entry a tile. Order: by (x, y). See ``Tile``.
    """

    x: Ints
    y: Ints
    elements: Ints
    waiting: Ints
    flagged: Ints
    unconfirmed: Ints

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator[Tile]:
        return map(Tile, *(column.tolist() for column in self.columns))

    @property
    def columns(self) -> tuple[Ints, ...]:
        """The columns in order."""
        return (self.x, self.y, *self.numbers)

    @property
    def numbers(self) -> tuple[Ints, ...]:
        """The columns that are counts."""
        return self.elements, self.waiting, self.flagged, self.unconfirmed


def no_tiles() -> Tiles:
    """Return nothing."""
    return Tiles(*(np.zeros(0, np.int64) for _ in Tiles.__struct_fields__))


def tiles_of_blocks(blocks: Blocks, columns: Axis, rows: Axis, level_x: Level, level_y: Level, sign: int = 1) -> Tiles:
    """Return a tile for every block, placed in a pair of levels; not added up yet.

    Args:
        sign: -1 makes tiles that take away.
    """
    numbers = (
        blocks.elements,
        blocks.status == WAITS,
        blocks.flagged,
        (blocks.status == UNCONFIRMED) & (blocks.elements > 0),
    )
    x = columns.parents(Level.VERSION, blocks.x, level_x)
    y = rows.parents(Level.VERSION, blocks.y, level_y)
    return Tiles(x, y, *(sign * number.astype(np.int64) for number in numbers))


def summed(parts: Sequence[Tiles]) -> Tiles:
    """Add up the numbers of equal tiles and leave out those without elements of which nothing waits."""
    columns = [np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True)]
    x, y = columns[:2]
    if not len(x):
        return no_tiles()
    height = int(y.max()) + 1
    key = x.astype(np.int64) * height + y
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")
        key, columns = key[order], [column[order] for column in columns]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    key = key[starts]
    sums = [np.add.reduceat(column, starts) for column in columns[2:]]
    holds = (sums[0] > 0) | (sums[1] > 0)
    return Tiles(*(each[holds] for each in (key // height, key % height, *sums)))


class TileStore(Value, eq=False):
    """All tiles of a pair of levels.

    Shape: ``key`` (x * height + y) has one entry a tile, sorted; ``turned_key`` (y * width + x) is sorted too and
    ``turned`` leads to the first order; ``numbers`` are the counts of ``Tile``, ``None`` where all are 0.
    """

    width: int
    height: int
    key: Ints
    turned_key: Ints
    turned: Ints
    numbers: tuple[Ints | None, ...]

    @classmethod
    def of(cls, tiles: Tiles, width: int, height: int) -> TileStore:
        """Keep tiles in as few bytes as hold them."""
        kind: type[np.signedinteger[Any]] = np.int32 if width * height < 2**31 else np.int64
        key = (tiles.x.astype(np.int64) * height + tiles.y).astype(kind)
        turned_key = (tiles.y.astype(np.int64) * width + tiles.x).astype(kind)
        turned = np.argsort(turned_key, kind="stable").astype(np.int32)
        numbers = tuple(number.astype(np.int32) if number.any() else None for number in tiles.numbers)
        return cls(width, height, key, turned_key[turned], turned, numbers)

    @property
    def size_bytes(self) -> int:
        """Memory of the columns."""
        arrays = (self.key, self.turned_key, self.turned, *self.numbers)
        return sum(array.nbytes for array in arrays if array is not None)

    def within(self, xs: range, ys: range) -> Tiles:
        """Return the tiles of a rectangle of items."""
        return self._at(hits_of(self.key, self.turned_key, self.turned, xs, ys, (self.width, self.height)))

    def tiles(self, x: Ints, y: Ints) -> Tiles:
        """Return those of some tiles that hold something, each once."""
        if not len(self.key):
            return no_tiles()
        key = np.unique(x.astype(np.int64) * self.height + y)
        at = np.minimum(search(self.key, key), len(self.key) - 1)
        return self._at(at[self.key[at] == key])

    def _at(self, at: Ints) -> Tiles:
        key = self.key[at].astype(np.int64)
        nothing = np.zeros(len(at), np.int64)
        numbers = (nothing if n is None else n[at].astype(np.int64) for n in self.numbers)
        return Tiles(key // self.height, key % self.height, *numbers)


class Pyramid(Value, eq=False):
    """The tiles of all pairs of levels from schemas x entities up.

    Shape: ``_stores`` holds a pair of levels once it was asked for.

    Args:
        columns, rows: the axes.
        room: how many elements tiles could hold.
    """

    columns: Axis
    rows: Axis
    room: TileRoom
    _stores: dict[tuple[Level, Level], TileStore] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, index: BlockIndex) -> Pyramid:
        """Sum up the blocks of an index.

        Cost: linear in blocks, and a sort where the blocks of a schema and an entity do not stand together.
        """
        pyramid = cls(index.columns, index.rows, TileRoom.laid(index.columns, index.rows))
        parts = []
        for low in range(0, len(index.key), _CHUNK):
            blocks = index.blocks(np.arange(low, min(low + _CHUNK, len(index.key))))
            parts.append(summed([tiles_of_blocks(blocks, index.columns, index.rows, Level.SCHEMA, Level.SCHEMA)]))
        pyramid._keep(Level.SCHEMA, Level.SCHEMA, summed(parts or [no_tiles()]))
        return pyramid

    @property
    def size_bytes(self) -> int:
        """Memory of what was summed up so far."""
        return sum(store.size_bytes for store in self._stores.values())

    def store(self, level_x: Level, level_y: Level) -> TileStore:
        """Return the tiles of a pair of levels, summed up from the finer ones on the first call."""
        if (level_x, level_y) not in self._stores:
            finer = self._stores[Level.SCHEMA, Level.SCHEMA].within(*self._all(Level.SCHEMA, Level.SCHEMA))
            x = self.columns.parents(Level.SCHEMA, finer.x, level_x)
            y = self.rows.parents(Level.SCHEMA, finer.y, level_y)
            self._keep(level_x, level_y, summed([Tiles(x, y, *finer.numbers)]))
        return self._stores[level_x, level_y]

    def _all(self, level_x: Level, level_y: Level) -> tuple[range, range]:
        return range(len(self.columns.spans(level_x))), range(len(self.rows.spans(level_y)))

    def _keep(self, level_x: Level, level_y: Level, tiles: Tiles) -> None:
        xs, ys = self._all(level_x, level_y)
        self._stores[level_x, level_y] = TileStore.of(tiles, max(len(xs), 1), max(len(ys), 1))


class LevelCounts(Value, eq=False):
    """Numbers of one pair of levels."""

    content: PlaneContent
    level_x: Level
    level_y: Level

    def within(self, xs: range, ys: range) -> Tiles:
        """Return the tiles of a rectangle of items that hold something."""
        if Level.ATTRIBUTE in (self.level_x, self.level_y):
            return self._of_elements(xs, ys)
        content = self.content
        levels = _stored(content.columns, self.level_x), _stored(content.rows, self.level_y)
        wide, tall = versions_of(content.columns, self.level_x, xs), versions_of(content.rows, self.level_y, ys)
        if Level.VERSION in levels:
            return summed([self._placed(content.blocks_within(wide, tall))])
        store = content.pyramid.store(*levels)
        if not len(content.edited):
            return store.within(xs, ys)
        if min(levels) < Level.GROUP:
            return self._with_edited(store.within(xs, ys), wide, tall)
        if levels not in content.edited_tiles:
            everything = range(len(content.columns.version_spans)), range(len(content.rows.version_spans))
            tiles = self._with_edited(store.within(range(store.width), range(store.height)), *everything)
            content.edited_tiles[levels] = TileStore.of(tiles, store.width, store.height)
        return content.edited_tiles[levels].within(xs, ys)

    def _with_edited(self, found: Tiles, wide: range, tall: range) -> Tiles:
        """Add to tiles what was edited in a rectangle of versions."""
        content, height = self.content, self.content.index.height
        places = content.edited.within(wide, tall, height)
        if not len(places):
            return found
        now, before = content.edited.blocks(places, height), content.edited.blocks(places, height, before=True)
        return summed([found, self._placed(now), self._placed(before, -1)])

    def at(self, x: int, y: int) -> Tile:
        """Return one tile, zeros where nothing is."""
        return next(iter(self.within(range(x, x + 1), range(y, y + 1))), Tile(x, y))

    def room(self, x: Ints, y: Ints) -> Ints:
        """Return how many elements some tiles could hold."""
        return self.content.pyramid.room.of(self.level_x, self.level_y, x, y)

    def _placed(self, blocks: Blocks, sign: int = 1) -> Tiles:
        return tiles_of_blocks(blocks, self.content.columns, self.content.rows, self.level_x, self.level_y, sign)

    def _of_elements(self, xs: range, ys: range) -> Tiles:
        """Count element by element where a tile is thinner than a block."""
        content = self.content
        columns, rows = positions_of(content.columns, self.level_x, xs), positions_of(content.rows, self.level_y, ys)
        found = content.elements_within(columns, rows)
        x = content.columns.parents(Level.ATTRIBUTE, found.column, self.level_x)
        y = content.rows.parents(Level.ATTRIBUTE, found.row, self.level_y)
        one, nothing = np.ones(len(found), np.int64), np.zeros(len(found), np.int64)
        flagged = (found.mark & int(ElementFlag.MAY_REFUSE)) // int(ElementFlag.MAY_REFUSE)
        return summed([Tiles(x, y, one, nothing, flagged, nothing)])


def _stored(axis: Axis, level: Level) -> Level:
    """Return schemas for versions where every schema shows one version: they are the same items."""
    same = level is Level.VERSION and len(axis.spans(Level.SCHEMA)) == len(axis.spans(Level.VERSION))
    return Level.SCHEMA if same else level


def versions_of(axis: Axis, level: Level, items: range) -> range:
    """Return the versions that items of a level hold, or that hold attributes."""
    positions = positions_of(axis, level, items)
    if not positions:
        return range(0)
    return range(axis.version_at(positions.start), axis.version_at(positions.stop - 1) + 1)


def positions_of(axis: Axis, level: Level, items: range) -> range:
    """Return the attribute positions that items of a level take."""
    spans = axis.spans(level)
    low, high = max(items.start, 0), min(items.stop, len(spans))
    return range(spans.first(low), spans.last(high - 1)) if low < high else range(0)
