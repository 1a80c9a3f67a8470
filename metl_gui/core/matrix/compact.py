"""Compact (A3) and decompact (A4): one group (o, r, w) of the matrix, or the whole matrix at once.

The dense set holds every block; the compact set (DUSB) keeps, in ascending version order, only the blocks that differ
from the one before. Two blocks are equivalent when they hold the same set of (c_q, lineage of a_p); within a group w
is fixed, so c_q stands for its lineage.

``compact`` and ``decompact`` are the readable form of the rules, for single groups. ``compact_all`` and
``decompact_all`` do every group at once, on columns. Cost: a few sorts and passes over all ones and attributes; about
as much memory again while it runs.
Source: docs/architecture/model.md, "Algorithms" (A3, A4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.matrix import DpmBase, DpmView
from metl_gui.core.trees.columns import Indices, Longs, laid_out, starts_of
from metl_gui.core.trees.nodes import Version
from metl_gui.core.trees.trees import ReadableTree, TreeBase
from metl_gui.errors import BugError
from metl_gui.values import Value


class GroupKey(NamedTuple):
    """The blocks between all versions of one schema and one entity version: (o, w)."""

    schema_id: int
    entity_version: int


class CompactBlock(NamedTuple):
    """One block of the compact set; without elements it is a kept null block."""

    version: int
    elements: tuple[Element, ...]


def compact(versions: Iterable[Version], blocks: Mapping[int, tuple[Element, ...]]) -> tuple[CompactBlock, ...]:
    """Keep the blocks that differ from the one before (A3).

    Args:
        versions: all versions of the schema, oldest first.
        blocks: elements by version id; a missing or empty entry is a null block.

    Returns:
        The kept blocks, oldest first; leading null blocks are not kept.
    """
    kept: list[CompactBlock] = []
    last: frozenset[tuple[int, int]] = frozenset()
    for version in versions:
        elements = blocks.get(version.id, ())
        lineages = {attribute.id: attribute.lineage for attribute in version.attributes} if elements else {}
        content = frozenset((q, lineages[p]) for q, p in elements)
        if content != last:
            kept.append(CompactBlock(version.id, tuple(sorted(elements))))
            last = content
    return tuple(kept)


def decompact(versions: Iterable[Version], kept: Iterable[CompactBlock]) -> dict[int, tuple[Element, ...]]:
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


def compact_group(versions: Iterable[Version], matrix: DpmView, group: GroupKey) -> tuple[CompactBlock, ...]:
    """Compact one group of a matrix."""
    ordered = tuple(versions)
    found = ((v.id, matrix.block(v.id, group.entity_version)) for v in ordered)
    return compact(ordered, {id_: block.elements for id_, block in found if block is not None})


Kept: TypeAlias = dict[int, tuple[Element, ...] | None]
"""Elements that are kept of a group, by version id; ``None`` where nothing is."""


def compact_again(
    tree: ReadableTree, matrix: DpmView, touched: Mapping[GroupKey, Collection[int]]
) -> dict[GroupKey, Kept]:
    """Compact groups where they were touched: those versions and the ones behind them.

    Args:
        tree: the extraction tree as it is now.
        matrix: the matrix as it is now.
        touched: ids of versions by group, as ``changes.touched_groups.touched_versions`` names them.

    Cost: the touched versions, whose attributes are looked up together.
    """
    schemas = {group: tree.find_schema(group.schema_id) for group in touched}
    ids_of = {group: schema.version_ids if schema else () for group, schema in schemas.items()}
    places = {group: _places(ids_of[group], own) for group, own in touched.items()}
    compared = {ids_of[group][each] for group, own in places.items() for at in own for each in (max(at - 1, 0), at)}
    lineage_of = tree.lineage_by_attribute(compared)
    return {
        group: dict.fromkeys(own) | _kept(matrix, group.entity_version, ids_of[group], places[group], lineage_of)
        for group, own in touched.items()
    }


def _places(ids: tuple[int, ...], touched: Collection[int]) -> list[int]:
    """Return where touched versions of a schema stand, and the ones behind them."""
    found = [at for at, id_ in enumerate(ids) if id_ in touched]
    return sorted({at + step for at in found for step in (0, 1)} - {len(ids)})


def _kept(
    matrix: DpmView, entity_version: int, ids: tuple[int, ...], places: list[int], lineage_of: Mapping[int, int]
) -> Kept:
    """Compare the blocks of some versions with those before them."""

    def content_at(at: int) -> tuple[tuple[Element, ...], frozenset[tuple[int, int]]]:
        """Return the elements of a version and what they say: (c_q, lineage of a_p)."""
        block = matrix.block(ids[at], entity_version)
        elements = block.elements if block is not None else ()
        return elements, frozenset([(q, lineage_of[p]) for q, p in elements])

    found: Kept = {}
    last, before = -1, frozenset[tuple[int, int]]()
    for at in places:
        if last != at - 1:  # the one before it is none that may have changed
            before = content_at(at - 1)[1]
        elements, content = content_at(at)
        found[ids[at]] = tuple(sorted(elements)) if content != before else None
        last, before = at, content
    return found


Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]


class ElementColumns(Value, eq=False):
    """Blocks and their ones, dense or compact.

    Shape: ``version`` and ``entity_version`` int32 of n blocks, ``start`` int64 of n + 1, ``q`` and ``p`` int32 of m.
    Order: by (version id, entity version id); within a block by q. In a compact set a block without ones is a kept
    null block.
    """

    version: Ints
    entity_version: Ints
    start: Longs
    q: Ints
    p: Ints


class _Order(Value, eq=False):
    """Every version of the tree, schema by schema, oldest first, and where each version id stands in that row."""

    version: Ints
    schema: Ints
    rank_of_row: Longs

    @classmethod
    def of(cls, tree: TreeBase) -> _Order:
        schemas = list(tree.schemas.values())
        version = np.array([id_ for schema in schemas for id_ in schema.version_ids], np.int32)
        schema = np.repeat(
            np.array([s.id for s in schemas], np.int32), np.array([len(s.version_ids) for s in schemas], np.int64)
        )
        rank_of_row = np.zeros(len(tree.version_id), np.int64)
        rank_of_row[np.searchsorted(tree.version_id, version)] = np.arange(len(version))
        return cls(version, schema, rank_of_row)

    def ranks(self, tree: TreeBase, version: Ints) -> Longs:
        """Ranks of versions by id."""
        return self.rank_of_row[np.searchsorted(tree.version_id, version)]


def compact_all(tree: TreeBase, matrix: DpmBase) -> ElementColumns:
    """Keep, in each group, the blocks that differ from the one before (A3)."""
    order = _Order.of(tree)
    rank = order.ranks(tree, matrix.version)
    length = np.diff(matrix.start)
    stride = np.int64(matrix.entity_version.max(initial=0) + 1)
    key = rank * stride + matrix.entity_version
    by_key = np.argsort(key, kind="stable")
    full = length > 0
    before = _row_at(key, by_key, key - stride, full)
    has_before = (before >= 0) & _same_schema(order, rank, rank - 1)
    equal = _equal_blocks(tree, matrix, np.flatnonzero(has_before & full), before)
    kept = np.flatnonzero(full & ~equal)
    after = _row_at(key, by_key, key + stride, full)
    ended = np.flatnonzero(full & (after < 0) & _same_schema(order, rank, rank + 1))
    version = np.concatenate([matrix.version[kept], order.version[rank[ended] + 1]])
    entity_version = np.concatenate([matrix.entity_version[kept], matrix.entity_version[ended]])
    lengths = np.concatenate([length[kept], np.zeros(len(ended), np.int64)])
    firsts = np.concatenate([matrix.start[kept], np.zeros(len(ended), np.int64)])
    sort = np.lexsort((entity_version, version))
    at = laid_out(firsts[sort], lengths[sort])
    return ElementColumns(version[sort], entity_version[sort], starts_of(lengths[sort]), matrix.q[at], matrix.p[at])


def decompact_all(tree: TreeBase, compact: ElementColumns) -> ElementColumns:
    """Give every version the block kept at the highest kept version not above it (A4).

    Raises:
        BugError: a kept block names a lineage that a version relying on it does not have.
    """
    order = _Order.of(tree)
    rank = order.ranks(tree, compact.version)
    by_group = np.lexsort((rank, compact.entity_version, order.schema[rank]))
    rank, entity_version = rank[by_group], compact.entity_version[by_group]
    length, first = np.diff(compact.start)[by_group], compact.start[:-1][by_group]
    copies = np.where(length > 0, _group_ends(order, rank, entity_version) - rank, 0)
    source = np.repeat(np.arange(len(rank)), copies)
    target = rank[source] + laid_out(np.zeros(len(rank), np.int64), copies)
    version = order.version[target]
    sort = np.lexsort((entity_version[source], version))
    source, target, version = source[sort], target[sort], version[sort]
    lengths = length[source]
    at = laid_out(first[source], lengths)
    rows = np.searchsorted(tree.version_id, version)
    p = _translated(tree, compact, by_group[source], rows, at)
    return ElementColumns(version, entity_version[source], starts_of(lengths), compact.q[at], p)


def _equal_blocks(tree: TreeBase, matrix: DpmBase, rows: Longs, before: Longs) -> Bools:
    """Tell for each of the given block rows whether it holds the same (c_q, lineage) pairs as the one before."""
    equal = np.zeros(len(matrix.version), np.bool_)
    length = np.diff(matrix.start)
    rows = rows[length[rows] == length[before[rows]]]
    if not len(rows):
        return equal
    lineage = _by_attribute(tree, tree.lineage)
    here = laid_out(matrix.start[rows], length[rows])
    there = laid_out(matrix.start[before[rows]], length[rows])
    same = (matrix.q[here] == matrix.q[there]) & (lineage[matrix.p[here]] == lineage[matrix.p[there]])
    equal[rows] = np.logical_and.reduceat(same, starts_of(length[rows])[:-1])
    return equal


def _translated(tree: TreeBase, compact: ElementColumns, source: Longs, row: Longs, at: Indices) -> Ints:
    """Find the attributes that copies of blocks use.

    Args:
        tree: the extraction tree.
        compact: the blocks that are copied.
        source: for each copy the block it is a copy of.
        row: for each copy the row of its version.
        at: for each element of all copies, one copy after the other, its place among the elements of the blocks.
    """
    length, width = np.diff(compact.start)[source], np.diff(tree.start)
    place = _by_attribute(tree, _places_in_versions(tree))[compact.p]
    lineage = _by_attribute(tree, tree.lineage)[compact.p]
    guess = np.repeat(tree.start[row].astype(np.int32), length)
    guess += place[at]
    np.minimum(guess, len(tree.id) - 1, out=guess)
    is_moved = tree.lineage[guess] != lineage[at]
    too_narrow = _widest(compact, place)[source] >= width[row]
    if too_narrow.any():
        is_moved |= np.repeat(too_narrow, length)
    moved = np.flatnonzero(is_moved)
    if len(moved):  # most attributes keep their place from version to version; only the others are looked for
        copy = np.searchsorted(starts_of(length), moved, side="right") - 1
        guess[moved] = _found(tree, row[copy], lineage[at[moved]])
    found: Ints = tree.id[guess]
    return found


def _widest(compact: ElementColumns, place: Ints) -> Ints:
    """The last place that each block uses in its version, -1 for a null block."""
    widest = np.full(len(compact.version), -1, np.int32)
    full = np.flatnonzero(np.diff(compact.start))
    if len(full):
        widest[full] = np.maximum.reduceat(place, compact.start[full])
    return widest


def _found(tree: TreeBase, row: Longs, lineage: Ints) -> Indices:
    """Find the attributes of some versions (by row) that have some lineages, among the attributes of those versions."""
    rows = np.flatnonzero(np.bincount(row))  # ``np.unique`` would load masked arrays, which takes longer
    at = laid_out(tree.start[rows], np.diff(tree.start)[rows])
    stride = np.int64(tree.lineage.max(initial=0) + 1)
    key = np.repeat(rows, np.diff(tree.start)[rows]) * stride + tree.lineage[at]
    sort = np.argsort(key, kind="stable")
    wanted = row * stride + lineage
    place = np.searchsorted(key[sort], wanted)
    if int(place.max()) >= len(sort) or np.any(key[sort[place]] != wanted):
        raise BugError("a kept block of the compact set names a lineage that a later version does not have")
    found: Indices = at[sort[place]]
    return found


def _places_in_versions(tree: TreeBase) -> Ints:
    """Place of every attribute within its version."""
    places: Ints = (np.arange(len(tree.id)) - np.repeat(tree.start[:-1], np.diff(tree.start))).astype(np.int32)
    return places


def _by_attribute(tree: TreeBase, values: Ints) -> Ints:
    """Put one value of every attribute where its id says."""
    found = np.zeros(int(tree.id.max(initial=0)) + 1, np.int32)
    found[tree.id] = values
    return found


def _row_at(key: Longs, by_key: Longs, wanted: Longs, full: Bools) -> Longs:
    """Find the rows of blocks with the wanted keys, -1 where there is none or it is null."""
    if not len(key):
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(key[by_key], wanted), len(key) - 1)
    row = by_key[at]
    return np.where((key[row] == wanted) & full[row], row, -1)


def _same_schema(order: _Order, rank: Longs, other: Longs) -> Bools:
    inside = (other >= 0) & (other < len(order.version))
    safe = np.where(inside, other, rank)
    same: Bools = inside & (order.schema[safe] == order.schema[rank])
    return same


def _group_ends(order: _Order, rank: Longs, entity_version: Ints) -> Longs:
    """Rank at which each kept block stops to hold: the next one of its group, or the end of its schema."""
    schema = order.schema[rank]
    ends = _schema_ends(order)[rank]
    if len(rank) > 1:
        follows = (schema[1:] == schema[:-1]) & (entity_version[1:] == entity_version[:-1])
        ends[:-1] = np.where(follows, rank[1:], ends[:-1])
    return ends


def _schema_ends(order: _Order) -> Longs:
    """For each rank, the rank after the last version of its schema."""
    count = len(order.schema)
    is_last = np.ones(count, np.bool_)
    is_last[:-1] = order.schema[1:] != order.schema[:-1]
    ends = np.flatnonzero(is_last) + 1
    return ends[np.searchsorted(ends, np.arange(count), side="right")] if count else np.zeros(0, np.int64)
