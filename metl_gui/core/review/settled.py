"""What was settled lately, block by block: read off the edits of a time, oldest first, and nothing else.

A block is settled when an update took it over whole and confirmed it, and when it waits for nobody any more. What was
taken back since, or waits again, is not. Cost: what the edits touched. Source: docs/guide/change.md, "Reviewing".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from metl_gui.core.changes.draft import BlockChange
from metl_gui.core.matrix.blocks import Block, BlockKey, Loss, Status, Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.query import ReviewFacts, ReviewQuery, facts_of
from metl_gui.values import Value


class Resolution(StrEnum):
    """How a block was settled."""

    SAME = "same"
    CONFIRMED = "confirmed"
    MAPPED_AGAIN = "mapped again"
    LOSS_CONFIRMED = "loss confirmed"
    RETIRED = "retired"


class ResolvedBlock(Value):
    """A block that was settled.

    Args:
        block: as it is since.
        how: how it was settled.
        state, title, who, when_ms: the edit that did it.
        answered: the lost elements that were answered within the time, with their answers.
        waited: whether it stood on the review list, so that taking the edit back puts it there again.
    """

    block: Block
    how: Resolution
    state: int
    title: str
    who: str
    when_ms: int
    answered: tuple[Loss, ...] = ()
    waited: bool = False

    @property
    def key(self) -> BlockKey:
        """(v, w)."""
        return self.block.key


class PastEdit(Value):
    """One edit of the time that is looked at.

    Args:
        state, title, who, when_ms: the edit.
        blocks: what it did to blocks.
    """

    state: int
    title: str
    who: str
    when_ms: int
    blocks: tuple[BlockChange, ...]


class ResolvedBlocks(Value, eq=False):
    """Everything that was settled in a time.

    Args:
        since_ms: when the time began.
        state: the newest state that was looked at.
        by_key: what was settled, the newest last.
        opened: blocks as they waited before somebody decided, by key.
    """

    since_ms: int = 0
    state: int = 0
    by_key: Mapping[BlockKey, ResolvedBlock] = msgspec.field(default_factory=dict)
    opened: Mapping[BlockKey, Block] = msgspec.field(default_factory=dict)

    def after(self, edits: Iterable[PastEdit]) -> ResolvedBlocks:
        """Follow further edits, the oldest first."""
        found, opened, state = dict(self.by_key), dict(self.opened), self.state
        for edit in edits:
            state = edit.state
            for change in edit.blocks:
                _follow(found, opened, edit, change, self.since_ms)
        return ResolvedBlocks(self.since_ms, state, found, opened)

    def newest_first(self) -> tuple[ResolvedBlock, ...]:
        """List what was settled."""
        return tuple(self.by_key.values())[::-1]


def _follow(
    found: dict[BlockKey, ResolvedBlock],
    opened: dict[BlockKey, Block],
    edit: PastEdit,
    change: BlockChange,
    since_ms: int,
) -> None:
    before, after, known = change.before, change.after, found.get(change.key)
    if before is not None and before.status is Status.NEEDS_REVIEW:
        opened.setdefault(change.key, before)
    if after is None or after.status in (Status.NEEDS_REVIEW, Status.UNCONFIRMED):
        found.pop(change.key, None)
        return
    how = _how(before, after, opened.get(change.key), since_ms)
    if how is not None:
        found.pop(change.key, None)  # the newest stands last
        waited = before is not None and before.status is Status.NEEDS_REVIEW
        answered = _answered(opened.get(change.key), after)
        found[change.key] = ResolvedBlock(after, how, edit.state, edit.title, edit.who, edit.when_ms, answered, waited)
    elif known is not None and (after.status is Status.RETIRED) is (known.how is Resolution.RETIRED):
        found[change.key] = replace(known, block=after)
    else:
        found.pop(change.key, None)


def _how(before: Block | None, after: Block, opened: Block | None, since_ms: int) -> Resolution | None:
    """Return what an edit settled; ``None`` where it settled nothing."""
    if after.status is Status.RETIRED:
        return None if before is not None and before.status is Status.RETIRED else Resolution.RETIRED
    if before is None:
        is_update = after.verdict is Verdict.SAME and after.came_from is not None
        return Resolution.SAME if is_update and after.when_ms >= since_ms else None  # else it only came back
    if before.status is Status.UNCONFIRMED:
        return Resolution.CONFIRMED
    if before.status is not Status.NEEDS_REVIEW:
        return None
    answers = {loss.answer for loss in _answered(opened, after)}
    if answers - {"accepted"}:
        return Resolution.MAPPED_AGAIN
    return Resolution.LOSS_CONFIRMED if answers else Resolution.CONFIRMED


def _answered(opened: Block | None, after: Block) -> tuple[Loss, ...]:
    """Return the answered ones of the losses that were open."""
    asked = {loss.lineages for loss in opened.open_losses} if opened is not None else set()
    return tuple(loss for loss in after.losses if loss.answer and loss.lineages in asked)


def resolved_facts(document: Document, settled: ResolvedBlock) -> ReviewFacts:
    """Name what a settled block is asked by when the review list is filtered; nobody is to decide on it any more."""
    return facts_of(document, ReviewItem(settled.block, (), settled.answered, (), (), ()))


def passing(
    document: Document, found: Iterable[ResolvedBlock], query: ReviewQuery, now_ms: int
) -> tuple[ResolvedBlock, ...]:
    """Return those that are in a document and pass a filter of the review list, in their order."""
    trees = document.extraction, document.cdm
    here = (each for each in found if all(tree.has_version(id_) for tree, id_ in zip(trees, each.key, strict=True)))
    if not query.terms:
        return tuple(here)
    return tuple(each for each in here if query.passes(resolved_facts(document, each), now_ms))
