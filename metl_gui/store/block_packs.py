"""What is known of the blocks of one schema and entity version as one blob: a row of fixed size for each version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, Status, Verdict
from metl_gui.store.interning import Interned

RECORD = np.dtype(
    [
        ("version", "<i4"),
        ("came_version", "<i4"),
        ("came_entity_version", "<i4"),
        ("who", "<i4"),
        ("when_ms", "<i8"),
        ("status", "u1"),
        ("verdict", "u1"),
        ("flags", "<u2"),
    ]
)
"""One block; the entity version stands in its row, ``who`` is the number of a person, 0 in ``came_*`` means none."""

UNCONFIRMED = 1
"""The flag of a block that needs review and whose elements nobody has confirmed."""

STATUSES = (Status.UNCONFIRMED, Status.CONFIRMED, Status.NEEDS_REVIEW, Status.RETIRED)
VERDICTS = (Verdict.SAME, Verdict.SMALLER, Verdict.EMPTIED, Verdict.FIRST)
"""What the codes in a file mean; their order never changes, new ones are added at the end."""

_STATUS_CODE = {status: code for code, status in enumerate(STATUSES)}
_VERDICT_CODE = {verdict: code for code, verdict in enumerate(VERDICTS)}


def pack_blocks(blocks: Iterable[Block], interned: Interned) -> bytes:
    """Write the blocks of one group, by version id."""
    rows = []
    for block in sorted(blocks, key=lambda block: block.version):
        came_version, came_entity_version = block.came_from or (0, 0)
        codes = _STATUS_CODE[block.status], _VERDICT_CODE[block.verdict], UNCONFIRMED * block.unconfirmed
        who = interned.person(block.who)
        rows.append((block.version, came_version, came_entity_version, who, block.when_ms, *codes))
    return np.array(rows, RECORD).tobytes()


def unpack_blocks(packs: bytes) -> NDArray[Any]:
    """Read the joined blobs of many groups.

    Shape: one ``RECORD`` for each block.

    Raises:
        ValueError: half a record, or a code that means nothing.
    """
    found = np.frombuffer(packs, RECORD)
    if len(found) and (int(found["status"].max()) >= len(STATUSES) or int(found["verdict"].max()) >= len(VERDICTS)):
        raise ValueError("a status or verdict of a block that means nothing")
    return found
