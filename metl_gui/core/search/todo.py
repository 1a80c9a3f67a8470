"""What is to do: how each attribute of the newest versions stands, and how far schemas, entities and trees are.

An attribute is mapped where an element of its newest version has it, never to be mapped where a person said so
(``Schema.ignored``), and open else; an open one may have a suggestion.
Cost: elements are counted as columns, once a tree; then each newest version, and objects only of what is listed.
Source: docs/guide/mapping.md, "What is to do".
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from enum import StrEnum

import numpy as np

from metl_gui.core.changes.ignored import mapped_among
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.attribute_facts import Flags, MappedAttributes, schemas_with_ignored
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Schema, Side
from metl_gui.values import Value


class AttributeStatus(StrEnum):
    """How an attribute stands."""

    MAPPED = "mapped"
    SUGGESTED = "suggested"
    IGNORED = "ignored"
    OPEN = "open"


class MappingProgress(Value):
    """How far mapping is, in numbers of attributes of newest versions; what is never to be mapped is required of none.

    Args:
        attributes: all of them.
        mapped: those with an element.
        open: those that are neither mapped nor ignored.
        ignored: those that are never to be mapped.
        required: those that are required and not ignored.
        required_mapped: those of them with an element.
    """

    attributes: int = 0
    mapped: int = 0
    open: int = 0
    ignored: int = 0
    required: int = 0
    required_mapped: int = 0

    def __add__(self, other: MappingProgress) -> MappingProgress:
        return MappingProgress(
            self.attributes + other.attributes,
            self.mapped + other.mapped,
            self.open + other.open,
            self.ignored + other.ignored,
            self.required + other.required,
            self.required_mapped + other.required_mapped,
        )

    def words(self) -> str:
        """Describe it: "312 of 900 required mapped, 41 open, 12 never to be mapped"."""
        if self.required:
            first = f"{self.required_mapped:,} of {self.required:,} required mapped"
        else:
            first = f"{self.mapped:,} of {self.attributes - self.ignored:,} mapped"
        more = [f"{self.open:,} open"] if self.open else []
        more += [f"{self.ignored:,} never to be mapped"] if self.ignored else []
        return ", ".join([first, *more])


class ToDoItem(Value):
    """One attribute and how it stands.

    Args:
        side, schema_id, version_id: where it is: the newest version of its schema or entity.
        attribute: itself.
        status: see ``AttributeStatus``.
        mark: who said that it is never to be mapped, when and why.
    """

    side: Side
    schema_id: int
    version_id: int
    attribute: Attribute
    status: AttributeStatus
    mark: IgnoredAttribute | None = None


class ToDo(Value, eq=False):
    """What is to do in one tree of a document.

    Args:
        document: the state.
        side: the tree.
        uses: which of its attributes are mapped.
    """

    document: Document
    side: Side
    uses: MappedAttributes

    @classmethod
    def of(cls, document: Document, side: Side) -> ToDo:
        """Count the elements of one tree."""
        return cls(document, side, MappedAttributes.of(document, side))

    def schemas(self) -> Iterator[Schema]:
        """Yield the schemas or entities that have a version, by name."""
        tree = self.document.tree(self.side)
        yield from sorted((each for each in tree.schemas() if each.version_ids), key=lambda each: each.name)

    def progress(self, schema: Schema) -> MappingProgress:
        """Return how far one schema or entity is."""
        mapped, never, required = self._flags(schema)
        required &= ~never
        counts = (np.count_nonzero(each) for each in (mapped, ~(mapped | never), never, required, required & mapped))
        return MappingProgress(len(mapped), *(int(count) for count in counts))

    def items(
        self,
        schema: Schema,
        wanted: Container[AttributeStatus] = tuple(AttributeStatus),
        suggested: Container[int] = (),
    ) -> Iterator[ToDoItem]:
        """Yield the attributes of the newest version of a schema or entity, in its order.

        Args:
            schema: it.
            wanted: the statuses that are asked for.
            suggested: ids of attributes for which there is a suggestion.
        """
        mapped, never, _ = self._flags(schema)
        is_asked = np.zeros(len(mapped), np.bool_)
        if AttributeStatus.MAPPED in wanted:
            is_asked |= mapped
        if AttributeStatus.IGNORED in wanted:
            is_asked |= never
        if AttributeStatus.OPEN in wanted or AttributeStatus.SUGGESTED in wanted:
            is_asked |= ~(mapped | never)
        if not is_asked.any():
            return
        version = self.document.tree(self.side).version(schema.version_ids[-1])
        marks = {mark.lineage: mark for mark in schema.ignored}
        for at in np.flatnonzero(is_asked).tolist():
            attribute = version.attributes[at]
            status = _status(bool(mapped[at]), bool(never[at]), attribute.id in suggested)
            if status in wanted:
                mark = marks.get(attribute.lineage) if status is AttributeStatus.IGNORED else None
                yield ToDoItem(self.side, schema.id, version.id, attribute, status, mark)

    def _flags(self, schema: Schema) -> tuple[Flags, Flags, Flags]:
        asked = schema.id, schema.version_ids[-1]
        mapped = self.uses.mapped(*asked)
        return mapped, self.uses.never(*asked) & ~mapped, self.uses.required(*asked)


def marks_taken(before: Document, after: Document) -> tuple[tuple[str, IgnoredAttribute], ...]:
    """Return by newest path the attributes that were never to be mapped before an edit that maps them.

    Cost: the marks of the schemas and entities that have any, where their tree changed.
    """
    found: list[tuple[str, IgnoredAttribute]] = []
    for side in Side:
        tree = after.tree(side)
        for was in schemas_with_ignored(before.tree(side)) if tree is not before.tree(side) else ():
            schema = tree.find_schema(was.id)
            left = was.ignored_lineages - schema.ignored_lineages if schema is not None else frozenset()
            mapped = mapped_among(after, side, was.id, left) if left else frozenset()
            newest = tree.newest_of_lineages(was.id, mapped) if mapped else {}
            found += [(newest[each.lineage].path, each) for each in was.ignored if each.lineage in newest]
    return tuple(found)


def progress_of(document: Document, side: Side) -> MappingProgress:
    """Return how far a whole tree is."""
    listed = ToDo.of(document, side)
    return sum((listed.progress(schema) for schema in listed.schemas()), MappingProgress())


def _status(is_mapped: bool, is_never: bool, is_suggested: bool) -> AttributeStatus:
    if is_mapped:
        return AttributeStatus.MAPPED
    if is_never:
        return AttributeStatus.IGNORED
    return AttributeStatus.SUGGESTED if is_suggested else AttributeStatus.OPEN
