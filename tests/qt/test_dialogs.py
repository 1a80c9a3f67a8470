"""What all dialogs have in common: the program's own icon and looks, and a line of text that is asked for by keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QStyle

import metl_gui
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming.app_icon import app_icon
from metl_gui.ui.widgets import dialogs
from tests.qt.conftest import activate

_STOCK = re.compile(r"standardIcon|standardPixmap|QMessageBox|QInputDialog|QErrorMessage|QProgressDialog")


def test_every_dialog_has_the_programs_own_icon_and_no_stock_one(window: Window) -> None:
    dialog = dialogs.QuestionDialog("Sure?", "It is asked.", [("yes", "Yes")], window)
    dialog.open()
    own = app_icon().pixmap(32, 32).toImage()
    assert dialog.windowIcon().pixmap(32, 32).toImage() == own
    assert window.windowIcon().pixmap(32, 32).toImage() == own
    stock = window.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxInformation).pixmap(32, 32).toImage()
    assert own != stock
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    source = Path(metl_gui.__file__).parent / "ui"
    assert [path.name for path in source.rglob("*.py") if _STOCK.search(path.read_text())] == []


def answering(monkeypatch: pytest.MonkeyPatch, act: Callable[[dialogs.QuestionDialog], None]) -> None:
    """Let a person act where a question waits for the answer."""

    def execute(question: dialogs.QuestionDialog) -> int:
        question.open()
        QApplication.processEvents()
        act(question)
        return 0

    monkeypatch.setattr(dialogs.QuestionDialog, "exec", execute)


@pytest.mark.parametrize(("ends_with", "name"), [(Qt.Key.Key_Return, "Q3 go-live"), (Qt.Key.Key_Escape, "")])
def test_a_state_is_named_in_a_line_that_has_the_keyboard(
    window: Window, monkeypatch: pytest.MonkeyPatch, ends_with: Qt.Key, name: str
) -> None:
    def act(question: dialogs.QuestionDialog) -> None:
        line = question.findChild(QLineEdit)
        assert isinstance(line, QLineEdit)
        assert question.focusWidget() is line
        QTest.keyClicks(line, "Q3 go-live")
        QTest.keyClick(line, ends_with)

    answering(monkeypatch, act)
    activate(window)
    window.actions_table["name_state"].trigger()
    workbench = window.project.workbench
    assert workbench is not None
    assert workbench.log(1)[0].name == name


def test_a_name_that_is_refused_stands_there_to_be_mended(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, told = "x" * 300, list[str]()

    def act(question: dialogs.QuestionDialog) -> None:
        line = question.findChild(QLineEdit)
        if line is None:
            told.append(question.windowTitle())
            QTest.keyClick(question, Qt.Key.Key_Return)
            return
        if told:
            assert line.text() == typed
            line.setText("Q3 go-live")
        else:
            line.setText(typed)
        QTest.keyClick(line, Qt.Key.Key_Return)

    answering(monkeypatch, act)
    activate(window)
    window.actions_table["name_state"].trigger()
    workbench = window.project.workbench
    assert workbench is not None
    assert told == ["That is too long for a name."]
    assert workbench.log(1)[0].name == "Q3 go-live"
