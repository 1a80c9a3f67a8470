"""What is kept or worked out once for large choices and edits shows what working it out anew would show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QToolTip
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.project.comments import element_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.hit_test import position_of
from metl_gui.ui.matrix.input.selected_content import box_shown
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.panel import STRIP_PX, TreePanel
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.qt.matrix_hand import at_cell, blocks, elements, ends, select
from tests.qt.test_tree_gestures import LEFT, OFFSCREEN

FLAGS = QItemSelectionModel.SelectionFlag
_DELETE = Qt.Key.Key_Delete


# chosen rows of the trees


def branch_colours(panel: TreePanel) -> list[tuple[bool, bool]]:
    """Return of every row in sight whether Qt calls it chosen and whether its branch is painted as chosen."""
    view, found = panel.view, []
    index = view.indexAt(QPoint(4, 4))
    while index.isValid() and view.visualRect(index).top() < view.viewport().height():
        picture = QPixmap(40, 20)
        picture.fill(themes.current().panel)
        painter = QPainter(picture)
        view.drawBranches(painter, QRect(0, 0, 40, 20), index)
        painter.end()
        is_painted = picture.toImage().pixelColor(2, 2).rgb() == themes.current().sel.rgb()
        found.append((view.selectionModel().isSelected(index), is_painted))
        index = view.indexBelow(index)
    return found


def test_the_branches_of_chosen_rows_and_of_no_others_are_tinted_whatever_comes_and_goes(window: Window) -> None:
    panel = window.map.sources
    view, chooser = panel.view, panel.view.selectionModel()
    index = view.indexAt(QPoint(4, 4))
    rows: list[QModelIndex] = []
    while index.isValid() and len(rows) < 12:
        rows.append(index)
        index = view.indexBelow(index)
    for row in rows[1::3]:
        chooser.select(row, FLAGS.Select)
    changes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: view.collapse(rows[0]),
        lambda: view.expand(rows[0]),
        lambda: chooser.select(rows[4], FLAGS.Toggle),
        lambda: panel.filter_now("account"),
        lambda: panel.filter_now(""),
        chooser.clear,
    )
    for change in changes:
        change()
        found = branch_colours(panel)
        assert found
        assert all(is_chosen is is_painted for is_chosen, is_painted in found)


# folded trees


def test_a_tree_that_was_folded_is_folded_in_the_next_session_and_unfolds_to_its_width(
    make_window: Callable[[], Window], waiting_sample: SampleFolder, qtbot: QtBot
) -> None:
    first = make_window()
    first.show_project(Workbench.open(waiting_sample.project))
    qtbot.waitUntil(lambda: first.map.source_dock.width() > 2 * STRIP_PX)
    width = first.map.source_dock.width()
    first.actions_table["fold_sources"].trigger()
    qtbot.waitUntil(lambda: first.map.source_dock.width() == STRIP_PX)
    first.close()
    second = make_window()
    second.show_project(Workbench.open(waiting_sample.project))
    qtbot.waitUntil(lambda: second.map.source_dock.width() == STRIP_PX)
    assert second.map.sources.is_folded
    assert not second.map.targets.is_folded
    QTest.mouseClick(second.map.sources.strip, LEFT)
    qtbot.waitUntil(lambda: abs(second.map.source_dock.width() - width) <= 2)


@pytest.mark.parametrize(
    "kept", ['{"trees": [[1]]}', '{"trees": [["1", 200], 3]}', '{"trees": 7}', "[", '{"trees":[[true,2]]}']
)
def test_what_is_no_answer_about_folding_folds_nothing(window: Window, kept: str) -> None:
    window.settings._store.setValue("folded", kept)
    window.map.folding.restore(window.settings.folded)
    assert not window.map.sources.is_folded
    assert not window.map.targets.is_folded


# tooltips


@OFFSCREEN
def test_pointing_at_an_element_says_what_was_commented_on_it_to_the_letter(window: Window) -> None:
    block = blocks(window)[0]
    element = block.elements[0]
    workbench = window.project.workbench
    assert workbench is not None
    workbench.add_comment(element_subject(window.project.value, block.key, element), "cents < euros?")
    window.project.read_comments_again()
    matrix = window.map.matrix
    for own, wanted in ((element, True), (block.elements[1], False)):
        where = at_cell(window, block.key, own)
        event = QHelpEvent(QHelpEvent.Type.ToolTip, where, matrix.viewport().mapToGlobal(where))
        QApplication.sendEvent(matrix.viewport(), event)
        assert ("“cents &lt; euros?”" in QToolTip.text()) is wanted
    QToolTip.hideText()


# rectangles with a hidden corner


def choose_rectangle(window: Window) -> tuple[NodeRef, ...]:
    """Choose all cells of a block and return its sources."""
    block = blocks(window)[0]
    sources, targets = ends(window, block.key)
    document = window.project.value
    select(window, block.key, Element(targets[0], sources[0]))
    window.map.matrix.stretch_to(
        Selected(
            place_of_version(document, Side.EXTRACTION, block.version, sources[-1]),
            place_of_version(document, Side.CDM, block.entity_version, targets[-1]),
        )
    )
    return tuple(place_of_version(document, Side.EXTRACTION, block.version, p) for p in sources)


def test_a_rectangle_with_a_hidden_corner_is_outlined_and_edited_as_far_as_it_is_shown(
    window: Window, qtbot: QtBot
) -> None:
    places = choose_rectangle(window)
    document, matrix = window.project.value, window.map.matrix
    middle = places[len(places) // 2]
    attribute = document.extraction.version(middle.version or 0).attribute(middle.attribute or 0)
    assert attribute is not None
    with qtbot.waitSignal(window.map.sources.narrowed):
        window.map.sources.funnel.click()
        window.map.sources.filter_now(f'"{attribute.path}"')
    shown, whole = window.map.planes.shown, window.map.planes.whole
    cells = window.selection.current.cells
    assert shown is not None
    assert whole is not None
    assert cells is not None
    hidden = [each for each in (places[0], places[-1]) if position_of(shown.columns, each) is None]
    assert len(hidden) == 2
    box = box_shown(shown, whole, cells)
    assert box is not None
    inside = {
        (shown.columns.version_id(shown.columns.version_at(x)), shown.columns.attribute_id(x))
        for x in range(box[0], box[2] + 1)
    }
    passing = [
        (shown.columns.version_id(shown.columns.version_at(x)), shown.columns.attribute_id(x))
        for x in range(len(shown.columns.runs))
    ]
    chosen = {(place.version, place.attribute) for place in places}
    assert inside == {column for column in passing if column in chosen}
    before = matrix.grab().toImage()
    window.selection.choose(Selected())
    assert matrix.grab().toImage() != before
    window.map.planes.switch_everything()
    assert matrix.sight.chosen_box is None


def test_mapping_a_rectangle_with_a_hidden_corner_maps_its_shown_part(window: Window, qtbot: QtBot) -> None:
    choose_rectangle(window)
    block = blocks(window)[0]
    QTest.keyClick(window.map.matrix, _DELETE)
    assert not elements(window, block.key)
    source = window.project.value.extraction.version(block.version).attribute(block.elements[1].p)
    assert source is not None
    with qtbot.waitSignal(window.map.sources.narrowed):
        window.map.sources.funnel.click()
        window.map.sources.filter_now(f'"{source.path}"')
    window.actions_table["map_by_position"].trigger()
    mapped = elements(window, block.key)
    names = {window.project.value.extraction.version(block.version).attribute(e.p) for e in mapped}
    assert mapped
    assert all(name is not None and source.path in name.path for name in names)


# rows after an edit


class Paints(QObject):
    """Notes which viewports are painted."""

    def __init__(self, *views: QAbstractItemView) -> None:
        super().__init__()
        self.seen: set[str] = set()
        for view in views:
            view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt decides its name
        parent = watched.parent()
        if event.type() is QEvent.Type.Paint and isinstance(parent, QAbstractItemView):
            self.seen.add(parent.accessibleName())
        return False


def test_an_edit_paints_the_rows_of_trees_and_block_editor_again_and_keeps_where_they_are_scrolled(
    window: Window,
) -> None:
    block = blocks(window)[0]
    select(window, block.key, block.elements[0])
    lists = window.map.block.lists
    views = (window.map.sources.view, window.map.targets.view, lists.left, lists.right)
    for view in views:
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    QApplication.processEvents()
    scrolled = [view.verticalScrollBar().value() for view in views]
    paints = Paints(*views)
    window.actions_table["clear_element"].trigger()
    assert block.elements[0] not in elements(window, block.key)
    QApplication.processEvents()
    assert paints.seen == {view.accessibleName() for view in views}
    assert [view.verticalScrollBar().value() for view in views] == scrolled
