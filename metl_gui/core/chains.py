"""Chains: the later versions that inherited a lost element, found from any block of the chain.

Source: dmm.md §4 (chains).
"""

from __future__ import annotations

from metl_gui.core.blocks import Block, BlockKey, Loss
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
