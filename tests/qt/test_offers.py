"""A new attribute of the item in front is mapped by one press where it is likely to belong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from metl_gui.core.project.refusals import RefusedSuggestion
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.review.new_attributes import FreshRows
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench


def payment_in_front(window: Window) -> ReviewItem:
    """Return the item of the sample whose new ``channel`` is an attribute of the entity too, in front."""
    window.show_page(1)
    cdm = window.project.value.cdm
    item = next(
        item for item in window.project.review_items() if cdm.schema(cdm.schema_of(item.key[1])).name == "payment"
    )
    window.review.list.go_to(item.key)
    QApplication.processEvents()
    return item


@pytest.fixture
def payment(window: Window) -> ReviewItem:
    """That item of the sample."""
    return payment_in_front(window)


def buttons(fresh: FreshRows) -> dict[str, KeyButton]:
    return {button.accessibleName(): button for button in fresh.buttons}


def test_the_best_place_is_named_with_its_score_and_one_press_maps_there(window: Window, payment: ReviewItem) -> None:
    fresh = window.review.detail.fresh
    said = [label.text() for label in fresh.findChildren(QLabel) if label.isVisible() and "proposal" in label.text()]
    assert len(said) == 1
    assert "payment 2.0.0 channel</b> 0." in said[0]
    QTest.mouseClick(buttons(fresh)["Map channel to channel"], Qt.MouseButton.LeftButton)
    block = window.project.value.matrix.block(*payment.key)
    assert block is not None
    trees = ((Side.CDM, payment.key[1]), (Side.EXTRACTION, payment.key[0]))
    q, p = (window.project.value.tree(side).version(id_).at_path("channel") for side, id_ in trees)
    assert q is not None
    assert p is not None
    assert (q.id, p.id) in block.elements
    assert "Map channel to channel" not in buttons(window.review.detail.fresh)
    window.actions_table["undo"].trigger()
    assert window.project.value.matrix.block(*payment.key) == payment.block


def test_what_a_card_proposes_as_a_new_name_is_not_offered_beside_it(window: Window) -> None:
    payment_in_front(window)
    proposed = {card.facts.proposal.candidate for card in window.review.cards if card.facts.proposal is not None}
    assert proposed
    assert not [name for name in buttons(window.review.detail.fresh) if name.startswith(f"Map {min(proposed)} to ")]


def test_what_was_refused_is_not_offered(window: Window, payment: ReviewItem) -> None:
    workbench, document = window.project.workbench, window.project.value
    assert workbench is not None
    version, target = document.extraction.version(payment.key[0]), document.cdm.version(payment.key[1])
    p, q = version.at_path("channel"), target.at_path("channel")
    assert p is not None
    assert q is not None
    workbench.refuse_suggestions([RefusedSuggestion(version.schema_id, p.lineage, target.schema_id, q.lineage)])
    window.review.refresh()
    assert "Map channel to channel" not in buttons(window.review.detail.fresh)


def test_an_attribute_that_nothing_looks_like_keeps_the_choice_alone(window: Window) -> None:
    window.show_page(1)
    cdm = window.project.value.cdm
    item = next(i for i in window.project.review_items() if cdm.schema(cdm.schema_of(i.key[1])).name == "ledger_entry")
    window.review.list.go_to(item.key)
    names = buttons(window.review.detail.fresh)
    assert "Map channel…" in names
    assert not [name for name in names if name.startswith("Map channel to ")]


def test_a_project_that_cannot_be_edited_shows_the_offer_and_does_not_take_it(
    make_window: Callable[[], Window], waiting_sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(waiting_sample.project, for_editing=False))
    payment_in_front(window)
    assert not buttons(window.review.detail.fresh)["Map channel to channel"].isEnabled()
