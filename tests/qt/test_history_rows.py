"""Rows of the history: what was done, an edit with its undo and an import as one each, in a list that has room."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.history.state_list import PAGE, StateModel
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.history.states import StateFilter
from metl_gui.workbench.publishing.publication import publish
from tests.qt.history_hand import BOTH, CTRL, LEFT, clear_one, now, show_history

_FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
_AVRO = '{"type": "record", "name": "n", "fields": [{"name": "a", "type": "string"}, {"name": "b%d", "type": "int"}]}'


def shown(window: Window) -> list[tuple[int, str]]:
    """Return the rows of the list: the newest state of each, and what was done."""
    return [(row.state, row.done) for row in window.history.panel.model.rows]


def import_three(window: Window, folder: Path) -> None:
    folder.mkdir()
    for at in (1, 2, 3):
        (folder / f"fresh.thing.v{at}.avsc").write_text(_AVRO % at)
    window.imports.import_schemas(Side.EXTRACTION, [folder])


def test_an_edit_and_its_undo_become_one_row_that_unfolds_and_folds_by_keys(window: Window) -> None:
    show_history(window)
    QAbstractItemModelTester(window.history.panel.model, _FATAL, window)
    before = shown(window)
    clear_one(window)
    window.history.panel.read()
    done = shown(window)[0][1]
    assert done.startswith(("Cleared ", "Mapped "))
    QTest.keyClick(window, Qt.Key.Key_Z, CTRL)
    window.history.panel.read()
    assert shown(window) == [(now(window), f"{done}, then undone"), *before]

    view = window.history.panel.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert [state for state, _ in shown(window)[:3]] == [now(window), now(window) - 1, now(window) - 2]
    assert shown(window)[1][1] == done
    assert shown(window)[0][1].startswith("Undone: ")
    window.history.panel.read()
    assert shown(window)[1][1] == done, "what was unfolded stays so"
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert shown(window) == [(now(window), f"{done}, then undone"), *before]
    QTest.keyClick(window, Qt.Key.Key_Z, BOTH)
    window.history.panel.read()
    assert shown(window)[0] == (now(window), done)


def test_an_import_is_one_row_with_a_triangle_and_undo_names_it_whole(window: Window, tmp_path: Path) -> None:
    show_history(window)
    before = shown(window)
    import_three(window, tmp_path / "three")
    window.history.panel.read()
    assert shown(window) == [(now(window), "Imported 3 versions"), *before]
    assert window.head.undo.accessibleName() == "Undo import 3 versions"

    view = window.history.panel.view
    row = view.visualRect(window.history.panel.model.index(0))
    texts = [len(str(now(window))) * view.fontMetrics().horizontalAdvance("0")]
    places = (QPoint(x, row.center().y()) for x in range(row.left() + texts[0], row.left() + 120, 3))
    for place in places:  # the triangle lies somewhere behind the number
        QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
        if len(shown(window)) > len(before) + 1:
            break
    assert [done for _, done in shown(window)[:3]] == [f"Added n version {at}" for at in (3, 2, 1)]
    assert window.project.looks_back is None, "a press on the triangle looks at nothing"

    QTest.keyClick(window, Qt.Key.Key_Z, CTRL)
    window.history.panel.read()
    assert shown(window)[0][1].startswith("Imported 3 versions, then undone")


def test_the_question_before_an_import_is_undone_names_it_whole(
    window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_three(window, tmp_path / "three")
    asked: list[str] = []

    def execute(question: dialogs.QuestionDialog) -> int:
        asked.append(question.windowTitle())
        question.answer = "undo"
        return 0

    monkeypatch.setattr(dialogs.QuestionDialog, "exec", execute)
    show_history(window)
    window.history.panel.read()
    window.actions_table["undo_state"].trigger()
    assert asked == ["Undo “Import 3 versions”?"]
    assert window.notice.words.text() == "Undone: imported 3 versions."


def test_an_edit_and_its_undo_are_no_change_since_what_is_live(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    publish(workbench)
    window.history.live.look()
    assert "since" not in window.head.live.accessibleName()
    clear_one(window)
    assert window.head.live.accessibleName().endswith(", 1 change since")
    QTest.keyClick(window, Qt.Key.Key_Z, CTRL)
    assert "since" not in window.head.live.accessibleName()
    QTest.keyClick(window, Qt.Key.Key_Z, BOTH)
    assert window.head.live.accessibleName().endswith(", 1 change since")


def test_titles_have_the_width_of_the_panel_and_details_stand_below_unless_both_have_room(window: Window) -> None:
    show_history(window)
    panel = window.history.panel
    QApplication.processEvents()
    assert panel.split.orientation() is Qt.Orientation.Vertical
    assert panel.view.width() > 0.9 * panel.width() - 30
    assert panel.difference.mapTo(panel, QPoint()).y() > panel.view.mapTo(panel, QPoint()).y() + panel.view.height()
    assert panel.view.viewport().height() >= 5 * panel.view.sizeHintForRow(0)
    window.setMinimumSize(0, 0)
    window.history.dock.setFloating(True)
    window.history.dock.resize(1_500, 300)
    QApplication.processEvents()
    assert panel.split.orientation() is Qt.Orientation.Horizontal


def test_a_row_unfolds_where_a_state_inside_it_is_looked_at(window: Window) -> None:
    clear_one(window)
    window.project.undo()
    show_history(window)
    panel = window.history.panel
    panel.read()
    window.history.looking.look_at(now(window) - 1)
    assert [row.state for row in panel.chosen] == [now(window) - 1]


def test_a_model_of_folded_rows_keeps_its_promises(window: Window, tmp_path: Path) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    import_three(window, tmp_path / "three")
    clear_one(window)
    window.project.undo()
    model = StateModel(SynchronousJobs(), lambda: workbench)
    QAbstractItemModelTester(model, _FATAL, model)
    model.show(StateFilter())
    assert len(model.rows) <= PAGE
    for at in (0, 1):
        model.unfold(model.index(at))
        assert model.can_fold(model.rows[at])
        states = [row.state for row in model.rows]
        assert states == sorted(states, reverse=True)
        model.fold(model.index(at))
        assert not model.can_fold(model.rows[at])


def triangle_of(window: Window, row: int) -> QPoint:
    """Unfold a row by its triangle, fold it again, and return where that was pressed."""
    view = window.history.panel.view
    box, before = view.visualRect(window.history.panel.model.index(row)), shown(window)
    for x in range(box.left(), box.left() + 160, 3):
        place = QPoint(x, box.center().y())
        QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
        if shown(window) != before:
            QTest.mouseClick(view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
            return place
    raise AssertionError("the row has no triangle")


def test_another_button_than_the_left_one_folds_nothing(window: Window) -> None:
    clear_one(window)
    window.project.undo()
    show_history(window)
    window.history.panel.read()
    view, before = window.history.panel.view, shown(window)
    place = triangle_of(window, 0)
    assert shown(window) == before
    QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier, place)
    assert shown(window) == before, "a menu is asked for there"


def test_a_screen_reader_is_told_that_a_row_hides_states_and_how_many(window: Window) -> None:
    clear_one(window)
    window.project.undo()
    show_history(window)
    window.history.panel.read()
    model = window.history.panel.model
    assert ", folded, 2 states, " in model.index(0).data()
    model.unfold(model.index(0))
    assert "folded" not in model.index(0).data()


def test_rows_of_another_project_are_folded_whatever_was_unfolded_in_the_last_one(window: Window) -> None:
    clear_one(window)
    window.project.undo()
    opened = [window.project.workbench]
    model = StateModel(SynchronousJobs(), lambda: opened[0])
    model.show(StateFilter())
    model.unfold(model.index(0))
    model.show(StateFilter())
    assert model.can_fold(model.rows[0])
    opened[0] = None
    model.show(StateFilter())
    assert not model.rows
    opened[0] = window.project.workbench
    model.show(StateFilter())
    assert not model.can_fold(model.rows[0])


@pytest.mark.parametrize("percent", [100, 200])
def test_the_triangle_of_a_row_is_as_large_as_its_letters(window: Window, percent: int) -> None:
    clear_one(window)
    window.project.undo()
    window.dressing.scale_to(percent)
    show_history(window)
    window.history.panel.read()
    view = window.history.panel.view
    at = triangle_of(window, 0)
    QTest.mouseMove(view.viewport(), QPoint(1, view.viewport().height() - 2))
    row = view.visualRect(window.history.panel.model.index(0))
    zone = row.adjusted(0, 2, 0, -2)
    zone.setLeft(at.x() - 2)
    zone.setWidth(themes.px(11))
    picture = view.viewport().grab(zone).toImage()
    ground = picture.pixel(0, 0)
    inked = [y for y in range(picture.height()) if any(picture.pixel(x, y) != ground for x in range(picture.width()))]
    assert 0.07 * percent <= inked[-1] - inked[0] + 1 <= 0.11 * percent
