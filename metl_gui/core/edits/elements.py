"""Edits that set and clear elements of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from metl_gui.core.changes.chains import Restoring, blocks_from, restored
from metl_gui.core.changes.draft import Draft
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status, conflicts
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import EditError
from metl_gui.values import Value


class SetElements(Value):
    """Set and clear elements of one block, and confirm it in the same step.

    In a block under review this settles the lost elements whose CDM attribute it maps, here and, through lineages, in
    the later versions of the chain.

    Args:
        key: (v, w).
        ones: elements to become 1.
        zeros: elements to become 0.
        status: what the block becomes when it waits for nothing.
        comment: kept with the block; empty leaves the one it has.
    """

    key: BlockKey
    ones: tuple[Element, ...] = ()
    zeros: tuple[Element, ...] = ()
    status: Status = Status.CONFIRMED
    comment: str = ""

    def title(self, document: Document) -> str:
        """Name the element, or count them."""
        elements = self.ones or self.zeros
        verb = "Map" if self.ones else "Unmap"
        if len(elements) != 1:
            return f"{verb} {len(elements)} elements of {block_name(document, self.key)}"
        source = document.extraction.version(self.key[0]).attribute(elements[0].p)
        target = document.cdm.version(self.key[1]).attribute(elements[0].q)
        joint = "to" if self.ones else "from"
        return f"{verb} {source.path if source else '?'} {joint} {target.path if target else '?'}"

    def apply(self, draft: Draft) -> None:
        """Set and clear the elements.

        Raises:
            EditError: an end is not in the block's versions, the entity version is not the newest under policy 3, or
                the block would not be 1:1.
        """
        KnownEnds(draft).require(self)
        self.apply_known(draft)

    def apply_known(self, draft: Draft) -> None:
        """Set and clear the elements, whose ends are known to be in the block's versions.

        Raises:
            EditError: the block would not be 1:1.
        """
        found = draft.matrix.block(*self.key)
        if found is None:
            self._begin(draft)
            return
        before, zeros = found, frozenset(self.zeros)
        kept = [e for e in before.elements if e not in zeros] if zeros else before.elements
        after = tuple(sorted({*kept, *self.ones})) if self.ones else tuple(kept)
        _refuse_conflicts(draft, self.key, after)
        if not (after or self.comment) and before.is_plain and before.status is not Status.NEEDS_REVIEW:
            draft.drop_blocks([self.key])
            return
        comment, who, when_ms = self.comment or before.comment, draft.stamp.who, draft.stamp.when_ms
        made: dict[str, Any] = {"elements": after, "comment": comment, "who": who, "when_ms": when_ms}
        if not (before.losses or before.waits or before.status is Status.NEEDS_REVIEW):
            store_block(draft, replace(before, **made, **_confirming(self.status)))
            return
        mapped = self._mapped_lineages(draft)
        losses = tuple(replace(x, answer="mapped") if x.is_open and x.q_lineage in mapped else x for x in before.losses)
        block = replace(before, **made, losses=losses).settled()
        if block.status is Status.NEEDS_REVIEW:  # it takes the status when it waits no more
            block = replace(block, unconfirmed=block.unconfirmed or self.status is Status.UNCONFIRMED)
        else:
            block = replace(block, **_confirming(self.status))
        store_block(draft, block)
        self._settle_later(draft, before, mapped)

    def _begin(self, draft: Draft) -> None:
        """Make the block, of which nothing is known yet."""
        elements = tuple(sorted(set(self.ones)))
        _refuse_conflicts(draft, self.key, elements)
        who, when_ms = draft.stamp.who, draft.stamp.when_ms
        if elements or self.comment:
            draft.put_block(Block(*self.key, elements, self.status, comment=self.comment, who=who, when_ms=when_ms))
        else:
            draft.drop_blocks([self.key])

    def _mapped_lineages(self, draft: Draft) -> dict[int, int]:
        """Lineage of the source by lineage of the target, of the elements to set."""
        columns = {a.id: a.lineage for a in draft.tree(Side.EXTRACTION).version(self.key[0]).attributes}
        rows = {a.id: a.lineage for a in draft.tree(Side.CDM).version(self.key[1]).attributes}
        return {rows[e.q]: columns[e.p] for e in self.ones}

    def _settle_later(self, draft: Draft, before: Block, mapped: dict[int, int]) -> None:
        chains = {loss.chain for loss in before.open_losses if loss.q_lineage in mapped}
        for later in blocks_from(draft, self.key) if chains else ():
            found = [x for x in later.open_losses if x.chain in chains]
            wanted = [Restoring(x, mapped[x.q_lineage], x.q_lineage) for x in found]
            is_unconfirmed = later.unconfirmed or self.status is Status.UNCONFIRMED
            block = restored(draft, replace(later, unconfirmed=is_unconfirmed), wanted, "mapped")
            if block.losses != later.losses:
                draft.put_block(block)


def block_name(reader: Draft | Document, key: BlockKey) -> str:
    """Name a block for people."""
    extraction, cdm = reader.tree(Side.EXTRACTION), reader.tree(Side.CDM)
    version, entity_version = extraction.version(key[0]), cdm.version(key[1])
    schema, entity = extraction.schema(version.schema_id), cdm.schema(entity_version.schema_id)
    return f"{schema.name} {version.label} → {entity.name} {entity_version.label}"


def store_block(draft: Draft, block: Block) -> None:
    """Keep a block, or forget it when it is empty and nothing is known of it."""
    if block.is_null and block.is_plain:
        draft.drop_blocks([block.key])
    else:
        draft.put_block(block)


def _confirming(status: Status) -> dict[str, Any]:
    """Return what an edit makes of a block that waits for nothing."""
    # Files of earlier versions keep retired blocks as unconfirmed beside it.
    return {"status": status, "retired": (), "unconfirmed": False}


class KnownEnds:
    """What edits of elements may name: the attributes of their versions, each version looked up once.

    Args:
        draft: what is edited; good for as long as its trees are not.
    """

    def __init__(self, draft: Draft) -> None:
        self._extraction, self._cdm = draft.tree(Side.EXTRACTION), draft.tree(Side.CDM)
        self._columns: dict[int, frozenset[int]] = {}
        self._rows: dict[int, frozenset[int]] = {}

    def require(self, edit: SetElements) -> None:
        """Make sure that the ends of the elements of an edit are in the versions of its block.

        Raises:
            EditError: they are not, or the entity version is not the newest under policy 3.
        """
        v, w = edit.key
        if v not in self._columns or w not in self._rows:
            self._look_up(v, w)
        columns, rows = self._columns[v], self._rows[w]
        for elements in (edit.ones, edit.zeros):
            if not (columns.issuperset([p for _, p in elements]) and rows.issuperset([q for q, _ in elements])):
                raise EditError(
                    "An element's end is not in the versions of its block.", hint="Look at the newest state first."
                )

    def _look_up(self, v: int, w: int) -> None:
        if not self._extraction.has_version(v) or not self._cdm.has_version(w):
            raise EditError("The block's version is not in the trees any more.", hint="Look at the newest state first.")
        if w not in self._rows:
            entity = self._cdm.schema(self._cdm.schema_of(w))
            if entity.setting("policy") != "parallel" and entity.version_ids[-1] != w:
                raise EditError(
                    f"{entity.name} version {self._cdm.version(w).label} is not the newest one.",
                    hint="Map to the newest version, or let the entity keep parallel versions.",
                )
            self._rows[w] = frozenset(self._cdm.attribute_ids(w))
        self._columns[v] = frozenset(self._extraction.attribute_ids(v))


def set_all(draft: Draft, edits: Sequence[SetElements]) -> None:
    """Apply edits of blocks one after the other.

    Raises:
        EditError: one is refused, as ``SetElements.apply`` says.
    """
    ends = KnownEnds(draft)
    for edit in edits:
        ends.require(edit)
        edit.apply_known(draft)


def _refuse_conflicts(draft: Draft, key: BlockKey, elements: tuple[Element, ...]) -> None:
    clash = conflicts(elements)
    if not clash:
        return
    version = draft.tree(Side.EXTRACTION).version(key[0])
    entity_version = draft.tree(Side.CDM).version(key[1])
    pairs = (f"{_path(version, e.p)} to {_path(entity_version, e.q)}" for e in clash)
    raise EditError(
        "Within a block each attribute is used once.",
        f"These share an end: {', '.join(pairs)}.",
        "Replace the old element, swap the two, or leave it.",
    )


def _path(version: Version, id_: int) -> str:
    attribute = version.attribute(id_)
    return attribute.path if attribute else str(id_)
