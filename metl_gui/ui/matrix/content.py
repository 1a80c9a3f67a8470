"""What stands on the plane: both axes, and elements and blocks by position, read from the columns of the matrix.

Nothing is copied for each element. Cost: a question costs a binary search and what it returns; an edit costs what it
touched; laying everything out costs a sort of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntFlag
from functools import cached_property

import numpy as np

from metl_gui.core.blocks import Block, BlockKey
from metl_gui.core.document import Document
from metl_gui.core.matrix import STATUSES
from metl_gui.core.nodes import Side
from metl_gui.ui.matrix.axis import Axis, Level, columns_of, rows_of
from metl_gui.ui.matrix.block_index import (
    UNCONFIRMED,
    WAITS,
    BlockIndex,
    Blocks,
    BlockTile,
    index_of,
    spread,
)
from metl_gui.ui.matrix.density import Area, Density, density_of
from metl_gui.ui.matrix.edited import NOTHING, Edited, Facts
from metl_gui.ui.matrix.facts import FactsOf, TileFacts
from metl_gui.ui.matrix.nodes import NOWHERE, Ints
from metl_gui.ui.matrix.pyramid import Counts
from metl_gui.ui.matrix.types_differ import TypesDiffer

__all__ = ["BlockTile", "Blocks", "Content", "Elements", "Mark", "axis_of", "content_after", "content_of"]


class Mark(IntFlag):
    """What is drawn of one element besides that it is mapped."""

    PLAIN = 0
    UNCONFIRMED = 1
    WAITS = 2
    TYPE_DIFFERS = 4


@dataclass(frozen=True, eq=False)
class Elements:
    """Elements that are 1.

    Shape: one entry an element. Order: by (column, row).

    Args:
        column, row: attribute positions.
        mark: ``Mark`` of every element.
    """

    column: Ints
    row: Ints
    mark: Ints

    def __len__(self) -> int:
        return len(self.column)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return zip(self.column.tolist(), self.row.tolist(), self.mark.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Content:
    """A document laid out on the plane.

    Args:
        document: the state that is shown.
        columns, rows: the axes.
        index: the blocks of the matrix's base by place.
        edited: what differs from them.
    """

    document: Document
    columns: Axis
    rows: Axis
    index: BlockIndex
    types: TypesDiffer
    edited: Edited = field(default_factory=Edited.none)

    # elements

    def elements_within(self, columns: range, rows: range) -> Elements:
        """Return the elements of a rectangle of attribute positions."""
        xs, ys = _versions(self.columns, columns), _versions(self.rows, rows)
        places = self.index.within(xs, ys)
        places = places[~self.edited.holds(self.index.key[places])]
        parts = [self._base_elements(places)]
        parts += [self._edited_elements(key) for key in self._edited_keys(xs, ys)]
        x, y, q, p, mark = (np.concatenate(column) for column in zip(*parts, strict=True))
        column, row = self.columns.positions(x, p), self.rows.positions(y, q)
        inside = (column >= columns.start) & (column < columns.stop) & (row >= rows.start) & (row < rows.stop)
        x, y, column, row, mark = (each[inside] for each in (x, y, column, row, mark))
        differs = self._differs(x, y, column, row)
        order = np.lexsort((row, column))
        return Elements(column[order], row[order], (mark + np.where(differs, int(Mark.TYPE_DIFFERS), 0))[order])

    def element_at(self, column: int, row: int) -> Mark | None:
        """Return the mark of the element at a cell, ``None`` when it is 0."""
        found = self.elements_within(range(column, column + 1), range(row, row + 1))
        return Mark(int(found.mark[0])) if len(found) else None

    def _base_elements(self, places: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        base, key, row = self.index.base, self.index.key[places], self.index.row[places].astype(np.int64)
        at = spread(base.start[row], base.start[row + 1])
        counts = base.start[row + 1] - base.start[row]
        mark = _MARKS[base.status[row]]
        x, y, mark = (np.repeat(each, counts) for each in (key // self.index.height, key % self.index.height, mark))
        return x, y, base.q[at], base.p[at], mark

    def _edited_elements(self, key: BlockKey) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        block = self.document.matrix.block(*key)
        elements = np.array(block.elements if block is not None else (), np.int64).reshape(-1, 2)
        x, y = self.columns.version_item(key[0]), self.rows.version_item(key[1])
        mark = _MARKS[STATUSES.index(block.status)] if block is not None else 0
        whole = (np.full(len(elements), each) for each in (x, y, mark))
        x_of, y_of, mark_of = whole
        return x_of, y_of, elements[:, 0], elements[:, 1], mark_of

    def _edited_keys(self, xs: range, ys: range) -> list[BlockKey]:
        height = self.index.height
        keys = self.edited.key[self.edited.within(xs, ys, height)].tolist()
        return [(self.columns.version_id(key // height), self.rows.version_id(key % height)) for key in keys]

    def _differs(self, x: Ints, y: Ints, column: Ints, row: Ints) -> Ints:
        wide, tall = self.columns, self.rows
        return self.types.of(
            wide.nodes.kinds(wide.rows[x], wide.places_of(column)), tall.nodes.kinds(tall.rows[y], tall.places_of(row))
        )

    # blocks

    def key_at(self, column: int, row: int) -> BlockKey:
        """Return the block that a cell lies in."""
        return self.key_of(self.columns.version_at(column), self.rows.version_at(row))

    def key_of(self, x: int, y: int) -> BlockKey:
        """Return the key of the block at a pair of versions."""
        return self.columns.version_id(x), self.rows.version_id(y)

    def block_at(self, x: int, y: int) -> Block | None:
        """Return the block at a pair of versions, ``None`` for a plain null block."""
        return self.document.matrix.block(*self.key_of(x, y))

    def blocks_within(self, xs: range, ys: range) -> Blocks:
        """Return what is not a plain null block in a rectangle of versions."""
        places = self.index.within(xs, ys)
        if not len(self.edited):
            return self.index.blocks(places)
        places = places[~self.edited.holds(self.index.key[places])]
        found = self.index.blocks(places)
        return found.joined(self.edited.blocks(self.edited.within(xs, ys, self.index.height), self.index.height))

    def waiting_within(self, xs: range, ys: range) -> tuple[Ints, Ints]:
        """Return (x, y) of the blocks of a rectangle of versions that need review."""
        found = self.blocks_within(xs, ys)
        waits = found.status == WAITS
        return found.x[waits], found.y[waits]

    def waits_in(self, side: Side, items: range) -> frozenset[int]:
        """Return which versions of an axis have a block that needs review."""
        if not self.document.matrix.waiting_count:
            return frozenset()
        everything = range(len(self.rows.version_spans)), range(len(self.columns.version_spans))
        if side is Side.EXTRACTION:
            return frozenset(self.waiting_within(items, everything[0])[0].tolist())
        return frozenset(self.waiting_within(everything[1], items)[1].tolist())

    # counts

    def counts(self, level_x: Level, level_y: Level) -> Counts:
        """Return the numbers of the tiles of a pair of levels."""
        return Counts(self, level_x, level_y)

    def density(self, area: Area, most: tuple[float, float]) -> Density:
        """Return how dense elements lie in an area of the plane.

        Args:
            area: left, top, right, bottom in units.
            most: how wide and how tall a bin may be, in units.
        """
        return density_of(self, area, most)

    def facts(self, level_x: Level, level_y: Level) -> FactsOf:
        """Return who looked at the tiles of a pair of levels, and when."""
        return FactsOf(self, level_x, level_y)

    def tile_facts(self, level_x: Level, level_y: Level, x: int, y: int) -> TileFacts:
        """Return who looked at one tile, and when."""
        return self.facts(level_x, level_y).at(x, y)

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Who set the status of a block; the first one is nobody."""
        base = self.index.base.people
        edited = (block.who for _, block in self.document.matrix.edited() if block is not None)
        return tuple(dict.fromkeys((*base, *edited)))


