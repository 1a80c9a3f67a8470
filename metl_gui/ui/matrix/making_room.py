"""Makes room for ghost lines on an axis: what stands behind one moves on, positions stay what they are.

Cost: some additions over the versions and runs of the axis.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from metl_gui.ui.matrix.axis import Axis
from metl_gui.ui.matrix.ghost_lines import GhostLine, GhostLines
from metl_gui.ui.matrix.layout import Laid
from metl_gui.ui.matrix.nodes import Ints, search
from metl_gui.ui.matrix.notches import GHOST
from metl_gui.ui.matrix.spans import Floats, ItemSpans, Runs

_ROUNDING = 1e-6


def with_ghosts(axis: Axis, lines: tuple[GhostLine, ...]) -> Axis:
    """Return an axis with room for ghosts.

    Args:
        axis: without ghosts.
        lines: in their order along it.
    """
    if not lines:
        return axis
    ghosts = GhostLines(lines)
    items, befores = ghosts.items, ghosts.befores
    begins = _old_places(axis.laid, items, befores) + GHOST * np.arange(len(lines))
    return axis.laid_again(_moved(axis.laid, items, befores), replace(ghosts, begins=begins))


def _old_places(laid: Laid, items: Ints, befores: Ints) -> Floats:
    """Return where ghosts stand before room is made: behind the attribute before them, or at the version's start."""
    is_first = befores == laid.versions.bounds[items]
    behind = laid.runs.places(np.maximum(befores - 1, 0)) + 1.0
    places: Floats = np.where(is_first, laid.versions.starts[items], behind)
    return places


def _moved(laid: Laid, items: Ints, befores: Ints) -> Laid:
    whole = laid.versions
    versions = ItemSpans(_behind(whole.starts, items + 1), _behind(whole.stops, items), whole.bounds)
    runs, run_origins = _cut(laid, np.unique(befores))
    runs = Runs(_behind(runs.starts, search(runs.bounds[:-1], befores, "left")), runs.bounds)
    notches = laid.notches
    if len(notches):
        notches = replace(notches, begins=notches.begins + GHOST * _ghosts_before_notches(laid, items, befores))
    length = laid.length + GHOST * len(items)
    return replace(laid, versions=versions, runs=runs, notches=notches, length=length, run_origins=run_origins)


def _behind(places: Floats, firsts: Ints) -> Floats:
    """Move places on by one ghost from each of some places on, given by their numbers in order."""
    counts = np.diff(np.concatenate([[0], firsts, [len(places)]]))
    moved: Floats = places + np.repeat(GHOST * np.arange(len(firsts) + 1), counts)
    return moved


def _cut(laid: Laid, befores: Ints) -> tuple[Runs, Ints | None]:
    """Cut the runs that a ghost stands in."""
    runs = laid.runs
    inner = befores[(befores > 0) & (befores < runs.bounds[-1])]
    run = runs.runs_of(inner)
    is_inside = inner > runs.bounds[run]
    inner, run = inner[is_inside], run[is_inside]
    into = inner - runs.bounds[run]
    starts = np.insert(runs.starts, run + 1, runs.starts[run] + into)
    bounds = np.insert(runs.bounds, run + 1, inner.astype(runs.bounds.dtype))
    origins = laid.run_origins
    if origins is not None:
        origins = np.insert(origins, run + 1, (origins[run] + into).astype(origins.dtype))
    return Runs(starts, bounds), origins


def _ghosts_before_notches(laid: Laid, items: Ints, befores: Ints) -> Ints:
    """Count for every mark of something hidden the ghosts that stand before it."""
    begins, versions = laid.notches.begins, laid.versions
    run = np.searchsorted(laid.runs.starts, begins, side="right") - 1
    position = np.where(run >= 0, laid.runs.bounds[run + 1], 0)
    item = np.searchsorted(versions.starts, begins + _ROUNDING, side="right") - 1
    is_inside = (item >= 0) & (begins + _ROUNDING < versions.stops[np.maximum(item, 0)])
    # Between two versions a mark stands behind all ghosts of the first.
    least = int(versions.bounds[-1]) + 1
    keys = items * (least + 1) + befores
    wanted = item * (least + 1) + np.where(is_inside, position, least)
    found: Ints = search(keys, wanted, "right")
    return found
