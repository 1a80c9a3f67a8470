"""The columns of a tree: questions about many versions and attributes at once.

A version is named by its row: 0 and above in the tree's base, ``~row`` (below 0) in a second base made of the few
versions that were edited since. What typed sinks make of the values of one type as another is worked out once for each
pair of types that meets.

Cost: of a question, what is asked, and a search in sorted ids for each attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from metl_gui.core.trees.nodes import Attribute, Version
from metl_gui.core.trees.trees import Tree, TreeBase, base_of
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.values import Value

Ints: TypeAlias = NDArray[np.signedinteger[Any]]

NOWHERE = -(2**31)
"""The row of a version that is not there, and the place of an attribute that its version has not."""


def search(ascending: Ints, values: Ints | int, side: Literal["left", "right"] = "left") -> Ints:
    """Find values in a sorted array; of another type they would make numpy copy the whole array."""
    return ascending.searchsorted(np.asarray(values).astype(ascending.dtype, copy=False), side=side)


def spread(low: Ints, high: Ints) -> Ints:
    """Return all numbers of half-open ranges, one range after the other."""
    counts = high - low
    ends = np.cumsum(counts)
    numbers: Ints = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(low - (ends - counts), counts)
    return numbers


class _Ids(Value, eq=False):
    """Finds attributes of a base by id.

    Shape: ``order`` has one entry an attribute, ``None`` where ids ascend, as they do unless versions were edited.
    """

    base: TreeBase
    order: Ints | None

    @classmethod
    def of(cls, base: TreeBase) -> _Ids:
        ascends = len(base.id) < 2 or bool((base.id[1:] > base.id[:-1]).all())
        return cls(base, None if ascends else np.argsort(base.id, kind="stable").astype(np.int32))

    def find(self, ids: Ints) -> Ints:
        """Return the row of every attribute id, -1 where there is none."""
        own = self.base.id
        if not len(own):
            return np.full(len(ids), -1, np.int64)
        if self.order is None and int(own[-1]) - int(own[0]) == len(own) - 1:
            at = ids.astype(np.int64) - int(own[0])
            return np.where((at >= 0) & (at < len(own)), at, -1)
        if self.order is None:
            at = np.minimum(search(own, ids), len(own) - 1)
        else:
            at = np.searchsorted(own, ids.astype(own.dtype), sorter=self.order)
            at = self.order[np.minimum(at, len(own) - 1)]
        return np.where(own[at] == ids, at, -1)


class Nodes(Value, eq=False, dict=True):
    """The versions and attributes of one tree at one state."""

    tree: Tree
    base: TreeBase
    edited: TreeBase
    removed: frozenset[int]
    _ids: dict[bool, _Ids] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        """Take a tree apart; what was edited since its base was made is put into columns of its own."""
        edited = list(tree.edited_versions())
        removed = frozenset(id_ for id_, version in edited if version is None)
        return cls(tree, tree.base, base_of((), [v for _, v in edited if v is not None]), removed)

    def rows(self, version_ids: Ints) -> Ints:
        """Return the row of every version, ``NOWHERE`` where the tree has none."""
        found = _rows(self.base, version_ids)
        if len(self.edited.version_id) or self.removed:
            edited = _rows(self.edited, version_ids)
            found = np.where(edited >= 0, ~edited, found)
            gone = np.isin(version_ids, np.fromiter(self.removed, np.int64, len(self.removed)))
            found[gone] = NOWHERE
        return found.astype(np.int32)

    def row(self, version_id: int) -> int:
        """Return the row of one version, as of ``rows``."""
        edited = self.edited.row(version_id)
        if edited >= 0:
            return ~edited
        found = self.base.row(version_id) if version_id not in self.removed else -1
        return found if found >= 0 else NOWHERE

    def widths(self, rows: Ints) -> Ints:
        """Return how many attributes every version has."""
        return self._starts(rows, 1) - self._starts(rows, 0)

    def places(self, rows: Ints, attribute_ids: Ints) -> Ints:
        """Return where in its version every attribute stands, ``NOWHERE`` where the version has it not.

        Shape: one version and one attribute for every entry.
        """
        found = self._found(rows, attribute_ids)
        start, stop = self._starts(rows, 0), self._starts(rows, 1)
        places: Ints = np.where((found >= start) & (found < stop), found - start, NOWHERE)
        return places

    def kinds(self, rows: Ints, attribute_ids: Ints) -> Ints:
        """Return a number for the type of every attribute, which must be there: an entry of ``kind_nodes``."""
        found = self._found(rows, attribute_ids)
        old = rows >= 0
        if old.all():
            return self.base.type[found]
        kinds = np.zeros(len(rows), np.int64)
        kinds[old] = self.base.type[found[old]]
        kinds[~old] = self.edited.type[found[~old]].astype(np.int64) + len(self.base.types)
        return kinds

    def _found(self, rows: Ints, attribute_ids: Ints) -> Ints:
        """Return the row of every attribute in the base of its version, -1 where it is not there."""
        old = rows >= 0
        if old.all():
            return self._ids_of(is_base=True).find(attribute_ids)
        found = np.full(len(rows), -1, np.int64)
        for part, is_base in ((old, True), (~old, False)):
            found[part] = self._ids_of(is_base=is_base).find(attribute_ids[part])
        return found

    def paths(self, rows: Ints) -> Ints:
        """Return a number for the path of every attribute of versions, one version after the other (see ``text``)."""
        parts = []
        for base, own, first in ((self.base, rows >= 0, 0), (self.edited, rows < 0, self._texts)):
            at = np.where(rows >= 0, rows, ~rows)[own].astype(np.int64)
            numbers = spread(base.start[at], base.start[at + 1])
            parts.append(base.path[numbers].astype(np.int64) + first)
        whole = np.empty(len(parts[0]) + len(parts[1]), np.int64)
        is_old = np.repeat(rows >= 0, self.widths(rows))
        whole[is_old], whole[~is_old] = parts
        return whole

    def text(self, number: int) -> str:
        """Return the path that a number of ``paths`` stands for."""
        return self.base.texts[number] if number < self._texts else self.edited.texts[number - self._texts]

    @property
    def _texts(self) -> int:
        return len(self.base.texts.offsets) - 1

    def attribute_ids(self, row: int) -> Ints:
        """Return the ids of the attributes of one version."""
        base, at = self._at(row)
        return base.id[int(base.start[at]) : int(base.start[at + 1])]

    def attribute_id(self, row: int, place: int) -> int:
        """Return the id of one attribute of a version."""
        base, at = self._at(row)
        return int(base.id[int(base.start[at]) + place])

    def path(self, row: int, place: int) -> str:
        """Return the path of one attribute of a version."""
        base, at = self._at(row)
        return base.texts[int(base.path[int(base.start[at]) + place])]

    def label(self, row: int) -> str:
        """Return the label of a version."""
        base, at = self._at(row)
        return base.facts[at].labels[0]

    @cached_property
    def kind_nodes(self) -> tuple[Attribute, ...]:
        """An attribute of every type, for questions about types."""
        types = (*self.base.types, *self.edited.types)
        return tuple(Attribute(0, "", kind.type, 0, kind.logical, kind.scale) for kind in types)

    def version(self, version_id: int) -> Version:
        """Make the object of a version."""
        return self.tree.version(version_id)

    def find_attribute(self, attribute_id: int) -> tuple[int, int] | None:
        """Return (version row, place) of an attribute, ``None`` when no version has it."""
        for is_base, base in ((False, self.edited), (True, self.base)):
            found = int(self._ids_of(is_base=is_base).find(np.array([attribute_id], np.int64))[0])
            at = int(search(base.start, found, "right")) - 1
            # What the base says of a version that was edited since is out of date.
            if found >= 0 and (not is_base or int(self.rows(base.version_id[at : at + 1])[0]) == at):
                return at if is_base else ~at, found - int(base.start[at])
        return None

    def homes(self, attribute_ids: Ints) -> tuple[Ints, Ints]:
        """Return (version row, place) of attributes of whatever version; ``NOWHERE`` for those that no version has."""
        rows, places = np.full(len(attribute_ids), NOWHERE, np.int64), np.full(len(attribute_ids), NOWHERE, np.int64)
        for is_base, base in ((True, self.base), (False, self.edited)):
            found = self._ids_of(is_base=is_base).find(attribute_ids)
            at = search(base.start, np.maximum(found, 0), "right") - 1
            is_there = found >= 0
            if is_base and (len(self.edited.version_id) or self.removed) and is_there.any():
                is_there[is_there] = self.rows(base.version_id[at[is_there]]) == at[is_there]
            rows[is_there] = at[is_there] if is_base else ~at[is_there]
            places[is_there] = found[is_there] - base.start[at[is_there]]
        return rows, places

    def _ids_of(self, *, is_base: bool) -> _Ids:
        if is_base not in self._ids:
            self._ids[is_base] = _Ids.of(self.base if is_base else self.edited)
        return self._ids[is_base]

    def _at(self, row: int) -> tuple[TreeBase, int]:
        return (self.base, row) if row >= 0 else (self.edited, ~row)

    def _starts(self, rows: Ints, later: int) -> Ints:
        old = rows >= 0
        if old.all():
            return self.base.start[rows.astype(np.int64) + later]
        found = np.zeros(len(rows), np.int64)
        found[old] = self.base.start[rows[old].astype(np.int64) + later]
        found[~old] = self.edited.start[(~rows[~old]).astype(np.int64) + later]
        return found


def _rows(base: TreeBase, version_ids: Ints) -> Ints:
    if not len(base.version_id):
        return np.full(len(version_ids), NOWHERE, np.int64)
    last = len(base.version_id) - 1
    if int(base.version_id[-1]) - int(base.version_id[0]) == last:
        found = np.clip(version_ids.astype(np.int64) - int(base.version_id[0]), 0, last)
    else:
        found = np.minimum(search(base.version_id, version_ids), last)
    return np.where(base.version_id[found] == version_ids, found, NOWHERE)


_UNKNOWN = -1
_FEW_PAIRS = 4_096


@dataclass(frozen=True, eq=False)
class TypeVerdicts:
    """The verdicts on the types of two trees.

    Shape: ``_known`` has one entry a pair of types: -1 not asked yet, else a ``TypeVerdict``.
    Cost: one look-up an element, and one verdict for each new pair of types.
    """

    columns: Nodes
    rows: Nodes
    _known: npt.NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        pairs = len(self.columns.kind_nodes) * len(self.rows.kind_nodes)
        object.__setattr__(self, "_known", np.full(pairs, _UNKNOWN, np.int8))

    @cached_property
    def can_refuse(self) -> bool:
        """Whether values of any type may be refused as any other; not looked into where there are many."""
        if len(self._known) > _FEW_PAIRS:
            return True
        self._ask(np.flatnonzero(self._known == _UNKNOWN))
        return bool((self._known == TypeVerdict.MAY_REFUSE).any())

    def of(self, column_kinds: Ints, row_kinds: Ints) -> npt.NDArray[np.int8]:
        """Return the ``TypeVerdict`` on every pair of kinds (see ``Nodes.kinds``)."""
        pairs = column_kinds.astype(np.int64) * len(self.rows.kind_nodes) + row_kinds
        found: npt.NDArray[np.int8] = self._known[pairs]
        if (found == _UNKNOWN).any():
            self._ask(np.unique(pairs[found == _UNKNOWN]))
            found = self._known[pairs]
        return found

    def _ask(self, pairs: Ints) -> None:
        height = len(self.rows.kind_nodes)
        for pair in pairs.tolist():
            source, target = self.columns.kind_nodes[pair // height], self.rows.kind_nodes[pair % height]
            self._known[pair] = type_verdict(source, target)
