"""Every key of the matrix, by real events."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.matrix.blocks import Element
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.shell.window import Window
from tests.qt.matrix_hand import (
    ALT,
    CONTROL,
    SHIFT,
    at_cell,
    blocks,
    drag,
    elements,
    emptied,
    ends,
    shows_cells,
)


@pytest.fixture
def matrix(window: Window) -> MatrixView:
    window.map.matrix.setFocus()
    return window.map.matrix


def test_arrows_move_by_cells_and_control_arrows_by_blocks(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    at_cell(window, block.key, Element(targets[0], sources[0]))
    QTest.keyClick(matrix, Qt.Key.Key_Down)
    assert window.selection.current.element == Element(targets[1], sources[0])
    QTest.keyClick(matrix, Qt.Key.Key_Right, CONTROL)
    chosen = window.selection.current.source
    assert chosen is not None
    assert chosen.version != block.version
    assert chosen.version is not None
    assert chosen.attribute == window.project.value.extraction.version(chosen.version).attributes[0].id


def test_arrows_move_by_tiles_where_tiles_are_drawn(window: Window, matrix: MatrixView) -> None:
    QTest.keyClick(matrix, Qt.Key.Key_F)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    first = window.selection.current.source
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    second = window.selection.current.source
    assert first is not None
    assert second is not None
    assert first != second
    assert second.attribute is None


def test_enter_drills_in_until_cells_and_backspace_goes_up_a_level(window: Window, matrix: MatrixView) -> None:
    QTest.keyClick(matrix, Qt.Key.Key_F)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    for _ in range(4):
        QTest.keyClick(matrix, Qt.Key.Key_Return)
    assert shows_cells(matrix)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    assert window.selection.current.element is not None
    QTest.keyClick(matrix, Qt.Key.Key_Backspace)
    assert not shows_cells(matrix)
    lifted = window.selection.current
    assert lifted.element is None
    assert lifted.source is not None


def test_shift_arrows_stretch_a_rectangle_and_map_pairs_what_it_implies(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    at_cell(window, key, Element(targets[0], sources[0]))
    for _ in range(2):
        QTest.keyClick(matrix, Qt.Key.Key_Right, SHIFT)
        QTest.keyClick(matrix, Qt.Key.Key_Down, SHIFT)
    cells = window.selection.current.cells
    assert cells is not None
    assert (cells.last_source.attribute, cells.last_target.attribute) == (sources[2], targets[2])
    window.map.mapper.map_by_position()
    assert elements(window, key) == {Element(q, p) for q, p in zip(targets[:3], sources[:3], strict=True)}


def test_space_sets_and_clears_and_a_held_space_that_panned_does_not(window: Window, matrix: MatrixView) -> None:
    key = emptied(window)
    sources, targets = ends(window, key)
    at_cell(window, key, Element(targets[0], sources[0]))
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    assert len(elements(window, key)) == 1
    QTest.keyClick(matrix, Qt.Key.Key_Space)
    assert not elements(window, key)
    QTest.keyPress(matrix, Qt.Key.Key_Space)
    drag(matrix, QPoint(700, 300), QPoint(640, 300))
    QTest.keyRelease(matrix, Qt.Key.Key_Space)
    assert not elements(window, key)


def test_tab_leaves_the_matrix(matrix: MatrixView) -> None:
    assert QApplication.focusWidget() is matrix
    QTest.keyClick(matrix, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not matrix


def test_each_cursor_move_announces_names_and_state(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    document = window.project.value
    said: list[str] = []
    matrix.announced.connect(said.append)
    at_cell(window, block.key, block.elements[0])
    QTest.keyClick(matrix, Qt.Key.Key_Left)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    source = document.extraction.version(block.version).attribute(block.elements[0].p)
    target = document.cdm.version(block.entity_version).attribute(block.elements[0].q)
    assert source is not None
    assert target is not None
    assert said[-1].startswith(f"{target.path} from {source.path}, mapped")


def test_keys_of_one_letter_do_nothing_in_a_text_field(window: Window, matrix: MatrixView) -> None:
    matrix.look(Camera(20, 3, 27, 25).held(matrix.frame))
    before = matrix.camera
    box = window.map.sources.box
    box.setFocus()
    QTest.keyClicks(box, "fzh")
    assert box.text() == "fzh"
    assert matrix.camera == before


def test_alt_left_and_right_walk_through_places_and_undo_stays_where_it_is(window: Window, matrix: MatrixView) -> None:
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    close, title = matrix.camera, window.project.undo_title
    QTest.keyClick(matrix, Qt.Key.Key_F)
    fitted = matrix.camera
    assert fitted != close
    QTest.keyClick(matrix, Qt.Key.Key_Left, ALT)
    assert matrix.camera == close
    assert window.selection.current.element == block.elements[0]
    QTest.keyClick(matrix, Qt.Key.Key_Right, ALT)
    assert matrix.camera == fitted
    assert window.project.undo_title == title
