"""Suggestions in the window: listed, cycled, accepted, refused, restored, dismissed; never applied unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.suggest.panel import PanelSection
from metl_gui.ui.suggest.rows import SuggestionRow
from metl_gui.ui.suggest.suggestions import SelectionSuggestions
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.held_jobs import HeldJobs

SHIFT = Qt.KeyboardModifier.ShiftModifier


def key_of(window: Window, schema: str, entity: str) -> BlockKey:
    document = window.project.value
    one, other = document.extraction.named(schema), document.cdm.named(entity)
    assert one is not None
    assert other is not None
    return one.version_ids[-1], other.version_ids[-1]


@pytest.fixture
def key(window: Window) -> BlockKey:
    """The block of persons, cleared but for its first element, and selected."""
    key = key_of(window, "fx.customers.person", "customer")
    block = window.project.value.matrix.block(*key)
    assert block is not None
    window.project.do(SetElements(key, zeros=block.elements[1:]))
    choose(window, key)
    return key


def choose(window: Window, key: BlockKey | None, source: str = "", target: str = "") -> None:
    document = window.project.value
    if key is None:
        window.selection.choose(Selected())
        return
    p, q = (
        version.at_path(path) if path else None
        for version, path in (
            (document.extraction.version(key[0]), source),
            (document.cdm.version(key[1]), target),
        )
    )
    window.selection.choose(
        Selected(
            place_of_version(document, Side.EXTRACTION, key[0], p.id if p else None),
            place_of_version(document, Side.CDM, key[1], q.id if q else None),
        )
    )


def block_at(window: Window, key: BlockKey) -> Block:
    block = window.project.value.matrix.block(*key)
    assert block is not None
    return block


def shown(window: Window) -> list[SuggestionRow]:
    return list(window.suggest.panel.model.rows)


def titles(window: Window) -> list[str]:
    return [row.title for row in shown(window)]


def mapped(window: Window, key: BlockKey) -> set[tuple[str, str]]:
    document = window.project.value
    sources = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    targets = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    return {(targets[q], sources[p]) for q, p in block_at(window, key).elements}


def test_the_panel_lists_the_best_set_of_the_selected_block_with_scores_and_reasons(
    window: Window, key: BlockKey
) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert window.suggest.panel.isVisible()
    assert "name.family from family_name" in titles(window)
    assert all(row.score is not None and row.facts for row in shown(window))
    assert window.suggest.panel.view.hasFocus()
    assert {ghost.key for ghost in window.map.matrix.sight.ghosts} == {key}


def test_nothing_is_suggested_while_nobody_asks(window: Window, key: BlockKey) -> None:
    assert window.selection.current.block == key
    assert window.map.matrix.sight.ghosts == ()
    assert window.suggest.suggestions.found.candidates == ()


def test_looking_and_cycling_change_nothing(window: Window, key: BlockKey) -> None:
    before = window.project.value
    window.suggest.show()
    for _ in range(5):
        window.suggest.suggestions.cycle()
    assert window.project.value is before
    assert window.suggest.suggestions.found.key == key


def test_enter_in_the_list_sets_the_current_one_and_confirms_it_as_one_undo_step(window: Window, key: BlockKey) -> None:
    window.suggest.show()
    view = window.suggest.panel.view
    QTest.keyClick(view, Qt.Key.Key_Home)
    taken = window.suggest.panel.current
    assert taken is not None
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert tuple(taken.title.split(" from ")) in mapped(window, key)
    assert block_at(window, key).status is Status.CONFIRMED
    assert taken.title not in titles(window)
    window.project.undo()
    assert taken.title in titles(window)


def test_delete_in_the_list_refuses_for_all_versions_and_restore_brings_it_back(
    window: Window, key: BlockKey, waiting_sample: SampleFolder
) -> None:
    window.suggest.show()
    panel = window.suggest.panel
    QTest.keyClick(panel.view, Qt.Key.Key_Home)
    refused = panel.current
    assert refused is not None
    state = window.project.value.state
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    assert window.project.value.state == state
    assert refused.title not in titles(window)
    window.project.close()
    window.project.open(Workbench.open(waiting_sample.project))
    choose(window, key)
    assert refused.title not in titles(window)
    QTest.mouseClick(panel.parts[PanelSection.REFUSED], Qt.MouseButton.LeftButton)
    assert len(shown(window)) == 1
    assert panel.accept.text() == "Restore"
    QTest.mouseClick(panel.accept, Qt.MouseButton.LeftButton)
    QTest.mouseClick(panel.parts[PanelSection.BLOCK], Qt.MouseButton.LeftButton)
    assert refused.title in titles(window)


def test_accepting_all_is_one_undo_step_and_leaves_the_block_unconfirmed(window: Window, key: BlockKey) -> None:
    window.suggest.show()
    panel = window.suggest.panel
    sure = len(window.suggest.suggestions.sure)
    assert sure > 3
    assert panel.accept_all.text() == f"Accept all {sure} above 0.90"
    before = window.project.value
    QTest.mouseClick(panel.accept_all, Qt.MouseButton.LeftButton)
    assert window.project.value.state == before.state + 1
    assert len(block_at(window, key).elements) == 1 + sure
    assert block_at(window, key).status is Status.UNCONFIRMED
    window.project.undo()
    assert len(block_at(window, key).elements) == 1


def test_the_keyboard_is_in_the_list_after_all_were_accepted(window: Window, key: BlockKey) -> None:
    panel = window.suggest.panel
    activate(window)
    window.suggest.show()
    assert QApplication.focusWidget() is panel.view
    assert window.suggest.suggestions.found.key == key
    QTest.mouseClick(panel.accept_all, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert not panel.accept_all.isVisible()
    assert QApplication.focusWidget() is (panel.view if panel.model.rows else panel.parts[panel.part])


def test_shift_space_cycles_the_candidates_of_the_current_attribute_and_says_each(
    window: Window, key: BlockKey, qtbot: QtBot
) -> None:
    activate(window)
    choose(window, key, target="name.given")
    matrix = window.map.matrix
    matrix.setFocus()
    with qtbot.waitSignal(matrix.announced) as said:
        QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    listed = window.suggest.suggestions.of_attribute
    assert len(listed) > 1
    assert said.args is not None
    assert said.args[0] == f"name.given from given_name, suggested, {listed[0].score:.2f}"
    assert window.suggest.suggestions.current == listed[0]
    for candidate in (*listed[1:], listed[0]):
        QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
        assert window.suggest.suggestions.current == candidate
        assert window.selection.current.element == candidate.element
        assert [ghost.element for ghost in matrix.sight.ghosts if ghost.is_current] == [candidate.element]


@pytest.mark.usefixtures("key")
def test_a_candidate_that_is_not_the_best_is_listed_while_it_is_the_current_one(window: Window) -> None:
    window.suggest.show()
    suggestions = window.suggest.suggestions
    other = next(each for each in suggestions.found.candidates if not each.is_best)
    suggestions.go_to(other)
    row = window.suggest.panel.current
    assert row is not None
    assert row.candidate == other
    assert window.suggest.panel.accept.isEnabled()


def test_enter_in_the_matrix_accepts_the_suggestion_that_is_shown(window: Window, key: BlockKey) -> None:
    activate(window)
    choose(window, key, target="email")
    matrix = window.map.matrix
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    QTest.keyClick(matrix, Qt.Key.Key_Return)
    assert ("email", "email") in mapped(window, key)


def test_escape_takes_the_ghosts_away_until_they_are_asked_for_again(window: Window, key: BlockKey) -> None:
    activate(window)
    matrix = window.map.matrix
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    assert matrix.sight.ghosts
    QTest.keyClick(matrix, Qt.Key.Key_Escape)
    assert matrix.sight.ghosts == ()
    assert window.selection.current.block == key
    QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    assert matrix.sight.ghosts


def test_shift_delete_in_the_matrix_refuses_and_the_notice_restores(window: Window, key: BlockKey) -> None:
    activate(window)
    choose(window, key, target="email")
    matrix = window.map.matrix
    matrix.setFocus()
    QTest.keyClick(matrix, Qt.Key.Key_Space, SHIFT)
    first = window.suggest.suggestions.current
    assert first is not None
    QTest.keyClick(matrix, Qt.Key.Key_Delete, SHIFT)
    assert first not in window.suggest.suggestions.found.candidates
    assert [refusal.to_path for refusal in window.suggest.suggestions.refused] == ["email"]
    assert "is not suggested any more" in window.notice.words.text()
    QTest.mouseClick(window.notice.action, Qt.MouseButton.LeftButton)
    assert window.suggest.suggestions.refused == ()
    assert first.element in [each.element for each in window.suggest.suggestions.found.candidates]


def test_a_taken_row_or_column_is_not_suggested_and_its_ghost_goes_when_it_is_taken(
    window: Window, key: BlockKey
) -> None:
    window.suggest.show()
    ghost = window.map.matrix.sight.ghosts[0]
    window.project.do(SetElements(key, (ghost.element,)))
    ends = [(g.element.q, g.element.p) for g in window.map.matrix.sight.ghosts]
    assert all(q != ghost.element.q and p != ghost.element.p for q, p in ends)


def test_with_a_schema_alone_the_panel_ranks_entities_and_enter_goes_to_the_block(window: Window) -> None:
    v, w = key_of(window, "fx.customers.person", "customer")
    window.suggest.show()
    window.selection.choose(Selected(place_of_version(window.project.value, Side.EXTRACTION, v)))
    assert titles(window)[0].startswith("customer")
    view = window.suggest.panel.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert window.selection.current.block == (v, w)


def test_the_part_for_an_attribute_lists_all_its_candidates(window: Window, key: BlockKey) -> None:
    window.suggest.show()
    panel = window.suggest.panel
    QTest.mouseClick(panel.parts[PanelSection.ATTRIBUTE], Qt.MouseButton.LeftButton)
    assert shown(window) == []
    assert "Select an attribute" in panel.empty.text()
    choose(window, key, target="name.given")
    assert len(shown(window)) > 1
    assert all(title.startswith("name.given from ") for title in titles(window))


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_suggested_cell_shows_a_ring_and_the_current_one_a_dot_in_it(
    window: Window, theme: str, dressed: QApplication, tmp_path: Path
) -> None:
    themes.apply(dressed, themes.load(theme))
    matrix = window.map.matrix
    matrix.fit_selection()
    window.suggest.show()
    suggestions = window.suggest.suggestions
    suggestions.go_to(suggestions.best[0])
    path = tmp_path / f"suggestions-{theme}.png"
    assert window.grab().save(str(path))
    picture = matrix.grab().toImage()
    for ghost in matrix.sight.ghosts:
        box = matrix.cell_box(ghost.key, ghost.element)
        assert box is not None
        assert good_pixels(picture, box) > 8
        middle = QRect(box.center().x() - 1, box.center().y() - 1, 3, 3)
        assert (good_pixels(picture, middle) > 0) is ghost.is_current


def good_pixels(picture: QImage, box: QRect) -> int:
    """Count the pixels of a box that are nearly of the colour of suggestions."""
    good = themes.current().good
    found = 0
    for x in range(box.left(), box.right() + 1):
        for y in range(box.top(), box.bottom() + 1):
            colour = picture.pixelColor(x, y)
            found += max(abs(colour.red() - good.red()), abs(colour.green() - good.green())) < 40
    return found


def test_a_project_that_is_read_only_shows_suggestions_and_takes_none(
    make_window: Callable[[], Window], waiting_sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(waiting_sample.project, for_editing=False))
    choose(window, key_of(window, "fx.accounts.card", "account"))
    window.suggest.show()
    assert shown(window)
    QTest.keyClick(window.suggest.panel.view, Qt.Key.Key_Home)
    assert not window.suggest.panel.accept.isEnabled()
    assert not window.suggest.panel.refuse.isEnabled()


@pytest.mark.usefixtures("key")
def test_the_rows_tell_screen_readers_what_is_suggested_how_surely_and_why(window: Window) -> None:
    window.suggest.show()
    model = window.suggest.panel.model
    spoken = model.index(0).data(int(Qt.ItemDataRole.AccessibleTextRole))
    row = model.rows[0]
    assert spoken == f"{row.title}, suggested, {row.score:.2f}, {row.facts}"


def test_the_model_keeps_qts_rules_through_edits_undo_and_another_project(
    window: Window, key: BlockKey, waiting_sample: SampleFolder
) -> None:
    tester = QAbstractItemModelTester(
        window.suggest.panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, window
    )
    window.suggest.show()
    window.suggest.suggestions.accept(window.suggest.suggestions.best[0])
    window.project.undo()
    window.suggest.suggestions.refuse(window.suggest.suggestions.best[0])
    for part in PanelSection:
        window.suggest.panel.show_part(part)
    window.project.close()
    window.project.open(Workbench.open(waiting_sample.project))
    choose(window, key)
    window.project.close()
    assert shown(window) == []
    assert tester is not None


@pytest.mark.usefixtures("key")
def test_an_answer_that_comes_after_the_selection_moved_on_is_dropped(window: Window) -> None:
    jobs = HeldJobs()
    late = SelectionSuggestions(window.project, window.selection, window.map.edits, jobs)
    late.want(True)
    other = key_of(window, "fx.payments.orders", "payment")
    choose(window, other)
    assert len(jobs.held) == 2
    jobs.release()
    assert late.found.key == other
    jobs.stop()
    late.deleteLater()
