"""What is said of ghosts and lost elements: in tooltips, and to screen readers when the cursor passes one."""

from __future__ import annotations

from html import escape

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.content import Content, axis_of
from metl_gui.ui.matrix.ghost_lines import LostHere
from metl_gui.ui.matrix.hits import position_of
from metl_gui.ui.selection import Selected


def loss_tip(lost: LostHere | None) -> str:
    """Return the tooltip of a ghost, nothing where there is none."""
    if lost is None:
        return ""
    loss = lost[1]
    ends = f"<s>{escape(loss.from_path)}</s> → {escape(loss.to_path)} waits for a decision"
    return f"<p style='white-space:pre-wrap'>{ends}<br>{escape(loss.reason)}<br>Click to decide</p>"


def passed_words(content: Content, before: Selected, after: Selected) -> str:
    """Say which removed attributes the cursor passed on its way from one cell to another."""
    reasons: dict[str, None] = {}
    for side in Side:
        axis = axis_of(content, side)
        here, there = position_of(axis, before.on(side)), position_of(axis, after.on(side))
        if here is not None and there is not None:
            for line in axis.ghosts.between(here, there):
                reasons.update(dict.fromkeys(loss.reason for _, loss in line.losses))
    return f"passed: {', '.join(reasons)}, waits for a decision" if reasons else ""


def lost_words(content: Content, selected: Selected) -> str:
    """Say what the block of a tile lost and waits for."""
    if selected.block is None or selected.element is not None:
        return ""
    losses = content.lost.get(selected.block, ())
    return f"lost: {', '.join(f'{loss.from_path} to {loss.to_path}' for loss in losses)}" if losses else ""
