"""Ghosts: elements that are only suggested. The overlay paints each as a ring; nothing counts or maps them."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.matrix.blocks import BlockKey, Element


@dataclass(frozen=True, slots=True)
class Ghost:
    """A suggested element of one block.

    Args:
        key: (v, w).
        element: the element that would be set.
        score: 0 to 1.
        reason: why it is suggested, in words.
        is_current: the candidate that Enter accepts, painted stronger.
    """

    key: BlockKey
    element: Element
    score: float
    reason: str
    is_current: bool = False
