"""What is in sight of the matrix: what moves it and what does not, its map, its names, and what the status bar says."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.labels.headers import top_px, without_parent
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import TALLEST_CELL, WIDEST_CELL, Camera, fitted
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.mapping.search import Completions
from tests.qt.conftest import activate
from tests.qt.matrix_hand import at_cell, blocks, double_click, shows_cells

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


def turn_wheel(matrix: MatrixView, at: QPoint, turns: int) -> None:
    place = QPointF(at)
    wheel = QWheelEvent(
        place,
        QPointF(matrix.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        NONE,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(matrix.viewport(), wheel)


def test_a_press_on_a_row_of_a_tree_moves_the_matrix_only_once_it_is_let_go(window: Window) -> None:
    activate(window)
    window.show_page(0)
    matrix, view = window.map.matrix, window.map.sources.view
    block = blocks(window)[-1]
    matrix.look(Camera(0.0, 0.0, WIDEST_CELL, TALLEST_CELL).held(matrix.frame))
    place = place_of_version(window.project.value, Side.EXTRACTION, block.version, block.elements[0].p)
    assert place is not None
    index = window.map.sources.model.index_of(place)
    view.scrollTo(index)
    QApplication.processEvents()
    before = matrix.camera
    at = view.visualRect(index).center()
    QTest.mousePress(view.viewport(), LEFT, NONE, at)
    assert window.selection.current.source == place
    assert matrix.camera == before, "a drag may begin here, whose goal is in sight"
    QTest.mouseRelease(view.viewport(), LEFT, NONE, at)
    assert matrix.camera != before
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert window.selection.current.source != place


def test_going_to_a_pair_ends_where_its_cell_can_be_read(window: Window) -> None:
    activate(window)
    window.show_page(0)
    matrix = window.map.matrix
    matrix.fit()
    assert not shows_cells(matrix)
    window.actions_table["go_to"].trigger()
    line = window.map.going.go_to_sheet.line
    QTest.keyClicks(line, "fx.payments.orders.amount -> payment.amount")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert shows_cells(matrix)
    element = window.selection.current.element
    assert element is not None
    assert matrix.panes.plane.box().contains(matrix.centre_of(element))


def test_behind_the_arrow_what_the_field_is_mapped_to_is_proposed_first(window: Window) -> None:
    proposed = Completions(window.project.value).of("fx.payments.orders.amount -> ")
    ends = [each.removeprefix("fx.payments.orders.amount -> ") for each in proposed]
    assert sorted(ends[:2]) == ["ledger_entry.amount", "payment.amount"]
    assert "account" in ends[2:], "others can be gone to too"


def test_the_status_bar_follows_what_the_wheel_brings_under_a_resting_pointer(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    block = blocks(window)[0]
    at = at_cell(window, block.key, block.elements[0])
    QTest.mouseMove(matrix.viewport(), at)
    cell_words = window.status.place.words
    for _ in range(40):
        turn_wheel(matrix, at, -1)
        if not shows_cells(matrix):
            break
    assert not shows_cells(matrix)
    assert window.status.place.words != cell_words


def test_the_map_lies_in_the_corner_over_no_cell_and_a_double_click_on_it_shows_everything(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    panes = matrix.panes
    assert panes.map.isVisible()
    assert panes.corner.box().contains(panes.map.box())
    assert not panes.plane.box().intersects(panes.map.box())
    before = matrix.camera
    on_map = panes.map.box().center().toPoint()
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, on_map)
    assert matrix.camera != before
    assert shows_cells(matrix)
    double_click(matrix, on_map)
    assert matrix.camera == fitted(matrix.frame)


def test_names_leave_out_the_parent_that_the_one_before_them_has(window: Window) -> None:
    content = window.map.matrix.content
    assert content is not None
    rows = content.rows
    names = [rows.name(Level.ATTRIBUTE, at) for at in range(len(rows.spans(Level.ATTRIBUTE)))]
    at = next(at for at in range(1, len(names)) if names[at - 1 : at + 1] == ["name.family", "name.given"])
    assert without_parent(rows, at, at - 1) == ".given"
    assert without_parent(rows, at, None) == "name.given", "the first in sight is whole"
    assert without_parent(rows, at - 1, at - 2) == "name.family"
    first = next(i for i in range(1, len(names)) if rows.spans(Level.VERSION).item_of(i) == 1)
    assert without_parent(rows, first, first - 1) == names[first], "nor is anything left out across entities"


def test_the_header_of_columns_is_lower_in_low_views_and_higher_where_there_is_room(window: Window) -> None:
    heights = [top_px(float(height)) for height in range(140, 1400, 10)]
    assert heights == sorted(heights)
    assert heights[0] < top_px() < heights[-1]
    assert all(head < 0.65 * height for head, height in zip(heights, range(140, 1400, 10), strict=True))
    matrix = window.map.matrix
    assert matrix.panes.top.box().height() == top_px(float(matrix.height()))


def test_the_names_of_rows_take_less_of_a_narrow_view_and_a_click_on_one_selects_it(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    wide = matrix.panes.left.box().width()
    window.resize(640, 400)
    window.dressing.scale_to(150)
    QApplication.processEvents()
    assert matrix.panes.left.box().width() < 1.5 * wide
    row = matrix.centre_of(block.elements[0]).toPoint().y()
    for x, is_row in ((matrix.panes.left.box().right() - 8, True), (10.0, False)):
        QTest.mouseClick(matrix.viewport(), LEFT, NONE, QPoint(round(x), row))
        target = window.selection.current.target
        assert target is not None
        assert (target.attribute is not None) is is_row
    window.dressing.scale_to(100)


def test_cells_grow_with_the_size_of_everything_and_stay_where_they_are(window: Window) -> None:
    matrix = window.map.matrix
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    place = matrix.camera.left, matrix.camera.top
    window.dressing.scale_to(200)
    assert (matrix.camera.scale_x, matrix.camera.scale_y) == (2 * WIDEST_CELL, 2 * TALLEST_CELL)
    assert shows_cells(matrix)
    window.dressing.scale_to(100)
    assert (matrix.camera.scale_x, matrix.camera.scale_y) == (WIDEST_CELL, TALLEST_CELL)
    assert abs(matrix.camera.left - place[0]) < 30
    matrix.fit()
    window.dressing.scale_to(150)
    assert matrix.camera == fitted(matrix.frame), "who looks at everything goes on doing so"
    window.dressing.scale_to(100)
