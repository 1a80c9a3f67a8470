"""Chains: the later blocks that inherited a lost element, found from any block of the chain, and their answers.

A loss goes on into the later versions of the schema and, where an entity keeps parallel versions, into those of the
entity, so a chain runs over both. Source: docs/architecture/model.md, "Algorithms".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side


class Restoring(NamedTuple):
    """An open loss, and the lineages of the two ends that are to take its place."""

    loss: Loss
    p_lineage: int
    q_lineage: int


def keys_from(reader: Draft | Document, key: BlockKey) -> list[BlockKey]:
    """List a block and every place of its schema and entity that may have been copied from it, oldest first."""
    extraction, cdm = reader.tree(Side.EXTRACTION), reader.tree(Side.CDM)
    columns = extraction.schema(extraction.schema_of(key[0])).version_ids
    rows = cdm.schema(cdm.schema_of(key[1])).version_ids
    return [(v, w) for v in columns[columns.index(key[0]) :] for w in rows[rows.index(key[1]) :]]


def blocks_from(draft: Draft, key: BlockKey) -> list[Block]:
    """List the blocks of a schema and an entity from one block on, oldest first."""
    found = (draft.matrix.block(*each) for each in keys_from(draft, key))
    return [block for block in found if block is not None]


def lost_side(reader: Draft | Document, block: Block, loss: Loss) -> Side:
    """Return which end of a lost element is the one that went."""
    rows = reader.tree(Side.CDM).version(block.entity_version)
    return Side.EXTRACTION if rows.of_lineage(loss.q_lineage) is not None else Side.CDM


def same_loss(block: Block, loss: Loss) -> Loss | None:
    """Find the open loss of a block that belongs to the same chain."""
    return next((x for x in block.open_losses if x.chain == loss.chain), None)


def restored(draft: Draft, block: Block, wanted: Iterable[Restoring], answer: str) -> Block:
    """Answer losses by elements between attributes of this block's own versions, named by their lineages.

    Returns:
        The block with those elements set whose ends this version has and nothing else uses, and their losses answered.
    """
    asked = tuple(wanted)
    if not asked:
        return block
    sources = {a.lineage: a.id for a in draft.tree(Side.EXTRACTION).version(block.version).attributes}
    targets = {a.lineage: a.id for a in draft.tree(Side.CDM).version(block.entity_version).attributes}
    taken_p, taken_q = {e.p for e in block.elements}, {e.q for e in block.elements}
    elements, answered = list(block.elements), set()
    for loss, p_lineage, q_lineage in asked:
        p, q = sources.get(p_lineage), targets.get(q_lineage)
        if p is None or q is None or p in taken_p or q in taken_q:
            continue
        elements.append(Element(q, p))
        taken_p.add(p)
        taken_q.add(q)
        answered.add(loss)
    if not answered:
        return block
    losses = tuple(replace(x, answer=answer) if x in answered else x for x in block.losses)
    stamp = draft.stamp
    found = replace(block, elements=tuple(sorted(elements)), losses=losses, who=stamp.who, when_ms=stamp.when_ms)
    return found.settled()
