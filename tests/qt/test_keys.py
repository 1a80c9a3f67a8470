"""Keys: the sheet, the dialog that changes them, what is kept and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QDialog

from metl_gui.ui.actions.keymap import Keymap
from metl_gui.ui.actions.shortcut_sheet import KeysDialog, KeySheet
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def dialog_of(window: Window, kind: type[QDialog]) -> QDialog:
    found = [dialog for dialog in window.findChildren(kind) if dialog.isVisible()]
    assert len(found) == 1
    return found[0]


def test_f1_and_the_question_mark_show_the_sheet_and_typing_searches_it(window: Window) -> None:
    for key in (Qt.Key.Key_F1, Qt.Key.Key_Question):
        activate(window)
        window.map.matrix.setFocus()
        QTest.keyClick(window.map.matrix, key)
        sheet = dialog_of(window, KeySheet)
        assert isinstance(sheet, KeySheet)
        QTest.keyClicks(sheet.box, "test run")
        assert [line.id for line in sheet.model.rows] == ["run"]
        assert sheet.model.rows[0].keys == "F5"
        QTest.keyClick(sheet, Qt.Key.Key_Escape)
        QApplication.processEvents()


def test_a_question_mark_can_be_typed_into_a_filter_box(window: Window) -> None:
    activate(window)
    box = window.map.sources.box
    box.setFocus()
    QTest.keyClicks(box, "?")
    assert box.text() == "?"
    assert window.findChildren(KeySheet) == []


def test_new_keys_hold_at_once_and_after_the_next_opening(window: Window, make_window: Callable[[], Window]) -> None:
    activate(window)
    window.actions_table["change_keys"].trigger()
    dialog = dialog_of(window, KeysDialog)
    assert isinstance(dialog, KeysDialog)
    dialog.choose("review_page")
    dialog.edit.setFocus()
    QTest.keyClick(dialog.edit, Qt.Key.Key_R, CONTROL | SHIFT)
    QTest.mouseClick(dialog.give_button, Qt.MouseButton.LeftButton)
    assert dialog.line is not None
    assert (dialog.line.keys, dialog.line.is_changed) == ("Ctrl+Shift+R", True)
    dialog.reject()
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_2, CONTROL)
    assert window.stack.currentWidget() is window.map
    QTest.keyClick(window, Qt.Key.Key_R, CONTROL | SHIFT)
    assert window.stack.currentWidget() is window.review
    window.close()
    assert make_window().actions_table["review_page"].shortcut().toString() == "Ctrl+Shift+R"


def test_a_conflict_is_named_and_taking_the_keys_leaves_the_other_without(window: Window) -> None:
    window.actions_table["change_keys"].trigger()
    dialog = dialog_of(window, KeysDialog)
    assert isinstance(dialog, KeysDialog)
    dialog.choose("export")
    dialog.edit.setFocus()
    QTest.keyClick(dialog.edit, Qt.Key.Key_F5)
    assert "belongs to “Test run”" in dialog.asked.text()
    assert dialog.give_button.text() == "Take them"
    dialog.give_button.click()
    table = window.actions_table
    assert table["export"].shortcut() == QKeySequence("F5")
    assert table["run"].shortcut().isEmpty()
    dialog.reset_all_button.click()
    assert table["run"].shortcut() == QKeySequence("F5")
    assert table["export"].shortcut().isEmpty()


@pytest.mark.parametrize(
    ("id_", "keys", "words"),
    [
        ("export", "E", "is for writing"),
        ("export", "Esc", "moving about"),
        ("fit", "Space", "moving about"),
        ("fit", "G", ""),
        ("export", "Ctrl+E", ""),
        ("export", "F9", ""),
    ],
)
def test_keys_for_writing_and_moving_are_refused(window: Window, id_: str, keys: str, words: str) -> None:
    objection = window.actions_table.keymap.objection(id_, keys)
    assert words in objection
    assert bool(words) == bool(objection)
    window.actions_table.keymap.give(id_, keys)
    assert window.actions_table.keymap.is_changed(id_) == (not words)


def test_a_letter_of_the_matrix_can_be_another_one(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    matrix.setFocus()
    for _ in range(8):
        matrix.zoom(1.5)
    near = matrix.camera
    window.actions_table.keymap.give("fit", "G")
    QTest.keyClick(matrix, Qt.Key.Key_F)
    assert matrix.camera == near
    QTest.keyClick(matrix, Qt.Key.Key_G)
    assert matrix.camera.scale_x < near.scale_x
    box = window.map.sources.box
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_G)
    assert box.text() == "g"


def test_keys_given_back_one_after_the_other_never_belong_to_two(window: Window) -> None:
    keymap = window.actions_table.keymap
    keymap.give("stop", "F5")
    keymap.give("export", "Shift+F5")
    keymap.reset("run")
    keys = [sequence.toString() for id_ in ("run", "stop", "export") for sequence in keymap.sequences(id_)]
    assert len(set(keys)) == len(keys)
    assert keymap.keys("run") == "F5"


def test_keys_in_the_settings_that_mean_nothing_are_passed_over(window: Window, tmp_path: object) -> None:
    store = QSettings(f"{tmp_path}/keys.ini", QSettings.Format.IniFormat)
    store.setValue("keys", '{"run": "E", "gone": "F9", "stop": "F9", "fit": 7}')
    keymap = Keymap(window.actions_table.rows.values(), ViewSettings(store))
    assert [keymap.keys(id_) for id_ in ("run", "stop", "fit")] == ["F5", "F9", "F"]


def test_the_table_of_keys_keeps_qt_s_rules_while_it_is_filtered_and_changed(window: Window) -> None:
    dialog = KeysDialog(window.actions_table.keymap, window)
    QAbstractItemModelTester(dialog.model, QAbstractItemModelTester.FailureReportingMode.Fatal, dialog)
    dialog.box.setText("page")
    dialog.box.setText("no such action")
    assert dialog.line is None
    assert not dialog.give_button.isEnabled()
    dialog.box.clear()
    dialog.keymap.give("export", "F9")
    dialog.keymap.reset_all()
    assert len(dialog.model.rows) == len([row for row in dialog.keymap.rows.values() if not row.is_hint])
    dialog.deleteLater()
