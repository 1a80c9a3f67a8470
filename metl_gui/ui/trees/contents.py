"""What a tree model reads: the document as columns, groups of schemas, the matrix counted, the filter; no Qt.

Order of a reader's work: ``take`` and ``prepare`` for another document, ``follow`` after an edit, ``filter`` for
another query; then the questions.

``SchemaGroups`` has in which order and under which groups the schemas stand, without a Python object for each; several
groups that begin alike stand below an outer one, where that parts them, as on the axes of the matrix. Order:
by group, then by name in the extraction tree and by id in the CDM tree, as on the axes of the matrix. The members of a
group are sorted when they are first asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, takewhile

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments
from metl_gui.core.search.attribute_facts import AttributeUses, MappedAttributes, ignored_by_schema, notes_of
from metl_gui.core.search.filters import Filtering, FilterResult
from metl_gui.core.search.query import Query
from metl_gui.core.search.todo import MappingProgress, ToDo
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.core.trees.schema_names import group_of, name_in_group, outer_of
from metl_gui.core.trees.tree_columns import TreeColumns, columns_of
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.trees.node import (
    RowFacts,
    VersionMapping,
    attribute_row,
    group_row,
    schema_row,
    version_facts,
    version_row,
)

Ints = NDArray[np.int64]
_STEP_SCHEMAS = 4_000


class SchemaGroups:
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
        self._nested: dict[str, list[str]] = {}
        self._within: dict[str, Ints] = {}

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

    @property
    def outers(self) -> frozenset[str]:
        """The groups that hold others: the first parts of several names, where not all begin with the same one."""
        self._columns()
        return frozenset(self._nested)

    def outer(self, group: str) -> str:
        """Return the group that holds a group, empty for none."""
        self._columns()
        outer = outer_of(group)
        return outer if outer != group and outer in self._nested else ""

    def nested(self, outer: str) -> list[str]:
        """Return the groups that a group holds, sorted."""
        self._columns()
        return self._nested.get(outer, [])

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

    def within(self, group: str) -> Ints:
        """Return the ids of the schemas of a group and of those that it holds."""
        self._columns()
        if group not in self._within:
            parts = (self._members.get(each, ()) for each in (group, *self.nested(group)))
            self._within[group] = np.fromiter(chain.from_iterable(parts), np.int64)
        return self._within[group]

    def short(self, group: str) -> str:
        """Return the name of a group without the parts that the names of all groups, or its outer one, begin with."""
        self._columns()
        outer = self.outer(group)
        return group[len(outer) + 1 :] if outer else ".".join(group.split(".")[self._common :])

    def _columns(self) -> tuple[list[str], Ints, Ints]:
        """Return group names, all ids group by group, and where each group begins."""
        if self._flat is None:
            names = sorted(self._members)
            counts = np.array([len(self._members[name]) for name in names], np.int64)
            ids = np.fromiter(chain.from_iterable(self._members[name] for name in names), np.int64)
            self._flat = names, ids, np.cumsum(counts) - counts
            self._common = _common_parts([name.split(".") for name in names if name])
            self._nested = _nested([name for name in names if name])
            self._within = {}
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


def _nested(names: list[str]) -> dict[str, list[str]]:
    """Return the groups below each outer one, where outer ones part them and several begin alike."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(outer_of(name), []).append(name)
    if not 1 < len(found) < len(names):
        return {}
    return {outer: [name for name in held if name != outer] for outer, held in found.items() if len(held) > 1}


def _marks(passing: Ints, ids: Ints) -> NDArray[np.uint8]:
    """Return 1 for each id that passes; as a table, because a search in sorted ids costs ten times as much."""
    table = np.zeros(int(max(ids.max(initial=0), passing.max(initial=0))) + 1, np.uint8)
    table[passing] = 1
    return table[ids]


_AT_ONCE_ATTRIBUTES = 500_000
_AT_ONCE_SCHEMAS = 10_000
_STEP_KEYS = 2_000


