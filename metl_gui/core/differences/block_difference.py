"""What differs between the blocks of two documents, element by element.

A block whose entity version gave way to a newer one (policy 3) is moved, not gone: its elements are recognised by
their lineages. Null blocks that nobody must decide on say nothing that their absence does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status, Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import Matching
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import BugError
from metl_gui.values import Value

Pair: TypeAlias = tuple[str, str]
"""An element by the paths of its source and its target."""
KeyPair: TypeAlias = tuple[BlockKey | None, BlockKey | None]


class BlockDifference(Value):
    """One block that differs.

    Args:
        schema, version, entity, entity_version: its names after; before where it is gone.
        before, after: its keys, ``None`` where it is not there.
        moved_from: label of the entity version that it stood against before, ``""`` where it is the same.
        verdict: what the automated update found when it made the block.
        added, removed: elements by (source path, target path), sorted by target.
        added_elements, removed_elements: the same by ids, of the document after and of the one before.
        kept: how many elements both have.
        status_before, status_after: ``None`` where the block is not there.
        unconfirmed_before, unconfirmed_after: while it needs review: nobody has confirmed it.
        waiting_before, waiting_after: how many lost elements wait for an answer; not told between projects.
        previous: label of the schema version whose block it continues, where its own version is new.
        gained, lost: elements against that one, by lineage.
    """

    schema: str
    version: str
    entity: str
    entity_version: str
    before: BlockKey | None
    after: BlockKey | None
    verdict: Verdict
    added: tuple[Pair, ...] = ()
    removed: tuple[Pair, ...] = ()
    added_elements: tuple[Element, ...] = ()
    removed_elements: tuple[Element, ...] = ()
    kept: int = 0
    status_before: Status | None = None
    status_after: Status | None = None
    unconfirmed_before: bool = False
    unconfirmed_after: bool = False
    moved_from: str = ""
    waiting_before: int = 0
    waiting_after: int = 0
    previous: str = ""
    gained: tuple[Pair, ...] = ()
    lost: tuple[Pair, ...] = ()


class _Sides(Value):
    """Two documents and which node of one is which of the other."""

    old: Document
    new: Document
    matching: Matching


def block_differences(
    before: Document, after: Document, matching: Matching, pairs: Iterable[KeyPair]
) -> tuple[BlockDifference, ...]:
    """Compare blocks that may differ, in canonical order."""
    sides = _Sides(before, after, matching)
    found = (_compared(sides, pair) for pair in _with_moves(sides, pairs))
    different = [each for each in found if each is not None]
    return tuple(sorted(different, key=lambda each: _order(sides, each)))


def is_telling(block: Block | None) -> bool:
    """Whether a block says more than its absence does."""
    return block is not None and (bool(block.elements) or block.status is Status.NEEDS_REVIEW)


def _with_moves(sides: _Sides, pairs: Iterable[KeyPair]) -> Iterator[KeyPair]:
    """Put a block that is gone and the one that took its place together."""
    gone: dict[tuple[int, int], list[BlockKey]] = defaultdict(list)
    come: list[BlockKey] = []
    for old, new in pairs:
        if old is not None and new is not None:
            yield old, new
        elif old is not None:
            gone[old[0], sides.old.cdm.schema_of(old[1])].append(old)
        elif new is not None:
            come.append(new)
    for new in sorted(come, key=lambda key: -_place(sides.new, Side.CDM, key[1])):
        version = sides.matching.version(Side.EXTRACTION, new[0])
        entity = sides.matching.schema(Side.CDM, sides.new.cdm.schema_of(new[1]))
        candidates = gone.get((version, entity), []) if version is not None and entity is not None else []
        old_place = [key for key in candidates if is_telling(sides.old.matrix.block(*key))]
        if not old_place or not is_telling(sides.new.matrix.block(*new)):
            yield None, new
            continue
        nearest = max(old_place, key=lambda key: _place(sides.old, Side.CDM, key[1]))
        candidates.remove(nearest)
        yield nearest, new
    yield from ((key, None) for keys in gone.values() for key in keys)


def _compared(sides: _Sides, pair: KeyPair) -> BlockDifference | None:
    old = None if pair[0] is None else sides.old.matrix.block(*pair[0])
    new = None if pair[1] is None else sides.new.matrix.block(*pair[1])
    if old is new or not (is_telling(old) or is_telling(new)):
        return None
    was = _recognised(sides, old, new)
    kept = set(was.values())
    found = replace(
        _named(sides, old, new),
        added_elements=tuple(e for e in (new.elements if new else ()) if e not in was),
        removed_elements=tuple(e for e in (old.elements if old else ()) if e not in kept),
        kept=len(was),
        status_before=old.status if old else None,
        status_after=new.status if new else None,
        unconfirmed_before=old is not None and old.unconfirmed,
        unconfirmed_after=new is not None and new.unconfirmed,
    )
    is_other = bool(found.added_elements or found.removed_elements or found.moved_from) or _said(old) != _said(new)
    if sides.matching.is_by_ids:
        found = replace(found, waiting_before=_open(old), waiting_after=_open(new))
        is_other |= _losses(old) != _losses(new)
    return _with_paths(sides, found, old, new) if is_other else None


def _said(block: Block | None) -> tuple[Status, bool] | None:
    return (block.status, block.unconfirmed) if block is not None and is_telling(block) else None


def _open(block: Block | None) -> int:
    return len(block.open_losses) if block else 0


def _losses(block: Block | None) -> set[tuple[int, int, int]]:
    return {(*loss.lineages, loss.since) for loss in block.open_losses} if block else set()


def _named(sides: _Sides, old: Block | None, new: Block | None) -> BlockDifference:
    """Name a block by the document after, by the one before where it is gone."""
    document, block = (sides.new, new) if new is not None else (sides.old, old)
    if block is None:
        raise BugError("a difference is about no block")
    version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    moved_from = ""
    if old is not None and new is not None:
        is_same = sides.matching.version(Side.CDM, new.entity_version) == old.entity_version
        moved_from = "" if is_same else sides.old.cdm.version(old.entity_version).label
    return BlockDifference(
        document.extraction.schema(version.schema_id).name,
        version.label,
        document.cdm.schema(entity_version.schema_id).name,
        entity_version.label,
        old.key if old else None,
        new.key if new else None,
        block.verdict,
        moved_from=moved_from,
    )


def _recognised(sides: _Sides, old: Block | None, new: Block | None) -> dict[Element, Element]:
    """Return the elements before by their elements after, as far as both have them."""
    if old is None or new is None:
        return {}
    columns = _same_version(sides, Side.EXTRACTION, old.version, new.version)
    rows = _same_version(sides, Side.CDM, old.entity_version, new.entity_version)
    known = set(old.elements)
    found = {e: Element(rows.get(e.q, 0), columns.get(e.p, 0)) for e in new.elements}
    return {e: was for e, was in found.items() if was in known}


def _same_version(sides: _Sides, side: Side, old_id: int, new_id: int) -> dict[int, int]:
    """Return ids of attributes before by their ids after, through lineages where the version is another one.

    Lineages are those after wherever the version before is still there, so that a corrected one parts nothing.
    """
    old, new = sides.old.tree(side).version(old_id), sides.new.tree(side).version(new_id)
    if sides.matching.version(side, new_id) == old_id:
        return sides.matching.attributes(old, new)
    ids = sides.new.tree(side).schema(new.schema_id).version_ids
    there = next((id_ for id_ in ids if sides.matching.version(side, id_) == old_id), None)
    if there is not None:
        older = sides.new.tree(side).version(there)
        was = sides.matching.attributes(old, older)
        lineages = {a.lineage: was[a.id] for a in older.attributes if a.id in was}
        return {a.id: lineages[a.lineage] for a in new.attributes if a.lineage in lineages}
    return _through_before(sides, side, old, new)


def _through_before(sides: _Sides, side: Side, old: Version, new: Version) -> dict[int, int]:
    """Recognise attributes by the lineages before, where the version before is gone; else by their paths."""
    id_ = sides.matching.version(side, new.id)
    if id_ is None:
        paths = {a.path: a.id for a in old.attributes}
        return {a.id: paths[a.path] for a in new.attributes if a.path in paths}
    other = sides.old.tree(side).version(id_)
    was = sides.matching.attributes(other, new)
    lineages = {a.id: a.lineage for a in other.attributes}
    gone = {a.lineage: a.id for a in old.attributes}
    return {new_id: gone[lineages[known]] for new_id, known in was.items() if lineages[known] in gone}


def _with_paths(sides: _Sides, found: BlockDifference, old: Block | None, new: Block | None) -> BlockDifference:
    added = _paths(sides.new, new, found.added_elements)
    removed = _paths(sides.old, old, found.removed_elements)
    told = replace(found, added=added, removed=removed)
    if old is None and new is not None and sides.matching.version(Side.EXTRACTION, new.version) is None:
        return _continued(sides.new, told, new)
    return told


def _continued(document: Document, found: BlockDifference, block: Block) -> BlockDifference:
    """Tell the block of a new version against the one of the version below it."""
    version = document.extraction.version(block.version)
    previous = document.extraction.previous(version)
    source = None if previous is None else document.matrix.block(previous.id, block.entity_version)
    if previous is None or source is None or not source.elements:
        return found
    lineages = {a.id: a.lineage for v in (previous, version) for a in v.attributes}
    here, there = ({(q, lineages[p]): Element(q, p) for q, p in b.elements} for b in (block, source))
    gained = _paths(document, block, [here[end] for end in here.keys() - there.keys()])
    lost = _paths(document, source, [there[end] for end in there.keys() - here.keys()])
    return replace(found, previous=previous.label, gained=gained, lost=lost)


def _paths(document: Document, block: Block | None, elements: Iterable[Element]) -> tuple[Pair, ...]:
    """Name elements of a block by their paths, sorted by target."""
    if block is None:
        return ()
    columns = {a.id: a.path for a in document.extraction.version(block.version).attributes}
    rows = {a.id: a.path for a in document.cdm.version(block.entity_version).attributes}
    return tuple(sorted(((columns[p], rows[q]) for q, p in elements), key=lambda pair: (pair[1], pair[0])))


def _order(sides: _Sides, found: BlockDifference) -> tuple[str, int, str, int]:
    document, key = (sides.new, found.after) if found.after is not None else (sides.old, found.before)
    places = [_place(document, side, id_) for side, id_ in zip(Side, key or (), strict=True)]
    return found.schema, places[0], found.entity, places[1]


def _place(document: Document, side: Side, version_id: int) -> int:
    tree = document.tree(side)
    return tree.schema(tree.schema_of(version_id)).version_ids.index(version_id)
