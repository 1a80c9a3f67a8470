"""What somebody has written or chosen and not done yet: it stays with what it is about, and goes nowhere unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.owners.entity_dialog import EntityDialog
from metl_gui.ui.owners.entity_table import PATH
from metl_gui.ui.owners.lineage_dialog import LineageDialog
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.session import Workbench
from tests.qt.test_owners import ORDERS, choose, entity_dialog, lineage_dialog, open_dialog, wait_active, write

__all__ = ["entity_dialog"]
CTRL = Qt.KeyboardModifier.ControlModifier


# comments of decisions


def test_a_comment_of_a_decision_stays_with_the_item_it_was_written_for(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: "confirm")
    window.show_page(1)
    page = window.review
    assert page.item is not None
    first = page.item.key
    page.comment.setText("for the first")
    page.list.next()
    assert page.item.key != first
    second = page.item.key
    assert page.comment.text() == ""
    page.confirm()
    block = window.project.value.matrix.block(*second)
    assert block is not None
    assert block.comment == ""
    page.list.go_to(first)
    assert page.comment.text() == "for the first"
    page.confirm()
    block = window.project.value.matrix.block(*first)
    assert block is not None
    assert block.comment == "for the first"
    assert page.comment.text() == ""


def test_a_comment_of_an_item_that_is_decided_later_is_given_to_that_item(window: Window) -> None:
    window.show_page(1)
    page = window.review
    assert page.item is not None
    first = page.item.key
    page.comment.setText("ask the bank")
    page.postpone()
    block = window.project.value.matrix.block(*first)
    assert block is not None
    assert (block.comment, block.postponed) == ("ask the bank", True)
    assert page.comment.text() == ""
    page.list.go_to(first)
    assert page.comment.text() == ""


def test_comments_that_were_written_in_one_project_are_not_offered_in_another(window: Window, tmp_path: Path) -> None:
    window.show_page(1)
    window.review.comment.setText("of this project")
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    panel = window.owner_docks.comments
    panel.text.setPlainText("of this project")
    window.show_project(Workbench.create(tmp_path / "other.metl"))
    assert (window.review.comment.text(), panel.text.toPlainText()) == ("", "")


# comments on what is selected


def test_a_comment_stays_with_what_it_was_written_about(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    window.owners.comment()
    panel = window.owner_docks.comments
    QTest.keyClicks(panel.text, "only of customers")
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    assert panel.text.toPlainText() == ""
    QTest.keyClicks(panel.text, "gross")
    QTest.keyClick(panel.text, Qt.Key.Key_Return, CTRL)
    assert [card.comment.text for card in panel.cards] == ["gross"]
    panel.about.setCurrentIndex(1)
    assert panel.text.toPlainText() == ""
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    assert panel.text.toPlainText() == "only of customers"
    QTest.keyClick(panel.text, Qt.Key.Key_Return, CTRL)
    assert [card.comment.text for card in panel.cards] == ["only of customers"]
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    assert panel.text.toPlainText() == ""


def edit_elsewhere(window: Window, but: str) -> None:
    """Take an element out of a block of another schema, as a job of this window might."""
    document = window.project.value
    named = document.extraction.named(but)
    assert named is not None
    others = (b for b in document.matrix.blocks() if document.extraction.schema_of(b.version) != named.id)
    block = next(each for each in others if len(each.elements) > 1)
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    QApplication.processEvents()


def test_a_comment_that_is_being_written_stays_there_while_something_is_done_elsewhere(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    window.owners.comment()
    panel = window.owner_docks.comments
    QTest.keyClicks(panel.text, "only of cust")
    edit_elsewhere(window, ORDERS)
    assert panel.text.toPlainText() == "only of cust"


# dialogs


@pytest.fixture
def same_as(window: Window, qtbot: QtBot) -> LineageDialog:
    """*Same as…* of an attribute that may be the same as several."""
    wait_active(qtbot, window)
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    return lineage_dialog(qtbot, window, CTRL)


def chosen(dialog: LineageDialog) -> str:
    choice = dialog.model.at(dialog.view.currentIndex())
    return choice.words.title if choice is not None else ""


def test_what_is_chosen_stays_chosen_while_something_is_done_elsewhere(window: Window, same_as: LineageDialog) -> None:
    same_as.view.setCurrentIndex(same_as.model.index(2, 0))
    before = chosen(same_as)
    assert before
    edit_elsewhere(window, ORDERS)
    assert chosen(same_as) == before
    same_as.preview.work_out()
    QTest.keyClick(same_as, Qt.Key.Key_Return, CTRL)
    assert window.project.undo_title == f"Say that customer_ref is the same as {before} in {ORDERS}"


def test_nothing_is_chosen_where_what_was_chosen_is_gone(
    window: Window, same_as: LineageDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_as.view.setCurrentIndex(same_as.model.index(2, 0))
    gone = chosen(same_as)
    from metl_gui.ui.owners import lineage_dialog as module

    every = module.same_choices
    monkeypatch.setattr(
        module, "same_choices", lambda *asked: tuple(each for each in every(*asked) if each.words.title != gone)
    )
    edit_elsewhere(window, ORDERS)
    assert chosen(same_as) == ""
    same_as.preview.work_out()
    assert not same_as.do.isEnabled()
    edit_elsewhere(window, ORDERS)
    assert chosen(same_as) == ""
    same_as.reject()


def test_changes_of_an_entity_are_not_dropped_unasked(
    window: Window, entity_dialog: EntityDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked = ["stay", "leave"], list[str]()

    def answer(title: str, *_: object) -> str:
        asked.append(title)
        return answers.pop(0)

    monkeypatch.setattr(dialogs, "ask", answer)
    write(entity_dialog, 1, PATH, "payee")
    QTest.keyClick(entity_dialog, Qt.Key.Key_Escape)
    assert open_dialog(window) is entity_dialog
    assert entity_dialog.table.rows[1].path == "payee"
    QTest.mouseClick(entity_dialog.cancel, Qt.MouseButton.LeftButton)
    assert asked == ["Leave the changes of payment?"] * 2
    assert open_dialog(window) is None


def test_an_entity_of_which_nothing_was_changed_is_left_without_a_question(
    window: Window, entity_dialog: EntityDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: pytest.fail("nothing is lost"))
    QTest.keyClick(entity_dialog, Qt.Key.Key_Escape)
    assert open_dialog(window) is None


def test_changes_for_a_project_that_is_closed_go_without_a_question(
    window: Window, entity_dialog: EntityDialog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: pytest.fail("there is no way back"))
    write(entity_dialog, 1, PATH, "payee")
    window.show_project(Workbench.create(tmp_path / "other.metl"))
    assert open_dialog(window) is None
