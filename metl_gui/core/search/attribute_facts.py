"""What filters ask of the attributes of a tree: how often the matrix uses them, which are masked, commented or ignored.

Uses are counted in elements, in blocks that wait, and in commented blocks. Counts and not marks, so that an edit
takes out what a block counted before and puts in what it counts now: its cost is what it touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments, Spot
from metl_gui.core.project.masks import masked_lineages, schemas_with_masks
from metl_gui.core.search.query import Query, TermKind
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.tree_columns import STEP_ATTRIBUTES
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value

Counts = NDArray[np.int32]
_STEP_BLOCKS = 200


class AttributeUses:
    """Counts by attribute id; follows its document edit by edit.

    Shape: ``mapped``, ``waiting`` and ``commented`` int32, one more than the highest attribute id.

    Args:
        side: the tree whose attributes are counted.
        document: what is counted; ``count`` must go through before the counts mean anything.
    """

    def __init__(self, side: Side, document: Document) -> None:
        self.side = side
        self._document = document
        size = document.ids(side).attribute + 1
        self.mapped, self.waiting, self.commented = (np.zeros(size, np.int32) for _ in range(3))

    def count(self) -> Iterator[None]:
        """Count everything, step by step."""
        matrix = self._document.matrix
        ends = matrix.base.p if self.side is Side.EXTRACTION else matrix.base.q
        for low in range(0, len(ends), STEP_ATTRIBUTES):
            part = ends[low : low + STEP_ATTRIBUTES]
            first = int(part.min())
            found = np.bincount(part - first)
            self.mapped[first : first + len(found)] += found.astype(np.int32)
            yield
        for key, block in matrix.edited():
            row = matrix.base.find(key)
            before = matrix.base.block(row) if row >= 0 else None
            np.subtract.at(self.mapped, self._ends(before), 1)
            np.add.at(self.mapped, self._ends(block), 1)
        yield
        waiting = (matrix.block(*key) for key in matrix.waiting())
        yield from self._count_all(self.waiting, waiting, self._waiting_ends)
        edited = dict(matrix.edited())
        commented = [block for key, block in matrix.base.records.items() if key not in edited] + list(edited.values())
        yield from self._count_all(self.commented, commented, self._commented_ends)

    def follow(self, after: Document, keys: Iterable[BlockKey]) -> None:
        """Count the next state, which differs in some blocks."""
        before, self._document = self._document, after
        self._grow(after.ids(self.side).attribute + 1)
        wanted = tuple(keys)
        self._add(wanted, before, -1)
        self._add(wanted, after, 1)

    def _add(self, keys: tuple[BlockKey, ...], document: Document, sign: int) -> None:
        blocks = document.matrix.blocks_at(keys)
        waiting, commented = [b for b in blocks if b.losses], [b for b in blocks if b.comment]
        self._add_ends(self.mapped, (self._ends(block) for block in blocks), sign)
        self._add_ends(self.waiting, (self._waiting_ends(block, document) for block in waiting), sign)
        self._add_ends(self.commented, (self._commented_ends(block, document) for block in commented), sign)

    def _add_ends(self, counts: Counts, ends: Iterable[list[int]], sign: int) -> None:
        np.add.at(counts, np.fromiter(chain.from_iterable(ends), np.int64), sign)

    def _count_all(self, counts: Counts, blocks: Iterable[Block | None], ends_of: object) -> Iterator[None]:
        for at, block in enumerate(blocks):
            if block is not None:
                ends = ends_of(block, self._document) if callable(ends_of) else []
                np.add.at(counts, ends, 1)
            if at % _STEP_BLOCKS == _STEP_BLOCKS - 1:
                yield

    def _ends(self, block: Block | None) -> list[int]:
        if block is None:
            return []
        return [p for _, p in block.elements] if self.side is Side.EXTRACTION else [q for q, _ in block.elements]

    def _waiting_ends(self, block: Block, document: Document) -> list[int]:
        """Return the attributes that wait with a block: those it maps, and those that lost an element."""
        if not block.open_losses:
            return []
        is_source = self.side is Side.EXTRACTION
        version = document.tree(self.side).find_version(block.version if is_source else block.entity_version)
        lost = [loss.p_lineage if is_source else loss.q_lineage for loss in block.open_losses]
        ends = [version.of_lineage(lineage) for lineage in lost] if version is not None else []
        return self._ends(block) + [end.id for end in ends if end is not None]

    def _commented_ends(self, block: Block, _document: Document) -> list[int]:
        return self._ends(block) if block.comment else []

    def _grow(self, size: int) -> None:
        more = size - len(self.mapped)
        if more > 0:
            more += size // 8
            self.mapped, self.waiting, self.commented = (
                np.concatenate([counts, np.zeros(more, np.int32)])
                for counts in (self.mapped, self.waiting, self.commented)
            )


Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]


class MappedAttributes(Value, eq=False):
    """Which attributes of one tree have an element, asked without making objects of what was not edited.

    Args:
        tree: the tree.
        counts: number of elements by attribute id.
        edited: ids of the schemas that differ from the columns of the tree.
        ignored: lineages that are never to be mapped, by schema or entity; int32.
    """

    tree: Tree
    counts: Counts
    edited: frozenset[int]
    ignored: Mapping[int, Ints]

    @classmethod
    def of(cls, document: Document, side: Side) -> MappedAttributes:
        """Count the elements of a document; linear in them."""
        uses = AttributeUses(side, document)
        for _ in uses.count():
            pass
        tree = document.tree(side)
        return cls(tree, uses.mapped, frozenset(tree.edited_schemas()), ignored_by_schema(tree))

    def mapped(self, schema_id: int, version_id: int) -> Flags:
        """Whether each attribute of a version has an element, in order."""
        at = self._place(schema_id, version_id)
        if at is not None:
            found: Flags = self.counts[self.tree.base.id[at]] > 0
            return found
        ids = [attribute.id for attribute in self.tree.version(version_id).attributes]
        return np.array(self.counts[ids] > 0) if ids else np.zeros(0, np.bool_)

    def never(self, schema_id: int, version_id: int) -> Flags:
        """Whether each attribute of a version is never to be mapped, in order."""
        at, ignored = self._place(schema_id, version_id), self.ignored.get(schema_id)
        if at is not None:
            count = at.stop - at.start
            return np.isin(self.tree.base.lineage[at], ignored) if ignored is not None else np.zeros(count, np.bool_)
        attributes = self.tree.version(version_id).attributes
        if ignored is None:
            return np.zeros(len(attributes), np.bool_)
        return np.isin(np.array([attribute.lineage for attribute in attributes], np.int32), ignored)

    def required(self, schema_id: int, version_id: int) -> Flags:
        """Whether each attribute of a version is required, in order."""
        at = self._place(schema_id, version_id)
        if at is not None:
            found: Flags = ~self.tree.base.optional[at]
            return found
        return np.array([not attribute.optional for attribute in self.tree.version(version_id).attributes], np.bool_)

    def _place(self, schema_id: int, version_id: int) -> slice | None:
        """Return where the columns have a version, ``None`` where it was edited since."""
        base = self.tree.base
        row = base.row(version_id) if schema_id not in self.edited else -1
        return slice(int(base.start[row]), int(base.start[row + 1])) if row >= 0 else None


class AttributeFlags(Value, eq=False):
    """What holds for lineages, and for single attributes.

    Shape: int32 ids without order.

    Args:
        commented: lineages that somebody has commented on.
        masked: lineages whose values are hidden.
        fed_by_masked: ids of CDM attributes that a masked column feeds.
        ignored: lineages that are never to be mapped.
    """

    commented: Ints
    masked: Ints
    fed_by_masked: Ints
    ignored: Ints


NO_NOTES = AttributeFlags(*(np.zeros(0, np.int32) for _ in range(4)))


def notes_of(document: Document, side: Side, comments: Comments, query: Query) -> AttributeFlags:
    """Collect what a query asks for and nothing else."""
    asked = {term.value for term in query.terms if term.kind is TermKind.IS}
    tree = document.tree(side)
    return AttributeFlags(
        _ints(_commented(tree, side, comments) if "commented" in asked else ()),
        _ints(_masked(tree) if "masked" in asked else ()),
        _ints(_fed(document) if "masked" in asked and side is Side.CDM else ()),
        ignored_lineages(tree) if asked & {"open", "ignored"} else _ints(()),
    )


def schemas_with_ignored(tree: Tree) -> list[Schema]:
    """Return the schemas or entities of which something is never to be mapped.

    Cost: what was edited, once the schemas of the base were gone through.
    """
    known: tuple[Schema, ...] | None = tree.base.derived.get("ignored")
    if known is None:
        known = tree.base.derived["ignored"] = tuple(s for s in tree.base.schemas.values() if s.ignored)
    edited = tree.edited_schemas()
    marked = [schema for schema in known if schema.id not in edited]
    return marked + [schema for id_ in edited if (schema := tree.find_schema(id_)) is not None and schema.ignored]


def ignored_lineages(tree: Tree) -> Ints:
    """Return the lineages that are never to be mapped; int32, sorted. Cost: as of ``schemas_with_ignored``."""
    return _ints(mark.lineage for schema in schemas_with_ignored(tree) for mark in schema.ignored)


def ignored_by_schema(tree: Tree) -> dict[int, Ints]:
    """Return the lineages that are never to be mapped of the schemas or entities that have any; as above."""
    return {schema.id: _ints(mark.lineage for mark in schema.ignored) for schema in schemas_with_ignored(tree)}


def _commented(tree: Tree, side: Side, comments: Comments) -> Iterable[int]:
    for comment in comments.all:
        spot = comment.subject.source if side is Side.EXTRACTION else comment.subject.target
        if spot is not None and spot.attribute:
            yield _lineage(tree, spot)


def _lineage(tree: Tree, spot: Spot) -> int:
    version = tree.find_version(spot.version)
    attribute = version.attribute(spot.attribute) if version is not None else None
    return attribute.lineage if attribute is not None else spot.lineage


def _masked(tree: Tree) -> Iterable[int]:
    for schema in schemas_with_masks(tree):
        yield from masked_lineages(tree, schema)


def _fed(document: Document) -> Iterable[int]:
    tree = document.extraction
    for schema in schemas_with_masks(tree):
        lineages = masked_lineages(tree, schema)
        for version in tree.versions(schema.id):
            hidden = {a.id for a in version.attributes if a.lineage in lineages}
            for block in document.matrix.column_set(version.id):
                yield from (q for q, p in block.elements if p in hidden)


def _ints(ids: Iterable[int]) -> Ints:
    return np.array(sorted(set(ids)), np.int32)
