"""How dense elements lie where single items are too small to draw, in bins that are powers of two of a unit.

Bins are aligned to the origin of the plane, so neighbouring pictures agree and zooming does not flicker. What is binned
is as coarse as the bins allow: elements where rows or columns can be told apart, else blocks, else the tiles of schemas
x entities; a block or tile that is longer than a bin is spread evenly over its bins.

Cost: what lies in the area and the bins that it touches. While most of the plane is in sight its bins are kept, so that
each picture of a part of it costs that part only.
"""

from __future__ import annotations

from collections import OrderedDict
from math import ceil, floor, log2
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.block_index import WAITS, Blocks
from metl_gui.ui.matrix.layout.elements import cells_within
from metl_gui.ui.matrix.layout.placement import Bools
from metl_gui.ui.matrix.layout.spans import Floats, Spans
from metl_gui.ui.matrix.layout.tile_counts import Tiles, summed, tiles_of_blocks, versions_of
from metl_gui.ui.matrix.layout.tree_columns import Ints, search, spread
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.ui.matrix.layout.content import PlaneContent


FINE = 0.25
"""The least size of a bin in units; it tells cells apart, so elements are binned one by one."""
_ROUNDING = 1e-6


class Bins(Value):
    """Bins of one axis: their size in units and the numbers of the first and of the one behind the last."""

    size: float
    first: int
    last: int

    @classmethod
    def of(cls, low: float, high: float, most: float) -> Bins:
        """Return the bins of at most ``most`` units that cover a stretch."""
        size = 2.0 ** floor(log2(max(most, FINE)))
        first = floor(low / size)
        return cls(size, first, max(ceil(high / size), first + 1))

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def stretch(self) -> tuple[float, float]:
        """Where the bins begin and end, in units."""
        return self.first * self.size, self.last * self.size

    def touched(self, begins: Floats, ends: Floats) -> tuple[Ints, Ints]:
        """Return the first and the last bin that stretches touch, cut at the edges."""
        low, high = self._edges(begins, ends)
        first, last = low.astype(np.int64) - self.first, high.astype(np.int64) - self.first - 1
        return np.maximum(first, 0), np.minimum(np.maximum(last, first), len(self) - 1)

    def parts(self, begins: Floats, ends: Floats) -> Floats:
        """Return over how many bins each stretch is spread, those beyond the edges too."""
        low, high = self._edges(begins, ends)
        parts: Floats = np.maximum(high - low, 1.0)
        return parts

    def _edges(self, begins: Floats, ends: Floats) -> tuple[Floats, Floats]:
        """Round outwards, but not for what rounding left of sums of gaps; what is no longer than a bin lies in one."""
        is_short = ends - begins <= self.size
        middle = np.floor((begins + ends) / (2.0 * self.size))
        if is_short.all():
            return middle, middle + 1.0
        low, high = np.floor(begins / self.size + _ROUNDING), np.ceil(ends / self.size - _ROUNDING)
        return np.where(is_short, middle, low), np.where(is_short, middle + 1.0, high)


class Boxes(NamedTuple):
    """Things to be binned: where they lie in units, and what they hold."""

    left: Floats
    right: Floats
    top: Floats
    bottom: Floats
    elements: Floats
    waiting: Bools

    def part(self, chosen: Bools) -> Boxes:
        """Return some of the boxes."""
        sides = (self.left[chosen], self.right[chosen], self.top[chosen], self.bottom[chosen])
        return Boxes(*sides, self.elements[chosen], self.waiting[chosen])


class Spots(NamedTuple):
    """What bins get.

    Shape: one entry for every bin that a box touches; ``at`` is row * columns + column.
    """

    at: Ints
    elements: Floats
    waits: Floats


