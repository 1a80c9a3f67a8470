"""Headers that fold and pin: what is hidden has a mark and comes back with H, and none of it is an edit."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.labels.band_controls import BandControl
from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import axis_of
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.matrix_hand import LEFT, NONE, SHIFT, at_cell, blocks, double_click, open_menu, take_entry


def control(matrix: MatrixView, side: Side, pins: bool, level: Level = Level.VERSION) -> tuple[QPoint, BandControl]:
    """Return where a triangle or pin of a header is, the first one that a pointer meets."""
    matrix.viewport().grab()
    box = (matrix.panes.top if side is Side.EXTRACTION else matrix.panes.left).box().toRect()
    for y in range(box.top(), box.bottom(), 3):
        for x in range(box.left(), box.right(), 3):
            found = matrix.panes.control_at(QPoint(x, y).toPointF())
            if found is not None and found[1].pins is pins and (found[1].node.version is None) is (level > 1):
                return found[1].box.center().toPoint() + (box.topLeft()), found[1]
    raise AssertionError("no such control is painted")


def axis(window: Window, side: Side) -> Axis:
    content = window.map.matrix.content
    assert content is not None
    return axis_of(content, side)


def is_shown(window: Window, side: Side, node: NodeRef) -> bool:
    found = axis(window, side)
    if node.version is None:
        return found.schema_item(node.schema) is not None
    return found.version_item(node.version) is not None


def look_at_cells(window: Window) -> None:
    activate(window)
    window.show_page(0)
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    window.map.matrix.setFocus()


def test_a_click_on_a_triangle_folds_its_version_and_h_brings_it_back(window: Window) -> None:
    look_at_cells(window)
    matrix, document = window.map.matrix, window.project.value
    for side in Side:
        at, found = control(matrix, side, pins=False)
        selected = window.selection.current
        QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
        assert not is_shown(window, side, found.node)
        assert axis(window, side).is_partial, "a mark stands where something is hidden"
        assert window.selection.current == selected
        assert window.map.banner.isVisible()
        assert "all but 1 folded" in window.map.banner.words.text()
        QTest.keyClick(matrix, Qt.Key.Key_H)
        assert is_shown(window, side, found.node)
        QTest.keyClick(matrix, Qt.Key.Key_H)
        assert not is_shown(window, side, found.node)
        window.actions_table["unfold_all"].trigger()
        assert is_shown(window, side, found.node)
        assert not window.map.banner.isVisible()
    assert window.project.value is document, "folding is no edit"
    assert not window.actions_table["undo"].isEnabled()


def test_a_click_on_a_band_beside_its_triangle_selects_it(window: Window) -> None:
    look_at_cells(window)
    matrix = window.map.matrix
    at, found = control(matrix, Side.EXTRACTION, pins=False)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at + QPoint(round(found.box.width()) + 4, 0))
    assert window.selection.current.source == found.node
    assert is_shown(window, Side.EXTRACTION, found.node)


def test_the_marks_of_menus_follow_triangles_and_pins(window: Window) -> None:
    look_at_cells(window)
    matrix, rows = window.map.matrix, window.actions_table
    at, found = control(matrix, Side.EXTRACTION, pins=True)
    window.selection.choose(window.selection.current.with_place(Side.EXTRACTION, found.node))
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    assert rows["pin_column"].isChecked()
    at, again = control(matrix, Side.EXTRACTION, pins=False)
    assert again.node == found.node
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    assert rows["fold_column"].isChecked()
    assert not rows["fold_row"].isChecked()


def test_two_quick_clicks_on_a_triangle_open_no_editor_of_what_comes_under_the_pointer(window: Window) -> None:
    look_at_cells(window)
    matrix = window.map.matrix
    window.map.block_dock.hide()
    at, found = control(matrix, Side.EXTRACTION, pins=False)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    double_click(matrix, at)
    assert not is_shown(window, Side.EXTRACTION, found.node)
    assert not window.map.block_dock.isVisible()


def test_what_is_pinned_stays_whatever_a_filter_hides(window: Window) -> None:
    look_at_cells(window)
    matrix = window.map.matrix
    at, found = control(matrix, Side.EXTRACTION, pins=True)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    assert window.map.planes.pinned(Side.EXTRACTION) == {found.node}
    assert control(matrix, Side.EXTRACTION, pins=True)[1].is_pinned
    window.map.sources.filter_now("tick")
    window.map.sources.funnel.click()
    assert is_shown(window, Side.EXTRACTION, found.node)
    assert len(axis(window, Side.EXTRACTION).schemas) == 2
    assert "1 pinned" in window.map.banner.words.text()
    QTest.keyClick(matrix, Qt.Key.Key_X, SHIFT)
    chosen = window.map.chosen_on_axis(Side.EXTRACTION)
    assert len(chosen) == 1
    assert window.map.planes.pinned(Side.EXTRACTION) == chosen ^ {found.node}


def test_keys_and_the_menus_of_headers_and_rows_fold_what_is_chosen(window: Window) -> None:
    look_at_cells(window)
    matrix = window.map.matrix
    source, target = window.selection.current.source, window.selection.current.target
    assert source is not None
    assert target is not None
    version = NodeRef(source.schema, source.version)
    QTest.keyClick(matrix, Qt.Key.Key_X)
    assert not is_shown(window, Side.EXTRACTION, version)
    QTest.keyClick(matrix, Qt.Key.Key_X)
    assert is_shown(window, Side.EXTRACTION, version)
    QTest.keyClick(matrix, Qt.Key.Key_Y)
    assert not is_shown(window, Side.CDM, NodeRef(target.schema, target.version))
    QTest.keyClick(matrix, Qt.Key.Key_Y)
    at, found = control(matrix, Side.EXTRACTION, pins=False, level=Level.SCHEMA)
    take_entry(open_menu(matrix.viewport(), at + QPoint(24, 0)), "Fold the chosen columns")
    assert not is_shown(window, Side.EXTRACTION, NodeRef(found.node.schema))
    view = window.map.sources.view
    index = window.map.sources.model.index_of(found.node)
    menu = open_menu(view.viewport(), view.visualRect(index).center())
    assert [entry.isChecked() for entry in menu.actions() if entry.text() == "Fold the chosen columns"] == [True]
    assert "Fold the chosen rows" not in [entry.text() for entry in menu.actions()]
    take_entry(menu, "Fold the chosen columns")
    assert is_shown(window, Side.EXTRACTION, found.node)


def test_what_is_folded_and_pinned_is_so_at_the_next_opening(window: Window, make_window: Callable[[], Window]) -> None:
    look_at_cells(window)
    matrix = window.map.matrix
    at, folded = control(matrix, Side.EXTRACTION, pins=False)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    at, pinned = control(matrix, Side.CDM, pins=True)
    QTest.mouseClick(matrix.viewport(), LEFT, NONE, at)
    workbench = window.project.workbench
    assert isinstance(workbench, Workbench)
    path = workbench.path
    window.close()
    again = make_window()
    again.commands.open(path)
    QApplication.processEvents()
    assert not is_shown(again, Side.EXTRACTION, folded.node)
    assert again.map.planes.pinned(Side.CDM) == {pinned.node}


def test_what_is_folded_is_no_longer_told_of_once_an_undo_took_it_away(window: Window) -> None:
    look_at_cells(window)
    made = VersionDeclaration("fresh", (AttributeDeclaration("id", "int64"),))
    assert window.project.do(AddVersion(Side.EXTRACTION, made))
    schema = window.project.value.extraction.named("fresh")
    assert schema is not None
    window.map.planes.fold(Side.EXTRACTION, [NodeRef(schema.id)])
    assert window.map.banner.isVisible()
    window.project.undo()
    assert not window.map.banner.isVisible()
    window.project.redo()
    assert window.map.banner.isVisible()
    assert not is_shown(window, Side.EXTRACTION, NodeRef(schema.id))
