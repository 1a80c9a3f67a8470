"""How the Review page uses its room: lists as high as their rows, words that stay to be read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.core.trees.types import read_type
from metl_gui.ui.block.sketch import picture_of
from metl_gui.ui.history.publish_dialog import PublishDialog
from metl_gui.ui.review.cards import AT_ONCE
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.labels import Elided, fitted
from metl_gui.workbench.session import Workbench

from .conftest import activate


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


@pytest.mark.parametrize(("width", "has_keys"), [(1440, True), (1024, False)])
def test_answers_leave_their_keys_out_before_a_card_is_cut(window: Window, width: int, has_keys: bool) -> None:
    window.show_page(1)
    window.resize(width, 700)
    for _ in range(3):
        QApplication.processEvents()
    card = next(each for each in window.review.cards if each.facts.proposal is not None)
    assert window.review.detail._area.horizontalScrollBar().maximum() == 0
    assert (card.rename_button.key == "Enter") is has_keys
    assert bool(card.another_button.key) is has_keys
    assert card.refuse_button.geometry().right() < card.width()


def test_a_card_of_a_required_attribute_says_once_that_nothing_else_feeds_it(window: Window) -> None:
    window.show_page(1)
    card = next(each for each in window.review.cards if each.facts.is_last_source)
    assert card.facts.reason.endswith("Nothing else feeds it, and it is required.")
    assert card.facts.reason.count("feeds it") == 1


def test_undo_without_anything_to_undo_is_one_word_where_there_is_no_room(window: Window) -> None:
    window.resize(1024, 700)
    QApplication.processEvents()
    assert window.head.undo.text() == "↶  Undo"
    assert window.head.undo.accessibleName() == "Nothing to undo"
    window.resize(1600, 1000)
    QApplication.processEvents()
    assert window.head.undo.text() == "↶  Nothing to undo"


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
    for page in window.head.pages:
        assert page.width() >= page.sizeHint().width()
    box = window.head.search
    assert QFontMetrics(box.font()).horizontalAdvance(box.placeholderText()) < box.width() - 20


def test_versions_and_the_arrow_stay_where_long_names_have_no_room(window: Window) -> None:
    words = "fx.ledger.entry_archive_of_all_years 2 → archived_ledger_entry 1"
    metrics = QFontMetrics(window.font())
    short = fitted(words, metrics, metrics.horizontalAdvance(words) * 0.6)
    assert len(short) < len(words)
    assert short.split()[1:3] == ["2", "→"]
    assert short.endswith(" 1")


@pytest.fixture
def wide(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """Return a window on a block that lost forty elements to attributes of which none is known."""
    workbench = Workbench.create(tmp_path / "wide.metl", who="Ada")
    old = tuple(f"old_{number:02}" for number in range(40))
    for side, name, label, paths in (
        (Side.CDM, "wide", "1", old),
        (Side.EXTRACTION, "fx.wide", "1", old),
    ):
        declared = tuple(AttributeDeclaration(path, "string", optional=True) for path in paths)
        workbench.do(AddVersion(side, VersionDeclaration(name, declared, label)))
    document = workbench.document
    source, target = next(document.extraction.all_versions()), next(document.cdm.all_versions())
    pairs = zip(target.attributes, source.attributes, strict=True)
    workbench.do(SetElements((source.id, target.id), tuple(Element(q.id, p.id) for q, p in pairs)))
    second = VersionDeclaration("fx.wide", (AttributeDeclaration("x", "boolean"),), "2")
    workbench.do(AddVersion(Side.EXTRACTION, second))
    made = make_window()
    made.show_project(workbench)
    made.show_page(1)
    return made


def test_a_block_that_lost_many_elements_shows_a_few_cards_and_the_others_when_they_are_asked_for(wide: Window) -> None:
    losses = wide.review.detail.losses
    assert len(wide.review.cards) == AT_ONCE
    assert losses.more.isVisible()
    assert "28" in losses.more.text()
    activate(wide)
    QTest.mouseClick(losses.more, Qt.MouseButton.LeftButton)
    assert len(wide.review.cards) == 2 * AT_ONCE
    assert QApplication.focusWidget() is wide.review.cards[AT_ONCE]
    QTest.keyClick(wide.review.cards[AT_ONCE], Qt.Key.Key_Return)
    assert len(wide.review.cards) == 2 * AT_ONCE  # as many as were, though one of them is answered
    assert wide.review.item is not None
    assert len(wide.review.item.losses) == 39


def test_down_on_the_last_card_and_a_click_on_a_ghost_reach_cards_that_were_not_shown_yet(wide: Window) -> None:
    item = wide.review.item
    assert item is not None
    activate(wide)
    wide.review.detail.go_to_card(wide.review.cards[-1])
    QTest.keyClick(wide.review.cards[-1], Qt.Key.Key_Down)
    assert QApplication.focusWidget() is wide.review.cards[AT_ONCE]
    assert wide.review.go_to_card(item.key, item.losses[-1])
    assert QApplication.focusWidget() is wide.review.cards[-1]
    assert wide.review.cards[-1].facts.loss == item.losses[-1]
    assert not wide.review.detail.losses.more.isVisible()


def test_tab_goes_from_the_last_shown_card_over_the_new_ones_to_the_foot(wide: Window) -> None:
    activate(wide)
    losses = wide.review.detail.losses
    losses.show_more()
    chain = losses.focus_chain
    for one, other in pairwise(chain):
        assert one.nextInFocusChain() is other or one.nextInFocusChain() in one.findChildren(QWidget)


def test_each_line_between_the_lists_has_the_verdict_on_its_types(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "types.metl", who="Ada") as workbench:
        for side, types in (
            (Side.CDM, ("string", "int64", "date")),
            (Side.EXTRACTION, ("bytes", "boolean", "string/io.debezium.time.IsoDate")),
        ):
            declared = (AttributeDeclaration(path, *read_type(type_)) for path, type_ in zip("abc", types, strict=True))
            workbench.do(AddVersion(side, VersionDeclaration("typed", tuple(declared), "1")))
        document = workbench.document
        source, target = next(document.extraction.all_versions()), next(document.cdm.all_versions())
        pairs = zip(target.attributes, source.attributes, strict=True)
        workbench.do(SetElements((source.id, target.id), tuple(Element(q.id, p.id) for q, p in pairs)))
        links = picture_of(workbench.document, (source.id, target.id)).links
    assert [(link.left, link.verdict) for link in links] == [
        (0, TypeVerdict.REINTERPRETED),
        (1, TypeVerdict.MAY_REFUSE),
        (2, TypeVerdict.LOSSLESS),
    ]


def test_where_nothing_waits_the_page_leads_to_an_import_and_to_publishing(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page(1)
    for item in window.project.review_items():
        window.project.do(ConfirmBlock(item.key))
    nothing = window.review.nothing
    assert nothing.isVisible()
    asked: list[Side] = []
    monkeypatch.setattr(window.imports, "ask_and_import", asked.append)
    QTest.mouseClick(nothing.buttons["import_schema"], Qt.MouseButton.LeftButton)
    assert asked == [Side.EXTRACTION]
    assert nothing.buttons["publish"].key == window.actions_table["publish"].shortcut().toString()
    QTest.mouseClick(nothing.buttons["publish"], Qt.MouseButton.LeftButton)
    (dialog,) = window.findChildren(PublishDialog)
    assert dialog.isVisible()
    dialog.reject()
    window.history.looking.look_at(window.project.value.state - 1)
    assert not nothing.buttons["publish"].isEnabled()
