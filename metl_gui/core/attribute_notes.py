"""Which attributes of a tree are masked or commented on, for filters that ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.comments import Comments, Spot
from metl_gui.core.document import Document
from metl_gui.core.masks import masked_lineages, schemas_with_masks
from metl_gui.core.nodes import Side
from metl_gui.core.query import Kind, Query
from metl_gui.core.trees import Tree

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Notes:
    """What holds for lineages, and for single attributes.

    Shape: int32 ids without order.

    Args:
        commented: lineages that somebody has commented on.
        masked: lineages whose values are hidden.
        fed_by_masked: ids of CDM attributes that a masked column feeds.
    """

    commented: Ints
    masked: Ints
    fed_by_masked: Ints


NO_NOTES = Notes(*(np.zeros(0, np.int32) for _ in range(3)))


def notes_of(document: Document, side: Side, comments: Comments, query: Query) -> Notes:
    """Collect what a query asks for and nothing else."""
    asked = {term.value for term in query.terms if term.kind is Kind.IS}
    tree = document.tree(side)
    return Notes(
        _ints(_commented(tree, side, comments) if "commented" in asked else ()),
        _ints(_masked(tree) if "masked" in asked else ()),
        _ints(_fed(document) if "masked" in asked and side is Side.CDM else ()),
    )


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
