"""The review list of a document, worked out anew only where an edit touched it.

Cost: an edit costs the schemas and entities that it touched, and a look at the list of items.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from metl_gui.core.changes.draft import Change
from metl_gui.core.differences.changed_parts import changed_blocks, changed_parts
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matching import SameIds
from metl_gui.core.review.items import Group, ReviewItem, group_of, items_of_group, list_place, review_items
from metl_gui.core.trees.nodes import Side


@dataclass(frozen=True, eq=False)
class ReviewIndex:
    """What waits in a document.

    Args:
        document: the document.
        items: what waits, by schema name, version and entity name.
        groups: keys of the items of each schema and entity that wait for each other.
    """

    document: Document
    items: tuple[ReviewItem, ...]
    groups: Mapping[Group, tuple[BlockKey, ...]]

    @classmethod
    def of(cls, document: Document) -> ReviewIndex:
        """Work out what waits, all of it."""
        known = review_items(document)
        groups: dict[Group, list[BlockKey]] = {}
        for item in known:
            groups.setdefault(group_of(document, item.key), []).append(item.key)
        return cls(document, known, {group: tuple(keys) for group, keys in groups.items()})

    def after(self, document: Document, change: Change) -> ReviewIndex:
        """Return what waits in the next document, whose change from this one is known."""
        sources, targets = (_schemas_of(change, side) for side in Side)
        return self._again(document, self._touched(document, sources, targets, (b.key for b in change.blocks)))

    def _again(self, document: Document, touched: set[Group]) -> ReviewIndex:
        """Work those groups out again that were touched."""
        gone = {key for group in touched for key in self.groups.get(group, ())}
        items = [item for item in self.items if item.key not in gone]
        groups = dict(self.groups)
        for group in touched:
            groups.pop(group, None)
            if document.extraction.find_schema(group[0]) is None or document.cdm.find_schema(group[1]) is None:
                continue
            found = items_of_group(document, *group)
            for item in found:
                insort(items, item, key=partial(list_place, document))
            if found:
                groups[group] = tuple(item.key for item in found)
        return ReviewIndex(document, tuple(items), groups)

    def followed(self, document: Document) -> ReviewIndex:
        """Return what waits in another state of the same project, whatever lies between the two.

        Cost: what was edited since the columns that both share were made; everything, where they share none.
        """
        if not all(self.document.tree(side).base is document.tree(side).base for side in Side):
            return ReviewIndex.of(document)
        blocks = changed_blocks(self.document.matrix, document.matrix)
        if blocks is None:
            return ReviewIndex.of(document)
        parts = changed_parts(replace(self.document, matrix=document.matrix), document, SameIds(document))
        sources, targets = ({id_ for pair in parts.schemas[side] for id_ in pair if id_} for side in Side)
        return self._again(document, self._touched(document, sources, targets, blocks))

    def _touched(
        self, document: Document, sources: set[int], targets: set[int], blocks: Iterable[BlockKey]
    ) -> set[Group]:
        touched = {group for group in self.groups if group[0] in sources or group[1] in targets}
        keys, before = list(blocks), self.document
        touched |= _groups_of(document, keys)
        if before.extraction is not document.extraction or before.cdm is not document.cdm:
            touched |= _groups_of(before, keys)
        return touched


def _groups_of(document: Document, keys: list[BlockKey]) -> set[Group]:
    """Return the groups of the blocks whose ends are there; each version is looked up once."""
    schemas, entities = (
        {id_: tree.schema_of(id_) for id_ in {key[end] for key in keys} if tree.has_version(id_)}
        for end, tree in enumerate((document.extraction, document.cdm))
    )
    return {(schemas[v], entities[w]) for v, w in keys if v in schemas and w in entities}


def _schemas_of(change: Change, side: Side) -> set[int]:
    """Return the schemas or entities of one side that a change touched, by their own or by a version."""
    nodes = (node for each in change.versions if each.side is side for node in (each.before, each.after))
    return {node.schema_id for node in nodes if node is not None} | {e.id for e in change.schemas if e.side is side}