_MARKS = np.zeros(len(STATUSES), np.int64)
_MARKS[UNCONFIRMED] = int(Mark.UNCONFIRMED)
_MARKS[WAITS] = int(Mark.WAITS)


def content_of(document: Document) -> Content:
    """Lay a whole document out."""
    columns, rows = columns_of(document.extraction), rows_of(document.cdm)
    index = index_of(document.matrix.base, columns, rows)
    content = Content(document, columns, rows, index, TypesDiffer(columns.nodes, rows.nodes))
    content = replace(content, index=_with_flagged(content))
    return content_after(content, document, (key for key, _ in document.matrix.edited()))


def content_after(content: Content, document: Document, keys: Iterable[BlockKey]) -> Content:
    """Lay out the blocks that an edit changed, on the axes that it left alone.

    Cost: what the blocks hold.
    """
    changed: dict[int, tuple[Facts, Facts]] = {}
    for key in keys:
        x, y = content.columns.version_item(key[0]), content.rows.version_item(key[1])
        if x is not None and y is not None:
            block = document.matrix.block(*key)
            changed[x * content.index.height + y] = (_facts_before(content, x, y), _facts_now(content, x, y, block))
    if not changed:
        return replace(content, document=document)
    return replace(content, document=document, edited=content.edited.with_blocks(changed))


