"""Marks of a difference between two states on every level, what the legend counts, and where its entries lead."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from metl_gui.core.changes.draft import perform
from metl_gui.core.differences.document_difference import compare
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import Arrangement, content_of
from metl_gui.ui.matrix.layout.sort_and_filter import arranged
from metl_gui.ui.matrix.painting.difference import ElementDifference, difference_words, marks_of, placed_marks
from metl_gui.ui.matrix.painting.paint_context import Sign
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from tests.helpers.world import World
from tests.qt.conftest import activate
from tests.qt.matrix_hand import LEFT
from tests.qt.random_documents import some_document


def changed(document: Document) -> tuple[Document, Element, Element]:
    """Clear one element and set another one; return the document with both."""
    block = next(b for b in document.matrix.blocks() if len(b.elements) > 1)
    gone = block.elements[0]
    q = next(
        a.id for a in document.cdm.version(block.entity_version).attributes if a.id not in {e.q for e in block.elements}
    )
    cleared = perform(document, SetElements(block.key, zeros=(gone,))).after
    came = Element(q, gone.p)
    return perform(cleared, SetElements(block.key, ones=(came,))).after, gone, came


def test_a_difference_of_two_states_becomes_marks_at_the_cells_that_differ() -> None:
    before = some_document()
    after, gone, came = changed(before)
    marks = marks_of(compare(before, after), before, after)
    assert {(mark.element, mark.kind) for mark in marks} == {(gone, "removed"), (came, "added")}
    content = content_of(after)
    placed = placed_marks(content, marks)
    cells = {
        (content.columns.attribute_id(column), content.rows.attribute_id(row), is_added)
        for column, row, is_added in zip(
            placed.column.tolist(), placed.row.tolist(), placed.is_added.tolist(), strict=True
        )
    }
    assert cells == {(gone.p, gone.q, False), (came.p, came.q, True)}
    assert difference_words(placed) == {Sign.CAME: "1 added", Sign.WENT: "1 removed"}


def test_elements_that_went_with_their_version_are_counted_and_not_drawn() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.schema("s", "2", "a", "b", "more")
    world.entity("e", "1", "c", "d")
    world.map("s@1:e@1", c="a", d="b")
    before = world.document
    world.do(RemoveVersion(Side.EXTRACTION, world.version(Side.EXTRACTION, "s", "1").id))
    marks = marks_of(compare(before, world.document), before, world.document)
    placed = placed_marks(content_of(world.document), marks)
    assert (len(placed), placed.gone, placed.hidden) == (0, 2, 0)
    assert difference_words(placed) == {Sign.WENT: "0 removed, 2 with their version"}


def test_an_element_that_a_new_entity_version_dropped_is_counted_and_the_others_are_not_marked() -> None:
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("e", "1", "c", "d")
    world.map("s@1:e@1", c="a", d="b")
    before = world.document
    world.entity("e", "2", "c")
    marks = marks_of(compare(before, world.document), before, world.document)
    placed = placed_marks(content_of(world.document), marks)
    assert [mark.kind for mark in marks] == ["removed"]
    assert (len(placed), placed.gone) == (0, 1)


def test_marks_on_what_is_hidden_are_counted_as_hidden() -> None:
    before = some_document()
    after, _, _ = changed(before)
    marks = marks_of(compare(before, after), before, after)
    content = arranged(after, Arrangement(is_relevant_only=True))
    placed = placed_marks(content, marks)
    assert placed.gone == 0
    assert len(placed) + placed.hidden == 2


@pytest.fixture
def compared(window: Window) -> tuple[Window, ElementDifference, ElementDifference]:
    """Return a window that compares its state with one in which one element stood elsewhere."""
    before = window.project.value
    after, gone, came = changed(before)
    key = next(mark.key for mark in marks_of(compare(before, after), before, after))
    edit = SetElements(key, zeros=(gone,))
    assert window.project.do(edit)
    assert window.project.do(SetElements(key, ones=(came,)))
    marks = marks_of(compare(before, window.project.value), before, window.project.value)
    window.map.matrix.show_difference(marks)
    return window, ElementDifference(key, gone, "removed"), ElementDifference(key, came, "added")


def centre_of(matrix: MatrixView, mark: ElementDifference) -> QPointF:
    content = matrix.content
    assert content is not None
    column, row = (
        content.columns.position_of(mark.key[0], mark.element.p),
        content.rows.position_of(mark.key[1], mark.element.q),
    )
    assert column is not None
    assert row is not None
    x, y = matrix.sight.snapped.on_screen(content.columns.begin(column) + 0.5, content.rows.begin(row) + 0.5)
    return matrix.panes.plane.pos() + QPointF(x, y)


def test_a_cell_that_came_is_green_and_one_that_went_has_a_dashed_outline(
    compared: tuple[Window, ElementDifference, ElementDifference],
) -> None:
    window, went, came = compared
    matrix, theme = window.map.matrix, themes.current()
    matrix.look(Camera(scale_x=27.0, scale_y=25.0))
    matrix.go_to_next(Sign.CAME)
    window.selection.choose(Selected())  # whose bands would lie over the marks
    picture = matrix.grab().toImage()
    green, hollow = centre_of(matrix, came).toPoint(), centre_of(matrix, went).toPoint()
    assert picture.pixelColor(green - QPoint(5, 5)) == theme.good
    assert picture.pixelColor(hollow) != theme.accent
    ring = {picture.pixelColor(hollow + QPoint(x, -6)).name() for x in range(-6, 7)}
    assert len(ring) > 1  # dashes and what lies between them


def test_every_level_and_the_raster_show_that_something_differs(
    compared: tuple[Window, ElementDifference, ElementDifference],
) -> None:
    window, _, _ = compared
    matrix = window.map.matrix
    for camera in (Camera(0, 0, 3, 3), Camera(0, 0, 2, 8), Camera(0, 0, 0.2, 0.3), Camera(0, 0, 27, 3)):
        matrix.look(camera)
        matrix.go_to_next(Sign.WENT)
        matrix.look(Camera(matrix.camera.left, matrix.camera.top, camera.scale_x, camera.scale_y))
        with_marks = matrix.grab().toImage()
        marks = matrix.sight.difference
        matrix.sight.difference = ()
        matrix.panes.repaint()
        assert matrix.grab().toImage() != with_marks
        matrix.show_difference(marks)


def test_a_click_on_an_entry_of_the_legend_goes_to_the_next_such_thing(
    compared: tuple[Window, ElementDifference, ElementDifference],
) -> None:
    window, went, came = compared
    matrix = window.map.matrix
    matrix.grab()
    for sign, mark in ((Sign.WENT, went), (Sign.CAME, came)):
        box = next(box for box, each in matrix.panes.legend_entries if each is sign)
        at = (matrix.panes.legend.pos() + box.center()).toPoint()
        QTest.mouseClick(matrix.viewport(), LEFT, pos=at)
        assert window.selection.current.element == mark.element
        assert matrix.panes.plane.box().contains(centre_of(matrix, mark))
        matrix.grab()


def test_waiting_blocks_are_visited_one_after_the_other_and_round_again(window: Window) -> None:
    matrix = window.map.matrix
    keys = window.project.value.matrix.waiting()
    visited = []
    for _ in range(len(keys) + 1):
        matrix.go_to_next(Sign.REVIEW)
        visited.append(window.selection.current.block)
    assert set(visited) == set(keys)
    assert visited[0] == visited[-1]
    assert len(set(visited[:-1])) == len(keys)


def test_ending_a_comparison_leaves_no_mark_and_no_entry(
    compared: tuple[Window, ElementDifference, ElementDifference],
) -> None:
    window, _, _ = compared
    matrix = window.map.matrix
    matrix.show_difference(None)
    matrix.grab()
    assert not {Sign.CAME, Sign.WENT} & {sign for _, sign in matrix.panes.legend_entries}


def test_keys_lead_to_the_next_difference_and_to_the_next_block_that_waits(
    compared: tuple[Window, ElementDifference, ElementDifference],
) -> None:
    window, went, came = compared
    matrix = window.map.matrix
    window.actions_table.refresh()
    activate(window)
    matrix.setFocus()
    found = []
    for _ in range(3):
        QTest.keyClick(matrix, Qt.Key.Key_D)
        found.append(window.selection.current.element)
    assert set(found) == {went.element, came.element}
    assert found[0] == found[2]
    QTest.keyClick(matrix, Qt.Key.Key_N)
    assert window.selection.current.block in window.project.value.matrix.waiting()
