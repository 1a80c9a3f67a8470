"""How many elements tiles could hold: what a tile is tinted by is its share of this.

A block can hold min(columns, rows) elements; a tile the sum of that over all its blocks, those of zeros too. Attributes
that are hidden count, versions that are hidden do not. An item that is one attribute of a version counts as one.

Cost: laying out passes over all versions, as those of groups are counted once; then the versions of what is asked for,
times the widths that the narrower ones of both axes have.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.spans import Floats
from metl_gui.ui.matrix.layout.tree_columns import Ints, search, spread
from metl_gui.values import Value


class TileRoom(Value, eq=False, dict=True):
    """The room of the tiles of all pairs of levels; edits of elements do not change it.

    Shape: ``_groups`` has what ``_counts`` returns for all items of the levels from groups up, by side and level.
    """

    columns: Axis
    rows: Axis
    _groups: dict[tuple[bool, Level], Floats] = msgspec.field(default_factory=dict)

    @classmethod
    def laid(cls, columns: Axis, rows: Axis) -> TileRoom:
        """Count the versions of groups."""
        room = cls(columns, rows)
        for is_column, axis in ((True, columns), (False, rows)):
            for level in (Level.GROUP, Level.OUTER_GROUP):
                items = np.arange(len(axis.spans(level)))
                room._groups[is_column, level] = room._counted(axis, level, items)
        return room

    def of(self, level_x: Level, level_y: Level, x: Ints, y: Ints) -> Ints:
        """Return the room of tiles.

        Args:
            level_x, level_y: what the items are.
            x, y: items of the axes, one of each for a tile.
        """
        if max(level_x, level_y) <= Level.VERSION:  # less than a block, or one
            wide = self.columns.widths[x] if level_x is Level.VERSION else np.ones(len(x), np.int64)
            tall = self.rows.widths[y] if level_y is Level.VERSION else np.ones(len(y), np.int64)
            fitting: Ints = np.minimum(wide, tall)
            return fitting
        columns, at_x = np.unique(x, return_inverse=True)
        rows, at_y = np.unique(y, return_inverse=True)
        # The sum of min(w, h) over all pairs is the sum, over all t, of how many w times how many h are t or more.
        many_wide = self._counts(level_x, columns, is_column=True) * self._steps
        many_tall = self._counts(level_y, rows, is_column=False)
        found: Ints = np.rint((many_wide @ many_tall.T)[at_x, at_y]).astype(np.int64)
        return found

    @cached_property
    def _widths(self) -> Ints:
        """The widths at which what fits into a block changes, ascending; 1 is one of them."""
        wide, tall = np.unique(self.columns.widths), np.unique(self.rows.widths)
        least = min(wide[-1], tall[-1]) if len(wide) and len(tall) else 0
        both = np.union1d(wide, tall)
        return np.union1d(both[(both > 0) & (both <= least)], [1]).astype(np.int64)

    @cached_property
    def _steps(self) -> Floats:
        return np.diff(self._widths, prepend=0).astype(np.float64)

    def _counts(self, level: Level, items: Ints, *, is_column: bool) -> Floats:
        """Count of every item the versions that are as wide as each of the widths, or wider.

        Shape: (items, widths).
        """
        if level is Level.ATTRIBUTE:
            return np.repeat((self._widths == 1)[None].astype(np.float64), len(items), axis=0)
        axis = self.columns if is_column else self.rows
        if level < Level.GROUP:
            return self._counted(axis, level, items)
        return self._groups[is_column, level][items]

    def _counted(self, axis: Axis, level: Level, items: Ints) -> Floats:
        low, high = items, items + 1
        for step in range(level, Level.VERSION, -1):
            low, high = axis.firsts[Level(step)][low], axis.firsts[Level(step)][high]
        reach = search(self._widths, axis.widths[spread(low, high)], "right")
        size = len(self._widths) + 1
        number = np.repeat(np.arange(len(items)), high - low)
        counts = np.bincount(number * size + reach, minlength=len(items) * size).reshape(len(items), size)
        return counts[:, :0:-1].cumsum(axis=1)[:, ::-1].astype(np.float64)
