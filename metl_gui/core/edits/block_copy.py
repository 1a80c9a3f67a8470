"""Copy a block's elements to another block: through lineages within a schema or entity, else by equal names.

Nothing that stands in the other block is replaced; what cannot be placed is told one by one.
"""

from __future__ import annotations

from metl_gui.core.edits.attribute_pairs import normalised
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.values import Value


class Unplaced(Value):
    """An element that could not be copied.

    Args:
        key: the block that it was meant for.
        from_path, to_path: its ends in the block it was copied from.
        reason: why, in words.
    """

    key: BlockKey
    from_path: str
    to_path: str
    reason: str


class CopyPlan(Value):
    """What copying a block would do.

    Args:
        edits: one for each block that gains an element.
        copied: elements that become 1.
        already: elements that are 1 there.
        unplaced: what cannot be copied.
    """

    edits: tuple[SetElements, ...]
    copied: int
    already: int
    unplaced: tuple[Unplaced, ...]


def plan_copy(document: Document, from_: BlockKey, to: tuple[BlockKey, ...]) -> CopyPlan:
    """Work out what copying a block onto others means; the block itself is passed over."""
    parts = [_plan_one(document, from_, key) for key in to if key != from_]
    return CopyPlan(
        tuple(edit for part in parts for edit in part.edits),
        sum(part.copied for part in parts),
        sum(part.already for part in parts),
        tuple(each for part in parts for each in part.unplaced),
    )


def _plan_one(document: Document, from_: BlockKey, to: BlockKey) -> CopyPlan:
    old = document.matrix.block(*from_) or Block(*from_)
    new = document.matrix.block(*to) or Block(*to)
    columns = _Ends.of(document, Side.EXTRACTION, from_[0], to[0])
    rows = _Ends.of(document, Side.CDM, from_[1], to[1])
    standing = set(new.elements)
    taken_p, taken_q = {e.p for e in new.elements}, {e.q for e in new.elements}
    ones: list[Element] = []
    unplaced: list[Unplaced] = []
    already = 0
    for element in old.elements:
        source, target = columns.old[element.p], rows.old[element.q]
        p, q = columns.counterpart(source), rows.counterpart(target)
        if p is None or q is None:
            reason = columns.missing(source) if p is None else rows.missing(target)
        elif Element(q.id, p.id) in standing:
            already += 1
            continue
        elif p.id in taken_p or q.id in taken_q:
            reason = f"{p.path if p.id in taken_p else q.path} is taken there"
        else:
            ones.append(Element(q.id, p.id))
            taken_p.add(p.id)
            taken_q.add(q.id)
            continue
        unplaced.append(Unplaced(to, source.path, target.path, reason))
    edits = (SetElements(to, tuple(sorted(ones))),) if ones else ()
    return CopyPlan(edits, len(ones), already, tuple(unplaced))


class _Ends(Value):
    """How the attributes of one version are found in another."""

    old: dict[int, Attribute]
    version: Version
    name: str
    by_lineage: dict[int, Attribute]
    by_path: dict[str, Attribute]
    by_name: dict[str, list[Attribute]]

    @classmethod
    def of(cls, document: Document, side: Side, old_id: int, new_id: int) -> _Ends:
        tree = document.tree(side)
        old, new = tree.version(old_id), tree.version(new_id)
        is_same = old.schema_id == new.schema_id
        names: dict[str, list[Attribute]] = {}
        for attribute in () if is_same else new.attributes:
            names.setdefault(normalised(attribute.path), []).append(attribute)
        return cls(
            {a.id: a for a in old.attributes},
            new,
            f"{tree.schema(new.schema_id).name} {new.label}",
            {a.lineage: a for a in new.attributes} if is_same else {},
            {} if is_same else {a.path: a for a in new.attributes},
            names,
        )

    def counterpart(self, old: Attribute) -> Attribute | None:
        """Return the attribute that stands for an old one."""
        if self.by_lineage:
            return self.by_lineage.get(old.lineage)
        alike = self.by_name.get(normalised(old.path), [])
        return self.by_path.get(old.path) or (alike[0] if len(alike) == 1 else None)

    def missing(self, old: Attribute) -> str:
        """Say that there is none."""
        return f"{self.name} has no {old.path}"
