"""The review list and its decisions, by names.

Source: contract.md §1 (``metl review``), dmm.md §4 (verdicts, chains).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

from metl_gui.core.blocks import Verdict
from metl_gui.core.document import Document
from metl_gui.core.draft import Edit
from metl_gui.core.edits.group import Several
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, Postpone, RenameLost, RetireBlock
from metl_gui.core.proposals import Proposal, proposals
from metl_gui.core.review import ReviewItem, TypeChange, review_items
from metl_gui.errors import EditError, near_names
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    block_name,
    element_names,
    find_block,
    known_block_name,
)
from metl_gui.workbench.session import Door, Workbench

Refused: TypeAlias = AbstractSet[tuple[int, str, str]]
"""Refused proposals: schema id, lost path, candidate path."""


@dataclass(frozen=True, slots=True)
class LostElement:
    """An element that waits for an answer."""

    element: ElementName
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return the element with its reason."""
        return {**self.element.as_json(), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class ReviewEntry:
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
        }


@dataclass(frozen=True, slots=True)
class ReviewList:
    """What waits for a decision."""

    state: int
    items: tuple[ReviewEntry, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl review --list``."""
        return {"state": self.state, "items": [item.as_json() for item in self.items], "version_tasks": []}


@dataclass(frozen=True, slots=True)
class Decision:
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


def review_list(document: Document, refused: Refused = frozenset()) -> ReviewList:
    """List what waits for a decision: postponed items last, else by schema, version and entity.

    Args:
        document: the state to look at.
        refused: proposals not to make again (``workbench.refused_proposals()``).
    """
    entries = [entry(document, item, refused) for item in review_items(document)]
    return ReviewList(document.state, tuple(sorted(entries, key=lambda item: item.postponed)))


def entry(document: Document, item: ReviewItem, refused: Refused = frozenset()) -> ReviewEntry:
    """Put a review item into names."""
    schema_id = document.extraction.version(item.key[0]).schema_id
    block = item.block
    asked = {path for loss in item.losses for path in (loss.from_path, loss.to_path)}
    found = (p for p in proposals(document, block) if p.lost in asked)
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
        tuple(p for p in found if (schema_id, p.lost, p.candidate) not in refused),
        tuple(known_block_name(document, key) for key in item.chain),
        block.postponed,
        block.comment,
    )


def confirm(workbench: Workbench, blocks: Sequence[str], comment: str = "", door: Door = Door.COMMAND) -> Decision:
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


def confirm_all(workbench: Workbench, verdict: str, comment: str = "", door: Door = Door.COMMAND) -> Decision:
    """Confirm every item on the review list that has one verdict; one undo step.

    Raises:
        EditError: there is no such verdict.
    """
    if verdict not in list(Verdict):
        raise EditError(
            f"There is no verdict {verdict!r}.", near_names(verdict, Verdict), f"Verdicts are {', '.join(Verdict)}."
        )
    items = [item for item in review_items(workbench.document) if item.block.verdict == verdict]
    edits = [ConfirmBlock(item.key, comment) for item in items]
    return _decide(workbench, edits, f"Confirm all {len(edits)} blocks that are {verdict}", door)


def rename(
    workbench: Workbench, block: str, renames: Sequence[str], comment: str = "", door: Door = Door.COMMAND
) -> Decision:
    """Say that lost attributes were renamed, each written ``LOST=NEW``; one undo step.

    Raises:
        EditError: the block, a lost attribute or a new one is not known, or nothing could be restored.
    """
    key = find_block(workbench.document, block)
    edits = [RenameLost(key, *_rename_parts(workbench.document, key, text), comment) for text in renames]
    return _decide(workbench, edits, f"Rename {len(edits)} attributes in {block}", door)


def accept_losses(
    workbench: Workbench, block: str, attributes: Sequence[str], comment: str = "", door: Door = Door.COMMAND
) -> Decision:
    """Confirm the loss of some elements of a block, each named by the path of either end.

    Raises:
        EditError: the block is not known or lost no such element.
    """
    key = find_block(workbench.document, block)
    return _decide(workbench, [AcceptLosses(key, tuple(attributes), comment)], "", door)


def retire(workbench: Workbench, block: str, comment: str = "", door: Door = Door.COMMAND) -> Decision:
    """Say that a schema feeds an entity no more.

    Raises:
        EditError: the block is not known.
    """
    return _decide(workbench, [RetireBlock(find_block(workbench.document, block), comment)], "", door)


def postpone(workbench: Workbench, block: str, comment: str = "", door: Door = Door.COMMAND) -> Decision:
    """Put a block at the end of the review list.

    Raises:
        EditError: the block is not known.
    """
    return _decide(workbench, [Postpone(find_block(workbench.document, block), comment)], "", door)


def refuse_proposal(workbench: Workbench, block: str, lost: str, candidate: str) -> None:
    """Remember that a lost attribute was not renamed to a candidate; it is not proposed again.

    Raises:
        EditError: the block is not known.
    """
    version = workbench.document.extraction.version(find_block(workbench.document, block)[0])
    workbench.refuse_proposal(version.schema_id, lost, candidate)


def _decide(workbench: Workbench, edits: Sequence[Edit], name: str, door: Door) -> Decision:
    before = len(review_items(workbench.document))
    if not edits:
        return Decision(workbench.document.state, "", 0, before)
    transition = workbench.do(edits[0] if len(edits) == 1 else Several(name, tuple(edits)), door=door)
    left = len(review_items(workbench.document))
    return Decision(workbench.document.state, transition.title, before - left, left)


def _rename_parts(document: Document, key: tuple[int, int], text: str) -> tuple[str, str]:
    """Cut ``LOST=NEW`` at the sign behind a path that was lost; either path may hold the sign itself."""
    block = document.matrix.block(*key)
    lost = {path for loss in (block.open_losses if block else ()) for path in (loss.from_path, loss.to_path)}
    cuts = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    if not cuts:
        raise EditError(f"{text!r} does not say what was renamed to what.", hint="Write it as LOST=NEW.")
    return next((cut for cut in cuts if cut[0] in lost), cuts[0])
