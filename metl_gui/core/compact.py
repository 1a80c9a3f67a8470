"""Compact (A3) and decompact (A4) one group (o, r, w) of the matrix.

The dense set holds every block; the compact set (DUSB) keeps, in ascending version order, only the blocks that differ
from the one before. Two blocks are equivalent when they hold the same set of (c_q, lineage of a_p); within a group w
is fixed, so c_q stands for its lineage. Whole matrices are done in ``core.bulk``.
Source: dmm.md §4 (A3, A4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from metl_gui.core.blocks import Element
from metl_gui.core.draft import Transition
from metl_gui.core.matrix import DpmView
from metl_gui.core.nodes import Side, Version
from metl_gui.core.trees import TreeView


class Group(NamedTuple):
    """The blocks between all versions of one schema and one entity version: (o, w)."""

    schema_id: int
    entity_version: int


class Kept(NamedTuple):
    """One block of the compact set; without elements it is a kept null block."""

    version: int
    elements: tuple[Element, ...]


def compact(versions: Iterable[Version], blocks: Mapping[int, tuple[Element, ...]]) -> tuple[Kept, ...]:
    """Keep the blocks that differ from the one before (A3).

    Args:
        versions: all versions of the schema, oldest first.
        blocks: elements by version id; a missing or empty entry is a null block.

    Returns:
        The kept blocks, oldest first; leading null blocks are not kept.
    """
    kept: list[Kept] = []
    last: frozenset[tuple[int, int]] = frozenset()
    for version in versions:
        elements = blocks.get(version.id, ())
        lineages = {attribute.id: attribute.lineage for attribute in version.attributes} if elements else {}
        content = frozenset((q, lineages[p]) for q, p in elements)
        if content != last:
            kept.append(Kept(version.id, tuple(sorted(elements))))
            last = content
    return tuple(kept)


def decompact(versions: Iterable[Version], kept: Iterable[Kept]) -> dict[int, tuple[Element, ...]]:
    """Give every version the block kept at the highest kept version not above it (A4).

    Returns:
        Elements by version id, translated to each version's own attributes; null blocks are left out.
    """
    at = {block.version: block.elements for block in kept}
    dense: dict[int, tuple[Element, ...]] = {}
    content: list[tuple[int, int]] = []
    for version in versions:
        if version.id in at:
            lineages = {attribute.id: attribute.lineage for attribute in version.attributes}
            content = [(q, lineages[p]) for q, p in at[version.id]]
        if content:
            own = {attribute.lineage: attribute.id for attribute in version.attributes}
            dense[version.id] = tuple(sorted(Element(q, own[lineage]) for q, lineage in content))
    return dense


def compact_group(versions: Iterable[Version], matrix: DpmView, group: Group) -> tuple[Kept, ...]:
    """Compact one group of a matrix."""
    ordered = tuple(versions)
    found = ((v.id, matrix.block(v.id, group.entity_version)) for v in ordered)
    return compact(ordered, {id_: block.elements for id_, block in found if block is not None})


def compact_again(
    tree: TreeView, matrix: DpmView, group: Group, touched: Iterable[int]
) -> dict[int, tuple[Element, ...] | None]:
    """Compact one group where it was touched: those versions and the ones behind them.

    Args:
        tree: the extraction tree as it is now.
        matrix: the matrix as it is now.
        group: the group.
        touched: ids of versions, as ``touched_versions`` names them.

    Returns:
        By version id the elements that are kept, ``None`` where nothing is.
    """
    schema = tree.find_schema(group.schema_id)
    ids = schema.version_ids if schema else ()
    found: dict[int, tuple[Element, ...] | None] = dict.fromkeys(touched)
    places = {at + step for at, id_ in enumerate(ids) if id_ in found for step in (0, 1)}
    for at in sorted(places - {len(ids)}):
        block = matrix.block(ids[at], group.entity_version)
        elements = block.elements if block is not None else ()
        before = _content(tree, matrix, group, ids[at - 1]) if at else frozenset()
        is_kept = _content(tree, matrix, group, ids[at]) != before
        found[ids[at]] = tuple(sorted(elements)) if is_kept else None
    return found


def _content(tree: TreeView, matrix: DpmView, group: Group, version_id: int) -> frozenset[tuple[int, int]]:
    """Return what the block of one version says: (c_q, lineage of a_p)."""
    block = matrix.block(version_id, group.entity_version)
    if block is None or not block.elements:
        return frozenset()
    lineages = {attribute.id: attribute.lineage for attribute in tree.version(version_id).attributes}
    return frozenset((q, lineages[p]) for q, p in block.elements)


def touched_versions(transition: Transition) -> dict[Group, set[int]]:
    """Name the groups whose compact form a transition may have changed, and the versions from which on it did.

    These are the groups of every changed block, and those of a schema whose lineages changed, or whose list of versions
    did, from the last version on that still stands where it stood.
    """
    before, after = transition.before, transition.after
    found: dict[Group, set[int]] = defaultdict(set)
    for change in transition.change.blocks:
        version = after.extraction.find_version(change.key[0]) or before.extraction.version(change.key[0])
        found[Group(version.schema_id, change.key[1])].add(change.key[0])
    for schema_id, version_ids in _restructured_schemas(transition).items():
        keys = {w for each in (before, after) for id_ in version_ids for _, w in each.matrix.column_keys(id_)}
        for w in keys:
            found[Group(schema_id, w)] |= version_ids
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
