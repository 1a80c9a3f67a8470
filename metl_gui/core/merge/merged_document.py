"""The three-way merge as a whole: trees, lineages, blocks, models, and a review item for what both changed differently.

Cost: the names of all three sides are matched once; then what theirs changed since the base, by schema and entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.ignored import mapped_among, put_marks
from metl_gui.core.differences.block_difference import block_differences
from metl_gui.core.differences.changed_parts import BlockPair, ChangedParts, SchemaPair, changed_parts
from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import by_names
from metl_gui.core.merge.merged_blocks import BlockMerger
from metl_gui.core.merge.merged_models import merge_models
from metl_gui.core.merge.merged_trees import AddedMappings, AddedMappingsBySide, TreeMerger
from metl_gui.core.merge.sides import ConflictKind, MergeConflict, MergedNodes, ThreeWay, with_line
from metl_gui.core.trees.nodes import Side

_UNHELD = {ConflictKind.DOC}
"""Conflicts that change no message, so that no block waits for them."""


@dataclass(frozen=True)
class MergeTheirs:
    """Take what another side changed since a common base.

    Args:
        base: what both sides began with.
        theirs: the other side.
        name: what theirs is called, for the title.
        conflicts: what could not be settled; filled when the edit is applied.
    """

    base: Document
    theirs: Document
    name: str
    conflicts: list[MergeConflict] = field(default_factory=list, compare=False)

    def title(self, document: Document) -> str:  # noqa: ARG002 - nothing of the document is named
        """Name the other side."""
        return f"Merge {self.name}"

    def apply(self, draft: Draft) -> None:
        """Merge it into the draft of ours."""
        self.conflicts[:] = merge_into(draft, self.base, self.theirs)


def merge_into(draft: Draft, base: Document, theirs: Document) -> list[MergeConflict]:
    """Merge theirs into a draft of ours.

    Returns:
        What both changed differently: ours is kept, and a block of the result waits for it where there is one.
    """
    documents = ThreeWay(base, draft.document, theirs)
    ours_touched, _ = _changed(base, draft.document)
    theirs_touched, parts = _changed(base, theirs)
    touched = AddedMappingsBySide(ours_touched, theirs_touched)
    columns, rows = (TreeMerger(draft, side, documents, touched) for side in Side)
    for merger in (columns, rows):
        side = merger.nodes.side
        mapped = {base.tree(side).schema_of(id_) for id_ in theirs_touched[side].versions}
        merger.merge(mapped | {before for before, _ in parts.schemas[side] if before is not None})
        merger.nodes.touched.update(_results(merger.nodes, parts.schemas[side]))
    blocks = BlockMerger(draft, documents, columns.nodes, rows.nodes)
    groups = sorted(_groups(documents, columns.nodes, rows.nodes, parts.blocks))
    for schema_id, entity_id in groups:
        columns.prepare(schema_id)
        rows.prepare(entity_id)
        blocks.group(schema_id, entity_id)
    _unmark_mapped(draft, columns.nodes, {schema_id for schema_id, _ in groups})
    _unmark_mapped(draft, rows.nodes, {entity_id for _, entity_id in groups})
    held = [_held(draft, tree.nodes, *each) for tree in (columns, rows) for each in tree.nodes.conflicts]
    return [*blocks.conflicts, *held, *merge_models(draft, documents)]


def _unmark_mapped(draft: Draft, nodes: MergedNodes, merged: set[int]) -> None:
    """Let what one side maps be mapped where the other says that it never is; a block waits for a decision on it."""
    for id_ in sorted(nodes.touched | merged):
        schema = draft.tree(nodes.side).find_schema(id_)
        mapped = mapped_among(draft, nodes.side, id_, schema.ignored_lineages) if schema is not None else frozenset()
        for lineage in sorted(mapped):
            attribute = draft.tree(nodes.side).newest_of_lineage(id_, lineage)
            path = attribute.path if attribute is not None else "?"
            reason = f"One side maps {path}, the other says that it is never to be mapped; it stays mapped."
            name = draft.schema(nodes.side, id_).name
            nodes.add_conflict(id_, None, ConflictKind.IGNORED, f"{name}, {path}", reason)
        if schema is not None and mapped:
            put_marks(draft, nodes.side, id_, (mark for mark in schema.ignored if mark.lineage not in mapped))


def _changed(base: Document, other: Document) -> tuple[dict[Side, AddedMappings], ChangedParts]:
    """Return what a side maps more than the base, and where it may differ from it at all."""
    matching = by_names(base, other)
    parts = changed_parts(base, other, matching)
    found = {side: AddedMappings() for side in Side}
    for told in block_differences(base, other, matching, parts.blocks):
        words = [f"{source} → {target}" for source, target in (told.gained if told.previous else told.added)]
        for at, side in enumerate(Side) if words and told.after is not None else ():
            here = told.after[at] if told.after is not None else 0
            known = matching.version(side, here)
            for id_ in {id_ for id_ in (known, told.before[at] if told.before else None) if id_ is not None}:
                found[side].versions[id_] += words
            schema = matching.schema(side, other.tree(side).schema_of(here))
            if known is None and schema is not None:
                found[side].schemas[schema] += words
    return found, parts


def _results(nodes: MergedNodes, changed: Iterable[SchemaPair]) -> Iterator[int]:
    """Name the schemas or entities of the result of which theirs changed something."""
    ids = nodes.ids
    for before, after in changed:
        found = ids.theirs.schemas.get(after) if after is not None else ids.base.schemas.get(before or 0)
        if found is not None:
            yield found


def _groups(
    documents: ThreeWay[Document],
    columns: MergedNodes,
    rows: MergedNodes,
    changed: Iterable[BlockPair],
) -> set[tuple[int, int]]:
    """Name the pairs of schema and entity whose blocks must be merged."""
    found: set[tuple[int, int]] = set()
    for at, document in enumerate(documents):
        keys = {key for pair in changed for key in _of_side(pair, at)}
        keys |= {key for id_ in _versions(columns, at) for key in document.matrix.column_keys(id_)}
        keys |= {key for id_ in _versions(rows, at) for key in document.matrix.row_keys(id_)}
        for version, entity_version in keys:
            schema = columns.ids[at].schemas.get(document.extraction.schema_of(version))
            entity = rows.ids[at].schemas.get(document.cdm.schema_of(entity_version))
            if schema is not None and entity is not None:
                found.add((schema, entity))
    return found


def _of_side(pair: BlockPair, at: int) -> Iterator[BlockKey]:
    """Yield the key of a changed block on the base's side (0) or on theirs (2)."""
    key = pair[0] if at == 0 else pair[1] if at == 2 else None
    if key is not None:
        yield key


