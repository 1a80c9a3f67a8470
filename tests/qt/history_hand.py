"""What a hand does over the history of states, and what the tests of it ask for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.ui.shell.window import Window

from .conftest import activate

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
BOTH = CTRL | Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def clear_one(window: Window) -> tuple[Block, Element]:
    """Clear an element as a person does, and return it with its block as that was."""
    block = next(b for b in window.project.value.matrix.blocks() if len(b.elements) > 1 and not b.losses)
    assert window.project.do(SetElements(block.key, zeros=(block.elements[0],)))
    return block, block.elements[0]


def now(window: Window) -> int:
    workbench = window.project.workbench
    assert workbench is not None
    return workbench.document.state


def looks_back(window: Window) -> int | None:
    """Return the state that is looked at; asked anew each time."""
    return window.project.looks_back


def show_history(window: Window) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_H, CTRL)
    QApplication.processEvents()


def press_row(window: Window, state: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Click the row of a state in the list."""
    panel = window.history.panel
    at = panel.model.row_of(state)
    assert at is not None
    panel.view.scrollTo(panel.model.index(at))
    place = panel.view.visualRect(panel.model.index(at)).center()
    QTest.mouseClick(panel.view.viewport(), LEFT, keys, place)
    QApplication.processEvents()
