"""Every line of the gesture table, by real events of mouse, trackpad and keyboard, and what Esc leaves of each."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QNativeGestureEvent,
    QPointingDevice,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.labels.headers import top_bands, top_px
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera, level_at
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected, place_of_version, to_mime
from metl_gui.ui.shell.window import Window
from tests.qt.matrix_hand import (
    ALT,
    CONTROL,
    LEFT,
    MIDDLE,
    NONE,
    SHIFT,
    at_cell,
    blocks,
    cell,
    double_click,
    drag,
    elements,
    emptied,
    ends,
    move,
    press,
    release,
    select,
)
from tests.qt.test_tree_gestures import asked


@pytest.fixture
def matrix(window: Window) -> MatrixView:
    window.map.matrix.setFocus()
    return window.map.matrix


# panning


@pytest.mark.parametrize(("button", "holds_space"), [(LEFT, False), (MIDDLE, False), (LEFT, True)])
def test_left_middle_and_space_drags_pan_and_edit_nothing(
    window: Window, matrix: MatrixView, button: Qt.MouseButton, holds_space: bool
) -> None:
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    matrix.look(Camera(20, 3, 27, 25).held(matrix.frame))
    left, state = matrix.camera.left, window.project.value.state
    if holds_space:
        QTest.keyPress(matrix, Qt.Key.Key_Space)
    drag(matrix, QPoint(700, 300), QPoint(646, 300), button)
    if holds_space:
        QTest.keyRelease(matrix, Qt.Key.Key_Space)
    assert matrix.camera.left == pytest.approx(left + 2.0)
    assert window.project.value.state == state


def test_the_middle_button_and_space_pan_before_six_pixels_and_the_left_button_does_not(matrix: MatrixView) -> None:
    matrix.look(Camera(20, 3, 27, 25).held(matrix.frame))
    before = matrix.camera
    press(matrix, QPoint(700, 300))
    move(matrix, QPoint(697, 300))
    assert matrix.camera == before
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    release(matrix, QPoint(697, 300))
    press(matrix, QPoint(700, 300), MIDDLE)
    move(matrix, QPoint(697, 300), MIDDLE)
    assert matrix.camera != before
    release(matrix, QPoint(697, 300), MIDDLE)


def test_escape_ends_a_pan_where_it_is_and_the_release_does_nothing(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    place = at_cell(window, block.key, block.elements[0])
    state, chosen = window.project.value.state, window.selection.current
    press(matrix, place)
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    release(matrix, place)
    assert (window.project.value.state, window.selection.current) == (state, chosen)


# runs


def test_control_drag_maps_one_cell_a_step_on_both_axes_as_one_undo_step(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    press(matrix, place, keys=CONTROL)
    move(matrix, place + QPoint(27 * 3, 25), keys=CONTROL)
    trial = matrix.sight.trial
    assert trial is not None
    assert len(trial.wanted) == min(4, len(targets))
    assert not elements(window, key)
    release(matrix, place + QPoint(27 * 3, 25), keys=CONTROL)
    expected = {Element(q, p) for q, p in zip(targets[:4], sources[:4], strict=False)}
    assert elements(window, key) == expected
    assert window.project.undo_title is not None
    assert window.project.undo_title.startswith(f"Map {len(expected)} attributes of ")
    window.project.undo()
    assert not elements(window, key)


def test_a_run_stays_in_its_block_however_far_the_mouse_goes(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    at = Element(targets[-1], sources[-2])
    drag(matrix, place := at_cell(window, key, at), place + QPoint(400, 300), keys=CONTROL)
    assert elements(window, key) == {at}


def test_a_run_leaves_out_what_is_taken_and_says_so_without_asking(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.mapper.set(cell(key, targets[1], sources[-1]))
    place = at_cell(window, key, Element(targets[0], sources[0]))
    press(matrix, place, keys=CONTROL)
    move(matrix, place + QPoint(27 * 2, 25 * 2), keys=CONTROL)
    trial = matrix.sight.trial
    assert trial is not None
    assert (len(trial.wanted), len(trial.refused), len(trial.takers)) == (2, 1, 1)
    release(matrix, place + QPoint(27 * 2, 25 * 2), keys=CONTROL)
    assert elements(window, key) == {
        Element(targets[1], sources[-1]),
        Element(targets[0], sources[0]),
        Element(targets[2], sources[2]),
    }
    assert window.map.sheet is None
    assert "1 left out" in window.notice.words.text()


def test_escape_abandons_a_run_and_nothing_is_set(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    press(matrix, place, keys=CONTROL)
    move(matrix, place + QPoint(60, 60), keys=CONTROL)
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert matrix.sight.trial is None
    release(matrix, place + QPoint(60, 60), keys=CONTROL)
    assert not elements(window, key)


# rectangles


def test_shift_drag_selects_a_rectangle_and_delete_clears_its_elements_only(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    place = at_cell(window, block.key, Element(targets[0], sources[0]))
    inside = {e for e in block.elements if e.p in sources[:3] and e.q in targets[:3]}
    drag(matrix, place, place + QPoint(27 * 2, 25 * 2), keys=SHIFT)
    cells = window.selection.current.cells
    assert cells is not None
    assert (cells.first_source.attribute, cells.last_source.attribute) == (sources[0], sources[2])
    assert window.selection.implies(Side.EXTRACTION, cells.last_source)
    assert not window.selection.implies(Side.EXTRACTION, NodeRef(cells.first_source.schema, block.version, sources[3]))
    QTest.keyClick(matrix, Qt.Key.Key_Delete)
    assert elements(window, block.key) == set(block.elements) - inside
    assert window.project.value.extraction.find_version(block.version) is not None


def test_escape_abandons_a_rectangle_and_a_second_one_drops_the_selection(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    place = at_cell(window, block.key, block.elements[0])
    chosen = window.selection.current
    press(matrix, place, keys=SHIFT)
    move(matrix, place + QPoint(60, 60), keys=SHIFT)
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    release(matrix, place + QPoint(60, 60), keys=SHIFT)
    assert window.selection.current == chosen
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert window.selection.current == Selected()


def test_a_rectangle_over_tiles_holds_whole_tiles(window: Window, matrix: MatrixView) -> None:
    QTest.keyClick(matrix, Qt.Key.Key_F)
    block = blocks(window)[0]
    place = matrix.centre_of(block.elements[0]).toPoint()
    drag(matrix, place, place + QPoint(8, 8), keys=SHIFT)
    cells = window.selection.current.cells
    assert cells is not None
    document = window.project.value
    for v in document.extraction.schema(document.extraction.version(block.version).schema_id).version_ids:
        for attribute in document.extraction.version(v).attributes:
            place_of = place_of_version(document, Side.EXTRACTION, v, attribute.id)
            assert window.selection.implies(Side.EXTRACTION, place_of)


# clicks


def test_a_click_on_a_header_selects_and_never_edits(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    place = at_cell(window, block.key, block.elements[0])
    state = window.project.value.state
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, QPoint(place.x(), 120))
    chosen = window.selection.current.source
    assert chosen is not None
    assert chosen.attribute == block.elements[0].p
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, QPoint(place.x(), 36))
    chosen = window.selection.current.source
    assert chosen is not None
    assert (chosen.version, chosen.attribute) == (block.version, None)
    assert window.project.value.state == state


def test_each_band_of_the_header_selects_its_own_level_where_versions_are_drawn(
    window: Window, matrix: MatrixView
) -> None:
    block = blocks(window)[0]
    matrix.look(Camera(scale_x=8.0, scale_y=8.0).held(matrix.frame))
    content = matrix.content
    assert content is not None
    assert matrix.hits is not None
    assert matrix.hits.level(Side.EXTRACTION) is Level.VERSION
    select(window, block.key, block.elements[0])
    at = matrix.centre_of(block.elements[0]).x()
    for level, top, height in top_bands(content.columns, Level.VERSION, top_px()):
        QTest.mouseClick(matrix.viewport(), LEFT, NONE, QPoint(round(at), round(top + height / 2)))
        chosen = window.selection.current.source
        assert chosen is not None
        assert (chosen.version is None) == (level is not Level.VERSION)


def test_a_click_on_the_frame_of_a_block_selects_its_versions(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    place = frame_of(window, block)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, place)
    assert window.selection.current.block == block.key
    assert window.selection.current.element is None


def frame_of(window: Window, block: Block) -> QPoint:
    """Return a point just left of a block's first column, between two of its rows' tops and bottoms."""
    sources, targets = ends(window, block.key)
    at_cell(window, block.key, Element(targets[0], sources[0]))
    box = window.map.matrix.cell_box(block.key, Element(targets[0], sources[0]))
    assert box is not None
    return QPoint(box.left() - 3, box.center().y())


def test_a_double_click_on_a_frame_or_header_opens_the_block_editor_and_edits_nothing(
    window: Window, matrix: MatrixView
) -> None:
    block = blocks(window)[0]
    window.map.block_dock.hide()
    state = window.project.value.state
    double_click(matrix, frame_of(window, block))
    assert window.map.block_dock.isVisible()
    assert window.selection.current.block == block.key
    window.map.block_dock.hide()
    window.selection.choose(Selected())
    place = matrix.centre_of(block.elements[0]).toPoint()
    double_click(matrix, QPoint(place.x(), 36))
    assert window.map.block_dock.isVisible()
    assert window.selection.current.block is not None
    assert window.project.value.state == state


def test_the_second_click_of_a_double_click_on_a_cell_does_not_undo_the_first(
    window: Window, matrix: MatrixView
) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    element = Element(targets[0], sources[0])
    place = at_cell(window, key, element)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, place)
    double_click(matrix, place)
    assert elements(window, key) == {element}


# zoom


def scroll(matrix: MatrixView, pixels: QPoint, angle: QPoint, keys: Qt.KeyboardModifier = NONE) -> None:
    at = QPointF(600, 300)
    event = QWheelEvent(
        at,
        QPointF(matrix.mapToGlobal(at.toPoint())),
        pixels,
        angle,
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(matrix.viewport(), event)


def test_a_trackpad_pans_by_its_pixels_and_zooms_with_control(matrix: MatrixView) -> None:
    matrix.look(Camera(20, 3, 20, 20).held(matrix.frame))
    before = matrix.camera
    scroll(matrix, QPoint(-40, 0), QPoint(-80, 0))
    assert matrix.camera.left == pytest.approx(before.left + 2.0)
    assert matrix.camera.scale_x == before.scale_x
    scroll(matrix, QPoint(0, 40), QPoint(0, 120), CONTROL)
    assert matrix.camera.scale_x > before.scale_x
    assert matrix.camera.scale_y > before.scale_y


def test_a_pinch_zooms_both_axes(matrix: MatrixView) -> None:
    matrix.look(Camera(20, 3, 15, 15).held(matrix.frame))
    before, at = matrix.camera, QPointF(600, 300)
    event = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture,
        QPointingDevice.primaryPointingDevice(),
        2,
        at,
        at,
        QPointF(matrix.mapToGlobal(at.toPoint())),
        0.2,
        QPointF(),
    )
    QApplication.sendEvent(matrix.viewport(), event)
    assert matrix.camera.scale_x == pytest.approx(before.scale_x * 1.2)
    assert matrix.camera.scale_y == pytest.approx(before.scale_y * 1.2)


# drops


def drop(window: Window, data: QMimeData, at: QPoint) -> bool:
    """Drag over the matrix as a tree does, and drop; whether the matrix took it."""
    matrix = window.map.matrix
    actions, spot = Qt.DropAction.CopyAction, QPointF(at)
    QApplication.sendEvent(matrix.viewport(), QDragEnterEvent(at, actions, data, LEFT, NONE))
    QApplication.sendEvent(matrix.viewport(), QDragMoveEvent(at, actions, data, LEFT, NONE))
    event = QDropEvent(spot, actions, data, LEFT, NONE)
    QApplication.sendEvent(matrix.viewport(), event)
    return event.isAccepted()


def dragged(window: Window, side: Side, version: int, *attributes: int) -> QMimeData:
    places = tuple(place_of_version(window.project.value, side, version, a) for a in attributes)
    return to_mime(Dragged(side, places))


def test_a_field_dropped_on_a_cell_a_row_or_a_column_is_mapped_there(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    assert drop(window, dragged(window, Side.EXTRACTION, key[0], sources[2]), place)
    assert elements(window, key) == {Element(targets[0], sources[2])}
    row = matrix.centre_of(Element(targets[1], sources[0])).toPoint()
    assert drop(window, dragged(window, Side.EXTRACTION, key[0], sources[1]), QPoint(60, row.y()))
    assert Element(targets[1], sources[1]) in elements(window, key)
    assert drop(window, dragged(window, Side.CDM, key[1], targets[2]), QPoint(place.x(), 120))
    assert Element(targets[2], sources[0]) in elements(window, key)


def test_what_a_dragged_field_would_take_is_shown_while_it_is_dragged(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.mapper.set(cell(key, targets[0], sources[0]))
    place = at_cell(window, key, Element(targets[0], sources[0]))
    data = dragged(window, Side.EXTRACTION, key[0], sources[1])
    QApplication.sendEvent(matrix.viewport(), QDragEnterEvent(place, Qt.DropAction.CopyAction, data, LEFT, NONE))
    QApplication.sendEvent(matrix.viewport(), QDragMoveEvent(place, Qt.DropAction.CopyAction, data, LEFT, NONE))
    trial = matrix.sight.trial
    assert trial is not None
    assert len(trial.taken) == len(trial.refused) == len(trial.takers) == 1
    assert elements(window, key) == {Element(targets[0], sources[0])}
    # Qt keeps the widget under a drag, and gives it what moves next, even when it is gone.
    QApplication.sendEvent(matrix.viewport(), QDragLeaveEvent())
    assert matrix.sight.trial is None


def test_a_drop_on_something_taken_asks_and_r_replaces(window: Window) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.mapper.set(cell(key, targets[0], sources[0]))
    place = at_cell(window, key, Element(targets[0], sources[0]))
    assert drop(window, dragged(window, Side.EXTRACTION, key[0], sources[1]), place)
    sheet = window.map.sheet
    button = QApplication.focusWidget()
    assert sheet is not None
    assert button is not None
    assert elements(window, key) == {Element(targets[0], sources[0])}
    QTest.keyClick(button, Qt.Key.Key_R)
    assert elements(window, key) == {Element(targets[0], sources[1])}


def test_several_fields_dropped_on_a_row_take_the_rows_from_there_on(window: Window) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    assert drop(window, dragged(window, Side.EXTRACTION, key[0], sources[1], sources[0]), place)
    assert elements(window, key) == {Element(targets[0], sources[1]), Element(targets[1], sources[0])}
    assert window.project.undo_title is not None
    assert window.project.undo_title.startswith("Map 2 attributes of ")


def test_a_field_dropped_on_an_entitys_header_is_created_there_and_mapped(window: Window) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    document = window.project.value
    known = {a.path for a in document.cdm.version(key[1]).attributes}
    fresh = next(a for a in document.extraction.version(key[0]).attributes if a.path not in known)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    assert drop(window, dragged(window, Side.EXTRACTION, key[0], fresh.id), QPoint(14, place.y()))
    QTest.mouseClick(asked(window).buttons["make"], LEFT)
    QApplication.processEvents()
    entity = window.project.value.cdm.version(key[1]).schema_id
    newest = window.project.value.cdm.newest(entity)
    assert newest is not None
    made = newest.at_path(fresh.path)
    assert made is not None
    assert Element(made.id, fresh.id) in elements(window, (key[0], newest.id))


def test_something_else_dragged_over_the_matrix_is_not_taken(window: Window) -> None:
    data = QMimeData()
    data.setText("some words")
    assert not drop(window, data, QPoint(700, 300))


def test_the_level_of_cells_is_never_left_by_editing_keys(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    at_cell(window, key, Element(targets[0], sources[0]))
    before = matrix.camera
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    assert matrix.camera == before
    assert matrix.content is not None
    assert level_at(matrix.content.columns, matrix.camera.scale_x) is Level.ATTRIBUTE


def test_a_field_dropped_on_a_tile_changes_nothing_and_says_how_to_go_on(window: Window) -> None:
    block = blocks(window)[0]
    window.map.matrix.fit()
    state = window.project.value.state
    at = window.map.matrix.centre_of(block.elements[0]).toPoint()
    assert drop(window, dragged(window, Side.EXTRACTION, block.version, block.elements[0].p), at)
    assert window.project.value.state == state
    assert "Zoom in" in window.notice.words.text()


def test_enter_without_a_cursor_puts_it_on_what_is_in_sight(window: Window, matrix: MatrixView) -> None:
    QTest.keyClick(matrix, Qt.Key.Key_F)
    before = matrix.camera
    QTest.keyClick(matrix, Qt.Key.Key_Return)
    assert window.selection.current.source is not None
    assert matrix.camera == before


def test_another_button_does_not_end_a_gesture(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    press(matrix, place, keys=CONTROL)
    move(matrix, place + QPoint(27, 25), keys=CONTROL)
    press(matrix, place, MIDDLE)
    release(matrix, place, MIDDLE)
    assert matrix.sight.trial is not None
    release(matrix, place + QPoint(27, 25), keys=CONTROL)
    assert len(elements(window, key)) == 2


def test_what_is_taken_under_the_pointer_is_shown_before_anything_is_pressed(
    window: Window, matrix: MatrixView
) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    window.map.mapper.set(cell(key, targets[0], sources[0]))
    place = at_cell(window, key, Element(targets[0], sources[1]))
    move(matrix, place, Qt.MouseButton.NoButton)
    trial = matrix.sight.trial
    assert trial is not None
    assert len(trial.takers) == 1
    move(matrix, matrix.centre_of(Element(targets[1], sources[1])).toPoint(), Qt.MouseButton.NoButton)
    assert matrix.sight.trial is None


def test_a_new_layout_ends_a_gesture_that_goes_on(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    place = at_cell(window, key, Element(targets[0], sources[0]))
    press(matrix, place, keys=CONTROL)
    move(matrix, place + QPoint(27, 25), keys=CONTROL)
    window.map.planes.show_relevant(is_relevant_only=True)
    assert matrix.sight.trial is None
    window.grab()
    release(matrix, place + QPoint(27, 25), keys=CONTROL)
    assert not elements(window, key)


def test_alt_left_comes_back_from_a_pan_by_the_mouse(matrix: MatrixView) -> None:
    matrix.look(Camera(20, 3, 27, 25).held(matrix.frame))
    before = matrix.camera
    drag(matrix, QPoint(700, 300), QPoint(600, 250))
    assert matrix.camera != before
    QTest.keyClick(matrix, Qt.Key.Key_Left, ALT)
    assert matrix.camera.left == pytest.approx(before.left)
