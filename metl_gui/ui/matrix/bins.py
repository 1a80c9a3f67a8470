"""Bins of the plane that are powers of two of a unit, and how what lies in boxes is spread over them.

Cost: what is spread, and the bins that it touches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2
from typing import NamedTuple

import numpy as np

from metl_gui.ui.matrix.layout import Bools
from metl_gui.ui.matrix.nodes import Ints, spread
from metl_gui.ui.matrix.spans import Floats

FINE = 0.25
"""The least size of a bin in units; it tells cells apart, so elements are binned one by one."""
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Bins:
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
    room: Floats
    waiting: Bools

    def part(self, chosen: Bools) -> Boxes:
        """Return some of the boxes."""
        sides = (self.left[chosen], self.right[chosen], self.top[chosen], self.bottom[chosen])
        return Boxes(*sides, self.elements[chosen], self.room[chosen], self.waiting[chosen])


class Spots(NamedTuple):
    """What bins get.

    Shape: one entry for every bin that a box touches; ``at`` is row * columns + column.
    """

    at: Ints
    elements: Floats
    room: Floats
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
    return Spots(at, (boxes.elements / parts)[box], (boxes.room / parts)[box], boxes.waiting.astype(np.float64)[box])


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
