"""Decisions on blocks that wait for review; each applies to the later versions of the chain too.

``ResolveWithTheirs`` maps in place of a lost element whose ends another one has by now: so a conflict of a merge goes
to theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from metl_gui.core.changes.chains import blocks_from, lost_side, restored, same_loss
from metl_gui.core.changes.draft import Draft, Edit
from metl_gui.core.changes.lineages import join, replaced_ends
from metl_gui.core.edits.elements import SetElements, block_name
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import find_item
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value


class ConfirmBlock(Value):
    """Confirm a block as it stands: accept every loss that its item names, here and in later versions.

    A block that is only unconfirmed becomes confirmed.
    """

    key: BlockKey
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name the block."""
        return f"Confirm {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Accept the losses of the item.

        Raises:
            EditError: there is no such block.
        """
        block = _block(draft, self.key)
        item = find_item(draft.document, self.key)
        losses, waits = (item.losses, item.waits) if item is not None else (block.open_losses, block.waits)
        chains = {loss.chain for loss in losses}
        draft.put_block(_stamped(draft, replace(block, unconfirmed=False), self.comment))
        for found in blocks_from(draft, self.key):
            accept_chains(draft, found, chains, set(waits), confirms=True)
        confirmed = _block(draft, self.key)
        if confirmed.status is Status.UNCONFIRMED:
            draft.put_block(replace(confirmed, status=Status.CONFIRMED))


class AcceptLosses(Value):
    """Confirm that some lost elements are not needed any more, here and in later versions.

    Args:
        key: the block.
        lost: each names a lost element by the path of either end, or by both (``Loss.element_name``).
    """

    key: BlockKey
    lost: tuple[str, ...]
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name what is lost."""
        return f"Confirm the loss of {', '.join(self.lost)} in {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Answer the losses.

        Raises:
            EditError: the block has no such open loss.
        """
        block = _block(draft, self.key)
        losses = find_losses(draft, block, self.lost)
        draft.put_block(_stamped(draft, block, self.comment))
        chains = {loss.chain for loss in losses}
        for found in blocks_from(draft, self.key):
            accept_chains(draft, found, chains, set())


class RenameLost(Value):
    """Say that a lost attribute was renamed: join the lineages and restore its elements.

    The elements come back in every block of the schema (or entity) in which the same attribute was lost, as far as
    their ends are free. Where both attributes stand side by side in some version, the lineages stay apart and only the
    elements are restored.

    Args:
        key: the block in which the loss was seen.
        lost: path of the lost attribute, on the side that changed.
        new_path: path of the attribute that it is called now.
    """

    key: BlockKey
    lost: str
    new_path: str
    comment: str = ""

    def title(self, document: Document) -> str:
        """Say what became what."""
        return f"Rename {self.lost} to {self.new_path} in {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Join and restore.

        Raises:
            EditError: no such loss, no such attribute, or the element cannot be set in this block.
        """
        block = _block(draft, self.key)
        (loss,) = find_losses(draft, block, (self.lost,))
        side = lost_side(draft, block, loss)
        version = draft.tree(side).version(self.key[0] if side is Side.EXTRACTION else self.key[1])
        candidate = version.at_path(self.new_path)
        if candidate is None:
            known = [attribute.path for attribute in version.attributes]
            hint = near_names(self.new_path, known) or f"It has {', '.join(known[:5])}."
            raise EditError(f"Version {version.label} has no attribute {self.new_path}.", hint=hint)
        draft.put_block(_stamped(draft, block, self.comment))
        lineage = loss.p_lineage if side is Side.EXTRACTION else loss.q_lineage
        joined = join(draft, side, version.schema_id, lineage, candidate.lineage)
        _restore(draft, side, block, loss, joined)
        if same_loss(_block(draft, self.key), loss) is not None:
            other = loss.to_path if side is Side.EXTRACTION else loss.from_path
            raise EditError(
                f"{self.new_path} cannot take the place of {self.lost} in this block.",
                f"{self.new_path} or {other} is mapped already, or {other} is gone too.",
                "Clear the element that is in the way first, or confirm the loss.",
            )


