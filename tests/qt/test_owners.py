"""What owners do in the window, by keys and mouse: the CDM editor, lineages, gaps, comments and masks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.entities import AddEntity
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import MappedRecord, SentMessage
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.messages.pairs import pair_of
from metl_gui.ui.owners.entity_dialog import EntityDialog
from metl_gui.ui.owners.entity_table import DOC, KEY, PATH, REQUIRED, TYPE, EntityTable
from metl_gui.ui.owners.lineage_dialog import LineageDialog
from metl_gui.ui.palette.dialog import Glossary
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines
from metl_gui.workbench.session import Workbench

ORDERS = "fx.payments.orders"
BOTH = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_TESTER = QAbstractItemModelTester.FailureReportingMode.Fatal


def open_dialog(window: Window) -> QDialog | None:
    """Return the dialog of an owner that is open in a window."""
    found = [*window.findChildren(EntityDialog), *window.findChildren(LineageDialog)]
    return next((dialog for dialog in found if dialog.isVisible()), None)


def place(window: Window, side: Side, name: str, label: str, path: str = "") -> NodeRef:
    tree = window.project.value.tree(side)
    schema = tree.named(name)
    assert schema is not None
    version = tree.labelled(schema.id, label)
    assert version is not None
    attribute = version.at_path(path) if path else None
    return NodeRef(schema.id, version.id, attribute.id if attribute is not None else None)


def wait_active(qtbot: QtBot, widget: QWidget) -> None:
    """Wait until a window has the keyboard; Qt's own wait is content with the window above a dialog."""
    qtbot.waitUntil(widget.isActiveWindow)


def choose(window: Window, side: Side, name: str, label: str, path: str = "") -> None:
    window.selection.choose(Selected().with_place(side, place(window, side, name, label, path)))


@pytest.fixture
def entity_dialog(window: Window, qtbot: QtBot) -> Iterator[EntityDialog]:
    """The CDM editor on payment."""
    wait_active(qtbot, window)
    choose(window, Side.CDM, "payment", "2.0.0")
    QTest.keyClick(window, Qt.Key.Key_E, BOTH)
    dialog = open_dialog(window)
    assert isinstance(dialog, EntityDialog)
    wait_active(qtbot, dialog)
    yield dialog
    if open_dialog(window) is dialog:
        dialog.done(0)


def lineage_dialog(qtbot: QtBot, window: Window, key: Qt.KeyboardModifier) -> LineageDialog:
    QTest.keyClick(window, Qt.Key.Key_L, key)
    dialog = open_dialog(window)
    assert isinstance(dialog, LineageDialog)
    wait_active(qtbot, dialog)
    dialog.preview.work_out()
    return dialog


def write(dialog: EntityDialog, row: int, column: int, text: str) -> None:
    """Write a cell as a person does: F2, type, Enter."""
    dialog.view.setCurrentIndex(dialog.table.index(row, column))
    dialog.view.setFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_F2)
    line = next(each for each in dialog.view.viewport().findChildren(QLineEdit) if each.isVisible())
    line.selectAll()
    QTest.keyClicks(line, text)
    end_cell(line)


def end_cell(line: QLineEdit) -> None:
    """Press Enter; Qt takes the cell a moment later."""
    QTest.keyClick(line, Qt.Key.Key_Return)
    QApplication.processEvents()


def newest_version(window: Window, name: str) -> Version:
    entity = window.project.value.cdm.named(name)
    assert entity is not None
    newest = window.project.value.cdm.newest(entity.id)
    assert newest is not None
    return newest


def newest_paths(window: Window, name: str) -> list[str]:
    return [a.path for a in newest_version(window, name).attributes]


def test_a_new_version_is_written_by_keys_and_is_one_undo_step(window: Window, entity_dialog: EntityDialog) -> None:
    state = window.project.value.state
    write(entity_dialog, 1, PATH, "payer")
    entity_dialog.preview.work_out()
    assert entity_dialog.preview.words.text() == "5 blocks change, and every element stays."
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert "payer" in newest_paths(window, "payment")
    assert window.project.value.state == state + 1
    assert open_dialog(window) is None
    window.project.undo()
    assert "payer_id" in newest_paths(window, "payment")


