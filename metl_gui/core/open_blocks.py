"""The blocks that nobody has confirmed, counted and found without an object for the others.

Cost: a pass over one column, and what was edited since.
"""

from __future__ import annotations

import numpy as np

from metl_gui.core.blocks import BlockKey, Status
from metl_gui.core.matrix import STATUSES, Dpm

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
