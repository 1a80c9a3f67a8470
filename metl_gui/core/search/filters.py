"""Which attributes of a tree pass a query: for all of them at once, in steps of some ten milliseconds.

Names and types are matched once each, among the distinct ones; the rest is numpy over ids. ``FilterResult`` has what
passes as columns of ids: what other views need to hide the rest.

Order of a reader's work: ``Filtering.run`` until it is through, then ``follow`` after each edit of the matrix; after an
edit of the tree it begins anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.search.attribute_facts import NO_NOTES, AttributeFlags, AttributeUses
from metl_gui.core.search.query import Query, Term, TermKind
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.tree_columns import STEP_ATTRIBUTES, Bools, LineageChanges, Part, TreeColumns
from metl_gui.values import Value

Ints = NDArray[np.int32]


class FilterResult(Value, eq=False):
    """What passes.

    Shape: ``schemas``, ``versions`` and ``attributes`` are int32 ids of one tree, each sorted, without repetition.

    Args:
        side: the tree.
        text: what stands in the filter box.
        schemas: schemas or entities of which something passes.
        versions: versions of which something passes.
        attributes: attributes that pass.
        schema_count: how many schemas or entities the tree has.
    """

    side: Side
    text: str
    schemas: Ints
    versions: Ints
    attributes: Ints
    schema_count: int

    @property
    def words(self) -> str:
        """What a banner says: "84 of 1,000 schemas", or how many attributes where none is hidden as a whole."""
        noun = "schemas" if self.side is Side.EXTRACTION else "entities"
        if len(self.schemas) == self.schema_count:
            count = len(self.attributes)
            return f"{count:,} attribute{'' if count == 1 else 's'} of all {self.schema_count:,} {noun}"
        return f"{len(self.schemas):,} of {self.schema_count:,} {noun}"

    def lets_pass_as(self, other: FilterResult | None) -> bool:
        """Whether the same things pass another filter of the same words."""
        if other is None or (self.text, self.schema_count) != (other.text, other.schema_count):
            return False
        pairs = ((self.schemas, other.schemas), (self.versions, other.versions), (self.attributes, other.attributes))
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


_MANY_ROWS = 200


class _Names(Value, eq=False):
    """What of a term is known before attributes are looked at.

    Shape: ``schemas`` bool of s, ``texts`` bool of the distinct texts, ``types`` bool of the distinct types.
    """

    schemas: Bools | None = None
    texts: Bools | None = None
    types: Bools | None = None


class PartFilter:
    """What passes in one part of a tree.

    Shape: ``passes`` bool of m; ``hits`` int32 of n, how many attributes of a version pass; ``schemas`` bool of s.
    """

    def __init__(self, part: Part, query: Query, uses: AttributeUses, notes: AttributeFlags) -> None:
        self.part = part
        self._base = part.columns.base
        self._uses = uses
        self._notes = notes
        self._terms = [(term, _names_of(term, part)) for term in query.terms]
        self.passes = np.zeros(len(self._base.id), np.bool_)
        self.hits = np.zeros(len(self._base.version_id), np.int32)
        self.schemas = np.zeros(len(self._base.schemas), np.bool_)
        self._bare = self._bare_schemas() if query.names_only else None

    def run(self) -> Iterator[None]:
        """Check everything, some versions at a time."""
        step = self._base.start // STEP_ATTRIBUTES
        bounds = [0, *(np.flatnonzero(np.diff(step[:-1])) + 1).tolist(), len(self.hits)]
        for low, high in itertools.pairwise(bounds):
            self.look_at(low, high)
            self.find_schemas()
            yield

    def look_at(self, low: int, high: int) -> None:
        """Check the versions of some rows."""
        begin, end = int(self._base.start[low]), int(self._base.start[high])
        counts = np.diff(self._base.start[low : high + 1])
        found = np.ones(end - begin, np.bool_)
        if self.part.is_here is not None:
            found &= np.repeat(self.part.is_here[low:high], counts)
        for term, names in self._terms:
            mask = self._mask(term, names, slice(begin, end), slice(low, high), counts)
            found &= ~mask if term.is_negated else mask
        self.passes[begin:end] = found
        total = np.concatenate([[0], np.cumsum(found)])
        self.hits[low:high] = np.diff(total[self._base.start[low : high + 1] - begin])

    def find_schemas(self) -> None:
        """Find the schemas of the versions that pass."""
        self.schemas[:] = False
        self.schemas[self.part.columns.schema_row[self.hits > 0]] = True
        if self._bare is not None:
            self.schemas |= self._bare

    def _mask(self, term: Term, names: _Names, at: slice, rows: slice, counts: NDArray[np.int64]) -> Bools:
        base = self._base
        if term.kind in (TermKind.IS, TermKind.CHANGED):
            return self._state(term.kind, term.value, at)
        if names.types is not None:
            return names.types[base.type[at]]
        found = names.texts[base.path[at]] if names.texts is not None else np.zeros(at.stop - at.start, np.bool_)
        if names.schemas is not None and names.schemas.any():
            found |= np.repeat(names.schemas[self.part.columns.schema_row[rows]], counts)
        return found

    def _state(self, kind: TermKind, value: str, at: slice) -> Bools:
        columns, uses = self.part.columns, self._uses
        ids = self._base.id[at]
        found: Bools
        match kind, value:
            case TermKind.CHANGED, "new":
                found = self._changes().came[at]
            case TermKind.CHANGED, "removed":
                found = self._changes().goes[at]
            case TermKind.CHANGED, _:
                found = self._changes().retyped[at]
            case _, "open" | "ignored":
                is_ignored = np.isin(self._base.lineage[at], self._notes.ignored)
                found = is_ignored if value == "ignored" else (uses.mapped[ids] == 0) & ~is_ignored
            case _, "mapped":
                found = uses.mapped[ids] > 0
            case _, "unmapped":
                found = uses.mapped[ids] == 0
            case _, "review":
                found = uses.waiting[ids] > 0
            case _, "new":
                found = self._changes().new[at]
            case _, "required":
                found = ~self._base.optional[at]
            case _, "key":
                found = columns.is_key[at]
            case _, "masked":
                found = np.isin(self._base.lineage[at], self._notes.masked) | np.isin(ids, self._notes.fed_by_masked)
            case _:
                found = (uses.commented[ids] > 0) | np.isin(self._base.lineage[at], self._notes.commented)
        return found

    def _changes(self) -> LineageChanges:
        return self.part.columns.changes or LineageChanges.none(len(self._base.id))

    def _bare_schemas(self) -> Bools:
        """Find schemas without attributes that pass by their names."""
        columns = self.part.columns
        counts = np.diff(self._base.start)
        found: Bools = np.bincount(columns.schema_row, counts, len(self.schemas)) == 0
        if self.part.is_here is not None:
            found[columns.schema_row[~self.part.is_here]] = False
        for term, names in self._terms:
            mask = names.schemas if names.schemas is not None else np.zeros_like(found)
            found &= ~mask if term.is_negated else mask
        return found


class Filtering:
    """One query on one tree.

    Args:
        columns: the tree.
        query: what is asked.
        uses: the matrix, counted.
        notes: what is masked or commented on, where the query asks for it.
    """

    def __init__(
        self, columns: TreeColumns, query: Query, uses: AttributeUses, notes: AttributeFlags = NO_NOTES
    ) -> None:
        self.columns = columns
        self.query = query
        self._uses = uses
        self._notes = notes
        self.parts: tuple[PartFilter, ...] = ()

    def run(self) -> Iterator[None]:
        """Find what passes, step by step; what was found so far can be read between the steps."""
        if any(
            term.kind is TermKind.CHANGED or (term.kind, term.value) == (TermKind.IS, "new")
            for term in self.query.terms
        ):
            for part in self.columns.parts:
                yield from part.columns.find_changes()
        self.parts = tuple(PartFilter(part, self.query, self._uses, self._notes) for part in self.columns.parts)
        for part_filter in self.parts:
            part_filter.find_schemas()
            yield from part_filter.run()

    def look_again(self, version_ids: set[int]) -> bool:
        """Check some versions again; ``False`` when they are so many that all should be looked at."""
        if len(version_ids) > _MANY_ROWS:
            return False
        for version_id in version_ids:
            found = self.columns.find(version_id)
            if found is not None and self.parts:
                self.parts[found[0]].look_at(found[1], found[1] + 1)
        for part in self.parts:
            part.find_schemas()
        return True

    def schema_ids(self) -> NDArray[np.int32]:
        """Return the ids of the schemas of which something passes, sorted; int32."""
        if not self.parts:
            return np.zeros(0, np.int32)
        return np.sort(np.concatenate([p.part.columns.schema_ids[p.schemas] for p in self.parts]))

    def schema_count(self) -> int:
        """Count the schemas of which something passes."""
        return sum(int(np.count_nonzero(p.schemas)) for p in self.parts)

    def version_passes(self, version_id: int) -> bool:
        """Return whether an attribute of a version passes."""
        found = self.columns.find(version_id)
        return found is not None and bool(self.parts) and bool(self.parts[found[0]].hits[found[1]])

    def attributes(self, version_id: int) -> list[int]:
        """Ids of the attributes of a version that pass, in source order."""
        found = self.columns.find(version_id)
        if found is None or not self.parts:
            return []
        part, row = self.parts[found[0]], found[1]
        base = part.part.columns.base
        at = slice(int(base.start[row]), int(base.start[row + 1]))
        ids: list[int] = base.id[at][part.passes[at]].tolist()
        return ids

    def result(self, side: Side, text: str, schema_count: int) -> FilterResult:
        """Describe what passes for other views."""
        bases = [(p, p.part.columns.base) for p in self.parts]
        return FilterResult(
            side,
            text,
            self.schema_ids(),
            _sorted(np.concatenate([base.version_id[p.hits > 0] for p, base in bases])),
            _sorted(np.concatenate([base.id[p.passes] for p, base in bases])),
            schema_count,
        )


def _sorted(ids: Ints) -> Ints:
    """Sort ids; those of a base are sorted as a rule, and looking is cheaper than sorting millions."""
    return ids if bool(np.all(ids[1:] > ids[:-1])) else np.sort(ids)


def _names_of(term: Term, part: Part) -> _Names:
    columns = part.columns
    match term.kind:
        case TermKind.WORD:
            return _Names(columns.names.having(term.value), columns.paths.having(term.value))
        case TermKind.IN:
            return _Names(columns.names.having(term.value))
        case TermKind.TYPE:
            return _Names(types=np.array([term.value in words.lower() for words in columns.types], np.bool_))
        case _:
            return _Names()
