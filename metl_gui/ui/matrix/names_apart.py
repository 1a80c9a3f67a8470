"""Names along an axis of which the items are too thin for a name each: some are written, as far apart as words need.

As on the axis of a chart: which ones are written does not change while one pans, and those of a coarser zoom stay.
"""

from __future__ import annotations

import numpy as np

from metl_gui.ui.matrix.axis import Axis, Level

_LEAST_BAND_PX = 48
"""Items that are this long as a rule, in pixels, get a band with their name along it."""


def sparse_level(axis: Axis, scale: float) -> Level:
    """Return the coarsest level of which the items are too short for bands, nothing finer than schemas."""
    levels = [level for level in reversed(axis.levels) if level >= Level.SCHEMA]
    thin = (level for level in levels if axis.length * scale < _LEAST_BAND_PX * len(axis.spans(level)))
    return next(thin, levels[-1])


def apart(
    items: list[tuple[int, float, float]], count: int, pixels: float, room: float, first: int | None = None
) -> list[tuple[int, float, float]]:
    """Pick the items whose names are written.

    Args:
        items: (item, begin, end) of what is in sight.
        count: how many items there are on the whole axis.
        pixels: how long the whole axis is, in pixels.
        room: how far apart names stand at least, in pixels.
        first: an item that gets its name before all others.

    Returns:
        Those that have room themselves, and some of the others, in order.
    """
    every = 1 << max(0, int(np.ceil(np.log2(max(room * count / max(pixels, 1.0), 1.0)))))
    ranks = {item: 0 if item == first else 1 if end - begin >= room else 2 for item, begin, end in items}
    wished = [each for each in items if ranks[each[0]] < 2 or each[0] % every == 0]
    taken: dict[int, tuple[int, float, float]] = {}
    for each in sorted(wished, key=lambda each: (ranks[each[0]], each[0])):
        middle = (each[1] + each[2]) / 2
        at = int(middle // room)
        near = [taken[place] for place in (at - 1, at, at + 1) if place in taken]
        if all(abs(middle - (begin + end) / 2) >= room for _, begin, end in near):
            taken[at] = each
    return sorted(taken.values())
