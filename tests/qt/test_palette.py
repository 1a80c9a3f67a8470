"""The palette: what makes sense now, found by letters, done by Enter; the glossary from there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.glossary import WORDS
from metl_gui.ui.palette.dialog import Glossary, Palette, score
from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate


def open_palette(window: Window) -> Palette:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    found = [palette for palette in window.findChildren(Palette) if palette.isVisible()]
    assert len(found) == 1
    return found[0]


def test_letters_and_enter_do_an_action_and_leave_the_focus_where_it_was(window: Window) -> None:
    activate(window)
    window.map.targets.view.setFocus()
    palette = open_palette(window)
    QTest.keyClicks(palette.box, "dark the")
    assert palette.model.rows[0].id == "theme_dark"
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert window.settings.theme == "dark"
    assert window.findChildren(Palette) == []
    assert window.focusWidget() is window.map.targets.view


def test_what_was_done_last_stands_first_and_is_remembered(window: Window) -> None:
    for letters in ("smaller", "run page", "everything larger"):
        palette = open_palette(window)
        QTest.keyClicks(palette.box, "larger" if letters == "everything larger" else letters.split()[0])
        QTest.keyClick(palette.box, Qt.Key.Key_Return)
        QApplication.processEvents()
    ids = [entry.id for entry in open_palette(window).model.rows]
    assert ids[:2] == window.settings.recent_actions[:2]
    assert ids[0] == "larger"


def test_actions_that_make_no_sense_now_are_not_offered(window: Window) -> None:
    offered = {entry.id for entry in open_palette(window).model.rows}
    for id_, row in window.actions_table.rows.items():
        if not row.is_hint and id_ != "palette":
            assert (id_ in offered) == row.when(window), id_


def test_down_moves_the_choice_while_the_box_keeps_the_focus(window: Window) -> None:
    palette = open_palette(window)
    palette.box.setFocus()
    QTest.keyClick(palette.box, Qt.Key.Key_Down)
    QTest.keyClick(palette.box, Qt.Key.Key_Down)
    QTest.keyClick(palette.box, Qt.Key.Key_Up)
    assert palette.view.currentIndex().row() == 1
    for _ in range(3):
        QTest.keyClick(palette.box, Qt.Key.Key_Up)
    assert palette.view.currentIndex().row() == 0


def test_a_word_of_the_glossary_is_found_and_explained(window: Window) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.box, "what row set")
    assert palette.model.rows[0].id == "word:row set"
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    dialog = window.findChild(Glossary)
    assert isinstance(dialog, Glossary)
    assert "everything that feeds it" in dialog.text.toPlainText()
    assert dialog.text.toPlainText().startswith("row set")


@pytest.mark.parametrize("word", ["constant", "default", "expression"])
def test_who_looks_for_what_the_matrix_does_not_do_is_told_where_it_is_done(window: Window, word: str) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.box, word)
    assert palette.model.rows[0].words == f"What is: {word}"
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    dialog = window.findChild(Glossary)
    assert isinstance(dialog, Glossary)
    told = dialog.text.toPlainText()
    assert told.startswith(word)
    assert "warehouse table" in told


def test_the_glossary_lists_every_word_and_says_when_none_fits(window: Window) -> None:
    window.actions_table["glossary"].trigger()
    dialog = window.findChild(Glossary)
    assert isinstance(dialog, Glossary)
    text = dialog.text.toPlainText()
    assert [word.word for word in WORDS if word.means not in text] == []
    QTest.keyClicks(dialog.box, "zebra")
    assert dialog.text.toPlainText() == "No word of the program holds this."


def test_a_panel_of_the_page_in_front_is_hidden_and_shown_from_the_palette(window: Window) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.box, "hide panel block")
    assert palette.model.rows[0].id == "panel:blockDock"
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert not window.map.block_dock.isVisible()


def test_letters_that_fit_nothing_say_so_and_enter_does_nothing(window: Window) -> None:
    palette = open_palette(window)
    QTest.keyClicks(palette.box, "qqqzzz")
    assert palette.none.isVisible()
    QTest.keyClick(palette.box, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_beginnings_of_words_weigh_more_than_letters_inside() -> None:
    texts = ["Import extraction schemas", "Set aside by time", "Zoom in everywhere"]
    rated = sorted(texts, key=lambda text: -(score("ies", text) or -99.0))
    assert rated[0] == "Import extraction schemas"
    assert score("xyz", texts[0]) is None
    assert score("schemas import", texts[0]) is not None


def test_the_list_keeps_qt_s_rules_while_letters_are_typed(window: Window) -> None:
    palette = open_palette(window)
    QAbstractItemModelTester(palette.model, QAbstractItemModelTester.FailureReportingMode.Fatal, palette)
    for letters in ("r", "ru", "run", "runx", ""):
        palette.box.setText(letters)
