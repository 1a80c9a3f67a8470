"""The review list and its decisions, by names.

``confirm_unconfirmed`` confirms what others have set: the unconfirmed blocks, all at once.

Source: docs/reference/commands.md, "metl review"; docs/architecture/model.md, "Algorithms" (A5);
docs/architecture/model.md, "States, publishing, being out of step"; docs/guide/teams.md, "A second person".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from metl_gui.core.changes.draft import Edit
from metl_gui.core.changes.second_person import is_author, unconfirmed_keys
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.rename_groups import RenameGroup, grouped
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, Postpone, RenameLost, RetireBlock, mapped_in_place
from metl_gui.core.matrix.blocks import BlockKey, Element, Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.core.review.items import ReviewItem, TypeChange, review_items
from metl_gui.core.review.rename_proposals import Proposal, best_proposals, proposals
from metl_gui.core.suggest.renames import Values
from metl_gui.errors import EditError, near_names
from metl_gui.values import Value
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    block_name,
    cuts_at_equals,
    element_names,
    find_attribute,
    find_block,
    known_block_name,
)
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.review.assignments import EVERYTHING, ReviewListQuery
from metl_gui.workbench.review.rename_refusals import below, refuse_rename
from metl_gui.workbench.session import EditOrigin, Workbench
from metl_gui.workbench.settings import project_settings

Refused: TypeAlias = RefusedRenames
"""Refused proposals, as ``workbench.kept.refused_renames.all()`` reads them."""

ValuesOf: TypeAlias = Callable[[int], Values | None]
"""Tells sample values by the id of a schema, ``None`` where there are none."""


def _no_values(_schema: int) -> None:
    """Know no sample values of any schema."""


ANY_VERDICT = "any"
"""Stands for every verdict."""


class LostElement(Value):
    """An element that waits for an answer."""

    element: ElementName
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the element with its reason."""
        return {**self.element.as_json(), "reason": self.reason}