def _versions(nodes: MergedNodes, at: int) -> Iterator[int]:
    """Yield the versions of one side that belong to what theirs changed."""
    ids = nodes.ids[at]
    for id_, result in ids.schemas.items():
        if result in nodes.touched:
            yield from ids.tree.schema(id_).version_ids


def _held(
    draft: Draft, nodes: MergedNodes, result: int | None, version: int | None, conflict: MergeConflict
) -> MergeConflict:
    """Let a block wait for a conflict that is about no element, the nearest one where its own has none."""
    if conflict.kind in _UNHELD or result is None or draft.tree(nodes.side).find_schema(result) is None:
        return conflict
    block = next(_candidates(draft, nodes.side, result, version), None)
    if block is None:
        return conflict
    waits = tuple(dict.fromkeys((*block.waits, block.version)))
    comment = with_line(block.comment, conflict.reason)
    draft.put_block(replace(block, waits=waits, comment=comment).settled())
    return replace(conflict, key=block.key)


def _candidates(draft: Draft, side: Side, result: int, version: int | None) -> Iterator[Block]:
    tree, matrix = draft.tree(side), draft.matrix
    ids = tree.schema(result).version_ids[::-1]
    for id_ in (*((version,) if version in ids else ()), *ids):
        found = matrix.column_set(id_) if side is Side.EXTRACTION else matrix.row_set(id_)
        yield from (block for block in found if block.elements and block.status is not Status.RETIRED)
