"""The version super-block V(o,r,w): the blocks of all versions of a schema against one entity version, side by side.

Rows and columns are lineages, so that what is the same attribute stands at the same place in every version; only those
that are mapped in some version are there.
Cost: what the versions of the schema hold; a lineage that is new in a later version moves those behind it.
Source: docs/glossary.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import BlockChangeKind, step_between
from metl_gui.core.trees.nodes import Version
from metl_gui.values import Value

Pair: TypeAlias = tuple[int, int]
"""(lineage of the CDM attribute, lineage of the extraction attribute)."""


class ElementChangeKind(StrEnum):
    """What became of an element from one version to the next."""

    KEPT = "carried over"
    ADDED = "added here"
    LOST = "lost here"


class SuperCell(Value):
    """One element of a small multiple.

    Args:
        row, column: its place among the lineages of the super-block.
        fate: what became of it.
        words: both paths.
    """

    row: int
    column: int
    fate: ElementChangeKind
    words: str


class SuperPart(Value):
    """One version of a super-block.

    Args:
        key: the block.
        label: of the schema version.
        step: how it differs from the version before; ``None`` before the first mapped version.
        cells: its elements and those that it lost.
        status: of the block, ``None`` for a block of zeros of which nothing is known.
    """

    key: BlockKey
    label: str
    step: BlockChangeKind | None
    cells: tuple[SuperCell, ...]
    status: Status | None

    @property
    def element_count(self) -> int:
        """How many elements it has."""
        return sum(1 for cell in self.cells if cell.fate is not ElementChangeKind.LOST)


class SuperBlock(Value):
    """All versions of one schema against one entity version.

    Args:
        rows, columns: how many lineages there are on either side.
        parts: one for each version, oldest first.
    """

    rows: int
    columns: int
    parts: tuple[SuperPart, ...]


def super_block(document: Document, schema_id: int, entity_version_id: int) -> SuperBlock:
    """Read a version super-block."""
    versions = document.extraction.versions(schema_id)
    target = document.cdm.version(entity_version_id)
    blocks = [document.matrix.block(version.id, target.id) for version in versions]
    contents = [_paths(version, target, block) for version, block in zip(versions, blocks, strict=True)]
    mapped = {pair for content in contents for pair in content}
    places = (_places([target], {q for q, _ in mapped}), _places(versions, {p for _, p in mapped}))
    parts: list[SuperPart] = []
    last: dict[Pair, str] | None = None
    for version, block, content in zip(versions, blocks, contents, strict=True):
        before = None if last is None else frozenset(last)
        step = None if before is None and not content else step_between(before, frozenset(content))
        cells = _cells(last, content, places)
        status = block.status if block is not None else None
        parts.append(SuperPart((version.id, target.id), version.label, step, cells, status))
        last = content if step is not None else None
    return SuperBlock(len(places[0]), len(places[1]), tuple(parts))


def _paths(version: Version, target: Version, block: Block | None) -> dict[Pair, str]:
    if block is None:
        return {}
    columns, rows = {a.id: a for a in version.attributes}, {a.id: a for a in target.attributes}
    return {
        (rows[q].lineage, columns[p].lineage): f"{columns[p].path} → {rows[q].path}"
        for q, p in block.elements
        if q in rows and p in columns
    }


def _places(versions: Sequence[Version], wanted: set[int]) -> dict[int, int]:
    """Number the wanted lineages in the order of the versions; a new one stands behind the one it follows."""
    order: list[int] = []
    place: dict[int, int] = {}
    for version in versions:
        at = 0
        for lineage in (a.lineage for a in version.attributes if a.lineage in wanted):
            if lineage not in place:
                order.insert(at, lineage)
                place.update((moved, number) for number, moved in enumerate(order[at:], at))
            at = place[lineage] + 1
    return place


def _cells(
    last: dict[Pair, str] | None, content: dict[Pair, str], places: tuple[dict[int, int], dict[int, int]]
) -> tuple[SuperCell, ...]:
    is_first, before = last is None, last or {}
    found = [
        (pair, ElementChangeKind.KEPT if is_first or pair in before else ElementChangeKind.ADDED, words)
        for pair, words in content.items()
    ] + [(pair, ElementChangeKind.LOST, words) for pair, words in before.items() if pair not in content]
    rows, columns = places
    return tuple(SuperCell(rows[q], columns[p], fate, words) for (q, p), fate, words in found)
