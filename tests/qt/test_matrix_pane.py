"""The second view of the matrix: it looks at one decision, over the plane of the Map page, and edits only that."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.review.items import ReviewItem
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.review.matrix_pane import MatrixPane
from metl_gui.ui.shell.window import Window
from tests.qt.conftest import activate
from tests.qt.matrix_hand import LEFT, at_cell, elements, select


@pytest.fixture
def item(window: Window) -> ReviewItem:
    return max(window.project.review_items(), key=lambda each: len(each.losses))


@pytest.fixture
def pane(window: Window, item: ReviewItem) -> MatrixPane:
    """Return the pane of the Review page at the item with most to say."""
    window.show_page(1)
    window.review.list.go_to(item.key)
    QTest.mouseClick(window.review.detail.matrix_button, LEFT)
    QApplication.processEvents()
    found = window.second_matrix.pane
    assert found is not None
    assert found.isVisible()
    return found


def place(pane: MatrixPane, key: BlockKey, element: Element) -> QPoint:
    box = pane.matrix.cell_box(key, element)
    assert box is not None
    return box.center()


def test_it_shows_the_plane_of_the_map_page_and_looks_at_the_block_and_the_one_before(
    window: Window, pane: MatrixPane, item: ReviewItem
) -> None:
    assert pane.matrix.content is window.map.planes.whole
    assert pane.matrix.hits is not None
    assert pane.matrix.hits.shows_cells
    assert item.block.came_from is not None
    for key in (item.key, item.block.came_from):
        block = window.project.value.matrix.block(*key)
        assert block is not None
        assert all(pane.matrix.cell_box(key, element) is not None for element in block.elements)


def test_the_block_is_bright_and_what_lies_around_it_is_dim(pane: MatrixPane, item: ReviewItem, window: Window) -> None:
    came_from = item.block.came_from
    assert came_from is not None
    old = window.project.value.matrix.block(*came_from)
    assert old is not None
    picture = pane.matrix.grab().toImage()
    bright = picture.pixelColor(place(pane, item.key, item.block.elements[1]))
    dim = picture.pixelColor(place(pane, came_from, old.elements[1]))
    assert bright.lightness() < dim.lightness()  # in the light theme


def test_a_click_maps_a_free_attribute_there_and_settles_the_card(
    window: Window, pane: MatrixPane, item: ReviewItem
) -> None:
    loss = item.losses[0]
    free = next(
        a.id
        for a in window.project.value.extraction.version(item.key[0]).attributes
        if a.id not in {e.p for e in item.block.elements}
    )
    QTest.mouseClick(pane.matrix.viewport(), LEFT, pos=place(pane, item.key, Element(loss.q, free)))
    assert Element(loss.q, free) in elements(window, item.key)
    left = {lost.to_path for each in window.project.review_items() for lost in each.losses}
    assert loss.to_path not in left
    assert pane.matrix.content is window.map.planes.whole
    assert pane.matrix.content is not None
    assert pane.matrix.content.document is window.project.value


def test_the_block_before_can_be_selected_and_not_edited(window: Window, pane: MatrixPane, item: ReviewItem) -> None:
    came_from = item.block.came_from
    assert came_from is not None
    before = elements(window, came_from)
    element = min(before)
    QTest.mouseClick(pane.matrix.viewport(), LEFT, pos=place(pane, came_from, element))
    assert elements(window, came_from) == before
    assert (window.selection.current.block, window.selection.current.element) == (came_from, element)
    QTest.keyClick(pane.matrix, Qt.Key.Key_Space)
    assert elements(window, came_from) == before


def test_a_click_on_a_ghost_gives_the_keyboard_to_its_card_and_the_selection_is_followed(
    window: Window, pane: MatrixPane, item: ReviewItem
) -> None:
    content = pane.matrix.content
    assert content is not None
    cell = content.lost_cells(item.key)[0]
    x, y = pane.matrix.sight.snapped.on_screen(cell.column[0] + GHOST / 2, cell.row[0] + 0.5)
    at = (pane.matrix.panes.plane.pos() + QPointF(x, y)).toPoint()
    QTest.mouseClick(pane.matrix.viewport(), LEFT, pos=at)
    card = window.review.detail.card_in_hand
    assert card is not None
    assert card.hasFocus()
    assert card.facts.loss == cell.loss
    select(window, item.key, item.block.elements[0])
    assert pane.matrix.selected == window.selection.current


def test_a_ghost_on_the_map_page_brings_the_review_page_with_its_card(window: Window, item: ReviewItem) -> None:
    matrix = window.map.matrix
    content = matrix.content
    assert content is not None
    cell = content.lost_cells(item.key)[-1]
    at_cell(window, item.key, item.block.elements[0])
    x, y = matrix.sight.snapped.on_screen(cell.column[0] + GHOST / 2, cell.row[0] + 0.5)
    QTest.mouseClick(matrix.viewport(), LEFT, pos=(matrix.panes.plane.pos() + QPointF(x, y)).toPoint())
    assert window.stack.currentWidget() is window.review
    assert window.review.item is not None
    assert window.review.item.key == item.key
    card = window.review.detail.card_in_hand
    assert card is not None
    assert card.hasFocus()
    assert card.facts.loss == cell.loss


def test_the_same_decision_shown_again_moves_nothing_and_another_one_does(
    window: Window, pane: MatrixPane, item: ReviewItem
) -> None:
    pane.matrix.fit()
    camera = pane.matrix.camera
    window.project.do(SetElements(item.key, zeros=item.block.elements[:1]))
    again = next(each for each in window.project.review_items() if each.key == item.key)
    pane.show_item(window.project.value, again)
    assert pane.matrix.camera == camera
    other = next(each for each in window.project.review_items() if each.key != item.key)
    pane.show_item(window.project.value, other)
    assert pane.matrix.camera != camera


def test_v_switches_the_scope_that_stands_beside_the_cursor_there_too(
    window: Window, pane: MatrixPane, item: ReviewItem
) -> None:
    activate(window)
    key, element = item.key, item.block.elements[0]
    select(window, key, element)
    pane.matrix.setFocus()
    beside = [window.map.edits.words_at(window.selection.current)]
    QTest.keyClick(pane.matrix, Qt.Key.Key_V)
    beside.append(pane.matrix.sight.beside(window.selection.current))
    assert beside == ["all 5 versions", "this version, none is later"]
    assert window.notice.words.text() == "Edits hold for this and later versions from now on."
