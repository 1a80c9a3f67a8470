"""Which blocks differ between two states of one project: read off what was edited since their common columns."""

from __future__ import annotations

from metl_gui.core.blocks import BlockKey
from metl_gui.core.matrix import Dpm

_MOST = 50_000


def changed_blocks(before: Dpm, after: Dpm) -> tuple[BlockKey, ...] | None:
    """Return the keys of the blocks in which two states differ, sorted.

    Cost: what was edited since the columns that both states share were made.

    Returns:
        ``None`` when they share none, or so much was edited that reading everything anew costs less.
    """
    if before.base is not after.base or before.edited_count + after.edited_count > _MOST:
        return None
    old, new = dict(before.edited()), dict(after.edited())
    asked = {key for key, block in old.items() if key not in new or new[key] is not block} | (new.keys() - old.keys())
    return tuple(sorted(key for key in asked if before.block(*key) != after.block(*key)))
