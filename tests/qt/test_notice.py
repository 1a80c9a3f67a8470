"""Notices: one line in the status bar, said without taking the focus, gone after a while or with what they report."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from metl_gui.core.counted import number_of
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import Postpone
from metl_gui.ui.matrix.input.gesture_preview import GesturePreview
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.notice import STAYS_MS
from tests.qt.conftest import activate
from tests.qt.matrix_hand import cell, emptied, ends

LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier


def trial(matrix: MatrixView) -> GesturePreview | None:
    return matrix.sight.trial


def edit_and_say(window: Window, action: str = "") -> int:
    """Set an element and tell so in the same turn of events, as a command does; return how many there were before."""
    key = emptied(window)
    QApplication.processEvents()
    sources, targets = ends(window, key)
    before = window.project.value.matrix.ones
    pair = cell(key, targets[0], sources[0])
    assert window.project.do(SetElements(key, (pair.element,)))
    window.notify("1 element set", action, (lambda: None) if action else None)
    return before


def test_a_notice_leaves_the_focus_where_it_is(window: Window) -> None:
    window.activateWindow()
    window.map.sources.box.setFocus()
    window.notify("3 elements set", "Undo", lambda: None)
    assert window.notice.isVisible()
    assert QApplication.focusWidget() is window.map.sources.box


def test_every_notice_goes_by_itself_and_the_one_before_does_not_come_back(window: Window) -> None:
    window.notify("The file cannot be written.", is_good=False)
    assert window.notice.timer.isActive()
    assert window.notice.timer.interval() == STAYS_MS == 6_000
    window.notify("3 elements set")
    assert window.notice.words.text() == "3 elements set"
    window.notice.timer.timeout.emit()
    assert window.notice.isHidden()
    assert not window.notice.timer.isActive()


def test_a_notice_stays_while_the_pointer_or_the_keyboard_is_on_it(window: Window) -> None:
    activate(window)
    window.notify("3 elements set")
    QTest.mouseMove(window.notice, window.notice.rect().center())
    QApplication.processEvents()
    window.notice.timer.timeout.emit()
    assert window.notice.isVisible()
    QTest.mouseMove(window.map.matrix, QPoint(300, 200))
    QApplication.processEvents()
    window.notice.take_focus()
    window.notice.timer.timeout.emit()
    assert window.notice.isVisible()
    window.map.matrix.setFocus()
    window.notice.timer.timeout.emit()
    assert window.notice.isHidden()


def test_the_button_of_a_notice_does_what_it_says_and_closes_it(window: Window) -> None:
    done: list[str] = []
    window.notify("2 decisions wait", "Review now", lambda: done.append("review"))
    QTest.mouseClick(window.notice.action, LEFT)
    assert done == ["review"]
    assert window.notice.isHidden()


def test_a_notice_lies_in_the_status_bar_over_nothing_and_what_is_cut_can_be_read(window: Window) -> None:
    below = window.stack.geometry(), window.map.matrix.geometry()
    window.notify("A very long name. " * 60, "Review now", lambda: None)
    QApplication.processEvents()
    strip = window.notice
    assert strip.window() is window
    assert window.status.rect().contains(strip.geometry())
    assert (window.stack.geometry(), window.map.matrix.geometry()) == below
    assert strip.width() <= window.status.width() / 2 + 1
    assert window.status.place.isVisible()
    QTest.mouseClick(strip.whole, LEFT)
    dialog = next(each for each in window.findChildren(QDialog) if each.isVisible())
    assert "A very long name. " * 60 in dialog.findChildren(type(dialog._body))[1].text()  # type: ignore[attr-defined]
    dialog.close()
    window.notify("Short.")
    QApplication.processEvents()
    assert strip.whole.isHidden()
    window.resize(640, 400)
    QApplication.processEvents()
    assert not window.status.place.isVisible(), "there is no room for both"
    strip.close_newest()
    assert window.status.place.isVisible()


def test_every_button_of_a_notice_is_whole_in_the_smallest_window(window: Window) -> None:
    window.resize(640, 400)
    edit_and_say(window, "Only in this version")
    QApplication.processEvents()
    strip = window.notice
    for button in (strip.action, strip.undo, strip.dismiss):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
        place = button.mapTo(window, QPoint(0, 0))
        assert window.rect().contains(place)
        assert window.rect().contains(place + QPoint(button.width() - 1, button.height() - 1))


def test_a_notice_about_an_edit_offers_to_undo_it_beside_what_else_one_may_want(window: Window) -> None:
    before = edit_and_say(window)
    assert window.notice.action.text() == "Undo"
    QTest.mouseClick(window.notice.action, LEFT)
    assert window.project.value.matrix.ones == before
    before = edit_and_say(window, "Only in this version")
    assert window.notice.action.text() == "Only in this version"
    QTest.mouseClick(window.notice.undo, LEFT)
    assert window.project.value.matrix.ones == before


def test_a_notice_goes_with_the_edit_that_it_reports_and_says_of_no_other_that_it_can_be_undone(window: Window) -> None:
    edit_and_say(window)
    assert window.notice.isVisible()
    window.actions_table["undo"].trigger()
    assert window.notice.isHidden()
    QApplication.processEvents()
    window.notify("The list is on the clipboard.")
    assert window.notice.action.isHidden()
    assert window.notice.undo.isHidden()
    window.actions_table["redo"].trigger()
    assert window.notice.isVisible(), "it reports no edit"


def test_a_notice_of_decisions_made_by_a_job_undoes_them_and_goes_with_the_next_edit(window: Window) -> None:
    window.show_page(1)
    waiting = window.project.review_items()
    window.review_commands.postpone_shown()
    assert window.notice.action.text() == "Undo"
    assert all(item.block.postponed for item in window.project.review_items())
    QTest.mouseClick(window.notice.action, LEFT)
    assert window.project.review_items() == waiting
    window.review_commands.postpone_shown()
    QApplication.processEvents()
    assert window.notice.isVisible()
    block = next(each for each in window.project.value.matrix.blocks() if each.elements)
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    assert window.notice.isHidden()


def test_what_is_put_off_already_is_said_so_and_no_undo_of_another_edit_is_offered(window: Window) -> None:
    window.show_page(1)
    window.review_commands.postpone_shown()
    before = window.project.value
    window.review_commands.postpone_shown()
    assert window.notice.words.text() == "Everything that is shown is put off already."
    assert window.notice.action.isHidden()
    assert window.notice.undo.isHidden()
    assert window.project.value is before


def test_only_what_is_not_put_off_yet_is_counted(window: Window) -> None:
    window.show_page(1)
    assert window.project.do(Postpone(window.project.review_items()[0].key))
    left = sum(not item.block.postponed for item in window.project.review_items())
    window.review_commands.postpone_shown()
    assert window.notice.words.text().startswith(f"Put off {number_of(left, 'block')}.")


def test_an_edit_that_changes_nothing_offers_no_undo_of_the_one_before(window: Window) -> None:
    edit = Postpone(window.project.review_items()[0].key)
    assert window.project.do(edit)
    QApplication.processEvents()
    assert window.project.do(edit)
    window.notify("1 block put off")
    assert window.notice.action.isHidden()
    assert window.notice.undo.isHidden()


def test_a_notice_goes_with_the_project_that_it_is_about(window: Window) -> None:
    edit_and_say(window, "Map likewise")
    window.projects.close()
    assert window.notice.isHidden()
    assert not window.notice.notices


def test_escape_closes_a_notice_that_has_the_focus_which_goes_back(window: Window) -> None:
    activate(window)
    window.map.sources.box.setFocus()
    window.notify("Something waits", is_good=False)
    window.notice.take_focus()
    QTest.keyClick(window.notice.dismiss, Qt.Key.Key_Escape)
    assert window.notice.isHidden()
    assert QApplication.focusWidget() is window.map.sources.box


def test_escape_in_the_matrix_ends_the_gesture_then_the_notice_then_suggestions_then_the_selection(
    window: Window,
) -> None:
    activate(window)
    emptied(window)
    matrix = window.map.matrix
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    assert matrix.sight.ghosts
    window.notify("Something was done")
    at = matrix.panes.plane.pos().toPoint() + QPoint(60, 60)
    QTest.mousePress(matrix.viewport(), LEFT, SHIFT, at)
    QTest.mouseMove(matrix.viewport(), at + QPoint(60, 40))
    assert trial(matrix) is not None
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert trial(matrix) is None
    assert window.notice.isVisible()
    QTest.mouseRelease(matrix.viewport(), LEFT, SHIFT, at)
    assert matrix.sight.ghosts
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert window.notice.isHidden()
    assert window.selection.current != Selected()
    assert matrix.sight.ghosts
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert not matrix.sight.ghosts
    assert window.selection.current != Selected()
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert window.selection.current == Selected()


def test_the_last_notices_can_be_read_again(window: Window) -> None:
    window.notify("The file cannot be written.", is_good=False)
    window.notify("3 elements set")
    window.actions_table["notices"].trigger()
    dialog = next(each for each in window.findChildren(QDialog) if each.isVisible())
    assert dialog._body.text() == "3 elements set\n\nThe file cannot be written."  # type: ignore[attr-defined]
    dialog.close()
