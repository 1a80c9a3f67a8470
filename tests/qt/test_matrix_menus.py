"""The menus of the matrix: of what is selected, of ghosts, of the overview map, and beside the cards of a decision."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.ui.matrix.layout.camera import fitted
from metl_gui.ui.matrix.layout.ghost_lines import LostHere
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate
from tests.qt.matrix_hand import LEFT, NONE, at_cell, blocks, open_menu, shows_cells, take_entry
from tests.qt.test_ghost_gestures import a_ghost, at_ghost


def test_the_menu_of_a_ghost_selects_its_block_and_opens_its_card(window: Window) -> None:
    activate(window)
    _, lost = a_ghost(window)
    at = at_ghost(window, lost)
    matrix, document = window.map.matrix, window.project.value
    asked: list[LostHere] = []
    matrix.loss_picked.connect(asked.append)
    menu = open_menu(matrix.viewport(), at)
    assert window.selection.current.block == lost[0]
    assert window.selection.current.element is None, "there is no cell any more"
    assert "Set or clear the element" not in [action.text() for action in menu.actions()]
    take_entry(menu, "Open its card")
    assert asked == [lost]
    assert window.page == 1
    assert window.review.item is not None
    assert window.review.item.key == lost[0]
    assert window.project.value is document


@pytest.mark.parametrize("place", ["cell", "tile", "header", "narrow band"])
def test_the_menu_of_a_place_selects_it_and_holds_what_can_be_done_there(window: Window, place: str) -> None:
    activate(window)
    matrix, document = window.map.matrix, window.project.value
    block = blocks(window)[0]
    at = at_cell(window, block.key, block.elements[0])
    if place in ("tile", "narrow band"):
        matrix.fit()
        box = matrix.cell_box(block.key, block.elements[0])
        assert box is not None
        at = box.center()
    if place == "header":
        at = QPoint(at.x(), 6)
    if place == "narrow band":
        at = QPoint(at.x(), round(matrix.panes.corner.box().height()) - 6)
    window.selection.choose(Selected())
    menu = open_menu(matrix.viewport(), at)
    entries = [action.text() for action in menu.actions() if action.text()]
    menu.close()
    selected = window.selection.current
    assert window.project.value is document
    assert "Copy link" in entries
    if place in ("header", "narrow band"):
        assert selected.source is not None
        assert selected.target is None
        assert {"Fold the chosen columns", "Pin the chosen columns"} <= set(entries)
    else:
        assert selected.source is not None
        assert selected.target is not None
        assert "Fold the chosen columns" not in entries
        assert (selected.element is not None) == (place == "cell")


def test_the_menu_of_the_overview_map_fits_everything_and_leaves_the_selection(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    selected = window.selection.current
    menu = open_menu(matrix.viewport(), matrix.panes.map.box().center().toPoint())
    assert shows_cells(matrix)
    take_entry(menu, "Fit the whole matrix")
    assert matrix.camera == fitted(matrix.frame)
    assert window.selection.current == selected


def test_the_matrix_beside_the_cards_has_a_menu_that_comes_back_to_the_decision(window: Window) -> None:
    activate(window)
    item = max(window.project.review_items(), key=lambda each: len(each.losses))
    window.show_page(1)
    window.review.list.go_to(item.key)
    QTest.mouseClick(window.review.detail.matrix_button, LEFT, NONE)
    QApplication.processEvents()
    pane = window.second_matrix.pane
    assert pane is not None
    box = pane.matrix.cell_box(item.key, item.block.elements[0])
    assert box is not None
    at = box.center()
    take_entry(open_menu(pane.matrix.viewport(), at), "Fit the whole matrix")
    assert pane.matrix.camera == fitted(pane.matrix.frame)
    menu = open_menu(pane.matrix.viewport(), QPoint(at.x(), round(pane.matrix.panes.top.box().height()) + 40))
    take_entry(menu, "Look at the decision")
    assert shows_cells(pane.matrix)
    element = item.block.elements[0]
    box = pane.matrix.cell_box(item.key, element)
    assert box is not None
    menu = open_menu(pane.matrix.viewport(), box.center())
    assert window.selection.current.element == element
    assert {"Copy link", "Open the block editor"} <= {action.text() for action in menu.actions()}
    menu.close()
