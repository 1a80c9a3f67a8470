"""What stands on the plane: both axes, and elements and blocks by position, read from the columns of the matrix.

``Arrangement`` says what is shown of a document, and in which order. A lost element stands between a ghost and an
attribute, between two ghosts, or between two attributes. Nothing is copied for each element.

Cost: a question costs a binary search and what it returns; an edit costs what it touched; laying everything out costs a
sort of the blocks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import STATUSES
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Axis, Level, columns_of, rows_of, with_ghosts
from metl_gui.ui.matrix.layout.block_index import (
    NOTHING,
    WAITS,
    BlockIndex,
    Blocks,
    BlockTile,
    Edited,
    index_of,
)
from metl_gui.ui.matrix.layout.density import Area, Density, WholePlanes, density_of
from metl_gui.ui.matrix.layout.elements import (
    ElementEnds,
    ElementFlag,
    PlaneElements,
    elements_within,
    flagged_of,
    may_refuse,
    shown,
    shown_of,
)
from metl_gui.ui.matrix.layout.ghost_lines import lines_of
from metl_gui.ui.matrix.layout.tile_counts import LevelCounts, Pyramid, TileStore
from metl_gui.ui.matrix.layout.tile_reviews import LevelReviews, TileReviews
from metl_gui.ui.matrix.layout.tree_columns import NOWHERE, Ints, TypeVerdicts
from metl_gui.ui.project.selection import NodeRef
from metl_gui.values import Value


class SortOrder(StrEnum):
    """How columns and rows are sorted; groups stay together in each."""

    TREE = "tree order"
    NAME = "by name"
    FIRST_MAPPING = "by first mapping"


class Arrangement(Value, eq=False):
    """What the plane shows.

    Args:
        order: of columns and rows.
        columns, rows: what passes the filter of each tree, ``None`` for everything.
        is_relevant_only: attributes without an element are hidden, but for those of blocks that wait for review.
        folded: schemas, entities and versions that are hidden whatever else is shown.
        pinned: those that nothing but folding hides.
    """

    order: SortOrder = SortOrder.TREE
    columns: FilterResult | None = None
    rows: FilterResult | None = None
    is_relevant_only: bool = False
    folded: frozenset[tuple[Side, NodeRef]] = frozenset()
    pinned: frozenset[tuple[Side, NodeRef]] = frozenset()

    @property
    def is_filtered(self) -> bool:
        """Whether a filter hides something."""
        return self.columns is not None or self.rows is not None

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden."""
        return self.is_filtered or self.is_relevant_only or bool(self.folded)

    @property
    def follows_elements(self) -> bool:
        """Whether it depends on what is mapped."""
        return self.order is SortOrder.FIRST_MAPPING or self.is_relevant_only

    @property
    def is_plain(self) -> bool:
        """Whether everything is shown in tree order."""
        return self.order is SortOrder.TREE and not self.hides


PLAIN = Arrangement()


Stretch: TypeAlias = tuple[float, float]
"""Where something begins and ends on an axis, in units."""


class LostCell(Value):
    """One lost element.

    Args:
        loss: what was lost.
        column, row: where its ends stand.
        is_ghost: whether an end is gone; else the cell is there and can be mapped again.
        rivals: where elements stand that have one of its ends; with them, both sides of a merge wanted their own.
    """

    loss: Loss
    column: Stretch
    row: Stretch
    is_ghost: bool
    rivals: tuple[tuple[Stretch, Stretch], ...] = ()


def lost_cells(columns: Axis, rows: Axis, block: Block) -> tuple[LostCell, ...]:
    """Return where the open losses of a block stand; those whose ends are hidden or off the plane are left out."""
    found = []
    key = block.key
    for loss in block.open_losses:
        ends = (columns, key[0], loss.p_lineage), (rows, key[1], loss.q_lineage)
        ghosts = [axis.ghosts.stretch_of(version, lineage) for axis, version, lineage in ends]
        places = [ghost or _stretch(*end) for ghost, end in zip(ghosts, ends, strict=True)]
        if places[0] is not None and places[1] is not None:
            is_ghost = ghosts != [None, None]
            rivals = () if is_ghost else _rivals(columns, rows, block, loss)
            found.append(LostCell(loss, places[0], places[1], is_ghost, rivals))
    return tuple(found)


