"""What stands on the plane: elements by position, blocks by version position, and counts of every level.

Elements are sorted by column, so that what a stretch of the screen shows is found by binary search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np

from metl_gui.core.blocks import Block, BlockKey, Status
from metl_gui.core.compatibility import is_readable
from metl_gui.core.document import Document
from metl_gui.core.nodes import Side
from metl_gui.ui.matrix.axis import Axis, Ints, Level, columns_of, rows_of


class Mark(IntFlag):
    """What is drawn of one element besides that it is mapped."""

    PLAIN = 0
    UNCONFIRMED = 1
    WAITS = 2
    TYPE_DIFFERS = 4


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of elements of the tiles of one pair of levels that hold any, or wait.

    Shape: all arrays have one entry a tile, sorted by (x, y).

    Args:
        x, y: item of the column axis and of the row axis.
        elements: how many elements are 1.
        share: elements over the sum of min(columns, rows) of the non-null blocks.
        waiting: how many blocks wait for review.
    """

    x: Ints
    y: Ints
    elements: Ints
    share: np.ndarray[tuple[int], np.dtype[np.float64]]
    waiting: Ints

    def within(self, xs: range, ys: range) -> Iterable[tuple[int, int, int, float, int]]:
        """Yield (x, y, elements, share, waiting) of the tiles of a rectangle."""
        low = int(np.searchsorted(self.x, xs.start, side="left"))
        high = int(np.searchsorted(self.x, xs.stop, side="left"))
        part = slice(low, high)
        hit = np.flatnonzero((self.y[part] >= ys.start) & (self.y[part] < ys.stop)) + low
        columns = (self.x[hit], self.y[hit], self.elements[hit], self.share[hit], self.waiting[hit])
        return zip(*(column.tolist() for column in columns), strict=True)

    def at(self, x: int, y: int) -> tuple[int, float, int]:
        """Return (elements, share, waiting) of one tile."""
        found = next(iter(self.within(range(x, x + 1), range(y, y + 1))), None)
        return (found[2], found[3], found[4]) if found else (0, 0.0, 0)


@dataclass(frozen=True, eq=False)
class Content:
    """A document laid out on the plane.

    Args:
        columns, rows: the axes.
        column, row: positions of the elements' ends, sorted by column.
        mark: ``Mark`` of every element.
        blocks: (version position on x, version position on y) -> block, of what is not a plain null block.
    """

    columns: Axis
    rows: Axis
    column: Ints
    row: Ints
    mark: Ints
    blocks: dict[tuple[int, int], Block]
    _counts: dict[tuple[Level, Level], Counts] = field(default_factory=dict)

    def elements_within(self, columns: range, rows: range) -> Iterable[tuple[int, int, int]]:
        """Yield (column, row, mark) of the elements of a rectangle of attribute positions."""
        low = int(np.searchsorted(self.column, columns.start, side="left"))
        high = int(np.searchsorted(self.column, columns.stop, side="left"))
        hit = np.flatnonzero((self.row[low:high] >= rows.start) & (self.row[low:high] < rows.stop)) + low
        return zip(self.column[hit].tolist(), self.row[hit].tolist(), self.mark[hit].tolist(), strict=True)

    def element_at(self, column: int, row: int) -> int | None:
        """Return the mark of the element at a cell, ``None`` when it is 0."""
        return next((m for _, _, m in self.elements_within(range(column, column + 1), range(row, row + 1))), None)

    def key_at(self, column: int, row: int) -> BlockKey:
        """Return the block that a cell lies in."""
        x, y = int(self.columns.version_of[column]), int(self.rows.version_of[row])
        return self.columns.versions[x].id, self.rows.versions[y].id

    def counts(self, level_x: Level, level_y: Level) -> Counts:
        """Count the elements of all tiles of a pair of levels, once."""
        if (level_x, level_y) not in self._counts:
            self._counts[level_x, level_y] = _count(self, level_x, level_y)
        return self._counts[level_x, level_y]


def content_of(document: Document) -> Content:
    """Lay a whole document out."""
    columns, rows = columns_of(document.extraction), rows_of(document.cdm)
    empty = np.empty(0, np.int64)
    return _with_blocks(Content(columns, rows, empty, empty, empty, {}), document.matrix.blocks())


