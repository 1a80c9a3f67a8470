"""Search everywhere: one box, what it finds, and where Enter goes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from metl_gui.core.project.comments import node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.palette.search_hits import Hit
from metl_gui.ui.shell.window import Window


@pytest.fixture
def searching(window: Window, qtbot: QtBot) -> Window:
    """Return a window with the keyboard on the search box."""
    window.activateWindow()
    window.actions_table["find"].trigger()
    qtbot.waitUntil(window.head.search.hasFocus)
    return window


def typed(window: Window, qtbot: QtBot, text: str) -> list[Hit]:
    """Type letters and wait for the list."""
    QTest.keyClicks(window.head.search, text)
    qtbot.waitUntil(window.everywhere.isVisible)
    model = window.everywhere.model
    hits = (model.row_at(model.index(row, 0)) for row in range(model.rowCount()))
    return [hit for hit in hits if hit is not None]


def test_letters_find_nodes_of_both_trees_and_say_where_they_lie(searching: Window, qtbot: QtBot) -> None:
    tester = QAbstractItemModelTester(searching.everywhere.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    hits = typed(searching, qtbot, "iban")
    found = {(hit.group, hit.words) for hit in hits}
    assert ("CDM attributes", "iban") in found
    assert any(group == "Attributes" and "iban" in words for group, words in found)
    assert all(hit.where for hit in hits if hit.selected is not None)
    del tester


def test_arrows_move_over_headings_and_enter_selects(searching: Window, qtbot: QtBot) -> None:
    box = searching.head.search
    hits = typed(searching, qtbot, "orders")
    assert searching.everywhere.current == hits[0]
    for _ in hits:
        QTest.keyClick(box, Qt.Key.Key_Down)
    assert searching.everywhere.current == hits[-1]
    for _ in hits:
        QTest.keyClick(box, Qt.Key.Key_Up)
    assert searching.everywhere.current == hits[0]
    QTest.keyClick(box, Qt.Key.Key_Return)
    schema = searching.project.value.extraction.named("fx.payments.orders")
    assert schema is not None
    assert searching.selection.current.source is not None
    assert searching.selection.current.source.schema == schema.id
    assert not searching.everywhere.isVisible()
    assert box.text() == ""


def test_enter_takes_what_was_typed_last_without_waiting(searching: Window) -> None:
    QTest.keyClicks(searching.head.search, "iban")
    QTest.keyClick(searching.head.search, Qt.Key.Key_Return)
    source = searching.selection.current.source
    assert source is not None
    assert source.version is not None
    version = searching.project.value.extraction.version(source.version)
    attribute = version.attribute(source.attribute or 0)
    assert attribute is not None
    assert "iban" in attribute.path


def test_escape_closes_the_list_and_changes_nothing(searching: Window, qtbot: QtBot) -> None:
    before = searching.selection.current
    typed(searching, qtbot, "orders")
    QTest.keyClick(searching.head.search, Qt.Key.Key_Escape)
    assert not searching.everywhere.isVisible()
    assert searching.selection.current == before


def test_a_decision_is_shown_on_the_review_page(searching: Window, qtbot: QtBot) -> None:
    item = searching.project.review_items()[0]
    lost = item.losses[0].from_path
    hit = next(hit for hit in typed(searching, qtbot, lost) if hit.group == "Decisions")
    searching.everywhere.take(hit)
    assert searching.stack.currentWidget() is searching.review
    assert searching.selection.current.block in {each.key for each in searching.project.review_items()}


def test_a_comment_leads_to_what_it_is_about(searching: Window, qtbot: QtBot) -> None:
    document, workbench = searching.project.value, searching.project.workbench
    schema = document.extraction.schemas()[2]
    assert workbench is not None
    workbench.add_comment(node_subject(document, Side.EXTRACTION, schema.id), "ask the treasury desk")
    searching.project.read_comments_again()
    hit = next(hit for hit in typed(searching, qtbot, "treasury") if hit.group == "Comments")
    searching.everywhere.take(hit)
    assert searching.selection.current.source is not None
    assert searching.selection.current.source.schema == schema.id


def test_an_action_is_done(searching: Window, qtbot: QtBot) -> None:
    hit = next(hit for hit in typed(searching, qtbot, "mapping list") if hit.words == "Mapping list")
    searching.everywhere.take(hit)
    qtbot.waitUntil(searching.lists.mapping.isVisible)


def test_the_line_for_the_rest_filters_the_tree(searching: Window, qtbot: QtBot) -> None:
    hit = next(hit for hit in typed(searching, qtbot, "id") if hit.filters is Side.EXTRACTION)
    searching.everywhere.take(hit)
    assert searching.map.sources.box.text() == "id"
    assert searching.map.sources.model.passing() is not None


def test_the_list_lies_inside_the_smallest_window(searching: Window, qtbot: QtBot) -> None:
    searching.resize(1100, 700)
    typed(searching, qtbot, "a")
    assert searching.rect().contains(searching.everywhere.geometry())


@pytest.mark.parametrize("word", ["constant", "default", "expression"])
def test_what_the_matrix_does_not_do_is_found_in_the_words_of_the_program(
    searching: Window, qtbot: QtBot, word: str
) -> None:
    hits = typed(searching, qtbot, word)
    assert f"What is: {word}" in [hit.words for hit in hits]
