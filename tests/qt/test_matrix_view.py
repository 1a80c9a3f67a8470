"""The matrix as people use it: clicks, keys, wheel, and what they do to the project."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.map.conflict import ElementConflict, toggle
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera, fitted, level_at
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from tests.qt.matrix_hand import double_click


def select(window: Window, key: BlockKey, element: Element) -> None:
    document = window.project.value
    source = place_of_version(document, Side.EXTRACTION, key[0], element.p)
    target = place_of_version(document, Side.CDM, key[1], element.q)
    window.selection.choose(Selected(source, target))


def at_cells(window: Window, key: BlockKey, element: Element) -> QPoint:
    """Zoom to cells at an element and return where it lies."""
    matrix = window.map.matrix
    matrix.look(Camera(scale_x=27.0, scale_y=25.0))
    select(window, key, element)
    matrix.show_selected(window.selection.current, bring_into_sight=True)
    return matrix.centre_of(element).toPoint()


def click(window: Window, place: QPoint, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.mouseClick(window.map.matrix.viewport(), Qt.MouseButton.LeftButton, keys, place)


def some_block(window: Window) -> Block:
    return next(b for b in window.project.value.matrix.blocks() if len(b.elements) >= 3)


def free_element(window: Window, block: Block) -> Element | None:
    document = window.project.value
    taken_p, taken_q = {e.p for e in block.elements}, {e.q for e in block.elements}
    sources = [a.id for a in document.extraction.version(block.version).attributes if a.id not in taken_p]
    targets = [a.id for a in document.cdm.version(block.entity_version).attributes if a.id not in taken_q]
    return Element(targets[0], sources[0]) if sources and targets else None


def elements(window: Window, key: BlockKey) -> tuple[Element, ...]:
    block = window.project.value.matrix.block(*key)
    return block.elements if block else ()


def test_a_click_on_an_empty_cell_sets_the_element_and_a_second_one_clears_it(window: Window) -> None:
    block = next(b for b in window.project.value.matrix.blocks() if free_element(window, b) is not None)
    element = free_element(window, block)
    assert element is not None
    place = at_cells(window, block.key, element)
    click(window, place)
    assert element in elements(window, block.key)
    click(window, place)
    assert element not in elements(window, block.key)


def test_alt_click_selects_a_cell_without_setting_it(window: Window) -> None:
    block = some_block(window)
    place = at_cells(window, block.key, block.elements[0])
    window.selection.choose(Selected())
    click(window, place, Qt.KeyboardModifier.AltModifier)
    assert window.selection.current.element == block.elements[0]
    assert elements(window, block.key) == block.elements


@pytest.mark.parametrize(("key", "answer"), [("R", "replace"), ("S", "swap"), ("Esc", "cancel")])
def test_setting_a_taken_cell_asks_beside_it_and_does_what_its_key_says(window: Window, key: str, answer: str) -> None:
    block = some_block(window)
    one, other = block.elements[0], block.elements[1]
    wanted = Element(one.q, other.p)
    click(window, at_cells(window, block.key, wanted))
    sheet = window.map.sheet
    assert sheet is not None
    button = QApplication.focusWidget()
    assert button is not None
    assert sheet.isAncestorOf(button)
    QTest.keyClick(button, {"R": Qt.Key.Key_R, "S": Qt.Key.Key_S, "Esc": Qt.Key.Key_Escape}[key])
    after = set(elements(window, block.key))
    rest = set(block.elements) - {one, other}
    expected = {
        "replace": rest | {wanted},
        "swap": rest | {wanted, Element(other.q, one.p)},
        "cancel": set(block.elements),
    }
    assert after == expected[answer]
    assert window.map.sheet is None
    assert QApplication.focusWidget() is window.map.matrix


def test_a_conflict_with_one_element_cannot_be_swapped(window: Window) -> None:
    block = next(b for b in window.project.value.matrix.blocks() if free_element(window, b) is not None)
    free = free_element(window, block)
    assert free is not None
    meant = toggle(window.project.value, block.key, Element(block.elements[0].q, free.p))
    assert isinstance(meant, ElementConflict)
    assert not meant.can_swap


def test_a_drag_of_six_pixels_pans_and_sets_nothing(window: Window) -> None:
    block = some_block(window)
    place = at_cells(window, block.key, block.elements[0])
    matrix, state = window.map.matrix, window.project.value.state
    matrix.look(Camera(20, 10, 27, 25).held(matrix.frame))
    left = matrix.camera.left
    QTest.mousePress(matrix.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    QTest.mouseMove(matrix.viewport(), place + QPoint(-54, 0))
    QTest.mouseRelease(
        matrix.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place + QPoint(-54, 0)
    )
    assert matrix.camera.left == pytest.approx(left + 2.0)
    assert window.project.value.state == state


def wheel(matrix: MatrixView, at: QPointF, steps: int, keys: Qt.KeyboardModifier) -> None:
    event = QWheelEvent(
        at,
        QPointF(matrix.mapToGlobal(at.toPoint())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(matrix.viewport(), event)


def test_the_wheel_zooms_both_axes_and_its_keys_choose_one(window: Window) -> None:
    matrix = window.map.matrix
    shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    before = matrix.camera
    wheel(matrix, QPointF(600, 300), 2, Qt.KeyboardModifier.NoModifier)
    both = matrix.camera
    assert both.scale_x > before.scale_x
    assert both.scale_y > before.scale_y
    wheel(matrix, QPointF(600, 300), 1, shift)
    columns = matrix.camera
    assert (columns.scale_x > both.scale_x, columns.scale_y) == (True, both.scale_y)
    wheel(matrix, QPointF(600, 300), 1, shift | control)
    assert (matrix.camera.scale_x, matrix.camera.scale_y > columns.scale_y) == (columns.scale_x, True)


def test_fit_shows_tiles_and_a_double_click_on_one_drills_in(window: Window) -> None:
    matrix = window.map.matrix
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_F)
    assert matrix.content is not None
    assert level_at(matrix.content.columns, matrix.camera.scale_x) is not Level.ATTRIBUTE
    scale = matrix.camera.scale_x
    state = window.project.value.state
    place = matrix.centre_of(some_block(window).elements[0]).toPoint()
    double_click(matrix, place)
    assert matrix.camera.scale_x > scale
    assert window.project.value.state == state


def test_who_looks_at_everything_still_does_when_the_view_grows_and_shrinks(window: Window, qtbot: QtBot) -> None:
    matrix = window.map.matrix
    matrix.fit()
    narrow = matrix.width()
    for is_folded in (True, False):
        window.map.folding.toggle(0)
        qtbot.waitUntil(lambda is_folded=is_folded: (matrix.width() > narrow) is is_folded)  # type: ignore[misc]
        assert matrix.camera == fitted(matrix.frame)
        assert not matrix.panes.map.isVisible()
    block = some_block(window)
    at_cells(window, block.key, block.elements[0])
    scale = matrix.camera.scale_x
    window.map.folding.toggle(0)
    qtbot.waitUntil(lambda: matrix.width() > narrow)
    assert matrix.camera.scale_x == scale


def test_a_click_on_a_tile_selects_it_and_never_edits(window: Window) -> None:
    matrix = window.map.matrix
    matrix.fit()
    state = window.project.value.state
    block = some_block(window)
    click(window, matrix.centre_of(block.elements[0]).toPoint())
    chosen = window.selection.current
    assert chosen.source is not None
    assert chosen.source.schema == window.project.value.extraction.version(block.version).schema_id
    assert window.project.value.state == state


def test_arrows_move_the_cursor_and_space_clears_its_element(window: Window) -> None:
    block = some_block(window)
    element = block.elements[0]
    at_cells(window, block.key, element)
    matrix = window.map.matrix
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    moved = window.selection.current.element
    assert moved is not None
    assert moved.p != element.p
    QTest.keyClick(matrix, Qt.Key.Key_Left)
    assert window.selection.current.element == element
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    assert element not in elements(window, block.key)


def test_pointing_at_a_cell_writes_both_full_paths_into_the_status_bar(window: Window, qtbot: QtBot) -> None:
    block = some_block(window)
    place = at_cells(window, block.key, block.elements[0])
    with qtbot.waitSignal(window.map.matrix.pointed):
        QTest.mouseMove(window.map.matrix.viewport(), place)
    document = window.project.value
    source = document.extraction.version(block.version).attribute(block.elements[0].p)
    target = document.cdm.version(block.entity_version).attribute(block.elements[0].q)
    assert source is not None
    assert target is not None
    assert f"<b>{source.path}</b>" in window.status.place.text()
    assert f"<b>{target.path}</b>" in window.status.place.text()


def test_a_frame_that_was_painted_before_paints_no_tile_again(window: Window) -> None:
    matrix = window.map.matrix
    matrix.fit()
    window.grab()
    painted = matrix.tiles.painted
    select(window, some_block(window).key, some_block(window).elements[0])
    window.grab()
    assert matrix.tiles.painted == painted


def test_selecting_a_cell_selects_its_ends_in_both_trees(window: Window) -> None:
    block = some_block(window)
    element = block.elements[0]
    select(window, block.key, element)
    source = window.map.sources.model.place(window.map.sources.view.currentIndex())
    target = window.map.targets.model.place(window.map.targets.view.currentIndex())
    assert source is not None
    assert target is not None
    assert (target.attribute, source.attribute) == element


def test_selecting_in_a_tree_selects_the_column_in_the_matrix(window: Window) -> None:
    tree = window.map.sources
    block = some_block(window)
    place = place_of_version(window.project.value, Side.EXTRACTION, block.version, block.elements[0].p)
    tree.view.setCurrentIndex(tree.model.index_of(place))
    assert window.map.matrix.selected.source == place
