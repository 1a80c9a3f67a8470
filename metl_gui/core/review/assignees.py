"""Who is to decide on which review items, and how their notes follow when an edit moves where a loss begins.

Source: docs/guide/change.md, "Reviewing"; docs/reference/project-file.md, "States" (they are no part of one).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from metl_gui.core.changes.draft import Transition
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.assignments import Assignment, AssignmentKey
from metl_gui.core.review.items import ReviewItem, group_of


class Assignments:
    """The assignments of a project, asked for review items."""

    def __init__(self, assignments: Iterable[Assignment] = ()) -> None:
        self._by_key = {assignment.key: assignment for assignment in assignments}

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who is to decide something, by name."""
        return tuple(sorted({each.assignee for each in self._by_key.values()}, key=str.casefold))

    def of(self, document: Document, item: ReviewItem) -> str:
        """Return who is to decide on an item, empty for nobody."""
        if not self._by_key:
            return ""
        found = (self._by_key.get(key) for key in keys_of(document, item))
        return next((assignment.assignee for assignment in found if assignment is not None), "")


def keys_of(document: Document, item: ReviewItem) -> tuple[AssignmentKey, ...]:
    """Return what an item is known by: one key for each version in which something of it began."""
    group = group_of(document, item.key)
    return tuple((*group, since) for since in item.since)


def moved_keys(transition: Transition) -> dict[AssignmentKey, AssignmentKey]:
    """Return under which keys items go on whose beginning an edit moved, by what they were known by before.

    An inserted version that lost the same is where a loss begins from then on; taking it back moves it up again.
    """
    found: dict[AssignmentKey, AssignmentKey] = {}
    for change in transition.change.blocks:
        before, after = change.before, change.after
        if before is None or after is None:
            continue
        group = group_of(transition.after, change.key)
        found |= {(*group, old): (*group, new) for old, new in _moved(before, after)}
    return found


def _moved(before: Block, after: Block) -> Iterator[tuple[int, int]]:
    """Yield where what a block waits for began, and where it begins now."""
    began = {loss.lineages: loss.since for loss in before.open_losses}
    for loss in after.open_losses:
        if began.get(loss.lineages, loss.since) != loss.since:
            yield began[loss.lineages], loss.since
    if len(before.waits) == len(after.waits):
        yield from ((old, new) for old, new in zip(before.waits, after.waits, strict=True) if old != new)


NOBODY_ASSIGNED = Assignments()
