"""Examples A to C in the window: what is dropped, clicked and undone, and what stands there then.

Source: docs/architecture/model.md, "Worked examples".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolTip
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.drop.sheet import Act
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.layout.content import LostCell
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.session import Workbench
from tests.helpers import worked_examples as examples
from tests.qt.conftest import activate
from tests.qt.matrix_hand import at_cell
from tests.qt.mouse_user import Mouse
from tests.qt.test_incoming import drop, press
from tests.qt.user import EXTRACTION

WAITING = "Waiting for a decision"
Show = Callable[[Workbench], Mouse]


@pytest.fixture
def show(make_window: Callable[[], Window], qtbot: QtBot) -> Show:
    """Return what seats somebody with a mouse before an example."""

    def seat(workbench: Workbench) -> Mouse:
        window = make_window()
        window.show_project(workbench)
        activate(window)
        QApplication.processEvents()
        return Mouse(window, qtbot)

    return seat


def add(user: Mouse, file: Path, act: Act) -> None:
    """Drop a schema file on the window and press the button that adds it."""
    press(drop(user.window, file), act)
    QApplication.processEvents()


def columns(user: Mouse) -> list[str]:
    """Return the names above the matrix from left to right, ghosts with a tilde."""
    return _names(user, Side.EXTRACTION)


def rows(user: Mouse) -> list[str]:
    """Return the names beside the matrix from top to bottom, ghosts with a tilde."""
    return _names(user, Side.CDM)


def _names(user: Mouse, side: Side) -> list[str]:
    content = user.window.map.matrix.content
    assert content is not None
    axis = content.columns if side is Side.EXTRACTION else content.rows
    found = [(axis.begin(at), axis.name(Level.ATTRIBUTE, at)) for at in range(len(axis.runs))]
    found += [(begin, f"~{line.path}") for line, begin in axis.ghosts.within(0.0, axis.length)]
    return [name for _, name in sorted(found)]


def lost(user: Mouse) -> list[LostCell]:
    """Return the lost elements that the matrix outlines."""
    content = user.window.map.matrix.content
    assert content is not None
    return [cell for key in content.lost for cell in content.lost_cells(key)]


def place_of(user: Mouse, cell: LostCell) -> QPoint:
    """Return where a lost element stands, on the Map page zoomed to cells."""
    matrix = user.window.map.matrix
    matrix.look(Camera(-0.5, -0.5, 27.0, 25.0).held(matrix.frame))
    x, y = (sum(stretch) / 2 for stretch in (cell.column, cell.row))
    left, top = matrix.sight.snapped.on_screen(x, y)
    return (matrix.panes.plane.pos() + QPointF(left, top)).toPoint()


def tooltip(user: Mouse, at: QPoint) -> str:
    """Rest on a point of the matrix and read what is shown."""
    view = user.window.map.matrix
    on_screen = view.viewport().mapToGlobal(at)
    QApplication.sendEvent(view.viewport(), QHelpEvent(QHelpEvent.Type.ToolTip, at, on_screen))
    return QToolTip.text()


def items(user: Mouse) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what waits: the block, and of each lost element its target and the reason, as the list and cards say."""
    user.window.show_page(1)
    QApplication.processEvents()
    found = []
    for at in range(user.window.review.list.view.model().rowCount()):
        view = user.window.review.list.view
        view.setCurrentIndex(view.model().index(at, 0))
        cards = [(card.facts.loss.to_path, card.facts.loss.reason) for card in user.window.review.cards]
        titles = [label.text() for label in user.window.review.detail.findChildren(QLabel) if "version" in label.text()]
        found.append((titles[0], cards))
    user.window.show_page(0)
    return found


def third(user: Mouse) -> tuple[BlockKey, LostCell, int]:
    """Return the block of the third version of example B, what it lost, and its new attribute."""
    document = user.window.project.value
    (key,), (cell,) = document.matrix.waiting(), lost(user)
    return key, cell, document.extraction.version(key[0]).attributes[1].id


# A


def test_example_a_has_30_cells_and_7_elements_and_nothing_waits(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_a(tmp_path / "a.metl"))
    assert columns(user) == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert rows(user) == ["c3", "c4", "c5", "c6", "c7"]
    assert "7 elements" in user.status
    assert "review" not in user.status
    assert items(user) == []


def test_example_a_loses_and_regains_an_element_by_a_click_and_undo(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_a(tmp_path / "a.metl"))
    user.do("View", "Fit the whole matrix")
    user.stand_on("s2 1 a6", "be2 1 c5")
    user.set_cell()
    assert "6 elements" in user.status
    assert user.undo_words.startswith("Undo ")
    user.undo()
    assert "7 elements" in user.status


def test_example_a_asks_of_a_third_version_what_the_null_block_of_the_second_never_had(
    show: Show, tmp_path: Path
) -> None:
    user = show(examples.example_a(tmp_path / "a.metl"))
    add(user, examples.schema_file(tmp_path, "s1", "3", "a8=a4"), Act.ADD_EXTRACTION)
    assert columns(user)[5:7] == ["a8", "~a5"]
    assert [(cell.loss.to_path, cell.loss.reason) for cell in lost(user)] == [("c4", "a5 was removed in version 3")]
    user.undo()
    assert columns(user) == ["a1", "a2", "a3", "a4", "a5", "a6"]


