"""The review list: what a person must decide, one item per chain, read off the blocks that wait.

Cost: proportional to the waiting blocks. Source: docs/architecture/model.md, "Algorithms" (A5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from metl_gui.core.matrix.blocks import Block, BlockKey, Loss, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.core.trees.types import is_widening
from metl_gui.values import Value

Group: TypeAlias = tuple[int, int]
"""Ids of a schema and an entity."""


class TypeChange(Value):
    """A mapped attribute whose type is another one than in the previous version."""

    path: str
    before: str
    after: str
    is_compatible: bool


class RestorableLoss(Value):
    """A lost element of a chain whose two ends are there again in one of its later blocks, and free.

    Args:
        key: that block.
        loss: the lost element, as that block knows it.
        from_path, to_path: how its ends are called there.
    """

    key: BlockKey
    loss: Loss
    from_path: str
    to_path: str


class ReviewItem(Value):
    """One decision to take: a block and the later blocks that inherited what it waits for.

    Args:
        block: the block of the first version of the loss that still exists.
        since: ids of the versions that began what this item is about.
        losses: its open lost elements; each belongs to one item, that of the first block in which it is open.
        chain: keys of the later blocks that the decision applies to, oldest first.
        new_attributes: paths that no earlier version of the schema had.
        type_changes: of mapped attributes, against the block it came from.
        waits: ids of the versions for whose own sake it waits, without a loss.
        new_targets: paths that no earlier version of the entity had, where the block came over from one.
        there_again: lost elements that could be mapped again in later blocks.
    """

    block: Block
    since: tuple[int, ...]
    losses: tuple[Loss, ...]
    chain: tuple[BlockKey, ...]
    new_attributes: tuple[str, ...]
    type_changes: tuple[TypeChange, ...]
    waits: tuple[int, ...] = ()
    new_targets: tuple[str, ...] = ()
    there_again: tuple[RestorableLoss, ...] = ()

    @property
    def key(self) -> BlockKey:
        """(v, w) of the block decided on."""
        return self.block.key


def review_items(document: Document) -> tuple[ReviewItem, ...]:
    """List every decision that waits, by schema name, version and entity name."""
    items = _items(document, document.matrix.waiting())
    return tuple(sorted(items, key=lambda item: _sort_key(document, item.key)))


def items_of_group(document: Document, schema_id: int, entity_id: int) -> tuple[ReviewItem, ...]:
    """List the decisions that wait between one schema and one entity; costs what their versions hold."""
    columns = document.extraction.schema(schema_id).version_ids
    rows = document.cdm.schema(entity_id).version_ids
    return tuple(_items(document, document.matrix.waiting_among(product(columns, rows))))


def list_place(document: Document, item: ReviewItem) -> tuple[str, tuple[int, int], str]:
    """Return what the review list is sorted by."""
    return _sort_key(document, item.key)


def find_item(document: Document, key: BlockKey) -> ReviewItem | None:
    """Find the item whose block this is; costs what the schema's versions hold against the entity's."""
    return next((item for item in items_of_group(document, *group_of(document, key)) if item.key == key), None)


def group_of(document: Document, key: BlockKey) -> Group:
    """Return ids of the schema and the entity of a block."""
    return document.extraction.schema_of(key[0]), document.cdm.schema_of(key[1])


@dataclass(slots=True)
class _PendingBlock:
    """What is asked about one block."""

    losses: list[Loss] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    later: set[BlockKey] = field(default_factory=set)


def _items(document: Document, keys: Iterable[BlockKey]) -> Iterator[ReviewItem]:
    first_of: dict[tuple[Group, object], BlockKey] = {}
    found: dict[BlockKey, _PendingBlock] = {}
    for group, block in sorted(_waiting(document, keys), key=lambda each: _place(document, each[1].key)):
        roots = {loss: first_of.setdefault((group, loss.chain), block.key) for loss in block.open_losses}
        began = {id_: first_of.setdefault((group, id_), block.key) for id_ in block.waits}
        for first in {*roots.values(), *began.values()} - {block.key}:
            found[first].later.add(block.key)
        own = _PendingBlock([x for x in roots if roots[x] == block.key], [x for x in began if began[x] == block.key])
        if own.losses or own.waits:
            found[block.key] = own
    for key, asked in found.items():
        yield _item(document, key, asked)


def _waiting(document: Document, keys: Iterable[BlockKey]) -> Iterator[tuple[Group, Block]]:
    for key in keys:
        block = document.matrix.block(*key)
        if block is not None and block.status is Status.NEEDS_REVIEW:
            yield group_of(document, key), block


def type_changes(document: Document, block: Block) -> tuple[TypeChange, ...]:
    """List the mapped attributes whose type differs from the block that this one came from."""
    if block.came_from is None:
        return ()
    pairs = [
        (_origin(document.tree(side), came, own), document.tree(side).version(own), end)
        for side, came, own, end in zip(Side, block.came_from, block.key, (1, 0), strict=True)
    ]
    found: list[TypeChange] = []
    for before, after, end in pairs:
        if before is None or before.id == after.id:
            continue
        mapped = {element[end] for element in block.elements}
        old = {a.lineage: a for a in before.attributes}
        found += [_type_change(old[a.lineage], a) for a in after.attributes if a.id in mapped and a.lineage in old]
    return tuple(change for change in found if change.before != change.after)


def _type_change(before: Attribute, after: Attribute) -> TypeChange:
    old, new = before.type_text, after.type_text
    if old == new:  # two makers' types of one name, such as the Date of Connect and of Debezium
        old, new = (f"{a.type} {a.logical}".rstrip() for a in (before, after))
    return TypeChange(after.path, old, new, is_widening(before, after))


def _origin(tree: Tree, came: int, own: int) -> Version | None:
    """Find the version that a block's own one is compared with: where it came from, or what is left below it."""
    return tree.find_version(came) or tree.previous(tree.version(own))


