"""Two views of the matrix beside each other, and the overview map that is drawn larger over one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.exports.picture import sheet_on_screen
from metl_gui.ui.matrix.layout.camera import Camera, fitted
from metl_gui.ui.matrix.picture import save
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.matrix_hand import (
    CONTROL,
    LEFT,
    NONE,
    at_cell,
    blocks,
    double_click,
    drag,
    elements,
    move,
    open_menu,
    press,
    release,
    shows_cells,
    take_entry,
)


def two_views(window: Window) -> tuple[MatrixView, MatrixView]:
    activate(window)
    window.show_page(0)
    window.map.matrix.setFocus()
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Backslash, CONTROL)
    QApplication.processEvents()
    first, second = window.map.sides.views
    assert first is window.map.matrix
    assert second.isVisible()
    return first, second


def test_a_second_view_begins_where_the_first_looks_and_moves_by_itself(window: Window) -> None:
    block = blocks(window)[0]
    activate(window)
    at_cell(window, block.key, block.elements[0])
    first, second = two_views(window)
    assert abs(first.width() - second.width()) < 20
    assert shows_cells(second)
    before = first.camera
    QTest.mouseClick(second.viewport(), LEFT, NONE, second.panes.corner.box().topLeft().toPoint() + QPoint(2, 2))
    QTest.keyClick(second, Qt.Key.Key_F)
    assert second.camera == fitted(second.frame)
    assert first.camera == before, "a key belongs to the view that has the keyboard"
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_F)
    assert first.camera == fitted(first.frame)
    QTest.keyClick(first, Qt.Key.Key_Backslash, CONTROL)
    assert window.map.sides.views == (first,)
    assert first.hasFocus()


def test_a_click_in_the_second_view_maps_and_shows_in_both_and_moves_neither(window: Window) -> None:
    block = blocks(window)[0]
    activate(window)
    at_cell(window, block.key, block.elements[0])
    first, second = two_views(window)
    box = second.cell_box(block.key, block.elements[0])
    assert box is not None
    cameras = first.camera, second.camera
    QTest.mouseClick(second.viewport(), LEFT, NONE, box.center())
    assert block.elements[0] not in elements(window, block.key)
    assert first.content is second.content
    assert first.selected == second.selected == window.selection.current
    assert window.selection.current.element == block.elements[0]
    assert (first.camera, second.camera) == cameras
    window.project.undo()
    assert first.content is second.content


def test_a_screen_reader_is_told_what_a_key_did_in_the_second_view(window: Window) -> None:
    block = blocks(window)[0]
    activate(window)
    at_cell(window, block.key, block.elements[0])
    _, second = two_views(window)
    second.setFocus()
    said: list[str] = []
    second.announced.connect(said.append)
    QTest.keyClick(second, Qt.Key.Key_Space)
    assert block.elements[0] not in elements(window, block.key)
    assert len(said) == 1
    assert "not mapped" in said[0]


def test_what_is_chosen_elsewhere_comes_into_sight_in_the_view_that_was_worked_in(window: Window) -> None:
    first, second = two_views(window)
    for view in (first, second):
        view.look(Camera(0.0, 0.0, 27.0, 25.0).held(view.frame))
    second.setFocus()
    before = first.camera
    QTest.keyClick(second, Qt.Key.Key_N)  # the next block that waits
    assert second.camera != Camera(0.0, 0.0, 27.0, 25.0)
    assert first.camera == before


def test_ctrl_g_goes_there_in_the_view_that_was_worked_in(window: Window) -> None:
    first, second = two_views(window)
    first.fit()
    second.fit()
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_G, CONTROL)
    line = window.map.going.go_to_sheet.line
    QTest.keyClicks(line, "fx.payments.orders.amount -> payment.amount")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert shows_cells(second)
    assert second.hasFocus()
    assert first.camera == fitted(first.frame)


def test_a_link_is_shown_in_the_view_that_was_worked_in(window: Window) -> None:
    first, second = two_views(window)
    block = blocks(window)[0]
    first.fit()
    second.fit()
    source = place_of_version(window.project.value, Side.EXTRACTION, block.key[0], block.elements[0].p)
    target = place_of_version(window.project.value, Side.CDM, block.key[1], block.elements[0].q)
    window.selection.choose(Selected(source, target))
    window.links.copy()
    window.selection.choose(Selected())
    first.fit()
    second.fit()
    second.setFocus()
    window.links.open_copied()
    assert shows_cells(second)
    assert first.camera == fitted(first.frame)
    window.map.sides.show(False)
    first.fit()
    window.links.open_copied()
    assert shows_cells(first)


def take_what_is_chosen() -> None:
    """Press Enter in the dialog that is open."""
    dialog = QApplication.activeModalWidget()
    assert dialog is not None
    QTest.keyClick(dialog, Qt.Key.Key_Return)


def test_a_picture_shows_the_view_that_was_worked_in(
    window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = blocks(window)[0]
    activate(window)
    at_cell(window, block.key, block.elements[0])
    first, second = two_views(window)
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_F)
    assert first.camera != second.camera
    written: list[str] = []
    for view in (second, first):
        activate(window)
        view.setFocus()
        target = tmp_path / f"{len(written)}.svg"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, target=target: (str(target), ""))
        QTimer.singleShot(0, take_what_is_chosen)
        window.actions_table["export_picture"].trigger()
        qtbot.waitUntil(lambda: str(target) in window.notice.words.text())  # noqa: B023
        content = view.content
        assert content is not None
        seen = sheet_on_screen(content, view)
        expected = save(replace(seen, refused=view.tiles.refused), tmp_path / "expected.svg").read_text("utf-8")
        assert target.read_text("utf-8") == expected
        written.append(expected)
    assert written[0] != written[1]


def test_a_message_leads_to_its_cell_in_the_view_that_was_worked_in(window: Window) -> None:
    first, second = two_views(window)
    for view in (first, second):
        view.fit()
    second.setFocus()
    window.show_page(2)
    entity = window.project.value.cdm.schemas()[0]
    newest = window.project.value.cdm.version(entity.version_ids[-1])
    window.run_commands.show_attribute(entity.name, newest.label, newest.attributes[0].path)
    assert second.camera != fitted(second.frame)
    assert first.camera == fitted(first.frame)


def test_both_views_are_where_they_were_after_an_earlier_state_was_looked_at(window: Window) -> None:
    block = blocks(window)[0]
    activate(window)
    at_cell(window, block.key, block.elements[0])
    first, second = two_views(window)
    first.fit()
    cameras = first.camera, second.camera
    assert cameras[0] != cameras[1]
    looking = window.history.looking
    looking.look_at(1)
    there = window.project.looks_back
    looking.come_back()
    assert (there, window.project.looks_back) == (1, None)
    assert (first.camera, second.camera) == cameras


def test_what_the_status_bar_says_is_selected_is_shown_in_the_view_that_was_worked_in(window: Window) -> None:
    first, second = two_views(window)
    block, document = blocks(window)[0], window.project.value
    fields = [place_of_version(document, Side.EXTRACTION, block.key[0], each.p) for each in block.elements[:2]]
    second.setFocus()
    window.selection.choose(Selected().with_places(Side.EXTRACTION, tuple(fields), fields[0]))
    first.fit()
    second.fit()
    QTest.mouseClick(window.status.selected, LEFT)
    assert second.camera != fitted(second.frame)
    assert first.camera == fitted(first.frame)


def test_a_visit_to_another_page_leads_back_to_the_view_that_was_worked_in(window: Window) -> None:
    _, second = two_views(window)
    second.setFocus()
    for key in (Qt.Key.Key_2, Qt.Key.Key_1):
        QTest.keyClick(window, key, CONTROL)
        QApplication.processEvents()
    assert window.page == 0
    assert second.hasFocus()


def test_both_views_and_their_places_are_there_at_the_next_opening(
    window: Window, make_window: Callable[[], Window]
) -> None:
    first, second = two_views(window)
    first.fit()
    second.look(Camera(3.0, 2.0, 27.0, 25.0).held(second.frame))
    project = window.project.workbench
    assert isinstance(project, Workbench)
    path = project.path
    window.close()
    again = make_window()
    again.commands.open(path)
    QApplication.processEvents()
    views = again.map.sides.views
    assert len(views) == 2
    assert [shows_cells(view) for view in views] == [False, True]


def test_the_map_is_drawn_larger_by_its_corner_and_leaves_the_cells_to_the_pointer(window: Window) -> None:
    activate(window)
    matrix = window.map.matrix
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    panes = matrix.panes
    docked = panes.map.box()
    grip = (docked.bottomRight() - QPointF(4, 4)).toPoint()
    camera = matrix.camera
    drag(matrix, grip, grip + QPoint(160, 120))
    large = panes.map.box()
    assert large.width() > docked.width() + 100
    assert large.topLeft() == docked.topLeft() or large.width() > docked.width()
    assert matrix.camera == camera, "drawing the map larger moves nothing"
    assert window.settings.map_width is not None
    far = (panes.plane.box().bottomRight() - QPointF(20, 20)).toPoint()
    near = (large.bottomRight() + QPointF(12, 12)).toPoint()
    QTest.mouseMove(matrix.viewport(), far)
    assert panes.map.box() == large
    QTest.mouseMove(matrix.viewport(), near)
    assert panes.map.box() == docked, "what lies under it is worked on"
    QTest.mouseMove(matrix.viewport(), far)
    assert panes.map.box() == large
    corner = panes.corner.box().center().toPoint()
    QTest.mouseMove(matrix.viewport(), corner)
    inside = (large.bottomRight() - QPointF(30, 30)).toPoint()
    QTest.mouseMove(matrix.viewport(), inside)
    assert panes.map.box() == large, "who came over the corner means the map"
    press(matrix, inside)
    release(matrix, inside)
    assert matrix.camera != camera
    double_click(matrix, inside)
    assert matrix.camera == fitted(matrix.frame)


def test_a_large_map_goes_back_into_the_corner_by_its_menu_by_its_grip_and_by_esc_while_it_is_drawn(
    window: Window,
) -> None:
    activate(window)
    matrix, settings = window.map.matrix, window.settings
    block = blocks(window)[0]
    at_cell(window, block.key, block.elements[0])
    panes = matrix.panes
    docked = panes.map.box()
    grip = (docked.bottomRight() - QPointF(4, 4)).toPoint()
    for way in ("menu", "grip", "esc"):
        QTest.mouseMove(matrix.viewport(), panes.corner.box().center().toPoint())
        press(matrix, grip)
        move(matrix, grip + QPoint(150, 110))
        if way == "esc":
            QTest.keyClick(matrix, Qt.Key.Key_Escape)
            release(matrix, grip)
        else:
            release(matrix, grip + QPoint(150, 110))
            assert panes.map.box().width() > docked.width()
            assert settings.map_width is not None
        if way == "menu":
            menu = open_menu(matrix.viewport(), panes.map.box().center().toPoint())
            take_entry(menu, "Put the map back into the corner")
        elif way == "grip":
            double_click(matrix, (panes.map.box().bottomRight() - QPointF(4, 4)).toPoint())
        assert panes.map.box() == docked, way
        assert settings.map_width is None
