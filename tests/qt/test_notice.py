"""Notices: said without taking the focus, good news go by themselves, everything else stays."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.ui.shell.window import Window


def test_a_notice_leaves_the_focus_where_it_is(window: Window) -> None:
    window.activateWindow()
    window.map.sources.box.setFocus()
    window.notify("3 elements set", "Undo", lambda: None)
    assert window.notice.isVisible()
    assert QApplication.focusWidget() is window.map.sources.box


def test_good_news_go_by_themselves_and_anything_else_stays(window: Window) -> None:
    window.notify("The file cannot be written.", is_good=False)
    assert not window.notice.timer.isActive()
    window.notify("3 elements set")
    assert window.notice.timer.isActive()
    window.notice.timer.timeout.emit()
    assert window.notice.words.text() == "The file cannot be written."
    assert not window.notice.timer.isActive()


def test_the_button_of_a_notice_does_what_it_says_and_closes_it(window: Window) -> None:
    done: list[str] = []
    window.notify("2 decisions wait", "Review now", lambda: done.append("review"))
    QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    assert done == ["review"]
    assert window.notice.isHidden()


def test_the_same_words_twice_are_one_notice(window: Window) -> None:
    for _ in range(3):
        window.notify("The file cannot be written.", is_good=False)
    assert len(window.notice.notices) == 1


def test_escape_closes_a_notice_that_has_the_focus(window: Window) -> None:
    window.activateWindow()
    window.notify("Something waits", is_good=False)
    window.notice.take_focus()
    QTest.keyClick(window.notice.dismiss, Qt.Key.Key_Escape)
    assert window.notice.isHidden()


def test_a_notice_lies_inside_the_page_however_long_it_is(window: Window) -> None:
    window.notify("A very long name. " * 60, "Review now", lambda: None)
    strip = window.notice
    assert window.stack.rect().contains(strip.geometry())
    assert strip.words.heightForWidth(strip.words.width()) <= strip.words.height()


def test_a_notice_leaves_the_buttons_at_the_foot_of_the_review_free_and_comes_down_on_other_pages(
    window: Window,
) -> None:
    window.show_page(0)
    window.notify("An import was interrupted.", "Go on", lambda: None, is_good=False)
    low = window.notice.geometry().bottom()
    window.show_page(1)
    QApplication.processEvents()
    foot = window.review.foot
    assert foot.isVisible()
    assert window.notice.geometry().bottom() < foot.mapTo(window.stack, QPoint(0, 0)).y()
    window.show_page(2)
    QApplication.processEvents()
    assert window.notice.geometry().bottom() == low
