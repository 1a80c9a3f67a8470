"""The review list: what a person must decide, one item per chain, read off the blocks that wait.

Cost: proportional to the waiting blocks. Source: dmm.md §4 (verdicts, chains).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from metl_gui.core.blocks import Block, BlockKey, Loss, Status
from metl_gui.core.compatibility import is_widening
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute


@dataclass(frozen=True, slots=True)
class TypeChange:
    """A mapped attribute whose type is another one than in the previous version."""

    path: str
    before: str
    after: str
    is_compatible: bool


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One decision to take: a block and the later blocks that inherited what it waits for.

    Args:
        block: the block of the first version of the loss that still exists.
        since: ids of the versions that began what this item is about.
        losses: its open lost elements that began there.
        chain: keys of the later blocks that the decision applies to, oldest first.
        new_attributes: paths that no earlier version had.
        type_changes: of mapped attributes, against the block it came from.
    """

    block: Block
    since: tuple[int, ...]
    losses: tuple[Loss, ...]
    chain: tuple[BlockKey, ...]
    new_attributes: tuple[str, ...]
    type_changes: tuple[TypeChange, ...]

    @property
    def key(self) -> BlockKey:
        """(v, w) of the block decided on."""
        return self.block.key


def review_items(document: Document) -> tuple[ReviewItem, ...]:
    """List every decision that waits, by schema name, version and entity name."""
    items = _items(document, document.matrix.waiting())
    return tuple(sorted(items, key=lambda item: _sort_key(document, item.key)))


def find_item(document: Document, key: BlockKey) -> ReviewItem | None:
    """Find the item whose block this is; costs what the versions of its schema hold against this entity version."""
    schema_id = document.extraction.version(key[0]).schema_id
    group = [(id_, key[1]) for id_ in document.extraction.schema(schema_id).version_ids]
    return next((item for item in _items(document, group) if item.key == key), None)


def _items(document: Document, keys: Iterable[BlockKey]) -> Iterator[ReviewItem]:
    chains: dict[tuple[int, int, int], list[Block]] = defaultdict(list)
    for key in keys:
        block = document.matrix.block(*key)
        if block is None or block.status is not Status.NEEDS_REVIEW:
            continue
        schema_id = document.extraction.version(key[0]).schema_id
        for since in {loss.since for loss in block.open_losses} | set(block.waits):
            chains[schema_id, key[1], since].append(block)
    roots: dict[BlockKey, tuple[set[int], set[BlockKey]]] = {}
    for (_, _, since), blocks in chains.items():
        ordered = sorted(blocks, key=lambda block: _place(document, block.version))
        sinces, later = roots.setdefault(ordered[0].key, (set(), set()))
        sinces.add(since)
        later.update(block.key for block in ordered[1:])
    for key, (sinces, later) in roots.items():
        yield _item(document, key, sinces, later)


def type_changes(document: Document, block: Block) -> tuple[TypeChange, ...]:
    """List the mapped attributes whose type differs from the block that this one came from."""
    if block.came_from is None:
        return ()
    version, entity_version = block.key
    pairs = [
        (document.extraction.find_version(block.came_from[0]), document.extraction.version(version), 1),
        (document.cdm.find_version(block.came_from[1]), document.cdm.version(entity_version), 0),
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


def _item(document: Document, key: BlockKey, sinces: set[int], later: set[BlockKey]) -> ReviewItem:
    block = document.matrix.block(*key)
    assert block is not None  # noqa: S101 - the keys come from the blocks that wait
    return ReviewItem(
        block,
        tuple(sorted(sinces)),
        tuple(loss for loss in block.open_losses if loss.since in sinces),
        tuple(sorted(later, key=lambda k: _place(document, k[0]))),
        tuple(a.path for a in document.extraction.new_attributes(document.extraction.version(key[0]))),
        type_changes(document, block),
    )


def _place(document: Document, version_id: int) -> int:
    schema_id = document.extraction.version(version_id).schema_id
    return document.extraction.schema(schema_id).version_ids.index(version_id)


def _sort_key(document: Document, key: BlockKey) -> tuple[str, int, str]:
    schema = document.extraction.schema(document.extraction.version(key[0]).schema_id)
    entity = document.cdm.schema(document.cdm.version(key[1]).schema_id)
    return schema.name, _place(document, key[0]), entity.name
