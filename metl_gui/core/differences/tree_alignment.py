"""Two trees beside each other as columns: which version and attribute of one is which of the other, what differs.

Cost: linear in the columns of both; a value of Python only for distinct texts and types, and for each schema.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.node_matches import Matching
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.trees import Tree, TreeBase
from metl_gui.core.trees.version_facts import as_columns
from metl_gui.values import Value

Ints: TypeAlias = NDArray[np.int32]
Indices: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]


def aligned(side: Side, before: Tree, after: Tree, matching: Matching) -> TreeAlignment:
    """Lay a tree beside another one."""
    old, new = (tree.base if tree.is_merged else tree.merged().base for tree in (before, after))
    return TreeAlignment(side, old, new, matching)


class TreeAlignment(Value, eq=False, dict=True):
    """Two trees, and which part of the second is which of the first.

    Shape: as in ``TreeBase``: n versions and m attributes after.
    """

    side: Side
    old: TreeBase
    new: TreeBase
    matching: Matching

    @cached_property
    def rows(self) -> Indices:
        """Row before of each version after, -1 where it is new; intp of n."""
        ids = self.new.version_id
        if not self.matching.is_by_ids:
            found = (self.matching.version(self.side, id_) or -1 for id_ in ids.tolist())
            ids = np.fromiter(found, np.int32, len(ids))
        return _found(self.old.version_id, ids)

    @cached_property
    def places(self) -> Indices:
        """Place before of each attribute after, -1 where its version has none such; intp of m."""
        if self.matching.is_by_ids:
            order = np.argsort(self.old.id, kind="stable")
            return _through(order, _found(self.old.id[order], self.new.id))
        count = len(self.old.texts.offsets)
        old_row = np.repeat(np.arange(len(self.old.version_id)), np.diff(self.old.start))
        old_key = old_row * count + self.old.path
        order = np.argsort(old_key, kind="stable")
        row, text = self.rows[self.version_row], self._texts_before(self.new.path)
        new_key = np.where((row < 0) | (text < 0), -1, row * count + text)
        return _through(order, _found(old_key[order], new_key))

    @cached_property
    def version_row(self) -> Indices:
        """Row of the version of each attribute after; intp of m."""
        return np.repeat(np.arange(len(self.new.version_id)), np.diff(self.new.start))

    def versions_before(self, ids: Ints) -> Ints:
        """Return ids of versions before by their ids after, -1 where there is none; int32, shaped as ``ids``."""
        rows = _through(self.rows, _found(self.new.version_id, ids))
        return _through(self.old.version_id, rows).astype(np.int32)

    def attributes_before(self, ids: Ints) -> Ints:
        """Return ids of attributes before by their ids after, -1 where there is none; int32, shaped as ``ids``."""
        order, sorted_ids = self._by_id
        places = _through(self.places, _through(order, _found(sorted_ids, ids)))
        return _through(self.old.id, places).astype(np.int32)

    @cached_property
    def _by_id(self) -> tuple[Indices, Ints]:
        order = np.argsort(self.new.id, kind="stable")
        return order, self.new.id[order]

    def changed_schemas(self) -> list[tuple[int | None, int | None]]:
        """List the schemas or entities that may differ, by ids before and after."""
        known = {id_: self.matching.schema(self.side, id_) for id_ in self.new.schemas}
        changed = set(self.new.schema_id[self._changed_versions()].tolist())
        pairs: list[tuple[int | None, int | None]] = []
        for id_, schema in self.new.schemas.items():
            before = known[id_]
            if before is None or id_ in changed or self._is_other(self.old.schemas[before], schema):
                pairs.append((before, id_))
        met = set(known.values())
        return [*pairs, *((id_, None) for id_ in self.old.schemas if id_ not in met)]

    def _is_other(self, before: Schema, after: Schema) -> bool:
        facts = ((s.name, sorted(s.aliases), s.settings) for s in (before, after))
        if before is after:
            return False
        if before.ignored or after.ignored:
            return True
        versions = tuple(self.matching.version(self.side, id_) for id_ in after.version_ids)
        return next(facts) != next(facts) or versions != before.version_ids

    def _changed_versions(self) -> Indices:
        """Rows of the versions that differ, or are new."""
        rows = self.rows
        is_other = rows < 0
        met = np.flatnonzero(~is_other)
        is_other[met] |= np.diff(self.new.start)[met] != np.diff(self.old.start)[rows[met]]
        is_other[met] |= self._other_facts(met)
        is_other[self.version_row[self._changed_attributes()]] = True
        return np.flatnonzero(is_other)

    def _other_facts(self, met: Indices) -> Bools:
        old, new = as_columns(self.old.facts), as_columns(self.new.facts)
        at = self.rows[met]
        found: Bools = _translated(old.labels, new.labels)[new.label[met]] != old.label[at]
        found |= _translated(old.keys, new.keys)[new.key[met]] != old.key[at]
        return found

    def _changed_attributes(self) -> Bools:
        """Return which attributes are new to their version or are told of differently; of m."""
        places = self.places
        is_other = places < 0
        met = np.flatnonzero(~is_other)
        at = places[met]
        types = _translated(self.old.types, self.new.types)
        differs = types[self.new.type[met]] != self.old.type[at]
        differs |= self.new.optional[met] != self.old.optional[at]
        if self.matching.is_by_ids:
            differs |= self._texts_before(self.new.doc[met]) != self.old.doc[at]
        differs |= _are_grouped_otherwise(self.old.lineage[at], self.new.lineage[met])
        is_other[met] |= differs
        return is_other

    def _texts_before(self, rows: Ints) -> Ints:
        """Return rows of texts before for rows of texts after, -1 for a text that is new."""
        if self.old.texts is self.new.texts:
            return rows
        table = np.full(len(self.new.texts.offsets), -1, np.int32)
        used = np.unique(rows)
        known = self._text_rows
        table[used] = [known.get(self.new.texts[row], -1) for row in used.tolist()]
        return table[rows]

    @cached_property
    def _text_rows(self) -> dict[str, int]:
        used = np.unique(np.concatenate([self.old.path, self.old.doc]))
        return {self.old.texts[row]: row for row in used.tolist()}


def _found(known: NDArray[np.generic], wanted: NDArray[np.generic]) -> Indices:
    """Indices of values in sorted values, -1 for those that are not there."""
    if not len(known):
        return np.full(len(wanted), -1, np.intp)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)


def _through(values: NDArray[np.integer], places: Indices) -> Indices:
    """Take values at places, -1 where the place is -1."""
    found = np.full(len(places), -1, np.intp)
    is_there = places >= 0
    found[is_there] = values[places[is_there]]
    return found


def _translated(old: Sequence[Hashable], new: Sequence[Hashable]) -> Ints:
    """Row in the old table of each value of the new one, -1 where it has none."""
    rows = {value: row for row, value in enumerate(old)}
    return np.array([rows.get(value, -1) for value in new], np.int32)


def _are_grouped_otherwise(old: Ints, new: Ints) -> Bools:
    """Tell of which attributes the lineage before and the one after do not stand for each other alone."""
    if not len(old):
        return np.zeros(0, np.bool_)
    pairs, which = np.unique(old.astype(np.int64) << 32 | new.astype(np.int64), return_inverse=True)
    is_shared = np.zeros(len(pairs), np.bool_)
    for side in (pairs >> 32, pairs & 0xFFFFFFFF):
        _, back, counts = np.unique(side, return_inverse=True, return_counts=True)
        is_shared |= counts[back] > 1
    found: Bools = is_shared[which]
    return found
