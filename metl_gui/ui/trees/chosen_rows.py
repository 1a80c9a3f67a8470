"""Which rows of a tree are chosen, as ranges: a single row is never asked for by Qt, however many there are."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex

from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.trees.model import TreeModel

MOST_PLACES = 10_000
"""So many nodes are taken from a choice; more are never mapped in one gesture."""


def chosen_places(model: TreeModel, selection: QItemSelectionModel) -> tuple[NodeRef, ...]:
    """Return the nodes of the chosen rows, from top to bottom, groups left out."""
    chosen = selection.selection()
    ranges = [chosen.at(at) for at in range(chosen.count())]
    found: list[NodeRef] = []
    for part in sorted(ranges, key=lambda r: _way(model.index(r.top(), 0, r.parent()))):
        for row in range(part.top(), part.bottom() + 1):
            place = model.place(model.index(row, 0, part.parent()))
            if place is not None:
                found.append(place)
            if len(found) == MOST_PLACES:
                return tuple(found)
    return tuple(found)


class ChosenNodes:
    """The internal ids of the chosen rows, gathered when they are first asked for after a change.

    Qt's own way to ask whether a row is chosen goes through all ranges of the choice for each row that is painted.
    """

    def __init__(self, model: TreeModel, selection: QItemSelectionModel) -> None:
        self._model, self._selection = model, selection
        self._nodes: set[int] | None = None
        selection.selectionChanged.connect(self._forget)
        for moved in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            moved.connect(self._forget)

    def __contains__(self, node: int) -> bool:
        if self._nodes is None:
            chosen = self._selection.selection()
            parts = [chosen.at(at) for at in range(chosen.count())]
            self._nodes = {id_ for r in parts for id_ in self._model.nodes(r.parent(), r.top(), r.bottom())}
        return node in self._nodes

    def _forget(self, *_what: object) -> None:
        self._nodes = None


def rows_of(model: TreeModel, places: Iterable[NodeRef]) -> QItemSelection:
    """Return the rows of nodes as few ranges; what the filter hides has none."""
    rows: dict[QModelIndex, list[int]] = {}
    for place in places:
        index = model.index_of(place)
        if index.isValid() and model.place(index) == place:
            rows.setdefault(index.parent(), []).append(index.row())
    chosen = QItemSelection()
    for parent, found in rows.items():
        for low, high in _runs(sorted(found)):
            chosen.select(model.index(low, 0, parent), model.index(high, 0, parent))
    return chosen


def siblings_of(model: TreeModel, index: QModelIndex) -> QItemSelection:
    """Return the rows beside a row that are of its kind: all attributes of a version, all versions of a schema.

    Order: below one parent at most two kinds stand, each in one run, so the border is found by bisection.
    """
    parent, kind = index.parent(), _kind(model, index.row(), index.parent())
    low, high = index.row(), index.row()
    first, last = 0, model.rowCount(parent) - 1
    while first < low:
        middle = (first + low) // 2
        first, low = (first, middle) if _kind(model, middle, parent) == kind else (middle + 1, low)
    while high < last:
        middle = (high + last + 1) // 2
        high, last = (middle, last) if _kind(model, middle, parent) == kind else (high, middle - 1)
    return QItemSelection(model.index(low, 0, parent), model.index(high, 0, parent))


def _kind(model: TreeModel, row: int, parent: QModelIndex) -> tuple[bool, bool, bool]:
    place = model.place(model.index(row, 0, parent))
    if place is None:
        return False, False, False
    return True, place.version is not None, place.attribute is not None


def _way(index: QModelIndex) -> tuple[int, ...]:
    way: list[int] = []
    while index.isValid():
        way.append(index.row())
        index = index.parent()
    return tuple(reversed(way))


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and row <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
