"""Carry what was set or cleared in one version to other versions of its schema: the element of the same two lineages.

An element is set where both of its ends are free. Ends that are taken, retired blocks, and types that may refuse values
where those of the version it comes from may not are left and told one by one. Clearing removes the element of the same
lineages and no other. What replaces or swaps holds for its own version alone.

Source: docs/architecture/model.md, "Edits of several versions".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.values import Value


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
    LOSS = "its loss waits for an answer"


class LeftElement(Value):
    """An element that was not set.

    Args:
        key: its block.
        element: it.
        reason: why.
    """

    key: BlockKey
    element: Element
    reason: LeftReason


class WishedElement(NamedTuple):
    """An element that is to be set or cleared, as far as that can be.

    Args:
        key: its block.
        source, target: its ends.
        like: the source in the version that it comes from.
        is_set: whether it is to be 1.
        is_unconfirmed: whether what sets it leaves it to be confirmed.
    """

    key: BlockKey
    source: Attribute
    target: Attribute
    like: Attribute
    is_set: bool = True
    is_unconfirmed: bool = False

    @property
    def element(self) -> Element:
        """The element itself."""
        return Element(self.target.id, self.source.id)


class ScopePlan(Value):
    """What wishes mean, block by block.

    Args:
        edits: one for each block that changes.
        changed: elements that change.
        already: elements that are set there.
        left: elements that are not set.
    """

    edits: tuple[SetElements, ...] = ()
    changed: int = 0
    already: int = 0
    left: tuple[LeftElement, ...] = ()


def lineage_places(tree: ReadableTree, schema_id: int) -> dict[int, list[int]]:
    """Return for each lineage of a schema the places, from 0 on, of the versions that have it.

    Cost: the lineages of all its versions.
    """
    found: dict[int, list[int]] = {}
    for place, version in enumerate(tree.schema(schema_id).version_ids):
        for lineage in tree.lineages(version):
            found.setdefault(lineage, []).append(place)
    return found


def carried(
    document: Document,
    edits: Sequence[SetElements],
    scope: VersionScope,
    *,
    types_too: bool = False,
    entity_versions_too: bool = False,
    only: Collection[BlockKey] | None = None,
) -> ScopePlan:
    """Work out what edits of some versions mean in the other versions that are in scope.

    Args:
        document: as it is before the edits.
        edits: of the versions that are shown; a block that has an edit of its own takes nothing from another's.
        scope: which versions of the schema of each edit take part.
        types_too: set elements whose types differ, too.
        entity_versions_too: take in the other versions of entities that keep parallel versions.
        only: the blocks that take part, ``None`` for all in scope.

    Cost: the lineages of the versions in scope, once for each edit.
    """
    if scope is VersionScope.THIS and not entity_versions_too:
        return ScopePlan()
    shown = {edit.key for edit in edits}
    groups: dict[tuple[int, int], list[BlockKey]] = {}

    def others(edit: SetElements) -> list[BlockKey]:
        group = document.extraction.schema_of(edit.key[0]), edit.key[1]
        if group not in groups:
            keys = _keys_of(document, *group, entity_versions_too)
            groups[group] = [key for key in keys if key not in shown and (only is None or key in only)]
        return _in_scope(document, groups[group], edit.key[0], scope)

    wished = (one for edit in edits for one in _wished(document, edit, others(edit)))
    return as_far_as_free(document, wished, types_too=types_too)


def as_far_as_free(
    document: Document,
    wished: Iterable[WishedElement],
    given: Mapping[BlockKey, SetElements] | None = None,
    *,
    types_too: bool = False,
) -> ScopePlan:
    """Work out which wished elements can be set, the earlier ones first: replace nothing, and tell what is left.

    Args:
        document: as it is before.
        wished: elements of any blocks.
        given: edits of blocks that are made in any case; they come back with what is set beside them.
        types_too: set elements whose types differ, too.

    Cost: the elements of the blocks that are named, and the wishes.
    """
    known = given or {}
    blocks: dict[BlockKey, _BlockPlan] = {}
    for one in wished:
        plan = blocks.get(one.key)
        if plan is None:
            before = document.matrix.block(*one.key) or Block(*one.key)
            plan = blocks[one.key] = _BlockPlan(before, known.get(one.key))
        plan.take(one, types_too)
    found = blocks.values()
    return ScopePlan(
        tuple(plan.edit() for plan in found if plan.changes),
        sum(len(plan.changes) for plan in found),
        sum(len(plan.already) for plan in found),
        tuple(each for plan in found for each in plan.left.values()),
    )


def _keys_of(document: Document, schema_id: int, entity_version: int, entity_versions_too: bool) -> list[BlockKey]:
    """Return the blocks of all versions of a schema, oldest first."""
    entity = document.cdm.schema(document.cdm.schema_of(entity_version))
    is_parallel = entity_versions_too and entity.setting("policy") == "parallel"
    rows = entity.version_ids if is_parallel else (entity_version,)
    return [(v, w) for v in document.extraction.schema(schema_id).version_ids for w in rows]


def _in_scope(document: Document, keys: list[BlockKey], version: int, scope: VersionScope) -> list[BlockKey]:
    """Return those of the blocks of a schema that an edit of one version holds for, those of that version first."""
    own = [key for key in keys if key[0] == version]
    if not keys or scope is VersionScope.THIS:
        return own
    ids = document.extraction.schema(document.extraction.schema_of(version)).version_ids
    reached = set(ids if scope is VersionScope.ALL else ids[ids.index(version) :]) - {version}
    return own + [key for key in keys if key[0] in reached]


def _wished(document: Document, edit: SetElements, others: Sequence[BlockKey]) -> Iterator[WishedElement]:
    """Yield the elements of an edit as other versions have them; none of one that replaces."""
    if not others or (edit.ones and edit.zeros):
        return
    columns = {a.id: a for a in document.extraction.version(edit.key[0]).attributes}
    rows = {a.id: a.lineage for a in document.cdm.version(edit.key[1]).attributes}
    elements = edit.ones or edit.zeros
    ends = [(columns[e.p], rows[e.q]) for e in elements if e.p in columns and e.q in rows]
    of_sources, of_targets = {like.lineage for like, _ in ends}, {q for _, q in ends}
    is_unconfirmed = edit.status is Status.UNCONFIRMED
    targets_of: dict[int, dict[int, Attribute]] = {}
    for key in others:
        sources = document.extraction.members(key[0], of_sources)
        if key[1] not in targets_of:
            targets_of[key[1]] = document.cdm.members(key[1], of_targets)
        targets = targets_of[key[1]]
        for like, q in ends:
            if like.lineage in sources and q in targets:
                source = sources[like.lineage]
                yield WishedElement(key, source, targets[q], like, bool(edit.ones), is_unconfirmed)


class _BlockPlan:
    """What becomes of one block.

    Args:
        before: the block as it is.
        given: what is made of it in any case.
    """

    def __init__(self, before: Block, given: SetElements | None) -> None:
        self._before, self._given = before, given
        zeros, ones = (given.zeros, given.ones) if given is not None else ((), ())
        self._standing = {*before.elements, *ones}.difference(zeros)
        self._taken_p = {e.p for e in self._standing}
        self._taken_q = {e.q for e in self._standing}
        # One that brings no more than a comment has the status of the block, which it may wait with.
        says_status = given is not None and given.status in (Status.CONFIRMED, Status.UNCONFIRMED)
        self._is_unconfirmed = given.status is Status.UNCONFIRMED if given and says_status else before.is_unconfirmed
        self.changes: dict[Element, bool] = {}
        self.already: set[Element] = set()
        self.left: dict[Element, LeftElement] = {}

    def take(self, one: WishedElement, types_too: bool) -> None:
        """Take an element, as far as it can be set or cleared here."""
        element = one.element
        if not one.is_set:
            if element in self._standing:
                self.changes[element] = False
        elif element in self._standing or element in self.changes:
            self.already.add(element)
        elif reason := self._hindrance(one, types_too):
            self.left[element] = LeftElement(self._before.key, element, reason)
        else:
            self.changes[element] = True
            self._taken_p.add(one.source.id)
            self._taken_q.add(one.target.id)
            self._is_unconfirmed |= one.is_unconfirmed

    def edit(self) -> SetElements:
        """Return the edit that makes the block so."""
        ones = {e for e, is_set in self.changes.items() if is_set}
        zeros = {e for e, is_set in self.changes.items() if not is_set}
        given = self._given or SetElements(self._before.key)
        ones, zeros = ones.union(given.ones), zeros.union(given.zeros)
        status = Status.UNCONFIRMED if self._is_unconfirmed else Status.CONFIRMED
        return replace(given, ones=tuple(sorted(ones)), zeros=tuple(sorted(zeros)), status=status)

    def _hindrance(self, one: WishedElement, types_too: bool) -> LeftReason | None:
        if self._before.status is Status.RETIRED and self._given is None:
            return LeftReason.RETIRED
        if one.source.id in self._taken_p or one.target.id in self._taken_q:
            return LeftReason.TAKEN
        return LeftReason.TYPE if not types_too and _is_worse(one) else None


def _is_worse(one: WishedElement) -> bool:
    """Whether the types of an element may refuse values, and those of the one that it comes from may not."""
    own, other = one.source, one.like
    if (own.type, own.logical, own.scale) == (other.type, other.logical, other.scale):
        return False
    return type_verdict(own, one.target) is TypeVerdict.MAY_REFUSE is not type_verdict(other, one.target)