class TreeContents:
    """One tree of one document, filtered or not."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.query = Query()
        self.filtering: Filtering | None = None
        self.comments: Callable[[], Comments] = Comments
        self.take(Document())
        for _ in self.prepare():
            pass

    def take(self, document: Document) -> None:
        """Read another document; ``prepare`` must go through before anything is asked."""
        self.document = document
        self.tree: Tree = document.tree(self.side)
        self.columns: TreeColumns = columns_of(self.tree)
        self.shelves = SchemaGroups(self.side, self.tree)
        self.uses = AttributeUses(self.side, document)
        self.filtering = None
        self._facts: dict[int, VersionMapping] = {}
        self._new: dict[int, frozenset[int]] = {}
        self._waiting_keys: dict[int, set[BlockKey]] = {}
        self._waiting: Counter[int] = Counter()
        self._waiting_columns: tuple[Ints, Ints] | None = None
        self._passing: Ints | None = None

    @property
    def is_small(self) -> bool:
        """Whether everything can be worked out between two frames."""
        return (
            self.columns.attribute_count <= _AT_ONCE_ATTRIBUTES
            and len(self.tree.base.schemas) <= _AT_ONCE_SCHEMAS
            and self.document.matrix.ones <= _AT_ONCE_ATTRIBUTES
        )

    def prepare(self) -> Iterator[None]:
        """Count and sort what is asked later, step by step."""
        yield from self.shelves.fill()
        yield from self.uses.count()
        for at, key in enumerate(self.document.matrix.waiting()):
            self._wait(key, self.document, 1)
            if at % _STEP_KEYS == _STEP_KEYS - 1:
                yield
        for part in self.columns.parts:
            yield from part.columns.fill()
        if not self.query.is_empty:
            yield from self.filter(self.query)

    def filter(self, query: Query) -> Iterator[None]:
        """Find what passes a query, step by step."""
        self.query = query
        self._passing = None
        self.filtering = None
        if not query.is_empty:
            notes = notes_of(self.document, self.side, self.comments(), query)
            self.filtering = Filtering(self.columns, query, self.uses, notes)
        if self.filtering is not None:
            for _ in self.filtering.run():
                self._passing = None
                yield

    def follow(self, changed: DocumentChange) -> set[int] | None:
        """Take up an edit.

        Returns:
            Ids of the schemas that it touched, ``None`` when everything must be taken anew.
        """
        after = changed.after
        tree = after.tree(self.side)
        if changed.blocks is None or tree.base is not self.tree.base:
            return None
        if tree is not self.tree and self.filtering is not None and not self.is_small:
            return None
        touched = self.tree.edited_schemas() | tree.edited_schemas() if tree is not self.tree else set()
        versions = self._count_blocks(changed, changed.blocks)
        touched |= {tree.schema_of(id_) for id_ in versions if tree.has_version(id_)}
        if tree is not self.tree:
            self.shelves.follow(tree)
            self._facts, self._new = {}, {}
        self.document, self.tree, self.columns = after, tree, self.columns.after(tree)
        self._filter_again(versions)
        return touched

    def _filter_again(self, versions: set[int]) -> None:
        self._passing = None
        filtering = self.filtering
        if filtering is None:
            return
        if filtering.columns is not self.columns or not filtering.look_again(versions):
            for _ in self.filter(self.query):
                pass

    def _count_blocks(self, changed: DocumentChange, keys: tuple[BlockKey, ...]) -> set[int]:
        before, after = self.document, changed.after
        self.uses.follow(after, keys)
        versions = {key[0 if self.side is Side.EXTRACTION else 1] for key in keys}
        for document, sign in ((before, -1), (after, 1)):
            for key in document.matrix.waiting_among(keys):
                self._wait(key, document, sign)
        for version in versions:
            self._facts.pop(version, None)
        return versions

    def _wait(self, key: BlockKey, document: Document, sign: int) -> None:
        version_id = key[0 if self.side is Side.EXTRACTION else 1]
        version = document.tree(self.side).find_version(version_id)
        if version is None:
            return
        keys = self._waiting_keys.setdefault(version_id, set())
        keys.add(key) if sign > 0 else keys.discard(key)
        self._waiting[version.schema_id] += sign
        self._waiting_columns = None

    # questions

    def groups(self) -> list[str]:
        """Return the groups to show."""
        return self.shelves.groups(self._schemas_passing())

    def groups_below(self, outer: str) -> list[str]:
        """Return the groups to show below a group, or for an empty name at the top; outer ones among these."""
        if not outer:
            return list(dict.fromkeys(self.shelves.outer(group) or group for group in self.groups()))
        nested = self.shelves.nested(outer)
        shown = set(self.groups()) if nested else set()
        return [group for group in nested if group in shown]

    def schemas(self, group: str) -> Ints:
        """Return the ids of the schemas to show in a group."""
        return self.shelves.members(group, self._schemas_passing())

    def versions(self, schema_id: int) -> list[int]:
        """Return the ids of the versions to show, newest first; the newest of an entity is not among them."""
        ids = self.tree.schema(schema_id).version_ids[::-1]
        below = ids[1:] if self.side is Side.CDM else ids
        filtering = self.filtering
        return [id_ for id_ in below if filtering is None or filtering.version_passes(id_)]

    def newest(self, schema_id: int) -> int | None:
        """Return the id of the newest version, ``None`` without any, or where the entity is just being removed."""
        schema = self.tree.find_schema(schema_id)
        return schema.version_ids[-1] if schema is not None and schema.version_ids else None

    def attributes(self, version_id: int) -> Ints:
        """Return the ids of the attributes to show of a version."""
        if self.filtering is not None:
            return np.array(self.filtering.attributes(version_id), np.int64)
        found = self.columns.find(version_id)
        if found is None:
            return np.zeros(0, np.int64)
        base = self.columns.parts[found[0]].columns.base
        return base.id[int(base.start[found[1]]) : int(base.start[found[1] + 1])].astype(np.int64)

    def counts(self) -> tuple[int, int]:
        """Count the schemas to show, and all."""
        whole = len(self.shelves)
        return (whole if self.filtering is None else self.filtering.schema_count()), whole

    def passing(self, text: str) -> FilterResult | None:
        """Describe what passes for other views, ``None`` when everything does."""
        if self.filtering is None:
            return None
        return self.filtering.result(self.side, text, len(self.shelves))

    def _schemas_passing(self) -> Ints | None:
        if self.filtering is None:
            return None
        if self._passing is None:
            self._passing = self.filtering.schema_ids().astype(np.int64)
        return self._passing

    def progress(self, schema_id: int) -> MappingProgress:
        """Return how far mapping a schema or entity is; costs what its newest version has."""
        schema = self.tree.find_schema(schema_id)
        if schema is None or not schema.version_ids:
            return MappingProgress()
        edited = frozenset(self.tree.edited_schemas())
        uses = MappedAttributes(self.tree, self.uses.mapped, edited, ignored_by_schema(self.tree))
        return ToDo(self.document, self.side, uses).progress(schema)

    # rows

    def group_row(self, group: str) -> RowFacts:
        """Describe a group."""
        members, passing = self.shelves.within(group), self._schemas_passing()
        shown = len(members) if passing is None else int(_marks(passing, members).sum())
        waiting = self._waiting_of(members)
        return group_row(group, self.shelves.short(group), shown, waiting, self.side)

    def _waiting_of(self, schema_ids: Ints) -> int:
        """Count what waits in schemas; a group is described whenever its row is painted."""
        if self._waiting_columns is None:
            each = self._waiting
            self._waiting_columns = np.fromiter(each.keys(), np.int64), np.fromiter(each.values(), np.int64)
        ids, counts = self._waiting_columns
        return int(counts @ _marks(schema_ids, ids)) if len(ids) else 0

    def schema_row(self, schema_id: int) -> RowFacts:
        """Describe a schema or entity."""
        schema = self.tree.schema(schema_id)
        newest = self.tree.newest(schema_id)
        name = name_in_group(schema.name) if self.side is Side.EXTRACTION else schema.name
        return schema_row(schema, name, newest.label if newest else "", self._waiting[schema_id], self.side)

    def version_row(self, version_id: int) -> RowFacts:
        """Describe a version."""
        return version_row(self.tree.version(version_id), self._facts_of(version_id))

    def attribute_row(self, version_id: int, attribute_id: int) -> RowFacts:
        """Describe an attribute."""
        version = self.tree.version(version_id)
        attribute = version.attribute(attribute_id)
        if attribute is None:
            return RowFacts("")
        is_newest = self.newest(version.schema_id) == version_id
        return attribute_row(attribute, self._facts_of(version_id), self.side, is_newest)

    def _facts_of(self, version_id: int) -> VersionMapping:
        if version_id not in self._facts:
            blocks = (self.document.matrix.block(*key) for key in sorted(self._waiting_keys.get(version_id, ())))
            known = [block for block in blocks if block is not None]
            version = self.tree.version(version_id)
            self._facts[version_id] = version_facts(
                self.side,
                version,
                self._new_of(version),
                self.uses,
                known,
                self.tree.schema(version.schema_id).ignored_lineages,
            )
        return self._facts[version_id]

    def _new_of(self, version: Version) -> frozenset[int]:
        """Return the new attributes of a version, which take its whole schema to find; edits of blocks leave them."""
        if version.id not in self._new:
            self._new[version.id] = frozenset(attribute.id for attribute in self.tree.new_attributes(version))
        return self._new[version.id]
