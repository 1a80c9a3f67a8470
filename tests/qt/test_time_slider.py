"""The time slider under the matrix, and the keys that step through the states, in the real window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.history.time_strip import TimeStrip
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window

from .conftest import activate
from .held_jobs import HeldJobs
from .history_hand import ALT, BOTH, CTRL, LEFT, clear_one, looks_back, now
from .matrix_hand import at_cell, elements, select, shows_cells


def test_the_slider_steps_through_states_and_keeps_the_place_of_the_matrix(window: Window) -> None:
    block, element = clear_one(window)
    select(window, block.key, element)
    window.map.matrix.fit_selection()
    activate(window)
    assert shows_cells(window.map.matrix)
    QTest.keyClick(window, Qt.Key.Key_H, BOTH)
    slider = window.history.strip.slider
    assert slider.isVisible()
    assert slider.hasFocus()
    QApplication.processEvents()
    before = at_cell(window, block.key, element)
    QTest.keyClick(slider, Qt.Key.Key_Left)
    assert looks_back(window) == now(window) - 1
    assert element in elements(window, block.key)
    QApplication.processEvents()
    assert at_cell(window, block.key, element) == before
    QTest.keyClick(slider, Qt.Key.Key_Right)
    assert looks_back(window) is None
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert looks_back(window) == 1
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert looks_back(window) is None


def test_the_matrix_stands_where_it_stood_after_states_that_lack_what_it_showed(window: Window) -> None:
    document = window.project.value
    key = max((b for b in document.matrix.blocks() if b.elements), key=lambda b: b.version).key
    source, target = (place_of_version(document, side, id_) for side, id_ in zip(Side, key, strict=True))
    window.selection.choose(Selected(source, target))
    matrix = window.map.matrix
    matrix.fit_selection()
    matrix.drift(matrix.camera.panned(matrix.frame, 400.0, 120.0))
    before = matrix.camera
    for state in (60, 1, 20):
        window.history.looking.look_at(state)
    assert matrix.camera != before
    window.history.looking.come_back()
    assert matrix.camera == before


def test_who_moves_while_looking_back_stays_where_they_went(window: Window) -> None:
    matrix = window.map.matrix
    window.history.looking.look_at(now(window) - 1)
    matrix.zoom(2.0)
    moved = matrix.camera
    window.history.looking.come_back()
    assert matrix.camera == moved


def test_dragging_the_slider_shows_the_state_under_the_hand(window: Window) -> None:
    window.actions_table["time_slider"].trigger()
    QApplication.processEvents()
    slider = window.history.strip.slider
    middle = slider.height() // 2
    QTest.mousePress(slider, LEFT, pos=QPoint(round(slider.x_of(40)), middle))
    assert looks_back(window) == slider.state_at(40)
    QTest.mouseMove(slider, QPoint(round(slider.x_of(10)), middle))
    assert looks_back(window) == slider.state_at(10)
    QTest.mouseRelease(slider, LEFT, pos=QPoint(round(slider.x_of(10)), middle))
    assert window.history.strip.words.text().startswith(f"State {slider.state_at(10)} · ")


def test_the_slider_stays_under_the_hand_where_a_state_has_nothing_to_map(window: Window) -> None:
    window.actions_table["time_slider"].trigger()
    slider = window.history.strip.slider
    QTest.keyClick(slider, Qt.Key.Key_Home)
    assert window.map.empty.isVisible()
    assert window.map.empty.title.text() == "Nothing to map in this state"
    assert window.map.empty.text.text() == "There was no extraction schema then."
    assert not window.map.empty.sources.isVisible()
    assert slider.isVisible()
    assert slider.hasFocus()
    QTest.keyClick(slider, Qt.Key.Key_End)
    assert window.map.matrix.isVisible()


def test_control_and_arrows_go_from_mark_to_mark(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    workbench.name_state(7, "seven")
    workbench.name_state(30, "thirty")
    window.actions_table["time_slider"].trigger()
    slider = window.history.strip.slider
    live = window.history.live.number
    assert live is not None
    seen = []
    for _ in range(3):
        QTest.keyClick(slider, Qt.Key.Key_Left, CTRL)
        seen.append(window.project.looks_back)
    assert seen == [live, 30, 7]
    QTest.keyClick(slider, Qt.Key.Key_Right, CTRL)
    assert looks_back(window) == 30


def test_the_slider_grows_with_every_edit(window: Window, qtbot: QtBot) -> None:
    window.actions_table["time_slider"].trigger()
    slider = window.history.strip.slider
    before = slider.maximum()
    clear_one(window)
    qtbot.waitUntil(lambda: slider.maximum() == before + 1)
    assert slider.value() == slider.maximum()
    assert looks_back(window) is None


def test_the_slider_is_there_again_in_the_next_window(make_window: Callable[[], Window], window: Window) -> None:
    assert window.history.strip.isHidden()
    window.actions_table["time_slider"].trigger()
    assert not make_window().history.strip.isHidden()
    window.actions_table["time_slider"].trigger()
    assert make_window().history.strip.isHidden()


def test_keys_step_through_the_states_while_the_slider_is_hidden(window: Window) -> None:
    clear_one(window)
    activate(window)
    for _ in range(2):
        QTest.keyClick(window, Qt.Key.Key_PageUp, ALT)
    assert looks_back(window) == now(window) - 2
    QTest.keyClick(window, Qt.Key.Key_PageDown, ALT)
    assert looks_back(window) == now(window) - 1
    assert not window.history.strip.isVisible()


def test_keys_that_come_before_the_states_are_read_count(window: Window) -> None:
    """Neither the first ones, nor those right behind an edit, when the slider knows an older newest state."""
    jobs, looking = HeldJobs(), window.history.looking
    strip = TimeStrip(window.project, looking, window.history.live, jobs)
    newest = now(window)
    strip.step(-1)
    strip.step(-1)
    jobs.release()
    assert looks_back(window) == newest - 2
    looking.come_back()
    clear_one(window)
    strip.step(-1)
    jobs.release()
    assert looks_back(window) == now(window) - 1
    jobs.stop()
    strip.deleteLater()
    jobs.deleteLater()
