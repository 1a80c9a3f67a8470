"""The review page: cards, answers, confirming, and how it follows undo."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.review.loss_choices import loss_name
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.review.card import LossCard
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench


def open_item(window: Window, with_proposal: bool) -> LossCard:
    """Go to the first item that has a card with a proposal, or without one."""
    window.show_page(1)
    for item in window.project.review_items():
        window.review.list.go_to(item.key)
        for card in window.review.cards:
            if (card.facts.proposal is not None) is with_proposal:
                return card
    raise AssertionError("the sample has no such card")


def test_the_list_shows_one_row_for_each_decision(window: Window) -> None:
    tester = QAbstractItemModelTester(window.review.list.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    window.show_page(1)
    items = window.project.review_items()
    assert len(items) == len(window.review.list.model.items) == 2
    assert window.head.pages[1].count == "2"
    window.review.list.box.setText("no such schema")
    assert window.review.list.model.rowCount() == 0
    window.review.list.box.setText("payment smaller")
    assert window.review.list.model.rowCount() > 0
    del tester


def test_accepting_a_rename_restores_the_element_and_takes_its_card_away(window: Window) -> None:
    card = open_item(window, with_proposal=True)
    item = window.review.item
    assert item is not None
    assert card.facts.proposal is not None
    cards = len(window.review.cards)
    QTest.keyClick(card, Qt.Key.Key_Return)
    block = window.project.value.matrix.block(*item.key)
    assert block is not None
    assert len(block.elements) == len(item.block.elements) + 1
    assert len(window.review.cards) == cards - 1


def test_confirming_a_loss_on_the_last_card_settles_the_item(window: Window) -> None:
    card = open_item(window, with_proposal=False)
    item = window.review.item
    assert item is not None
    before = len(window.project.review_items())
    if len(window.review.cards) > 1:
        pytest.fail("the sample's item without proposals has one card")
    card.loss_button.click()
    assert len(window.project.review_items()) == before - 1
    block = window.project.value.matrix.block(*item.key)
    assert block is not None
    assert block.status is Status.CONFIRMED


def test_choosing_another_attribute_maps_it_in_place_of_the_lost_one(window: Window) -> None:
    card = open_item(window, with_proposal=True)
    item = window.review.item
    assert item is not None
    chosen = card.facts.choices.free[0]
    chooser = card.choose_another()
    QTest.keyClicks(chooser.box, chosen.path)
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    block = window.project.value.matrix.block(*item.key)
    assert block is not None
    assert chosen.id in {element.p for element in block.elements}
    assert card.facts.loss not in block.open_losses


def test_confirming_with_open_cards_names_the_losses_and_asks_once(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_item(window, with_proposal=True)
    item = window.review.item
    assert item is not None
    texts: list[str] = []

    def reply(title: str, text: str, *_: object) -> str:
        texts.append(f"{title} {text}")
        return "confirm"

    monkeypatch.setattr(dialogs, "ask", reply)
    window.review.comment.setText("nobody needs it")
    window.review.confirm()
    assert len(texts) == 1
    assert all(loss.to_path in texts[0] for loss in item.losses)
    block = window.project.value.matrix.block(*item.key)
    assert block is not None
    assert (block.status, block.comment) == (Status.CONFIRMED, "nobody needs it")


def test_not_confirming_after_all_leaves_the_item_on_the_list(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    open_item(window, with_proposal=True)
    monkeypatch.setattr(dialogs, "ask", lambda *_: "cancel")
    state = window.project.value.state
    window.review.confirm()
    assert window.project.value.state == state


def test_undo_brings_a_decision_back_to_the_list(window: Window) -> None:
    card = open_item(window, with_proposal=False)
    before = window.project.review_items()
    card.loss_button.click()
    assert window.head.undo.text().startswith("↶  Undo confirm the loss")
    window.actions_table["undo"].trigger()
    assert [item.key for item in window.project.review_items()] == [item.key for item in before]
    assert window.project.redo_title is not None


def test_later_puts_an_item_at_the_end(window: Window) -> None:
    window.show_page(1)
    first = window.project.review_items()[0].key
    window.review.list.go_to(first)
    QTest.keyClick(window.review.list.view, Qt.Key.Key_L)
    assert window.project.review_items()[-1].key == first
    assert window.project.review_items()[0].key != first


def test_n_goes_to_the_next_item_and_selects_its_block_everywhere(window: Window) -> None:
    window.show_page(1)
    items = window.project.review_items()
    window.review.list.go_to(items[0].key)
    QTest.keyClick(window.review.list.view, Qt.Key.Key_N)
    assert window.review.item is not None
    assert window.review.item.key == items[1].key
    assert window.selection.current.block == items[1].key
    assert window.map.matrix.selected.block == items[1].key


def test_a_loss_is_named_by_an_end_that_no_other_loss_has(window: Window) -> None:
    for item in window.project.review_items():
        names = [loss_name(item.block, loss) for loss in item.losses]
        assert len(set(names)) == len(names)


def test_without_anything_to_decide_the_page_says_what_it_is_for(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: "confirm")
    window.show_page(1)
    while window.project.review_items():
        window.review.confirm()
    assert window.review._stack.currentIndex() == 0
    assert window.head.pages[1].count == ""


def test_retiring_counts_the_elements_of_later_versions_that_go_with_it(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def agree(_title: str, text: str, *_: object) -> str:
        asked.append(text)
        return "retire"

    monkeypatch.setattr(dialogs, "ask", agree)
    document = window.project.value
    orders = document.extraction.named("fx.payments.orders")
    assert orders is not None
    newest = document.extraction.version(orders.version_ids[-1])
    paths = (*((each.path, each.type) for each in newest.attributes), ("extra", "string"))
    attributes = tuple(AttributeDeclaration(*each) for each in paths)
    assert window.project.do(AddVersion(Side.EXTRACTION, VersionDeclaration(orders.name, attributes, "6")))
    window.show_page(1)
    item = next(each for each in window.project.review_items() if each.chain)
    window.review.list.go_to(item.key)
    before = window.project.value.matrix.ones
    window.review.retire()
    gone = before - window.project.value.matrix.ones
    assert gone > len(item.block.elements)
    assert len(asked) == 1
    assert asked[0].startswith(f"{gone} elements will go, those of 1 later version too; the list stays in the record.")


def test_a_version_that_could_not_be_dismissed_is_not_said_to_be(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, *_: told.append(str(error)))
    declared = VersionDeclaration("fx.payments.orders", (AttributeDeclaration("id", "string"),))
    window.review_commands.dismiss(VersionTask(1, "fx.payments.orders", "9", declared))
    assert len(told) == 1
    assert told[0].startswith("There is no version task 1.")
    assert window.notice.current is None


def test_a_project_that_is_open_read_only_offers_no_decision(
    make_window: Callable[[], Window], waiting_sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(waiting_sample.project, for_editing=False))
    card = open_item(window, with_proposal=True)
    page = window.review
    offered = [page.comment, page.later_button, page.confirm_button, card.rename_button, card.another_button]
    assert not any(widget.isEnabled() for widget in offered)
    assert page.next_button.isEnabled()
    before, items = window.project.value, [item.key for item in window.project.review_items()]
    QTest.keyClick(page.list.view, Qt.Key.Key_L)
    QTest.keyClick(page.list.view, Qt.Key.Key_Return)
    assert window.project.value is before
    assert [item.key for item in window.project.review_items()] == items
    assert not any(window.actions_table[id_].isEnabled() for id_ in ("confirm", "later", "retire"))
    assert not window.notice.isVisible()
