"""The extraction tree and the CDM tree: columnar base arrays and a persistent overlay.

Order: schemas by id; the versions of a schema oldest first; attributes in source order.
Cost: a schema, version or name is found by a search in sorted ids or one hash look-up; node objects are made on
demand and kept in a small cache. Source: docs/architecture/model.md, "The table that is never built".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from metl_gui.core.trees.columns import EMPTY, Readable, laid_out
from metl_gui.core.trees.declarations import KeyPaths
from metl_gui.core.trees.nodes import Attribute, Schema, Version
from metl_gui.errors import BugError
from metl_gui.values import Value

Ints = NDArray[np.int32]
_CACHED_VERSIONS = 4096


class TextTable(Value, eq=False):
    """Interned texts: one UTF-8 blob and the offsets of its parts.

    Shape: ``offsets`` is int64 of n + 1.
    """

    blob: bytes
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextTable:
        """Intern texts in the given order."""
        found = list(texts)
        joined = "".join(found)
        lengths: Iterable[int] = map(len, found)
        if not joined.isascii():
            lengths = (len(text.encode("utf-8", "surrogatepass")) for text in found)
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum(np.fromiter(lengths, np.int64, len(found)), out=offsets[1:])
        return cls(joined.encode("utf-8", "surrogatepass"), offsets)

    def __getitem__(self, at: int) -> str:
        return self.blob[self.offsets[at] : self.offsets[at + 1]].decode("utf-8", "surrogatepass")


class VersionMetadata(Value):
    """What a base keeps of a version beside its attributes."""

    labels: tuple[str, ...]
    fingerprint: str
    key: KeyPaths
    inferred: bool
    source: str


class TypeFacts(Value):
    """One interned type."""

    type: str
    logical: str
    scale: int | None


@dataclass(frozen=True, eq=False)
class TreeBase:
    """The columnar part of a tree.

    Shape: ``s`` schemas, ``n`` versions, ``m`` attributes. ``schemas`` sorted by id. ``version_id`` and ``schema_id``
    int32 of n, sorted by version id; ``facts`` of n; ``start`` int64 of n + 1. ``id``, ``lineage``, ``path`` and
    ``doc`` (rows of ``texts``) int32 of m; ``type`` (row of ``types``) int32 of m; ``optional`` bool of m.
    """

    schemas: dict[int, Schema]
    version_id: Ints
    schema_id: Ints
    facts: Sequence[VersionMetadata]
    start: NDArray[np.int64]
    id: Ints
    lineage: Ints
    path: Ints
    doc: Ints
    type: Ints
    optional: NDArray[np.bool_]
    texts: TextTable
    types: tuple[TypeFacts, ...]
    derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What others work out of it once, by name, to be kept for as long as it lives."""
    _cache: dict[int, Version] = field(default_factory=dict)

    @cached_property
    def names(self) -> dict[str, int]:
        """Schema ids by name and alias; a name wins over an alias, an older schema over a newer one."""
        found: dict[str, int] = {}
        for schema in self.schemas.values():
            for alias in schema.aliases:
                found.setdefault(alias, schema.id)
        found.update({schema.name: schema.id for schema in self.schemas.values()})
        return found

    @cached_property
    def _without_gaps(self) -> tuple[int, int]:
        """The first id and how many follow one another, while no version between was removed; none otherwise."""
        ids = self.version_id
        count = len(ids)
        first = int(ids[0]) if count else 0
        return (first, count) if count and int(ids[-1]) - first == count - 1 else (0, 0)

    def row(self, version_id: int) -> int:
        """Row of a version, -1 when there is none."""
        first, count = self._without_gaps
        if count:
            at = version_id - first
            return at if 0 <= at < count else -1
        ids = self.version_id
        at = int(ids.searchsorted(np.int32(version_id)))  # np.searchsorted takes twice as long
        return at if at < len(ids) and ids.item(at) == version_id else -1

    def version(self, version_id: int) -> Version | None:
        """Make the version object of an id."""
        cached = self._cache.get(version_id)
        if cached is not None:
            return cached
        row = self.row(version_id)
        if row < 0:
            return None
        facts = self.facts[row]
        version = Version(
            version_id,
            int(self.schema_id[row]),
            facts.labels,
            tuple(self.attribute(at) for at in range(int(self.start[row]), int(self.start[row + 1]))),
            facts.fingerprint,
            facts.key,
            facts.inferred,
            facts.source,
        )
        if len(self._cache) >= _CACHED_VERSIONS:
            self._cache.clear()
        self._cache[version_id] = version
        return version

    def attribute(self, at: int) -> Attribute:
        """Make the attribute object of a place in the columns."""
        kind = self.types[self.type[at]]
        return Attribute(
            int(self.id[at]),
            self.texts[self.path[at]],
            kind.type,
            int(self.lineage[at]),
            kind.logical,
            kind.scale,
            bool(self.optional[at]),
            self.texts[self.doc[at]],
        )


