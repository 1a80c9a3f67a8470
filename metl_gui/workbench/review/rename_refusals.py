"""Refusing rename proposals, by names: what was refused is not proposed again, in any version, nor suggested.

Source: docs/guide/change.md, "Renames".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.chains import lost_side
from metl_gui.core.matrix.blocks import Block, BlockKey, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.review.loss_choices import lost_path
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.errors import EditError, near_names
from metl_gui.workbench.session import Workbench


def refuse_rename(workbench: Workbench, key: BlockKey, lost: str, candidate: str) -> RefusedRename:
    """Remember that a lost attribute of a block was not renamed to a candidate.

    Neither is the candidate suggested for what the lost attribute was mapped to; such a suggestion can be restored.

    Args:
        workbench: the opened project.
        key: the block in which the loss was seen.
        lost: path of the lost attribute, or of the other end of the lost element.
        candidate: path of the attribute that it was not renamed to.

    Raises:
        EditError: the block has lost no such element, or its version has no such attribute.
    """
    document = workbench.document
    side, losses = _losses(document, key, lost)
    version = document.extraction.version(key[0]) if side is Side.EXTRACTION else document.cdm.version(key[1])
    found = version.at_path(candidate)
    if found is None:
        known = [attribute.path for attribute in version.attributes]
        hint = near_names(candidate, known) or f"It has {', '.join(known[:5])}."
        raise EditError(f"Version {version.label} has no attribute {candidate}.", hint=hint)
    first = losses[0]
    path, lineage = (first.from_path, first.p_lineage) if side is Side.EXTRACTION else (first.to_path, first.q_lineage)
    refused = RefusedRename(side, version.schema_id, path, found.path, lineage, found.lineage)
    workbench.kept.refused_renames.add([refused], workbench.stamp())
    workbench.refuse_suggestions(_suggestions(document, key, side, lineage, found))
    return refused


def below(document: Document, key: BlockKey, lost: str, new: str) -> list[tuple[str, str]]:
    """Take a renamed struct apart: its lost attributes of a block, each with its new path where there is one.

    Returns:
        The two paths alone where the lost one is no struct that lost attributes lie in.
    """
    block = document.matrix.block(*key) or Block(*key)
    if any(lost in (loss.from_path, loss.to_path) for loss in block.open_losses):
        return [(lost, new)]
    versions = {Side.EXTRACTION: document.extraction.version(key[0]), Side.CDM: document.cdm.version(key[1])}
    found: dict[str, str] = {}
    for loss in block.open_losses:
        path, version = lost_path(document, block, loss), versions[lost_side(document, block, loss)]
        renamed = new + path[len(lost) :]
        if path.startswith(f"{lost}.") and version.at_path(renamed) is not None:
            found[path] = renamed
    return list(found.items()) or [(lost, new)]


def allow_rename(workbench: Workbench, refused: RefusedRename) -> None:
    """Let a refused rename be proposed again, and what came with it be suggested again."""
    workbench.kept.refused_renames.remove([refused])
    document, tree = workbench.document, workbench.document.tree(refused.side)
    versions = tree.versions(refused.schema_id) if tree.find_schema(refused.schema_id) is not None else ()
    for version in versions:
        candidate = version.of_lineage(refused.candidate_lineage)
        if candidate is not None:
            key = (version.id, 0) if refused.side is Side.EXTRACTION else (0, version.id)
            found = _suggestions(document, key, refused.side, refused.lost_lineage, candidate, only_open=False)
            workbench.kept.refused_suggestions.remove(found)


def refuse_split(workbench: Workbench, side: Side, version: Version, old: Attribute, attribute: Attribute) -> None:
    """Remember that what was told apart is no rename.

    Args:
        workbench: the project, with the lineages already apart.
        side: the tree.
        version: the first version above the cut.
        old: the attribute below it.
        attribute: the one above it, as it was before.
    """
    now = workbench.document.tree(side).version(version.id).at_path(attribute.path)
    lineage = now.lineage if now is not None and now.lineage != old.lineage else 0
    refused = RefusedRename(side, version.schema_id, old.path, attribute.path, old.lineage, lineage)
    workbench.kept.refused_renames.add([refused], workbench.stamp())


def _losses(document: Document, key: BlockKey, lost: str) -> tuple[Side, list[Loss]]:
    """Find the open losses of an attribute by the path of the end that went, else by the path of the other end."""
    block = document.matrix.block(*key) or Block(*key)
    sides = [(lost_side(document, block, x), x) for x in block.open_losses]
    gone = [(s, x) for s, x in sides if (x.from_path if s is Side.EXTRACTION else x.to_path) == lost]
    found = gone or [(s, x) for s, x in sides if lost in (x.from_path, x.to_path)]
    if not found:
        known = sorted({x.from_path if s is Side.EXTRACTION else x.to_path for s, x in sides})
        hint = near_names(lost, known) or f"It has lost {', '.join(known[:5]) or 'nothing that waits'}."
        raise EditError(f"No lost element of this block is called {lost}.", hint=hint)
    return found[0][0], [x for s, x in found if s is found[0][0]]


def _suggestions(
    document: Document, key: BlockKey, side: Side, lineage: int, candidate: Attribute, *, only_open: bool = True
) -> Iterator[RefusedSuggestion]:
    """Yield what would suggest the same again: the candidate in the place of the lost attribute, for each its pair."""
    matrix = document.matrix
    blocks = matrix.column_set(key[0]) if side is Side.EXTRACTION else matrix.row_set(key[1])
    for block in blocks:
        schema_id = document.extraction.version(block.version).schema_id
        entity_id = document.cdm.version(block.entity_version).schema_id
        for loss in block.open_losses if only_open else block.losses:
            if side is Side.EXTRACTION and loss.p_lineage == lineage:
                ends = (candidate.lineage, loss.q_lineage), (candidate.path, loss.to_path)
            elif side is Side.CDM and loss.q_lineage == lineage:
                ends = (loss.p_lineage, candidate.lineage), (loss.from_path, candidate.path)
            else:
                continue
            (p, q), (from_path, to_path) = ends
            yield RefusedSuggestion(schema_id, p, entity_id, q, from_path, to_path)
