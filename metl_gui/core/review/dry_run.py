"""What versions that are not live yet would do: compare a document with what it would become, and keep neither.

A CDM attribute has a source while the newest version of some schema feeds it: once that version is live, older ones
send nothing more. Cost: proportional to the waiting blocks and to the row sets of the entities that would lose
something. Source: docs/guide/change.md, "Before it is deployed".
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from metl_gui.core.changes.draft import Transition
from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.feeders import newest_blocks
from metl_gui.core.review.items import ReviewItem, review_items
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.values import Value

Lineages: TypeAlias = tuple[int, int]
Fed: TypeAlias = dict[int, set[int]]
"""By lineage of a CDM attribute: the schemas whose newest version feeds it."""


class NewDecision(Value):
    """A decision that would have to be taken.

    Args:
        item: as it would stand in the review list, by ids of the document that would be.
        was_confirmed: whether a confirmed block would lose something, or would need another look.
    """

    item: ReviewItem
    was_confirmed: bool


class UnfedAttribute(Value):
    """A CDM attribute that would lose its last source.

    Args:
        entity_version: its version in the document that would be.
        attribute: the attribute there.
        fed_by: ids of the schemas that feed it today.
    """

    entity_version: int
    attribute: Attribute
    fed_by: tuple[int, ...]


class DryRun(Value):
    """What would happen.

    Args:
        hurt: decisions, in the order of the review list.
        starved: attributes without a source, required ones first, then by entity and path.
    """

    hurt: tuple[NewDecision, ...]
    starved: tuple[UnfedAttribute, ...]


def compare_with(before: Document, transitions: Sequence[Transition]) -> DryRun:
    """Return what some edits that were tried would do.

    Args:
        before: what is.
        transitions: the edits, each made on the outcome of the one before; the first one on ``before``.
    """
    if not transitions:
        return DryRun((), ())
    after = transitions[-1].after
    changes = [each.change for each in transitions]
    added = {(v.side, v.id) for change in changes for v in change.versions if v.before is None}
    blocks = {block.key[1] for change in changes for block in change.blocks}
    entities = {v.schema_id for id_ in blocks if (v := after.cdm.find_version(id_)) is not None}
    items = [item for item in review_items(after) if _is_new(before, item, added)]
    hurt = tuple(NewDecision(item, _was_confirmed(before, after, item)) for item in items)
    return DryRun(hurt, _starved(before, after, entities))


def _is_new(before: Document, item: ReviewItem, added: AbstractSet[tuple[Side, int]]) -> bool:
    """Whether a decision does not wait today already."""
    entity_version = item.key[1]
    if any((Side.EXTRACTION, since) in added for since in item.since):
        return True
    if (Side.CDM, entity_version) not in added:
        return False
    return _lost(item.block) != _lost(_today(before, item.block)) or bool(item.type_changes)


def _lost(block: Block | None) -> set[Lineages]:
    return {loss.lineages for loss in block.open_losses} if block is not None else set()


def _was_confirmed(before: Document, after: Document, item: ReviewItem) -> bool:
    today = _today(before, item.block, after)
    return today is not None and today.status is Status.CONFIRMED


def _today(before: Document, block: Block, after: Document | None = None) -> Block | None:
    """Find the block of today that a block would come from, over versions that are not there yet."""
    at: Block | None = block
    while at is not None and at.came_from is not None:
        found = before.matrix.block(*at.came_from)
        if found is not None:
            return found
        at = after.matrix.block(*at.came_from) if after is not None else None
    return None


def _starved(before: Document, after: Document, entities: AbstractSet[int]) -> tuple[UnfedAttribute, ...]:
    found: list[UnfedAttribute] = []
    for id_ in entities:
        known, entity = before.cdm.find_schema(id_), after.cdm.find_schema(id_)
        if known is None or entity is None:
            continue
        old, new = known.version_ids[-1], entity.version_ids[-1]
        was, is_ = _fed(before, old), _fed(after, new)
        lost = was.keys() - is_.keys()
        version = after.cdm.version(new)
        found += [
            UnfedAttribute(new, a, tuple(sorted(was[a.lineage]))) for a in version.attributes if a.lineage in lost
        ]
    names = {each.entity_version: _entity_name(after, each.entity_version) for each in found}
    return tuple(sorted(found, key=lambda s: (s.attribute.optional, names[s.entity_version], s.attribute.path)))


def _fed(document: Document, entity_version: int) -> Fed:
    lineages = {a.id: a.lineage for a in document.cdm.version(entity_version).attributes}
    found: Fed = {}
    for schema_id, block in newest_blocks(document, entity_version):
        for element in block.elements:
            found.setdefault(lineages[element.q], set()).add(schema_id)
    return found


def _entity_name(document: Document, entity_version: int) -> str:
    return document.cdm.schema(document.cdm.version(entity_version).schema_id).name
