"""Where an entry of the legend leads: to the next thing on the plane that has its sign.

Cost: a pass over the blocks of the plane where they are asked for by what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.axis import Level
from metl_gui.ui.matrix.block_index import UNCONFIRMED
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.hits import item_of, node_of
from metl_gui.ui.matrix.look import Sign
from metl_gui.ui.matrix.nodes import NOWHERE
from metl_gui.ui.selection import Selected

if TYPE_CHECKING:
    from metl_gui.ui.matrix.panes import Sight

LEADING = frozenset(
    {
        Sign.REVIEW,
        Sign.LOST,
        Sign.REMOVED,
        Sign.CONFLICT,
        Sign.UNCONFIRMED,
        Sign.DIFFERS,
        Sign.SUGGESTED,
        Sign.CAME,
        Sign.WENT,
    }
)
"""The signs of what is rare enough to be looked for one by one."""

_Spots = npt.NDArray[np.int64]
_NO_SPOTS = np.zeros((2, 0), np.int64)


def next_thing(sight: Sight, *signs: Sign) -> Selected | None:
    """Return the next thing behind the selection, by columns, then by rows; behind the last the first.

    Args:
        sight: what is shown.
        signs: any of them will do; all stand on items of one level.
    """
    content = sight.content
    if content is None:
        return None
    found_by_sign = [_spots(sight, content, sign) for sign in signs]
    level, spots = found_by_sign[0][0], np.concatenate([spots for _, spots in found_by_sign], axis=1)
    if not spots.shape[1]:
        return None
    spots = spots[:, np.lexsort((spots[1], spots[0]))]
    here = [item_of(axis_of(content, side), level, sight.selected.on(side)) for side in (Side.EXTRACTION, Side.CDM)]
    x, y = (-1 if at is None else at for at in here)
    behind = np.flatnonzero((spots[0] > x) | ((spots[0] == x) & (spots[1] > y)))
    found = spots[:, behind[0] if len(behind) else 0].tolist()
    return Selected(node_of(content.columns, level, found[0]), node_of(content.rows, level, found[1]))


def _spots(sight: Sight, content: Content, sign: Sign) -> tuple[Level, _Spots]:
    """Return what has a sign, as pairs of items of a level.

    Shape: (2, things).
    """
    marks = sight.marks
    if sign in (Sign.CAME, Sign.WENT) and marks is not None:
        chosen = marks.is_added == (sign is Sign.CAME)
        return Level.ATTRIBUTE, np.stack([marks.column[chosen], marks.row[chosen]]).astype(np.int64)
    if sign is Sign.SUGGESTED:
        pairs = (
            (content.columns.position_of(g.key[0], g.element.p), content.rows.position_of(g.key[1], g.element.q))
            for g in sight.ghosts
        )
        return Level.ATTRIBUTE, _pairs([(x, y) for x, y in pairs if x is not None and y is not None])
    if sign in (Sign.LOST, Sign.REMOVED, Sign.CONFLICT):
        keys = content.lost if sign is not Sign.CONFLICT else _in_conflict(content)
        ids = np.array(list(keys), np.int64).reshape(-1, 2)
        at = np.stack([content.columns.version_items(ids[:, 0]), content.rows.version_items(ids[:, 1])])
        return Level.VERSION, at[:, (at != NOWHERE).all(axis=0)].astype(np.int64)
    whole = range(len(content.columns.version_spans)), range(len(content.rows.version_spans))
    if sign is Sign.REVIEW:
        return Level.VERSION, np.stack(content.waiting_within(*whole)).astype(np.int64)
    if sign in (Sign.UNCONFIRMED, Sign.DIFFERS):
        blocks = content.blocks_within(*whole)
        is_meant = (
            (blocks.status == UNCONFIRMED) & (blocks.elements > 0) if sign is Sign.UNCONFIRMED else blocks.flagged > 0
        )
        return Level.VERSION, np.stack([blocks.x[is_meant], blocks.y[is_meant]]).astype(np.int64)
    return Level.VERSION, _NO_SPOTS


def _in_conflict(content: Content) -> list[BlockKey]:
    return [key for key in content.lost if any(cell.rivals for cell in content.lost_cells(key))]


def _pairs(found: list[tuple[int, int]]) -> _Spots:
    return np.array(found, np.int64).reshape(-1, 2).T
