"""The automated update (A5): what becomes of the blocks when a version comes or goes.

Cost: proportional to the blocks of the column set or row set that is copied or removed.
Source: docs/architecture/model.md, "Algorithms" (A5).

A block copied from an *unconfirmed* one that waits for nothing stays unconfirmed and is not reviewed, because it names
nothing that a reviewer could decide; under review, ``map what is left`` would let production use what nobody has
confirmed, and ``hold`` would stop messages that the copied block never stopped. Where such a copy loses something it is
reviewed, and is unconfirmed again when that is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status, Verdict
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.types import is_widening

ASK_ALWAYS = "always"
ASK_NEW = "new attributes too"


class _Moved(NamedTuple):
    """What of a block's elements survives in another version."""

    elements: tuple[Element, ...]
    losses: tuple[Loss, ...]
    is_retyped: bool


class _CarryTarget(NamedTuple):
    """What the blocks of one entity version are carried to.

    Args:
        previous, new: the entity versions.
        is_moved: nothing stays at the previous version (policy 3), so what is known of its blocks moves along.
        has_new: whether ``new`` has attributes that neither an earlier version nor ``previous`` had.
        begins: by schema and lineage of what was lost, 0 for a wait, the schema version that it began with.
    """

    previous: Version
    new: Version
    is_moved: bool
    has_new: bool
    begins: dict[tuple[int, int], int]


def carry_to_schema_version(draft: Draft, previous: Version, new: Version) -> None:
    """Fill the column set of a new schema version from the previous one (case 3)."""
    schema = draft.tree(Side.EXTRACTION).schema(new.schema_id)
    for source in draft.matrix.column_set(previous.id):
        if is_copied(source):
            block = _carried_along_schema(draft, schema, source, previous, new)
            draft.put_block(block)
            if schema.version_ids[-1] != new.id:
                _let_begin_earlier(draft, schema, source, block)


def carry_to_entity_version(draft: Draft, previous: Version, new: Version, replace_old: bool) -> None:
    """Fill the row set of another entity version from the previous one (case 4).

    Args:
        draft: the document being edited.
        previous: the entity version whose row set is copied.
        new: the entity version to fill.
        replace_old: remove the blocks of the previous version afterwards (policy 3).
    """
    sources = draft.matrix.row_set(previous.id)
    known = {attribute.lineage for attribute in previous.attributes}
    has_new = any(attribute.lineage not in known for attribute in draft.tree(Side.CDM).new_attributes(new))
    target = _CarryTarget(previous, new, replace_old, has_new, {})
    for source in sorted(sources, key=lambda block: schema_order(draft, block.version)):
        is_retired = source.status is Status.RETIRED
        if is_copied(source) or (replace_old and not source.is_plain):
            carried = (
                _retired_along_entity(source, target) if is_retired else _carried_along_entity(draft, source, target)
            )
            if is_retired or not (carried.is_null and carried.is_plain):
                draft.put_block(carried)
    if replace_old:
        draft.drop_blocks(block.key for block in sources)


def is_copied(block: Block) -> bool:
    """Whether later versions take anything from a block."""
    return block.status is not Status.RETIRED and bool(block.elements or block.open_losses or block.waits)


def schema_order(draft: Draft, version_id: int) -> tuple[int, int]:
    """Sort key of a schema version: its schema, then its place in the schema's order."""
    tree = draft.tree(Side.EXTRACTION)
    schema_id = tree.schema_of(version_id)
    return schema_id, tree.schema(schema_id).version_ids.index(version_id)


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


