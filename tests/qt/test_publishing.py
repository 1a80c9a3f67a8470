"""Publishing in the window: one question that shows what it means, and what is live shown everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.ui.history import publish_dialog
from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.publishing.publication import PublishImpact, live_state, publish
from metl_gui.workbench.session import Workbench

from .conftest import activate

BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def opened(window: Window) -> Workbench:
    assert window.project.workbench is not None
    return window.project.workbench


def ask(window: Window) -> PublishDialog:
    """Press the key that publishes, and return the question."""
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_U, BOTH)
    QApplication.processEvents()
    return next(dialog for dialog in window.findChildren(PublishDialog) if dialog.isVisible())


def clear_one(window: Window) -> None:
    block = next(b for b in window.project.value.matrix.blocks() if len(b.elements) > 1 and not b.losses)
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))


def test_the_question_shows_checks_and_what_changes_in_production(window: Window) -> None:
    clear_one(window)
    before = live_state(opened(window))
    assert before is not None
    dialog = ask(window)
    assert dialog.difference.heading.text() == f"What changes against what is live, state {before.state}"
    assert "1 element went" in dialog.difference.words.text()
    assert dialog.checks.text().endswith("Nothing keeps it from being published.")
    assert dialog.model.rows
    assert "wait for review: messages that need them are held back" in dialog.meaning.text()
    dialog.reject()
    assert live_state(opened(window)) == before


def test_what_is_said_in_place_of_a_difference_stands_below_its_title(window: Window) -> None:
    ask(window).accept()
    dialog = ask(window)
    pane = dialog.difference
    assert pane.heading.text() == "It is live already"
    assert pane.words.geometry().bottom() < pane.height() / 4
    dialog.reject()


def test_a_published_state_is_live_with_its_name_everywhere(window: Window) -> None:
    clear_one(window)
    dialog = ask(window)
    QTest.keyClicks(dialog.name, "Q3 go-live")
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    state = opened(window).document.state
    live = live_state(opened(window))
    assert live is not None
    assert (live.state, live.name) == (state, "Q3 go-live")
    assert window.head.live.accessibleName() == f"live: state {state} · Q3 go-live"
    assert window.status.state.text() == f"State {state} · published {state}"
    assert window.notice.words.text().startswith(f"State {state}, Q3 go-live, is live now")
    clear_one(window)
    assert window.head.live.accessibleName() == f"live: state {state} · Q3 go-live, 1 change since"
    window.history.show()
    assert window.history.panel.model.live == state


def test_the_badge_leads_to_what_changed_since(window: Window) -> None:
    publish(opened(window))
    window.history.refresh()
    clear_one(window)
    QTest.mouseClick(window.head.live, LEFT)
    pane = window.history.panel.difference
    assert pane.compared is not None
    assert pane.words.text() == "1 element went"
    assert (pane.compared.asked.before, pane.compared.asked.after) == (
        opened(window).document.state - 1,
        opened(window).document.state,
    )


def test_the_state_that_is_looked_at_is_the_one_that_is_published(window: Window) -> None:
    clear_one(window)
    earlier = opened(window).document.state - 1
    window.history.looking.look_at(earlier)
    dialog = ask(window)
    assert dialog.windowTitle() == f"Publish state {earlier}"
    QTest.mouseClick(dialog.do, LEFT)
    live = live_state(opened(window))
    assert live is not None
    assert live.state == earlier


def test_a_state_with_errors_cannot_be_published_and_they_are_listed(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = live_state(opened(window))
    problem = Problem(Severity.ERROR, "mapping.dangling", "a@1:b@1", "An end is gone.", "Clear it.")
    monkeypatch.setattr(
        publish_dialog, "judge", lambda _workbench, state, _watch: PublishImpact(state, (problem,), 1, 1, 0, 0)
    )
    dialog = ask(window)
    assert dialog.checks.text() == "1 error. It cannot be published before the errors are mended."
    assert [row.title for row, _ in dialog.model.rows] == ["An end is gone."]
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert dialog.isVisible()
    assert live_state(opened(window)) == before
    dialog.reject()


def test_what_another_program_published_shows_when_the_window_comes_to_the_front(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    with Workbench.open(sample.project) as other:
        publish(other, state=5, name="five")
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert window.head.live.accessibleName().startswith("live: state 5 · five, ")


def test_nothing_stands_in_the_head_while_nothing_is_published(window: Window) -> None:
    window.actions_table["close"].trigger()
    assert window.head.live.isHidden()
    assert window.status.state.isHidden()


def test_a_question_about_a_project_goes_unanswered_when_another_one_comes(window: Window, tmp_path: Path) -> None:
    dialog = ask(window)
    other = Workbench.create(tmp_path / "other.metl")
    window.show_project(other)
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(dialog)
    assert live_state(other) is None


def test_what_the_checks_say_names_no_command_in_the_window(window: Window) -> None:
    window.actions_table["publish"].trigger()
    dialog = window.findChildren(PublishDialog)[0]
    rows = [row for row, _ in dialog.model.rows]
    assert any("wait for a decision" in row.title or "waits for a decision" in row.title for row in rows)
    assert not any("metl " in row.facts or row.facts.endswith(" · ") for row in rows)
    dialog.reject()
