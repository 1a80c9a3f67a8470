"""Map in place of a lost element whose ends another one has by now: how a conflict of a merge goes to theirs."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.chains import blocks_from, same_loss
from metl_gui.core.document import Document
from metl_gui.core.draft import Draft, Edit
from metl_gui.core.edits.elements import SetElements, block_name
from metl_gui.core.nodes import Side
from metl_gui.errors import EditError


@dataclass(frozen=True, slots=True)
class TakeLost:
    """Set lost elements, or others to their targets, here and in later versions, and clear what has an end of them.

    Args:
        key: the block.
        ones: the elements.
        comment: kept with the block; empty leaves the one it has.
    """

    key: BlockKey
    ones: tuple[Element, ...]
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name the elements."""
        version, entity_version = document.extraction.version(self.key[0]), document.cdm.version(self.key[1])
        columns, rows = ({a.id: a.path for a in v.attributes} for v in (version, entity_version))
        pairs = ", ".join(f"{columns.get(p, '?')} to {rows.get(q, '?')}" for q, p in self.ones)
        return f"Take {pairs} in {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Set and clear the elements.

        Raises:
            EditError: one of them is not lost in this block.
        """
        block = draft.matrix.block(*self.key)
        if block is None:
            raise EditError("There is no such block.", hint="See the list of blocks with metl search.")
        for one in self.ones:
            loss = _loss_of(draft, block, one)
            if loss is None:
                raise EditError("The element is not lost in this block.", hint="Map it as any other element.")
            sources = {a.id: a.lineage for a in draft.tree(Side.EXTRACTION).version(self.key[0]).attributes}
            for later in blocks_from(draft, self.key):
                if same_loss(later, loss) is not None:
                    _take(draft, later, (sources[one.p], loss.q_lineage), self.comment)


def mapped_in_place(document: Document, key: BlockKey, ones: tuple[Element, ...], comment: str = "") -> Edit:
    """Map elements in place of lost ones, and of what has the ends of those by now."""
    block = document.matrix.block(*key)
    taken = [one for one in ones if block is not None and _loss_of(document, block, one) and _in_the_way(block, one)]
    return (
        TakeLost(key, ones, comment) if taken and len(taken) == len(ones) else SetElements(key, ones, comment=comment)
    )


def _in_the_way(block: Block, one: Element) -> tuple[Element, ...]:
    return tuple(e for e in block.elements if e != one and (e.q == one.q or e.p == one.p))


def _loss_of(reader: Draft | Document, block: Block, one: Element) -> Loss | None:
    """Find the open loss that an element is, or whose target it has."""
    source = reader.tree(Side.EXTRACTION).version(block.version).attribute(one.p)
    target = reader.tree(Side.CDM).version(block.entity_version).attribute(one.q)
    if source is None or target is None:
        return None
    same = [x for x in block.open_losses if x.q_lineage == target.lineage]
    return next((x for x in same if x.p_lineage == source.lineage), same[0] if same else None)


def _take(draft: Draft, block: Block, lineages: tuple[int, int], comment: str) -> None:
    source = draft.tree(Side.EXTRACTION).version(block.version).of_lineage(lineages[0])
    target = draft.tree(Side.CDM).version(block.entity_version).of_lineage(lineages[1])
    if source is not None and target is not None:
        one = Element(target.id, source.id)
        SetElements(block.key, (one,), _in_the_way(block, one), comment=comment).apply(draft)
