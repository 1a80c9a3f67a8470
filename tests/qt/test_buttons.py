"""Buttons that can be checked: whoever toggles one, what hangs on a click of it is done."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible, QAccessibleActionInterface, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QButtonGroup

from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.segments import Segments


def toggle(button: KeyButton) -> None:
    """Do the first of what a screen reader is offered."""
    interface: QAccessibleInterface | None = QAccessible.queryAccessibleInterface(button)
    assert interface is not None
    actions = interface.actionInterface()
    assert actions.actionNames()[0] == QAccessibleActionInterface.toggleAction()
    actions.doAction(QAccessibleActionInterface.toggleAction())


class Heard(list[bool]):
    """What was told."""

    def hear(self, is_checked: bool) -> None:
        """Note it."""
        self.append(is_checked)


@pytest.fixture
def heard() -> Heard:
    """Return what was told."""
    return Heard()


def test_a_switch_tells_a_click_and_a_toggle_once_each_and_nothing_that_the_program_does(
    dressed: QApplication,  # noqa: ARG001 - there is an application
    heard: Heard,
) -> None:
    button = KeyButton("Only new", kind="switch")
    button.setCheckable(True)
    button.clicked.connect(heard.hear)
    button.setChecked(True)
    assert heard == []
    toggle(button)
    assert heard == [False]
    button.click()
    assert heard == [False, True]


def test_a_toggle_of_one_of_many_is_told_by_the_button_and_by_its_group(
    dressed: QApplication,  # noqa: ARG001 - there is an application
    heard: Heard,
) -> None:
    group, told = QButtonGroup(), list[int]()
    group.idClicked.connect(told.append)
    buttons = [KeyButton(words, kind="segment") for words in ("Map", "Review")]
    for at, button in enumerate(buttons):
        button.setCheckable(True)
        button.clicked.connect(heard.hear)
        group.addButton(button, at)
    buttons[0].setChecked(True)
    assert (heard, told) == ([], [])
    toggle(buttons[1])
    assert (heard, told, group.checkedId()) == ([True], [1], 1)
    toggle(buttons[1])  # it cannot be unchecked
    assert (heard, told, group.checkedId()) == ([True], [1], 1)


def test_a_toggle_chooses_a_segment(dressed: QApplication) -> None:  # noqa: ARG001 - there is an application
    segments, told = Segments([("test", "Test"), ("production", "Production")]), list[str]()
    segments.clicked.connect(lambda: told.append(segments.choice))
    toggle(segments.buttons["production"])
    assert told == ["production"]


def test_a_screen_reader_that_toggles_the_button_of_a_page_goes_there(window: Window) -> None:
    for number in (1, 3, 0):
        toggle(window.head.pages[number])
        assert window.stack.currentIndex() == number
