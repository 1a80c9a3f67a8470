"""The review list: what it shows by filter, order and group; what is done with all that is shown; who decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.review.query import Grouping, ReviewOrder
from metl_gui.ui.project.text import now_ms
from metl_gui.ui.review.list import ReviewListPanel
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.ui.widgets.rows import Heading
from metl_gui.workbench.review import assignments
from metl_gui.workbench.session import Workbench
from tests.helpers.waiting_project import build_waiting
from tests.qt.conftest import activate

MakeWindow = Callable[[], Window]
BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def full(make_window: MakeWindow, tmp_path: Path) -> Window:
    """Return a window with twenty decisions in front and the keyboard in their list."""
    made = make_window()
    made.show_project(build_waiting(tmp_path / "full.metl", 20))
    made.show_page(1)
    activate(made)
    made.review.list.view.setFocus()
    return made


def names(review: ReviewListPanel) -> list[str]:
    """Return the schemas of what is shown, in order."""
    return [facts.schema.rpartition(".")[2] for facts in review.model.items]


def headings(review: ReviewListPanel) -> list[str]:
    return [entry.words for entry in review.model.rows if isinstance(entry, Heading)]


def choose(chooser: Chooser, text: str) -> None:
    """Type a part of a name and take what is left."""
    QTest.keyClicks(chooser.box, text)
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()


def toggle(window: Window, words: str) -> None:
    """Take an entry of the filter menu."""
    menu = window.review.list.filter.filter_menu()
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.deleteLater()


def test_what_is_typed_limits_the_list_by_schema_entity_verdict_person_and_words(full: Window) -> None:
    review = full.review.list
    tester = QAbstractItemModelTester(review.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert len(review.model.items) == 20
    QTest.keyClicks(review.box, "schema:rates verdict:smaller")
    assert set(names(review)) == {"table_0006", "table_0016", "table_0011"}
    assert full.review.list_dock.line.facts.text() == "3 of 20"
    for text, count in (
        ("entity:ledger", 4),
        ("verdict:emptied", 5),
        ("-verdict:emptied", 15),
        ("assigned:nobody", 20),
        ("assigned:bob", 0),
        ("legacy_code verdict:smaller", 5),
        ("older:7", 0),
        ("older:", 20),
    ):
        review.box.setText(text)
        assert len(review.model.items) == count, text
    assert review.none.isVisible() is False
    review.box.setText("nothing is called so")
    assert review.none.isVisible()
    assert full.review._stack.currentIndex() == 0
    review.box.clear()
    assert full.review.item is not None
    del tester


def test_the_filter_menu_writes_into_the_box_and_takes_its_words_back(full: Window) -> None:
    review = full.review.list
    toggle(full, "Only emptied")
    assert review.box.text() == "verdict:emptied"
    toggle(full, "Only smaller")
    assert review.box.text() == "verdict:smaller"
    toggle(full, "Older than 7 days")
    assert review.box.text() == "verdict:smaller older:7"
    toggle(full, "Only smaller")
    assert review.box.text() == "older:7"
    toggle(full, "Show everything")
    assert len(review.model.items) == 20


def test_age_counts_from_when_the_block_was_made(full: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    later = now_ms() + 8 * 86_400_000
    monkeypatch.setattr("metl_gui.ui.review.list.now_ms", lambda: later)
    full.review.list.box.setText("older:7")
    assert len(full.review.list.model.items) == 20
    full.review.list.box.setText("older:9")
    assert full.review.list.model.items == []


def test_items_stand_by_schema_or_by_weight_below_the_name_they_have_in_common(full: Window) -> None:
    review = full.review.list
    assert names(review)[:2] == ["table_0003", "table_0008"]
    assert headings(review) == []  # each schema has one item
    review.filter.grouping = Grouping.ENTITY
    review.filter.order = ReviewOrder.WEIGHT
    review.filter.changed.emit()
    assert sorted(headings(review)) == [
        f"entity_{name}" for name in sorted(("payments", "rates", "ledger", "accounts", "customers"))
    ]
    first = review.model.rows[0]
    assert isinstance(first, Heading)
    assert first.facts == "4 · 10 lost"
    lost = [len(facts.item.losses) for facts in review.model.items[:4]]
    assert lost == sorted(lost, reverse=True)


def test_a_heading_is_passed_over_by_keys(full: Window) -> None:
    review = full.review.list
    review.filter.grouping = Grouping.ENTITY
    review.filter.changed.emit()
    review.go_to_row(1)
    for _ in range(4):
        QTest.keyClick(review.view, Qt.Key.Key_Down)
    assert review.view.currentIndex().row() == 6
    assert review.current is not None
    QTest.keyClick(review.view, Qt.Key.Key_N)
    assert review.view.currentIndex().row() == 7


def test_postponed_items_stand_last_whatever_the_order(full: Window) -> None:
    review = full.review.list
    first = names(review)[0]
    QTest.keyClick(review.view, Qt.Key.Key_L)
    assert names(review)[-1] == first
    assert headings(review)[-1] == "Later"
    review.filter.order = ReviewOrder.WEIGHT
    review.filter.changed.emit()
    assert names(review)[-1] == first


def test_confirming_all_that_are_shown_names_the_count_and_is_one_undo_step(
    full: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def reply(title: str, text: str, *_: object) -> str:
        asked.append(f"{title} {text}")
        return "confirm"

    monkeypatch.setattr(dialogs, "ask", reply)
    full.review.list.box.setText("verdict:emptied")
    QTest.keyClick(
        full.review.list.view,
        Qt.Key.Key_Return,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    assert len(asked) == 1
    assert asked[0].startswith("Confirm 5 blocks? 30 lost elements will stay empty.")
    assert "emptied" in asked[0]
    assert len(full.project.review_items()) == 15
    assert full.project.undo_title == "Confirm all 5 blocks that are emptied"
    full.project.undo()
    assert len(full.project.review_items()) == 20


def test_not_confirming_all_after_all_changes_nothing(full: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: "cancel")
    state = full.project.value.state
    full.review_commands.confirm_shown()
    assert full.project.value.state == state


def test_all_that_are_shown_are_put_off_as_one_step(full: Window) -> None:
    full.review.list.box.setText("entity:rates")
    menu = full.review_commands.bulk_menu()
    next(action for action in menu.actions() if action.text() == "Put all 4 off").trigger()
    menu.deleteLater()
    assert sum(item.block.postponed for item in full.project.review_items()) == 4
    full.project.undo()
    assert not any(item.block.postponed for item in full.project.review_items())


def test_a_person_is_named_by_key_shown_in_the_row_and_found_by_the_filter(full: Window) -> None:
    review = full.review.list
    QTest.keyClick(review.view, Qt.Key.Key_A)
    (chooser,) = [each for each in full.findChildren(Chooser) if each.isVisible()]
    choose(chooser, "Bob Example")
    assert full.review.detail.assigned.text() == "Assigned to Bob Example"
    assert "for Bob Example" in str(review.view.currentIndex().data())
    assert "Bob Example" in full.notice.words.text()
    toggle(full, "Assigned to Bob Example")
    assert review.box.text() == 'assigned:"bob example"'.replace("bob example", "Bob Example")
    assert len(review.model.items) == 1
    workbench = full.project.workbench
    assert workbench is not None
    assert assignments.assignments(workbench).names == ("Bob Example",)


def test_all_that_are_shown_are_assigned_and_nobody_takes_it_back(full: Window) -> None:
    full.review.list.box.setText("entity:rates")
    chooser = full.review_commands.assign_shown()
    assert chooser is not None
    choose(chooser, "Eve")
    full.review.list.box.setText("assigned:eve")
    assert len(full.review.list.model.items) == 4
    again = full.review_commands.assign_shown()
    assert again is not None
    choose(again, "Nobody")
    assert full.review.list.model.items == []


def test_what_a_command_assigned_meanwhile_is_there_when_the_page_is_shown(full: Window) -> None:
    workbench = full.project.workbench
    assert workbench is not None
    full.show_page(0)
    assignments.assign_items(workbench, full.project.review_items()[:1], "Zoe")
    full.show_page(1)
    full.review.list.box.setText("assigned:zoe")
    assert len(full.review.list.model.items) == 1


def test_the_bar_says_how_much_is_confirmed_and_follows(full: Window) -> None:
    review = full.review.list
    assert review.progress_words.text() == "20 of 40 blocks confirmed"
    assert review.progress.value() == 500
    QTest.keyClick(full.review.cards[0], Qt.Key.Key_Return)
    while full.review.item is not None and full.review.item.key == review.model.items[0].item.key:
        full.review.cards[0].loss_button.click()
        if len(full.project.review_items()) < 20:
            break
    assert review.progress_words.text() == "21 of 40 blocks confirmed"


def test_records_of_a_run_weigh_progress_and_order(full: Window) -> None:
    workbench = full.project.workbench
    assert workbench is not None
    schema = "fx.payments.table_0005"
    workbench.add_run({"run_id": "r", "by_version": {f"{schema}@2": 900, f"{schema}@1": 100, "gone@1": 5}}, [])
    full.review.refresh()
    review = full.review.list
    assert review.progress_words.text() == "20 of 40 blocks confirmed · 10 % of the last run's records"
    assert review.progress.value() == 100
    review.filter.order = ReviewOrder.WEIGHT
    review.filter.changed.emit()
    assert names(review)[0] == "table_0005"
    assert "900 records" in str(review.model.index(0).data())


def test_reading_only_nothing_can_be_decided_for_all_but_a_sheet_can_be_sent(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    path = tmp_path / "full.metl"
    build_waiting(path, 3).close()
    window = make_window()
    window.show_project(Workbench.open(path, for_editing=False))
    window.show_page(1)
    menu = window.review_commands.bulk_menu()
    assert [action.isEnabled() for action in menu.actions()] == [False, False, False, True]
    menu.deleteLater()
    assert window.review_commands.assign() is None
    assert not window.review.detail.assigned.isEnabled()


def test_five_hundred_items_are_looked_at_only_where_they_are_seen(
    make_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []

    def look(_document: object, block: Block, *_: object) -> list[object]:
        looked.append(block.key)
        return []

    monkeypatch.setattr("metl_gui.ui.review.detail.cards_of", look)
    window = make_window()
    window.show_project(build_waiting(tmp_path / "many.metl", 500))
    window.show_page(1)
    QApplication.processEvents()
    assert len(set(looked)) == 1
    assert len(window.review.list.model._words) < 60
    item = window.project.review_items()[300]
    assert window.review.list.go_to(item.key)
    assert window.review.item is item


def test_after_one_decision_the_other_items_are_not_worked_out_again(full: Window) -> None:
    before = {item.key: item for item in full.project.review_items()}
    full.review.cards[0].loss_button.click()
    for item in full.project.review_items():
        if item.block.status is Status.NEEDS_REVIEW and item.key != full.review.item.key:  # type: ignore[union-attr]
            assert before[item.key] is item


def test_a_click_on_a_row_shows_its_block(full: Window) -> None:
    view = full.review.list.view
    index = full.review.list.model.index(3)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center() + QPoint(3, 0))
    assert full.review.item is full.review.list.model.items[3].item
