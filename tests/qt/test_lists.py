"""The lists beside the matrix: mapping list, reverse and forward search, version progression."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import BlockChangeKind
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version, selected_block
from metl_gui.ui.search.answer_panel import AnswerPanel
from metl_gui.ui.shell.window import Window
from metl_gui.ui.table import panel as table_panel
from metl_gui.ui.table.rows import MappingColumn
from metl_gui.ui.table.view import COLUMNS
from metl_gui.workbench.mapping.search import forward, reverse, versions
from metl_gui.workbench.session import Workbench
from tests.qt.held_jobs import HeldJobs


def watched(model: QAbstractItemModel) -> QAbstractItemModelTester:
    return QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


def some_block(document: Document) -> Block:
    return next(block for block in document.matrix.blocks() if len(block.elements) > 3)


def selected_element(document: Document, block: Block, at: int = 0) -> Selected:
    element = block.elements[at]
    return Selected(
        place_of_version(document, Side.EXTRACTION, block.version, element.p),
        place_of_version(document, Side.CDM, block.entity_version, element.q),
    )


def shown(window: Window, column: MappingColumn) -> list[str]:
    model = window.lists.mapping.model
    return [model.texts(row)[COLUMNS.index(column)] for row in range(model.rowCount())]


@pytest.fixture
def listing(window: Window) -> Window:
    """Return a window with the mapping list in front."""
    window.actions_table["mapping_list"].trigger()
    assert window.lists.mapping.isVisible()
    return window


def test_the_lists_are_hidden_until_they_are_asked_for(window: Window) -> None:
    assert not window.lists.mapping.isVisible()
    assert window.lists.mapping.model.rowCount() == 0


def test_opening_a_list_selects_nothing_else(window: Window) -> None:
    document = window.project.value
    before = selected_element(document, some_block(document))
    window.selection.choose(before)
    for name in ("mapping_list", "what_feeds", "where_goes", "progression"):
        window.actions_table[name].trigger()
        assert window.selection.current == before
    assert window.lists.progression.isVisible()


def test_the_mapping_list_has_a_row_for_each_element(listing: Window) -> None:
    document = listing.project.value
    rows = list(
        zip(
            *(shown(listing, c) for c in (MappingColumn.SCHEMA, MappingColumn.VERSION, MappingColumn.ATTRIBUTE)),
            strict=True,
        )
    )
    assert len(rows) == document.matrix.ones
    block = some_block(document)
    version = document.extraction.version(block.version)
    schema = document.extraction.schema(version.schema_id)
    mapped = {element.p for element in block.elements}
    assert {(schema.name, version.label, a.path) for a in version.attributes if a.id in mapped} <= set(rows)


def test_rows_come_and_go_with_edits_and_their_undoing(listing: Window) -> None:
    model = listing.lists.mapping.model
    tester = watched(model)
    before = shown(listing, MappingColumn.ATTRIBUTE)
    block = some_block(listing.project.value)
    assert listing.project.do(SetElements(block.key, zeros=block.elements[:2]))
    assert model.rowCount() == len(before) - 2
    listing.project.undo()
    assert shown(listing, MappingColumn.ATTRIBUTE) == before
    listing.project.redo()
    assert model.rowCount() == len(before) - 2
    listing.lists.mapping.filter_now("amount")
    listing.lists.mapping.sort_by(MappingColumn.ATTRIBUTE, is_descending=True)
    listing.project.undo()
    assert 0 < model.rowCount() < len(before)
    listing.lists.mapping.filter_now("")
    assert model.rowCount() == len(before)
    del tester


def test_typing_into_the_box_leaves_what_passes(listing: Window) -> None:
    panel = listing.lists.mapping
    panel.box.setFocus()
    QTest.keyClicks(panel.box, "in:person -confirmed type:string")
    panel.filter_now(panel.box.text())
    assert set(shown(listing, MappingColumn.SCHEMA)) == {"fx.customers.person"}
    assert set(shown(listing, MappingColumn.TYPE)) >= {"string"}


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_round(listing: Window) -> None:
    header = listing.lists.mapping.view.horizontalHeader()
    at = COLUMNS.index(MappingColumn.CDM_ATTRIBUTE)
    for is_descending in (False, True):
        left = header.sectionViewportPosition(at) + 20
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left, 10))
        paths = shown(listing, MappingColumn.CDM_ATTRIBUTE)
        assert paths == sorted(paths, reverse=is_descending)


def test_delete_clears_the_selected_rows_as_one_undo_step(listing: Window) -> None:
    panel = listing.lists.mapping
    panel.filter_now("in:payments")
    before, whole = panel.model.rowCount(), listing.project.value.matrix.ones
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    for _ in range(4):
        QTest.keyClick(panel.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    assert panel.model.rowCount() == before - 5
    assert listing.project.value.matrix.ones == whole - 5
    assert listing.project.undo_title == "Clear 5 elements"
    listing.project.undo()
    assert listing.project.value.matrix.ones == whole


def test_the_clipboard_gets_the_selected_rows_as_they_are_shown(listing: Window) -> None:
    panel = listing.lists.mapping
    panel.show_column(MappingColumn.WHO, is_shown=False)
    panel.view.setFocus()
    panel.view.selectAll()
    QTest.keyClick(panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[:4] == ["Schema", "Version", "Attribute", "Type"]
    assert "Who" not in lines[0]
    assert len(lines) == listing.project.value.matrix.ones + 1
    assert [line.split("\t")[2] for line in lines[1:]] == shown(listing, MappingColumn.ATTRIBUTE)


def test_a_row_selects_its_element_and_an_element_its_row(listing: Window) -> None:
    panel, document = listing.lists.mapping, listing.project.value
    panel.view.setCurrentIndex(panel.model.index(7, 0))
    where = panel.model.where(7)
    assert where is not None
    assert listing.selection.current.block == where.block.key
    assert listing.selection.current.element == where.element
    block = some_block(document)
    listing.selection.choose(selected_element(document, block, 2))
    found = panel.model.where(panel.view.currentIndex().row())
    assert found is not None
    assert (found.block.key, found.element) == (block.key, block.elements[2])
    QTest.mouseClick(panel.pin, Qt.MouseButton.LeftButton)
    listing.selection.choose(selected_element(document, block, 0))
    pinned = panel.model.where(panel.view.currentIndex().row())
    assert pinned == found


def test_a_large_mapping_is_sorted_in_a_job(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    window.jobs.changed.connect(started.append)
    monkeypatch.setattr(table_panel, "AT_ONCE", 1)
    window.actions_table["mapping_list"].trigger()
    assert started
    assert window.lists.mapping.model.rowCount() == window.project.value.matrix.ones


def test_a_list_whose_sorting_was_stopped_does_not_say_that_it_goes_on(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, jobs = window.show_lists().mapping, HeldJobs()
    window.lists.show_mapping()
    monkeypatch.setattr(table_panel, "AT_ONCE", 1)
    monkeypatch.setattr(panel._sorting, "_jobs", jobs)
    panel.sort_by(MappingColumn.TYPE)
    assert panel.note.text() == "Sorting…"
    jobs.running[0].cancel()
    jobs.release()
    assert panel.note.text() == "Sorting was stopped: the rows are those of before."


def test_elements_of_many_blocks_are_cleared_in_a_job(listing: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = listing.lists.mapping
    started: list[object] = []
    listing.jobs.changed.connect(started.append)
    monkeypatch.setattr(table_panel, "MOST_BLOCKS_AT_ONCE", 2)
    whole = listing.project.value.matrix.ones
    panel.view.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    assert started
    assert listing.project.value.matrix.ones == panel.model.rowCount() == 0
    listing.project.undo()
    assert listing.project.value.matrix.ones == panel.model.rowCount() == whole


def test_the_columns_are_kept_for_the_next_window(listing: Window, make_window: Callable[[], Window]) -> None:
    panel = listing.lists.mapping
    who = next(action for action in panel.column_menu().actions() if action.text() == "Who")
    who.trigger()
    panel.view.setColumnWidth(0, 333)
    workbench = listing.project.workbench
    assert workbench is not None
    path = workbench.path
    listing.close()
    other = make_window()
    other.show_project(Workbench.open(path))
    other.actions_table["mapping_list"].trigger()
    view = other.lists.mapping.view
    assert view.isColumnHidden(COLUMNS.index(MappingColumn.WHO))
    assert view.columnWidth(0) == 333


def test_lists_are_empty_when_the_project_is_closed(listing: Window) -> None:
    lists = listing.lists
    document = listing.project.value
    listing.selection.choose(selected_element(document, some_block(document)))
    for show in (lists.show_reverse, lists.show_forward, lists.show_progression, lists.show_mapping):
        show()
    listing.actions_table["close"].trigger()
    for model in (lists.mapping.model, lists.reverse.model, lists.forward.model, lists.progression.model):
        assert model.rowCount() == 0


def answers(panel: AnswerPanel) -> set[tuple[str, str, str, str, str]]:
    found = set()
    for at in range(panel.model.rowCount()):
        group = panel.model.index(at, 0)
        for below in range(panel.model.rowCount(group)):
            row = panel.model.row_of(panel.model.index(below, 0, group))
            assert row is not None
            found.add((row.schema, row.version, row.source, row.target, row.status))
    return found


def test_reverse_search_gives_the_answers_of_the_command_line(window: Window) -> None:
    document = window.project.value
    entity = document.cdm.named("payment")
    assert entity is not None
    window.show_lists().show_reverse()
    tester = watched(window.lists.reverse.model)
    newest = document.cdm.version(entity.version_ids[-1])
    for place, words in (
        (NodeRef(entity.id), "payment"),
        (NodeRef(entity.id, newest.id, newest.attributes[0].id), f"payment.{newest.attributes[0].path}"),
    ):
        window.selection.choose(Selected(target=place))
        told = reverse(document, words).results
        expected = {(a.block.schema, a.block.version, a.element.from_path, a.element.to_path, a.status) for a in told}
        assert answers(window.lists.reverse) == expected
        assert expected
    del tester


def test_forward_search_gives_the_answers_of_the_command_line(window: Window) -> None:
    document = window.project.value
    schema = document.extraction.named("fx.payments.orders")
    assert schema is not None
    window.show_lists().show_forward()
    tester = watched(window.lists.forward.model)
    window.selection.choose(Selected(source=NodeRef(schema.id)))
    told = forward(document, schema.name).results
    expected = {(a.block.schema, a.block.version, a.element.from_path, a.element.to_path, a.status) for a in told}
    assert answers(window.lists.forward) == expected
    window.lists.forward.filter_now("is:review")
    assert answers(window.lists.forward) == {answer for answer in expected if answer[4] == "needs review"}
    del tester


def test_an_answer_selects_its_element_and_the_question_stays(window: Window) -> None:
    panel = window.lists.reverse
    entity = window.project.value.cdm.named("payment")
    assert entity is not None
    window.show_lists().show_reverse()
    window.selection.choose(Selected(target=NodeRef(entity.id)))
    before = answers(panel)
    index = panel.model.index(1, 0, panel.model.index(0, 0))
    rect = panel.view.visualRect(index)
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    row = panel.model.row_of(index)
    assert row is not None
    assert window.selection.current.element == row.element
    assert answers(panel) == before


def test_a_pinned_question_stays_until_it_is_unpinned(window: Window) -> None:
    panel = window.lists.reverse
    payment, customer = (window.project.value.cdm.named(name) for name in ("payment", "customer"))
    assert payment is not None
    assert customer is not None
    window.show_lists().show_reverse()
    window.selection.choose(Selected(target=NodeRef(payment.id)))
    before = answers(panel)
    QTest.mouseClick(panel.bar.pin, Qt.MouseButton.LeftButton)
    window.selection.choose(Selected(target=NodeRef(customer.id)))
    assert answers(panel) == before
    QTest.mouseClick(panel.bar.pin, Qt.MouseButton.LeftButton)
    assert answers(panel) != before


def test_answers_follow_an_edit(window: Window) -> None:
    panel, document = window.lists.reverse, window.project.value
    window.show_lists().show_reverse()
    block = some_block(document)
    entity = document.cdm.version(block.entity_version).schema_id
    window.selection.choose(Selected(target=NodeRef(entity)))
    before = len(answers(panel))
    window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    assert len(answers(panel)) == before - 1


def test_the_progression_says_what_the_command_line_says(window: Window) -> None:
    document = window.project.value
    schema = document.extraction.named("fx.payments.orders")
    assert schema is not None
    model = window.lists.progression.model
    tester = watched(model)
    window.show_lists().show_progression()
    window.selection.choose(Selected(source=NodeRef(schema.id)))
    expected = {
        (step.version, f"{step.entity} {step.entity_version}", step.elements, step.change)
        for step in versions(document, schema.name).versions
    }
    found = set()
    for row in range(model.rowCount()):
        for column in range(model.columnCount()):
            cell = model.cell(model.index(row, column))
            if cell is not None:
                version = str(model.headerData(row, Qt.Orientation.Vertical)).removeprefix("version ")
                entity = str(model.headerData(column, Qt.Orientation.Horizontal))
                found.add((version, entity, cell.elements, cell.change.value))
    assert found == expected
    assert BlockChangeKind.SMALLER.value in {change for *_, change in expected}
    del tester


def test_a_tile_of_the_progression_selects_its_block(window: Window) -> None:
    panel = window.lists.progression
    window.show_lists().show_progression()
    schema = window.project.value.extraction.named("fx.payments.orders")
    assert schema is not None
    window.selection.choose(Selected(source=NodeRef(schema.id)))
    index: QModelIndex = panel.model.index(1, 1)
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=panel.view.visualRect(index).center())
    assert window.selection.current.block == panel.model.key(index)


def test_pinned_lists_are_empty_once_their_project_is_closed(window: Window) -> None:
    window.selection.choose(selected_block(window.project.value, window.project.review_items()[0].key))
    lists = window.show_lists()
    for show, panel in (
        (lists.show_progression, lists.progression),
        (lists.show_forward, lists.forward),
        (lists.show_reverse, lists.reverse),
    ):
        workbench = window.project.workbench
        assert workbench is not None
        show()
        panel.bar.pin.setChecked(True)
        assert panel.model.rowCount()
        window.projects.close()
        assert not panel.model.rowCount()
        assert not panel.bar.is_pinned
        window.show_project(Workbench.open(workbench.path))
        window.selection.choose(selected_block(window.project.value, window.project.review_items()[0].key))