# B


def test_example_b_event_1_waits_with_a_ghost_its_reason_and_one_card(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_b(tmp_path / "b.metl"))
    assert "6 elements" in user.status
    add(user, examples.event_1(tmp_path), Act.ADD_EXTRACTION)
    assert "7 elements" in user.status
    assert columns(user) == ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "~a6"]
    assert rows(user) == ["c1", "c2", "c6", "c7"]
    assert user.window.facts.waiting == 1
    (cell,) = lost(user)
    words = tooltip(user, place_of(user, cell))
    assert "<s>a6</s> → c2" in words
    assert "a6 was removed in version 3" in words
    assert items(user) == [("s1: version 2 → 3", [("c2", "a6 was removed in version 3")])]


def test_example_b_a_click_on_the_ghost_leads_to_the_card_and_the_decision_ends_both(
    show: Show, tmp_path: Path
) -> None:
    user = show(examples.example_b(tmp_path / "b.metl"))
    add(user, examples.event_1(tmp_path), Act.ADD_EXTRACTION)
    (cell,) = lost(user)
    user.click(user.window.map.matrix.viewport(), place_of(user, cell))
    assert user.window.stack.currentWidget() is user.window.review
    user.press("Confirm the loss")
    assert user.sees("Nothing waits for a decision")
    user.window.show_page(0)
    assert columns(user) == ["a1", "a2", "a3", "a4", "a5", "a6", "a7"]
    assert lost(user) == []
    user.undo()
    assert columns(user)[-2:] == ["a7", "~a6"]
    assert user.window.facts.waiting == 1
    user.undo()
    assert columns(user) == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert user.window.facts.waiting == 0


def test_example_b_event_2_moves_the_rows_and_carries_the_open_review(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_b(tmp_path / "b.metl"))
    add(user, examples.event_1(tmp_path), Act.ADD_EXTRACTION)
    add(user, examples.event_2(tmp_path), Act.ADD_CDM)
    assert rows(user) == ["c3", "c4", "c6", "c7"]  # be1 1 gave way
    assert columns(user)[-2:] == ["a7", "~a6"]
    assert "7 elements" in user.status
    assert [(cell.loss.to_path, cell.is_ghost) for cell in lost(user)] == [("c4", True)]
    assert [[target for target, _ in cards] for _, cards in items(user)] == [["c4"]]
    user.undo()
    assert rows(user) == ["c1", "c2", "c6", "c7"]
    assert [[target for target, _ in cards] for _, cards in items(user)] == [["c2"]]


def test_example_b_mapping_the_free_row_in_the_matrix_settles_the_card(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_b(tmp_path / "b.metl"))
    add(user, examples.schema_file(tmp_path, "s1", "3", "a7=a4", "a8"), Act.ADD_EXTRACTION)
    assert columns(user)[-3:] == ["a7", "~a6", "a8"]
    key, cell, a8 = third(user)
    user.click(user.window.map.matrix.viewport(), at_cell(user.window, key, Element(cell.loss.q, a8)))
    assert lost(user) == []
    assert items(user) == []
    assert "8 elements" in user.status


def test_example_b_arrow_keys_pass_the_ghost_of_the_new_version(show: Show, tmp_path: Path) -> None:
    user = show(examples.example_b(tmp_path / "b.metl"))
    add(user, examples.schema_file(tmp_path, "s1", "3", "a7=a4", "a8"), Act.ADD_EXTRACTION)
    key, cell, _ = third(user)
    block = user.window.project.value.matrix.block(*key)
    assert block is not None
    at_cell(user.window, key, Element(cell.loss.q, block.elements[0].p))
    QTest.keyClick(user.window.map.matrix, Qt.Key.Key_Right)
    heard = [words for words in user.heard if "a6 was removed in version 3" in words]
    assert len(heard) == 1
    assert heard[0].startswith("c2 from a8, not mapped")


# C


def test_example_c_removing_the_first_version_loses_no_later_one_and_undo_brings_it_back(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = show(examples.example_c(tmp_path / "c.metl"))
    assert "3 elements" in user.status
    asked: list[str] = []

    def remove(title: str, text: str, answers: list[tuple[str, str]], _parent: object) -> str:
        asked.append(f"{title} {text}")
        return answers[0][0]

    monkeypatch.setattr(dialogs, "ask", remove)
    user.choose(EXTRACTION, ("s1", "1"))
    user.do("Schema", "Remove the selected version")
    assert asked == ["Remove s1 1? 1 block with 1 element go with it. It can be undone."]
    assert "2 elements" in user.status
    assert columns(user) == ["x", "y", "u", "x", "y", "z"]
    assert items(user) == []
    user.undo()
    assert "3 elements" in user.status
    assert columns(user) == ["x", "y", "x", "y", "u", "x", "y", "z"]
