"""States that are compared in the window: with one another, with now, with another file, and what differs in rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from metl_gui.core.differences.document_difference import compare
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dimension, Model
from metl_gui.store.creation import copy_file
from metl_gui.ui.history.difference import CAME, OTHER, WENT, DifferenceModel, groups_of, summary
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_project_settings

from .history_hand import CTRL, LEFT, clear_one, looks_back, now, press_row, show_history
from .matrix_hand import elements

_FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


def test_two_chosen_states_are_compared_and_a_row_leads_to_the_cell(window: Window, qtbot: QtBot) -> None:
    block, element = clear_one(window)
    newest = now(window)
    show_history(window)
    press_row(window, newest)
    press_row(window, newest - 1, CTRL)
    pane = window.history.panel.difference
    qtbot.waitUntil(lambda: pane.compared is not None and not pane.compared.asked.is_step)
    assert looks_back(window) is None
    assert pane.heading.text() == f"From state {newest - 1} to state {newest}"
    assert pane.words.text() == "1 element went"
    row = pane.model.index(0, 0, pane.model.index(0, 0))
    assert pane.model.row_of(row).element == element  # type: ignore[union-attr]
    QTest.mouseClick(pane.view.viewport(), LEFT, pos=pane.view.visualRect(row).center())
    assert (window.selection.current.block, window.selection.current.element) == (block.key, element)
    marks = window.map.matrix.sight.difference
    assert marks is not None
    assert [(mark.key, mark.element, mark.kind) for mark in marks] == [(block.key, element, "removed")]


def test_another_file_is_compared_with_all_that_lies_beside_its_states(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    other = tmp_path / "other.metl"
    copy_file(workbench.path, other)
    with Workbench.open(other, who="bob", take_over=True) as theirs:
        schema = theirs.document.extraction.schemas()[0]
        theirs.add_comment(node_subject(theirs.document, Side.EXTRACTION, schema.id), "gross\nor net?")
        set_project_settings(theirs, ["kept_runs=30"])
    block, element = clear_one(window)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(other), ""))
    window.actions_table["compare_with_file"].trigger()
    pane = window.history.panel.difference
    qtbot.waitUntil(lambda: pane.compared is not None)
    assert pane.heading.text() == f"From other.metl (state {now(window) - 1}) to now, state {now(window)}"
    assert pane.words.text() == "1 element went, 2 changes beside the states"
    groups = {group.name: [(row.sign, row.what) for row in group.rows] for group in pane.model.groups}
    assert groups["beside the states: comment"] == [("\N{MINUS SIGN}", "gross or net?")]
    assert groups["beside the states: project setting"] == [("\N{MINUS SIGN}", "30")]
    went = pane.model.index(0, 0, pane.model.index(0, 0))
    assert pane.model.row_of(went).key == block.key  # type: ignore[union-attr]
    assert pane.model.row_of(went).element is None  # type: ignore[union-attr]
    assert window.map.matrix.sight.difference is None
    assert element not in elements(window, block.key)
    pane.copy()
    assert "gross or net?" in QApplication.clipboard().text()


def test_marks_of_a_comparison_go_with_the_panel(window: Window, qtbot: QtBot) -> None:
    clear_one(window)
    window.history.looking.look_at(now(window) - 1)
    QTest.mouseClick(window.history.banner.compare, LEFT)
    qtbot.waitUntil(lambda: window.map.matrix.sight.difference is not None)
    assert window.history.panel.difference.compared is not None
    window.history.dock.close()
    assert window.map.matrix.sight.difference is None


def test_the_menu_of_a_state_compares_it_with_now(window: Window, qtbot: QtBot) -> None:
    clear_one(window)
    show_history(window)
    view = window.history.panel.view
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Down)
    chosen = now(window) - 3
    place = view.visualRect(view.currentIndex()).center()
    QApplication.sendEvent(
        view.viewport(),
        QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place)),
    )
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    entries = {action.text(): action for action in menu.actions() if action.isEnabled()}
    assert {"Compare this state with now", "Undo this state…", "Copy as text"} <= set(entries)
    entries["Compare this state with now"].trigger()
    menu.close()
    pane = window.history.panel.difference
    qtbot.waitUntil(lambda: pane.compared is not None and not pane.compared.asked.is_step)
    assert pane.heading.text() == f"From state {chosen} to now, state {now(window)}"
    assert looks_back(window) is None


def test_what_a_state_changed_is_told_in_words_that_can_be_copied(window: Window, qtbot: QtBot) -> None:
    show_history(window)
    rows = window.history.panel.model.rows
    added = next(row for row in rows if row.title.startswith("Add fx.payments.orders version 5"))
    press_row(window, added.state)
    pane = window.history.panel.difference
    qtbot.waitUntil(lambda: pane.heading.text() == f"What state {added.state} changed")
    QTest.mouseClick(pane.copying, LEFT)
    text = QApplication.clipboard().text()
    assert text.splitlines()[0] == f"What state {added.state} changed"
    assert "+ version 5 added (10 attributes)" in text
    assert "lost: customer_id → payer_id" in text


def test_the_model_of_a_difference_keeps_its_promises(window: Window) -> None:
    show_history(window)
    pane = window.history.panel.difference
    model = DifferenceModel()
    QAbstractItemModelTester(model, _FATAL)
    for before in (now(window) - 1, 1):
        window.history.panel.compare(before, None, "all")
        assert pane.compared is not None
        model.show_groups(pane.compared.groups)
        assert model.rowCount() == len(pane.compared.groups) > 0
    model.show_groups(())


def test_what_differs_of_warehouse_models_has_a_group_for_each_model() -> None:
    small = Document(models=(Model(name="fx", tables=(Dimension(name="payment", entity="payment"),)),))
    larger = Document(models=(Model(name="audit"), Model(name="fx", entities=("payment",))))
    found = compare(small, larger)
    audit, fx = groups_of(found, small, larger)
    assert (audit.name, [(row.sign, row.what) for row in audit.rows]) == (
        "warehouse audit",
        [(CAME, "warehouse model")],
    )
    assert [(row.sign, row.what, row.leads_somewhere) for row in fx.rows] == [
        (OTHER, "entities", False),
        (WENT, "dimension payment", False),
    ]
    assert summary(found) == "3 changes of warehouse models"


def test_nothing_differs_between_a_state_and_itself_and_that_is_said(window: Window) -> None:
    show_history(window)
    window.history.panel.compare(now(window), None, "same")
    assert window.history.panel.difference.words.text() == "Nothing differs."
