"""The block editor as a person meets it: mouse, keys and what both do to the block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QWheelEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import RetireBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element, Status
from metl_gui.core.project.comments import element_subject, node_subject
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.attribute_list import AttributeList
from metl_gui.ui.block.attribute_rows import AttributeDelegate
from metl_gui.ui.block.lines import ROW_PX
from metl_gui.ui.block.panel import BlockPanel
from metl_gui.ui.matrix.input.hit_test import Cell
from metl_gui.ui.matrix.painting.overlay import Ghost
from metl_gui.ui.project.block_lists import ListOrder
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected, place_of_version, to_mime
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import EditOrigin, Workbench

LEFT = Qt.MouseButton.LeftButton
AnyIndex: TypeAlias = QModelIndex | QPersistentModelIndex


def select(window: Window, schema: str, label: str, entity: str) -> BlockKey:
    document = window.project.value
    source, target = document.extraction.named(schema), document.cdm.named(entity)
    assert source is not None
    assert target is not None
    version = document.extraction.labelled(source.id, label)
    newest = document.cdm.newest(target.id)
    assert version is not None
    assert newest is not None
    chosen = place_of_version(document, Side.EXTRACTION, version.id)
    window.selection.choose(Selected(chosen, place_of_version(document, Side.CDM, newest.id)))
    return version.id, newest.id


@pytest.fixture
def editor(window: Window) -> BlockPanel:
    """Return the editor on a block that waits for nothing."""
    window.show_page(0)
    select(window, "fx.payments.orders", "4", "payment")
    return window.map.block


def place(view: AttributeList, path: str) -> QPoint:
    row = next(at for at, row in enumerate(view.rows.rows) if row.attribute.path == path)
    view.scrollTo(view.rows.index(row))
    return view.visualRect(view.rows.index(row)).center()


def id_of(view: AttributeList, path: str) -> int:
    return next(row.id for row in view.rows.rows if row.attribute.path == path)


def pull(view: AttributeList, path: str, onto: QWidget, at: QPoint, let_go: bool = True) -> None:
    """Draw a line by mouse from a row to a point of another widget."""
    start = place(view, path)
    end = view.viewport().mapFromGlobal(onto.mapToGlobal(at))
    QTest.mousePress(view.viewport(), LEFT, pos=start)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(view.viewport(), start + (end - start) * share)
    if let_go:
        QTest.mouseRelease(view.viewport(), LEFT, pos=end)


def elements(window: Window, key: BlockKey) -> set[tuple[str, str]]:
    document = window.project.value
    sources = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    targets = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    block = document.matrix.block(*key)
    return {(sources[e.p], targets[e.q]) for e in block.elements} if block is not None else set()


def test_a_line_drawn_from_a_source_to_a_free_target_maps_it(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    before = elements(window, editor.key)
    right = editor.lists.right
    pull(editor.lists.left, "settled", right.viewport(), place(right, "channel"))
    assert elements(window, editor.key) == before | {("settled", "channel")}
    assert window.project.undo_title == "Map settled to channel, and in 2 other versions"
    window.project.undo()
    assert elements(window, editor.key) == before


def test_a_line_may_be_drawn_from_right_to_left(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    left = editor.lists.left
    pull(editor.lists.right, "channel", left.viewport(), place(left, "risk_score"))
    assert ("risk_score", "channel") in elements(window, editor.key)


def test_a_line_let_go_beside_the_other_list_changes_nothing(editor: BlockPanel, window: Window) -> None:
    state = window.project.value.state
    canvas = editor.lists.canvas
    pull(editor.lists.left, "settled", canvas, canvas.rect().center())
    assert window.project.value.state == state
    assert not editor.lists.is_connecting


def test_escape_abandons_a_line_that_is_being_drawn(editor: BlockPanel, window: Window) -> None:
    state, right = window.project.value.state, editor.lists.right
    pull(editor.lists.left, "settled", right.viewport(), place(right, "channel"), let_go=False)
    was_connecting = editor.lists.is_connecting
    QTest.keyClick(editor.lists.left, Qt.Key.Key_Escape)
    assert was_connecting
    assert not editor.lists.is_connecting
    QTest.mouseRelease(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "settled"))
    assert window.project.value.state == state


def test_while_a_line_is_drawn_to_a_taken_target_it_says_what_would_go(editor: BlockPanel) -> None:
    right = editor.lists.right
    pull(editor.lists.left, "settled", right.viewport(), place(right, "memo"), let_go=False)
    drawn = editor.lists.canvas.drawn
    assert drawn.rubber is not None
    assert drawn.rubber.words == "taken: memo → memo"
    assert drawn.replaced == {Element(id_of(right, "memo"), id_of(editor.lists.left, "memo"))}
    QTest.mouseRelease(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "settled"))


def test_a_line_to_a_taken_target_leaves_the_question_to_the_window(editor: BlockPanel) -> None:
    asked: list[Cell] = []
    editor.toggle_wanted.disconnect()
    editor.toggle_wanted.connect(asked.append)
    left, right = editor.lists.left, editor.lists.right
    pull(left, "memo", right.viewport(), place(right, "status"))
    assert editor.key is not None
    assert asked == [Cell(editor.key, Element(id_of(right, "status"), id_of(left, "memo")))]


def test_the_question_stands_beside_the_rows_and_replacing_is_one_key(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    left, right = editor.lists.left, editor.lists.right
    pull(left, "settled", right.viewport(), place(right, "currency"))
    sheet = window.map.sheet
    assert sheet is not None
    box = editor.cell_box(editor.key, Element(id_of(right, "currency"), id_of(left, "settled")))
    assert box is not None
    assert not sheet.geometry().intersects(box)
    QTest.keyClick(sheet, Qt.Key.Key_R)
    found = elements(window, editor.key)
    assert ("settled", "currency") in found
    assert ("currency", "currency") not in found


def test_leaving_a_taken_target_changes_nothing_and_gives_the_keyboard_back(editor: BlockPanel, window: Window) -> None:
    state, right = window.project.value.state, editor.lists.right
    pull(editor.lists.left, "settled", right.viewport(), place(right, "currency"))
    assert window.map.sheet is not None
    QTest.keyClick(window.map.sheet, Qt.Key.Key_Escape)
    assert window.project.value.state == state
    assert editor.lists.left.hasFocus()


def test_the_keys_of_the_window_map_and_unmap_the_two_current_rows(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    QTest.mouseClick(editor.lists.right.viewport(), LEFT, pos=place(editor.lists.right, "channel"))
    QTest.mouseClick(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "settled"))
    QTest.keyClick(editor.lists.left, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert ("settled", "channel") in elements(window, editor.key)
    QTest.keyClick(editor.lists.left, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert ("settled", "channel") not in elements(window, editor.key)


def test_alt_and_arrows_go_from_block_to_block_wherever_the_keyboard_is(editor: BlockPanel, window: Window) -> None:
    first = editor.key
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    after = editor.key
    assert after != first
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert editor.key == first


def test_the_same_line_drawn_again_changes_nothing(editor: BlockPanel, window: Window) -> None:
    state, right = window.project.value.state, editor.lists.right
    pull(editor.lists.left, "memo", right.viewport(), place(right, "memo"))
    assert window.project.value.state == state


def test_a_click_on_a_line_selects_both_ends_and_delete_clears_it(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    canvas, right = editor.lists.canvas, editor.lists.right
    line = next(line for line in canvas.runs()[0] if line.link.element.q == id_of(right, "memo"))
    QTest.mouseClick(canvas, LEFT, pos=QPoint(canvas.width() // 2, round(line.height_at(0.5))))
    assert window.selection.current.element == line.link.element
    QTest.keyClick(editor.lists.left, Qt.Key.Key_Delete)
    assert ("memo", "memo") not in elements(window, editor.key)
    assert window.project.undo_title == "Unmap memo from memo, and in 4 other versions"


def test_delete_clears_the_element_of_the_row_although_the_other_cursor_is_elsewhere(
    editor: BlockPanel, window: Window
) -> None:
    assert editor.key is not None
    QTest.mouseClick(editor.lists.right.viewport(), LEFT, pos=place(editor.lists.right, "channel"))
    QTest.mouseClick(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "memo"))
    QTest.keyClick(editor.lists.left, Qt.Key.Key_Delete)
    assert ("memo", "memo") not in elements(window, editor.key)


def test_a_block_is_mapped_by_the_keyboard_alone(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    left, right = editor.lists.left, editor.lists.right
    editor.take_focus()
    while left.current is None or left.current.attribute.path != "settled":
        QTest.keyClick(left, Qt.Key.Key_Down)
    QTest.keyClick(left, Qt.Key.Key_Return)
    assert right.hasFocus()
    while right.current is None or right.current.attribute.path != "channel":
        QTest.keyClick(right, Qt.Key.Key_Down)
    assert editor.lists.canvas.drawn.rubber is not None
    QTest.keyClick(right, Qt.Key.Key_Return)
    assert ("settled", "channel") in elements(window, editor.key)
    QTest.keyClick(right, Qt.Key.Key_Space)
    assert ("settled", "channel") not in elements(window, editor.key)


def test_left_right_and_tab_change_the_side(editor: BlockPanel) -> None:
    left, right = editor.lists.left, editor.lists.right
    editor.take_focus()
    QTest.keyClick(left, Qt.Key.Key_Right)
    assert right.hasFocus()
    QTest.keyClick(right, Qt.Key.Key_Left)
    assert left.hasFocus()
    QTest.keyClick(left, Qt.Key.Key_Tab)
    assert right.hasFocus()
    QTest.keyClick(right, Qt.Key.Key_Backtab)
    assert left.hasFocus()


def test_the_cursors_of_the_lists_are_the_selection_of_the_window(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    QTest.mouseClick(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "memo"))
    QTest.mouseClick(editor.lists.right.viewport(), LEFT, pos=place(editor.lists.right, "amount"))
    wanted = Element(id_of(editor.lists.right, "amount"), id_of(editor.lists.left, "memo"))
    assert window.selection.current.element == wanted
    document = window.project.value
    chosen = place_of_version(document, Side.EXTRACTION, editor.key[0], id_of(editor.lists.left, "id"))
    window.selection.choose(window.selection.current.with_place(Side.EXTRACTION, chosen))
    current = editor.lists.left.current
    assert current is not None
    assert current.attribute.path == "id"


def test_a_line_whose_end_is_scrolled_away_becomes_a_stub_with_the_name(wide: BlockPanel) -> None:
    lists = wide.lists
    lists.left.verticalScrollBar().setValue(40 * ROW_PX)
    lines, stubs = lists.canvas.runs()
    assert lines == ()
    below = {s.y: s for s in stubs if s.is_left}
    assert below
    assert {s.direction for s in below.values()} == {1}
    stub = next(s for s in stubs if s.is_left)
    QTest.mouseClick(lists.canvas, LEFT, pos=QPoint(20, round(stub.y)))
    assert lists.right.verticalScrollBar().value() > 0
    found = lists.canvas.runs()[0]
    assert stub.link in [line.link for line in found]


def test_only_what_is_in_sight_is_painted(wide: BlockPanel) -> None:
    painted: list[str] = []

    class Counting(AttributeDelegate):
        def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
            painted.append(str(index.data()))
            super().paint(painter, option, index)

    left = wide.lists.left
    delegate = Counting(Side.EXTRACTION)
    left.setItemDelegate(delegate)
    left.verticalScrollBar().setValue(50 * ROW_PX)
    painted.clear()
    left.viewport().grab()
    in_sight = left.viewport().height() // ROW_PX + 2
    assert "field_050" in painted
    assert len(painted) <= in_sight < 60


def test_the_filter_finds_by_the_other_end_and_unmapped_come_first(editor: BlockPanel) -> None:
    QTest.keyClicks(editor.filter, "payer")
    assert [row.attribute.path for row in editor.lists.left.rows.rows] == ["customer_id"]
    assert [row.attribute.path for row in editor.lists.right.rows.rows] == ["payer_id"]
    editor.filter.clear()
    editor.order.setCurrentIndex(list(ListOrder).index(ListOrder.UNMAPPED_FIRST))
    mapped = [row.partner is not None for row in editor.lists.left.rows.rows]
    assert mapped == sorted(mapped)
    assert mapped[0] is False


def test_a_suggestion_is_a_dashed_line_that_space_maps(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    pair = Element(id_of(editor.lists.right, "channel"), id_of(editor.lists.left, "settled"))
    editor.show_ghosts((Ghost(editor.key, pair, 0.81, "both are new"), Ghost((1, 1), pair, 0.5, "elsewhere")))
    link = next(line.link for line in editor.lists.canvas.runs()[0] if line.link.words)
    assert (link.element, link.words) == (pair, "0.81")
    assert "both are new" in editor.lists.canvas.words_of(link)
    line = next(line for line in editor.lists.canvas.runs()[0] if line.link == link)
    QTest.mouseClick(
        editor.lists.canvas, LEFT, pos=QPoint(editor.lists.canvas.width() // 2, round(line.height_at(0.5)))
    )
    assert ("settled", "channel") not in elements(window, editor.key), "a click selects, it does not map"
    QTest.keyClick(editor.lists.left, Qt.Key.Key_Space)
    assert ("settled", "channel") in elements(window, editor.key)


def test_comments_stand_at_the_field_and_at_the_line_they_are_about(editor: BlockPanel, window: Window) -> None:
    document, key, workbench = window.project.value, editor.key, window.project.workbench
    assert key is not None
    assert workbench is not None
    pair = Element(id_of(editor.lists.right, "memo"), id_of(editor.lists.left, "memo"))
    workbench.add_comment(element_subject(document, key, pair), "agreed with sales")
    _comment(window, editor, "memo", "free text of the customer")
    row = editor.lists.lists.row(Side.EXTRACTION, pair.p)
    assert row is not None
    assert row.note.comment == "free text of the customer"
    assert [link.said for link in editor.lists.canvas.drawn.links if link.said] == ["agreed with sales"]


def test_a_field_dropped_from_a_tree_on_a_row_is_mapped(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    right = editor.lists.right
    document = window.project.value
    source = place_of_version(document, Side.EXTRACTION, editor.key[0], id_of(editor.lists.left, "settled"))
    data, where = to_mime(Dragged(Side.EXTRACTION, (source,))), place(right, "channel")
    copies, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(where, copies, data, LEFT, none)
    QApplication.sendEvent(right.viewport(), enter)
    QApplication.sendEvent(right.viewport(), QDropEvent(QPointF(where), copies, data, LEFT, none))
    assert enter.isAccepted()
    assert ("settled", "channel") in elements(window, editor.key)


def _comment(window: Window, editor: BlockPanel, path: str, text: str) -> None:
    workbench, key, document = window.project.workbench, editor.key, window.project.value
    assert workbench is not None
    assert key is not None
    version = document.extraction.version(key[0])
    subject = node_subject(document, Side.EXTRACTION, version.schema_id, key[0], id_of(editor.lists.left, path))
    workbench.add_comment(subject, text)
    window.project.read_comments_again()


def test_a_filter_counts_what_it_finds_and_a_stub_leads_out_of_it(editor: BlockPanel, window: Window) -> None:
    left, right = editor.lists.left, editor.lists.right
    QTest.keyClicks(editor.filter, "payer")
    assert editor.found.text() == "1 of 10, 1 of 9"
    editor.filter.clear()
    QTest.keyClicks(editor.filter, "currency int64")
    assert editor.found.text() == "Nothing found"
    editor.filter.clear()
    QTest.keyClicks(editor.filter, "int64")
    assert [row.attribute.path for row in left.rows.rows] == ["id"]
    assert [row.attribute.path for row in right.rows.rows] == ["payment_id"], "a line keeps both its ends"
    editor.filter.clear()
    _comment(window, editor, "memo", "ask the bank")
    QTest.keyClicks(editor.filter, "bank")
    (stub,) = editor.lists.canvas.runs()[1]
    assert (stub.is_left, stub.direction) == (True, 0), "only one end was commented on"
    QTest.mouseClick(editor.lists.canvas, LEFT, pos=QPoint(20, round(stub.y)))
    assert editor.filter.text() == ""
    assert len(right.rows.rows) == 9


def test_the_list_models_keep_qts_rules_when_blocks_and_filters_change(editor: BlockPanel, window: Window) -> None:
    testers = [
        QAbstractItemModelTester(view.rows, QAbstractItemModelTester.FailureReportingMode.Fatal)
        for view in (editor.lists.left, editor.lists.right)
    ]
    editor.filter.setText("a")
    editor.filter.clear()
    editor.lists.set_wanted.emit(Element(id_of(editor.lists.right, "channel"), id_of(editor.lists.left, "settled")))
    window.project.undo()
    editor.step(-1)
    select(window, "fx.customers.person", "7", "customer")
    assert editor.lists.left.rows.rowCount() > 0
    del testers


def test_back_and_forward_walk_through_the_blocks_of_the_schema(editor: BlockPanel, window: Window) -> None:
    first = editor.key
    QTest.mouseClick(editor.tools.back, LEFT)
    assert editor.key != first
    assert window.selection.current.block == editor.key
    QTest.mouseClick(editor.tools.forward, LEFT)
    assert editor.key == first


def test_an_attribute_stays_selected_from_version_to_version(editor: BlockPanel, window: Window) -> None:
    QTest.mouseClick(editor.lists.left.viewport(), LEFT, pos=place(editor.lists.left, "memo"))
    editor.show_versions(True)
    editor.step(-1)
    current = editor.lists.left.current
    assert current is not None
    assert current.attribute.path == "memo"
    assert window.selection.current.source is not None
    assert window.selection.current.source.attribute == current.id


def test_a_click_on_a_version_goes_there_and_enter_does_too(editor: BlockPanel, window: Window) -> None:
    QTest.mouseClick(editor.tools.versions, LEFT)
    parts = editor.versions.parts
    keys = [part.key for part in parts.block.parts]
    assert len(keys) == 5
    QTest.mouseClick(parts, LEFT, pos=parts.box(1).center().toPoint())
    assert editor.key == keys[1]
    editor.take_focus()
    QTest.keyClick(parts, Qt.Key.Key_Right)
    QTest.keyClick(parts, Qt.Key.Key_Return)
    assert editor.key == keys[2]
    assert window.selection.current.block == keys[2]


def test_the_wheel_scrolls_the_versions_sideways(editor: BlockPanel, window: Window, qtbot: QtBot) -> None:
    editor.show_versions(True)
    window.resize(1100, 700)
    strip = editor.versions
    bar = strip.area.horizontalScrollBar()
    strip.parts.setMinimumWidth(4 * strip.width())
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(0)
    at = QPointF(20, 40)
    turn = QWheelEvent(
        at,
        strip.parts.mapToGlobal(at),
        QPoint(),
        QPoint(0, -240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(strip.parts, turn)
    assert bar.value() == 120


def test_the_action_puts_the_keyboard_into_the_lists_and_the_filter_hands_it_on(
    editor: BlockPanel, window: Window
) -> None:
    window.map.matrix.setFocus()
    window.actions_table["open_block"].trigger()
    assert editor.lists.left.hasFocus()
    editor.filter.setFocus()
    QTest.keyClicks(editor.filter, "memo")
    QTest.keyClick(editor.filter, Qt.Key.Key_Return)
    assert editor.lists.left.hasFocus()


def test_a_block_in_review_leads_to_its_lost_elements(editor: BlockPanel, window: Window) -> None:
    key = select(window, "fx.payments.orders", "5", "payment")
    assert editor.confirm.text() == "Review 2 lost elements"
    QTest.mouseClick(editor.confirm, LEFT)
    assert window.stack.currentWidget() is window.review
    assert window.review.item is not None
    assert window.review.item.key == key


def test_an_unconfirmed_block_is_confirmed_by_the_button_and_a_confirmed_one_has_none(
    editor: BlockPanel, window: Window
) -> None:
    assert editor.key is not None
    assert editor.confirm.isHidden()
    pair = Element(id_of(editor.lists.right, "channel"), id_of(editor.lists.left, "settled"))
    window.project.do(SetElements(editor.key, (pair,), status=Status.UNCONFIRMED))
    assert not editor.confirm.isHidden()
    QTest.mouseClick(editor.confirm, LEFT)
    block = window.project.value.matrix.block(*editor.key)
    assert block is not None
    assert block.status is Status.CONFIRMED
    assert editor.confirm.isHidden()


def test_a_block_is_confirmed_only_while_the_newest_state_is_shown(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    pair = Element(id_of(editor.lists.right, "channel"), id_of(editor.lists.left, "settled"))
    window.project.do(SetElements(editor.key, (pair,), status=Status.UNCONFIRMED))
    document = window.project.value

    def ends(key: BlockKey) -> tuple[int, int]:
        return document.extraction.schema_of(key[0]), document.cdm.schema_of(key[1])

    here = ends(editor.key)
    apart = (block for block in document.matrix.blocks() if not any(map(int.__eq__, ends(block.key), here)))
    other = next(block for block in apart if block.elements)
    window.project.do(SetElements(other.key, zeros=other.elements[:1]))
    assert editor.confirm.isEnabled()
    window.history.looking.look_at(window.project.value.state - 1)
    assert not editor.confirm.isHidden()
    assert not editor.confirm.isEnabled()
    window.history.looking.come_back()
    assert editor.confirm.isEnabled()


def test_a_retired_block_is_said_in_words(editor: BlockPanel, window: Window) -> None:
    assert editor.key is not None
    count = len(elements(window, editor.key))
    window.project.do(RetireBlock(editor.key))
    assert editor.told[1] == "retired"
    assert f"Its {count} elements went" in editor.note.text()


def test_a_schema_and_an_entity_mean_the_block_of_their_newest_versions(window: Window) -> None:
    window.show_page(0)
    document = window.project.value
    schema, entity = document.extraction.named("fx.payments.orders"), document.cdm.named("payment")
    assert schema is not None
    assert entity is not None
    window.selection.choose(Selected(NodeRef(schema.id), NodeRef(entity.id)))
    assert window.map.block.key == (schema.version_ids[-1], entity.version_ids[-1])


def test_an_edit_elsewhere_keeps_place_and_cursor(wide: BlockPanel) -> None:
    left = wide.lists.left
    left.verticalScrollBar().setValue(10 * ROW_PX)
    QTest.mouseClick(left.viewport(), LEFT, pos=QPointF(40, 3 * ROW_PX).toPoint())
    seen, current = left.verticalScrollBar().value(), left.current
    assert current is not None
    wide.lists.set_wanted.emit(Element(wide.lists.right.rows.rows[5].id, current.id))
    assert left.verticalScrollBar().value() == seen
    assert left.current is not None
    assert left.current.id == current.id


@pytest.fixture
def wide(make_window: Callable[[], Window], qtbot: QtBot, tmp_path: Path) -> BlockPanel:
    """Return the editor on a block of 100 attributes a side whose first half is mapped."""
    workbench = Workbench.create(tmp_path / "wide.metl")
    paths = [f"field_{number:03}" for number in range(100)]
    for side, name in ((Side.EXTRACTION, "s.wide"), (Side.CDM, "wide")):
        attributes = tuple(AttributeDeclaration(path, "string") for path in paths)
        workbench.do(AddVersion(side, VersionDeclaration(name, attributes)), EditOrigin.WINDOW)
    document = workbench.document
    version = next(iter(document.extraction.all_versions()))
    target = next(iter(document.cdm.all_versions()))
    pairs = zip(version.attributes, target.attributes, strict=True)
    ones = tuple(Element(q.id, p.id) for p, q in list(pairs)[30:70])
    workbench.do(SetElements((version.id, target.id), ones), EditOrigin.WINDOW)
    window = make_window()
    window.show_project(workbench)
    window.show_page(0)
    select(window, "s.wide", "1", "wide")
    qtbot.waitUntil(lambda: window.map.block.lists.left.viewport().height() > 60)
    return window.map.block
