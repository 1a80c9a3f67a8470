"""Which node of one document is which of another: by ids in two states of one project, by names in two projects.

Names: a schema or entity is matched by its name, then by its aliases; a version by its fingerprint, which is its
identity, and by a label where its content is another one; an attribute by its path within its version.
Cost: nothing by ids; by names what schemas, versions and labels there are.
Source: docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value

Facts = tuple[int, tuple[str, ...], str]
"""What versions are matched by: id, labels, fingerprint."""


class Matching(Protocol):
    """Tells what a node of the document after was in the one before."""

    @property
    def is_by_ids(self) -> bool:
        """Whether both documents are states of one project."""

    def schema(self, side: Side, id_: int) -> int | None:
        """Return the schema or entity of the document before, by id of the one after."""

    def version(self, side: Side, id_: int) -> int | None:
        """Return the version of the document before, by id of the one after."""

    def attributes(self, before: Version, after: Version) -> dict[int, int]:
        """Return ids of attributes before by their ids after, for two versions that are one."""


class SameIds(Value):
    """Two states of one project: a node is itself."""

    before: Document
    is_by_ids: bool = True

    def schema(self, side: Side, id_: int) -> int | None:
        """Return the same id where it is there."""
        return None if self.before.tree(side).find_schema(id_) is None else id_

    def version(self, side: Side, id_: int) -> int | None:
        """Return the same id where it is there."""
        return id_ if self.before.tree(side).has_version(id_) else None

    def attributes(self, before: Version, after: Version) -> dict[int, int]:
        """Return the ids that both have."""
        known = {a.id for a in before.attributes}
        return {a.id: a.id for a in after.attributes if a.id in known}


@dataclass(frozen=True)
class SameNames:
    """Two projects. Shape: ids before by ids after, for each tree."""

    schemas: dict[Side, dict[int, int]]
    versions: dict[Side, dict[int, int]]
    is_by_ids: bool = field(default=False, init=False)

    def schema(self, side: Side, id_: int) -> int | None:
        """Return the schema or entity that answers to the same name."""
        return self.schemas[side].get(id_)

    def version(self, side: Side, id_: int) -> int | None:
        """Return the version of the same content or label."""
        return self.versions[side].get(id_)

    def attributes(self, before: Version, after: Version) -> dict[int, int]:
        """Return the attributes of the same paths."""
        known = {a.path: a.id for a in before.attributes}
        return {a.id: known[a.path] for a in after.attributes if a.path in known}


def by_names(before: Document, after: Document) -> SameNames:
    """Match the nodes of two projects."""
    schemas = {side: match_schemas(before.tree(side).schemas(), after.tree(side).schemas()) for side in Side}
    versions: dict[Side, dict[int, int]] = {}
    for side in Side:
        old, new = before.tree(side), after.tree(side)
        versions[side] = {}
        for id_after, id_before in schemas[side].items():
            versions[side] |= match_versions(facts_of(old, id_before), facts_of(new, id_after))
    return SameNames(schemas, versions)


def facts_of(tree: Tree, schema_id: int) -> list[Facts]:
    """Return what the versions of a schema are matched by, oldest first."""
    return [(id_, *tree.identity(id_)) for id_ in tree.schema(schema_id).version_ids]


def match_versions(before: Iterable[Facts], after: Iterable[Facts], by_label: bool = True) -> dict[int, int]:
    """Match versions of one schema: same content and a common label, then same content, then a common label.

    Args:
        before, after: their versions.
        by_label: whether versions of other content may be one by their label.
    """
    old, new = list(before), list(after)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for keys_of in (_content_and_labels, _content, *([_labels] if by_label else [])):
        known: dict[tuple[str, str], int] = {}
        for facts in old:
            for key in keys_of(facts) if facts[0] not in taken else ():
                known.setdefault(key, facts[0])
        for facts in new:
            keys = keys_of(facts) if facts[0] not in found else []
            id_ = next((known[key] for key in keys if key in known and known[key] not in taken), None)
            if id_ is not None:
                found[facts[0]] = id_
                taken.add(id_)
    return found


def _content_and_labels(facts: Facts) -> list[tuple[str, str]]:
    return [(facts[2], label) for label in facts[1]]


def _content(facts: Facts) -> list[tuple[str, str]]:
    return [(facts[2], "")]


def _labels(facts: Facts) -> list[tuple[str, str]]:
    return [("", label) for label in facts[1]]


def match_schemas(before: Iterable[Schema], after: Iterable[Schema]) -> dict[int, int]:
    """Match schemas or entities by name, then by alias; ids before by ids after."""
    before, after = list(before), list(after)
    names = {schema.name: schema.id for schema in before}
    found = {schema.id: names[schema.name] for schema in after if schema.name in names}
    taken = set(found.values())
    answers: dict[str, int] = {}
    for schema in before:
        for name in schema.names if schema.id not in taken else ():
            answers.setdefault(name, schema.id)
    for schema in after:
        if schema.id in found:
            continue
        old = next((id_ for name in sorted(schema.names) if (id_ := answers.get(name, 0)) and id_ not in taken), None)
        if old is not None:
            found[schema.id] = old
            taken.add(old)
    return found
