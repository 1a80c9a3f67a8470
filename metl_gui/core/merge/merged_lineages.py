"""Merge which attributes of a schema or entity are the same: joins and splits of either side, and new versions.

A lineage is named by its first attribute that all three sides have; a side that names it otherwise than the base joined
or split it. Attributes of versions that only one side has follow the nearest ones that they were the same as there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.ignored import put_marks
from metl_gui.core.merge.sides import ConflictKind, IdTranslation, MergeConflict, MergedNodes, ThreeWay, settled
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Version


@dataclass(slots=True)
class _MergedAttribute:
    """An attribute of the result, with what it is on each side."""

    version: Version
    at: int
    attribute: Attribute
    sides: ThreeWay[Attribute | None]
    lineage: int = 0

    @property
    def is_common(self) -> bool:
        return all(each is not None for each in self.sides)

    def of(self, side: int) -> int:
        """Return the lineage on a side, 0 where it is not there."""
        found = self.sides[side]
        return 0 if found is None else found.lineage


_BASE, _OURS, _THEIRS = range(3)


def merge_lineages(draft: Draft, nodes: MergedNodes, result: int) -> None:
    """Give every attribute of a schema or entity of the result its lineage, and note where those of each side went."""
    merger = _Lineages(draft, nodes, result)
    merger.assign_shared()
    merger.assign_remaining()
    merger.mend_doubles()
    merger.write()


@dataclass(slots=True)
class _Lineages:
    draft: Draft
    nodes: MergedNodes
    result: int
    leaves: list[_MergedAttribute] = field(default_factory=list)

    def __post_init__(self) -> None:
        for at, version in enumerate(self.draft.tree(self.nodes.side).versions(self.result)):
            found = [ids.version(version.id) for ids in self.nodes.ids]
            known = [{a.path: a for a in each.attributes} if each else {} for each in found]
            for attribute in version.attributes:
                sides = ThreeWay(*(of.get(attribute.path) for of in known))
                self.leaves.append(_MergedAttribute(version, at, attribute, sides))

    def assign_shared(self) -> None:
        """Settle what all three sides have: whose name of a lineage changed decides."""
        common = [leaf for leaf in self.leaves if leaf.is_common]
        first: list[dict[int, int]] = [{}, {}, {}]
        roots: list[int] = []
        fresh: dict[int, int] = {}
        for at, leaf in enumerate(common):
            names = ThreeWay(*(first[side].setdefault(leaf.of(side), at) for side in range(3)))
            name, is_other = settled(names)
            if is_other:
                self._tell(leaf, common[names.ours], common[names.theirs])
            root = at if name == at else roots[name]
            roots.append(root)
            if root == at:
                fresh[at] = leaf.of(_OURS) if names.ours == at else self.draft.new_lineage(self.nodes.side)
            leaf.lineage = fresh[root]

    def assign_remaining(self) -> None:
        """Let attributes that not all sides have follow those that they are the same as."""
        rest = [leaf for leaf in self.leaves if not leaf.is_common]
        self._assign_added_by_both([leaf for leaf in rest if leaf.sides.ours is not None and leaf.sides.theirs])
        of_ours = _by_lineage([leaf for leaf in self.leaves if leaf.lineage], _OURS)
        shared = {leaf.lineage for leaf in self.leaves if leaf.is_common}
        by_path: dict[str, int] = {}
        for leaf in rest:
            if leaf.sides.ours is None:
                continue
            if not leaf.lineage:
                leaf.lineage = (_nearest(of_ours[leaf.of(_OURS)], leaf) or leaf).lineage or leaf.of(_OURS)
            if leaf.lineage not in shared:
                by_path.setdefault(leaf.attribute.path, leaf.lineage)
        known = _by_lineage([leaf for leaf in self.leaves if leaf.lineage], _THEIRS)
        new: dict[int, int] = {}
        for leaf in rest:
            if leaf.sides.ours is not None:
                continue
            near = _nearest(known[leaf.of(_THEIRS)], leaf)
            if near is not None:
                leaf.lineage = near.lineage
                continue
            lineage = leaf.of(_THEIRS)
            if lineage not in new:
                path = leaf.attribute.path
                new[lineage] = by_path.get(path) or self.draft.new_lineage(self.nodes.side)
            leaf.lineage = new[lineage]

    def _assign_added_by_both(self, leaves: list[_MergedAttribute]) -> None:
        """Settle what both sides added: it is the same as the one of its path before, where neither corrected that."""
        common = [leaf for leaf in self.leaves if leaf.is_common]
        of_ours, of_theirs = _by_lineage(common, _OURS), _by_lineage(common, _THEIRS)
        of_path: defaultdict[str, list[_MergedAttribute]] = defaultdict(list)
        for leaf in common:
            of_path[leaf.attribute.path].append(leaf)
        parted: dict[int, int] = {}
        for leaf in leaves:
            same = of_path[leaf.attribute.path], of_ours[leaf.of(_OURS)], of_theirs[leaf.of(_THEIRS)]
            found = ThreeWay(*(_nearest(each, leaf) for each in same))
            lineages = ThreeWay(*(each.lineage if each is not None else 0 for each in found))
            lineage, is_other = settled(lineages)
            if is_other:
                self._tell(leaf, found.ours or leaf, found.theirs or leaf)
            if not lineage and lineages.ours:
                lineage = parted.get(leaf.of(_THEIRS)) or self.draft.new_lineage(self.nodes.side)
                parted[leaf.of(_THEIRS)] = lineage
            leaf.lineage = lineage or leaf.of(_OURS)
            for each in same:
                each.append(leaf)

    def mend_doubles(self) -> None:
        """Let no version have two attributes of one lineage: then ours stays as it was, and theirs' parts."""
        found = self._doubles()
        if not found:
            return
        for leaf in self.leaves:
            leaf.lineage = leaf.of(_OURS) or leaf.lineage
        for leaf in self._doubles():
            if leaf.sides.ours is None:
                leaf.lineage = self.draft.new_lineage(self.nodes.side)
        same = [leaf for leaf in found if leaf.at == found[0].at]
        paths = " and ".join(leaf.attribute.path for leaf in same)
        label = found[0].version.label
        reason = f"A join of one side would make {paths} of version {label} one attribute; it stays as ours has it."
        self._told(found[0], reason)

    def _doubles(self) -> list[_MergedAttribute]:
        seen: dict[tuple[int, int], int] = defaultdict(int)
        for leaf in self.leaves:
            seen[leaf.at, leaf.lineage] += 1
        return [leaf for leaf in self.leaves if seen[leaf.at, leaf.lineage] > 1]

    def write(self) -> None:
        """Put the lineages into the trees, and note where those of each side are."""
        given: dict[int, list[Attribute]] = defaultdict(list)
        for leaf in self.leaves:
            given[leaf.version.id].append(replace(leaf.attribute, lineage=leaf.lineage))
            for ids, attribute in zip(self.nodes.ids, leaf.sides, strict=True):
                if attribute is not None:
                    ids.leaves[attribute.id] = leaf.lineage
                    ids.lineages[attribute.lineage] = leaf.lineage
        side = self.nodes.side
        for version in self.draft.tree(side).versions(self.result):
            attributes = tuple(given[version.id])
            if attributes != version.attributes:
                self.nodes.touched.add(self.result)
                self.draft.put_version(side, version.id, replace(version, attributes=attributes))
        self._write_succession()
        self._write_ignored()

    def _write_succession(self) -> None:
        """Take what theirs says of lineages that took over from others."""
        schema = self.draft.tree(self.nodes.side).schema(self.result)
        theirs = self.nodes.ids.theirs
        id_ = theirs.schema(self.result)
        pairs = theirs.tree.schema(id_).succeeds if id_ is not None else ()
        found = [(theirs.lineages.get(newer, 0), theirs.lineages.get(older, 0)) for newer, older in pairs]
        new = tuple(pair for pair in found if all(pair) and pair[0] != pair[1] and pair not in schema.succeeds)
        if new:
            self.draft.put_schema(self.nodes.side, self.result, replace(schema, succeeds=(*schema.succeeds, *new)))

    def _write_ignored(self) -> None:
        """Take what theirs says is never to be mapped, and is again, by the lineages of the result."""
        schema = self.draft.tree(self.nodes.side).schema(self.result)
        marks = ThreeWay(*(self._marks(ids) for ids in self.nodes.ids))
        found: dict[int, IgnoredAttribute] = {}
        for lineage in marks.base.keys() | marks.ours.keys() | marks.theirs.keys():
            mark = ThreeWay(*(each.get(lineage) for each in marks))
            reason, is_other = settled(ThreeWay(*(each.reason if each is not None else "" for each in mark)))
            if is_other:
                words = [f"“{each.reason}”" if each is not None else "to be mapped" for each in mark]
                attribute = self.draft.tree(self.nodes.side).newest_of_lineage(schema.id, lineage)
                place = f"{schema.name}, {attribute.path if attribute is not None else '?'}"
                told = f"Why it is never to be mapped: ours says {words[1]}, theirs {words[2]}; ours is kept."
                self.nodes.conflicts.append((self.result, None, MergeConflict(ConflictKind.DOC, place, told)))
            kept = next((each for each in reversed(mark[1:]) if each is not None and each.reason == reason), None)
            if kept is not None:
                found[lineage] = replace(kept, lineage=lineage)
        put_marks(self.draft, self.nodes.side, self.result, found.values())

    def _marks(self, ids: IdTranslation) -> dict[int, IgnoredAttribute]:
        """Return what a side says is never to be mapped, by lineages of the result."""
        id_ = ids.schema(self.result)
        schema = ids.tree.find_schema(id_) if id_ is not None else None
        marks = schema.ignored if schema is not None else ()
        return {ids.lineages[mark.lineage]: mark for mark in marks if mark.lineage in ids.lineages}

    def _tell(self, leaf: _MergedAttribute, ours: _MergedAttribute, theirs: _MergedAttribute) -> None:
        words = [_words(leaf, other) for other in (ours, theirs)]
        self._told(leaf, f"In ours {words[0]}, in theirs {words[1]}; it stays as ours has it.")

    def _told(self, leaf: _MergedAttribute, reason: str) -> None:
        name = self.draft.tree(self.nodes.side).schema(self.result).name
        place = f"{name}@{leaf.version.label}, {leaf.attribute.path}"
        self.nodes.conflicts.append((self.result, leaf.version.id, MergeConflict(ConflictKind.LINEAGE, place, reason)))


def _words(leaf: _MergedAttribute, other: _MergedAttribute) -> str:
    if leaf is other:
        return "it is an attribute of its own"
    return f"it continues {other.attribute.path} of version {other.version.label}"


def _by_lineage(leaves: list[_MergedAttribute], side: int) -> defaultdict[int, list[_MergedAttribute]]:
    found: defaultdict[int, list[_MergedAttribute]] = defaultdict(list)
    for leaf in leaves:
        if leaf.sides[side] is not None:
            found[leaf.of(side)].append(leaf)
    return found


def _nearest(same: list[_MergedAttribute], leaf: _MergedAttribute) -> _MergedAttribute | None:
    """Find the one in the nearest version below, else above."""
    return min(same, key=lambda each: (each.at > leaf.at, abs(each.at - leaf.at)), default=None)