def base_of(schemas: Iterable[Schema], versions: Iterable[Version]) -> TreeBase:
    """Build the columns from node objects in any order."""
    ordered = sorted(versions, key=lambda version: version.id)
    attributes = [attribute for version in ordered for attribute in version.attributes]
    texts: dict[str, int] = {"": 0}
    for attribute in attributes:
        texts.setdefault(attribute.path, len(texts))
        texts.setdefault(attribute.doc, len(texts))
    kinds = [TypeFacts(a.type, a.logical, a.scale) for a in attributes]
    types = {kind: row for row, kind in enumerate(dict.fromkeys(kinds))}
    start = np.zeros(len(ordered) + 1, np.int64)
    np.cumsum([len(version.attributes) for version in ordered], out=start[1:])
    return TreeBase(
        schemas={schema.id: schema for schema in sorted(schemas, key=lambda schema: schema.id)},
        version_id=np.array([version.id for version in ordered], np.int32),
        schema_id=np.array([version.schema_id for version in ordered], np.int32),
        facts=tuple(VersionMetadata(v.labels, v.fingerprint, v.key, v.inferred, v.source) for v in ordered),
        start=start,
        id=np.array([a.id for a in attributes], np.int32),
        lineage=np.array([a.lineage for a in attributes], np.int32),
        path=np.array([texts[a.path] for a in attributes], np.int32),
        doc=np.array([texts[a.doc] for a in attributes], np.int32),
        type=np.array([types[kind] for kind in kinds], np.int32),
        optional=np.array([a.optional for a in attributes], np.bool_),
        texts=TextTable.of(texts),
        types=tuple(types),
    )


