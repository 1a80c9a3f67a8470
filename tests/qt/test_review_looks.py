"""How the Review page uses its room: lists as high as their rows, words that stay to be read."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication, QScrollArea

from metl_gui.ui.elided import Elided
from metl_gui.ui.place_label import fitted
from metl_gui.ui.window import Window


def lists_of(window: Window) -> QScrollArea:
    areas = window.review.detail.findChildren(QScrollArea)
    return next(area for area in areas if area.accessibleName() == "The block before and after, as lists")


def test_the_lists_of_a_block_are_as_high_as_their_rows_whatever_stood_there_before(window: Window) -> None:
    window.show_page(1)
    spare = set()
    for item in [*window.project.review_items(), *reversed(window.project.review_items())]:
        window.review.list.go_to(item.key)
        QApplication.processEvents()
        area = lists_of(window)
        assert area.verticalScrollBar().maximum() == 0
        spare.add(area.height() - window.review.after.height())
    assert len(spare) == 1
    assert spare.pop() < 30


def test_lists_without_room_scroll_below_their_titles_and_leave_a_card_in_sight(window: Window) -> None:
    window.resize(1100, 700)
    window.show_page(1)
    item = max(window.project.review_items(), key=lambda each: len(each.losses))
    window.review.list.go_to(item.key)
    QApplication.processEvents()
    area = lists_of(window)
    assert area.verticalScrollBar().maximum() > 0
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    titles = window.review.detail.findChildren(Elided)
    after = next(each for each in titles if each.text().startswith("After"))
    assert not after.visibleRegion().isEmpty()
    first = window.review.cards[0]
    assert first.visibleRegion().boundingRect().height() == first.height()


@pytest.mark.parametrize("width", [1100, 1280, 1600])
def test_the_search_box_keeps_its_words_and_its_key_beside_a_long_title_to_undo(window: Window, width: int) -> None:
    window.resize(width, 800)
    window.head.show_undo("Map 12 elements of fx.ledger.entry_archive_of_all_years 1 → archived_ledger_entry 1")
    QApplication.processEvents()
    box = window.head.search
    assert QFontMetrics(box.font()).horizontalAdvance(box.placeholderText()) < box.width() - 20


def test_versions_and_the_arrow_stay_where_long_names_have_no_room(window: Window) -> None:
    words = "fx.ledger.entry_archive_of_all_years 2 → archived_ledger_entry 1"
    metrics = QFontMetrics(window.font())
    short = fitted(words, metrics, metrics.horizontalAdvance(words) * 0.6)
    assert len(short) < len(words)
    assert short.split()[1:3] == ["2", "→"]
    assert short.endswith(" 1")