def _item(document: Document, key: BlockKey, asked: _PendingBlock) -> ReviewItem:
    block = document.matrix.block(*key)
    assert block is not None  # noqa: S101 - the keys come from the blocks that wait
    chain = tuple(sorted(asked.later, key=lambda each: _place(document, each)))
    is_of_entity = block.came_from is not None and block.came_from[1] != key[1]
    new_targets = document.cdm.new_attributes(document.cdm.version(key[1])) if is_of_entity else ()
    return ReviewItem(
        block,
        tuple(sorted({loss.since for loss in asked.losses} | set(asked.waits))),
        tuple(asked.losses),
        chain,
        tuple(a.path for a in document.extraction.new_attributes(document.extraction.version(key[0]))),
        type_changes(document, block),
        tuple(sorted(asked.waits)),
        tuple(a.path for a in new_targets),
        tuple(_there_again(document, asked.losses, (key, *chain))),
    )


def _there_again(document: Document, losses: list[Loss], keys: tuple[BlockKey, ...]) -> Iterator[RestorableLoss]:
    for key in keys if losses else ():
        sources, targets = set(document.extraction.lineages(key[0])), set(document.cdm.lineages(key[1]))
        back = [loss for loss in losses if loss.p_lineage in sources and loss.q_lineage in targets]
        block = document.matrix.block(*key) if back else None
        if block is not None:
            yield from _free_again(document, block, back)


def _free_again(document: Document, block: Block, losses: list[Loss]) -> Iterator[RestorableLoss]:
    taken_p, taken_q = {e.p for e in block.elements}, {e.q for e in block.elements}
    columns, rows = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    sources = {a.lineage: a.path for a in columns.attributes if a.id not in taken_p}
    targets = {a.lineage: a.path for a in rows.attributes if a.id not in taken_q}
    chains = {loss.chain for loss in losses}
    for here in block.open_losses:
        if here.chain in chains and here.p_lineage in sources and here.q_lineage in targets:
            yield RestorableLoss(block.key, here, sources[here.p_lineage], targets[here.q_lineage])


def _place(document: Document, key: BlockKey) -> tuple[int, int]:
    """Places of the two versions of a block in their schema and entity."""
    trees = zip(Side, key, strict=True)
    found = ((document.tree(side), id_) for side, id_ in trees)
    at, row = (tree.schema(tree.schema_of(id_)).version_ids.index(id_) for tree, id_ in found)
    return at, row


def _sort_key(document: Document, key: BlockKey) -> tuple[str, tuple[int, int], str]:
    schema = document.extraction.schema(document.extraction.version(key[0]).schema_id)
    entity = document.cdm.schema(document.cdm.version(key[1]).schema_id)
    return schema.name, _place(document, key), entity.name