class ReviewEntry(Value):
    """One decision to take, by names.

    Args:
        block: the block decided on.
        came_from: the block it was copied from, ``None`` when there was none or it is gone.
        verdict, status: in words.
        kept: its elements.
        lost: its open lost elements.
        new_attributes: paths that no earlier version had.
        type_changes: of mapped attributes.
        proposals: possible new names, the best first within each lost attribute.
        also: the later blocks that the decision applies to.
        postponed: whether somebody said "later".
        comment: free text.
        assigned_to: who is to decide, empty for nobody.
        since_ms: since when it stands as it does (milliseconds since 1970, 0 when nobody knows).
        together: proposals that belong together, such as those of a moved struct.
        there_again: where both ends of a lost element are there again and free, and how they are called there.
    """

    block: BlockName
    came_from: BlockName | None
    verdict: str
    status: str
    kept: tuple[ElementName, ...]
    lost: tuple[LostElement, ...]
    new_attributes: tuple[str, ...]
    type_changes: tuple[TypeChange, ...]
    proposals: tuple[Proposal, ...]
    also: tuple[BlockName, ...]
    postponed: bool
    comment: str
    assigned_to: str = ""
    since_ms: int = 0
    together: tuple[RenameGroup, ...] = ()
    there_again: tuple[tuple[BlockName, ElementName], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return one item of ``metl review --list``."""
        return {
            "block": self.block.as_json(),
            "came_from": self.came_from.as_json() if self.came_from else None,
            "verdict": self.verdict,
            "status": self.status,
            "kept": [element.as_json() for element in self.kept],
            "lost": [lost.as_json() for lost in self.lost],
            "new_attributes": list(self.new_attributes),
            "type_changes": [
                {"path": c.path, "from": c.before, "to": c.after, "compatible": c.is_compatible}
                for c in self.type_changes
            ],
            "proposals": [
                {"lost": p.lost, "candidate": p.candidate, "score": p.score, "reason": p.reason} for p in self.proposals
            ],
            "also": [block.as_json() for block in self.also],
            "postponed": self.postponed,
            "comment": self.comment,
            "assigned_to": self.assigned_to,
            "since_ms": self.since_ms,
            "renamed_together": [
                {
                    "change": group.change.words,
                    "renames": [{"lost": p.lost, "candidate": p.candidate} for _, p in group.proposals],
                }
                for group in self.together
            ],
            "there_again": [{"block": block.as_json(), **ends.as_json()} for block, ends in self.there_again],
        }


class ReviewList(Value):
    """What waits for a decision."""

    state: int
    items: tuple[ReviewEntry, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl review --list``."""
        items = [item.as_json() for item in self.items]
        return {"state": self.state, "items": items, "version_tasks": [], "missing_time_zones": []}


class Decision(Value):
    """What a decision did.

    Args:
        state: the state afterwards.
        title: what was done, for people; empty when nothing was left to do.
        decided: how many review items it took off the list.
        left: how many are still on it.
    """

    state: int
    title: str
    decided: int
    left: int

    def as_json(self) -> dict[str, Any]:
        """Return the document of the deciding forms of ``metl review``."""
        return {"state": self.state, "title": self.title, "decided": self.decided, "needs_review": self.left}


def review_list(
    document: Document,
    refused: Refused = NO_RENAMES_REFUSED,
    wanted: ReviewListQuery = EVERYTHING,
    values_of: ValuesOf = _no_values,
) -> ReviewList:
    """List what waits for a decision: postponed items last, else by schema, version and entity.

    Args:
        document: the state to look at.
        refused: proposals not to make again (``workbench.kept.refused_renames.all()``).
        wanted: which items, in which order.
        values_of: tells the sample values of a schema's attributes by id, as evidence for renames.
    """
    found = wanted.of(document, review_items(document))
    entries = (entry(document, one.item, refused, one.assigned, values_of) for one in found)
    return ReviewList(document.state, tuple(entries))


def entry(
    document: Document,
    item: ReviewItem,
    refused: Refused = NO_RENAMES_REFUSED,
    assigned: str = "",
    values_of: ValuesOf = _no_values,
) -> ReviewEntry:
    """Put a review item into names."""
    block = item.block
    values = values_of(document.extraction.schema_of(block.version))
    best = best_proposals(document, block, refused, values)
    asked = {path for loss in item.losses for path in (loss.from_path, loss.to_path)}
    found = (p for p in proposals(document, block, refused, values) if p.lost in asked)
    lost = tuple(LostElement(ElementName(loss.from_path, loss.to_path), loss.reason) for loss in item.losses)
    return ReviewEntry(
        known_block_name(document, block.key),
        block_name(document, block.came_from) if block.came_from else None,
        block.verdict.value,
        block.status.value,
        element_names(document, block),
        lost,
        item.new_attributes,
        item.type_changes,
        tuple(found),
        tuple(known_block_name(document, key) for key in item.chain),
        block.postponed,
        block.comment,
        assigned,
        block.when_ms,
        grouped({loss: proposal for loss, proposal in best.items() if loss in item.losses}),
        tuple((known_block_name(document, x.key), ElementName(x.from_path, x.to_path)) for x in item.there_again),
    )


def confirm(
    workbench: Workbench, blocks: Sequence[str], comment: str = "", door: EditOrigin = EditOrigin.COMMAND
) -> Decision:
    """Confirm blocks as they stand, accepting what they lost; one undo step.

    Args:
        workbench: the opened project.
        blocks: each as ``schema@version:entity@version``.
        comment: kept with each block.
        door: where the gesture was made.

    Raises:
        EditError: a block is not known; then none was confirmed.
    """
    edits = [ConfirmBlock(find_block(workbench.document, text), comment) for text in blocks]
    return _decide(workbench, edits, f"Confirm {len(edits)} blocks", door)


def confirm_all(
    workbench: Workbench,
    verdict: str,
    comment: str = "",
    door: EditOrigin = EditOrigin.COMMAND,
    wanted: ReviewListQuery = EVERYTHING,
) -> Decision:
    """Confirm every item on the review list that has one verdict; one undo step.

    Args:
        workbench: the opened project.
        verdict: the verdict, or ``any``.
        comment: kept with each block.
        door: where the gesture was made.
        wanted: which items only.

    Raises:
        EditError: there is no such verdict.
    """
    if verdict not in (*Verdict, ANY_VERDICT):
        raise EditError(
            f"There is no verdict {verdict!r}.", near_names(verdict, Verdict), f"Verdicts are {', '.join(Verdict)}."
        )
    found = wanted.of(workbench.document, review_items(workbench.document))
    items = [one.item for one in found if verdict in (ANY_VERDICT, one.verdict)]
    what = "" if verdict == ANY_VERDICT else f" that are {verdict}"
    limits = wanted.query.words()
    lost = sum(len(item.losses) for item in items)  # a block that is the same may have inherited some
    name = f"Confirm all {len(items)} blocks{what}{f' ({limits})' if limits else ''}, and {lost} losses"
    return _decide(workbench, [ConfirmBlock(item.key, comment) for item in items], name, door)


def rename(
    workbench: Workbench, block: str, renames: Sequence[str], comment: str = "", door: EditOrigin = EditOrigin.COMMAND
) -> Decision:
    """Say that lost attributes were renamed, each written ``LOST=NEW``; one undo step.

    A struct stands for all lost attributes in it.

    Raises:
        EditError: the block, a lost attribute or a new one is not known, or nothing could be restored.
    """
    document = workbench.document
    key = find_block(document, block)
    pairs = [pair for text in renames for pair in below(document, key, *_rename_parts(document, key, text))]
    edits = [RenameLost(key, *pair, comment) for pair in pairs]
    return _decide(workbench, edits, f"Rename {len(edits)} attributes in {block}", door)


def accept_losses(
    workbench: Workbench,
    block: str,
    attributes: Sequence[str],
    comment: str = "",
    door: EditOrigin = EditOrigin.COMMAND,
) -> Decision:
    """Confirm the loss of some elements of a block, each named by the path of either end.

    Raises:
        EditError: the block is not known or lost no such element.
    """
    key = find_block(workbench.document, block)
    return _decide(workbench, [AcceptLosses(key, tuple(attributes), comment)], "", door)


def map_instead(
    workbench: Workbench, block: str, pairs: Sequence[str], comment: str = "", door: EditOrigin = EditOrigin.COMMAND
) -> Decision:
    """Map other attributes in place of lost ones, each written ``FROM=TO``; one undo step.

    A lost element whose CDM attribute is mapped so is settled, here and in the later versions of its chain; a lost
    element itself takes its place back from what has its ends, as when theirs is taken after a merge.

    Raises:
        EditError: the block or an attribute is not known, or one of them is mapped in this block already.
    """
    document = workbench.document
    key = find_block(document, block)
    ones = tuple(_element(document, key, text) for text in pairs)
    return _decide(workbench, [mapped_in_place(document, key, ones, comment)], "", door)


def retire(
    workbench: Workbench, blocks: str | Sequence[str], comment: str = "", door: EditOrigin = EditOrigin.COMMAND
) -> Decision:
    """Say that a schema feeds an entity no more, of one block or of several; one undo step.

    Raises:
        EditError: a block is not known; then none was retired.
    """
    edits = [RetireBlock(find_block(workbench.document, text), comment) for text in _listed(blocks)]
    return _decide(workbench, edits, f"Retire {len(edits)} blocks", door)


def postpone(
    workbench: Workbench, blocks: str | Sequence[str], comment: str = "", door: EditOrigin = EditOrigin.COMMAND
) -> Decision:
    """Put one block or several at the end of the review list; one undo step.

    Raises:
        EditError: a block is not known; then none was put there.
    """
    edits = [Postpone(find_block(workbench.document, text), comment) for text in _listed(blocks)]
    return _decide(workbench, edits, f"Decide later on {len(edits)} blocks", door)


def refuse_proposal(workbench: Workbench, block: str, lost: str, candidate: str) -> None:
    """Remember that a lost attribute was not renamed to a candidate; it is not proposed again.

    Raises:
        EditError: the block, the lost attribute or the candidate is not known.
    """
    refuse_rename(workbench, find_block(workbench.document, block), lost, candidate)


def refuse_renames(workbench: Workbench, block: str, renames: Sequence[str]) -> Decision:
    """Remember that lost attributes were not renamed, each written ``LOST=NEW``; not part of a state.

    Raises:
        EditError: the block, a lost attribute or a new one is not known; then nothing is remembered.
    """
    document = workbench.document
    key = find_block(document, block)
    parts = [_rename_parts(document, key, text) for text in renames]
    for lost, candidate in parts:
        if lost not in _lost_paths(document, key):
            known = sorted(_lost_paths(document, key))
            hint = near_names(lost, known) or f"It has lost {', '.join(known[:5]) or 'nothing that waits'}."
            raise EditError(f"No lost element of {block} is called {lost}.", hint=hint)
        for tree, id_ in ((document.extraction, key[0]), (document.cdm, key[1])):
            if tree.version(id_).at_path(candidate) is not None:
                break
        else:
            find_attribute(document.extraction.version(key[0]), block.partition("@")[0], candidate)
    for lost, candidate in parts:
        refuse_proposal(workbench, block, lost, candidate)
    left = len(review_items(document))
    named = ", ".join(f"{lost} is not {candidate}" for lost, candidate in parts)
    return Decision(document.state, f"Remembered that {named}", 0, left)


def _decide(workbench: Workbench, edits: Sequence[Edit], name: str, door: EditOrigin) -> Decision:
    before = len(review_items(workbench.document))
    if not edits:
        return Decision(workbench.document.state, "", 0, before)
    transition = workbench.do(edits[0] if len(edits) == 1 else CompositeEdit(name, tuple(edits)), door=door)
    left = len(review_items(workbench.document))
    return Decision(workbench.document.state, transition.title, before - left, left)


def _rename_parts(document: Document, key: tuple[int, int], text: str) -> tuple[str, str]:
    """Cut ``LOST=NEW`` at the sign behind a path that was lost; either path may hold the sign itself."""
    lost = _lost_paths(document, key)
    cuts = cuts_at_equals(text)
    if not cuts:
        raise EditError(f"{text!r} does not say what was renamed to what.", hint="Write it as LOST=NEW.")
    return next((cut for cut in cuts if cut[0] in lost), cuts[0])


def _lost_paths(document: Document, key: BlockKey) -> set[str]:
    block = document.matrix.block(*key)
    return {path for loss in (block.open_losses if block else ()) for path in (loss.from_path, loss.to_path)}


def _element(document: Document, key: BlockKey, text: str) -> Element:
    """Find the element that ``FROM=TO`` names in a block; either path may hold the sign itself."""
    columns, rows = document.extraction.version(key[0]), document.cdm.version(key[1])
    cuts = cuts_at_equals(text)
    if not cuts:
        raise EditError(f"{text!r} does not say what is mapped to what.", hint="Write it as FROM=TO.")
    left, right = {a.path for a in columns.attributes}, {a.path for a in rows.attributes}
    source, target = next((cut for cut in cuts if cut[0] in left and cut[1] in right), cuts[0])
    schema, entity = document.extraction.schema(columns.schema_id), document.cdm.schema(rows.schema_id)
    return Element(find_attribute(rows, entity.name, target).id, find_attribute(columns, schema.name, source).id)


def _listed(blocks: str | Sequence[str]) -> Sequence[str]:
    return [blocks] if isinstance(blocks, str) else blocks


class Confirmation(JsonResult):
    """What confirming did.

    Args:
        state: the state afterwards.
        title: what was done; empty when there was nothing.
        confirmed: how many blocks are confirmed by it.
        own: how many stay, because they hold work of the person and somebody else must confirm it.
    """

    state: int
    title: str
    confirmed: int
    own: int


def confirm_unconfirmed(workbench: Workbench, comment: str = "", door: EditOrigin = EditOrigin.COMMAND) -> Confirmation:
    """Confirm every unconfirmed block; one undo step.

    Where the project asks for a second person, blocks that hold work of whoever confirms are left for somebody else.

    Args:
        workbench: the project, open for editing.
        comment: kept with each block.
        door: where the gesture was made.
    """
    document = workbench.document
    keys = unconfirmed_keys(document.matrix)
    needs_second = project_settings(workbench).second_person_confirms
    found = [(key, document.matrix.block(*key)) for key in keys]
    mine = {key for key, block in found if needs_second and block is not None and is_author(block, workbench.who)}
    edits = tuple(ConfirmBlock(key, comment) for key in keys if key not in mine)
    if not edits:
        return Confirmation(document.state, "", 0, len(mine))
    title = f"Confirm {len(edits):,} unconfirmed block{'' if len(edits) == 1 else 's'}"
    transition = workbench.do(CompositeEdit(title, edits), door=door)
    return Confirmation(transition.after.state, title, len(edits), len(mine))
