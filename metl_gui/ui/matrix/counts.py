"""The numbers of the tiles of a pair of levels for any rectangle, what was edited included.

Cost: from schemas x entities up a search and what is returned; below, the blocks or elements of the rectangle; and in
either case the edited blocks in it. Of groups what was edited is added up once for each content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metl_gui.ui.matrix.axis import Axis, Level
from metl_gui.ui.matrix.block_index import Blocks
from metl_gui.ui.matrix.elements import Mark
from metl_gui.ui.matrix.pyramid import Tile, Tiles, TileStore, summed, tiles_of_blocks

if TYPE_CHECKING:
    from metl_gui.ui.matrix.content import Content


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of one pair of levels."""

    content: Content
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
        flagged = (found.mark & int(Mark.TYPE_DIFFERS)) // int(Mark.TYPE_DIFFERS)
        return summed([Tiles(x, y, one, nothing, nothing, flagged, nothing)])


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
