"""Compact (A3) and decompact (A4) one group (o, r, w) of the matrix.

The dense set holds every block; the compact set (DUSB) keeps, in ascending version order, only the blocks that differ
from the one before. Two blocks are equivalent when they hold the same set of (c_q, lineage of a_p); within a group w
is fixed, so c_q stands for its lineage. Whole matrices are done in ``core.bulk``.
Source: dmm.md §4 (A3, A4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from metl_gui.core.blocks import Element
from metl_gui.core.matrix import DpmView
from metl_gui.core.nodes import Version
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
        touched: ids of versions, as ``core.touched_groups.touched_versions`` names them.

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
