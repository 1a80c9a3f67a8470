"""Merge the blocks between the versions of a schema and those of an entity.

An element that theirs added and that shares an end with one of ours is not taken: it becomes a lost element of the
block, whose reason says what either side wants, so that the block waits for a person (docs/guide/teams.md, "Compare and
merge").

What a block holds on each side (``SideBlocks``) is said in terms that hold for all of them. An element is named by the
attribute of the result that it comes from and by the lineage that it goes to, so that blocks against different versions
of an entity compare. A version that a side does not have yet is taken as the automated update would fill it there, from
the nearest version below that both have: so what one side maps meets the new versions of the other. Of a version
that both sides added, the base has what the update filled in on both: what only the one brought back, by saying that an
attribute was renamed, is its own, and nothing that the other took away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.second_person import JOINT, joined
from metl_gui.core.edits.elements import block_name, store_block
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.merge.sides import (
    ConflictKind,
    IdTranslation,
    MergeConflict,
    MergedNodes,
    ThreeWay,
    settled,
    settled_set,
    with_line,
)
from metl_gui.core.trees.nodes import Side, Version

End: TypeAlias = int | str
"""Id of an attribute (source) or of a lineage (target) of the result; a path where the result has none."""
Ends: TypeAlias = tuple[End, End]
Pair: TypeAlias = tuple[str, str]
"""Paths of source and target."""


@dataclass(slots=True)
class SideBlock:
    """What a side has in one block.

    Args:
        elements: by their ends, with their paths.
        block: its block, ``None`` where it has none, or does not have the version.
        cut: elements that do not reach this version because their source ends before it.
        is_own: whether the side has the schema version, so that having no block says something.
    """

    elements: Mapping[Ends, Pair] = field(default_factory=dict)
    block: Block | None = None
    cut: Mapping[Ends, Pair] = field(default_factory=dict)
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class SideBlocks:
    """Reads blocks of the three sides by versions of the result.

    Args:
        draft: of ours.
        documents: the three sides.
        columns, rows: the merged trees.
        inherited: what the base is taken to have in versions that it has not, filled while they are read, by block.
    """

    draft: Draft
    documents: ThreeWay[Document]
    columns: MergedNodes
    rows: MergedNodes
    inherited: dict[BlockKey, SideBlock] = field(default_factory=dict)

    def trio(self, version: Version, entity_version: Version, is_parallel: bool) -> ThreeWay[SideBlock]:
        """Return what each side has between two versions of the result."""
        has = [ids.has(version.id) for ids in self.columns.ids]
        sides = [self._content(side, version, entity_version, is_parallel) for side in range(3)]
        if has[0]:
            # A side that removed the version says nothing of its elements: the other one changed them, and it stays.
            base = sides[0]
            return ThreeWay(base, *(sides[at] if has[at] else SideBlock(base.elements, is_own=False) for at in (1, 2)))
        found = self._without_base(
            version, entity_version, is_parallel, [sides[at] if has[at] else None for at in (1, 2)]
        )
        self.inherited[version.id, entity_version.id] = found.base
        return found

    def _without_base(
        self, version: Version, entity_version: Version, is_parallel: bool, own: list[SideBlock | None]
    ) -> ThreeWay[SideBlock]:
        """Return what each side has in a version that the base has not."""
        below = self._below(version)
        if below is None:
            return ThreeWay(SideBlock(is_own=False), *(each or SideBlock(is_own=False) for each in own))
        if self.columns.ids.base.has(below.id):
            before = self._content(0, below, entity_version, is_parallel)
        else:
            known = self.inherited.get((below.id, entity_version.id))
            before = known or self.trio(below, entity_version, is_parallel).base
        ours, theirs = (
            each or self._carried(self._content(at, below, entity_version, is_parallel), below, version)
            for at, each in enumerate(own, 1)
        )
        if all(own):
            return ThreeWay(self._inherited(before, below, version), ours, theirs)
        return ThreeWay(self._carried(before, below, version), ours, theirs)

    def _content(self, side: int, version: Version, entity_version: Version, is_parallel: bool) -> SideBlock:
        own = self.columns.ids[side].version(version.id)
        if own is None:
            return SideBlock()
        document, rows = self.documents[side], self.rows.ids[side]
        if is_parallel:
            exact = self._nearest(side, entity_version)
            ids: tuple[int, ...] = (exact.id,) if exact is not None else ()
        else:
            entity = rows.schema(entity_version.schema_id)
            ids = document.cdm.schema(entity).version_ids[::-1] if entity is not None else ()
        blocks = (document.matrix.block(own.id, id_) for id_ in ids)
        block = next((block for block in blocks if block is not None), None)
        if block is None:
            return SideBlock()
        elements = self._elements(side, block, version)
        before = rows.versions.get(block.entity_version)
        if side == 0 and before is not None and not rows.has(entity_version.id):
            elements = self._inherited_rows(elements, before, entity_version)
        return SideBlock(elements, block)

    def _nearest(self, side: int, entity_version: Version) -> Version | None:
        """Return a side's parallel version of an entity; of one that both sides added, what the base has below it."""
        ids = self.rows.ids
        below: tuple[int, ...] = ()
        if side == 0 and ids.ours.has(entity_version.id) and ids.theirs.has(entity_version.id):
            order = self.draft.tree(Side.CDM).schema(entity_version.schema_id).version_ids
            below = order[: order.index(entity_version.id)][::-1]
        return next((found for id_ in (entity_version.id, *below) if (found := ids[side].version(id_))), None)

    def _elements(self, side: int, block: Block, version: Version) -> dict[Ends, Pair]:
        document, rows = self.documents[side], self.rows.ids[side]
        sources = {a.id: a for a in document.extraction.version(block.version).attributes}
        targets = {a.id: a for a in document.cdm.version(block.entity_version).attributes}
        here = {a.path: a.id for a in version.attributes}
        found: dict[Ends, Pair] = {}
        for q, p in block.elements:
            source, target = sources[p].path, targets[q].path
            lineage = rows.lineage(q, targets[q].lineage)
            found[here.get(source, source), lineage if lineage is not None else target] = source, target
        return found

    def _below(self, version: Version) -> Version | None:
        """Return the nearest version below that both sides have."""
        tree, (_, ours, theirs) = self.draft.tree(Side.EXTRACTION), self.columns.ids
        ids = tree.schema(version.schema_id).version_ids
        below = reversed(ids[: ids.index(version.id)])
        found = next((id_ for id_ in below if ours.has(id_) and theirs.has(id_)), None)
        return None if found is None else tree.version(found)

    def _inherited(self, before: SideBlock, below: Version, version: Version) -> SideBlock:
        """Return what the update filled into a version on both sides that added it."""
        continued = _continued(self.columns.ids, below.id, version.id) or {}
        here = {attribute.path: attribute.id for attribute in version.attributes}
        found: dict[Ends, Pair] = {}
        for (_, target), paths in before.elements.items():
            path = continued.get(paths[0], "")
            if path in here:
                found[here[path], target] = path, paths[1]
        return SideBlock(found, is_own=False)

    def _inherited_rows(self, elements: dict[Ends, Pair], before: int, entity_version: Version) -> dict[Ends, Pair]:
        """Return what the update filled in up to an entity version, version by version, on both sides that added it."""
        ids, tree = self.rows.ids, self.draft.tree(Side.CDM)
        order = tree.schema(entity_version.schema_id).version_ids
        end = order.index(entity_version.id) + 1
        passed = order[order.index(before) + 1 : end] if before in order else (entity_version.id,)
        for id_ in passed:
            if not (ids.ours.has(id_) and ids.theirs.has(id_)):
                continue
            continued = _continued(ids, before, id_)
            if continued is not None:
                here = {attribute.path: attribute.lineage for attribute in tree.version(id_).attributes}
                elements = {
                    (source, here[continued[target]]): (path, continued[target])
                    for (source, _), (path, target) in elements.items()
                    if continued.get(target) in here
                }
                before = id_
        return elements

    def _carried(self, content: SideBlock, below: Version, version: Version) -> SideBlock:
        """Return what the update would fill into a version from what a side has in the one below."""
        lineages = {a.id: a.lineage for a in below.attributes}
        here = {a.lineage: a for a in version.attributes}
        found: dict[Ends, Pair] = {}
        cut: dict[Ends, Pair] = {}
        for (source, target), paths in content.elements.items():
            attribute = here.get(lineages[source]) if isinstance(source, int) else None
            if attribute is None:
                cut[source, target] = paths
            else:
                found[attribute.id, target] = attribute.path, paths[1]
        return SideBlock(found, None, cut, is_own=False)


