"""The shell around the pages: panels, F6, floating docks, recent projects, what the status bar says and leads to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.progress import Progress
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.frame.status_bar import time_left
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.layout import stops
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate


def shown(menu: QMenu) -> list[tuple[str, bool]]:
    menu.aboutToShow.emit()
    return [(action.text(), action.isEnabled()) for action in menu.actions()]


def holds_focus(panel: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and (panel is focus or panel.isAncestorOf(focus))


def test_the_panels_menu_lists_the_docks_of_the_page_in_front_and_hides_them(window: Window) -> None:
    menu = window.actions_table.menu("View > Panels")
    assert {"Extraction", "Canonical model", "Block"} <= {words for words, _ in shown(menu)}
    action = next(action for action in menu.actions() if action.text() == "Block")
    action.trigger()
    assert not window.map.block_dock.isVisible()
    window.show_page(1)
    assert [words for words, _ in shown(menu)][:2] == ["Waiting for a decision", ""]  # then what is done with panels


def test_a_floating_dock_goes_and_comes_with_its_page_and_is_there_after_the_next_opening(
    make_window: Callable[[], Window], waiting_sample: SampleFolder
) -> None:
    first = make_window()
    first.show_project(Workbench.open(waiting_sample.project))
    dock = first.map.block_dock
    dock.setFloating(True)
    assert dock.isVisible()
    first.show_page(2)
    assert not dock.isVisible()
    first.show_page(0)
    assert dock.isVisible()
    first.show_page(1)
    first.close()
    second = make_window()
    second.show_project(Workbench.open(waiting_sample.project))
    second.show_page(0)
    assert second.map.block_dock.isFloating()
    assert second.map.block_dock.isVisible()


def test_f6_goes_round_all_panels_of_every_page_and_back(window: Window) -> None:
    activate(window)
    for page in range(3):
        window.show_page(page)
        panels = stops(window)
        assert len(panels) >= 4
        met = []
        for key in (Qt.Key.Key_F6,) * len(panels):
            QTest.keyClick(window, key)
            met.append(next(panel for panel in panels if holds_focus(panel)))
        assert {panel.objectName() or id(panel) for panel in met} == {p.objectName() or id(p) for p in panels}
        here = QApplication.focusWidget()
        QTest.keyClick(window, Qt.Key.Key_F6)
        QTest.keyClick(window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert QApplication.focusWidget() is here


def test_f6_reaches_a_notice(window: Window) -> None:
    activate(window)
    window.notify("Something waits", is_good=False)
    for _ in range(len(stops(window))):
        QTest.keyClick(window, Qt.Key.Key_F6)
        if holds_focus(window.notice):
            return
    raise AssertionError("the notice was passed over")


def test_recent_projects_stand_in_the_menu_and_missing_ones_say_why_they_cannot_be_opened(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path
) -> None:
    window = make_window()
    menu = window.actions_table.menu("File > Open recent")
    assert shown(menu) == [("No project was open yet", False)]
    window.settings.remember_project(tmp_path / "gone.metl")
    window.settings.remember_project(sample.project)
    assert shown(menu) == [("fx", True), ("gone (not there any more)", False)]
    menu.actions()[0].trigger()
    assert window.project.workbench is not None
    assert window.project.workbench.path == sample.project


def test_the_numbers_of_the_status_bar_lead_to_what_they_count(window: Window) -> None:
    window.status.blocks.click()
    assert window.stack.currentWidget() is window.review
    window.status.elements.click()
    assert window.stack.currentWidget() is window.map
    assert window.lists.mapping_dock.isVisible()


def test_the_status_bar_counts_what_is_selected(window: Window) -> None:
    document = window.project.value
    schema = next(schema for schema in document.extraction.schemas() if len(schema.version_ids) > 1)
    places = tuple(place_of_version(document, Side.EXTRACTION, id_) for id_ in schema.version_ids)
    assert window.status.selected.isHidden()
    window.selection.choose(Selected().with_places(Side.EXTRACTION, places, places[0]))
    assert window.status.selected.text() == f"{len(places)} left selected"
    window.selection.choose(Selected())
    assert window.status.selected.isHidden()


def test_the_status_bar_names_project_and_both_full_paths(window: Window) -> None:
    document = window.project.value
    block = next(block for block in document.matrix.blocks() if block.elements)
    element = block.elements[0]
    window.selection.choose(
        Selected(
            place_of_version(document, Side.EXTRACTION, block.version, element.p),
            place_of_version(document, Side.CDM, block.entity_version, element.q),
        )
    )
    assert window.status.project.text() == "fx"
    words = window.status.place.text()
    for side, version, attribute in (
        (Side.EXTRACTION, block.version, element.p),
        (Side.CDM, block.entity_version, element.q),
    ):
        found = document.tree(side).version(version).attribute(attribute)
        assert found is not None
        assert f"<b>{found.path}</b>" in words


def test_time_left_is_told_only_when_it_can_be_known() -> None:
    assert time_left(500, Progress("x", 50, 100)) == ""
    assert time_left(10_000, Progress("x", 0, 100)) == ""
    assert time_left(10_000, Progress("x", 50, None)) == ""
    assert time_left(10_000, Progress("x", 25, 100)) == ", 30 s left"
    assert time_left(100_000, Progress("x", 10, 100)) == ", 15 min left"


def test_a_scale_that_leaves_no_room_folds_both_trees_and_gives_their_room_to_the_matrix(window: Window) -> None:
    window.resize(1280, 800)
    QApplication.processEvents()
    docks = window.map.source_dock, window.map.target_dock
    wide = [dock.width() for dock in docks]
    before = window.map.matrix.width()
    window.actions_table["size_150"].trigger()
    QApplication.processEvents()
    assert max(dock.width() for dock in docks) < min(wide) / 2
    assert window.map.matrix.width() > before
    window.actions_table["normal_size"].trigger()
    QApplication.processEvents()
    assert not window.map.folding.is_folded(0)
    assert not window.map.folding.is_folded(1)


@pytest.mark.parametrize("percent", [100, 150])
def test_the_number_of_the_live_state_is_never_cut_whatever_the_width(window: Window, percent: int) -> None:
    head = window.head
    window.setMinimumSize(0, 0)
    window.dressing.scale_to(percent)
    for width in (2_000, 1_600, 1_300, 1_150, 900):
        window.resize(width * percent // 100, 900)
        QApplication.processEvents()
        for state, since in (("89", "2"), ("12,345", "1,234")):
            head.show_live(
                f"live: state {state} · Q3, {since} changes since", f"live: state {state}, {since} since", ""
            )
            QApplication.processEvents()
            shown = head.live.text()
            assert shown.removeprefix("▲  live: ").removeprefix("state ").split(" ")[0].rstrip(",") == state, width
            assert head.live.width() >= head.live.sizeHint().width(), (width, shown)


@pytest.mark.parametrize("size", [(800, 600), (1100, 700), (1300, 800), (1600, 1000)])
def test_what_stands_in_the_head_bar_keeps_its_place_whatever_it_says(window: Window, size: tuple[int, int]) -> None:
    def places() -> list[QRect]:
        QApplication.processEvents()
        shown = (*head.pages, head.undo, head.search, head.spark, head.run)
        return [each.geometry() for each in shown if each.isVisible()]

    head, workbench = window.head, window.project.workbench
    assert workbench is not None
    window.resize(*size)
    activate(window)
    before = places()
    block = next(b for b in window.project.value.matrix.blocks() if len(b.elements) > 1)
    for element in block.elements:
        assert window.project.do(SetElements(block.key, zeros=(element,)))
        assert places() == before
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert places() == before
    publish(workbench, name="A name with a good many letters")
    window.history.live.look()
    assert places() == before
    for state in ("starting", "ready", "Java is not there, so that nothing can be started"):
        head.show_spark(f"local[*] · {state}")
        assert places() == before
        assert head.spark.accessibleName().endswith(state)
    for count in (0, 7, 120):
        head.show_waiting(count)
        assert places() == before
