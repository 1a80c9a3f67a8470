"""The five first steps of a copy of the sample: shown there alone, ticked off by what was done, gone when closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.drop.sheet import Act, DropSheet
from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.shell.first_steps import FirstStepsStrip
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.first_steps import FirstStep, FirstSteps, first_steps, sample_copy
from metl_gui.workbench.demo.sample import SampleFolder, fresh_copy
from metl_gui.workbench.session import Workbench


@pytest.fixture
def copy(make_window: Callable[[], Window]) -> Window:
    """A window on a fresh copy of the sample."""
    window = make_window()
    window.show_project(Workbench.open(fresh_copy().project))
    QApplication.processEvents()
    return window


def strip_of(window: Window) -> FirstStepsStrip:
    return window.first_steps.strip


def press(window: Window, step: FirstStep) -> None:
    QTest.mouseClick(strip_of(window).buttons[step], Qt.MouseButton.LeftButton)
    QApplication.processEvents()


def test_a_copy_of_the_sample_shows_five_steps_of_which_none_is_done(copy: Window) -> None:
    strip = strip_of(copy)
    assert strip.isVisible()
    assert strip.done == frozenset()
    assert [button.text() for button in strip.buttons.values()] == [
        "1 Add the version that has arrived",
        "2 Decide what it lost",
        "3 Make a test run",
        "4 Publish the mapping",
        "5 Open the warehouse",
    ]
    assert strip.buttons[FirstStep.ADD].property("kind") == "primary"


def test_another_project_has_no_first_steps(make_window: Callable[[], Window], sample: SampleFolder) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    QApplication.processEvents()
    assert not strip_of(window).isVisible()
    window.actions_table["first_steps"].trigger()
    assert not strip_of(window).isVisible()
    assert "Open the sample project" in window.notice.words.text()


def test_each_step_leads_to_what_it_says_and_is_ticked_off_once_it_is_done(copy: Window) -> None:
    strip = strip_of(copy)
    press(copy, FirstStep.ADD)
    (sheet,) = (each for each in copy.findChildren(DropSheet) if each.isVisible())
    button = next(button for offer, button in sheet.buttons if offer.act is Act.ADD_FROM_MESSAGES)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert strip.done == {FirstStep.ADD}
    assert strip.buttons[FirstStep.ADD].text() == "✓ Add the version that has arrived"
    press(copy, FirstStep.DECIDE)
    assert copy.page == PAGES.index("Review")
    press(copy, FirstStep.WAREHOUSE)
    assert copy.page == PAGES.index("Warehouse")
    assert strip.done == {FirstStep.ADD, FirstStep.WAREHOUSE}
    copy.project.undo()
    assert strip.done == {FirstStep.WAREHOUSE}
    press(copy, FirstStep.PUBLISH)
    assert [each.isVisible() for each in copy.findChildren(PublishDialog)] == [True]


def test_what_is_done_is_read_from_the_project(copy: Window) -> None:
    workbench = copy.project.workbench
    assert workbench is not None
    folder = sample_copy(workbench.path)
    assert folder is not None
    steps = first_steps(folder)
    assert steps is not None
    assert [each.name for each in steps.waiting] == ["fx.payments.orders"]
    assert steps.done(workbench) == frozenset()
    nothing = FirstSteps(steps.folder, ())
    assert nothing.done(workbench) == {FirstStep.ADD, FirstStep.DECIDE}


def test_closed_steps_stay_closed_in_the_next_window_until_they_are_asked_for(
    copy: Window, make_window: Callable[[], Window]
) -> None:
    workbench = copy.project.workbench
    assert workbench is not None
    path = workbench.path
    QTest.mouseClick(strip_of(copy).close_button, Qt.MouseButton.LeftButton)
    assert not strip_of(copy).isVisible()
    copy.commands.close_project()
    again = make_window()
    again.show_project(Workbench.open(path))
    QApplication.processEvents()
    assert not strip_of(again).isVisible()
    again.actions_table["first_steps"].trigger()
    assert strip_of(again).isVisible()


def test_in_a_narrow_window_the_next_step_stands_alone(copy: Window) -> None:
    strip = strip_of(copy)
    copy.resize(1600, 900)
    QApplication.processEvents()
    assert all(button.isVisible() for button in strip.buttons.values())
    copy.resize(copy.minimumWidth(), 700)
    QApplication.processEvents()
    assert [step for step, button in strip.buttons.items() if button.isVisible()] == [FirstStep.ADD]
    assert strip.heading.text() == "0 of 5 steps done"
