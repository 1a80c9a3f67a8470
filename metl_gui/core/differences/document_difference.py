"""The semantic difference of two documents: blocks, elements, statuses, trees and models, not positions or ids.

Two states of one project are compared by ids and lineages, two projects by names (``matrix.node_matches``).
Order: trees first extraction, then CDM, by name; blocks by schema, version, entity, entity version; models by name.
Cost: see ``differences.changed_parts``; an object only for what differs.
Source: docs/guide/teams.md, "Compare and merge".
"""

from __future__ import annotations

from metl_gui.core.differences.block_difference import BlockDifference, block_differences
from metl_gui.core.differences.changed_parts import changed_parts
from metl_gui.core.differences.model_difference import ModelDifference, model_differences
from metl_gui.core.differences.tree_difference import TreeDifference, schema_differences
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import Matching, SameIds, by_names
from metl_gui.core.project.project_data import ProjectDataDifference
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value

__all__ = ["BlockDifference", "Difference", "ModelDifference", "TreeDifference", "compare", "compare_by_names"]


class Difference(Value):
    """What differs between two documents, and between what two projects keep beside their states."""

    blocks: tuple[BlockDifference, ...] = ()
    trees: tuple[TreeDifference, ...] = ()
    beside: tuple[ProjectDataDifference, ...] = ()
    models: tuple[ModelDifference, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.blocks or self.trees or self.beside or self.models)

    @property
    def added(self) -> int:
        """Number of elements that came."""
        return sum(len(block.added) for block in self.blocks)

    @property
    def removed(self) -> int:
        """Number of elements that went."""
        return sum(len(block.removed) for block in self.blocks)


def compare(before: Document, after: Document) -> Difference:
    """Compare two states of one project."""
    return _compared(before, after, SameIds(before))


def compare_by_names(before: Document, after: Document) -> Difference:
    """Compare two projects, or exports; nothing differs exactly when their hashes are equal."""
    return _compared(before, after, by_names(before, after))


def _compared(before: Document, after: Document, matching: Matching) -> Difference:
    if before is after:
        return Difference()
    parts = changed_parts(before, after, matching)
    trees: list[TreeDifference] = []
    for side in Side:
        pairs = sorted(parts.schemas[side], key=lambda pair: (pair[1] is not None, pair[1] or pair[0] or 0))
        found = (schema_differences(side, (before.tree(side), after.tree(side)), pair, matching) for pair in pairs)
        trees += sorted((told for each in found for told in each), key=lambda told: told.name)  # stable within a name
    blocks = block_differences(before, after, matching, parts.blocks)
    return Difference(blocks, tuple(trees), models=model_differences(before, after))