def _rivals(columns: Axis, rows: Axis, block: Block, loss: Loss) -> tuple[tuple[Stretch, Stretch], ...]:
    """Return where elements stand that share an end with a lost one; both its ends are in the block's versions."""
    shared = (element for element in block.elements if element.q == loss.q or element.p == loss.p)
    places = (
        (columns.position_of(block.version, each.p), rows.position_of(block.entity_version, each.q)) for each in shared
    )
    return tuple(
        ((columns.begin(x), columns.begin(x) + 1.0), (rows.begin(y), rows.begin(y) + 1.0))
        for x, y in places
        if x is not None and y is not None
    )


def _stretch(axis: Axis, version_id: int, lineage: int) -> Stretch | None:
    item = axis.version_item(version_id)
    attribute = axis.version(item).of_lineage(lineage) if item is not None else None
    position = axis.position_of(version_id, attribute.id) if attribute is not None else None
    return None if position is None else (axis.begin(position), axis.begin(position) + 1.0)


__all__ = [
    "BlockTile",
    "Blocks",
    "ElementFlag",
    "PlaneContent",
    "PlaneElements",
    "axis_of",
    "content_after",
    "content_of",
    "rebased",
]


@dataclass(frozen=True, eq=False)
class PlaneContent:
    """A document laid out on the plane.

    Args:
        document: the state that is shown.
        columns, rows: the axes, with room for ghosts.
        index: the blocks of the matrix's base by place.
        pyramid: their numbers for coarse levels.
        types: which types may refuse values of which others.
        arrangement: what was asked to be shown.
        edited: what differs from the index.
        whole_planes: densities of the index that are kept.
        known_facts: facts of the index that were gathered.
        lost: the open losses of the blocks that wait.
        edited_facts, edited_tiles: facts and numbers of groups with what was edited.
    """

    document: Document
    columns: Axis
    rows: Axis
    index: BlockIndex
    pyramid: Pyramid
    types: TypeVerdicts
    arrangement: Arrangement = PLAIN
    edited: Edited = field(default_factory=Edited.none)
    whole_planes: WholePlanes = field(default_factory=WholePlanes)
    known_facts: dict[tuple[Level, Level], TileReviews] = field(default_factory=dict)
    lost: dict[BlockKey, tuple[Loss, ...]] = field(default_factory=dict)
    edited_facts: dict[tuple[Level, Level], TileReviews] = field(default_factory=dict, init=False)
    edited_tiles: dict[tuple[Level, Level], TileStore] = field(default_factory=dict, init=False)
    _lost_cells: dict[BlockKey, tuple[LostCell, ...]] = field(default_factory=dict, init=False)

    # elements

    def elements_within(self, columns: range, rows: range) -> PlaneElements:
        """Return the elements of a rectangle of attribute positions."""
        return elements_within(self, columns, rows)

    def element_at(self, column: int, row: int) -> ElementFlag | None:
        """Return the mark of the element at a cell, ``None`` when it is 0."""
        found = self.elements_within(range(column, column + 1), range(row, row + 1))
        return ElementFlag(int(found.mark[0])) if len(found) else None

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

    def edited_keys(self, xs: range, ys: range) -> list[BlockKey]:
        """Return the keys of the edited blocks of a rectangle of versions."""
        height = self.index.height
        keys = self.edited.key[self.edited.within(xs, ys, height)].tolist()
        return [self.key_of(key // height, key % height) for key in keys]

    def waiting_within(self, xs: range, ys: range) -> tuple[Ints, Ints]:
        """Return (x, y) of the blocks of a rectangle of versions that need review."""
        x, y = self._waiting
        low, high = np.searchsorted(x, (xs.start, xs.stop)).tolist()
        inside = (y[low:high] >= ys.start) & (y[low:high] < ys.stop)
        return x[low:high][inside], y[low:high][inside]

    @cached_property
    def _waiting(self) -> tuple[Ints, Ints]:
        """(x, y) of all blocks that need review, sorted."""
        key, height = self.index.key[self.index.waiting], self.index.height
        if len(self.edited):
            fresh = self.edited.key[self.edited.now[:, 2] == WAITS]
            key = np.sort(np.concatenate([key[~self.edited.holds(key)], fresh]))
        return key // height, key % height

    def waits_in(self, side: Side, items: range) -> frozenset[int]:
        """Return which versions of an axis have a block that needs review."""
        everything = range(len(self.rows.version_spans)), range(len(self.columns.version_spans))
        if side is Side.EXTRACTION:
            return frozenset(self.waiting_within(items, everything[0])[0].tolist())
        return frozenset(self.waiting_within(everything[1], items)[1].tolist())

    # lost elements

    @property
    def bare(self) -> tuple[Axis, Axis]:
        """The axes without room for ghosts."""
        return self.index.columns, self.index.rows

    def lost_cells(self, key: BlockKey) -> tuple[LostCell, ...]:
        """Return where the open losses of a block stand; those whose ends are hidden are left out."""
        block = self.document.matrix.block(*key) if key in self.lost and key not in self._lost_cells else None
        if block is not None:
            self._lost_cells[key] = lost_cells(self.columns, self.rows, block)
        return self._lost_cells.get(key, ())

    # numbers

    def counts(self, level_x: Level, level_y: Level) -> LevelCounts:
        """Return the numbers of the tiles of a pair of levels."""
        return LevelCounts(self, level_x, level_y)

    def density(self, area: Area, most: tuple[float, float]) -> Density:
        """Return how dense elements lie in an area of the plane.

        Args:
            area: left, top, right, bottom in units.
            most: how wide and how tall a bin may be, in units.
        """
        return density_of(self, area, most)

    def facts(self, level_x: Level, level_y: Level) -> LevelReviews:
        """Return who looked at the tiles of a pair of levels, and when."""
        return LevelReviews(self, level_x, level_y)

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Who set the status of a block; the first one is nobody."""
        edited = (block.who for _, block in self.document.matrix.edited() if block is not None)
        return tuple(dict.fromkeys((*self.index.base.people, *edited)))


def content_of(document: Document, watch: Watch = UNWATCHED) -> PlaneContent:
    """Lay a whole document out.

    Cost: linear in versions and blocks, with a sort of both; in elements where types may refuse values.
    """
    watch.step("Laying out the matrix")
    axes = columns_of(document.extraction), rows_of(document.cdm)
    watch.step("Counting the matrix")
    return content_on(document, axes, PLAIN)


def content_on(document: Document, axes: tuple[Axis, Axis], arrangement: Arrangement) -> PlaneContent:
    """Place a document's blocks on axes that were laid out for it."""
    columns, rows = axes
    types = TypeVerdicts(columns.nodes, rows.nodes)
    index = index_of(document.matrix.base, columns, rows)
    if arrangement.is_filtered:
        index = replace(index, shown=shown_of(index))
    index = replace(index, flagged=flagged_of(index, types))
    content = PlaneContent(document, columns, rows, index, Pyramid.of(index), types, arrangement)
    content = _with_edited(content, document, (key for key, _ in document.matrix.edited()))
    return _with_lost(content, set(document.matrix.waiting()))


def rebased(content: PlaneContent, document: Document) -> PlaneContent:
    """Lay the same state out again over merged columns, as it was asked for, and let the old columns go.

    Cost: that of laying everything out.
    """
    columns, rows = content.bare
    return content_on(document, (columns.on(document.extraction), rows.on(document.cdm)), content.arrangement)


def content_after(content: PlaneContent, document: Document, keys: Iterable[BlockKey]) -> PlaneContent:
    """Lay out the blocks that an edit changed, on the axes that it left alone; ghosts come and go with what waits.

    Cost: what the blocks hold; where ghosts come or go, some additions over all versions.
    """
    known = set(keys)
    return _with_lost(_with_edited(content, document, known), known)


def _with_lost(content: PlaneContent, keys: set[BlockKey]) -> PlaneContent:
    """Note what some blocks wait for, and make room for the attributes that are gone."""
    lost, touched = dict(content.lost), []
    waiting = set(content.document.matrix.waiting_among(keys))
    for key in waiting | (lost.keys() & keys):
        block = content.document.matrix.block(*key) if key in waiting else None
        losses = block.open_losses if block is not None else ()
        if losses != lost.get(key, ()):
            touched.append(key)
            lost.pop(key, None)
            lost.update({key: losses} if losses else {})
    if not touched:
        return content
    is_by_name = content.arrangement.order is SortOrder.NAME
    axes = []
    for at, before in enumerate((content.columns, content.rows)):
        bare, versions = content.bare[at], frozenset(key[at] for key in touched)
        lines = [line for line in before.ghosts.lines if line.version not in versions]
        lines += lines_of(bare, lost, versions, is_by_name=is_by_name)
        lines.sort(key=attrgetter("item"))
        axes.append(before if tuple(lines) == before.ghosts.lines else with_ghosts(bare, tuple(lines)))
    is_as_before = axes[0] is content.columns and axes[1] is content.rows
    planes = content.whole_planes if is_as_before else WholePlanes()
    return dataclasses.replace(content, columns=axes[0], rows=axes[1], lost=lost, whole_planes=planes)


def _with_edited(content: PlaneContent, document: Document, keys: Iterable[BlockKey]) -> PlaneContent:
    known = sorted(set(keys))
    ids = np.array(known, np.int64).reshape(-1, 2)
    x, y = content.columns.version_items(ids[:, 0]), content.rows.version_items(ids[:, 1])
    there = np.flatnonzero((x != NOWHERE) & (y != NOWHERE))
    if not len(there):
        return dataclasses.replace(content, document=document)
    x, y = x[there].astype(np.int64), y[there].astype(np.int64)
    blocks = [document.matrix.block(*known[at]) for at in there.tolist()]
    edited = content.edited.with_blocks(
        x * content.index.height + y, _facts_before(content, x, y), _facts_now(content, x, y, blocks)
    )
    return dataclasses.replace(content, document=document, edited=edited)


def _facts_before(content: PlaneContent, x: Ints, y: Ints) -> Ints:
    """Return what the index says of blocks, a row as ``NOTHING`` each."""
    facts = np.tile(NOTHING, (len(x), 1))
    places = content.index.places(x, y)
    found = content.index.blocks(places[places >= 0])
    facts[places >= 0] = np.stack([found.elements, found.flagged, found.status], axis=1)
    return facts


def _facts_now(content: PlaneContent, x: Ints, y: Ints, blocks: Sequence[Block | None]) -> Ints:
    """Return what is drawn of blocks, a row as ``NOTHING`` each."""
    columns, rows = content.columns, content.rows
    counts = np.array([len(block.elements) if block is not None else 0 for block in blocks], np.int64)
    flat = chain.from_iterable(block.elements for block in blocks if block is not None)
    elements = np.fromiter(chain.from_iterable(flat), np.int64).reshape(-1, 2)
    number = np.repeat(np.arange(len(blocks)), counts)
    ends = ElementEnds(x[number], y[number], elements[:, 1], elements[:, 0], number)
    ends = ends.part(shown(columns, rows, ends))
    is_flagged = may_refuse(content.types, columns, rows, ends)
    held = np.bincount(ends.mark, minlength=len(blocks))
    flagged = np.bincount(ends.mark[is_flagged], minlength=len(blocks))
    status = np.array([STATUSES.index(block.status) if block is not None else -1 for block in blocks], np.int64)
    return np.stack([held, flagged, status], axis=1)


def axis_of(content: PlaneContent, side: Side) -> Axis:
    """Return the axis on which a tree stands."""
    return content.columns if side is Side.EXTRACTION else content.rows
