"""Which groups of the matrix a transition may have changed, so that only those are compacted again."""

from __future__ import annotations

from collections import defaultdict

from metl_gui.core.changes.draft import Transition
from metl_gui.core.matrix.compact import GroupKey
from metl_gui.core.trees.nodes import Side, Version


def touched_versions(transition: Transition) -> dict[GroupKey, set[int]]:
    """Name the groups whose compact form a transition may have changed, and the versions from which on it did.

    These are the groups of every changed block, and those of a schema whose lineages changed, or whose list of versions
    did, from the last version on that still stands where it stood.
    """
    before, after = transition.before, transition.after
    found: dict[GroupKey, set[int]] = defaultdict(set)
    for change in transition.change.blocks:
        tree = after.extraction if after.extraction.has_version(change.key[0]) else before.extraction
        found[GroupKey(tree.schema_of(change.key[0]), change.key[1])].add(change.key[0])
    for schema_id, version_ids in _restructured_schemas(transition).items():
        keys = {w for each in (before, after) for id_ in version_ids for _, w in each.matrix.column_keys(id_)}
        for w in keys:
            found[GroupKey(schema_id, w)] |= version_ids
    return found


def _restructured_schemas(transition: Transition) -> dict[int, set[int]]:
    """By schema, the versions whose blocks may be kept in another way than before."""
    found: dict[int, set[int]] = defaultdict(set)
    for schema in transition.change.schemas:
        if schema.side is Side.EXTRACTION:
            ids = [each.version_ids if each else () for each in (schema.before, schema.after)]
            found[schema.id].update(*_from_difference(*ids))
    for change in transition.change.versions:
        if change.side is Side.EXTRACTION and change.after and _is_relinked(change.before, change.after):
            found[change.after.schema_id].update(transition.after.extraction.schema(change.after.schema_id).version_ids)
    return found


def _from_difference(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cut two lists of versions where they begin to differ; the last one that they share is kept with both parts.

    Before that nothing changes, and a version at the end without a block keeps a null block only where the block before
    it is none.
    """
    if one == other:
        return (), ()
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[max(same - 1, 0) :], other[max(same - 1, 0) :]


def _is_relinked(before: Version | None, after: Version | None) -> bool:
    if before is None or after is None:
        return False
    return [(a.id, a.lineage) for a in before.attributes] != [(a.id, a.lineage) for a in after.attributes]
