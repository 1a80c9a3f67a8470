"""What a gesture would do, worked out while it goes on: the cells of a run, and what is taken already.

All positions are attribute positions along the axes. Cost: the elements of one block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.hits import block_ranges

Spot = tuple[int, int]
"""(column position, row position)."""


@dataclass(frozen=True)
class Trial:
    """What is shown of a gesture that goes on.

    Args:
        wanted: cells that would be set.
        refused: cells of the gesture whose column or row is taken.
        takers: the elements that take them.
        box: a rectangle being selected: first column, first row, last column, last row, ends included.
        over: the row or column that a dragged field is above: its side and position.
        taken: the rows or columns of that side that are taken in the field's block.
        across: how far that block reaches on the field's own side.
    """

    wanted: tuple[Spot, ...] = ()
    refused: tuple[Spot, ...] = ()
    takers: tuple[Spot, ...] = ()
    box: tuple[int, int, int, int] | None = None
    over: tuple[Side, int] | None = None
    taken: tuple[int, ...] = ()
    across: range = range(0)


def run(content: Content, start: Spot, end: Spot) -> Trial:
    """Work out a run: from a cell, one cell a step on both axes, within its block.

    Cells that are 1 already are passed over; those whose column or row another element takes are refused.
    """
    columns, rows = block_ranges(content, *start)
    step_x, step_y = (1 if end[0] >= start[0] else -1), (1 if end[1] >= start[1] else -1)
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1])) + 1
    room_x = columns.stop - start[0] if step_x > 0 else start[0] - columns.start + 1
    room_y = rows.stop - start[1] if step_y > 0 else start[1] - rows.start + 1
    cells = [(start[0] + i * step_x, start[1] + i * step_y) for i in range(min(length, room_x, room_y))]
    return proposal(cells, _elements(content, columns, rows))


def proposal(cells: Iterable[Spot], elements: Iterable[Spot]) -> Trial:
    """Sort cells of one block into those that can be set and those whose column or row is taken."""
    by_column: dict[int, Spot] = {}
    by_row: dict[int, Spot] = {}
    for spot in elements:
        by_column[spot[0]] = spot
        by_row[spot[1]] = spot
    wanted: list[Spot] = []
    refused: list[Spot] = []
    takers: dict[Spot, bool] = {}
    for spot in cells:
        taken = [found for found in (by_column.get(spot[0]), by_row.get(spot[1])) if found is not None]
        if spot in taken:
            continue
        if taken:
            refused.append(spot)
            takers.update(dict.fromkeys(taken, True))
        else:
            wanted.append(spot)
            by_column[spot[0]] = by_row[spot[1]] = spot
    return Trial(tuple(wanted), tuple(refused), tuple(takers))


def takers_of(content: Content, spot: Spot) -> tuple[Spot, ...]:
    """Return the elements of a cell's block that take its column or its row; none when the cell itself is 1."""
    columns, rows = block_ranges(content, *spot)
    elements = [
        *_elements(content, range(spot[0], spot[0] + 1), rows),
        *_elements(content, columns, range(spot[1], spot[1] + 1)),
    ]
    return () if spot in elements else tuple(elements)


def rectangle(content: Content, box: tuple[float, float, float, float], levels: tuple[Level, Level]) -> Trial | None:
    """Work out a rectangle: every item of the drawn levels that a box of the plane (in units) touches."""
    found = []
    for side, low, high, level in (
        (Side.EXTRACTION, box[0], box[2], levels[0]),
        (Side.CDM, box[1], box[3], levels[1]),
    ):
        spans = axis_of(content, side).spans(level)
        items = spans.within(min(low, high), max(low, high))
        if not items:
            return None
        found.append((spans.first(items[0]), spans.last(items[-1]) - 1))
    (left, right), (top, bottom) = found
    return Trial(box=(left, top, right, bottom))


def _elements(content: Content, columns: range, rows: range) -> list[Spot]:
    return [(column, row) for column, row, _ in content.elements_within(columns, rows)]
