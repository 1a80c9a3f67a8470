"""Questions to the matrix: what feeds this, what does this feed, how did it change from version to version.

Cost: reverse search costs the row sets of the entity, forward search the column sets of the schema.
Source: docs/glossary.md (column set, row set, version super-block).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Version
from metl_gui.values import Value


class LineageMatch(Value):
    """An element that answers a search, with its block."""

    block: Block
    element: Element


class BlockChangeKind(StrEnum):
    """How a block differs from the same block one version earlier."""

    FIRST = "first"
    SAME = "same"
    SMALLER = "smaller"
    LARGER = "larger"
    OTHER = "other"
    EMPTIED = "emptied"


class SuperBlockPart(Value):
    """One block of a version super-block."""

    key: BlockKey
    elements: int
    change: BlockChangeKind


def reverse_search(document: Document, entity_id: int, path: str | None = None) -> tuple[LineageMatch, ...]:
    """Find everything that feeds an entity or one of its attributes, in every version of every schema."""
    return tuple(feeding(document, entity_id, path))


def feeding(document: Document, entity_id: int, path: str | None = None) -> Iterator[LineageMatch]:
    """Yield what ``reverse_search`` finds, block by block."""
    for version in document.cdm.versions(entity_id):
        wanted = _ids(version, path)
        for key in _by_order(document, document.matrix.row_keys(version.id)):
            block = document.matrix.block(*key)
            if block is not None:
                yield from (LineageMatch(block, e) for e in block.elements if e.q in wanted)


def forward_search(document: Document, schema_id: int, path: str | None = None) -> tuple[LineageMatch, ...]:
    """Find everything that a schema or one of its attributes feeds."""
    return tuple(fed(document, schema_id, path))


def fed(document: Document, schema_id: int, path: str | None = None) -> Iterator[LineageMatch]:
    """Yield what ``forward_search`` finds, block by block."""
    for version in document.extraction.versions(schema_id):
        wanted = _ids(version, path)
        for block in document.matrix.column_set(version.id):
            yield from (LineageMatch(block, e) for e in block.elements if e.p in wanted)


def version_progress(document: Document, schema_id: int) -> tuple[SuperBlockPart, ...]:
    """Return how the mapping of a schema changed from version to version, entity by entity.

    Two blocks are compared by lineages on both sides; an entity counts from the first version that feeds it.
    """
    versions = document.extraction.versions(schema_id)
    entity_versions = sorted({w for version in versions for _, w in document.matrix.column_keys(version.id)})
    found: list[SuperBlockPart] = []
    for w in entity_versions:
        last: frozenset[tuple[int, int]] | None = None
        for version in versions:
            block = document.matrix.block(version.id, w)
            content = _content(version, block)
            if last is None and not content:
                continue
            found.append(SuperBlockPart((version.id, w), len(content), step_between(last, content)))
            last = content
    return tuple(found)


def step_between(last: frozenset[tuple[int, int]] | None, content: frozenset[tuple[int, int]]) -> BlockChangeKind:
    """Return how pairs of lineages changed from one version (``None`` for none that counts) to the next."""
    if last is None:
        return BlockChangeKind.FIRST
    if last == content:
        return BlockChangeKind.SAME
    if not content:
        return BlockChangeKind.EMPTIED
    if content < last:
        return BlockChangeKind.SMALLER
    return BlockChangeKind.LARGER if content > last else BlockChangeKind.OTHER


def _content(version: Version, block: Block | None) -> frozenset[tuple[int, int]]:
    if block is None:
        return frozenset()
    lineages = {a.id: a.lineage for a in version.attributes}
    return frozenset((q, lineages[p]) for q, p in block.elements)


def _ids(version: Version, path: str | None) -> set[int]:
    return {a.id for a in version.attributes if path is None or a.path == path}


def _by_order(document: Document, keys: Iterable[BlockKey]) -> list[BlockKey]:
    def order(key: BlockKey) -> tuple[str, int]:
        schema = document.extraction.schema(document.extraction.schema_of(key[0]))
        return schema.name, schema.version_ids.index(key[0])

    return sorted(keys, key=order)