def test_the_editor_says_what_would_be_lost_before_it_is_done(
    window: Window, entity_dialog: EntityDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: "leave")
    before = window.project.value
    entity_dialog.view.setCurrentIndex(entity_dialog.table.index(0, PATH))
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier)
    entity_dialog.preview.work_out()
    note = "In the warehouse payment goes by the key: what is loaded already needs a rebuild."
    assert entity_dialog.preview.words.text() == f"{note} 5 blocks change: 5 elements part."
    assert len(entity_dialog.preview.model.rows) == 5
    QTest.keyClick(entity_dialog, Qt.Key.Key_Escape)
    assert window.project.value is before


def test_a_cell_that_is_still_open_is_taken_by_the_key_that_does_it(
    window: Window, entity_dialog: EntityDialog
) -> None:
    entity_dialog.view.setCurrentIndex(entity_dialog.table.index(1, PATH))
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_F2)
    editor = next(each for each in entity_dialog.view.viewport().findChildren(QLineEdit) if each.isVisible())
    editor.selectAll()
    QTest.keyClicks(editor, "payer")
    QTest.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert "payer" in newest_paths(window, "payment")


def test_what_cannot_be_a_version_is_said_and_the_button_stays_off(entity_dialog: EntityDialog) -> None:
    for column, text, words in (
        (PATH, "amount", "names amount twice"),
        (TYPE, "nonsense", "There is no type 'nonsense'"),
    ):
        entity_dialog.preview.work_out()
        write(entity_dialog, 1, column, text)
        entity_dialog.preview.work_out()
        assert words in entity_dialog.preview.words.text()
        assert not entity_dialog.do.isEnabled()
        write(entity_dialog, 1, column, "payer_id" if column == PATH else "string")
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert entity_dialog.isVisible()


def test_documentation_alone_makes_no_new_version(window: Window, entity_dialog: EntityDialog) -> None:
    write(entity_dialog, 0, DOC, "Number that never repeats")
    entity_dialog.preview.work_out()
    assert entity_dialog.do.text() == "Change the description"
    QTest.mouseClick(entity_dialog.do, Qt.MouseButton.LeftButton)
    entity = window.project.value.cdm.named("payment")
    assert entity is not None
    assert [v.label for v in window.project.value.cdm.versions(entity.id)][-1] == "2.0.0"
    newest = window.project.value.cdm.newest(entity.id)
    assert newest is not None
    assert newest.attributes[0].doc == "Number that never repeats"


def test_attributes_are_added_required_and_moved_by_keys(window: Window, entity_dialog: EntityDialog) -> None:
    last = len(entity_dialog.table.rows) - 1
    entity_dialog.view.setCurrentIndex(entity_dialog.table.index(last, PATH))
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Insert)
    editor = next(each for each in entity_dialog.view.viewport().findChildren(QLineEdit) if each.isVisible())
    QTest.keyClicks(editor, "fee.amount")
    end_cell(editor)
    entity_dialog.view.setCurrentIndex(entity_dialog.table.index(last + 1, REQUIRED))
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Space)
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    entity_dialog.preview.work_out()
    QTest.mouseClick(entity_dialog.do, Qt.MouseButton.LeftButton)
    assert newest_paths(window, "payment")[-2] == "fee.amount"
    entity = window.project.value.cdm.named("payment")
    assert entity is not None
    newest = window.project.value.cdm.newest(entity.id)
    assert newest is not None
    assert not newest.attributes[-2].optional


def test_a_key_is_ticked_and_changes_in_place(window: Window, entity_dialog: EntityDialog) -> None:
    row = next(at for at, each in enumerate(entity_dialog.table.rows) if each.path == "booked_at")
    assert entity_dialog.table.key == ("payment_id",)
    entity_dialog.view.setCurrentIndex(entity_dialog.table.index(row, KEY))
    QTest.keyClick(entity_dialog.view, Qt.Key.Key_Space)
    index = entity_dialog.table.index(row, KEY)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "in the key"
    entity_dialog.preview.work_out()
    assert entity_dialog.do.text() == "Change the key"
    QTest.mouseClick(entity_dialog.do, Qt.MouseButton.LeftButton)
    assert newest_version(window, "payment").key == ("payment_id", "booked_at")
    assert newest_version(window, "payment").label == "2.0.0"
    window.actions_table["undo"].trigger()
    assert newest_version(window, "payment").key == ("payment_id",)


