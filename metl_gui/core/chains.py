"""Chains: the later versions that inherited a lost element, found from any block of the chain, and their answers.

Source: dmm.md §4 (chains).
"""

from __future__ import annotations

from dataclasses import replace

from metl_gui.core.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.draft import Draft
from metl_gui.core.nodes import Side


def blocks_from(draft: Draft, key: BlockKey) -> list[Block]:
    """List the blocks of a group from one version on, oldest first."""
    tree = draft.tree(Side.EXTRACTION)
    ids = tree.schema(tree.version(key[0]).schema_id).version_ids
    found = (draft.matrix.block(id_, key[1]) for id_ in ids[ids.index(key[0]) :])
    return [block for block in found if block is not None]


def later_in_chain(draft: Draft, key: BlockKey, loss: Loss) -> list[Block]:
    """List the blocks of later versions in which the same loss is open, oldest first."""
    return [block for block in blocks_from(draft, key)[1:] if same_loss(block, loss) is not None]


def same_loss(block: Block, loss: Loss) -> Loss | None:
    """Find the open loss of a block that belongs to the same chain."""
    return next((x for x in block.open_losses if x.lineages == loss.lineages and x.since == loss.since), None)


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
