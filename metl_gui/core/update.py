"""The automated update (A5): what becomes of the blocks when a version comes or goes.

Cost: proportional to the blocks of the column set or row set that is copied or removed.
Source: dmm.md §4 (A5, verdicts, chains). One deviation in words: a block copied from an *unconfirmed* one that waits
for nothing stays unconfirmed, because it names nothing that a reviewer could decide.
"""

from __future__ import annotations

from dataclasses import replace

from metl_gui.core.blocks import Block, BlockKey, Element, Loss, Status, Verdict
from metl_gui.core.compatibility import is_widening
from metl_gui.core.draft import Draft
from metl_gui.core.nodes import Attribute, Schema, Side, Version

ASK_ALWAYS = "always"
ASK_NEW = "new attributes too"


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
    here = {attribute.lineage: attribute for attribute in new.attributes}
    there = {attribute.id: attribute for attribute in previous.attributes}
    rows = draft.tree(Side.CDM).version(source.entity_version)
    elements: list[Element] = []
    losses: list[Loss] = []
    changed = False
    for q, p in source.elements:
        old = there[p]
        found = here.get(old.lineage)
        if found is not None:
            elements.append(Element(q, found.id))
            changed = changed or not is_widening(old, found)
        else:
            reason = f"{old.path} was removed in version {new.label}"
            losses.append(_loss(_end(rows, q), old, reason, new.id))
    asks = _asks(schema, previous, new)
    waits = (*source.waits, *((new.id,) if changed or asks else ()))
    return _copied(draft, source, (new.id, source.entity_version), elements, losses, source.open_losses, waits)


def _asks(schema: Schema, previous: Version, new: Version) -> bool:
    ask = schema.setting("ask")
    if ask == ASK_NEW:
        known = {attribute.lineage for attribute in previous.attributes}
        return any(attribute.lineage not in known for attribute in new.attributes)
    return ask == ASK_ALWAYS


def _carried_along_entity(
    draft: Draft, source: Block, previous: Version, new: Version, begins: dict[tuple[int, int], int]
) -> Block:
    here = {attribute.lineage: attribute for attribute in new.attributes}
    there = {attribute.id: attribute for attribute in previous.attributes}
    column = draft.tree(Side.EXTRACTION).version(source.version)
    elements: list[Element] = []
    losses: list[Loss] = []
    changed = False
    for q, p in source.elements:
        old = there[q]
        found = here.get(old.lineage)
        if found is not None:
            elements.append(Element(found.id, p))
            changed = changed or not is_widening(old, found)
        else:
            since = begins.setdefault((column.schema_id, old.lineage), source.version)
            reason = f"{old.path} is not in version {new.label} of {_name(draft, Side.CDM, new)}"
            losses.append(_loss(old, _end(column, p), reason, since))
    inherited = tuple(_followed(loss, here) for loss in source.open_losses)
    if changed:
        changed_since = begins.setdefault((column.schema_id, 0), source.version)
        waits = (*source.waits, *((changed_since,) if changed_since not in source.waits else ()))
    else:
        waits = source.waits
    return _copied(draft, source, (source.version, new.id), elements, losses, inherited, waits)


def _followed(loss: Loss, here: dict[int, Attribute]) -> Loss:
    found = here.get(loss.q_lineage)
    return loss if found is None else replace(loss, q=found.id, to_path=found.path)


def _copied(
    draft: Draft,
    source: Block,
    key: BlockKey,
    elements: list[Element],
    losses: list[Loss],
    inherited: tuple[Loss, ...],
    waits: tuple[int, ...],
) -> Block:
    lost = Verdict.SMALLER if elements else Verdict.EMPTIED
    verdict = lost if losses else Verdict.SAME
    status = Status.UNCONFIRMED if source.status is Status.UNCONFIRMED else Status.CONFIRMED
    block = Block(
        *key,
        tuple(sorted(elements)),
        status,
        verdict,
        source.key,
        (*inherited, *losses),
        waits,
        when_ms=draft.stamp.when_ms,
    )
    return block.settled()


def _loss(q: Attribute, p: Attribute, reason: str, since: int) -> Loss:
    return Loss(q.id, p.id, q.lineage, p.lineage, q.path, p.path, reason, since)


def _end(version: Version, id_: int) -> Attribute:
    attribute = version.attribute(id_)
    if attribute is None:
        raise LookupError(f"attribute {id_} is not in version {version.label}")
    return attribute


def _name(draft: Draft, side: Side, version: Version) -> str:
    return draft.tree(side).schema(version.schema_id).name
