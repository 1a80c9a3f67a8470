"""Joining and splitting lineages, and what that does to elements: a join restores what was lost, a split parts it.

Cost: proportional to the versions of the schema or entity and the blocks of their column sets or row sets.
Source: docs/architecture/model.md, "Algorithms" (A3: a join that would give a version two attributes of a lineage is
recorded as ``succeeds``); docs/architecture/model.md, "Trees, versions, lineages".

A split is A5 done again for one attribute: an element that an update carried over the cut is a lost element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from metl_gui.core.changes.chains import Restoring, restored, same_loss
from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.ignored import follow_lineage
from metl_gui.core.changes.update import schema_order
from metl_gui.core.matrix.blocks import Block, Element, Loss, Status
from metl_gui.core.trees.nodes import Attribute, Side, Version


class _Cut(NamedTuple):
    """Where a lineage was split.

    Args:
        side: of which tree.
        old: the attribute below the cut, in the version nearest to it.
        below: ids of the versions below the cut.
        first: the version right above it.
        lineage: that of the attributes above it.
        moved: ids of those attributes.
        reason: why their elements part, in words.
    """

    side: Side
    old: Attribute
    below: tuple[int, ...]
    first: Version
    lineage: int
    moved: frozenset[int]
    reason: str


def first_version_with_both(versions: Iterable[Version], one: int, other: int) -> Version | None:
    """Find the first version that has attributes of both lineages, which then cannot become one."""
    return next((v for v in versions if v.of_lineage(one) is not None and v.of_lineage(other) is not None), None)


def join(draft: Draft, side: Side, schema_id: int, lineage: int, ended: int) -> int:
    """Let a lineage continue an older one, unless a version has attributes of both: then note only that it succeeds it.

    Returns:
        The lineage that elements of the older one may be restored to.
    """
    if ended == lineage:
        return lineage
    versions = draft.tree(side).versions(schema_id)
    if first_version_with_both(versions, lineage, ended) is not None:
        schema = draft.tree(side).schema(schema_id)
        if (ended, lineage) not in schema.succeeds:
            draft.put_schema(side, schema_id, replace(schema, succeeds=(*schema.succeeds, (ended, lineage))))
        return ended
    for version in versions:
        _relink(draft, side, version, ended, lineage)
        for block in _blocks_of(draft, side, version):
            _continue_losses(draft, side, block, ended, lineage)
    follow_lineage(draft, side, schema_id, ended, lineage)
    return lineage


def restore_everywhere(draft: Draft, side: Side, schema_id: int, lineage: int, joined: int) -> None:
    """Restore the open lost elements of a lineage by attributes of the joined one, in every version that has none."""
    for version in draft.tree(side).versions(schema_id):
        if joined != lineage and version.of_lineage(lineage) is not None:
            continue
        for block in _blocks_of(draft, side, version):
            again = restored(draft, block, replaced_ends(side, block.open_losses, lineage, joined), "renamed")
            if again is not block:
                draft.put_block(again)


def replaced_ends(side: Side, losses: Iterable[Loss], lineage: int, joined: int) -> Iterator[Restoring]:
    """Yield the losses of one lineage, with another one in its place."""
    for loss in losses:
        q_lineage, p_lineage = loss.lineages
        if side is Side.EXTRACTION and p_lineage == lineage:
            yield Restoring(loss, joined, q_lineage)
        elif side is Side.CDM and q_lineage == lineage:
            yield Restoring(loss, p_lineage, joined)


def split(draft: Draft, side: Side, first: Version, attribute: Attribute, old_version: Version) -> int:
    """Give the attributes of a lineage a new one from a version on, and part the elements that came over the cut.

    Args:
        draft: the document being edited.
        side: the tree.
        first: the version from which on it is another attribute.
        attribute: the attribute there.
        old_version: the nearest version below that has an attribute of the lineage.

    Returns:
        The new lineage.
    """
    tree = draft.tree(side)
    ids = tree.schema(first.schema_id).version_ids
    at = ids.index(first.id)
    old = old_version.of_lineage(attribute.lineage)
    if old is None:
        return attribute.lineage
    above = [tree.version(id_) for id_ in ids[at:]]
    found = (version.of_lineage(attribute.lineage) for version in above)
    moved = frozenset(each.id for each in found if each is not None)
    lineage = draft.new_lineage(side)
    reason = f"{attribute.path} in version {first.label} is not {old.path} of version {old_version.label}"
    cut = _Cut(side, old, ids[:at], first, lineage, moved, reason)
    for version in above:
        _relink(draft, side, version, attribute.lineage, lineage)
    follow_lineage(draft, side, first.schema_id, attribute.lineage, lineage, keeps_old=True)
    if side is Side.EXTRACTION:
        _part_columns(draft, cut, above)
    else:
        _part_rows(draft, cut, above)
    for version in above:
        for block in _blocks_of(draft, side, version):
            _follow_moved(draft, block, cut)
    return lineage


def _relink(draft: Draft, side: Side, version: Version, before: int, after: int) -> None:
    if version.of_lineage(before) is not None:
        attributes = tuple(replace(a, lineage=after) if a.lineage == before else a for a in version.attributes)
        draft.put_version(side, version.id, replace(version, attributes=attributes))


def _blocks_of(draft: Draft, side: Side, version: Version) -> tuple[Block, ...]:
    matrix = draft.matrix
    return matrix.column_set(version.id) if side is Side.EXTRACTION else matrix.row_set(version.id)


def _continue_losses(draft: Draft, side: Side, block: Block, ended: int, lineage: int) -> None:
    """Let the lost elements of a lineage that was joined to another one be recognised by the other, each once."""
    kept: list[Loss] = []
    known: set[tuple[int, int, int]] = set()
    for loss in block.losses:
        if side is Side.EXTRACTION:
            found = replace(loss, p_lineage=lineage) if loss.p_lineage == ended else loss
        else:
            found = replace(loss, q_lineage=lineage) if loss.q_lineage == ended else loss
        if not (found.is_open and found.chain in known):
            kept.append(found)
        known.update({found.chain} if found.is_open else ())
    if tuple(kept) != block.losses:
        draft.put_block(replace(block, losses=tuple(kept)))


def _part_columns(draft: Draft, cut: _Cut, above: list[Version]) -> None:
    """Part the elements that updates carried from the version below the cut into the one above it, and on."""
    previous = cut.below[-1]
    if draft.tree(Side.EXTRACTION).version(previous).attribute(cut.old.id) is None:
        return  # it was absent there, so that nothing was carried
    for source in draft.matrix.column_set(previous):
        carried = next((e for e in source.elements if e.p == cut.old.id), None)
        if carried is None:
            continue
        for version in above:
            block = draft.matrix.block(version.id, source.entity_version)
            parted = _parted_column(draft, cut, block, carried) if block is not None else None
            if parted is None:
                break
            draft.put_block(parted)


def _parted_column(draft: Draft, cut: _Cut, block: Block, carried: Element) -> Block | None:
    """Turn the element that a block was given over the cut, or its later loss, into one lost at the cut."""
    if block.came_from is None or block.status is Status.RETIRED:
        return None
    target = draft.tree(Side.CDM).version(block.entity_version).attribute(carried.q)
    if target is None:
        return None
    loss = Loss(
        target.id, cut.old.id, target.lineage, cut.old.lineage, target.path, cut.old.path, cut.reason, cut.first.id
    )
    here = next((e for e in block.elements if e.q == carried.q and e.p in cut.moved), None)
    later = next(
        (x for x in block.open_losses if x.q_lineage == target.lineage and x.p in cut.moved),
        None,
    )
    if here is None and later is None:
        return None
    elements = tuple(e for e in block.elements if e != here)
    losses = tuple(x for x in block.losses if x != later)
    return _with_loss(replace(block, elements=elements, losses=losses), loss)


def _part_rows(draft: Draft, cut: _Cut, above: list[Version]) -> None:
    """Part the elements of the blocks that came from an entity version below the cut."""
    begins: dict[int, int] = {}
    for version in above:
        blocks = sorted(draft.matrix.row_set(version.id), key=lambda block: schema_order(draft, block.version))
        for block in blocks:
            here = next((e for e in block.elements if e.q in cut.moved), None)
            if here is None or block.status is Status.RETIRED or not _crosses(draft, block, cut):
                continue
            column = draft.tree(Side.EXTRACTION).version(block.version)
            source = column.attribute(here.p)
            if source is None:
                continue
            since = begins.setdefault(column.schema_id, column.id)
            old = cut.old
            loss = Loss(old.id, source.id, old.lineage, source.lineage, old.path, source.path, cut.reason, since)
            kept = tuple(e for e in block.elements if e != here)
            draft.put_block(_with_loss(replace(block, elements=kept), loss))


def _crosses(draft: Draft, block: Block, cut: _Cut) -> bool:
    """Whether a block, or one that it was copied from, came from below the cut; what is gone may have."""
    at: Block | None = block
    seen: set[tuple[int, int]] = set()
    while at is not None and at.key not in seen:
        seen.add(at.key)
        if at.came_from is None:
            return False
        if at.came_from[1] in cut.below:
            return True
        at = draft.matrix.block(*at.came_from)
    return True


def _with_loss(block: Block, loss: Loss) -> Block:
    losses = block.losses if same_loss(block, loss) else (*block.losses, loss)
    return replace(block, losses=losses).settled()


def _follow_moved(draft: Draft, block: Block, cut: _Cut) -> None:
    """Let losses of attributes above the cut belong to the new lineage."""
    is_column = cut.side is Side.EXTRACTION
    losses = tuple(_followed(block.losses, cut.moved, cut.lineage, is_column))
    if losses != block.losses:
        draft.put_block(replace(block, losses=losses))


def _followed(losses: Iterable[Loss], moved: frozenset[int], lineage: int, is_column: bool) -> Iterator[Loss]:
    for loss in losses:
        if (loss.p if is_column else loss.q) not in moved:
            yield loss
        else:
            yield replace(loss, p_lineage=lineage) if is_column else replace(loss, q_lineage=lineage)