def _facts_before(content: Content, x: int, y: int) -> Facts:
    place = content.index.find(x, y)
    if place < 0:
        return NOTHING
    found = next(iter(content.index.blocks(np.array([place], np.int64))))
    return Facts(found.elements, found.room, found.flagged, STATUSES.index(found.status))


def _facts_now(content: Content, x: int, y: int, block: Block | None) -> Facts:
    if block is None:
        return NOTHING
    elements = np.array(block.elements, np.int64).reshape(-1, 2)
    xs, ys = np.full(len(elements), x), np.full(len(elements), y)
    column, row = content.columns.positions(xs, elements[:, 1]), content.rows.positions(ys, elements[:, 0])
    shown = (column != NOWHERE) & (row != NOWHERE)
    flagged = content._differs(xs[shown], ys[shown], column[shown], row[shown])
    count = int(shown.sum())
    wide, tall = content.columns.version_spans, content.rows.version_spans
    room = min(wide.last(x) - wide.first(x), tall.last(y) - tall.first(y)) if count else 0
    return Facts(count, room, int(flagged.sum()), STATUSES.index(block.status))


def _with_flagged(content: Content) -> BlockIndex:
    """Count the elements of every block whose types differ."""
    index, base = content.index, content.index.base
    flagged = np.zeros(len(index.key), np.int32)
    for low in range(0, len(index.key), _CHUNK):
        places = np.arange(low, min(low + _CHUNK, len(index.key)))
        x, y, q, p, _ = content._base_elements(places)
        column, row = content.columns.positions(x, p), content.rows.positions(y, q)
        shown = (column != NOWHERE) & (row != NOWHERE)
        differs = np.zeros(len(x), np.int64)
        differs[shown] = content._differs(x[shown], y[shown], column[shown], row[shown])
        rows = index.row[places].astype(np.int64)
        ends = np.concatenate([[0], np.cumsum(differs)])
        stops = np.cumsum(base.start[rows + 1] - base.start[rows])
        flagged[places] = ends[stops] - np.concatenate([[0], ends[stops[:-1]]])
    return replace(index, flagged=flagged) if flagged.any() else index


_CHUNK = 100_000


def _versions(axis: Axis, positions: range) -> range:
    """Return the versions that hold a range of attribute positions."""
    low, high = max(positions.start, 0), min(positions.stop, len(axis.runs))
    if low >= high:
        return range(0)
    return range(axis.version_at(low), axis.version_at(high - 1) + 1)


def axis_of(content: Content, side: Side) -> Axis:
    """Return the axis on which a tree stands."""
    return content.columns if side is Side.EXTRACTION else content.rows