def test_a_key_stays_with_its_attributes_when_they_are_renamed_moved_or_taken_out(
    window: Window, entity_dialog: EntityDialog
) -> None:
    table = entity_dialog.table
    row = next(at for at, each in enumerate(table.rows) if each.path == "booked_at")
    table.setData(table.index(row, KEY), Qt.CheckState.Checked, int(Qt.ItemDataRole.CheckStateRole))
    table.move(row, -row)
    table.setData(table.index(table.rows.index(next(a for a in table.rows if a.path == "booked_at")), PATH), "booked")
    assert table.key == ("payment_id", "booked")
    table.remove(next(at for at, each in enumerate(table.rows) if each.path == "payment_id"))
    entity_dialog.preview.work_out()
    QTest.mouseClick(entity_dialog.do, Qt.MouseButton.LeftButton)
    assert newest_version(window, "payment").key == ("booked",)


def test_a_new_entity_is_written_by_name_and_attributes(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window, Qt.Key.Key_N, BOTH)
    dialog = open_dialog(window)
    assert isinstance(dialog, EntityDialog)
    wait_active(qtbot, dialog)
    assert dialog.name.hasFocus()
    QTest.keyClicks(dialog.name, "fee")
    dialog.preview.work_out()
    assert "fee would have no attributes" in dialog.preview.words.text()
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    editor = next(each for each in dialog.view.viewport().findChildren(QLineEdit) if each.isVisible())
    QTest.keyClicks(editor, "id")
    end_cell(editor)
    dialog.preview.work_out()
    QTest.mouseClick(dialog.do, Qt.MouseButton.LeftButton)
    assert newest_paths(window, "fee") == ["id"]


def test_an_edit_elsewhere_is_judged_again_by_an_open_editor(window: Window, entity_dialog: EntityDialog) -> None:
    write(entity_dialog, 1, PATH, "payer")
    entity_dialog.preview.work_out()
    window.project.do(AddEntity("fee", (AttributeDeclaration("a", "string"),)))
    assert not entity_dialog.do.isEnabled()
    entity_dialog.preview.work_out()
    assert entity_dialog.do.isEnabled()


