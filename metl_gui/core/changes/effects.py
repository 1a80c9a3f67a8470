"""What an edit did to the blocks of the matrix, for previews of lineage corrections and of new entity versions.

Order: by schema, version, entity.
"""

from __future__ import annotations

from typing import TypeAlias

from metl_gui.core.changes.draft import BlockChange, Transition
from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.values import Value

Pair: TypeAlias = tuple[str, str]
"""An element by the paths of its source and its target."""


class BlockEffect(Value):
    """What becomes of one block.

    Args:
        key: the block afterwards; the one before where it goes.
        came_from: the block of another entity version whose place it takes.
        gained, lost: elements that come and go, by paths.
        kept: how many elements stay.
        needs_review: whether it waits for a decision afterwards and did not before.
        is_gone: whether the block goes without another one in its place.
    """

    key: BlockKey
    came_from: BlockKey | None
    gained: tuple[Pair, ...]
    lost: tuple[Pair, ...]
    kept: int
    needs_review: bool
    is_gone: bool = False


def effects(transition: Transition) -> tuple[BlockEffect, ...]:
    """Return what an edit did to blocks; a block of which only the record changed is left out."""
    changes = {change.key: change for change in transition.change.blocks}
    replaced = {
        change.after.came_from
        for change in changes.values()
        if change.before is None and change.after is not None and change.after.came_from is not None
    }
    found = [
        _effect(transition, change, changes)
        for key, change in changes.items()
        if not (change.after is None and key in replaced)
    ]
    wanted = [e for e in found if e.gained or e.lost or e.needs_review or e.is_gone or e.came_from is not None]
    return tuple(sorted(wanted, key=lambda effect: _order(transition, effect.key)))


def _effect(transition: Transition, change: BlockChange, changes: dict[BlockKey, BlockChange]) -> BlockEffect:
    before, after = change.before, change.after
    came_from: BlockKey | None = None
    if before is None and after is not None and after.came_from in changes:
        old = changes[after.came_from]
        if old.after is None:
            came_from, before = after.came_from, old.before
    old_names, new_names = _named(transition, before), _named(transition, after)
    waited = before is not None and before.status is Status.NEEDS_REVIEW
    return BlockEffect(
        change.key,
        came_from,
        tuple(sorted(new_names[end] for end in new_names.keys() - old_names.keys())),
        tuple(sorted(old_names[end] for end in old_names.keys() - new_names.keys())),
        len(old_names.keys() & new_names.keys()),
        after is not None and after.status is Status.NEEDS_REVIEW and not waited,
        after is None,
    )


def _named(transition: Transition, block: Block | None) -> dict[tuple[int, int], Pair]:
    """Name the elements of a block by (lineage of c_q, id of a_p), which holds in another entity version.

    Lineages are those after the edit wherever the version is still there, so that a corrected one parts nothing.
    """
    if block is None:
        return {}
    columns = {a.id: a for a in _version(transition, Side.EXTRACTION, block.version).attributes}
    rows = {a.id: a for a in _version(transition, Side.CDM, block.entity_version).attributes}
    return {(rows[q].lineage, p): (columns[p].path, rows[q].path) for q, p in block.elements}


def _version(transition: Transition, side: Side, version_id: int) -> Version:
    after = transition.after.tree(side).find_version(version_id)
    return transition.before.tree(side).version(version_id) if after is None else after


def _order(transition: Transition, key: BlockKey) -> tuple[str, int, str, int]:
    places = [_place(transition, side, id_) for side, id_ in zip(Side, key, strict=True)]
    return *places[0], *places[1]


def _place(transition: Transition, side: Side, version_id: int) -> tuple[str, int]:
    is_there = transition.after.tree(side).find_version(version_id) is not None
    tree = (transition.after if is_there else transition.before).tree(side)
    schema = tree.schema(tree.version(version_id).schema_id)
    return schema.name, schema.version_ids.index(version_id)
