"""The automated update (A5): what becomes of the blocks when a version comes or goes.

Cost: proportional to the blocks of the column set or row set that is copied or removed.
Source: dmm.md §4 (A5, verdicts, chains). One deviation in words: a block copied from an *unconfirmed* one that waits
for nothing stays unconfirmed, because it names nothing that a reviewer could decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from metl_gui.core.blocks import Block, BlockKey, Element, Loss, Status, Verdict
from metl_gui.core.compatibility import is_widening
from metl_gui.core.draft import Draft
from metl_gui.core.nodes import Attribute, Schema, Side, Version

ASK_ALWAYS = "always"
ASK_NEW = "new attributes too"


class _Moved(NamedTuple):
    """What of a block's elements survives in another version."""

    elements: tuple[Element, ...]
    losses: tuple[Loss, ...]
    is_retyped: bool


def carry_to_schema_version(draft: Draft, previous: Version, new: Version) -> None:
    """Fill the column set of a new schema version from the previous one (case 3)."""
    schema = draft.tree(Side.EXTRACTION).schema(new.schema_id)
    for source in draft.matrix.column_set(previous.id):
        if is_copied(source):
            draft.put_block(_carried_along_schema(draft, schema, source, previous, new))


def carry_to_entity_version(draft: Draft, previous: Version, new: Version, replace_old: bool) -> None:
    """Fill the row set of another entity version from the previous one (case 4).

    Args:
        draft: the document being edited.
        previous: the entity version whose row set is copied.
        new: the entity version to fill.
        replace_old: remove the blocks of the previous version afterwards (policy 3).
    """
    sources = draft.matrix.row_set(previous.id)
    begins: dict[tuple[int, int], int] = {}
    for source in sorted(sources, key=lambda block: schema_order(draft, block.version)):
        if is_copied(source):
            draft.put_block(_carried_along_entity(draft, source, previous, new, begins))
    if replace_old:
        draft.drop_blocks(block.key for block in sources)


def is_copied(block: Block) -> bool:
    """Whether later versions take anything from a block."""
    return block.status is not Status.RETIRED and bool(block.elements or block.open_losses or block.waits)


def schema_order(draft: Draft, version_id: int) -> tuple[int, int]:
    """Sort key of a schema version: its schema, then its place in the schema's order."""
    version = draft.tree(Side.EXTRACTION).version(version_id)
    return version.schema_id, draft.tree(Side.EXTRACTION).schema(version.schema_id).version_ids.index(version_id)


def _carried_along_schema(draft: Draft, schema: Schema, source: Block, previous: Version, new: Version) -> Block:
    rows = {a.id: a for a in draft.tree(Side.CDM).version(source.entity_version).attributes}

    def lost(old: Attribute, element: Element) -> Loss:
        return _loss(rows[element.q], old, f"{old.path} was removed in version {new.label}", new.id)

    moved = _move(source.elements, 1, previous, new, lost)
    waits = (new.id,) if moved.is_retyped or _asks(draft, schema, new) else ()
    key = new.id, source.entity_version
    return _copied(draft, source, key, moved, source.open_losses, (*source.waits, *waits))


def _asks(draft: Draft, schema: Schema, new: Version) -> bool:
    ask = schema.setting("ask")
    if ask == ASK_NEW:
        return bool(draft.tree(Side.EXTRACTION).new_attributes(new))
    return ask == ASK_ALWAYS


def _carried_along_entity(
    draft: Draft, source: Block, previous: Version, new: Version, begins: dict[tuple[int, int], int]
) -> Block:
    """Copy a block to another entity version; ``begins`` remembers per schema and lineage where a loss began."""
    column = draft.tree(Side.EXTRACTION).version(source.version)
    columns = {a.id: a for a in column.attributes}
    reason = f"is not in version {new.label} of {draft.tree(Side.CDM).schema(new.schema_id).name}"

    def lost(old: Attribute, element: Element) -> Loss:
        since = begins.setdefault((column.schema_id, old.lineage), source.version)
        return _loss(old, columns[element.p], f"{old.path} {reason}", since)

    moved = _move(source.elements, 0, previous, new, lost)
    here = {attribute.lineage: attribute for attribute in new.attributes}
    inherited = tuple(_followed(loss, here) for loss in source.open_losses)
    asks = draft.tree(Side.EXTRACTION).schema(column.schema_id).setting("ask") == ASK_ALWAYS
    waits = {begins.setdefault((column.schema_id, 0), source.version)} if moved.is_retyped or asks else set()
    key = source.version, new.id
    return _copied(draft, source, key, moved, inherited, (*source.waits, *(waits - set(source.waits))))


def _move(
    elements: tuple[Element, ...],
    end: int,
    previous: Version,
    new: Version,
    lost: Callable[[Attribute, Element], Loss],
) -> _Moved:
    """Follow one end of each element (0 = q, 1 = p) through its lineage into another version."""
    here = {attribute.lineage: attribute for attribute in new.attributes}
    there = {attribute.id: attribute for attribute in previous.attributes}
    moved: list[Element] = []
    losses: list[Loss] = []
    is_retyped = False
    for element in elements:
        old = there[element[end]]
        found = here.get(old.lineage)
        if found is None:
            losses.append(lost(old, element))
            continue
        moved.append(Element(found.id, element.p) if end == 0 else Element(element.q, found.id))
        is_retyped = is_retyped or not is_widening(old, found)
    return _Moved(tuple(sorted(moved)), tuple(losses), is_retyped)


def _followed(loss: Loss, here: dict[int, Attribute]) -> Loss:
    found = here.get(loss.q_lineage)
    return loss if found is None else replace(loss, q=found.id, to_path=found.path)


def _copied(
    draft: Draft,
    source: Block,
    key: BlockKey,
    moved: _Moved,
    inherited: tuple[Loss, ...],
    waits: tuple[int, ...],
) -> Block:
    lost = Verdict.SMALLER if moved.elements else Verdict.EMPTIED
    verdict = lost if moved.losses else Verdict.SAME
    status = Status.UNCONFIRMED if source.status is Status.UNCONFIRMED else Status.CONFIRMED
    block = Block(
        *key,
        moved.elements,
        status,
        verdict,
        source.key,
        (*inherited, *moved.losses),
        waits,
        when_ms=draft.stamp.when_ms,
    )
    return block.settled()


def _loss(q: Attribute, p: Attribute, reason: str, since: int) -> Loss:
    return Loss(q.id, p.id, q.lineage, p.lineage, q.path, p.path, reason, since)
