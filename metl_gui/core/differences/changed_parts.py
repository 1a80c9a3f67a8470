"""Which schemas and blocks of two documents may differ, found without an object for what does not.

Two states of one project on the same columns differ only where one of them was edited since: what was edited is all
that is looked at. Otherwise the columns of both are laid beside each other, as a whole.
Cost: what was edited since the columns were made; linear in the columns otherwise.
Source: docs/architecture/model.md, "The table that is never built".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.differences.tree_alignment import TreeAlignment, aligned
from metl_gui.core.matrix.blocks import Block, BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import Dpm, DpmBase
from metl_gui.core.matrix.node_matches import Matching
from metl_gui.core.trees.columns import Longs, laid_out
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value

SchemaPair: TypeAlias = tuple[int | None, int | None]
"""Ids of a schema or entity before and after."""
BlockPair: TypeAlias = tuple[BlockKey | None, BlockKey | None]
"""Keys of a block before and after."""


class ChangedParts(Value):
    """What may differ; whatever is not named does not.

    Args:
        schemas: pairs of schemas or entities of each tree.
        blocks: pairs of blocks, and blocks that only one of the documents has.
    """

    schemas: dict[Side, list[SchemaPair]]
    blocks: list[BlockPair]


def changed_parts(before: Document, after: Document, matching: Matching) -> ChangedParts:
    """Find what may differ between two documents."""
    if matching.is_by_ids and _share_columns(before, after):
        schemas = {side: _edited_schemas(before.tree(side), after.tree(side)) for side in Side}
        return ChangedParts(schemas, list(_edited_blocks(before, after)))
    alignments = {side: aligned(side, before.tree(side), after.tree(side), matching) for side in Side}
    schemas = {side: alignment.changed_schemas() for side, alignment in alignments.items()}
    return ChangedParts(schemas, list(_laid_beside(before, after, matching, alignments)))


def _share_columns(before: Document, after: Document) -> bool:
    trees = all(before.tree(side).base is after.tree(side).base for side in Side)
    return trees and before.matrix.base is after.matrix.base


def _edited_schemas(before: Tree, after: Tree) -> list[SchemaPair]:
    if before is after:
        return []
    found = {
        id_
        for id_ in before.edited_schemas() | after.edited_schemas()
        if before.find_schema(id_) is not after.find_schema(id_)
    }
    for id_ in {id_ for tree in (before, after) for id_, _ in tree.edited_versions()}:
        old, new = before.find_version(id_), after.find_version(id_)
        if old is not new:
            found.update(version.schema_id for version in (old, new) if version is not None)
    return [
        (id_ if before.find_schema(id_) else None, id_ if after.find_schema(id_) else None) for id_ in sorted(found)
    ]


def _edited_blocks(before: Document, after: Document) -> Iterator[BlockPair]:
    if before.matrix is after.matrix:
        return
    for key in {key for document in (before, after) for key, _ in document.matrix.edited()}:
        old, new = before.matrix.block(*key), after.matrix.block(*key)
        if old is not new:
            yield (key if old else None, key if new else None)


def _laid_beside(
    before: Document, after: Document, matching: Matching, alignments: dict[Side, TreeAlignment]
) -> Iterator[BlockPair]:
    """Compare the blocks of two matrices by their columns."""
    old, new = (d.matrix.merged().base if d.matrix.edited_count else d.matrix.base for d in (before, after))
    columns, rows = alignments[Side.EXTRACTION], alignments[Side.CDM]
    old_key = _packed(old.version, old.entity_version)
    new_key = _packed(columns.versions_before(new.version), rows.versions_before(new.entity_version))
    at = np.minimum(np.searchsorted(old_key, new_key), max(len(old_key) - 1, 0))
    is_met = old_key[at] == new_key if len(old_key) else np.zeros(len(new_key), np.bool_)
    met_new = np.flatnonzero(is_met)
    met_old = at[met_new]
    is_gone = np.ones(len(old_key), np.bool_)
    is_gone[met_old] = False
    yield from ((_key(old, row), None) for row in np.flatnonzero(is_gone).tolist())
    yield from ((None, _key(new, row)) for row in np.flatnonzero(~is_met).tolist())
    differs = old.status[met_old] != new.status[met_new]
    lengths = np.diff(new.start)[met_new]
    differs |= np.diff(old.start)[met_old] != lengths
    alike = np.flatnonzero(~differs)
    of_old = laid_out(old.start[met_old[alike]], lengths[alike])
    of_new = laid_out(new.start[met_new[alike]], lengths[alike])
    block = np.repeat(alike, lengths[alike])
    q, p = rows.attributes_before(new.q[of_new]), columns.attributes_before(new.p[of_new])
    order = np.lexsort((p, q, block))
    differs[block[(q[order] != old.q[of_old]) | (p[order] != old.p[of_old])]] = True
    differs |= _have_other_records(old, new, met_old, met_new, by_ids=matching.is_by_ids)
    for row in np.flatnonzero(differs).tolist():
        yield _key(old, int(met_old[row])), _key(new, int(met_new[row]))


def _have_other_records(
    old: DpmBase, new: DpmBase, met_old: Longs, met_new: Longs, *, by_ids: bool
) -> NDArray[np.bool_]:
    """Tell of which blocks that both have other things are known, or they wait for other decisions."""
    found = np.zeros(len(met_old), np.bool_)
    for at in np.flatnonzero(_have_records(old, met_old) | _have_records(new, met_new)).tolist():
        one, other = old.block(int(met_old[at])), new.block(int(met_new[at]))
        found[at] = _known_of(one) != _known_of(other) or (by_ids and one.open_losses != other.open_losses)
    return found


def _known_of(block: Block) -> tuple[object, ...]:
    """Return what is known of a block beside its elements and its status, as far as it means the same in any file."""
    losses = sorted((loss.to_path, loss.from_path, loss.answer) for loss in block.losses)
    return block.unconfirmed, block.postponed, block.comment, len(block.waits), len(block.retired), losses


def _have_records(base: DpmBase, rows: Longs) -> NDArray[np.bool_]:
    keys = np.array(list(base.records), np.int32).reshape(-1, 2)
    return np.isin(_packed(base.version[rows], base.entity_version[rows]), _packed(keys[:, 0], keys[:, 1]))


def _packed(version: NDArray[np.int32], entity_version: NDArray[np.int32]) -> Longs:
    """One number for the two ids of a block, -1 where one of them is -1."""
    packed = (version.astype(np.int64) << 32) | entity_version.astype(np.int64)
    return np.where((version < 0) | (entity_version < 0), np.int64(-1), packed)


def _key(base: DpmBase, row: int) -> BlockKey:
    return int(base.version[row]), int(base.entity_version[row])


_MOST = 50_000


def changed_blocks(before: Dpm, after: Dpm) -> tuple[BlockKey, ...] | None:
    """Return the keys of the blocks in which two states differ, sorted.

    Cost: what was edited since the columns that both states share were made.

    Returns:
        ``None`` when they share none, or so much was edited that reading everything anew costs less.
    """
    if before.base is not after.base or before.edited_count + after.edited_count > _MOST:
        return None
    old, new = dict(before.edited()), dict(after.edited())
    asked = {key for key, block in old.items() if key not in new or new[key] is not block} | (new.keys() - old.keys())
    return tuple(sorted(key for key in asked if before.block(*key) != after.block(*key)))