class ReadableTree:
    """How a tree is read, whether frozen or open for an edit."""

    base: TreeBase
    _schemas: Readable[int, Schema | None]
    _versions: Readable[int, Version | None]
    _names: Readable[str, int | None]

    def find_schema(self, id_: int) -> Schema | None:
        """Return a schema or entity by id, ``None`` when there is none."""
        if id_ in self._schemas:
            found: Schema | None = self._schemas.get(id_)
            return found
        return self.base.schemas.get(id_)

    def find_version(self, id_: int) -> Version | None:
        """Return a version by id, ``None`` when there is none."""
        if id_ in self._versions:
            found: Version | None = self._versions.get(id_)
            return found
        return self.base.version(id_)

    def schema(self, id_: int) -> Schema:
        """Return a schema or entity that is known to exist.

        Raises:
            BugError: there is none with this id.
        """
        schema = self.find_schema(id_)
        if schema is None:
            raise BugError(f"there is no schema or entity with id {id_}")
        return schema

    def version(self, id_: int) -> Version:
        """Return a version that is known to exist.

        Raises:
            BugError: there is none with this id.
        """
        version = self.find_version(id_)
        if version is None:
            raise BugError(f"there is no version with id {id_}")
        return version

    def newest_of_lineage(self, schema_id: int, lineage: int) -> Attribute | None:
        """Return the attribute of a lineage in the newest version that has one, ``None`` when none has."""
        schema = self.find_schema(schema_id)
        versions = (self.version(id_) for id_ in reversed(schema.version_ids)) if schema is not None else ()
        return next((found for each in versions if (found := each.of_lineage(lineage)) is not None), None)

    def newest_of_lineages(self, schema_id: int, lineages: Iterable[int]) -> dict[int, Attribute]:
        """Return by lineage the attribute in the newest version that has one; those that none has are left out.

        Cost: the attributes of the versions, the newest first, until all are found.
        """
        left, found = set(lineages), dict[int, Attribute]()
        schema = self.find_schema(schema_id)
        for id_ in reversed(schema.version_ids) if schema is not None else ():
            if not left:
                break
            found |= {a.lineage: a for a in self.version(id_).attributes if a.lineage in left}
            left -= found.keys()
        return found

    def schema_of(self, version_id: int) -> int:
        """Return the id of the schema or entity of a version that is known to exist, without making the version.

        Raises:
            BugError: there is no version with this id.
        """
        row = -1 if version_id in self._versions else self.base.row(version_id)
        return int(self.base.schema_id.item(row)) if row >= 0 else self.version(version_id).schema_id

    def has_version(self, version_id: int) -> bool:
        """Whether there is a version, without making it."""
        if version_id in self._versions:
            return self._versions.get(version_id) is not None
        return self.base.row(version_id) >= 0

    def identity(self, version_id: int) -> tuple[tuple[str, ...], str]:
        """Return labels and fingerprint of a version that is known to exist, without making the version."""
        row = -1 if version_id in self._versions else self.base.row(version_id)
        known = self.base.facts[row] if row >= 0 else self.version(version_id)
        return known.labels, known.fingerprint

    def lineages(self, version_id: int) -> list[int]:
        """Return the lineages of a version that is known to exist, without making the version."""
        row = -1 if version_id in self._versions else self.base.row(version_id)
        if row < 0:
            return [attribute.lineage for attribute in self.version(version_id).attributes]
        found: list[int] = self.base.lineage[self.base.start.item(row) : self.base.start.item(row + 1)].tolist()
        return found

    def attribute_ids(self, version_id: int) -> list[int]:
        """Return the ids of the attributes of a version that is known to exist, without making the version."""
        row = -1 if version_id in self._versions else self.base.row(version_id)
        if row < 0:
            return [attribute.id for attribute in self.version(version_id).attributes]
        found: list[int] = self.base.id[self.base.start.item(row) : self.base.start.item(row + 1)].tolist()
        return found

    def lineage_by_attribute(self, version_ids: Iterable[int]) -> dict[int, int]:
        """Return the lineages of all attributes of versions that are known to exist, by attribute id."""
        base, found, rows = self.base, dict[int, int](), list[int]()
        for id_ in version_ids:
            row = -1 if id_ in self._versions else base.row(id_)
            if row < 0:
                found |= {attribute.id: attribute.lineage for attribute in self.version(id_).attributes}
            else:
                rows.append(row)
        at_row = np.array(rows, np.int64)
        first = base.start[at_row]
        at = laid_out(first, base.start[at_row + 1] - first)
        found |= zip(base.id[at].tolist(), base.lineage[at].tolist(), strict=True)
        return found

    def members(self, version_id: int, lineages: Collection[int]) -> dict[int, Attribute]:
        """Return the attributes of some lineages that a version has which is known to exist, and make no others."""
        row = -1 if version_id in self._versions else self.base.row(version_id)
        if row < 0:
            return {a.lineage: a for a in self.version(version_id).attributes if a.lineage in lineages}
        known = enumerate(self.lineages(version_id), int(self.base.start[row]))
        return {lineage: self.base.attribute(at) for at, lineage in known if lineage in lineages}

    def named(self, name: str) -> Schema | None:
        """Find a schema or entity by name or alias."""
        id_ = self._id_named(name)
        return None if id_ is None else self.find_schema(id_)

    def _id_named(self, name: str) -> int | None:
        return self._names.get(name) if name in self._names else self.base.names.get(name)

    def versions(self, schema_id: int) -> tuple[Version, ...]:
        """Return all versions of a schema, oldest first."""
        return tuple(self.version(id_) for id_ in self.schema(schema_id).version_ids)

    def labelled(self, schema_id: int, label: str) -> Version | None:
        """Find a version of a schema by any of its labels."""
        return next((v for v in self.versions(schema_id) if label in v.labels), None)

    def newest(self, schema_id: int) -> Version | None:
        """Return the newest version of a schema."""
        ids = self.schema(schema_id).version_ids
        return self.version(ids[-1]) if ids else None

    def previous(self, version: Version) -> Version | None:
        """Return the next lower version of the same schema."""
        ids = self.schema(version.schema_id).version_ids
        at = ids.index(version.id)
        return self.version(ids[at - 1]) if at else None

    def new_attributes(self, version: Version) -> tuple[Attribute, ...]:
        """Return the attributes whose lineage no earlier version of the schema had; none of a first version."""
        ids = self.schema(version.schema_id).version_ids
        earlier = ids[: ids.index(version.id)]
        known = {lineage for id_ in earlier for lineage in self.lineages(id_)}
        return tuple(a for a in version.attributes if a.lineage not in known) if earlier else ()


