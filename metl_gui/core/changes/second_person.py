"""The rule that a second person confirms: what somebody set is unconfirmed until somebody else has looked at it.

While a block is open (unconfirmed, or under review with answers), its ``who`` names everybody whose work it holds, so
that none of them can be the one who confirms it. Carrying a block along to another version is nobody's work.
Removing elements with their whole block, and retiring a block, need nobody: production only ever loses by them what
publishing shows as lost.

Cost: of finding all unconfirmed blocks (``unconfirmed_keys``), a pass over one column and what was edited since; no
object is made for the others. Source: docs/guide/teams.md, "A second person".
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.matrix.matrix import STATUSES, Dpm

_OPEN = (Status.UNCONFIRMED, Status.NEEDS_REVIEW)
JOINT = ", "
"""What stands between the names in ``who``."""


def is_own_confirmation(before: Block | None, after: Block, who: str) -> bool:
    """Whether somebody would confirm a block that holds their own work."""
    is_confirmed = before is not None and before.status is Status.UNCONFIRMED and after.status is Status.CONFIRMED
    return before is not None and is_confirmed and _says_same(before, after) and is_author(before, who)


def is_author(block: Block, who: str) -> bool:
    """Whether an open block holds work of a person."""
    return block.status in _OPEN and f"{JOINT}{who}{JOINT}" in f"{JOINT}{block.who}{JOINT}"


def awaiting_second(before: Block | None, after: Block, source: Block | None, who: str) -> Block:
    """Return what a block becomes where a second person must confirm.

    Args:
        before: the block before the edit.
        after: what the edit made of it.
        source: the block it came from, where it was carried along to another version.
        who: the person who edits.
    """
    if before is None and source is not None and not after.who:
        return _carried(after, source, who)
    if before is not None and _says_same(before, after):
        is_still_open = before.status is after.status and after.status in _OPEN
        if not is_still_open:
            return after
        return replace(after, who=before.who, when_ms=before.when_ms, unconfirmed=before.unconfirmed)
    if after.status is Status.RETIRED:
        return after
    if after.status is Status.NEEDS_REVIEW and before is not None and before.status not in _OPEN:
        return replace(after, who="")  # it lost something under somebody's hands; nobody has answered yet
    origin = before or source
    authors = origin.who if origin is not None and origin.status in _OPEN else ""
    status = Status.UNCONFIRMED if after.status is Status.CONFIRMED else after.status
    # Under review as well: what somebody set meanwhile is not to be mapped with before another person has seen it.
    is_set = before is not None and (before.is_unconfirmed or before.elements != after.elements)
    unconfirmed = status is Status.NEEDS_REVIEW and (after.unconfirmed or is_set)
    return replace(after, status=status, who=joined(authors, who), unconfirmed=unconfirmed)


def _carried(after: Block, source: Block, who: str) -> Block:
    if source.status not in _OPEN:
        return after
    if after.status is not Status.CONFIRMED:
        return replace(after, who=source.who)
    # The same edit settled the source, as several edits made as one can, and then carried it along.
    return replace(after, status=Status.UNCONFIRMED, who=joined(source.who, who))


def _says_same(before: Block, after: Block) -> bool:
    parts = ((block.elements, block.losses, block.waits, block.retired) for block in (before, after))
    return next(parts) == next(parts)


def joined(authors: str, who: str) -> str:
    """Add a person to those whose work a block holds."""
    if f"{JOINT}{who}{JOINT}" in f"{JOINT}{authors}{JOINT}":
        return authors
    return f"{authors}{JOINT}{who}" if authors else who


_CODE = STATUSES.index(Status.UNCONFIRMED)


def unconfirmed_keys(matrix: Dpm) -> list[BlockKey]:
    """Return the keys of the unconfirmed blocks, sorted."""
    base = matrix.base
    rows = np.flatnonzero(base.status == _CODE)
    found = set(zip(base.version[rows].tolist(), base.entity_version[rows].tolist(), strict=True))
    for key, block in matrix.edited():
        if block is not None and block.status is Status.UNCONFIRMED:
            found.add(key)
        else:
            found.discard(key)
    return sorted(found)
