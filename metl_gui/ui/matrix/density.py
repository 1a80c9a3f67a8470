"""How dense elements lie where single items are too small to draw, in bins that are powers of two of a unit.

Bins are aligned to the origin of the plane, so neighbouring pictures agree and zooming does not flicker.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from metl_gui.ui.matrix.axis import Axis
from metl_gui.ui.matrix.nodes import Ints
from metl_gui.ui.matrix.spans import Floats

if TYPE_CHECKING:
    from metl_gui.ui.matrix.content import Content

Grid: TypeAlias = npt.NDArray[np.float32]
Area: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom in units."""


@dataclass(frozen=True, eq=False)
class Density:
    """What lies in the bins of an area.

    Shape: ``elements``, ``room`` and ``waiting`` are (rows, columns). Units: the edges are places on the plane.

    Args:
        left, top, right, bottom: edges of the bins, which may lie beyond the area that was asked for.
        elements: how many are 1.
        room: how many there could be, min(columns, rows) of the non-null blocks, spread over their area.
        waiting: whether a block that needs review touches the bin.
    """

    left: float
    top: float
    right: float
    bottom: float
    elements: Grid
    room: Grid
    waiting: npt.NDArray[np.bool_]

    @property
    def share(self) -> Grid:
        """Elements over room, more than 0 wherever there is an element."""
        share = np.minimum(self.elements / np.maximum(self.room, np.float32(1e-6)), np.float32(1))
        return np.where(self.elements > 0, np.maximum(share, np.float32(1e-3)), np.float32(0))


@dataclass(frozen=True)
class Bins:
    """Bins of one axis: their size in units and the numbers of the first and of the one behind the last."""

    size: float
    first: int
    last: int

    @classmethod
    def of(cls, low: float, high: float, most: float) -> Bins:
        """Return the bins of at most ``most`` units that cover a stretch."""
        size = 2.0 ** floor(log2(max(most, 2.0**-6)))
        first = floor(low / size)
        return cls(size, first, max(ceil(high / size), first + 1))

    def __len__(self) -> int:
        return self.last - self.first

    def at(self, places: Floats) -> Ints:
        """Return the bins of places, counted from the first."""
        return np.floor(places / self.size).astype(np.int64) - self.first


def density_of(content: Content, area: Area, most: tuple[float, float]) -> Density:
    """Bin what lies in an area."""
    xs, ys = Bins.of(area[0], area[2], most[0]), Bins.of(area[1], area[3], most[1])
    left, top, right, bottom = xs.first * xs.size, ys.first * ys.size, xs.last * xs.size, ys.last * ys.size
    elements = np.zeros((len(ys), len(xs)), np.float32)
    room, waiting = elements.copy(), np.zeros(elements.shape, np.bool_)
    found = content.elements_within(content.columns.runs.within(left, right), content.rows.runs.within(top, bottom))
    _add(elements, _bins(content.columns, xs, found.column), _bins(content.rows, ys, found.row), None)
    wide, tall = content.columns.version_spans, content.rows.version_spans
    blocks = content.blocks_within(wide.within(left, right), tall.within(top, bottom))
    for x, y, _, space, _, status in blocks:
        low_x, high_x = xs.at(np.array(wide.stretch(x))).tolist()
        low_y, high_y = ys.at(np.array(tall.stretch(y))).tolist()
        part = np.s_[max(low_y, 0) : high_y + 1, max(low_x, 0) : high_x + 1]
        room[part] += space / ((high_x - low_x + 1) * (high_y - low_y + 1))
        if status == "needs review":
            waiting[part] = True
    return Density(left, top, right, bottom, elements, room, waiting)


def _bins(axis: Axis, bins: Bins, positions: Ints) -> Ints:
    return bins.at(axis.runs.places(positions))


def _add(grid: Grid, x: Ints, y: Ints, weights: Floats | None) -> None:
    inside = (x >= 0) & (x < grid.shape[1]) & (y >= 0) & (y < grid.shape[0])
    flat = np.bincount(y[inside] * grid.shape[1] + x[inside], weights, minlength=grid.size)
    grid += flat.reshape(grid.shape).astype(np.float32)
