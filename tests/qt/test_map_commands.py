"""Commands of the Map page by menu, key and popup: map and unmap, copy and paste, places, filters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import SortOrder
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.model.comments import add_comment
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.matrix_hand import at_cell, blocks, cell, elements, emptied, ends, select

CONTROL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier


def choose(window: Window, key: BlockKey, sources: list[int], targets: list[int]) -> None:
    """Choose fields in both trees, as a multiple selection does."""
    document = window.project.value
    left = tuple(place_of_version(document, Side.EXTRACTION, key[0], p) for p in sources)
    right = tuple(place_of_version(document, Side.CDM, key[1], q) for q in targets)
    window.selection.choose(Selected(left[0], right[0], left, right))


def versions(window: Window, key: BlockKey) -> Selected:
    document = window.project.value
    return Selected(place_of_version(document, Side.EXTRACTION, key[0]), place_of_version(document, Side.CDM, key[1]))


def said(window: Window) -> str:
    return window.notice.words.text()


# map and unmap


def test_control_m_maps_one_field_each_and_control_r_unmaps_them_from_a_tree(window: Window) -> None:
    activate(window)
    key = emptied(window)
    sources, targets = ends(window, key)
    select(window, key, Element(targets[0], sources[1]))
    window.map.sources.view.setFocus()
    QTest.keyClick(window.map.sources.view, Qt.Key.Key_M, CONTROL)
    assert elements(window, key) == {Element(targets[0], sources[1])}
    QTest.keyClick(window.map.sources.view, Qt.Key.Key_R, CONTROL)
    assert not elements(window, key)


def test_many_fields_are_mapped_by_name_as_one_step_and_the_other_way_is_offered(window: Window) -> None:
    key = emptied(window)
    document = window.project.value
    sources, targets = ends(window, key)
    choose(window, key, sources, targets)
    window.actions_table["map_chosen"].trigger()
    mapped = elements(window, key)
    columns = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    assert (  # the names that the sample has on both sides are among them
        {rows[e.q] for e in mapped} >= set(columns.values()) & set(rows.values())
    )
    assert f"{len(mapped):,} mapped by name" in said(window)
    assert window.project.undo_title is not None
    assert f"{len(mapped)} attributes of " in window.project.undo_title
    window.notice.action.click()
    pairs = set(zip(targets, sources, strict=False))
    assert {(e.q, e.p) for e in elements(window, key)} == pairs
    window.project.undo()
    assert not elements(window, key)


def test_whole_versions_stand_for_all_their_fields(window: Window) -> None:
    key = emptied(window)
    window.selection.choose(versions(window, key))
    window.actions_table["map_by_position"].trigger()
    sources, targets = ends(window, key)
    assert len(elements(window, key)) == min(len(sources), len(targets))
    window.actions_table["unmap_chosen"].trigger()
    assert not elements(window, key)


def test_mapping_with_one_side_chosen_only_is_not_offered(window: Window) -> None:
    block = blocks(window)[0]
    window.selection.choose(Selected(place_of_version(window.project.value, Side.EXTRACTION, block.version)))
    window.actions_table.refresh()
    assert not window.actions_table["map_chosen"].isEnabled()
    assert window.actions_table["unmap_chosen"].isEnabled()


# hidden things


def test_delete_leaves_what_a_filter_hides_and_says_how_much(window: Window, qtbot: QtBot) -> None:
    activate(window)
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    document = window.project.value
    source = document.extraction.version(block.version).attribute(block.elements[0].p)
    assert source is not None
    whole = window.map.planes.whole
    assert whole is not None
    matrix = window.map.matrix
    select(window, block.key, Element(targets[0], sources[0]))
    far = Selected(
        place_of_version(document, Side.EXTRACTION, block.version, sources[-1]),
        place_of_version(document, Side.CDM, block.entity_version, targets[-1]),
    )
    matrix.stretch_to(far)
    with qtbot.waitSignal(window.map.sources.narrowed):
        window.map.sources.funnel.click()
        window.map.sources.filter_now(f'"{source.path}"')
    assert window.map.banner.isVisible()
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Delete)
    left = elements(window, block.key)
    assert block.elements[0] not in left
    assert left
    assert f"{len(left):,} hidden left" in said(window)


def test_the_banner_says_what_is_hidden_and_h_shows_everything_and_hides_it_again(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    window.map.sources.funnel.click()
    window.map.sources.filter_now("account")
    count = len(window.project.value.extraction.schemas())
    assert f" of {count:,} schemas" in window.map.banner.words.text()
    assert matrix.content is not None
    shown = len(matrix.content.columns.spans(Level.ATTRIBUTE))
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_H)
    assert matrix.content is window.map.planes.whole
    assert len(matrix.content.columns.spans(Level.ATTRIBUTE)) > shown
    assert "Everything is shown" in window.map.banner.words.text()
    QTest.keyClick(matrix, Qt.Key.Key_H)
    assert len(matrix.content.columns.spans(Level.ATTRIBUTE)) == shown
    window.map.sources.funnel.click()
    assert not window.map.banner.isVisible()


def test_h_alone_hides_what_is_not_mapped_and_an_edit_brings_it_back(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    matrix.setFocus()
    key = emptied(window)
    sources, targets = ends(window, key)
    QTest.keyClick(matrix, Qt.Key.Key_H)
    assert matrix.content is not None
    assert matrix.content.columns.position_of(key[0], sources[0]) is None
    window.map.mapper.set(cell(key, targets[0], sources[0]))
    assert matrix.content.columns.position_of(key[0], sources[0]) is not None
    assert window.actions_table["relevance"].isChecked()


def test_coming_to_something_hidden_offers_to_show_it(window: Window) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.planes.show_relevant(is_relevant_only=True)
    select(window, key, Element(targets[0], sources[0]))
    assert "hidden" in said(window)
    window.notice.action.click()
    assert window.map.matrix.content is window.map.planes.whole


def test_rows_and_columns_can_be_sorted_by_name(window: Window) -> None:
    window.actions_table["order_name"].trigger()
    assert window.map.planes.arrangement.order is SortOrder.NAME
    assert window.actions_table["order_name"].isChecked()
    content = window.map.matrix.content
    assert content is not None
    names = [content.columns.name(Level.SCHEMA, at) for at in range(len(content.columns.schemas))]
    assert names == sorted(names)


# copy and paste


def test_a_block_is_copied_to_another_version_by_keys(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    key = emptied(window)
    document = window.project.value
    schema = document.extraction.version(key[0]).schema_id
    other = next(v for v in reversed(document.extraction.schema(schema).version_ids) if v != key[0])
    assert elements(window, (other, key[1]))
    matrix.setFocus()
    window.selection.choose(versions(window, (other, key[1])))
    QTest.keyClick(matrix, Qt.Key.Key_C, CONTROL)
    window.selection.choose(versions(window, key))
    QTest.keyClick(matrix, Qt.Key.Key_V, CONTROL)
    assert elements(window, key)
    assert window.project.undo_title is not None
    assert window.project.undo_title.startswith("Copy ")


def test_a_table_from_a_spreadsheet_is_pasted_into_the_selected_block(window: Window) -> None:
    key = emptied(window)
    document = window.project.value
    source, target = document.extraction.version(key[0]).attributes[0], document.cdm.version(key[1]).attributes[0]
    QGuiApplication.clipboard().setText(f"{source.path}\t{target.path}\n")
    window.selection.choose(versions(window, key))
    window.actions_table["paste_block"].trigger()
    assert elements(window, key) == {Element(target.id, source.id)}


def test_pasting_where_the_desktop_has_nothing_copied_is_told(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    QGuiApplication.clipboard().clear()
    monkeypatch.setattr(QClipboard, "mimeData", lambda *_: None)
    window.actions_table["paste_block"].trigger()
    assert "The clipboard holds neither a block nor a table." in said(window)


def test_a_copied_name_that_no_table_is_read_back_with_is_told(window: Window) -> None:
    for side, name in ((Side.EXTRACTION, "fx.odd"), (Side.CDM, "odd")):
        declared = VersionDeclaration(name, (AttributeDeclaration("a\0b", "string"),), "1")
        assert window.project.do(AddVersion(side, declared))
    document = window.project.value
    found = (document.tree(side).named(name) for side, name in ((Side.EXTRACTION, "fx.odd"), (Side.CDM, "odd")))
    source, target = (one.version_ids[0] for one in found if one is not None)
    p, q = document.extraction.version(source).attributes[0].id, document.cdm.version(target).attributes[0].id
    assert window.project.do(SetElements((source, target), (Element(q, p),)))
    window.selection.choose(versions(window, (source, target)))
    window.actions_table["copy_block"].trigger()
    assert "1 element. A name holds a NUL character: as a table it is not read back." in said(window)


def test_a_table_with_a_conflict_is_listed_and_nothing_is_written(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = emptied(window)
    document, shown = window.project.value, []
    target = document.cdm.version(key[1]).attributes[0]
    QGuiApplication.clipboard().setText(f"no_such_field\t{target.path}\n")
    monkeypatch.setattr(dialogs, "ask", lambda title, text, *_: shown.append((title, text)))
    window.selection.choose(versions(window, key))
    window.actions_table["paste_block"].trigger()
    assert not elements(window, key)
    assert "Nothing was pasted" in shown[0][0]
    assert "Line 1" in shown[0][1]


# places


def test_control_g_completes_names_and_goes_to_a_cell(window: Window) -> None:
    activate(window)
    block = blocks(window)[0]
    document = window.project.value
    source = document.extraction.version(block.version).attribute(block.elements[0].p)
    target = document.cdm.version(block.entity_version).attribute(block.elements[0].q)
    assert source is not None
    assert target is not None
    schema = document.extraction.schema(document.extraction.version(block.version).schema_id)
    entity = document.cdm.schema(document.cdm.version(block.entity_version).schema_id)
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_G, CONTROL)
    sheet = window.map.going.go_to_sheet
    assert QApplication.focusWidget() is sheet.line
    QTest.keyClicks(sheet.line, schema.name[:-1])
    assert sheet.rows.count() > 0
    QTest.keyClick(sheet.line, Qt.Key.Key_Tab)
    assert sheet.line.text() == schema.name
    label = document.extraction.version(block.version).label
    QTest.keyClicks(sheet.line, f"@{label}.{source.path} -> {entity.name}.{target.path}")
    QTest.keyClick(sheet.line, Qt.Key.Key_Return)
    assert not sheet.isVisible()
    assert window.selection.current.element == block.elements[0]
    assert window.selection.current.block == block.key
    assert QApplication.focusWidget() is window.map.matrix


def test_an_unknown_name_is_said_under_the_line_and_escape_closes_it(window: Window) -> None:
    activate(window)
    window.map.matrix.setFocus()
    window.actions_table["go_to"].trigger()
    sheet, before = window.map.going.go_to_sheet, window.selection.current
    QTest.keyClicks(sheet.line, "nothing_like_it")
    QTest.keyClick(sheet.line, Qt.Key.Key_Return)
    assert "nothing_like_it" in sheet.note.text()
    QTest.keyClick(sheet.line, Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert window.selection.current == before
    assert QApplication.focusWidget() is window.map.matrix


def test_the_name_that_a_bookmark_begins_with_says_what_is_selected_or_that_it_is_a_place(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    activate(window)
    sheet, matrix = window.map.going.bookmark_sheet, window.map.matrix
    window.selection.choose(Selected())
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_D, CONTROL)
    assert sheet.line.text() == "Place"
    QTest.keyClick(sheet.line, Qt.Key.Key_Escape)
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_D, CONTROL)
    assert " → " in sheet.line.text()


def test_a_bookmark_leads_back_to_zoom_and_selection_and_outlives_the_window(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    activate(window)
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    close = window.map.matrix.camera
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_D, CONTROL)
    sheet = window.map.going.bookmark_sheet
    QTest.keyClicks(sheet.line, "the first one")
    QTest.keyClick(sheet.line, Qt.Key.Key_Return)
    window.close()
    again = make_window()
    again.show_project(Workbench.open(sample.project))
    again.map.matrix.fit()
    again.selection.choose(Selected())
    menu = QMenu()
    again.map.going.fill_bookmarks(menu)
    menu.actions()[0].trigger()
    assert again.map.matrix.camera.scale_x == close.scale_x
    assert again.map.matrix.camera.left == pytest.approx(close.left)
    assert again.selection.current.element == block.elements[0]
    again.map.going.bookmarks.remove("the first one")
    assert again.map.going.bookmarks.names() == []


def test_a_place_holds_when_versions_are_added_before_it(window: Window) -> None:
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    matrix = window.map.matrix
    place = matrix.place()
    assert place is not None
    before = matrix.centre_of(block.elements[0])
    window.map.planes.order(SortOrder.NAME)
    window.map.planes.order(SortOrder.TREE)
    matrix.go_to_place(place)
    assert matrix.centre_of(block.elements[0]) == before


@pytest.mark.qt_log_ignore("does not support raise")  # no screen to raise a tooltip on
def test_pointing_at_a_tile_counts_what_lies_under_it(window: Window) -> None:
    matrix = window.map.matrix
    matrix.fit()
    block = blocks(window)[0]
    at = matrix.centre_of(block.elements[0]).toPoint()
    event = QHelpEvent(QHelpEvent.Type.ToolTip, at, matrix.viewport().mapToGlobal(at))
    QApplication.sendEvent(matrix.viewport(), event)
    text = QToolTip.text()
    assert " mapped" in text
    assert " unmapped" in text
    QToolTip.hideText()


@pytest.mark.qt_log_ignore("does not support raise")  # no screen to raise a tooltip on
def test_pointing_at_a_cell_says_types_versions_and_state(window: Window) -> None:
    block = blocks(window)[0]
    at = at_cell(window, block.key, block.elements[0])
    matrix = window.map.matrix
    QApplication.sendEvent(
        matrix.viewport(), QHelpEvent(QHelpEvent.Type.ToolTip, at, matrix.viewport().mapToGlobal(QPoint(at)))
    )
    source = window.project.value.extraction.version(block.version).attribute(block.elements[0].p)
    assert source is not None
    text = QToolTip.text()
    assert f"<b>{source.path}</b>" in text
    assert source.type_text in text
    assert "in version" in text
    assert "mapped" in text
    QToolTip.hideText()


def test_implied_nodes_are_no_chosen_nodes(window: Window) -> None:
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    select(window, block.key, Element(targets[0], sources[0]))
    document = window.project.value
    window.map.matrix.stretch_to(
        Selected(
            place_of_version(document, Side.EXTRACTION, block.version, sources[2]),
            place_of_version(document, Side.CDM, block.entity_version, targets[2]),
        )
    )
    middle = place_of_version(document, Side.EXTRACTION, block.version, sources[1])
    assert window.selection.implies(Side.EXTRACTION, middle)
    assert window.selection.implies(Side.EXTRACTION, NodeRef(middle.schema))
    assert middle not in window.selection.current.sources


def test_the_status_bar_counts_the_tile_under_the_pointer(window: Window) -> None:
    matrix = window.map.matrix
    matrix.fit()
    at = matrix.centre_of(blocks(window)[0].elements[0]).toPoint()
    QTest.mouseMove(matrix.viewport(), at)
    assert " mapped" in window.status.place.text()
    assert " unmapped" in window.status.place.text()


def test_a_project_opens_again_at_its_place_in_its_order(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    window.actions_table["order_name"].trigger()
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    camera = window.map.matrix.camera
    window.close()
    again = make_window()
    again.show_project(Workbench.open(sample.project))
    assert again.map.planes.arrangement.order is SortOrder.NAME
    assert again.map.matrix.camera.scale_x == camera.scale_x
    assert again.map.matrix.camera.left == pytest.approx(camera.left)
    assert again.selection.current.element == block.elements[0]


def test_a_click_in_a_project_that_is_only_looked_at_says_so_and_changes_nothing(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    block = blocks(window)[0]
    QTest.mouseClick(
        window.map.matrix.viewport(), Qt.MouseButton.LeftButton, NONE, at_cell(window, block.key, block.elements[0])
    )
    assert elements(window, block.key) == set(block.elements)
    assert "read only" in said(window)


def test_sorting_in_another_way_drops_a_rectangle_whose_cells_would_be_others(window: Window) -> None:
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    select(window, block.key, Element(targets[0], sources[0]))
    document = window.project.value
    window.map.matrix.stretch_to(
        Selected(
            place_of_version(document, Side.EXTRACTION, block.version, sources[2]),
            place_of_version(document, Side.CDM, block.entity_version, targets[2]),
        )
    )
    assert window.selection.current.cells is not None
    window.actions_table["order_name"].trigger()
    after = window.selection.current
    assert after.cells is None
    assert after.element == Element(targets[0], sources[0])


def test_delete_does_nothing_to_the_mapping_while_another_page_is_in_front(window: Window) -> None:
    block = blocks(window)[0]
    select(window, block.key, block.elements[0])
    window.show_page(1)
    window.actions_table.refresh()
    assert not window.actions_table["clear_element"].isEnabled()


@pytest.mark.qt_log_ignore("does not support raise")
def test_pointing_at_a_cell_shows_what_people_said_of_its_ends(window: Window) -> None:
    block = blocks(window)[0]
    document = window.project.value
    schema = document.extraction.schema(document.extraction.version(block.version).schema_id)
    source = document.extraction.version(block.version).attribute(block.elements[0].p)
    assert source is not None
    assert window.project.workbench is not None
    add_comment(window.project.workbench, f"{schema.name}.{source.path}", "asked of the owner")
    window.project.read_comments_again()
    at = at_cell(window, block.key, block.elements[0])
    matrix = window.map.matrix
    QApplication.sendEvent(
        matrix.viewport(), QHelpEvent(QHelpEvent.Type.ToolTip, at, matrix.viewport().mapToGlobal(at))
    )
    assert "asked of the owner" in QToolTip.text()
    QToolTip.hideText()


def test_a_conflict_out_of_sight_is_brought_into_sight_and_asked_beside(window: Window) -> None:
    activate(window)
    block = blocks(window)[0]
    matrix = window.map.matrix
    one, other = block.elements[0], block.elements[1]
    matrix.look(Camera(matrix.frame.columns, matrix.frame.rows, 27.0, 25.0).held(matrix.frame))
    assert matrix.cell_box(block.key, Element(one.q, other.p)) is None
    window.map.sources.view.setFocus()
    window.map.mapper.set(cell(block.key, one.q, other.p))
    assert window.map.sheet is not None
    assert matrix.cell_box(block.key, Element(one.q, other.p)) is not None
    button = QApplication.focusWidget()
    assert button is not None
    QTest.keyClick(button, Qt.Key.Key_Escape)
    assert elements(window, block.key) == set(block.elements)
    assert QApplication.focusWidget() is window.map.sources.view


def test_keys_of_the_matrix_rest_while_a_sheet_asks(window: Window) -> None:
    activate(window)
    block = blocks(window)[0]
    one, other = block.elements[0], block.elements[1]
    matrix = window.map.matrix
    at_cell(window, block.key, Element(one.q, other.p))
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    button, before = QApplication.focusWidget(), matrix.camera
    assert window.map.sheet is not None
    assert button is not None
    for key in (Qt.Key.Key_F, Qt.Key.Key_Z, Qt.Key.Key_H, Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
        QTest.keyClick(button, key)
    assert matrix.camera == before
    assert window.map.sheet is not None
    assert elements(window, block.key) == set(block.elements)


@pytest.mark.parametrize("what", ["conflict", "go to", "bookmark", "banner"])
def test_what_lies_over_the_matrix_stays_inside_it_and_cuts_no_words(window: Window, what: str, tmp_path: Path) -> None:
    activate(window)
    window.resize(1100, 700)
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    if what == "conflict":
        window.map.mapper.set(cell(block.key, block.elements[0].q, block.elements[1].p))
        shown: QWidget | None = window.map.sheet
    elif what == "banner":
        window.map.planes.show_relevant(is_relevant_only=True)
        shown = window.map.banner
    else:
        window.actions_table["go_to" if what == "go to" else "add_bookmark"].trigger()
        going = window.map.going
        shown = going.go_to_sheet if what == "go to" else going.bookmark_sheet
    assert shown is not None
    over = shown.parentWidget()
    assert over is not None
    assert over.rect().contains(shown.geometry())
    for button in shown.findChildren(QPushButton):
        assert not button.isVisible() or button.width() >= button.minimumSizeHint().width()
    for label in shown.findChildren(QLabel):
        if label.isVisible() and label.wordWrap():
            assert label.height() >= label.heightForWidth(label.width())
    assert window.grab().save(str(tmp_path / f"{what}.png"))


def test_an_edit_while_everything_is_shown_hides_nothing_again_and_lays_nothing_out(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.sources.funnel.click()
    window.map.sources.filter_now("account")
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_H)
    assert window.map.planes.shows_everything
    assert matrix.content is not None
    columns = matrix.content.columns
    window.map.mapper.set(cell(key, targets[0], sources[0]))
    assert window.map.planes.shows_everything
    assert matrix.content.columns is columns
