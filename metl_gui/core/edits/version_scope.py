"""Carry what was set or cleared in one version to other versions of its schema: the element of the same two lineages.

An element is set where both of its ends are free; ends that are taken, retired blocks and types that cannot be read are
left and told one by one. Clearing removes the element of the same lineages and no other. What replaces or swaps holds
for its own version alone.

Source: docs/architecture/model.md, "Edits of several versions".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import is_readable


class VersionScope(StrEnum):
    """The versions of a schema that an edit of one of them holds for."""

    THIS = "this version"
    LATER = "this and later versions"
    ALL = "all versions"


class LeftReason(StrEnum):
    """Why an element was not set in a version that has both of its lineages."""

    TAKEN = "an end is taken"
    RETIRED = "the block is retired"
    TYPE = "the types differ"


@dataclass(frozen=True, slots=True)
class LeftElement:
    """An element that was not set.

    Args:
        key: its block.
        element: it.
        reason: why.
        origin: the element that was set in its own version, and that version's block.
    """

    key: BlockKey
    element: Element
    reason: LeftReason
    origin: tuple[BlockKey, Element]


@dataclass(frozen=True, slots=True)
class ScopePlan:
    """What carrying edits to other versions would do there.

    Args:
        edits: one for each block that changes.
        changed: elements that change.
        already: elements that are set there.
        left: elements that are not set.
    """

    edits: tuple[SetElements, ...]
    changed: int
    already: int
    left: tuple[LeftElement, ...]


def versions_with(document: Document, version: int, lineages: Collection[int], scope: VersionScope) -> tuple[int, ...]:
    """Return the other versions in scope of an edit of one that have any of some lineages, oldest first."""
    others = _versions_in(document, version, scope)
    return tuple(v for v in others if any(one in lineages for one in document.extraction.lineages(v)))


def carried(
    document: Document,
    edits: Sequence[SetElements],
    scope: VersionScope,
    *,
    types_too: bool = False,
    entity_versions_too: bool = False,
) -> ScopePlan:
    """Work out what edits of some versions mean in the other versions that are in scope.

    Args:
        document: as it is before the edits.
        edits: of the versions that are shown; a block that has an edit of its own takes nothing from another's.
        scope: which versions of the schema of each edit take part.
        types_too: set elements whose types differ, too.
        entity_versions_too: take in the other versions of entities that keep parallel versions.

    Cost: the lineages of the versions in scope, once for each edit.
    """
    shown = {edit.key for edit in edits}
    blocks: dict[BlockKey, _BlockPlan] = {}
    for edit in edits:
        if edit.ones and edit.zeros:
            continue
        others = [key for key in _keys_in(document, edit.key, scope, entity_versions_too) if key not in shown]
        if not others:
            continue
        origin = _Origin(document, edit)
        for key in others:
            pairs = origin.counterparts(key)
            if pairs:
                plan = blocks.setdefault(key, _BlockPlan(document.matrix.block(*key) or Block(*key)))
                plan.take(edit, pairs, types_too)
    found = blocks.values()
    return ScopePlan(
        tuple(plan.edit() for plan in found if plan.changes),
        sum(len(plan.changes) for plan in found),
        sum(len(plan.already) for plan in found),
        tuple(each for plan in found for each in plan.left.values()),
    )


def _versions_in(document: Document, version: int, scope: VersionScope) -> tuple[int, ...]:
    """Return the other versions of a schema that are in scope of an edit of one, oldest first."""
    ids = document.extraction.schema(document.extraction.schema_of(version)).version_ids
    if scope is VersionScope.ALL:
        return tuple(id_ for id_ in ids if id_ != version)
    return ids[ids.index(version) + 1 :] if scope is VersionScope.LATER else ()


def _keys_in(document: Document, key: BlockKey, scope: VersionScope, entity_versions_too: bool) -> list[BlockKey]:
    entity = document.cdm.schema(document.cdm.schema_of(key[1]))
    others = _versions_in(document, key[0], scope)
    if not entity_versions_too or entity.setting("policy") != "parallel":
        return [(v, key[1]) for v in others]
    return [(v, w) for v in (key[0], *others) for w in entity.version_ids if (v, w) != key]


_Pair: TypeAlias = tuple[Element, Attribute, Attribute]
"""An element of the version that is edited, and what its source and target are in another block."""


class _Origin:
    """The elements of an edit by the lineages of their ends.

    Args:
        document: as it is before the edit.
        edit: of one block.
    """

    def __init__(self, document: Document, edit: SetElements) -> None:
        self._document = document
        columns = {a.id: a.lineage for a in document.extraction.version(edit.key[0]).attributes}
        rows = {a.id: a.lineage for a in document.cdm.version(edit.key[1]).attributes}
        elements = (*edit.ones, *edit.zeros)
        self._elements = [(e, columns[e.p], rows[e.q]) for e in elements if e.p in columns and e.q in rows]
        self._columns, self._rows = {p for _, p, _ in self._elements}, {q for _, _, q in self._elements}
        self._targets: dict[int, dict[int, Attribute]] = {}

    def counterparts(self, key: BlockKey) -> list[_Pair]:
        """Return the elements of which another block has both lineages."""
        sources = self._document.extraction.members(key[0], self._columns)
        if key[1] not in self._targets:
            self._targets[key[1]] = self._document.cdm.members(key[1], self._rows)
        targets = self._targets[key[1]]
        return [(e, sources[p], targets[q]) for e, p, q in self._elements if p in sources and q in targets]


class _BlockPlan:
    """What becomes of one block of another version.

    Args:
        before: the block as it is.
    """

    def __init__(self, before: Block) -> None:
        self._before = before
        self._standing = set(before.elements)
        self._taken_p = {e.p for e in before.elements}
        self._taken_q = {e.q for e in before.elements}
        self._status = Status.UNCONFIRMED if before.is_unconfirmed else Status.CONFIRMED
        self.changes: dict[Element, bool] = {}
        self.already: set[Element] = set()
        self.left: dict[Element, LeftElement] = {}

    def take(self, edit: SetElements, pairs: Iterable[_Pair], types_too: bool) -> None:
        """Take the elements of an edit, as far as they can be set or cleared here."""
        zeros = frozenset(edit.zeros)
        if edit.ones and edit.status is Status.UNCONFIRMED:
            self._status = Status.UNCONFIRMED
        for origin, source, target in pairs:
            element = Element(target.id, source.id)
            if origin in zeros:
                if element in self._standing:
                    self.changes[element] = False
            elif element in self._standing or element in self.changes:
                self.already.add(element)
            elif reason := self._hindrance(source, target, types_too):
                self.left[element] = LeftElement(self._before.key, element, reason, (edit.key, origin))
            else:
                self.changes[element] = True
                self._taken_p.add(source.id)
                self._taken_q.add(target.id)

    def edit(self) -> SetElements:
        """Return the edit that makes the block so."""
        ones = tuple(sorted(e for e, is_set in self.changes.items() if is_set))
        zeros = tuple(sorted(e for e, is_set in self.changes.items() if not is_set))
        return SetElements(self._before.key, ones, zeros, self._status)

    def _hindrance(self, source: Attribute, target: Attribute, types_too: bool) -> LeftReason | None:
        if self._before.status is Status.RETIRED:
            return LeftReason.RETIRED
        if source.id in self._taken_p or target.id in self._taken_q:
            return LeftReason.TAKEN
        return None if types_too or is_readable(source, target) else LeftReason.TYPE
