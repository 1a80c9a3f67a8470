"""Where the new attributes of the item in front may go: suggested beside the window, shown in their lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import Refusals, RefusedRenames
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.rename_proposals import best_proposals
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.newest_job import NewestJob

if TYPE_CHECKING:
    from metl_gui.ui.window import Window

LEAST_SCORE = 0.5
"""What is less likely than this is found in the suggestions, and offered here by no button."""


def offers(
    document: Document,
    item: ReviewItem,
    asked: tuple[int, ...],
    refusals: Refusals,
    refused: RefusedRenames,
    alike: Mapping[Element, float] | None = None,
) -> tuple[Candidate, ...]:
    """Return the best place of each new attribute in the block of an item, as far as one is likely.

    What a card proposes as a new name is left to the card, which joins the two names.

    Args:
        document: where the item is.
        item: the item.
        asked: ids of the attributes.
        refusals: suggestions that people refused.
        refused: renames that people refused.
        alike: how much alike the values of free attributes are.
    """
    version, target = document.extraction.version(item.key[0]), document.cdm.version(item.key[1])
    likely = [
        each
        for each in suggest_block(document, item.key, refusals, alike)
        if each.is_best and each.score >= LEAST_SCORE and each.element.p in asked
    ]
    if not likely:
        return ()
    proposed = best_proposals(document, item.block, refused).items()
    renamed = {(proposal.candidate, loss.q_lineage) for loss, proposal in proposed}
    paths = {attribute.id: attribute.path for attribute in version.attributes}
    lineages = {attribute.id: attribute.lineage for attribute in target.attributes}
    return tuple(each for each in likely if (paths[each.element.p], lineages[each.element.q]) not in renamed)


class OfferingRoom(QObject):
    """Asks anew for each item that comes to the front.

    Args:
        window: its review page shows the offers.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._page, self._project = window.review, window.project
        self._newest = NewestJob(window.jobs, self)
        self._page.list.chosen.connect(self._chosen)

    def _chosen(self, item: ReviewItem | None) -> None:
        fresh, workbench, document = self._page.detail.fresh, self._project.workbench, self._project.value
        asked = fresh.asked
        if item is None or workbench is None or not asked or not self._page.isVisible():
            self._newest.cancel()
            return
        refused, shelf, newest = self._page.refused, self._project.samples, self._project.newest

        def done(outcome: Outcome[tuple[Candidate, ...]]) -> None:
            if outcome.value is not None and self._page.item is item and self._project.value is document:
                fresh.show_offers(outcome.value)

        self._newest.start(
            "Looking where new attributes go",
            lambda _watch: offers(
                document,
                item,
                asked,
                Refusals(workbench.kept.refused_suggestions.all()),
                refused,
                shelf.alike(document, newest, item.key) if shelf is not None else None,
            ),
            done,
        )