def content_after(content: Content, document: Document, keys: Iterable[BlockKey]) -> Content:
    """Lay out the blocks that an edit changed, on the axes that it left alone.

    Cost: what the blocks hold, and one pass over the elements' positions.
    """
    kept = np.ones(len(content.column), np.bool_)
    blocks = dict(content.blocks)
    changed: list[Block] = []
    versions_x, versions_y = content.columns.version_of, content.rows.version_of
    for key in keys:
        place = _place(content, key)
        if place is None:
            continue
        blocks.pop(place, None)
        kept &= (versions_x[content.column] != place[0]) | (versions_y[content.row] != place[1])
        block = document.matrix.block(*key)
        changed += [block] if block is not None else []
    column, row, mark = content.column[kept], content.row[kept], content.mark[kept]
    return _with_blocks(Content(content.columns, content.rows, column, row, mark, blocks), changed)


def _with_blocks(content: Content, added: Iterable[Block]) -> Content:
    """Add blocks that are not there yet."""
    blocks = dict(content.blocks)
    found: list[tuple[int, int, int]] = []
    for block in added:
        place = _place(content, block.key)
        if place is not None:
            blocks[place] = block
            found += _elements(block, content.columns, content.rows, *place)
    old = np.stack([content.column, content.row, content.mark], axis=1)
    table = np.concatenate([old, np.array(found, np.int64).reshape(-1, 3)])
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    return Content(content.columns, content.rows, table[:, 0], table[:, 1], table[:, 2], blocks)


def _place(content: Content, key: BlockKey) -> tuple[int, int] | None:
    x, y = content.columns.version_position.get(key[0]), content.rows.version_position.get(key[1])
    return None if x is None or y is None else (x, y)


def _elements(block: Block, columns: Axis, rows: Axis, x: int, y: int) -> Iterable[tuple[int, int, int]]:
    sources = {a.id: a for a in columns.versions[x].attributes}
    targets = {a.id: a for a in rows.versions[y].attributes}
    plain = {Status.UNCONFIRMED: Mark.UNCONFIRMED, Status.NEEDS_REVIEW: Mark.WAITS}.get(block.status, Mark.PLAIN)
    for element in block.elements:
        differs = not is_readable(sources[element.p], targets[element.q])
        mark = plain | Mark.TYPE_DIFFERS if differs else plain
        yield columns.position[element.p], rows.position[element.q], int(mark)


def axis_of(content: Content, side: Side) -> Axis:
    """Return the axis on which a tree stands."""
    return content.columns if side is Side.EXTRACTION else content.rows


def _count(content: Content, level_x: Level, level_y: Level) -> Counts:
    to_x = _item_of_attribute(content.columns, level_x)
    to_y = _item_of_attribute(content.rows, level_y)
    height = len(content.rows.spans(level_y)) or 1
    elements: dict[int, int] = {}
    tiles, numbers = np.unique(to_x[content.column] * height + to_y[content.row], return_counts=True)
    elements.update(zip(tiles.tolist(), numbers.tolist(), strict=True))
    room, waiting = _room_and_waiting(content, level_x, level_y, height)
    keys = np.array(sorted(elements.keys() | waiting.keys()), np.int64)
    counted = np.array([elements.get(key, 0) for key in keys.tolist()], np.int64)
    rooms = np.array([max(room.get(key, 1), 1) for key in keys.tolist()], np.float64)
    waits = np.array([waiting.get(key, 0) for key in keys.tolist()], np.int64)
    return Counts(keys // height, keys % height, counted, np.minimum(counted / rooms, 1.0), waits)


def _item_of_attribute(axis: Axis, level: Level) -> Ints:
    return axis.spans(level).parent_of(axis.spans(Level.ATTRIBUTE))


def _room_and_waiting(
    content: Content, level_x: Level, level_y: Level, height: int
) -> tuple[dict[int, int], dict[int, int]]:
    """Sum min(columns, rows) of non-null blocks and waiting blocks by tile, where a tile holds whole blocks."""
    room: dict[int, int] = {}
    waiting: dict[int, int] = {}
    if Level.ATTRIBUTE in (level_x, level_y):
        return room, waiting
    item_x = content.columns.spans(level_x).parent_of(content.columns.spans(Level.VERSION))
    item_y = content.rows.spans(level_y).parent_of(content.rows.spans(Level.VERSION))
    for (x, y), block in content.blocks.items():
        key = int(item_x[x]) * height + int(item_y[y])
        if block.elements:
            least = min(len(content.columns.versions[x].attributes), len(content.rows.versions[y].attributes))
            room[key] = room.get(key, 0) + least
        if block.status is Status.NEEDS_REVIEW:
            waiting[key] = waiting.get(key, 0) + 1
    return room, waiting
