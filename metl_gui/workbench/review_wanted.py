"""Which of the items that wait are meant, by what they are and who is to decide on them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from metl_gui.core.matrix.document import Document
from metl_gui.core.review.assignees import NOBODY_ASSIGNED, Assignments
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.query import NO_FILTER, Order, ReviewFacts, ReviewQuery, facts_of, sorted_facts
from metl_gui.workbench.assigning import assignments
from metl_gui.workbench.review_progress import records_by_id, records_by_version
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items to take, and how they are ordered.

    Args:
        query: what they must be.
        order: how they stand below each other.
        assigned: who is to decide on what.
        records: records of the newest run by schema version id.
        now_ms: the time that ages count from, in milliseconds since 1970; 0 for now.
    """

    query: ReviewQuery = NO_FILTER
    order: Order = Order.SCHEMA
    assigned: Assignments = NOBODY_ASSIGNED
    records: Mapping[int, int] = field(default_factory=dict)
    now_ms: int = 0

    def of(self, document: Document, items: Iterable[ReviewItem]) -> list[ReviewFacts]:
        """Take those items of a document, postponed ones last."""
        now_ms = self.now_ms or time.time_ns() // 1_000_000
        facts = (
            facts_of(document, item, self.assigned.of(document, item), lambda id_: self.records.get(id_, 0))
            for item in items
        )
        return sorted_facts((one for one in facts if self.query.passes(one, now_ms)), self.order)


EVERYTHING = Wanted()


def wanted_in(workbench: Workbench, query: ReviewQuery = NO_FILTER, order: Order = Order.SCHEMA) -> Wanted:
    """Want items of an opened project, with its assignments and the counts of its newest run."""
    records = records_by_id(workbench.document, records_by_version(workbench))
    return Wanted(query, order, assignments(workbench), records)