def test_changes_are_not_left_for_another_entity_unasked(
    entity_dialog: EntityDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["stay", "leave"]
    monkeypatch.setattr(dialogs, "ask", lambda *_: answers.pop(0))
    refund = entity_dialog.chooser.findText("refund")
    entity_dialog.chooser.setCurrentIndex(refund)
    assert len(answers) == 2
    write(entity_dialog, 1, PATH, "payee")
    other = entity_dialog.chooser.findText("payment")
    entity_dialog.chooser.setCurrentIndex(other)
    assert (entity_dialog.chooser.currentIndex(), entity_dialog.table.rows[1].path) == (refund, "payee")
    entity_dialog.chooser.setCurrentIndex(other)
    assert entity_dialog.table.rows[1].path == "payer_id"


def paid() -> MappedRecord:
    """Return a message with an amount, and what was made of it."""
    sent = (
        b'{"entity":"payment","version":"2.0.0","op":"c","source":{"schema":"%b","version":"4"},'
        b'"payload":{"amount":12.50,"status":"paid"}}'
    )
    return MappedRecord(
        "orders.jsonl@0",
        (SentMessage("payment", msgspec.Raw(sent % ORDERS.encode())),),
        raw=json.dumps({"topic": ORDERS, "key": "17", "value": '{"amount": 12.50, "state": "paid"}'}),
    )


def test_what_is_masked_now_stays_hidden_while_a_state_from_before_is_shown(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "4", "amount")
    panel = window.run_page.messages
    panel.records = [paid()]
    panel.refresh()
    assert "12.50" in panel.before.toPlainText()
    window.owners.mask()
    window.history.looking.look_at(window.project.value.state - 1)
    assert "paid" in panel.before.toPlainText()
    assert "12.50" not in panel.before.toPlainText() + panel.after.toPlainText()


def test_messages_are_shown_without_the_values_that_are_masked(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "4", "amount")
    record = paid()
    plain = pair_of(record, window.project.value)
    assert "12.50" in plain.before
    assert "12.50" in plain.after
    window.owners.mask()
    pair = pair_of(record, window.project.value)
    assert "12.50" not in pair.before + pair.after + pair.place
    assert "17" not in pair.place
    assert '"paid"' in pair.before
    assert '"paid"' in pair.after


def test_same_as_shows_what_comes_back_and_joins(window: Window, qtbot: QtBot) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    dialog = lineage_dialog(qtbot, window, Qt.KeyboardModifier.ControlModifier)
    choice = dialog.model.at(dialog.view.currentIndex())
    assert choice is not None
    assert choice.words.title == "customer_id"
    assert dialog.preview.words.text() == "1 block changes: 1 element is mapped."
    QTest.keyClick(dialog.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert open_dialog(window) is None
    key = place(window, Side.EXTRACTION, ORDERS, "5").version, place(window, Side.CDM, "payment", "2.0.0").version
    block = window.project.value.matrix.block(*key)  # type: ignore[arg-type]
    assert block is not None
    assert len(block.elements) == 7
    assert window.project.undo_title == f"Say that customer_ref is the same as customer_id in {ORDERS}"


def test_the_choices_of_same_as_are_filtered_by_letters(window: Window, qtbot: QtBot) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "customer_ref")
    dialog = lineage_dialog(qtbot, window, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(dialog.box, "curr")
    assert [words.title for words, _ in dialog.model.rows] == ["currency"]
    dialog.preview.work_out()
    assert "has both, so they stay two attributes" in dialog.preview.words.text()
    dialog.reject()


def test_not_the_same_parts_what_an_update_carried_and_is_not_proposed_again(window: Window, qtbot: QtBot) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    dialog = lineage_dialog(qtbot, window, BOTH)
    assert dialog.model.rows[0][0].title == "From version 5 on"
    assert "2 elements part" in dialog.preview.words.text()
    QTest.mouseClick(dialog.do, Qt.MouseButton.LeftButton)
    assert window.facts.waiting == 2
    workbench = window.project.workbench
    assert workbench is not None
    refused = {(lost, candidate) for _, lost, candidate in workbench.kept.refused_renames.all()}
    assert ("amount", "amount") in refused
    window.project.undo()
    version = window.project.value.extraction.version(place(window, Side.EXTRACTION, ORDERS, "5").version or 0)
    tree = window.project.value.extraction
    earlier = tree.previous(version)
    assert earlier is not None
    now, before = version.at_path("amount"), earlier.at_path("amount")
    assert now is not None
    assert before is not None
    assert now.lineage == before.lineage


def test_gaps_are_grouped_and_a_click_selects_what_they_are_about(window: Window) -> None:
    QTest.keyClick(window, Qt.Key.Key_G, BOTH)
    panel = window.owner_docks.gaps
    panel.look()
    assert not window.owner_docks.gaps_dock.isHidden()
    assert panel.count == 5
    assert [panel.kinds[kind].text() for kind in panel.kinds if panel.kinds[kind].isVisible()] == [
        "All gaps 5",
        "not mapped at all 2",
        "long unmapped 3",
        "open 30",
    ]
    QTest.mouseClick(panel.kinds["extraction.unmapped-for-versions"], Qt.MouseButton.LeftButton)
    assert [words.pill for words, _ in panel.model.rows] == ["long unmapped"] * 3
    at = panel.view.visualRect(panel.model.index(2, 0)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.selection.current == Selected(place(window, Side.EXTRACTION, ORDERS, "5", "settled"))
    QTest.keyClick(panel.view, Qt.Key.Key_Up)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    chosen = window.selection.current.source
    assert chosen is not None
    assert chosen != place(window, Side.EXTRACTION, ORDERS, "5", "settled")


def test_gaps_follow_edits_while_they_are_seen(window: Window, qtbot: QtBot) -> None:
    window.owners.show_gaps()
    panel = window.owner_docks.gaps
    panel.look()
    with qtbot.waitSignal(panel.told):
        choose(window, Side.CDM, "payment", "2.0.0")
        window.project.do(AddEntity("fee", (AttributeDeclaration("a", "string"),)))
    assert panel.count == 6
    assert panel.model.rows[0][0].title == "No schema feeds fee."


def test_comments_are_written_by_keys_and_show_at_what_they_are_about(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "4", "amount")
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    panel = window.owner_docks.comments
    assert panel.text.hasFocus()
    state = window.project.value.state
    QTest.keyClicks(panel.text, "Gross, in euro")
    QTest.keyClick(panel.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [card.comment.text for card in panel.cards] == ["Gross, in euro"]
    assert panel.cards[0].comment.who == "Ada"
    assert window.project.value.state == state
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    assert [card.comment.text for card in panel.cards] == ["Gross, in euro"]
    choose(window, Side.EXTRACTION, ORDERS, "5", "id")
    assert panel.cards == []
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    QTest.mouseClick(panel.cards[0].remove, Qt.MouseButton.LeftButton)
    assert panel.cards == []
    assert len(window.project.comments()) == 0


def test_the_matrix_marks_what_was_commented_on_in_every_version(window: Window) -> None:
    source = place(window, Side.EXTRACTION, ORDERS, "4", "amount")
    target = place(window, Side.CDM, "payment", "2.0.0", "amount")
    window.selection.choose(Selected(source, target))
    window.owners.comment()
    for about in (0, 1):
        window.owner_docks.comments.about.setCurrentIndex(about)
        QTest.keyClicks(window.owner_docks.comments.text, "why")
        QTest.mouseClick(window.owner_docks.comments.add, Qt.MouseButton.LeftButton)
    window.owner_docks.in_matrix.show_now()
    marked = window.map.matrix.sight.commented
    elements = {each.key[0] for each in marked if each.element is not None}
    tree = window.project.value.extraction
    assert elements == set(tree.schema(source.schema).version_ids)
    assert {each.key for each in marked if each.element is None} >= {(source.version, target.version)}
    before = window.map.matrix.grab().toImage()
    window.map.matrix.show_comments(())
    assert window.map.matrix.grab().toImage() != before


def test_rows_of_the_tree_show_comments_and_masks(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    view = window.map.sources.view
    plain = view.viewport().grab().toImage()
    window.owners.comment()
    QTest.keyClicks(window.owner_docks.comments.text, "why")
    QTest.mouseClick(window.owner_docks.comments.add, Qt.MouseButton.LeftButton)
    commented = view.viewport().grab().toImage()
    assert commented != plain
    window.owners.mask()
    assert view.viewport().grab().toImage() != commented


def test_a_cell_offers_its_element_block_and_nodes_to_comment_on(window: Window) -> None:
    window.owners.comment()
    panel = window.owner_docks.comments
    source = place(window, Side.EXTRACTION, ORDERS, "4", "amount")
    target = place(window, Side.CDM, "payment", "2.0.0", "amount")
    window.selection.choose(Selected(place(window, Side.EXTRACTION, ORDERS, "4", "id")))
    assert panel.about.currentText() == f"id of {ORDERS}"
    window.selection.choose(Selected(source, target))
    assert panel.about.currentIndex() == 0
    listed = [panel.about.itemText(at) for at in range(panel.about.count())]
    assert listed == [
        "amount → amount",
        f"{ORDERS} 4 → payment 2.0.0",
        f"amount of {ORDERS}",
        ORDERS,
        "amount of payment",
        "payment",
    ]
    window.selection.choose(Selected(replace(source, attribute=None), target))
    assert panel.about.currentText() == ORDERS


def test_nothing_can_be_written_where_nothing_is_selected(window: Window) -> None:
    window.owners.comment()
    panel = window.owner_docks.comments
    window.selection.choose(Selected())
    assert not panel.text.isEnabled()
    assert not panel.add.isEnabled()


def test_masking_is_an_undoable_toggle_with_a_mark(window: Window) -> None:
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    action = window.actions_table["mask"]
    assert action.isEnabled()
    assert not action.isChecked()
    QTest.keyClick(window, Qt.Key.Key_K, BOTH)
    assert window.owners.is_chosen_masked
    assert action.isChecked()
    assert window.project.undo_title == f"Mask amount of {ORDERS}"
    choose(window, Side.EXTRACTION, ORDERS, "1", "amount")
    assert window.owners.is_chosen_masked
    QTest.keyClick(window, Qt.Key.Key_K, BOTH)
    assert not window.owners.is_chosen_masked


def test_the_attribute_that_was_chosen_last_is_meant(window: Window) -> None:
    source = place(window, Side.EXTRACTION, ORDERS, "5", "amount")
    target = place(window, Side.CDM, "payment", "2.0.0", "amount")
    choose(window, Side.EXTRACTION, ORDERS, "5", "amount")
    window.selection.choose(Selected(source, target))
    assert window.owners.chosen == (Side.CDM, target)
    other = place(window, Side.EXTRACTION, ORDERS, "5", "id")
    window.selection.choose(Selected(other, target))
    assert window.owners.chosen == (Side.EXTRACTION, other)


def test_the_table_of_an_entity_is_a_model_that_qt_accepts(qtbot: QtBot) -> None:
    table = EntityTable()
    tester = QAbstractItemModelTester(table, _TESTER)
    table.show_attributes([AttributeDeclaration("a", "string"), AttributeDeclaration("b", "string", "date")])
    with qtbot.waitSignal(table.edited):
        assert table.add(0) == 1
    assert table.setData(table.index(1, PATH), " c ")
    assert table.setData(table.index(1, TYPE), "date-time")
    assert table.setData(table.index(1, REQUIRED), Qt.CheckState.Checked, int(Qt.ItemDataRole.CheckStateRole))
    assert not table.setData(QModelIndex(), "x")
    assert table.move(1, 1) == 2
    assert table.move(2, 1) == 2
    assert table.move(2, -1) == 1
    assert [(a.path, a.type, a.logical, a.optional) for a in table.declared()] == [
        ("a", "string", "", True),
        ("c", "string", "date-time", False),
        ("b", "string", "date", True),
    ]
    table.remove(0)
    table.remove(9)
    assert table.rowCount() == 2
    del tester


def test_a_list_of_lines_is_a_model_that_qt_accepts(qapp: QApplication) -> None:
    model: LineModel[int] = LineModel()
    tester = QAbstractItemModelTester(model, _TESTER)
    model.show_rows([(TwoLines("a", "b"), 1), (TwoLines("c", "", "pill"), 2)])
    assert model.at(model.index(1, 0)) == 2
    assert model.index(1, 0).data() == "c, pill"
    model.show_rows(())
    assert model.at(QModelIndex()) is None
    del tester, qapp


@pytest.mark.usefixtures("dressed")
def test_a_preview_reads_what_it_is_of_on_the_windows_thread(qtbot: QtBot) -> None:
    jobs, asked_on = Jobs(), []
    pane = PreviewPane(jobs)
    qtbot.addWidget(pane)

    def make() -> tuple[Document, Edit]:
        asked_on.append(threading.current_thread())
        return Document(), AddEntity("account", (AttributeDeclaration("id", "string"),))

    pane.ask(make)
    with qtbot.waitSignal(pane.judged):
        pane.work_out()
    assert asked_on == [threading.main_thread()]
    jobs.stop()


def test_a_map_without_entities_offers_to_make_one_by_hand(
    make_window: Callable[[], Window], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    asked: list[bool] = []
    monkeypatch.setattr(window.owners, "new_entity", lambda: asked.append(True))
    button = window.map.empty.by_hand
    assert button.key == "Ctrl+Shift+N"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked
    attributes = (AttributeDeclaration("id", "string"),)
    window.project.do(AddVersion(Side.CDM, VersionDeclaration("order", attributes, "1")))
    assert button.isHidden()


def test_an_empty_map_says_where_constants_defaults_and_expressions_are_made(
    make_window: Callable[[], Window], tmp_path: Path
) -> None:
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "new.metl"))
    assert "Values go over as they are" in window.map.empty.text.text()
    QTest.mouseClick(window.map.empty.elsewhere, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    told = [dialog for dialog in window.findChildren(Glossary) if dialog.isVisible()]
    assert told[0].text.toPlainText().startswith("expression")
