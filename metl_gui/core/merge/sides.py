"""The three sides of a merge: what became of one value, what could not be settled, how versions are ordered.

``MergedNodes`` tells where the nodes of each side are in one tree of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.project_data import ItemKind
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.core.trees.schema_names import LabelOrder
from metl_gui.core.trees.trees import Tree
from metl_gui.values import Value

T = TypeVar("T")


class ThreeWay(NamedTuple, Generic[T]):
    """One thing of each side."""

    base: T
    ours: T
    theirs: T


class ConflictKind(StrEnum):
    """What both sides changed differently."""

    ELEMENT = "element"
    REMOVED = "removed"
    VERSION = "version"
    LABEL = "label"
    KEY = "key"
    SETTING = "setting"
    NAME = "name"
    LINEAGE = "lineage"
    DOC = "documentation"
    MODEL = "warehouse model"
    IGNORED = "never to be mapped"


class MergeConflict(Value):
    """One thing that a person must look at; ours was kept.

    Args:
        kind: see ``ConflictKind``, and ``ItemKind`` for what lies beside the states.
        place: where, in names.
        reason: what either side says, in a sentence.
        key: the block of the result that waits for it, ``None`` where there is none to hold it.
        from_path, to_path: ends of the element that was not taken, ``""`` when it is about none.
    """

    kind: ConflictKind | ItemKind
    place: str
    reason: str
    key: BlockKey | None = None
    from_path: str = ""
    to_path: str = ""


def settled(values: ThreeWay[T]) -> tuple[T, bool]:
    """Take the value that one side changed; ours, and true, where both changed it differently."""
    if values.theirs in (values.base, values.ours):
        return values.ours, False
    if values.ours == values.base:
        return values.theirs, False
    return values.ours, True


def settled_set(values: ThreeWay[Iterable[T]]) -> list[T]:
    """Take what either side added, without what either removed; ours in its order first."""
    base, ours, theirs = (list(dict.fromkeys(each)) for each in values)
    kept = [each for each in ours if each in theirs or each not in base]
    return kept + [each for each in theirs if each not in base and each not in kept]


def with_line(comment: str, line: str) -> str:
    """Add a line to a comment that does not tell it already, as after an earlier merge."""
    return comment if f"\n{line}\n" in f"\n{comment}\n" else f"{comment}\n{line}".strip()


def merged_order(orders: ThreeWay[list[int]], label_order: Callable[[int], LabelOrder]) -> tuple[int, ...]:
    """Put versions that one side has among those of the other, each behind the one that it followed.

    Args:
        orders: versions of each side in its order, by their ids in the result, without those that are removed.
        label_order: what versions that both sides added at one place are sorted by.
    """
    common = set(orders.ours) & set(orders.theirs)
    of_base, of_ours, of_theirs = ([id_ for id_ in order if id_ in common] for order in orders)
    is_theirs = of_ours != of_theirs and [id_ for id_ in of_ours if id_ in of_base] == of_base
    skeleton, others = (orders.theirs, orders.ours) if is_theirs else (orders.ours, orders.theirs)
    found = list(skeleton)
    for place, id_ in enumerate(others):
        if id_ in found:
            continue
        at = found.index(others[place - 1]) + 1 if place else 0
        while at < len(found) and found[at] not in others and label_order(found[at]) <= label_order(id_):
            at += 1
        found.insert(at, id_)
    return tuple(found)


@dataclass(slots=True)
class IdTranslation:
    """Nodes of one side by their ids in the result; filled while trees are merged.

    Args:
        tree: of that side.
        schemas: ids in the result by ids of the side.
        versions: the same.
        lineages: the same, of the newest attribute that has it.
        leaves: lineages of the result by version and attribute id of the side.
    """

    tree: Tree
    schemas: dict[int, int] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    lineages: dict[int, int] = field(default_factory=dict)
    leaves: dict[int, int] = field(default_factory=dict)
    _back: dict[int, int] = field(default_factory=dict)
    _schemas_back: dict[int, int] = field(default_factory=dict)

    def map_schema(self, id_: int, result: int) -> None:
        """Say which schema or entity of the result one of this side is."""
        self.schemas[id_] = result
        self._schemas_back[result] = id_

    def map_version(self, id_: int, result: int) -> None:
        """Say which version of the result a version of this side is."""
        self.versions[id_] = result
        self._back[result] = id_

    def version(self, result: int) -> Version | None:
        """Return this side's version of one of the result."""
        id_ = self._back.get(result)
        return None if id_ is None else self.tree.version(id_)

    def has(self, result: int) -> bool:
        """Whether this side has a version of the result."""
        return result in self._back

    def schema(self, result: int) -> int | None:
        """Return this side's schema or entity of one of the result."""
        return self._schemas_back.get(result)

    def lineage(self, attribute_id: int, lineage: int) -> int | None:
        """Return the lineage that an attribute of this side has in the result."""
        return self.leaves.get(attribute_id, self.lineages.get(lineage))


@dataclass(slots=True)
class MergedNodes:
    """One tree of the result, and where the nodes of each side are in it.

    Args:
        side: the tree.
        ids: translations of base, ours and theirs.
        touched: schemas or entities of the result of which theirs changed something.
        conflicts: what could not be settled, with the schema of the result that it is about.
    """

    side: Side
    ids: ThreeWay[IdTranslation]
    touched: set[int] = field(default_factory=set)
    conflicts: list[tuple[int | None, int | None, MergeConflict]] = field(default_factory=list)

    @classmethod
    def of(cls, side: Side, documents: ThreeWay[Document]) -> MergedNodes:
        """Begin with the trees of three documents."""
        return cls(side, ThreeWay(*(IdTranslation(document.tree(side)) for document in documents)))

    def add_conflict(
        self, result: int | None, version: int | None, kind: ConflictKind, place: str, reason: str
    ) -> None:
        """Note a conflict about a schema or entity of the result, and about one of its versions."""
        self.conflicts.append((result, version, MergeConflict(kind, place, reason)))
