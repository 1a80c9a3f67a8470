"""What a block holds on each side of a merge, in terms that hold for all of them.

An element is named by the attribute of the result that it comes from and by the lineage that it goes to, so that blocks
against different versions of an entity compare. A version that a side does not have yet is taken as the automated
update would fill it there, from the nearest version below that all sides have: so what one side maps meets the new
versions of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from metl_gui.core.blocks import Block
from metl_gui.core.document import Document
from metl_gui.core.draft import Draft
from metl_gui.core.merge.merged_nodes import MergedNodes
from metl_gui.core.merge.sides import Trio
from metl_gui.core.nodes import Side, Version

End: TypeAlias = int | str
"""Id of an attribute (source) or of a lineage (target) of the result; a path where the result has none."""
Ends: TypeAlias = tuple[End, End]
Pair: TypeAlias = tuple[str, str]
"""Paths of source and target."""


@dataclass(slots=True)
class Content:
    """What a side has in one block.

    Args:
        elements: by their ends, with their paths.
        block: its block, ``None`` where it has none, or does not have the version.
        cut: elements that do not reach this version because their source ends before it.
        is_own: whether the side has the schema version, so that having no block says something.
    """

    elements: Mapping[Ends, Pair] = field(default_factory=dict)
    block: Block | None = None
    cut: Mapping[Ends, Pair] = field(default_factory=dict)
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads blocks of the three sides by versions of the result."""

    draft: Draft
    documents: Trio[Document]
    columns: MergedNodes
    rows: MergedNodes

    def trio(self, version: Version, entity_version: Version, is_parallel: bool) -> Trio[Content]:
        """Return what each side has between two versions of the result."""
        has = [places.has(version.id) for places in self.columns.places]
        sides = [self._content(side, version, entity_version, is_parallel) for side in range(3)]
        if has[0]:
            # A side that removed the version says nothing of its elements: the other one changed them, and it stays.
            base = sides[0]
            return Trio(base, *(sides[at] if has[at] else Content(base.elements, is_own=False) for at in (1, 2)))
        below = self._below(version)
        carried = [self._carried(side, below, version, entity_version, is_parallel) for side in range(3)]
        return Trio(carried[0], *(sides[at] if has[at] else carried[at] for at in (1, 2)))

    def _content(self, side: int, version: Version, entity_version: Version, is_parallel: bool) -> Content:
        own = self.columns.places[side].version(version.id)
        if own is None:
            return Content()
        document, rows = self.documents[side], self.rows.places[side]
        if is_parallel:
            exact = rows.version(entity_version.id)
            ids: tuple[int, ...] = (exact.id,) if exact is not None else ()
        else:
            entity = rows.schema(entity_version.schema_id)
            ids = document.cdm.schema(entity).version_ids[::-1] if entity is not None else ()
        blocks = (document.matrix.block(own.id, id_) for id_ in ids)
        block = next((block for block in blocks if block is not None), None)
        return Content() if block is None else Content(self._elements(side, block, version), block)

    def _elements(self, side: int, block: Block, version: Version) -> dict[Ends, Pair]:
        document, rows = self.documents[side], self.rows.places[side]
        sources = {a.id: a for a in document.extraction.version(block.version).attributes}
        targets = {a.id: a for a in document.cdm.version(block.entity_version).attributes}
        here = {a.path: a.id for a in version.attributes}
        found: dict[Ends, Pair] = {}
        for q, p in block.elements:
            source, target = sources[p].path, targets[q].path
            lineage = rows.lineage(q, targets[q].lineage)
            found[here.get(source, source), lineage if lineage is not None else target] = source, target
        return found

    def _below(self, version: Version) -> Version | None:
        """Return the nearest version below that all sides have."""
        tree = self.draft.tree(Side.EXTRACTION)
        ids = tree.schema(version.schema_id).version_ids
        below = reversed(ids[: ids.index(version.id)])
        found = next((id_ for id_ in below if all(places.has(id_) for places in self.columns.places)), None)
        return None if found is None else tree.version(found)

    def _carried(
        self, side: int, below: Version | None, version: Version, entity_version: Version, is_parallel: bool
    ) -> Content:
        if below is None:
            return Content(is_own=False)
        content = self._content(side, below, entity_version, is_parallel)
        lineages = {a.id: a.lineage for a in below.attributes}
        here = {a.lineage: a for a in version.attributes}
        found: dict[Ends, Pair] = {}
        cut: dict[Ends, Pair] = {}
        for (source, target), paths in content.elements.items():
            attribute = here.get(lineages[source]) if isinstance(source, int) else None
            if attribute is None:
                cut[source, target] = paths
            else:
                found[attribute.id, target] = attribute.path, paths[1]
        return Content(found, None, cut, is_own=False)
