"""Ghost columns under the hand: a click opens the card, nothing can be mapped, selected or dropped there."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.selected_content import loss_tip
from metl_gui.ui.matrix.labels.headers import top_px
from metl_gui.ui.matrix.layout.ghost_lines import GhostLine, LostHere
from metl_gui.ui.matrix.layout.placement import GHOST
from metl_gui.ui.shell.window import Window
from tests.qt.matrix_hand import CONTROL, SHIFT, at_cell, drag, elements, move, press, release, select


def a_ghost(window: Window) -> tuple[GhostLine, LostHere]:
    """Return a ghost column with something before and behind it, and what was lost with it."""
    content = window.map.matrix.content
    assert content is not None
    spans = content.columns.version_spans
    line = next(
        each for each in content.columns.ghosts.lines if spans.first(each.item) < each.before < spans.last(each.item)
    )
    return line, line.losses[0]


def at_ghost(window: Window, lost: LostHere) -> QPoint:
    """Zoom to cells at a lost element and return where it lies."""
    matrix, (key, loss) = window.map.matrix, lost
    content = matrix.content
    assert content is not None
    block = content.document.matrix.block(*key)
    assert block is not None
    at_cell(window, key, block.elements[0])
    (cell,) = (cell for cell in content.lost_cells(key) if cell.loss == loss)
    x, y = matrix.camera.on_screen(cell.column[0] + GHOST / 2, cell.row[0] + 0.5)
    return (matrix.panes.plane.pos() + QPointF(x, y)).toPoint()


def neighbours(window: Window, line: GhostLine) -> tuple[int, int]:
    """Return the attributes left and right of a ghost."""
    content = window.map.matrix.content
    assert content is not None
    return content.columns.attribute_id(line.before - 1), content.columns.attribute_id(line.before)


def test_a_click_on_a_lost_element_asks_for_its_card_and_selects_and_maps_nothing(window: Window) -> None:
    _, lost = a_ghost(window)
    at = at_ghost(window, lost)
    asked: list[LostHere] = []
    window.map.matrix.loss_picked.connect(asked.append)
    document, selected = window.project.value, window.selection.current
    press(window.map.matrix, at)
    release(window.map.matrix, at)
    assert asked == [lost]
    assert window.project.value is document
    assert window.selection.current == selected


def test_a_click_on_the_name_of_a_ghost_asks_for_its_card(window: Window) -> None:
    line, lost = a_ghost(window)
    at = at_ghost(window, lost)
    asked: list[LostHere] = []
    window.map.matrix.loss_picked.connect(asked.append)
    name = QPoint(at.x(), round(top_px()) - 12)
    press(window.map.matrix, name)
    release(window.map.matrix, name)
    assert asked == [line.losses[0]]
    band = QPoint(at.x(), 8)  # the schema's band above it belongs to the schema
    press(window.map.matrix, band)
    release(window.map.matrix, band)
    assert len(asked) == 1


def test_a_run_over_a_ghost_maps_the_columns_beside_it_only(window: Window) -> None:
    line, lost = a_ghost(window)
    key = lost[0]
    at = at_ghost(window, lost)
    before = elements(window, key)
    drag(window.map.matrix, at, at + QPoint(2, 2), keys=CONTROL)
    assert elements(window, key) == before  # a run begins at a cell
    move(window.map.matrix, at)
    drag(window.map.matrix, at + QPoint(-20, -25), at + QPoint(20, 25), keys=SHIFT)
    cells = window.selection.current.cells
    assert cells is not None
    assert (cells.first_source.attribute, cells.last_source.attribute) == neighbours(window, line)


def test_arrow_keys_pass_a_ghost_and_tell_a_screen_reader_of_it(window: Window) -> None:
    line, lost = a_ghost(window)
    left, right = neighbours(window, line)
    block = window.project.value.matrix.block(*lost[0])
    assert block is not None
    at_cell(window, lost[0], Element(block.elements[0].q, left))
    matrix = window.map.matrix
    matrix.setFocus()
    told: list[str] = []
    matrix.announced.connect(told.append)
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    source = window.selection.current.source
    assert source is not None
    assert source.attribute == right
    assert lost[1].reason in told[-1]
    QTest.keyClick(matrix, Qt.Key.Key_Right)
    assert lost[1].reason not in told[-1]


def test_nothing_can_be_dropped_on_a_ghost(window: Window) -> None:
    _, lost = a_ghost(window)
    at = QPointF(at_ghost(window, lost)) - window.map.matrix.panes.plane.pos()
    hits = window.map.matrix.hits
    assert hits is not None
    assert hits.node_at(Side.EXTRACTION, at.x()) is None
    assert hits.cell(at.x(), at.y()) is None


def test_the_tooltip_of_a_ghost_gives_the_reason(window: Window) -> None:
    _line, lost = a_ghost(window)
    assert lost[1].reason in loss_tip(lost)
    assert f"<s>{lost[1].from_path}</s>" in loss_tip(lost)


@pytest.mark.parametrize("is_undone", [False, True])
def test_ghosts_go_with_the_decision_and_come_back_with_undo(window: Window, is_undone: bool) -> None:
    line, lost = a_ghost(window)
    item = next(item for item in window.project.review_items() if lost[1] in item.losses)
    first, second = neighbours(window, line)
    taken = window.project.value.matrix.block(*item.key)
    assert taken is not None
    free = first if first not in {e.p for e in taken.elements} else second
    select(window, item.key, Element(lost[1].q, free))
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Space)
    if is_undone:
        window.project.undo()
    after = window.map.matrix.content
    assert after is not None
    has_ghost = any(lost[1] in (loss for _, loss in each.losses) for each in after.columns.ghosts.lines)
    assert has_ghost is is_undone
