"""Which schemas feed an entity: what a person wants to know before confirming a loss.

Cost: the blocks of the entity version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from metl_gui.core.blocks import Block
from metl_gui.core.document import Document

MOST_BLOCKS = 1_000
"""An entity version with more blocks is not counted; reading them would keep somebody waiting."""


def newest_blocks(document: Document, entity_version: int) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of the newest schema versions with an entity version, each with the id of its schema.

    They are its sources: once a version is live, older ones send nothing more.
    """
    for key in document.matrix.row_keys(entity_version):
        schema = document.extraction.schema(document.extraction.schema_of(key[0]))
        block = document.matrix.block(*key) if schema.version_ids[-1] == key[0] else None
        if block is not None:
            yield schema.id, block


def other_feeders(document: Document, block: Block) -> dict[int, int] | None:
    """Count the schemas other than the block's own that feed each CDM attribute of its entity version, in any version.

    Cost: the blocks of the entity version, up to a limit.

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