def spots_of(boxes: Boxes, xs: Bins, ys: Bins) -> Spots:
    """Spread what boxes hold evenly over the bins that they touch, and leave out what lies beyond the edges."""
    low_x, high_x = xs.touched(boxes.left, boxes.right)
    low_y, high_y = ys.touched(boxes.top, boxes.bottom)
    inside = (high_x >= low_x) & (high_y >= low_y)
    low_x, high_x, low_y, high_y = (each[inside] for each in (low_x, high_x, low_y, high_y))
    boxes = boxes.part(inside)
    parts = xs.parts(boxes.left, boxes.right) * ys.parts(boxes.top, boxes.bottom)
    at, box = _bins_of(low_x, high_x, low_y, high_y, len(xs))
    return Spots(at, (boxes.elements / parts)[box], boxes.waiting.astype(np.float64)[box])


def _bins_of(low_x: Ints, high_x: Ints, low_y: Ints, high_y: Ints, width: int) -> tuple[Ints, Ints]:
    """Return the bins that boxes touch, and which box each of them is of."""
    is_point = (high_x == low_x) & (high_y == low_y)
    if is_point.all():
        return low_y * width + low_x, np.arange(len(low_x))
    box = np.repeat(np.arange(len(low_x)), high_y - low_y + 1)
    row = spread(low_y, high_y + 1)
    line = np.repeat(np.arange(len(box)), (high_x - low_x + 1)[box])
    column = spread(low_x[box], high_x[box] + 1)
    return row[line] * width + column, box[line]


