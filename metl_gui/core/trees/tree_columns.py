"""A tree as columns to be asked all at once: its base, and beside it the schemas that were edited since, whole.

A schema stands in one part only, so each part can be asked alone. The columns of the base are worked out once and kept
for as long as the base lives; after an edit only the edited part is made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.text_columns import Haystack
from metl_gui.core.trees.trees import Tree, TreeBase, TypeFacts, base_of
from metl_gui.values import Value

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

STEP_ATTRIBUTES = 250_000
"""So many attributes are looked at between two yields of a stepwise work: some ten milliseconds."""


class LineageChanges(Value, eq=False):
    """What differs between versions that follow each other in their schema.

    Shape: bool of m. ``new``: no earlier version had it (nothing of a first version is). ``came``: the version before
    did not have it. ``goes``: the version after does not have it. ``retyped``: its type is not what it was in the
    version before.
    """

    new: Bools
    came: Bools
    goes: Bools
    retyped: Bools

    @classmethod
    def none(cls, count: int) -> LineageChanges:
        """Return columns in which nothing is marked yet."""
        return cls(*(np.zeros(count, np.bool_) for _ in range(4)))


@dataclass(frozen=True, eq=False)
class BaseColumns:
    """What follows from one columnar base.

    Shape: as in ``TreeBase``: s schemas, n versions, m attributes.
    """

    base: TreeBase
    _changes: list[LineageChanges] = field(default_factory=list, init=False, repr=False)

    @cached_property
    def schema_ids(self) -> Ints:
        """Ids of the schemas, sorted; int32 of s."""
        return np.fromiter(self.base.schemas, np.int32, len(self.base.schemas))

    @cached_property
    def schema_row(self) -> NDArray[np.intp]:
        """Row of each version's schema; of n."""
        return np.searchsorted(self.schema_ids, self.base.schema_id)

    @cached_property
    def paths(self) -> Haystack:
        """The distinct texts of the base, to search in."""
        return Haystack.on(self.base.texts)

    @cached_property
    def names(self) -> Haystack:
        """Name and aliases of each schema, to search in; of s."""
        schemas = self.base.schemas.values()
        return Haystack.of("\n".join((s.name, *s.aliases)) if s.aliases else s.name for s in schemas)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The interned types as people read them."""
        return tuple(type_words(facts) for facts in self.base.types)

    @cached_property
    def version_counts(self) -> Ints:
        """Number of versions of each schema; int32 of s."""
        counts = (len(schema.version_ids) for schema in self.base.schemas.values())
        return np.fromiter(counts, np.int32, len(self.base.schemas))

    @cached_property
    def place(self) -> Ints:
        """Place of each version among those of its schema, 0 for the oldest; int32 of n."""
        counts = self.version_counts
        ids = np.fromiter(chain.from_iterable(s.version_ids for s in self.base.schemas.values()), np.int32)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        place = np.zeros(len(self.base.version_id), np.int32)
        place[np.searchsorted(self.base.version_id, ids)] = np.arange(len(ids)) - first
        return place

    @cached_property
    def is_newest(self) -> Bools:
        """Whether a version is the newest of its schema; of n."""
        found: Bools = self.place == self.version_counts[self.schema_row] - 1
        return found

    @cached_property
    def newest_positions(self) -> NDArray[np.intp]:
        """Positions of the attributes of all newest versions, in the order of versions; intp."""
        return self.positions(np.flatnonzero(self.is_newest))

    @cached_property
    def is_key(self) -> Bools:
        """Whether an attribute belongs to the known key of its version; bool of m."""
        found = np.zeros(len(self.base.id), np.bool_)
        keyed: dict[tuple[str, ...], list[int]] = {}
        for row, facts in enumerate(self.base.facts):
            if facts.key:
                keyed.setdefault(facts.key, []).append(row)
        for key, rows in keyed.items():
            texts = np.concatenate([self.paths.rows_of(path) for path in key])
            texts = texts[[self.base.texts[int(at)] in key for at in texts]]
            at = self.positions(np.array(rows, np.intp))
            found[at] = np.isin(self.base.path[at], texts)
        return found

    def positions(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of the attributes of some versions.

        Shape: ``rows`` of any length; as many positions as those versions have attributes, version by version.
        """
        start = self.base.start
        counts = start[rows + 1] - start[rows]
        first = np.repeat(start[rows] - (np.cumsum(counts) - counts), counts)
        return first + np.arange(int(counts.sum()))

    def fill(self) -> Iterator[None]:
        """Work out what filters and searches ask of every tree, step by step, so that no first letter waits for it."""
        for name in ("schema_ids", "schema_row", "paths", "names", "version_counts", "place", "newest_positions"):
            getattr(self, name)
            yield

    @property
    def changes(self) -> LineageChanges | None:
        """What changes from version to version, once ``find_changes`` has gone through."""
        return self._changes[0] if self._changes else None

    def find_changes(self) -> Iterator[None]:
        """Work out what changes from version to version, step by step."""
        if self.changes is None:
            found = LineageChanges.none(len(self.base.id))
            yield from _fill(found, self)
            self._changes[:] = [found]


