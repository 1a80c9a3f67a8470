"""How often the matrix uses each attribute of one tree: in elements, in blocks that wait, in commented blocks.

Counts, not marks, so that an edit takes out what a block counted before and puts in what it counts now: its cost is
what it touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.blocks import Block, BlockKey
from metl_gui.core.document import Document
from metl_gui.core.nodes import Side
from metl_gui.core.tree_columns import STEP_ATTRIBUTES

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
        found = (document.matrix.block(*key) for key in keys)
        blocks = [block for block in found if block is not None]
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
        return [e.p if self.side is Side.EXTRACTION else e.q for e in block.elements]

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