class Tree(ReadableTree, Value, eq=False, weakref=True):
    """A tree at one state."""

    base: TreeBase
    _schemas: Map[int, Schema | None] = EMPTY
    _versions: Map[int, Version | None] = EMPTY
    _names: Map[str, int | None] = EMPTY

    @classmethod
    def of(cls, schemas: Iterable[Schema] = (), versions: Iterable[Version] = ()) -> Tree:
        """Build a tree from node objects."""
        return cls(base_of(schemas, versions))

    @property
    def is_merged(self) -> bool:
        """Whether all of it stands in the columns."""
        return not (self._schemas or self._versions)

    def schemas(self) -> list[Schema]:
        """Return all schemas or entities, by id."""
        if not self._schemas:
            return list(self.base.schemas.values())  # sorted already, and there may be a hundred thousand
        merged: dict[int, Schema | None] = {**self.base.schemas, **self._schemas}
        return [schema for _, schema in sorted(merged.items()) if schema is not None]

    @property
    def has_schemas(self) -> bool:
        """Whether there is any schema or entity; costs what was edited."""
        is_kept = any(id_ not in self._schemas for id_ in self.base.schemas)
        return is_kept or any(schema is not None for schema in self._schemas.values())

    def edited_schemas(self) -> set[int]:
        """Return the ids of schemas that the overlay has something of, removed ones included."""
        found = set(self._schemas)
        for id_, version in self._versions.items():
            row = self.base.row(id_) if version is None else -1
            if version is not None:
                found.add(version.schema_id)
            elif row >= 0:
                found.add(int(self.base.schema_id[row]))
        return found

    def all_versions(self) -> Iterator[Version]:
        """Yield every version, schema by schema, oldest first."""
        for schema in self.schemas():
            yield from self.versions(schema.id)

    def edited_versions(self) -> Iterator[tuple[int, Version | None]]:
        """Yield the versions of the overlay: what differs from the base, removed ones as ``None``."""
        yield from self._versions.items()

    def merged(self) -> Tree:
        """Return the same tree with an empty overlay."""
        from metl_gui.core.trees.spliced_tree import spliced_tree  # it builds on the columns that are defined here

        schemas = {schema.id: schema for schema in self.schemas()}
        added = [version for version in self._versions.values() if version is not None]
        return Tree(spliced_tree(self.base, schemas, self._versions.keys(), added))

    def draft(self) -> TreeDraft:
        """Open the tree for one edit."""
        return TreeDraft(self)


class TreeDraft(ReadableTree):
    """A tree open for one edit."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._is_changed = False
        self.base = tree.base
        self._schemas = self._open_schemas = tree._schemas.mutate()
        self._versions = self._open_versions = tree._versions.mutate()
        self._names = self._open_names = tree._names.mutate()

    def put_schema(self, id_: int, schema: Schema | None) -> None:
        """Set a schema or entity, or remove it with ``None``."""
        before = self.find_schema(id_)
        names_before = before.names if before else frozenset()
        names_after = schema.names if schema else frozenset()
        for name in names_before - names_after:
            if self._id_named(name) == id_:
                self._open_names[name] = None
        for name in names_after - names_before:
            self._open_names[name] = id_
        self._open_schemas[id_] = schema
        self._is_changed = True

    def put_version(self, id_: int, version: Version | None) -> None:
        """Set a version, or remove it with ``None``."""
        self._open_versions[id_] = version
        self._is_changed = True

    def finish(self) -> Tree:
        """Freeze what was edited; a tree that was only read stays the same object, so that nobody lays it out again."""
        if not self._is_changed:
            return self._tree
        return Tree(self.base, self._open_schemas.finish(), self._open_versions.finish(), self._open_names.finish())
