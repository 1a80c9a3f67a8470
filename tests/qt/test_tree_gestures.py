"""Choosing several rows of the trees, dragging fields, tooltips, menus and folding, as a person does them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.map.tree_collapse import NARROW_PX
from metl_gui.ui.project.block_lists import Note
from metl_gui.ui.project.selection import CellRange, Dragged, NodeRef, Selected, from_mime, place_of_version, to_mime
from metl_gui.ui.shell.window import Window
from metl_gui.ui.trees.node import tip_of
from metl_gui.ui.trees.panel import STRIP_PX, TreePanel
from metl_gui.ui.trees.view import drag_picture, drag_words
from metl_gui.ui.widgets import dialogs
from tests.qt.conftest import answer

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
OFFSCREEN = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def orders(window: Window, label: str = "4") -> Version:
    document = window.project.value
    schema = document.extraction.named("fx.payments.orders")
    assert schema is not None
    version = document.extraction.labelled(schema.id, label)
    assert version is not None
    return version


def payment(window: Window) -> Version:
    document = window.project.value
    entity = document.cdm.named("payment")
    assert entity is not None
    newest = document.cdm.newest(entity.id)
    assert newest is not None
    return newest


def at(panel: TreePanel, version: Version, path: str) -> QPoint:
    """Open the version, bring a field into sight and return where it is."""
    attribute = version.at_path(path)
    assert attribute is not None
    index = panel.model.index_of(NodeRef(version.schema_id, version.id, attribute.id))
    panel.view.expand(index.parent())
    panel.view.scrollTo(index)
    return panel.view.visualRect(index).center()


def click(panel: TreePanel, version: Version, path: str, keys: Qt.KeyboardModifier = NONE) -> None:
    QTest.mouseClick(panel.view.viewport(), LEFT, keys, at(panel, version, path))


def chosen(window: Window, side: Side) -> list[str]:
    found = []
    for place in window.selection.current.all_on(side):
        assert place.version is not None
        assert place.attribute is not None
        attribute = window.project.value.tree(side).version(place.version).attribute(place.attribute)
        assert attribute is not None
        found.append(attribute.path)
    return found


@pytest.fixture
def sources(window: Window) -> TreePanel:
    window.show_page(0)
    return window.map.sources


@pytest.fixture
def targets(window: Window) -> TreePanel:
    window.show_page(0)
    return window.map.targets


def test_shift_chooses_a_range_and_control_adds_and_takes_away(sources: TreePanel, window: Window) -> None:
    version = orders(window)
    click(sources, version, "id")
    click(sources, version, "currency", SHIFT)
    assert chosen(window, Side.EXTRACTION) == ["id", "customer_id", "amount", "currency"]
    click(sources, version, "customer_id", CONTROL)
    click(sources, version, "memo", CONTROL)
    assert chosen(window, Side.EXTRACTION) == ["id", "amount", "currency", "memo"]
    current = window.selection.current.source
    memo = version.at_path("memo")
    assert current is not None
    assert memo is not None
    assert current.attribute == memo.id


def test_shift_and_arrows_choose_more_and_a_plain_arrow_one(sources: TreePanel, window: Window) -> None:
    click(sources, orders(window), "amount")
    QTest.keyClick(sources.view, Qt.Key.Key_Down, SHIFT)
    QTest.keyClick(sources.view, Qt.Key.Key_Down, SHIFT)
    assert chosen(window, Side.EXTRACTION) == ["amount", "currency", "legacy_code"]
    QTest.keyClick(sources.view, Qt.Key.Key_Up)
    assert chosen(window, Side.EXTRACTION) == ["currency"]


def test_control_a_chooses_the_fields_of_the_version_and_nothing_beside(targets: TreePanel, window: Window) -> None:
    version = payment(window)
    click(targets, version, "memo")
    QTest.keyClick(targets.view, Qt.Key.Key_A, CONTROL)
    assert chosen(window, Side.CDM) == [a.path for a in version.attributes]


def test_what_is_chosen_in_one_tree_stays_when_the_other_is_clicked(
    sources: TreePanel, targets: TreePanel, window: Window
) -> None:
    click(sources, orders(window), "id")
    click(sources, orders(window), "amount", SHIFT)
    click(targets, payment(window), "memo")
    assert chosen(window, Side.EXTRACTION) == ["id", "customer_id", "amount"]
    assert chosen(window, Side.CDM) == ["memo"]


def test_a_choice_made_elsewhere_is_shown_in_the_tree_with_its_current_node(sources: TreePanel, window: Window) -> None:
    version = orders(window)
    places = tuple(NodeRef(version.schema_id, version.id, a.id) for a in version.attributes[2:5])
    target = place_of_version(window.project.value, Side.CDM, payment(window).id)
    window.selection.choose(Selected(places[1], target, places))
    assert sources.view.chosen() == places
    assert sources.model.place(sources.view.currentIndex()) == places[1]


def test_a_filter_leaves_the_choice_as_it_was(sources: TreePanel, window: Window) -> None:
    click(sources, orders(window), "id")
    click(sources, orders(window), "amount", SHIFT)
    before = window.selection.current
    sources.filter_now("memo")
    sources.filter_now("")
    assert window.selection.current == before
    assert sources.view.chosen() == before.sources


def test_cells_that_are_chosen_tint_the_fields_they_lie_between(sources: TreePanel, window: Window) -> None:
    version, target = orders(window), payment(window)
    fields = [NodeRef(version.schema_id, version.id, a.id) for a in version.attributes]
    rows = [NodeRef(target.schema_id, target.id, a.id) for a in target.attributes]
    cells = CellRange(fields[1], fields[3], rows[0], rows[2])
    window.selection.choose(Selected(fields[1], rows[0], cells=cells))
    implied = [sources.view.rows.is_implied(sources.model.index_of(field)) for field in fields[:6]]
    assert implied == [False, True, True, True, False, False]
    assert sources.view.chosen() == (fields[1],), "cells imply nodes, they do not choose them"


def test_the_asterisk_opens_the_next_level_only(sources: TreePanel, window: Window) -> None:
    schema = window.project.value.extraction.named("fx.ledger.entry")
    assert schema is not None
    index = sources.model.index_of(NodeRef(schema.id))
    sources.view.collapseAll()
    sources.view.setCurrentIndex(index.parent())
    QTest.keyClick(sources.view, Qt.Key.Key_Asterisk)
    assert sources.view.isExpanded(index)
    newest = sources.model.index_of(NodeRef(schema.id, schema.version_ids[-1]))
    assert not sources.view.isExpanded(newest)


def drop(panel: TreePanel, data: QMimeData, where: QPoint) -> bool:
    """Let mime data enter, move over and fall on a point of a tree; tell whether it was taken."""
    view, copies = panel.view.viewport(), Qt.DropAction.CopyAction
    enter = QDragEnterEvent(where, copies, data, LEFT, NONE)
    QApplication.sendEvent(view, enter)
    move = QDragMoveEvent(where, copies, data, LEFT, NONE)
    QApplication.sendEvent(view, move)
    if not (enter.isAccepted() and move.isAccepted()):
        QApplication.sendEvent(view, QDragLeaveEvent())  # or Qt keeps the widget under the drag, even when it is gone
        return False
    fall = QDropEvent(QPointF(where), copies, data, LEFT, NONE)
    QApplication.sendEvent(view, fall)
    return fall.isAccepted()


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[QDrag]]:
    """Let drags end at once and keep them, for a drag of the system waits for a person."""
    drags: list[QDrag] = []

    def carry(drag: QDrag, *_actions: object) -> Qt.DropAction:
        drags.append(drag)
        return Qt.DropAction.IgnoreAction

    monkeypatch.setattr(QDrag, "exec", carry)
    return iter([drags])


def test_dragging_one_of_several_chosen_fields_carries_all_of_them(
    sources: TreePanel, window: Window, carried: Iterator[list[QDrag]]
) -> None:
    drags = next(carried)
    version = orders(window)
    click(sources, version, "id")
    click(sources, version, "amount", SHIFT)
    start = at(sources, version, "customer_id")
    QTest.mousePress(sources.view.viewport(), LEFT, pos=start)
    QTest.mouseMove(sources.view.viewport(), start + QPoint(0, 40))
    QTest.mouseRelease(sources.view.viewport(), LEFT, pos=start + QPoint(0, 40))
    assert len(drags) == 1
    dragged = from_mime(drags[0].mimeData())
    assert dragged == Dragged(Side.EXTRACTION, window.selection.current.sources)
    assert len(dragged.attributes) == 3
    assert not drags[0].pixmap().isNull()


def test_a_small_movement_of_the_mouse_drags_nothing(
    sources: TreePanel, window: Window, carried: Iterator[list[QDrag]]
) -> None:
    drags = next(carried)
    start = at(sources, orders(window), "id")
    QTest.mousePress(sources.view.viewport(), LEFT, pos=start)
    QTest.mouseMove(sources.view.viewport(), start + QPoint(2, 1))
    QTest.mouseRelease(sources.view.viewport(), LEFT, pos=start + QPoint(2, 1))
    assert drags == []
    assert chosen(window, Side.EXTRACTION) == ["id"]


def test_a_version_cannot_be_dragged(sources: TreePanel, window: Window, carried: Iterator[list[QDrag]]) -> None:
    drags, version = next(carried), orders(window)
    index = sources.model.index_of(NodeRef(version.schema_id, version.id))
    sources.view.scrollTo(index)
    start = sources.view.visualRect(index).center()
    QTest.mousePress(sources.view.viewport(), LEFT, pos=start)
    QTest.mouseMove(sources.view.viewport(), start + QPoint(0, 60))
    QTest.mouseRelease(sources.view.viewport(), LEFT, pos=start)
    assert drags == []


def test_a_field_dropped_on_a_field_of_the_other_tree_is_mapped(targets: TreePanel, window: Window) -> None:
    version, target = orders(window), payment(window)
    source = version.at_path("settled")
    channel = target.at_path("channel")
    assert source is not None
    assert channel is not None
    data = to_mime(Dragged(Side.EXTRACTION, (NodeRef(version.schema_id, version.id, source.id),)))
    assert drop(targets, data, at(targets, target, "channel"))
    block = window.project.value.matrix.block(version.id, target.id)
    assert block is not None
    assert (channel.id, source.id) in block.elements


def asked(window: Window) -> dialogs.QuestionDialog:
    found = [each for each in window.findChildren(dialogs.QuestionDialog) if each.isVisible()]
    assert len(found) == 1
    return found[0]


def drop_on_name(window: Window, targets: TreePanel, *paths: str) -> None:
    """Drop fields of the orders on the name of the entity."""
    version, entity = orders(window), payment(window)
    found = [version.at_path(path) for path in paths]
    fields = tuple(NodeRef(version.schema_id, version.id, each.id) for each in found if each is not None)
    index = targets.model.index_of(NodeRef(entity.schema_id))
    targets.view.scrollTo(index)
    assert drop(targets, to_mime(Dragged(Side.EXTRACTION, fields)), targets.view.visualRect(index).center())


def test_a_field_dropped_on_the_name_of_an_entity_asks_before_it_makes_a_new_version(
    targets: TreePanel, window: Window
) -> None:
    before, state = payment(window), window.project.value.state
    drop_on_name(window, targets, "settled")
    question = asked(window)
    assert question.windowTitle() == "Make a new version of payment?"
    said = "Version 3.0.0 has 1 attribute more, mapped from settled of fx.payments.orders 4 and in 2 other versions."
    assert any(said in label.text() for label in question.findChildren(QLabel))
    QTest.keyClick(question, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert window.project.value.state == state

    drop_on_name(window, targets, "settled")
    QTest.mouseClick(asked(window).buttons["cancel"], LEFT)
    QApplication.processEvents()
    assert window.project.value.state == state

    drop_on_name(window, targets, "settled")
    QTest.mouseClick(asked(window).buttons["make"], LEFT)
    QApplication.processEvents()
    after = payment(window)
    assert after.label == "3.0.0"
    assert {a.path for a in after.attributes} - {a.path for a in before.attributes} == {"settled"}
    made = "1 attribute created in a new version of payment and mapped, here and in 2 other versions."
    assert window.notice.words.text() == made


def test_a_field_that_the_entity_has_already_is_refused_without_a_question(
    targets: TreePanel, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = answer(monkeypatch, "close")
    state = window.project.value.state
    drop_on_name(window, targets, "amount")
    assert shown == ["payment has an attribute amount already."]
    assert [each for each in window.findChildren(dialogs.QuestionDialog) if each.isVisible()] == []
    assert window.project.value.state == state


def test_a_tree_takes_no_fields_of_its_own_side_and_nothing_foreign(sources: TreePanel, window: Window) -> None:
    version, state = orders(window), window.project.value.state
    own = to_mime(Dragged(Side.EXTRACTION, (NodeRef(version.schema_id, version.id, version.attributes[0].id),)))
    foreign = QMimeData()
    foreign.setText("memo")
    where = at(sources, version, "memo")
    assert not drop(sources, own, where)
    assert not drop(sources, foreign, where)
    assert window.project.value.state == state


def test_what_is_dragged_names_the_first_field_and_counts_several(window: Window) -> None:
    version = orders(window)
    places = tuple(NodeRef(version.schema_id, version.id, a.id) for a in version.attributes)
    document = window.project.value
    assert drag_words(document, Dragged(Side.EXTRACTION, places[:1])) == ("id", "")
    assert drag_words(document, Dragged(Side.EXTRACTION, places[:7])) == ("id", "7 fields")
    one, seven = (drag_picture(document, Dragged(Side.EXTRACTION, some), 2.0) for some in (places[:1], places[:7]))
    assert seven.width() > one.width() > 0


def test_the_tooltip_of_a_field_says_where_it_exists_and_what_people_said(window: Window) -> None:
    document, version = window.project.value, orders(window)
    legacy = version.at_path("legacy_code")
    assert legacy is not None
    place = NodeRef(version.schema_id, version.id, legacy.id)
    lines = tip_of(document, Side.EXTRACTION, place, Note("ask the bank", is_masked=True)).splitlines()
    assert lines[0] == "fx.payments.orders 4  legacy_code"
    assert "in 1, 2, 3, 4" in lines
    assert "masked: its values are not shown" in lines
    assert lines[-1] == "“ask the bank”"
    everywhere = version.at_path("id")
    assert everywhere is not None
    assert "in every version" in tip_of(
        document, Side.EXTRACTION, NodeRef(version.schema_id, version.id, everywhere.id), Note()
    )


@OFFSCREEN
def test_resting_on_a_field_shows_its_tooltip(sources: TreePanel, window: Window) -> None:
    where = at(sources, orders(window), "memo")
    help_event = QHelpEvent(QEvent.Type.ToolTip, where, sources.view.viewport().mapToGlobal(where))
    QApplication.sendEvent(sources.view.viewport(), help_event)
    assert "fx.payments.orders 4  memo" in QToolTip.text()
    QToolTip.hideText()


@OFFSCREEN
def test_the_menu_of_a_field_holds_only_actions_of_the_table_that_make_sense(
    sources: TreePanel, targets: TreePanel, window: Window
) -> None:
    click(sources, orders(window), "memo")
    click(targets, payment(window), "memo")
    where = at(sources, orders(window), "memo")
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, sources.view.viewport().mapToGlobal(where))
    QApplication.sendEvent(sources.view.viewport(), asked)
    menu = sources.findChild(QMenu)
    assert menu is not None
    names = [action.objectName() for action in menu.actions() if not action.isSeparator()]
    assert {"map_chosen", "unmap_chosen", "open_block"} <= set(names)
    assert all(window.actions_table[name].isEnabled() for name in names)
    menu.close()


def test_a_folded_tree_is_a_strip_that_unfolds_it_again(sources: TreePanel, window: Window, qtbot: QtBot) -> None:
    width = window.map.source_dock.width()
    window.actions_table["fold_sources"].trigger()
    qtbot.waitUntil(lambda: window.map.source_dock.width() == STRIP_PX)
    assert not sources.view.isVisible()
    QTest.mouseClick(sources.strip, LEFT)
    qtbot.waitUntil(lambda: abs(window.map.source_dock.width() - width) <= 2)
    assert sources.view.isVisible()


def test_trees_fold_by_themselves_where_there_is_no_room_and_come_back(window: Window, qtbot: QtBot) -> None:
    window.show_page(0)
    window.setMinimumSize(600, 500)
    window.resize(NARROW_PX - 60, 700)
    qtbot.waitUntil(lambda: window.map.sources.is_folded and window.map.targets.is_folded)
    window.map.folding.toggle(0)
    window.resize(NARROW_PX - 80, 700)
    assert not window.map.sources.is_folded, "what a person unfolded stays unfolded"
    window.resize(NARROW_PX + 60, 700)
    qtbot.waitUntil(lambda: not window.map.targets.is_folded)
