"""Where lost elements stand on the plane: between a ghost and an attribute, two ghosts, or two attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.ui.matrix.axis import Axis

Stretch: TypeAlias = tuple[float, float]
"""Where something begins and ends on an axis, in units."""


@dataclass(frozen=True)
class LostCell:
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
