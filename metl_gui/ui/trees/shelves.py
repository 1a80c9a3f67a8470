"""In which order and under which groups the schemas of a tree stand, kept without a Python object each.

Order: by group, then by name in the extraction tree and by id in the CDM tree, as on the axes of the matrix. The
members of a group are sorted when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, takewhile

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.core.trees.trees import Tree

Ints = NDArray[np.int64]
_STEP_SCHEMAS = 4_000


class Shelves:
    """The groups of a tree and what stands in each.

    Args:
        side: decides the order within a group.
        tree: ``fill`` must go through before anything is asked.
    """

    def __init__(self, side: Side, tree: Tree) -> None:
        self._by_name = side is Side.EXTRACTION
        self._tree = tree
        self._members: dict[str, dict[int, None]] = {}
        self._ordered: dict[str, Ints] = {}
        self._flat: tuple[list[str], Ints, Ints] | None = None
        self._common = 0

    def fill(self) -> Iterator[None]:
        """Put every schema on its shelf, step by step."""
        for at, schema in enumerate(self._tree.schemas()):
            self._put(schema.id, schema.name)
            if at % _STEP_SCHEMAS == _STEP_SCHEMAS - 1:
                yield

    def follow(self, tree: Tree) -> None:
        """Take up what an edit of the tree brought, took or renamed; both trees have the same base."""
        before, self._tree = self._tree, tree
        for id_ in before.edited_schemas() | tree.edited_schemas():
            old, new = before.find_schema(id_), tree.find_schema(id_)
            if old is not None and (new is None or new.name != old.name):
                self._take_off(id_, old.name)
            if new is not None and (old is None or new.name != old.name):
                self._put(id_, new.name)

    def __len__(self) -> int:
        return sum(map(len, self._members.values()))

    def groups(self, passing: Ints | None = None) -> list[str]:
        """Return the names of the groups, sorted; of a filter only those of which a schema passes.

        Args:
            passing: ids of the schemas that pass, ``None`` without a filter.
        """
        names, ids, starts = self._columns()
        if passing is None or not names:
            return [name for name in names if name]
        found = np.maximum.reduceat(_marks(passing, ids), starts)
        return [names[at] for at in np.flatnonzero(found) if names[at]]

    def members(self, group: str, passing: Ints | None = None) -> Ints:
        """Return the ids of the schemas of one group in their order, ``""`` for those without one."""
        ids = self._sorted(group)
        return ids if passing is None else ids[_marks(passing, ids).astype(np.bool_)]

    def short(self, group: str) -> str:
        """Return the name of a group without the parts that the names of all groups begin with."""
        self._columns()
        return ".".join(group.split(".")[self._common :])

    def count(self, group: str) -> int:
        """Count the schemas of one group."""
        return len(self._members.get(group, ()))

    def _columns(self) -> tuple[list[str], Ints, Ints]:
        """Return group names, all ids group by group, and where each group begins."""
        if self._flat is None:
            names = sorted(self._members)
            counts = np.array([len(self._members[name]) for name in names], np.int64)
            ids = np.fromiter(chain.from_iterable(self._members[name] for name in names), np.int64)
            self._flat = names, ids, np.cumsum(counts) - counts
            self._common = _common_parts([name.split(".") for name in names if name])
        return self._flat

    def _sorted(self, group: str) -> Ints:
        if group not in self._ordered:
            ids = self._members.get(group, {})
            ordered = sorted(ids, key=lambda id_: self._tree.schema(id_).name) if self._by_name else sorted(ids)
            self._ordered[group] = np.array(ordered, np.int64)
        return self._ordered[group]

    def _put(self, id_: int, name: str) -> None:
        self._forget(name)
        self._members.setdefault(group_of(name), {})[id_] = None

    def _take_off(self, id_: int, name: str) -> None:
        self._forget(name)
        group = group_of(name)
        del self._members[group][id_]
        if not self._members[group]:
            del self._members[group]

    def _forget(self, name: str) -> None:
        self._ordered.pop(group_of(name), None)
        self._flat = None


def _common_parts(names: list[list[str]]) -> int:
    """Count the parts that all names begin with, so that each keeps one of its own."""
    if not names:
        return 0
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(names), max(names), strict=False))
    return min(len(list(same)), min(map(len, names)) - 1)


def _marks(passing: Ints, ids: Ints) -> NDArray[np.uint8]:
    """Return 1 for each id that passes; as a table, because a search in sorted ids costs ten times as much."""
    table = np.zeros(int(max(ids.max(initial=0), passing.max(initial=0))) + 1, np.uint8)
    table[passing] = 1
    return table[ids]
