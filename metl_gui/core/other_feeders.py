"""How many other schemas feed what a block has lost: what a person wants to know before confirming a loss.

Cost: the blocks of the entity version, up to a limit.
"""

from __future__ import annotations

from collections import defaultdict

from metl_gui.core.blocks import Block
from metl_gui.core.document import Document

MOST_BLOCKS = 1_000
"""An entity version with more blocks is not counted; reading them would keep somebody waiting."""


def other_feeders(document: Document, block: Block) -> dict[int, int] | None:
    """Count the schemas other than the block's own that feed each CDM attribute of its entity version, in any version.

    Returns:
        Counts by attribute id; ``None`` when there are too many blocks to look at.
    """
    keys = document.matrix.row_keys(block.entity_version)
    if len(keys) > MOST_BLOCKS:
        return None
    own = document.extraction.schema_of(block.version)
    schemas: dict[int, set[int]] = defaultdict(set)
    for key in keys:
        schema_id = document.extraction.schema_of(key[0])
        found = document.matrix.block(*key) if schema_id != own else None
        for element in found.elements if found is not None else ():
            schemas[element.q].add(schema_id)
    return {q: len(ids) for q, ids in schemas.items()}
