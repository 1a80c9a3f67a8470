"""Which schemas feed an entity, and which required CDM attributes nothing feeds any more because of what waits.

The first is what a person wants to know before confirming a loss; the second makes one decision pressing. A CDM
attribute has a source while the newest version of some schema feeds it (see ``review.dry_run``).

Cost: of the first, the blocks of the entity version; of the second, each block of an entity version is looked at once
at most, and only until somebody is found who feeds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem

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


class LastSources:
    """Answers for the items of one document; what was read for one is known for the next.

    Args:
        document: the document.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, _Feeding] = {}

    def lost_by(self, item: ReviewItem) -> tuple[str, ...]:
        """Return the paths of the required attributes that lost their last source by what an item asks about.

        They are those of the newest version of the entity; none where so many blocks feed it that looking takes long.
        """
        if not item.losses:
            return ()
        cdm = self._document.cdm
        newest = cdm.version(cdm.schema(cdm.schema_of(item.key[1])).version_ids[-1])
        found = {loss.q_lineage: newest.of_lineage(loss.q_lineage) for loss in item.losses}
        required = [attribute for attribute in found.values() if attribute is not None and not attribute.optional]
        if not required:
            return ()
        if newest.id not in self._known:
            self._known[newest.id] = _Feeding(self._document, newest.id)
        feeding = self._known[newest.id]
        return tuple(a.path for a in required if not feeding.feeds(a.id))


class _Feeding:
    """What is fed in one entity version, read block by block as far as somebody asks."""

    def __init__(self, document: Document, entity_version: int) -> None:
        self._fed: set[int] = set()
        self._more = newest_blocks(document, entity_version)
        self._is_huge = len(document.matrix.row_keys(entity_version)) > MOST_BLOCKS

    def feeds(self, q: int) -> bool:
        """Whether an attribute is fed, or nobody looks because there is too much to look at."""
        while not self._is_huge and q not in self._fed:
            found = next(self._more, None)
            if found is None:
                return False
            self._fed.update(element.q for element in found[1].elements)
        return True
