"""What was settled today stands below the review list: counted, filtered, read, and put back by undo."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.review.settled import Resolution, ResolvedBlock
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.text import now_ms
from metl_gui.ui.review import resolved
from metl_gui.ui.review.resolved import ResolvedDetail
from metl_gui.ui.review.resolved_list import ResolvedStrip
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from tests.qt.screen import words_in


def strip_of(window: Window, qtbot: QtBot) -> ResolvedStrip:
    """Return the strip once it shows what was settled up to the newest state."""
    room = window.review_commands.settling
    qtbot.waitUntil(lambda: room._known is not None and room._known.state == window.project.value.state)
    qtbot.waitUntil(lambda: not room._updater.is_waiting)
    return window.review.list.settled


def add_whole_version(window: Window, name: str = "fx.ledger.journal") -> None:
    """Add a version that loses nothing, as an import in this window would."""
    document = window.project.value
    schema = document.extraction.named(name)
    assert schema is not None
    old = document.extraction.version(schema.version_ids[-1])
    attributes = tuple(
        AttributeDeclaration(a.path, a.type, logical=a.logical, scale=a.scale, optional=a.optional)
        for a in old.attributes
    )
    more = (*attributes, AttributeDeclaration("came_later", "string"))
    assert window.project.do(AddVersion(Side.EXTRACTION, VersionDeclaration(name, more)))


def settle_loss(window: Window) -> tuple[int, int]:
    """Confirm a loss by its card, with a comment, and return the block."""
    window.show_page(1)
    for item in window.project.review_items():
        window.review.list.go_to(item.key)
        if len(item.losses) == 1:
            window.review.comment.setText("nobody reads it")
            QTest.mouseClick(window.review.cards[0].loss_button, Qt.MouseButton.LeftButton)
            return item.key
    raise AssertionError("the sample has no item with one loss")


def click(strip: ResolvedStrip, key: tuple[int, int]) -> ResolvedBlock:
    """Click on the row of a block."""
    index = strip.model.index_of(key)
    box = strip.view.visualRect(index)
    QTest.mouseClick(strip.view.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    found = strip.model.row_at(index)
    assert found is not None
    return found


def detail_of(window: Window) -> ResolvedDetail:
    detail = window.review_commands.settling.detail
    assert detail.isVisible()
    QApplication.processEvents()  # what was laid out anew is shown
    return detail


def test_a_block_stands_below_the_list_as_soon_as_its_loss_is_confirmed(window: Window, qtbot: QtBot) -> None:
    window.show_page(1)
    before = len(strip_of(window, qtbot).model.rows)
    key = settle_loss(window)
    strip = strip_of(window, qtbot)
    tester = QAbstractItemModelTester(strip.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    newest = strip.model.rows[0]
    assert (newest.key, newest.how, newest.who) == (key, Resolution.LOSS_CONFIRMED, "Ada")
    assert len(strip.model.rows) == before + 1
    assert strip.all.text() == f"{before + 1:,}"
    spoken = strip.model.index(0).data()
    assert spoken.startswith("fx.payments.orders 5 → ")
    assert ", loss confirmed, Ada, " in spoken
    del tester


def test_pressing_the_count_of_same_blocks_shows_those_and_pressing_the_whole_count_shows_all(
    window: Window, qtbot: QtBot
) -> None:
    add_whole_version(window)
    settle_loss(window)
    strip = strip_of(window, qtbot)
    whole = len(strip.model.rows)
    same = sum(each.how is Resolution.SAME for each in strip.model.rows)
    assert 0 < same < whole
    assert strip.same.text() == f"{same:,} same"
    QTest.mouseClick(strip.same, Qt.MouseButton.LeftButton)
    assert {each.how for each in strip.model.rows} == {Resolution.SAME}
    QTest.mouseClick(strip.all, Qt.MouseButton.LeftButton)
    assert len(strip.model.rows) == whole


def test_nothing_is_drawn_where_nothing_was_settled(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = now_ms() + 3_600_000
    monkeypatch.setattr(resolved, "midnight_ms", lambda _now: later)
    window.review_commands.settling._opened_ms = later
    window.show_page(1)
    strip = strip_of(window, qtbot)
    assert strip.isHidden()
    assert window.review.list.view.maximumHeight() > 100_000


def test_only_what_the_filter_of_the_list_shows_is_shown(window: Window, qtbot: QtBot) -> None:
    add_whole_version(window)
    key = settle_loss(window)
    strip = strip_of(window, qtbot)
    window.review.list.box.setText("schema:payments.orders")
    qtbot.waitUntil(lambda: len(strip.model.rows) == 1)
    assert strip.model.rows[0].key == key
    window.review.list.box.setText("schema:nowhere")
    qtbot.waitUntil(strip.isHidden)
    window.review.list.box.setText("nobody reads")
    qtbot.waitUntil(strip.isVisible)
    assert [each.key for each in strip.model.rows] == [key]


def test_a_settled_block_is_read_with_its_losses_answers_who_and_why_and_nothing_is_decided_meanwhile(
    window: Window, qtbot: QtBot
) -> None:
    key = settle_loss(window)
    settled = click(strip_of(window, qtbot), key)
    detail = detail_of(window)
    words = words_in(detail)
    (loss,) = settled.answered
    for told in (loss.to_path, "stays empty", loss.reason.rstrip("."), "“nobody reads it”", "by Ada"):
        assert told in words
    assert window.review.item is None
    assert window.selection.current.block == key
    state = window.project.value.state
    window.actions_table["confirm"].trigger()
    assert window.project.value.state == state


def test_looking_again_puts_the_item_back_on_the_list_and_goes_to_it(window: Window, qtbot: QtBot) -> None:
    key = settle_loss(window)
    waiting = len(window.project.review_items())
    click(strip_of(window, qtbot), key)
    QTest.mouseClick(detail_of(window).again_button, Qt.MouseButton.LeftButton)
    strip_of(window, qtbot)
    assert len(window.project.review_items()) == waiting + 1
    assert window.review.item is not None
    assert window.review.item.key == key
    assert window.review.detail.isVisible()
    assert window.review.list.settled.model.row_of(key) is None


def test_looking_again_at_one_of_many_that_were_decided_in_one_step_asks_first(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page(1)
    waiting = len(window.project.review_items())
    assert waiting > 1
    asked: list[tuple[str, str]] = []
    answers = ["confirm", "cancel", "again"]

    def answer(title: str, text: str, *_: object) -> str:
        asked.append((title, text))
        return answers.pop(0)

    monkeypatch.setattr(dialogs, "ask", answer)
    window.review_commands.confirm_shown()
    assert window.project.review_items() == ()
    strip = strip_of(window, qtbot)
    first = next(each for each in strip.model.rows if each.waited)
    click(strip, first.key)
    QTest.mouseClick(detail_of(window).again_button, Qt.MouseButton.LeftButton)
    assert window.project.review_items() == ()
    title, text = asked[-1]
    changed = sum(each.waited for each in strip.model.rows)
    assert title in {f"Look again at {count} blocks?" for count in range(waiting, changed + 1)}
    assert "in one step with" in text
    QTest.mouseClick(detail_of(window).again_button, Qt.MouseButton.LeftButton)
    assert len(window.project.review_items()) == waiting


def test_undoing_asks_once_with_the_name_of_the_edit_and_says_what_stands_in_the_way(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = settle_loss(window)
    block = window.project.value.matrix.block(*key)
    assert block is not None
    window.project.do(SetElements(key, zeros=block.elements[:1]))
    click(strip_of(window, qtbot), key)
    asked: list[str] = []
    told: list[str] = []

    def agree(title: str, *_: object) -> str:
        asked.append(title)
        return "undo"

    monkeypatch.setattr(dialogs, "ask", agree)
    monkeypatch.setattr(dialogs, "tell", lambda error, *_: told.append(str(error)))
    state = window.project.value.state
    QTest.mouseClick(detail_of(window).undo_button, Qt.MouseButton.LeftButton)
    assert len(asked) == 1
    assert "Confirm the loss" in asked[0]
    assert f"state {state}" in told[0]
    assert window.project.value.state == state


def test_a_version_that_stayed_the_same_goes_again_when_its_row_is_undone(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page(1)
    before = strip_of(window, qtbot).model.rows
    add_whole_version(window)
    strip = strip_of(window, qtbot)
    settled = click(strip, strip.model.rows[0].key)
    assert settled.how is Resolution.SAME
    assert detail_of(window).again_button.isHidden()  # it never waited
    monkeypatch.setattr(dialogs, "ask", lambda *_: "undo")
    QTest.mouseClick(detail_of(window).undo_button, Qt.MouseButton.LeftButton)
    assert strip_of(window, qtbot).model.rows == before
    assert not window.project.value.extraction.has_version(settled.key[0])
    assert window.review.detail.isVisible()


def test_enter_on_a_row_shows_the_block_on_the_map(window: Window, qtbot: QtBot) -> None:
    key = settle_loss(window)
    strip = strip_of(window, qtbot)
    strip.view.setFocus()
    strip.go_to(key)
    QTest.keyClick(strip.view, Qt.Key.Key_Return)
    assert window.stack.currentWidget() is window.map
    assert window.selection.current.block == key
    window.show_page(1)
    settled = detail_of(window).settled  # who comes back finds what was looked at
    assert settled is not None
    assert settled.key == key
    QTest.keyClick(window.review.list.view, Qt.Key.Key_Down)
    assert window.review.detail.isVisible()


def test_the_detail_stays_while_other_things_change_and_goes_when_an_item_is_chosen(
    window: Window, qtbot: QtBot
) -> None:
    key = settle_loss(window)
    click(strip_of(window, qtbot), key)
    add_whole_version(window)
    strip = strip_of(window, qtbot)
    assert detail_of(window).settled is not None
    assert window.review.list.is_left
    QTest.keyClick(strip.view, Qt.Key.Key_N)
    assert window.review.item is not None
    assert window.review.detail.isVisible()
    assert strip.current is None


def test_a_strip_that_somebody_folded_is_folded_in_the_next_window(window: Window, qtbot: QtBot) -> None:
    settle_loss(window)
    strip = strip_of(window, qtbot)
    assert strip.view.isVisible()
    QTest.mouseClick(strip.heading, Qt.MouseButton.LeftButton)
    assert not strip.view.isVisible()
    assert window.settings.folds_settled
    QTest.mouseClick(strip.same if strip.same.isVisible() else strip.all, Qt.MouseButton.LeftButton)
    assert strip.view.isVisible()  # who follows a count wants to see


def test_an_earlier_state_is_looked_at_without_what_was_settled_since(window: Window, qtbot: QtBot) -> None:
    settle_loss(window)
    strip = strip_of(window, qtbot)
    assert strip.isVisible()
    window.history.looking.look_at(3)
    qtbot.waitUntil(strip.isHidden)
    window.history.looking.come_back()
    qtbot.waitUntil(strip.isVisible)
