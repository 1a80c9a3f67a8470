"""The items of one level along an axis: versions, schemas and groups as columns, attributes worked out.

Positions count the attributes that are shown. Cost: every question is a binary search or plain arithmetic.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from metl_gui.ui.matrix.layout.tree_columns import Ints, search
from metl_gui.values import Value

Floats: TypeAlias = npt.NDArray[np.float64]


def median_of(values: Floats) -> float:
    """Return the value in the middle, 0 without values; ``np.median`` would load 20 ms of masked arrays for it."""
    if not len(values):
        return 0.0
    middle = len(values) // 2
    low = middle if len(values) % 2 else middle - 1
    parted = np.partition(values, (low, middle))
    return float(parted[low] + parted[middle]) / 2.0


class _OfMany(Protocol):
    """What places of many items answer."""

    def begins(self, items: range) -> Floats: ...

    def ends(self, items: range) -> Floats: ...

    def items_of(self, positions: Ints) -> Ints: ...


class _OfOne(Value, eq=False):
    """What is asked of one item, answered by what many are asked for."""

    def begin(self: _OfMany, item: int) -> float:
        """Where one item begins."""
        return float(self.begins(range(item, item + 1))[0])

    def end(self: _OfMany, item: int) -> float:
        """Where one item ends."""
        return float(self.ends(range(item, item + 1))[0])

    def stretch(self: _OfMany, item: int) -> tuple[float, float]:
        """Where one item begins and ends."""
        one = range(item, item + 1)
        return float(self.begins(one)[0]), float(self.ends(one)[0])

    def item_of(self: _OfMany, position: int) -> int:
        """Return the item that holds an attribute position."""
        return int(self.items_of(np.array([position], np.int64))[0])


class ItemSpans(_OfOne, eq=False, dict=True):
    """Versions, schemas or groups.

    Shape: ``starts`` and ``stops`` have one entry an item, ``bounds`` (attribute positions) one more.
    """

    starts: Floats
    stops: Floats
    bounds: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def median_length(self) -> float:
        """Length in units of the item in the middle, 0 without items."""
        return median_of(self.stops - self.starts)

    def begins(self, items: range) -> Floats:
        """Where items begin."""
        return self.starts[items.start : items.stop]

    def ends(self, items: range) -> Floats:
        """Where items end."""
        return self.stops[items.start : items.stop]

    def first(self, item: int) -> int:
        """The first attribute position of an item."""
        return int(self.bounds[item])

    def last(self, item: int) -> int:
        """The attribute position behind an item."""
        return int(self.bounds[item + 1])

    def items_of(self, positions: Ints) -> Ints:
        """Return the items that hold attribute positions."""
        return search(self.bounds, positions, "right") - 1

    def within(self, low: float, high: float) -> range:
        """Return the items that touch a stretch of the axis."""
        first = int(np.searchsorted(self.stops, low, side="right"))
        last = int(np.searchsorted(self.starts, high, side="left"))
        return range(first, max(first, last))

    def at(self, place: float) -> int | None:
        """Return the item at a place, ``None`` in a gap or outside."""
        found = int(np.searchsorted(self.starts, place, side="right")) - 1
        return found if found >= 0 and place < self.stops[found] else None


_ROUNDING = 1e-6
"""How far, in units, sums may lie beside the place that they mean: 129.2 - 110.2 is less than 19."""


class Runs(_OfOne, eq=False):
    """Attributes, as runs of neighbours that lie side by side without a gap.

    Shape: ``starts`` (units) has one entry a run, ``bounds`` (positions) one more.
    """

    starts: Floats
    bounds: Ints

    def __len__(self) -> int:
        return int(self.bounds[-1])

    @property
    def median_length(self) -> float:
        """Every attribute is one unit wide."""
        return 1.0 if len(self) else 0.0

    def places(self, positions: Ints) -> Floats:
        """Where attributes begin."""
        run = self.runs_of(positions)
        return self.starts[run] + (positions - self.bounds[run])

    def runs_of(self, positions: Ints) -> Ints:
        """Return the runs that hold attribute positions."""
        return search(self.bounds, positions, "right") - 1

    def begins(self, items: range) -> Floats:
        """Where attributes begin."""
        return self.places(np.arange(items.start, items.stop, dtype=np.int64))

    def ends(self, items: range) -> Floats:
        """Where attributes end."""
        return self.begins(items) + 1.0

    def first(self, item: int) -> int:
        """The position itself."""
        return item

    def last(self, item: int) -> int:
        """The position behind."""
        return item + 1

    def items_of(self, positions: Ints) -> Ints:
        """Return the positions themselves."""
        return positions

    def within(self, low: float, high: float) -> range:
        """Return the attributes that touch a stretch of the axis."""
        first = self._at_or_after(low)
        run = int(np.searchsorted(self.starts, high, side="left")) - 1
        if run < 0:
            return range(0)
        inside = int(np.ceil(high - self.starts[run] - _ROUNDING))
        last = min(int(self.bounds[run]) + inside, int(self.bounds[run + 1]))
        return range(first, max(first, last))

    def at(self, place: float) -> int | None:
        """Return the attribute at a place, ``None`` in a gap or outside."""
        run = int(np.searchsorted(self.starts, place, side="right")) - 1
        if run < 0:
            return None
        found = int(self.bounds[run]) + int(place - self.starts[run] + _ROUNDING)
        return found if found < self.bounds[run + 1] else None

    def _at_or_after(self, place: float) -> int:
        """Return the first attribute that ends behind a place."""
        run = int(np.searchsorted(self.starts, place, side="right")) - 1
        if run < 0:
            return 0
        return min(int(self.bounds[run]) + int(place - self.starts[run] + _ROUNDING), int(self.bounds[run + 1]))


Spans: TypeAlias = ItemSpans | Runs
"""Where the items of a level lie.

Order: along the axis; positions of one item follow those of the item before. Units: places are attribute units.
"""
