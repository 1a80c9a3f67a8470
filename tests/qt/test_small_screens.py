"""The window at every size from 640 x 400 up: nothing cut, panels as tabs, trees as drawers, and coming back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QScrollArea, QStyle, QStyleOptionFrame, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.shell.window import LEAST_SIZE, Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dock import Scrolled
from metl_gui.ui.widgets.fitted_dialog import LEAST_PX, FittedDialog
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.matrix_hand import blocks, emptied, select

LEFT = Qt.MouseButton.LeftButton
ROOMY = (1600, 1000)


def resize(window: Window, width: int, height: int) -> None:
    window.resize(width, height)
    for _ in range(3):
        QApplication.processEvents()
    assert window.size() == QSize(width, height)


def settle(qtbot: QtBot, page: PanelPage) -> None:
    """Wait until a page knows the sizes of its docks as those that are wanted."""
    qtbot.waitUntil(lambda: not page._capturing.isActive() and not page._growing.isActive())
    QApplication.processEvents()


def sizes(window: Window) -> dict[str, tuple[int, int]]:
    page = window.map
    docks = (page.source_dock, page.target_dock, page.block_dock, window.preview.dock)
    return {dock.objectName(): (dock.width(), dock.height()) for dock in docks if dock.isVisible()}


def drag(page: QWidget, at: QPoint, to: QPoint, qtbot: QtBot) -> None:
    """Drag the border between two panels."""
    QTest.mousePress(page, LEFT, Qt.KeyboardModifier.NoModifier, at)
    QTest.mouseMove(page, (at + to) / 2)
    QTest.mouseMove(page, to)
    with qtbot.waitSignal(page.destroyed, raising=False, timeout=60):  # borders follow the pointer a moment later
        pass
    QTest.mouseRelease(page, LEFT, Qt.KeyboardModifier.NoModifier, to)


def is_scrolled(widget: QWidget) -> bool:
    above = widget.parentWidget()
    while above is not None:
        never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if isinstance(above, QScrollArea) and above.horizontalScrollBarPolicy() is not never:
            return True
        above = above.parentWidget()
    return False


def cut(window: Window) -> list[str]:
    """Return the visible buttons of which a part is outside what they lie in, and that no scrolling reaches."""
    found = []
    for button in window.findChildren(QAbstractButton):
        if not button.isVisible() or is_scrolled(button):
            continue
        box = QRect(button.mapTo(window, QPoint(0, 0)), button.size())
        above = button.parentWidget()
        if not window.rect().contains(box) or (above is not None and not above.rect().contains(button.geometry())):
            found.append(f"{type(button).__name__} {button.text() or button.accessibleName()} {box}")
    return found


@pytest.mark.parametrize("size", [(640, 400), (800, 600), (1100, 700)])
@pytest.mark.parametrize("page", PAGES)
def test_no_button_outside_scroll_areas_is_cut_at_any_size(window: Window, page: str, size: tuple[int, int]) -> None:
    window.show_page(PAGES.index(page))
    resize(window, *size)
    assert cut(window) == []
    assert window.head.run.isVisible()
    assert window.status.geometry().bottom() <= window.height()
    assert window.head.search.isVisible()


@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("size", [(640, 400), (1100, 700), (1600, 1000), (3840, 2160)])
def test_what_boxes_say_of_themselves_is_never_cut(window: Window, size: tuple[int, int], percent: int) -> None:
    for id_ in ("mapping_list", "history", "what_feeds"):
        window.actions_table[id_].trigger()
    window.dressing.scale_to(percent)
    resize(window, *size)
    met = 0
    for number in range(len(PAGES)):
        window.show_page(number)
        QApplication.processEvents()
        for line in window.findChildren(HintLine):
            if not line.isVisible():
                continue
            option = QStyleOptionFrame()
            line.initStyleOption(option)
            room = line.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, line).width() - 4
            words = line.placeholderText()
            assert words.startswith(("Search", "Filter", "Comment"))
            is_shortest = " " not in words and line is not window.head.search
            assert line.fontMetrics().horizontalAdvance(words) <= room or is_shortest, words
            met += 1
    assert met >= len(PAGES)
    if size[0] == 3840:
        assert "Ctrl+F" in window.head.search.placeholderText()


def test_the_steps_that_lead_through_the_sample_are_fewer_where_there_is_little_room(window: Window) -> None:
    window.show_page(0)
    strip = window.first_steps.strip
    strip.show_done(())
    strip.show()
    resize(window, 640, 400)
    assert strip.width() == 640
    assert cut(window) == []


@pytest.mark.parametrize("percent", [150, 200])
def test_no_button_of_the_frame_is_cut_when_everything_is_larger(window: Window, percent: int) -> None:
    window.dressing.scale_to(percent)
    for size in ((640, 400), (1100, 700), ROOMY):
        resize(window, *size)
        inside = [each for each in window.head.findChildren(QAbstractButton) if each.isVisible()]
        assert all(
            window.head.rect().contains(QRect(each.mapTo(window.head, QPoint()), each.size())) for each in inside
        )
        assert all(each.width() >= each.minimumSizeHint().width() for each in inside)
    window.dressing.scale_to(100)


def test_pages_can_be_reached_where_there_is_no_room_for_their_buttons(window: Window) -> None:
    window.dressing.scale_to(200)
    resize(window, *LEAST_SIZE)
    assert window.head.menu.isVisible()
    for at, action in enumerate(window.head.menu.menu().actions()):
        action.trigger()
        assert window.page == at
        assert window.head.pages[at].isVisible()
    window.dressing.scale_to(100)


def test_where_there_is_little_room_one_panel_is_in_front_and_tabs_lead_to_the_others(window: Window) -> None:
    page = window.map
    window.show_page(0)
    assert not page.tabs.isVisible()
    resize(window, 640, 400)
    assert [page.tabs.tabText(at) for at in range(page.tabs.count())] == ["Matrix", "Block", "Preview"]
    assert page.matrix.isVisible()
    assert not page.block_dock.isVisible()
    assert page.matrix.width() > 500, "both trees are strips"
    alone = page.matrix.height()
    QTest.mouseClick(page.tabs, LEFT, pos=page.tabs.tabRect(1).center())
    QApplication.processEvents()
    assert page.block_dock.isVisible()
    assert not page.matrix.isVisible()
    assert page.block_dock.height() >= alone - 4
    window.suggest.show()
    assert page.tabs.tabText(page.tabs.currentIndex()) == "Suggestions"
    assert window.suggest.panel.isVisible()
    window.suggest.dock.close()
    assert page.matrix.isVisible()
    assert page.tabs.count() == 3


def test_a_panel_that_floats_gives_its_place_to_the_matrix_and_has_its_tab_again_when_it_is_back(
    window: Window,
) -> None:
    page = window.map
    window.show_page(0)
    resize(window, 640, 400)
    QTest.mouseClick(page.tabs, LEFT, pos=page.tabs.tabRect(1).center())
    page.block_dock.setFloating(True)
    QApplication.processEvents()
    assert page.matrix.isVisible()
    assert page.block_dock.isVisible()
    assert page.tabs.count() == 2
    page.block_dock.setFloating(False)
    QApplication.processEvents()
    assert page.front is page.block_dock
    assert not page.matrix.isVisible()
    assert page.tabs.count() == 3


def test_panels_give_way_before_the_matrix_shrinks(window: Window) -> None:
    window.show_page(0)
    for size in (ROOMY, (1300, 800), (1100, 700), (1000, 640), (900, 600), (800, 600), (800, 560)):
        resize(window, *size)
        assert window.map.matrix.height() >= 240, size
        assert window.map.matrix.width() >= 360, size


def test_a_panel_has_the_whole_page_beside_the_strips_whichever_was_in_front_before(window: Window) -> None:
    window.show_page(0)
    block = blocks(window)[0]
    select(window, block.key, block.elements[0])
    resize(window, 640, 400)
    page = window.map
    for first, then in (("suggestions", "what_feeds"), ("why", "where_goes"), ("suggestions", "history")):
        for id_ in (first, then):
            window.actions_table[id_].trigger()
            QApplication.processEvents()
        front = page.front
        assert front is not None
        strips = [dock.width() for dock in (page.source_dock, page.target_dock) if dock.isVisible()]
        QApplication.processEvents()
        assert front.width() >= page.width() - sum(strips) - 10


def test_a_visit_to_a_small_size_leaves_the_panels_as_a_person_made_them(window: Window, qtbot: QtBot) -> None:
    page = window.map
    window.show_page(0)
    settle(qtbot, page)
    edge = page.source_dock.geometry().right() + 2
    drag(page, QPoint(edge, 300), QPoint(edge + 44, 300), qtbot)
    settle(qtbot, page)
    top = page.block_dock.geometry().top() - 2
    drag(page, QPoint(700, top), QPoint(700, top - 40), qtbot)
    settle(qtbot, page)
    made = sizes(window)
    assert made["extractionDock"][0] == edge + 44 - 2 + 1
    for size in ((640, 400), (800, 600), (1100, 700), (1050, 700), (1600, 420)):
        resize(window, *size)
        resize(window, *ROOMY)
        settle(qtbot, page)
        assert sizes(window) == made, size
    for width in (*range(1600, 640, -60), *range(640, 1600, 60), 1600):
        resize(window, width, 400 + (width - 640) * 600 // 960)
    settle(qtbot, page)
    assert sizes(window) == made


@pytest.mark.parametrize("percent", [110, 125, 150, 200])
def test_a_visit_to_a_larger_scale_leaves_the_trees_as_wide_as_they_were(
    window: Window, qtbot: QtBot, percent: int
) -> None:
    page = window.map
    window.show_page(0)
    resize(window, *ROOMY)
    settle(qtbot, page)
    before = [page.sources.width(), page.targets.width()]
    window.dressing.scale_to(percent)
    settle(qtbot, page)
    window.dressing.scale_to(100)
    settle(qtbot, page)
    assert [page.sources.width(), page.targets.width()] == before


def test_five_suggestions_at_least_are_in_sight_in_a_window_of_middle_size(window: Window) -> None:
    resize(window, 1100, 700)
    window.show_page(0)
    emptied(window)
    window.suggest.show()
    QApplication.processEvents()
    view = window.suggest.panel.view
    assert view.model().rowCount() > 0
    assert view.viewport().height() >= 5 * view.sizeHintForRow(0)


def test_a_panel_opened_at_a_small_size_is_there_at_a_large_one_and_one_closed_is_not(
    window: Window, qtbot: QtBot
) -> None:
    page = window.map
    window.show_page(0)
    settle(qtbot, page)
    resize(window, 640, 400)
    window.suggest.show()
    window.preview.show()
    window.preview.dock.close()
    resize(window, *ROOMY)
    settle(qtbot, page)
    assert window.suggest.dock.isVisible()
    assert not window.preview.dock.isVisible()
    assert page.block_dock.isVisible()
    assert page.matrix.isVisible()
    assert not page.tabs.isVisible()


def test_a_window_that_was_closed_small_opens_large_as_it_was_when_it_was_large(
    make_window: Callable[[], Window], waiting_sample: SampleFolder, qtbot: QtBot
) -> None:
    first = make_window()
    first.show_project(Workbench.open(waiting_sample.project))
    settle(qtbot, first.map)
    edge = first.map.source_dock.geometry().right() + 2
    drag(first.map, QPoint(edge, 300), QPoint(edge + 44, 300), qtbot)
    settle(qtbot, first.map)
    made = sizes(first)
    resize(first, 640, 400)
    first.close()
    second = make_window()
    second.show_project(Workbench.open(waiting_sample.project))
    settle(qtbot, second.map)
    assert sizes(second) == made


def test_a_window_that_begins_small_gives_the_trees_their_room_when_it_grows(window: Window, qtbot: QtBot) -> None:
    resize(window, 640, 400)
    window.show_page(0)
    resize(window, *ROOMY)
    settle(qtbot, window.map)
    assert window.map.source_dock.width() == 296
    assert window.map.target_dock.width() == 284


def folded(page: MapPage) -> list[bool]:
    return [panel.is_folded for panel in (page.sources, page.targets)]


@pytest.fixture
def stacked(window: Window, qtbot: QtBot) -> Window:
    """The window with the reasons of a cell below the right tree, and nothing else in that column."""
    window.show_page(0)
    resize(window, *ROOMY)
    window.map.target_dock.show()
    window.history.why_dock.show()
    window.suggest.dock.hide()
    settle(qtbot, window.map)
    return window


def test_a_tree_above_other_panels_is_no_strip_beside_an_empty_place(stacked: Window, qtbot: QtBot) -> None:
    page, why = stacked.map, stacked.history.why_dock
    resize(stacked, 1000, 900)
    settle(qtbot, page)
    assert folded(page) == [True, False]
    assert page.target_dock.width() == why.width(), "both have the whole column"
    for is_shown in (False, True, False):
        why.setVisible(is_shown)
        settle(qtbot, page)
        assert folded(page) == [True, not is_shown]
    resize(stacked, *ROOMY)
    settle(qtbot, page)
    assert folded(page) == [False, False]


def test_what_a_person_folds_or_opens_in_a_narrow_page_stays_so(stacked: Window, qtbot: QtBot) -> None:
    page, why = stacked.map, stacked.history.why_dock
    resize(stacked, 1000, 900)
    settle(qtbot, page)
    for at, is_folded in ((1, True), (1, False)):
        page.folding.toggle(at)
        for is_shown in (False, True):
            why.setVisible(is_shown)
            settle(qtbot, page)
            assert folded(page) == [True, is_folded]


def test_a_page_that_is_narrow_looks_the_same_whatever_it_was_before(stacked: Window, qtbot: QtBot) -> None:
    page = stacked.map
    for width, height, right in ((1000, 900, False), (640, 400, True), (1000, 900, False), (640, 400, True)):
        resize(stacked, width, height)
        settle(qtbot, page)
        assert folded(page) == [True, right]


def test_a_tree_that_was_folded_in_another_session_is_so_after_a_narrow_page_grew(window: Window, qtbot: QtBot) -> None:
    page = window.map
    window.show_page(0)
    resize(window, 1000, 900)
    settle(qtbot, page)
    page.folding.restore([[0, 296], [1, 284]])
    resize(window, *ROOMY)
    settle(qtbot, page)
    assert folded(page) == [False, True]


def test_a_tree_in_a_window_of_its_own_stays_a_tree(stacked: Window, qtbot: QtBot) -> None:
    page = stacked.map
    page.target_dock.setFloating(True)
    page.target_dock.move(3000, 100)
    settle(qtbot, page)
    resize(stacked, 1000, 900)
    settle(qtbot, page)
    assert folded(page) == [True, False]


def test_a_tree_that_is_a_tab_beside_another_panel_is_no_strip(stacked: Window, qtbot: QtBot) -> None:
    page = stacked.map
    page.tabifyDockWidget(page.target_dock, stacked.history.why_dock)
    page.target_dock.raise_()
    settle(qtbot, page)
    resize(stacked, 1000, 900)
    settle(qtbot, page)
    assert folded(page) == [True, False]


def test_a_strip_opens_its_tree_as_a_drawer_which_goes_with_the_focus(window: Window) -> None:
    activate(window)
    page = window.map
    window.show_page(0)
    resize(window, 640, 400)
    wide = page.matrix.width()
    for at, panel in enumerate((page.sources, page.targets)):
        drawer = page.folding.drawers[at]
        QTest.mouseClick(panel.strip, LEFT)
        assert drawer.isVisible()
        assert panel.view.isVisible()
        assert panel.view.hasFocus()
        assert page.matrix.width() == wide, "it lies over the matrix"
        assert page.rect().contains(drawer.geometry())
        assert drawer.width() < wide - 100, "a part of the matrix stays for what is dragged onto it"
        QTest.mouseClick(panel.strip, LEFT)
        assert not drawer.isVisible()
        QTest.mouseClick(panel.strip, LEFT)
        QTest.keyClick(panel.view, Qt.Key.Key_Escape)
        assert not drawer.isVisible()
        assert panel.strip.hasFocus()
        QTest.mouseClick(panel.strip, LEFT)
        page.matrix.setFocus()
        assert not drawer.isVisible()
        assert not panel.view.isVisible()
    window.actions_table["filter_targets"].trigger()
    assert page.targets.box.hasFocus()
    resize(window, *ROOMY)
    assert page.targets.view.isVisible()
    assert not page.targets.is_folded


@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("lines", [1, 4, 9, 16])
def test_no_line_of_a_question_is_cut(window: Window, percent: int, lines: int) -> None:
    window.dressing.scale_to(percent)
    text = "These words are long enough for a line and a half of a small dialog, or so it seems.\n" * lines
    dialog = dialogs.QuestionDialog("Is it?", text, [("yes", "Yes"), ("no", "No")], window)
    dialogs.show(dialog)
    QApplication.processEvents()
    room = dialog.screen().availableSize()
    assert dialog.width() <= room.width()
    assert dialog.height() <= room.height()
    for label in dialog.findChildren(QLabel):
        assert label.height() >= label.heightForWidth(label.width()), label.text()[:20]
    dialog.reject()


def test_a_dialog_that_needs_more_than_the_smallest_screen_is_scrolled_to_its_buttons(window: Window) -> None:
    dialog = dialogs.QuestionDialog("Many", "\n".join(str(line) for line in range(80)), [("close", "Close")], window)
    dialogs.show(dialog)
    assert dialog.minimumSizeHint().height() <= LEAST_PX[1]
    dialog.resize(*LEAST_PX)
    QApplication.processEvents()
    assert dialog.height() == LEAST_PX[1]
    button = dialog.buttons["close"]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    area = dialog.findChild(Scrolled)
    assert area is not None
    area.ensureWidgetVisible(button)
    assert not button.visibleRegion().isEmpty()
    QTest.mouseClick(button, LEFT)


@pytest.mark.parametrize("id_", ["palette", "shortcuts", "change_keys", "glossary", "project_settings", "export"])
def test_a_dialog_can_be_as_small_as_the_smallest_screen(window: Window, id_: str) -> None:
    window.actions_table[id_].trigger()
    dialog = next(each for each in window.findChildren(FittedDialog) if each.isVisible())
    dialog.resize(*LEAST_PX)
    QApplication.processEvents()
    assert dialog.width() <= LEAST_PX[0]
    assert dialog.height() <= LEAST_PX[1]
    for button in dialog.findChildren(QAbstractButton):
        box = QRect(button.mapTo(dialog, QPoint(0, 0)), button.size())
        assert not button.isVisible() or is_scrolled(button) or dialog.rect().intersects(box), button.text()
    dialog.close()


_OPENS = """
import json, sys
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.shell.window import Window
app = QApplication(["x"])
window = Window(QSettings(sys.argv[1], QSettings.Format.IniFormat), SynchronousJobs(), warms_up=False)
window.show()
app.processEvents()
room = window.screen().availableSize()
print(json.dumps([room.toTuple(), window.size().toTuple(), window.minimumSize().toTuple()]))
window.close()
"""


@pytest.mark.parametrize("factor", ["1", "1.5", "2", "3"])
def test_a_window_is_never_larger_than_the_screen_when_it_begins(tmp_path: Path, factor: str) -> None:
    screens = tmp_path / "screens.json"
    screen = {"name": "one", "x": 0, "y": 0, "width": 1600, "height": 1000, "logicalDpi": 96, "logicalBaseDpi": 96}
    screens.write_text(json.dumps({"screens": [{**screen, "dpr": 1}]}))
    ran = subprocess.run(
        [sys.executable, "-c", _OPENS, str(tmp_path / "view.ini")],
        env={
            **os.environ,
            "QT_QPA_PLATFORM": f"offscreen:configfile={screens}",
            "QT_SCALE_FACTOR": factor,
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    room, size, least = json.loads(ran.stdout)
    assert room == [round(side / float(factor)) for side in (1600, 1000)] or float(factor) == 1.5
    assert size == room
    assert all(have <= most for have, most in zip(least, room, strict=True))
