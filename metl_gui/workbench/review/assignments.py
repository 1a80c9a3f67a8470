"""Who is to decide on review items: assigned, and asked for.

Assignments are kept beside the states, so they are not undone but made again. ``ReviewListQuery`` says which of the
items that wait are meant, by what they are and who is to decide on them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.review.assignees import NOBODY_ASSIGNED, Assignments, keys_of
from metl_gui.core.review.feeders import LastSources
from metl_gui.core.review.items import ReviewItem, review_items
from metl_gui.core.review.query import NO_FILTER, ReviewFacts, ReviewOrder, ReviewQuery, facts_of, sorted_facts
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_block, known_block_name
from metl_gui.workbench.review.progress import records_by_id, records_by_version
from metl_gui.workbench.session import Workbench

LONGEST_NAME = 200
"""Characters of a name; more is hardly one."""

_LOOKED_BACK = 200


def assignments(workbench: Workbench) -> Assignments:
    """Return who is to decide on what."""
    return Assignments(workbench.kept.assignments.all())


def assign_items(workbench: Workbench, items: Iterable[ReviewItem], assignee: str) -> int:
    """Set who is to decide on some items; an empty name takes that away.

    Returns:
        How many items there were.

    Raises:
        EditError: the name cannot be one.
        ProjectLockedError: the project is open read only.
    """
    name = checked_name(assignee)
    wanted = list(items)
    keys = [key for item in wanted for key in keys_of(workbench.document, item)]
    workbench.kept.assignments.assign(keys, name, workbench.stamp())
    return len(wanted)


def assign(workbench: Workbench, blocks: Sequence[str], assignee: str) -> int:
    """Set who is to decide on the review items of some blocks, each written ``schema@version:entity@version``.

    Raises:
        EditError: a block is not known or waits for no decision; then none was assigned.
    """
    document = workbench.document
    waiting = {item.key: item for item in review_items(document)}
    heads = {key: item for item in waiting.values() for key in item.chain} | waiting
    items: list[ReviewItem] = []
    for text in blocks:
        key = find_block(document, text)
        if key not in heads:
            raise EditError(f"{text} waits for no decision.", hint="See metl review --list for what waits.")
        if key not in waiting:
            head = known_block_name(document, heads[key].key)
            raise EditError(f"{text} is decided by an earlier version.", hint=f"Assign {head} instead.")
        items.append(waiting[key])
    return assign_items(workbench, items, assignee)


def known_people(workbench: Workbench) -> tuple[str, ...]:
    """Return the names of those who may be asked: this person, who is assigned already, who edited lately."""
    found = [workbench.who, *assignments(workbench).names, *(each.who for each in workbench.log(_LOOKED_BACK))]
    return tuple(dict.fromkeys(name for name in found if name))


def checked_name(name: str) -> str:
    """Return a name as it is kept.

    Raises:
        EditError: it is too long, or holds signs that nobody sees.
    """
    bare = " ".join(name.split())
    if not bare.isprintable():
        raise EditError("That name holds signs that cannot be seen.", hint="Type it anew, without them.")
    if len(bare) > LONGEST_NAME:
        raise EditError("That is too long for a name.", f"It has {len(bare):,} characters.", "Give a shorter one.")
    return bare


class ReviewListQuery(Value):
    """Which items to take, and how they are ordered.

    Args:
        query: what they must be.
        order: how they stand below each other.
        assigned: who is to decide on what.
        records: records of the newest run by schema version id.
        now_ms: the time that ages count from, in milliseconds since 1970; 0 for now.
    """

    query: ReviewQuery = NO_FILTER
    order: ReviewOrder = ReviewOrder.SCHEMA
    assigned: Assignments = NOBODY_ASSIGNED
    records: Mapping[int, int] = msgspec.field(default_factory=dict)
    now_ms: int = 0

    def of(self, document: Document, items: Iterable[ReviewItem]) -> list[ReviewFacts]:
        """Take those items of a document, postponed ones last."""
        now_ms = self.now_ms or time.time_ns() // 1_000_000
        sources = LastSources(document)
        facts = (
            facts_of(
                document,
                item,
                self.assigned.of(document, item),
                lambda id_: self.records.get(id_, 0),
                sources.lost_by(item),
            )
            for item in items
        )
        return sorted_facts((one for one in facts if self.query.passes(one, now_ms)), self.order)


EVERYTHING = ReviewListQuery()


def wanted_in(
    workbench: Workbench, query: ReviewQuery = NO_FILTER, order: ReviewOrder = ReviewOrder.SCHEMA
) -> ReviewListQuery:
    """Want items of an opened project, with its assignments and the counts of its newest run."""
    records = records_by_id(workbench.document, records_by_version(workbench))
    return ReviewListQuery(query, order, assignments(workbench), records)