_STRENGTH = (Status.NEEDS_REVIEW, Status.UNCONFIRMED, Status.CONFIRMED, Status.RETIRED)
"""Which status holds where both sides changed it: the one that asks more of a person."""


@dataclass(slots=True)
class BlockMerger:
    """Merges blocks into a draft of ours, group by group.

    Args:
        draft: of ours.
        documents: the three sides.
        columns, rows: the merged trees.
        conflicts: what could not be settled.
    """

    draft: Draft
    documents: ThreeWay[Document]
    columns: MergedNodes
    rows: MergedNodes
    conflicts: list[MergeConflict] = field(default_factory=list)
    _since: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def group(self, schema_id: int, entity_id: int) -> None:
        """Merge all blocks between a schema and an entity of the result."""
        extraction, cdm = self.draft.tree(Side.EXTRACTION), self.draft.tree(Side.CDM)
        if extraction.find_schema(schema_id) is None or cdm.find_schema(entity_id) is None:
            return
        entity = cdm.schema(entity_id)
        is_parallel = entity.setting("policy") == "parallel"
        targets = cdm.versions(entity_id) if is_parallel else cdm.versions(entity_id)[-1:]
        contents = SideBlocks(self.draft, self.documents, self.columns, self.rows)
        merged = [
            self._merged(version, target, contents.trio(version, target, is_parallel))
            for version in extraction.versions(schema_id)
            for target in targets
        ]
        old = () if is_parallel else entity.version_ids[:-1]
        self.draft.drop_blocks(
            (id_, w)
            for id_ in extraction.schema(schema_id).version_ids
            for w in old
            if self.draft.matrix.block(id_, w) is not None
        )
        for block in merged:
            if block is not None:
                store_block(self.draft, block)

    def _merged(self, version: Version, target: Version, sides: ThreeWay[SideBlock]) -> Block | None:
        base, ours, theirs = sides
        if not any(side.elements or side.block or side.cut for side in sides):
            return None
        key = version.id, target.id
        kept = {e: paths for e, paths in ours.elements.items() if e in theirs.elements or e not in base.elements}
        added = {e: paths for e, paths in theirs.elements.items() if e not in base.elements and e not in ours.elements}
        rows = _ids_by_lineage(target)
        elements: dict[Element, Pair] = {}
        losses: list[Loss] = []
        for ends, paths in kept.items():
            element = _element_between(ends, rows)
            if element is None:
                losses.append(self._lost(key, ends, paths, f"{paths[1]} is not in version {target.label}"))
            else:
                elements[element] = paths
        for ends, paths in added.items():
            element = _element_between(ends, rows)
            other = next((e for e in elements if element and (e.q == element.q or e.p == element.p)), None)
            if element is None:
                losses.append(self._lost(key, ends, paths, _missing(ends, paths, version, target)))
            elif other is not None:
                mine = elements[other]
                reason = f"theirs maps {paths[0]} to {paths[1]}, ours maps {mine[0]} to {mine[1]}; ours was kept"
                losses.append(self._lost(key, ends, paths, reason))
            else:
                elements[element] = paths
        for side in (ours, theirs):
            for ends, paths in side.cut.items():
                if ends not in base.cut:
                    reason = f"{paths[0]} is not in version {version.label}"
                    losses.append(self._lost(key, ends, paths, reason))
        return self._recorded(key, tuple(sorted(elements)), losses, sides)

    def _lost(self, key: BlockKey, ends: Ends, paths: Pair, reason: str) -> Loss:
        """Make the lost element of a conflict; in later versions it is the same one."""
        source, target = ends
        columns = self.draft.tree(Side.EXTRACTION)
        attribute = columns.version(key[0]).attribute(source) if isinstance(source, int) else None
        p_lineage = attribute.lineage if attribute else self._lineage_of(key, paths[0])
        q_lineage = target if isinstance(target, int) else self.draft.new_lineage(Side.CDM)
        row = self.draft.tree(Side.CDM).version(key[1]).of_lineage(q_lineage)
        q = row.id if row else self.draft.new_attribute_ids(Side.CDM, 1)[0]
        p = attribute.id if attribute else self.draft.new_attribute_ids(Side.EXTRACTION, 1)[0]
        since = self._since.setdefault((key[1], q_lineage, p_lineage), key[0])
        place = block_name(self.draft, key)
        self.conflicts.append(MergeConflict(ConflictKind.ELEMENT, place, f"{reason}.", key, *paths))
        return Loss(q, p, q_lineage, p_lineage, paths[1], paths[0], reason, since)

    def _lineage_of(self, key: BlockKey, path: str) -> int:
        """Return the lineage of an attribute that another version of the schema has, a new one where none has."""
        tree = self.draft.tree(Side.EXTRACTION)
        versions = tree.versions(tree.schema_of(key[0]))
        found = (version.at_path(path) for version in reversed(versions))
        return next((a.lineage for a in found if a is not None), None) or self.draft.new_lineage(Side.EXTRACTION)

    def _recorded(
        self, key: BlockKey, elements: tuple[Element, ...], lost: list[Loss], sides: ThreeWay[SideBlock]
    ) -> Block:
        """Give a merged block the record that follows from those of the sides."""
        base, ours, theirs = (self._translated(at, key, side.block) for at, side in enumerate(sides))
        # What a side does not have yet, or not any more, it has not decided otherwise either.
        ours, theirs = ours if sides.ours.is_own else base, theirs if sides.theirs.is_own else base
        if ours is not None and theirs is not None and self._is_added_by_both(key):
            base = _before_decisions(base, ours, theirs, sides)
        records = ThreeWay(*(block or Block(*key) for block in (base, ours, theirs)))
        told = ThreeWay(*(None if block is None else block.status for block in (base, ours, theirs)))
        is_ours_as_base = told.ours == told.base and sides.ours.elements == sides.base.elements
        lead = theirs if theirs is not None and (is_ours_as_base or ours is None) else ours or Block(*key)
        status, is_other = settled(told)
        if is_other:
            status = min((each for each in (told.ours, told.theirs) if each), key=_STRENGTH.index)
        if status is None or (status is Status.RETIRED and elements):
            status = Status.CONFIRMED
        retired = next((x for x in (lead, records.ours, records.theirs) if x.status is Status.RETIRED), None)
        is_new = retired is not None and records.base.status is not Status.RETIRED
        if status is Status.CONFIRMED and not elements and is_new:
            status = Status.RETIRED  # who confirmed its elements beside that has none left
        is_unconfirmed, _ = settled(ThreeWay(*(record.is_unconfirmed for record in records)))
        if _adds_unconfirmed(records, sides):
            is_unconfirmed = True
            status = Status.UNCONFIRMED if status is Status.CONFIRMED else status
        comment, is_other = settled(ThreeWay(*(record.comment for record in records)))
        if is_other and records.theirs.comment:
            comment = with_line(records.ours.comment, records.theirs.comment)
        losses = _answered(_merged_losses(records), elements, self.draft, key)
        reasons = self._contradictions(key, records, elements, sides)
        return replace(
            lead,
            elements=elements,
            status=status,
            comment=reduce(with_line, reasons, comment),
            losses=(*losses, *(x for x in lost if x.chain not in {y.chain for y in losses})),
            waits=tuple(dict.fromkeys((*_merged_waits(records), *reasons.values()))),
            retired=retired.retired if retired is not None and status is Status.RETIRED else (),
            postponed=settled(ThreeWay(*(record.postponed for record in records)))[0],
            unconfirmed=is_unconfirmed and status is Status.NEEDS_REVIEW,
            who=_authors(records) if status is Status.UNCONFIRMED else lead.who,
        ).settled()

    def _is_added_by_both(self, key: BlockKey) -> bool:
        """Whether both sides have a block since they added one of its versions, which the base has not."""
        trees = list(zip((self.columns.ids, self.rows.ids), key, strict=True))
        is_theirs = all(ids.ours.has(id_) and ids.theirs.has(id_) for ids, id_ in trees)
        return is_theirs and not all(ids.base.has(id_) for ids, id_ in trees)

    def _contradictions(
        self, key: BlockKey, records: ThreeWay[Block], elements: tuple[Element, ...], sides: ThreeWay[SideBlock]
    ) -> dict[str, int]:
        """Return what one side maps in place of losses that the other confirmed, with the version to wait for.

        What the comment of a block tells was asked by an earlier merge. Where that block waits for nothing it was
        decided: it is a conflict still, and waits no more. Where it waits it is asked still, though both map it by now.
        """
        losses = ThreeWay(*(_by_paths(record.losses) for record in records))
        rows = {a.id: a.lineage for a in self.draft.tree(Side.CDM).version(key[1]).attributes}
        of_ours, of_theirs = ({target for _, target in side.elements} for side in (sides.ours, sides.theirs))
        mapped = {rows[element.q] for element in elements}
        asked, decided = (
            "\n".join(record.comment for record in (records.ours, records.theirs) if bool(record.waits) is waits)
            for waits in (True, False)
        )
        found: dict[str, int] = {}
        for name, loss in losses.ours.items():
            answers = {each[name].answer for each in (losses.ours, losses.theirs) if name in each}
            is_new = name not in losses.base or losses.base[name].is_open
            if is_new and "accepted" in answers and answers & {"renamed", "mapped"} and loss.q_lineage in mapped:
                reason = f"One side maps what {loss.from_path} gave {loss.to_path}, the other confirmed that it is lost"
                reason = f"{reason}; it stays mapped."
                if loss.q_lineage in of_ours & of_theirs and reason not in asked:
                    continue
                place = block_name(self.draft, key)
                ends = loss.from_path, loss.to_path
                self.conflicts.append(MergeConflict(ConflictKind.ELEMENT, place, reason, key, *ends))
                if reason not in decided:
                    found[reason] = self._since.setdefault((key[1], loss.q_lineage, loss.p_lineage), key[0])
        return found

    def _translated(self, side: int, key: BlockKey, block: Block | None) -> Block | None:
        """Write the record of a side's block in ids of the result."""
        if block is None:
            return None
        columns, rows = self.columns.ids[side], self.rows.ids[side]
        came = block.came_from
        ends = (columns.versions.get(came[0]), rows.versions.get(came[1])) if came else (None, None)
        here = _ids_by_lineage(self.draft.tree(Side.CDM).version(key[1])) if block.losses else {}
        return replace(
            block,
            version=key[0],
            entity_version=key[1],
            elements=(),
            came_from=(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None,
            losses=tuple(self._loss(side, loss, key, here) for loss in block.losses),
            waits=tuple(dict.fromkeys(columns.versions.get(id_, key[0]) for id_ in block.waits)),
            retired=self._retired(side, block, key),
        )

    def _loss(self, side: int, loss: Loss, key: BlockKey, here: Mapping[int, int]) -> Loss:
        columns, rows, is_ours = self.columns.ids[side], self.rows.ids[side], side == 1
        q_lineage = _known(rows, loss.q, loss.q_lineage, is_ours)
        p_lineage = _known(columns, loss.p, loss.p_lineage, is_ours)
        if q_lineage is None:
            q_lineage = self._foreign(Side.CDM, side, loss.q_lineage)
        if p_lineage is None:
            p_lineage = self._foreign(Side.EXTRACTION, side, loss.p_lineage)
        return replace(
            loss,
            q=loss.q if is_ours else here.get(q_lineage, 0),
            p=loss.p if is_ours else 0,
            q_lineage=q_lineage,
            p_lineage=p_lineage,
            since=columns.versions.get(loss.since, loss.since if is_ours else key[0]),
        )

    def _foreign(self, tree: Side, side: int, lineage: int) -> int:
        """Give a lineage that only removed attributes of a side have an id of the result, always the same one."""
        ids = (self.columns if tree is Side.EXTRACTION else self.rows).ids[side]
        return ids.lineages.setdefault(lineage, self.draft.new_lineage(tree))

    def _retired(self, side: int, block: Block, key: BlockKey) -> tuple[Element, ...]:
        document = self.documents[side]
        sources = {a.id: a.path for a in document.extraction.version(block.version).attributes}
        targets = {a.id: a.path for a in document.cdm.version(block.entity_version).attributes}
        columns, rows = (self.draft.tree(tree).version(id_) for tree, id_ in zip(Side, key, strict=True))
        found = ((rows.at_path(targets.get(q, "")), columns.at_path(sources.get(p, ""))) for q, p in block.retired)
        return tuple(sorted(Element(q.id, p.id) for q, p in found if q is not None and p is not None))


def _continued(ids: ThreeWay[IdTranslation], before: int, after: int) -> dict[str, str] | None:
    """Say as what the attributes of a version went on in a later one, by paths, before either side corrected it.

    Where the sides differ, one of them corrected what it found at the import: the same path, or nothing.

    Returns:
        ``None`` where they cannot be compared, because not both have the later version or neither the one before.
    """
    found: list[dict[str, str]] = []
    for side in (ids.ours, ids.theirs):
        older, newer = side.version(before), side.version(after)
        if newer is None:
            return None
        if older is not None:
            paths = {attribute.lineage: attribute.path for attribute in newer.attributes}
            found.append({a.path: paths[a.lineage] for a in older.attributes if a.lineage in paths})
    if not found:
        return None
    ours, theirs = found[0], found[-1]
    continued = {path: new for path, new in ours.items() if theirs.get(path) == new}
    return continued | {path: path for path in (*ours, *theirs) if path in (ours.get(path), theirs.get(path))}


def _ids_by_lineage(version: Version) -> dict[int, int]:
    return {attribute.lineage: attribute.id for attribute in version.attributes}


def _element_between(ends: Ends, rows: Mapping[int, int]) -> Element | None:
    """Return the element between two ends where both are in the versions of its block."""
    source, lineage = ends
    row = rows.get(lineage) if isinstance(lineage, int) else None
    return Element(row, source) if row is not None and isinstance(source, int) else None


def _missing(ends: Ends, paths: Pair, version: Version, target: Version) -> str:
    if isinstance(ends[0], int):
        return f"theirs maps {paths[0]} to {paths[1]}, which is not in version {target.label}"
    return f"theirs maps {paths[0]} to {paths[1]}, and {paths[0]} is not in version {version.label} as ours has it"


def _known(ids: IdTranslation, attribute_id: int, lineage: int, is_ours: bool) -> int | None:
    found = ids.lineage(attribute_id, lineage)
    return lineage if found is None and is_ours else found


def _merged_losses(records: ThreeWay[Block]) -> list[Loss]:
    """Take what either side lost or answered since the base; a loss is known by its paths, which outlive its ends."""
    base, ours, theirs = (_by_paths(record.losses) for record in records)
    found: list[Loss] = []
    for name in (*ours, *(each for each in theirs if each not in ours)):
        one, other, old = ours.get(name), theirs.get(name), base.get(name)
        if one is not None and other is not None:
            answer, is_other = settled(ThreeWay(old.answer if old else "", one.answer, other.answer))
            found.append(replace(one, answer=(one.answer or other.answer) if is_other else answer))
        elif one is not None and (old is None or old.answer != one.answer):
            found.append(one)
        elif other is not None and (old is None or old.answer != other.answer):
            found.append(other)
    return found


def _adds_unconfirmed(records: ThreeWay[Block], sides: ThreeWay[SideBlock]) -> bool:
    """Whether a side added elements that nobody has confirmed, which the other one cannot have confirmed either."""
    both = ((records.ours, sides.ours, sides.theirs), (records.theirs, sides.theirs, sides.ours))
    known = sides.base.elements.keys()
    return any(
        block.is_unconfirmed and side.elements.keys() - known - other.elements.keys() for block, side, other in both
    )


def _authors(records: ThreeWay[Block]) -> str:
    """Name everybody whose unconfirmed work is in a block of both sides."""
    names = (name for block in records[1:] if block.is_unconfirmed for name in block.who.split(JOINT) if name)
    return reduce(joined, names, "")


def _before_decisions(base: Block | None, ours: Block, theirs: Block, sides: ThreeWay[SideBlock]) -> Block | None:
    """Return what the update knew of a block on both sides that added it, before anybody decided anything."""
    known = _by_paths(base.losses) if base is not None else {}
    common = _by_paths(theirs.losses)
    new = [replace(x, answer="") for name, x in _by_paths(ours.losses).items() if name in common and name not in known]
    waits = tuple(id_ for id_ in ours.waits if id_ in theirs.waits or theirs.who)
    waits += tuple(id_ for id_ in theirs.waits if id_ not in ours.waits and ours.who)
    begun = base if base is not None else Block(*ours.key)
    untouched = [block for block in (ours, theirs) if not block.who]
    statuses = {ours.status, theirs.status} - {Status.RETIRED}
    if len(untouched) == 1:
        begun = replace(begun, status=untouched[0].status, unconfirmed=untouched[0].unconfirmed)
    elif new or waits:
        begun = replace(begun, status=Status.NEEDS_REVIEW)
    elif base is None and _is_confirmed_by_one(ours, theirs, sides):
        begun = replace(begun, status=Status.UNCONFIRMED)
    elif base is None and len(statuses) == 1:
        begun = replace(begun, status=statuses.pop())
    else:
        return base
    return replace(begun, losses=(*begun.losses, *new), waits=(*begun.waits, *waits))


def _is_confirmed_by_one(ours: Block, theirs: Block, sides: ThreeWay[SideBlock]) -> bool:
    """Whether one side confirmed what the update carried along unconfirmed, and the other has it as it was."""
    both = ((ours, theirs, sides.ours), (theirs, ours, sides.theirs))
    return any(
        (one.status, other.status) == (Status.UNCONFIRMED, Status.CONFIRMED) and side.elements == sides.base.elements
        for one, other, side in both
    )


def _by_paths(losses: Iterable[Loss]) -> dict[tuple[str, str, int], Loss]:
    found: dict[tuple[str, str, int], Loss] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for loss in losses:
        ends = loss.from_path, loss.to_path
        found[*ends, seen[ends]] = loss
        seen[ends] += 1
    return found


def _merged_waits(records: ThreeWay[Block]) -> tuple[int, ...]:
    base, ours, theirs = (record.waits for record in records)
    return ours if set(theirs) == set(base) else tuple(settled_set(ThreeWay(base, ours, theirs)))


def _answered(losses: Iterable[Loss], elements: tuple[Element, ...], draft: Draft, key: BlockKey) -> list[Loss]:
    """Answer the losses whose element the other side mapped."""
    columns = {a.id: a.lineage for a in draft.tree(Side.EXTRACTION).version(key[0]).attributes}
    rows = {a.id: a.lineage for a in draft.tree(Side.CDM).version(key[1]).attributes}
    there = {(rows[q], columns[p]) for q, p in elements}
    return [replace(x, answer="mapped") if x.is_open and x.lineages in there else x for x in losses]