class Part(Value, eq=False):
    """Some schemas of a tree, with all their versions.

    Args:
        columns: what is asked.
        is_here: which of its versions count; of n, ``None`` for all.
    """

    columns: BaseColumns
    is_here: Bools | None = None


class TreeColumns(Value, eq=False):
    """A tree in its two parts: the base, and the edited schemas."""

    tree: Tree
    parts: tuple[Part, Part]

    @property
    def attribute_count(self) -> int:
        """Number of attributes, those of edited schemas twice."""
        return sum(len(part.columns.base.id) for part in self.parts)

    def find(self, version_id: int) -> tuple[int, int] | None:
        """Return the part and row of a version."""
        for at in (1, 0):
            part = self.parts[at]
            row = part.columns.base.row(version_id)
            if row >= 0 and (part.is_here is None or part.is_here[row]):
                return at, row
        return None

    def after(self, tree: Tree) -> TreeColumns:
        """Return the columns of a later state of the tree."""
        if tree is self.tree:
            return self
        if tree.base is self.tree.base:
            return _joined(self.parts[0].columns, tree)
        return columns_of(tree)


def columns_of(tree: Tree) -> TreeColumns:
    """Return the columns of a tree, those of its base made once; cheap until they are asked."""
    columns: BaseColumns = tree.base.derived.setdefault("columns", BaseColumns(tree.base))
    return _joined(columns, tree)


def type_words(facts: TypeFacts) -> str:
    """Return a type as people read it."""
    return Attribute(0, "", facts.type, 0, facts.logical, facts.scale).type_text


def _joined(columns: BaseColumns, tree: Tree) -> TreeColumns:
    touched = tree.edited_schemas()
    schemas = [schema for id_ in sorted(touched) if (schema := tree.find_schema(id_)) is not None]
    edited = base_of(schemas, (version for schema in schemas for version in tree.versions(schema.id)))
    is_here = None
    if touched:
        is_here = ~np.isin(columns.base.schema_id, np.fromiter(touched, np.int32, len(touched)))
    return TreeColumns(tree, (Part(columns, is_here), Part(BaseColumns(edited))))


def _fill(found: LineageChanges, columns: BaseColumns) -> Iterator[None]:
    """Run through the places of versions, oldest first, and remember where each lineage was met last.

    Versions of one place belong to different schemas, so none of their lineages meets another.
    """
    base = columns.base
    last = np.full(int(base.lineage.max(initial=0)) + 1, -1, np.int32)
    last_type = np.zeros(len(last), np.int32)
    yield
    is_newest = columns.is_newest
    yield
    order = np.argsort(columns.place.astype(np.uint16), kind="stable")
    yield
    bounds = np.searchsorted(columns.place[order], np.arange(int(columns.place.max(initial=-1)) + 2))
    for place in range(len(bounds) - 1):
        rows = order[bounds[place] : bounds[place + 1]]
        for at in _in_steps(columns, rows):
            lineage, types = base.lineage[at], base.type[at]
            if place:
                met = last[lineage]
                found.new[at] = met < 0
                found.came[at] = met != place - 1
                found.retyped[at] = (met == place - 1) & (last_type[lineage] != types)
            last[lineage], last_type[lineage] = place, types
            yield
        if place:
            before = order[bounds[place - 1] : bounds[place]]
            for at in _in_steps(columns, before[~is_newest[before]]):
                found.goes[at] = last[base.lineage[at]] != place
                yield


def _in_steps(columns: BaseColumns, rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield the positions of the attributes of some versions, not too many at once."""
    counts = columns.base.start[rows + 1] - columns.base.start[rows]
    step = np.cumsum(counts) // STEP_ATTRIBUTES
    for part in np.split(rows, np.flatnonzero(np.diff(step)) + 1):
        if len(part):
            yield columns.positions(part)