Grid: TypeAlias = npt.NDArray[np.float32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Area: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom in units."""

_LEFT_BY_ROUNDING = 1e-4
_SPARSE = 8
"""Fewer than one in so many bins are added to one by one."""
_MANY_TILES = 20_000
_MOST_BINS = 1_500_000
_KEPT = 2


class Density(Value, eq=False):
    """What lies in the bins of an area.

    Shape: ``elements`` and ``waits`` are (rows, columns). Units: the edges are places on the plane.

    Args:
        left, top, right, bottom: edges of the bins, which may lie beyond the area that was asked for.
        elements: how many are 1.
        waits: how many blocks or tiles with something that needs review touch the bin.
    """

    left: float
    top: float
    right: float
    bottom: float
    elements: Grid
    waits: Grid

    @property
    def waiting(self) -> BoolArray:
        """Whether something that needs review touches the bin."""
        return self.waits > 0


class _Sparse(Value, eq=False):
    """The bins of a whole plane that hold something.

    Shape: ``key`` (row * width + column) has one entry a bin, sorted; so have the others.
    """

    xs: Bins
    ys: Bins
    key: Ints
    elements: Grid
    waits: Grid

    @classmethod
    def of(cls, spots: Spots, xs: Bins, ys: Bins) -> _Sparse:
        """Add up what every bin gets."""
        at = spots.at.astype(np.int32)
        order = np.argsort(at, kind="stable")
        at = at[order]
        first = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]])) if len(at) else np.zeros(0, np.int64)
        sums = (_sums(weights[order], first) for weights in (spots.elements, spots.waits))
        return cls(xs, ys, at[first], *sums)

    @property
    def size_bytes(self) -> int:
        """Memory of the bins."""
        return self.key.nbytes + self.elements.nbytes + self.waits.nbytes

    def cut(self, xs: Bins, ys: Bins) -> Density:
        """Return the bins of an area."""
        width = len(self.xs)
        rows = np.arange(max(ys.first, self.ys.first), min(ys.last, self.ys.last), dtype=np.int64) - self.ys.first
        low = min(max(xs.first - self.xs.first, 0), width)
        high = min(max(xs.last - self.xs.first, low), width)
        at = spread(search(self.key, rows * width + low), search(self.key, rows * width + high))
        found = _empty(xs, ys)
        key = self.key[at]
        where = key // width + self.ys.first - ys.first, key % width + self.xs.first - xs.first
        found.elements[where], found.waits[where] = self.elements[at], self.waits[at]
        return found


def _sums(weights: Floats, first: Ints) -> Grid:
    """Add up runs of weights."""
    return (np.add.reduceat(weights, first) if len(first) else weights).astype(np.float32)


class WholePlanes(Value, eq=False):
    """The bins of the whole plane at the sizes that were asked for last; they do not know of edits."""

    _kept: OrderedDict[tuple[float, float], _Sparse] = msgspec.field(default_factory=OrderedDict)

    @property
    def size_bytes(self) -> int:
        """Memory of what is kept."""
        return sum(kept.size_bytes for kept in list(self._kept.values()))

    def get(self, content: PlaneContent, size: tuple[float, float]) -> _Sparse | None:
        """Return the bins of the whole plane at a size, ``None`` where they are too many to keep."""
        if size in self._kept:
            self._kept.move_to_end(size)
            return self._kept[size]
        xs = Bins.of(0.0, max(content.columns.length, 1.0), size[0])
        ys = Bins.of(0.0, max(content.rows.length, 1.0), size[1])
        if len(xs) * len(ys) > _MOST_BINS:
            return None
        store = content.pyramid.store(Level.SCHEMA, Level.SCHEMA)
        tiles = store.within(range(store.width), range(store.height))
        sparse = _Sparse.of(spots_of(_boxes_of_tiles(content, tiles), xs, ys), xs, ys)
        self._kept[size] = sparse
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return sparse


def density_of(content: PlaneContent, area: Area, most: tuple[float, float]) -> Density:
    """Bin what lies in an area.

    Args:
        content: what is laid out.
        area: in units.
        most: how wide and how tall a bin may be, in units.
    """
    xs, ys = Bins.of(area[0], area[2], most[0]), Bins.of(area[1], area[3], most[1])
    if xs.size <= FINE or ys.size <= FINE:
        return _of_elements(content, xs, ys)
    if not _is_coarse(content, xs):
        return _binned(_boxes_of_blocks(content, _blocks(content, xs, ys)), xs, ys)
    store = content.pyramid.store(Level.SCHEMA, Level.SCHEMA)
    whole = content.whole_planes.get(content, (xs.size, ys.size)) if len(store.key) > _MANY_TILES else None
    if whole is not None:
        return _with_edited(content, whole.cut(xs, ys), xs, ys)
    return _binned(_boxes_of_tiles(content, _tiles(content, xs, ys)), xs, ys)


def _with_edited(content: PlaneContent, found: Density, xs: Bins, ys: Bins) -> Density:
    """Take the tiles of an area in which blocks were edited out of its bins and put them in as they are now."""
    if not len(content.edited):
        return found
    columns, rows, height = content.columns, content.rows, content.index.height
    wide = versions_of(columns, Level.SCHEMA, _within(columns, Level.SCHEMA, xs))
    tall = versions_of(rows, Level.SCHEMA, _within(rows, Level.SCHEMA, ys))
    places = content.edited.within(wide, tall, height)
    blocks = content.edited.blocks(places, height), content.edited.blocks(places, height, before=True)
    added, taken = (
        tiles_of_blocks(each, columns, rows, Level.SCHEMA, Level.SCHEMA, sign)
        for each, sign in zip(blocks, (1, -1), strict=True)
    )
    store = content.pyramid.store(Level.SCHEMA, Level.SCHEMA)
    before = store.tiles(np.concatenate([added.x, taken.x]), np.concatenate([added.y, taken.y]))
    now = summed([before, added, taken])
    out, back = spots_of(_boxes_of_tiles(content, before), xs, ys), spots_of(_boxes_of_tiles(content, now), xs, ys)
    _exchange(found, out, back)
    return found


def _exchange(found: Density, out: Spots, back: Spots) -> None:
    """Take something out of bins and put something else in, and leave nothing of what only rounding leaves."""
    bins, number = np.unique(np.concatenate([out.at, back.at]), return_inverse=True)
    gone, come = number[: len(out.at)], number[len(out.at) :]
    for grid, taken, given in (
        (found.elements, out.elements, back.elements),
        (found.waits, out.waits, back.waits),
    ):
        flat, less = grid.reshape(-1), np.bincount(gone, taken, minlength=len(bins))
        rest = flat[bins] - less
        rest[rest < less * _LEFT_BY_ROUNDING] = 0
        flat[bins] = rest + np.bincount(come, given, minlength=len(bins))


def _of_elements(content: PlaneContent, xs: Bins, ys: Bins) -> Density:
    columns, rows = content.columns.runs.within(*xs.stretch), content.rows.runs.within(*ys.stretch)
    _, column, row = cells_within(content, columns, rows)
    left, top = content.columns.runs.places(column), content.rows.runs.places(row)
    one = np.ones(len(column))
    density = _empty(xs, ys)
    held = (
        _boxes_of_tiles(content, _tiles(content, xs, ys))
        if _is_coarse(content, xs)
        else _boxes_of_blocks(content, _blocks(content, xs, ys))
    )
    waiting = held.part(held.waiting)
    _add(density, waiting._replace(elements=np.zeros(len(waiting.elements))), xs, ys)
    _add(density, Boxes(left, left + one, top, top + one, one, one < 0), xs, ys)
    return density


def _blocks(content: PlaneContent, xs: Bins, ys: Bins) -> Blocks:
    return content.blocks_within(_within(content.columns, Level.VERSION, xs), _within(content.rows, Level.VERSION, ys))


def _tiles(content: PlaneContent, xs: Bins, ys: Bins) -> Tiles:
    wide, tall = _within(content.columns, Level.SCHEMA, xs), _within(content.rows, Level.SCHEMA, ys)
    return content.counts(Level.SCHEMA, Level.SCHEMA).within(wide, tall)


def _is_coarse(content: PlaneContent, xs: Bins) -> bool:
    """Say whether most schemas are no wider than a bin."""
    return xs.size >= content.columns.spans(Level.SCHEMA).median_length


def _within(axis: Axis, level: Level, bins: Bins) -> range:
    return axis.spans(level).within(*bins.stretch)


def _boxes_of_blocks(content: PlaneContent, blocks: Blocks) -> Boxes:
    x, y = _sides(content.columns.version_spans, blocks.x), _sides(content.rows.version_spans, blocks.y)
    return Boxes(*x, *y, blocks.elements.astype(np.float64), blocks.status == WAITS)


def _boxes_of_tiles(content: PlaneContent, tiles: Tiles) -> Boxes:
    x, y = (
        _sides(content.columns.spans(Level.SCHEMA), tiles.x),
        _sides(content.rows.spans(Level.SCHEMA), tiles.y),
    )
    return Boxes(*x, *y, tiles.elements.astype(np.float64), tiles.waiting > 0)


def _sides(spans: Spans, items: Ints) -> tuple[Floats, Floats]:
    whole = range(len(spans))
    return spans.begins(whole)[items], spans.ends(whole)[items]


def _empty(xs: Bins, ys: Bins) -> Density:
    shape = len(ys), len(xs)
    (left, right), (top, bottom) = xs.stretch, ys.stretch
    grids = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    return Density(left, top, right, bottom, *grids)


def _binned(boxes: Boxes, xs: Bins, ys: Bins) -> Density:
    found = _empty(xs, ys)
    _add(found, boxes, xs, ys)
    return found


def _add(found: Density, boxes: Boxes, xs: Bins, ys: Bins) -> None:
    spots = spots_of(boxes, xs, ys)
    weighed = [(found.elements, spots.elements)]
    weighed += [(found.waits, spots.waits)] if boxes.waiting.any() else []
    for grid, weights in weighed:
        if len(spots.at) * _SPARSE < grid.size:
            np.add.at(grid.reshape(-1), spots.at, weights.astype(np.float32))
        else:
            flat = np.bincount(spots.at, weights, minlength=grid.size)
            np.add(grid, flat.reshape(grid.shape), out=grid, casting="same_kind")
