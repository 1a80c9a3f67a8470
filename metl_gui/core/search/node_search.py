"""Find nodes of a tree by a few words, the likeliest first: what search everywhere shows while somebody types.

Every word must stand in the path of an attribute or in the name of its schema, at least one in the path. A name is the
likelier the better the words fit (whole, at its beginning, at the beginning of a part, inside), then the shorter it is.
Newest versions are searched first: an attribute that is gone in the newest version is found when others are few.
Cost: as a filter, numpy over ids; distinct texts are matched once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.text_columns import ABSENT, INSIDE
from metl_gui.core.trees.tree_columns import BaseColumns, Part, TreeColumns
from metl_gui.values import Value

_LENGTHS = 256
_LOST = 100


class FoundNode(Value):
    """A schema or entity, or an attribute of one.

    Args:
        schema_id: the schema or entity.
        version_id, attribute_id: of an attribute; 0 for a schema.
        rank: the lower, the likelier.
    """

    schema_id: int
    version_id: int
    attribute_id: int
    rank: int


class FoundNodes(Value):
    """The likeliest nodes, and how many there are in all (attributes: of newest versions)."""

    nodes: tuple[FoundNode, ...]
    count: int


_NONE = FoundNodes((), 0)


def find_schemas(columns: TreeColumns, words: Sequence[str], most: int) -> FoundNodes:
    """Find schemas or entities whose name or alias has every word."""
    found: list[FoundNode] = []
    count = 0
    for part in columns.parts if words else ():
        names = part.columns.names
        ranks = _summed([_lost_where_absent(names.ranks(word)) for word in words])
        ranks[_gone_schemas(part)] = _LOST
        best, total = _best(ranks, np.diff(names.offsets), most)
        count += total
        found += [FoundNode(int(part.columns.schema_ids[row]), 0, 0, rank) for row, rank in best]
    return FoundNodes(tuple(sorted(found, key=lambda node: node.rank)[:most]), count)


def find_attributes(columns: TreeColumns, words: Sequence[str], most: int) -> FoundNodes:
    """Find attributes by path, or by path and schema name together."""
    if not words:
        return _NONE
    searches = [_AttributeSearch(part, words) for part in columns.parts]
    newest = [search.find(is_newest=True, most=most) for search in searches]
    found = [node for nodes, _ in newest for node in nodes]
    count = sum(total for _, total in newest)
    if len(found) < most:
        known = {_lineage(columns, node) for node in found}
        for search in searches:
            for node in search.find(is_newest=False, most=4 * most)[0]:
                lineage = _lineage(columns, node)
                if lineage not in known and len(known) < most:
                    known.add(lineage)
                    found.append(node)
                    count += 1
    return FoundNodes(tuple(sorted(found, key=lambda node: node.rank)[:most]), count)


def _lineage(columns: TreeColumns, node: FoundNode) -> int:
    attribute = columns.tree.version(node.version_id).attribute(node.attribute_id)
    return attribute.lineage if attribute is not None else 0


class _AttributeSearch:
    """Words on one part of a tree."""

    def __init__(self, part: Part, words: Sequence[str]) -> None:
        self._part = part
        columns = part.columns
        self._texts = [columns.paths.ranks(word) for word in words]
        self._schemas = [columns.names.having(word) for word in words] if len(words) > 1 else []
        used = np.zeros(len(columns.paths), np.bool_)
        for ranks in self._texts:
            used |= ranks != ABSENT
        self._any_text = used

    def find(self, is_newest: bool, most: int) -> tuple[list[FoundNode], int]:
        """Find attributes of newest or of all other versions."""
        if not self._any_text.any():
            return [], 0
        columns = self._part.columns
        rows = np.flatnonzero(columns.is_newest == is_newest)
        if self._part.is_here is not None:
            rows = rows[self._part.is_here[rows]]
        at = columns.newest_positions if is_newest and self._part.is_here is None else columns.positions(rows)
        at = at[self._any_text[columns.base.path[at]]]
        if not len(at):
            return [], 0
        paths = columns.base.path[at]
        ranks = _summed([self._with_schemas(word, paths, at) for word in range(len(self._texts))])
        lengths = np.diff(columns.paths.offsets)[paths]
        best, count = _best(ranks, lengths, most)
        return [self._node(int(at[place]), rank) for place, rank in best], count

    def _with_schemas(self, word: int, paths: NDArray[np.int32], at: NDArray[np.intp]) -> NDArray[np.int16]:
        """Rank one word on attributes: in the path, or else in the name of the schema."""
        ranks = _lost_where_absent(self._texts[word][paths])
        if self._schemas and self._schemas[word].any():
            columns = self._part.columns
            versions = np.searchsorted(columns.base.start, at, side="right") - 1
            in_name = self._schemas[word][columns.schema_row[versions]]
            ranks[in_name & (ranks == _LOST)] = INSIDE
        return ranks

    def _node(self, at: int, rank: int) -> FoundNode:
        base = self._part.columns.base
        row = int(np.searchsorted(base.start, at, side="right")) - 1
        return FoundNode(int(base.schema_id[row]), int(base.version_id[row]), int(base.id[at]), rank)


def _summed(ranks: list[NDArray[np.int16]]) -> NDArray[np.int16]:
    """Add the ranks of all words; what is lost by one stays so, however many there are."""
    found = np.zeros(len(ranks[0]), np.int16)
    for each in ranks:
        found = np.minimum(found + each, np.int16(_LOST))
    return found


def _lost_where_absent(ranks: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Rank a word that is absent so low that no other word makes up for it."""
    found = ranks.astype(np.int16)
    found[ranks == ABSENT] = _LOST
    return found


def _best(ranks: NDArray[np.int16], lengths: NDArray[np.int64], most: int) -> tuple[list[tuple[int, int]], int]:
    """Return (place, rank) of the likeliest, and how many fit."""
    places = np.flatnonzero(ranks < _LOST)
    keys = (ranks[places] * _LENGTHS + np.minimum(lengths[places], _LENGTHS - 1)).astype(np.uint16)
    order = np.argsort(keys, kind="stable")[:most]
    return list(zip(places[order].tolist(), keys[order].tolist(), strict=True)), len(places)


def _gone_schemas(part: Part) -> NDArray[np.bool_]:
    """Mark the schemas of a base that stand in the other part."""
    columns: BaseColumns = part.columns
    gone = np.zeros(len(columns.schema_ids), np.bool_)
    if part.is_here is not None:
        gone[columns.schema_row[~part.is_here]] = True
    return gone