def _let_begin_earlier(draft: Draft, schema: Schema, source: Block, inserted: Block) -> None:
    """Let what an inserted version begins be one chain with the same in the versions right above it.

    Their elements stay; only the record of when the loss or the other type began moves down, so that it is asked once.
    """
    above = schema.version_ids[schema.version_ids.index(inserted.version) + 1 :]
    inherited = {loss.chain for loss in source.open_losses}
    fresh = {loss.lineages for loss in inserted.open_losses if loss.chain not in inherited}
    waits = above[0] if _begins_wait(draft, schema, source, inserted, above[0]) else 0
    for id_ in above:
        block = draft.matrix.block(id_, inserted.entity_version)
        if block is None:
            return
        same = {loss.lineages for loss in block.open_losses if loss.lineages in fresh and loss.since in above}
        waits = waits if waits in block.waits else 0
        if not same and not waits:
            return
        moved = tuple(replace(x, since=inserted.version) if _is_of(x, same, above) else x for x in block.losses)
        earlier = tuple(inserted.version if wait == waits else wait for wait in block.waits)
        draft.put_block(replace(block, losses=moved, waits=earlier))
        fresh = same


def _is_of(loss: Loss, lineages: set[tuple[int, int]], above: tuple[int, ...]) -> bool:
    return loss.is_open and loss.lineages in lineages and loss.since in above


def _begins_wait(draft: Draft, schema: Schema, source: Block, inserted: Block, next_id: int) -> bool:
    """Whether the next version waits for a type change that the inserted one has made already."""
    if inserted.version not in inserted.waits or schema.setting("ask") in (ASK_ALWAYS, ASK_NEW):
        return False
    versions = draft.tree(Side.EXTRACTION)
    here, above = versions.version(inserted.version), versions.version(next_id)
    later = {a.lineage: a for a in above.attributes}
    mapped = {element.p for element in inserted.elements}
    pairs = [(a, later[a.lineage]) for a in here.attributes if a.id in mapped and a.lineage in later]
    return all(is_widening(one, other) for one, other in pairs) and inserted.version not in source.waits


def _carried_along_entity(draft: Draft, source: Block, target: _CarryTarget) -> Block:
    """Copy a block to another entity version, or move it there with all that is known of it."""
    column = draft.tree(Side.EXTRACTION).version(source.version)
    columns = {a.id: a for a in column.attributes}
    entity = draft.tree(Side.CDM).schema(target.new.schema_id)

    def lost(old: Attribute, element: Element) -> Loss:
        since = target.begins.setdefault((column.schema_id, old.lineage), source.version)
        reason = f"{old.path} is not in version {target.new.label} of {entity.name}"
        return _loss(old, columns[element.p], reason, since)

    moved = _move(source.elements, 0, target.previous, target.new, lost)
    here = {attribute.lineage: attribute for attribute in target.new.attributes}
    kept = (loss for loss in source.losses if loss.is_open or (target.is_moved and loss.answer == "accepted"))
    inherited = tuple(_followed(loss, here) for loss in kept)
    ask = draft.tree(Side.EXTRACTION).schema(column.schema_id).setting("ask")
    asks = is_copied(source) and (ask == ASK_ALWAYS or (ask == ASK_NEW and target.has_new))
    waits = {target.begins.setdefault((column.schema_id, 0), source.version)} if moved.is_retyped or asks else set()
    key = source.version, target.new.id
    block = _copied(draft, source, key, moved, inherited, (*source.waits, *(waits - set(source.waits))))
    if not target.is_moved:
        return block
    return replace(block, comment=source.comment, postponed=source.postponed and not moved.losses)


def _retired_along_entity(source: Block, target: _CarryTarget) -> Block:
    """Move a retired block to another entity version; its list keeps what that version still has."""
    there = {attribute.id: attribute.lineage for attribute in target.previous.attributes}
    here = {attribute.lineage: attribute.id for attribute in target.new.attributes}
    followed = ((here.get(there.get(element.q, 0)), element.p) for element in source.retired)
    kept = tuple(sorted(Element(q, p) for q, p in followed if q is not None))
    return replace(source, entity_version=target.new.id, came_from=source.key, retired=kept)


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
    status = Status.UNCONFIRMED if source.is_unconfirmed else Status.CONFIRMED
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
