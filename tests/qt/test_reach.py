"""Everything is reached by the keyboard and has a name: Tab through every page and dialog, as a person would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QDialog, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.actions.shortcut_sheet import KeysDialog
from metl_gui.ui.frame.focus_return import takes_focus
from metl_gui.ui.palette.dialog import Palette
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from tests.qt.conftest import activate

_MOST_STEPS = 300


def give_keyboard(dialog: QDialog, qtbot: QtBot) -> None:
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is dialog)


def tabbed_through(top: QWidget) -> set[QWidget]:
    """Press Tab from widget to widget until the round is closed; out of a text that takes tabs by Ctrl+Tab."""
    met: set[QWidget] = set()
    for _ in range(_MOST_STEPS):
        focus = QApplication.focusWidget()
        assert focus is not None, f"the focus is lost after {[name_of(widget) for widget in met]}"
        if focus in met:
            return met
        met.add(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        if QApplication.focusWidget() is focus:
            QTest.keyClick(focus, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    raise AssertionError(f"Tab goes on without end in {top}")


def stops_in(top: QWidget) -> set[QWidget]:
    """Return what Tab should stop at; in a group of choices that is the one that is set."""
    return {widget for widget in [top, *top.findChildren(QWidget)] if widget.window() is top and takes_focus(widget)}


def name_of(widget: QWidget) -> str:
    """Return what a screen reader calls a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)).strip()


def missed(top: QWidget) -> list[str]:
    """Name what Tab passes over. In an exclusive group only the checked button is a stop, the arrows do the rest."""
    found = tabbed_through(top)
    left = stops_in(top) - found
    groups = {widget.group() for widget in found if hasattr(widget, "group") and widget.group() is not None}
    left = {widget for widget in left if not (hasattr(widget, "group") and widget.group() in groups)}
    return [f"{type(widget).__name__} {name_of(widget)!r} {widget.objectName()}" for widget in left]


def nameless(top: QWidget) -> list[str]:
    return [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in stops_in(top)
        if not name_of(widget) and not isinstance(widget.parent(), QAbstractScrollArea)
    ]


def choose_block(window: Window) -> None:
    item = max(window.project.review_items(), key=lambda each: len(each.losses))
    document = window.project.value
    source = place_of_version(document, Side.EXTRACTION, item.key[0])
    window.selection.choose(Selected(source, place_of_version(document, Side.CDM, item.key[1])))


@pytest.mark.parametrize("page", [0, 1, 2, 3])
def test_tab_reaches_everything_on_a_page_and_everything_has_a_name(window: Window, page: int) -> None:
    activate(window)
    choose_block(window)
    window.show_page(page)
    assert nameless(window) == []
    assert missed(window) == []


def test_tab_reaches_everything_on_the_map_with_every_panel_open(window: Window) -> None:
    activate(window)
    choose_block(window)
    window.show_page(0)
    for dock in (window.lists.mapping_dock, window.suggest.dock):
        dock.show()
        dock.raise_()
    QApplication.processEvents()
    assert nameless(window) == []
    assert missed(window) == []


def test_tab_reaches_everything_on_the_start_page(make_window: Callable[[], Window]) -> None:
    window = make_window()
    window.settings.remember_project(Path(__file__))
    window.start.show_recent(window.settings.recent)
    activate(window)
    window.start.sample.setFocus()
    assert nameless(window) == []
    assert missed(window) == []


@pytest.mark.parametrize("id_", ["palette", "shortcuts", "change_keys", "glossary"])
def test_tab_reaches_everything_in_a_dialog_of_the_shell(window: Window, qtbot: QtBot, id_: str) -> None:
    activate(window)
    window.actions_table[id_].trigger()
    dialog = next(dialog for dialog in window.findChildren(QDialog) if dialog.isVisible())
    give_keyboard(dialog, qtbot)
    assert nameless(dialog) == []
    assert missed(dialog) == []
    assert isinstance(dialog, Palette) or not isinstance(dialog, KeysDialog) or dialog.edit in tabbed_through(dialog)


LEAVE = ("quit", "close", "sample", "new", "open", "run", "stop", "undo", "redo")


def test_tab_reaches_everything_in_every_dialog_that_an_action_opens(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, answer in (("getOpenFileNames", ([], "")), ("getOpenFileName", ("", "")), ("getSaveFileName", ("", ""))):
        monkeypatch.setattr(QFileDialog, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    for kind in (QDialog, dialogs.QuestionDialog):
        monkeypatch.setattr(kind, "exec", QDialog.open)  # nobody would answer
    monkeypatch.setattr(QDialog, "deleteLater", lambda _self: None)
    activate(window)
    choose_block(window)
    walked = set()
    for row in window.actions_table.rows.values():
        if row.is_hint or row.id in LEAVE:
            continue
        window.actions_table[row.id].trigger()
        for dialog in [each for each in window.findChildren(QDialog) if each.isVisible()]:
            give_keyboard(dialog, qtbot)
            assert (row.id, nameless(dialog), missed(dialog)) == (row.id, [], [])
            walked.add(type(dialog).__name__)
            dialog.reject()
    assert {"EntityDialog", "LineageDialog", "PictureDialog", "KeysDialog", "QuestionDialog"} <= walked


@pytest.mark.usefixtures("dressed")
def test_the_buttons_of_a_question_have_names_and_are_reached() -> None:
    error = UserError("It is gone.", "Somebody moved it.", "Look elsewhere.")
    title, text = dialogs.words_of(error)
    question = dialogs.QuestionDialog(title, text, [("again", "Try again"), ("close", "Close")])
    question.show()
    question.activateWindow()
    assert QTest.qWaitForWindowActive(question)
    assert nameless(question) == []
    assert missed(question) == []
    question.close()
    question.deleteLater()


def test_the_focus_ring_is_two_pixels_of_the_accent_on_what_has_the_focus(window: Window) -> None:
    activate(window)
    window.show_page(0)
    accent = themes.current().accent.rgb()
    for widget in (
        window.map.matrix,
        window.map.sources.box,
        window.map.sources.view,
        window.head.undo,
        window.head.search,
    ):
        widget.setEnabled(True)
        window.head.setFocus()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        assert QApplication.focusWidget() is widget
        image = widget.grab().toImage()
        middle = image.height() // 2
        edge = [image.pixel(x, middle) for x in range(4)]
        assert edge[:2] == [accent, accent], widget
        assert edge[2] != accent, widget