class RetireBlock(Value):
    """Say that a schema feeds an entity no more: its elements go, their list stays in the record."""

    key: BlockKey
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name the block."""
        return f"Retire {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Retire the block and the later ones of the group that wait for the same reason.

        Raises:
            EditError: there is no such block.
        """
        _block(draft, self.key)
        item = find_item(draft.document, self.key)
        for key in (self.key, *(item.chain if item else ())):
            found = _stamped(draft, _block(draft, key), self.comment if key == self.key else "")
            losses = tuple(replace(x, answer=x.answer or "accepted") for x in found.losses)
            known = replace(found, losses=losses, waits=(), postponed=False, unconfirmed=False)
            draft.put_block(replace(known, elements=(), retired=found.elements or found.retired, status=Status.RETIRED))


class Postpone(Value):
    """Put a block at the end of the review list."""

    key: BlockKey
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name the block."""
        return f"Decide later on {block_name(document, self.key)}"

    def apply(self, draft: Draft) -> None:
        """Mark the block."""
        block = _block(draft, self.key)
        draft.put_block(replace(block, postponed=True, comment=self.comment or block.comment))


def find_losses(draft: Draft, block: Block, paths: Iterable[str]) -> list[Loss]:
    """Find open losses, each by the path of the end that went, else by the path of its other end, else by both.

    Raises:
        EditError: there is none of a path.
    """
    rows = {attribute.lineage for attribute in draft.tree(Side.CDM).version(block.entity_version).attributes}
    gone: dict[str, Loss] = {}
    either: dict[str, Loss] = {}
    for loss in block.open_losses:
        gone.setdefault(loss.from_path if loss.q_lineage in rows else loss.to_path, loss)
        for path in (loss.from_path, loss.to_path, loss.element_name):
            either.setdefault(path, loss)
    found: list[Loss] = []
    for path in paths:
        known = gone.get(path) or either.get(path)
        if known is None:
            has = f"It has lost {', '.join(sorted(gone)[:5])}." if gone else "It has lost nothing that waits."
            raise EditError(f"No lost element of this block is called {path}.", hint=near_names(path, gone) or has)
        found.append(known)
    return found


def _block(draft: Draft, key: BlockKey) -> Block:
    block = draft.matrix.block(*key)
    if block is None:
        raise EditError("There is no such block.", hint="See the list of blocks with metl search.")
    return block


def _stamped(draft: Draft, block: Block, comment: str) -> Block:
    return replace(block, who=draft.stamp.who, when_ms=draft.stamp.when_ms, comment=comment or block.comment)


def accept_chains(
    draft: Draft, block: Block, chains: set[tuple[int, int, int]], decided: set[int], *, confirms: bool = False
) -> None:
    """Answer the losses of some chains in one block, and end its waits for some versions."""
    losses = tuple(replace(x, answer="accepted") if x.is_open and x.chain in chains else x for x in block.losses)
    waits = tuple(id_ for id_ in block.waits if id_ not in decided)
    if losses != block.losses or waits != block.waits:
        found = _stamped(draft, replace(block, unconfirmed=block.unconfirmed and not confirms), "")
        draft.put_block(replace(found, losses=losses, waits=waits).settled())


def _restore(draft: Draft, side: Side, origin: Block, loss: Loss, joined: int) -> None:
    """Restore the lost elements of one attribute wherever it was lost with the same beginning.

    That a rename was seen in a later version says as much of the earlier ones.
    """
    lineage = loss.p_lineage if side is Side.EXTRACTION else loss.q_lineage
    for block in _affected(draft, side, origin):
        same = (x for x in block.open_losses if side is Side.CDM or x.since == loss.since)
        again = restored(draft, block, replaced_ends(side, same, lineage, joined), "renamed")
        if again is not block:
            draft.put_block(again)


def _affected(draft: Draft, side: Side, origin: Block) -> list[Block]:
    """List the blocks that may have lost the same attribute: those of the schema, or of the entity."""
    tree, matrix = draft.tree(side), draft.matrix
    version_id = origin.version if side is Side.EXTRACTION else origin.entity_version
    members = matrix.column_set if side is Side.EXTRACTION else matrix.row_set
    return [block for id_ in tree.schema(tree.schema_of(version_id)).version_ids for block in members(id_)]


class ResolveWithTheirs(Value):
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
        ResolveWithTheirs(key, ones, comment)
        if taken and len(taken) == len(ones)
        else SetElements(key, ones, comment=comment)
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
