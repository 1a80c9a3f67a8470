"""Chains: the later blocks that inherited a lost element, found from any block of the chain, and their answers.

A loss goes on into the later versions of the schema and, where an entity keeps parallel versions, into those of the
entity, so a chain runs over both. Source: dmm.md §4 (chains).
"""

from __future__ import annotations

from dataclasses import replace

from metl_gui.core.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.document import Document
from metl_gui.core.draft import Draft
from metl_gui.core.nodes import Side


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


def later_in_chain(draft: Draft, key: BlockKey, loss: Loss) -> list[Block]:
    """List the later blocks in which the same loss is open, oldest first."""
    found = (block for block in blocks_from(draft, key) if block.key != key)
    return [block for block in found if same_loss(block, loss) is not None]


def same_loss(block: Block, loss: Loss) -> Loss | None:
    """Find the open loss of a block that belongs to the same chain."""
    return next((x for x in block.open_losses if x.chain == loss.chain), None)


def restored(draft: Draft, block: Block, loss: Loss, p_lineage: int, q_lineage: int, answer: str) -> Block | None:
    """Answer a loss by an element between two attributes of this block's own versions, named by their lineages.

    Returns:
        The block with the element set and the loss answered, or ``None`` when this version has no such attribute or
        one of the two ends is taken.
    """
    source = draft.tree(Side.EXTRACTION).version(block.version).of_lineage(p_lineage)
    target = draft.tree(Side.CDM).version(block.entity_version).of_lineage(q_lineage)
    if source is None or target is None or any(e.q == target.id or e.p == source.id for e in block.elements):
        return None
    losses = tuple(replace(x, answer=answer) if x == loss else x for x in block.losses)
    elements = tuple(sorted((*block.elements, Element(target.id, source.id))))
    return replace(block, elements=elements, losses=losses).settled()
