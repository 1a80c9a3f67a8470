"""What the plane is asked to show of a document, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from metl_gui.core.search.filters import FilterResult


class Order(StrEnum):
    """How columns and rows are sorted; groups stay together in each."""

    TREE = "tree order"
    NAME = "by name"
    FIRST_MAPPING = "by first mapping"


@dataclass(frozen=True, eq=False)
class Arrangement:
    """What the plane shows.

    Args:
        order: of columns and rows.
        columns, rows: what passes the filter of each tree, ``None`` for everything.
        is_relevant_only: attributes without an element are hidden, but for those of blocks that wait for review.
    """

    order: Order = Order.TREE
    columns: FilterResult | None = None
    rows: FilterResult | None = None
    is_relevant_only: bool = False

    @property
    def is_filtered(self) -> bool:
        """Whether a filter hides something."""
        return self.columns is not None or self.rows is not None

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden."""
        return self.is_filtered or self.is_relevant_only

    @property
    def follows_elements(self) -> bool:
        """Whether it depends on what is mapped."""
        return self.order is Order.FIRST_MAPPING or self.is_relevant_only

    @property
    def is_plain(self) -> bool:
        """Whether everything is shown in tree order."""
        return self.order is Order.TREE and not self.hides


PLAIN = Arrangement()
