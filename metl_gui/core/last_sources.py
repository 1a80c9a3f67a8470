"""Which required CDM attributes nothing feeds any more because of what waits: what makes one decision pressing.

A CDM attribute has a source while the newest version of some schema feeds it (see ``core.dry_run``).
Cost: each block of an entity version is looked at once at most, and only until somebody is found who feeds it.
"""

from __future__ import annotations

from metl_gui.core.document import Document
from metl_gui.core.other_feeders import MOST_BLOCKS, newest_blocks
from metl_gui.core.review import ReviewItem


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
