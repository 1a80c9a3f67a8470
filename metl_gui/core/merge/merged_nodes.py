"""Where the nodes of the three sides are in the result of a merge."""

from __future__ import annotations

from dataclasses import dataclass, field

from metl_gui.core.document import Document
from metl_gui.core.merge.sides import Conflict, ConflictKind, Trio
from metl_gui.core.nodes import Side, Version
from metl_gui.core.trees import Tree


@dataclass(slots=True)
class Places:
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

    def place_schema(self, id_: int, result: int) -> None:
        """Say which schema or entity of the result one of this side is."""
        self.schemas[id_] = result
        self._schemas_back[result] = id_

    def place(self, id_: int, result: int) -> None:
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
        places: of base, ours and theirs.
        touched: schemas or entities of the result of which theirs changed something.
        conflicts: what could not be settled, with the schema of the result that it is about.
    """

    side: Side
    places: Trio[Places]
    touched: set[int] = field(default_factory=set)
    conflicts: list[tuple[int | None, int | None, Conflict]] = field(default_factory=list)

    @classmethod
    def of(cls, side: Side, documents: Trio[Document]) -> MergedNodes:
        """Begin with the trees of three documents."""
        return cls(side, Trio(*(Places(document.tree(side)) for document in documents)))

    def tell(self, result: int | None, version: int | None, kind: ConflictKind, place: str, reason: str) -> None:
        """Note a conflict about a schema or entity of the result, and about one of its versions."""
        self.conflicts.append((result, version, Conflict(kind, place, reason)))
