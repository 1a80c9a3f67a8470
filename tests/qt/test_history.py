"""Looking back in the window: the states in a list, any of them shown, one undone; by mouse and keys."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.history.earlier_state import EarlierStateController
from metl_gui.ui.history.state_list import PAGE, StateModel
from metl_gui.ui.history.why_panel import WhyPanel
from metl_gui.ui.jobs.jobs import Jobs, SynchronousJobs
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.project.text import ago
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.history.states import StateFilter
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import EditOrigin, Workbench

from .conftest import activate, answer
from .held_jobs import HeldJobs
from .history_hand import ALT, BOTH, CTRL, LEFT, clear_one, looks_back, now, press_row, show_history
from .matrix_hand import elements, select

_FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


# looking


def test_a_click_on_a_state_shows_it_everywhere_and_a_key_comes_back(window: Window) -> None:
    block, element = clear_one(window)
    newest = now(window)
    show_history(window)
    press_row(window, newest - 1)
    assert looks_back(window) == newest - 1
    assert element in elements(window, block.key)
    content = window.map.matrix.content
    assert content is not None
    assert content.document is window.project.value
    assert window.map.sources.model.document is window.project.value
    assert window.history.banner.isVisible()
    assert window.history.banner.words.text().startswith(f"You look at state {newest - 1} of {newest}")
    assert window.history.banner.words.text().endswith("read only")
    assert window.status.state.text().startswith(f"State {newest - 1}")
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Home, ALT)
    assert looks_back(window) is None
    assert element not in elements(window, block.key)
    assert not window.history.banner.isVisible()


def test_escape_does_not_leave_an_earlier_state(window: Window) -> None:
    clear_one(window)
    show_history(window)
    press_row(window, now(window) - 1)
    for widget in (window.history.panel.view, window.map.matrix):
        widget.setFocus()
        for _ in range(3):
            QTest.keyClick(widget, Qt.Key.Key_Escape)
    assert looks_back(window) == now(window) - 1


def test_an_edit_of_an_earlier_state_is_refused_with_the_way_back(window: Window) -> None:
    block, element = clear_one(window)
    newest, states = now(window), []
    window.history.looking.look_at(newest - 1)
    window.project.changed.connect(lambda changed: states.append(changed.after.state))
    activate(window)
    other = next(e for e in window.project.value.matrix.block(*block.key).elements if e != element)  # type: ignore[union-attr]
    select(window, block.key, other)
    QTest.keyClick(window.map.matrix, Qt.Key.Key_Space)
    assert states == []
    assert now(window) == newest
    assert window.notice.isVisible()
    assert window.notice.words.text().startswith(f"You look at state {newest - 1}, in which nothing can be changed.")
    QTest.mouseClick(window.notice.action, LEFT)
    assert looks_back(window) is None
    assert element not in elements(window, block.key)


def test_an_import_into_an_earlier_state_is_refused_before_anything_is_read(window: Window, tmp_path: Path) -> None:
    newest = now(window)
    window.history.looking.look_at(newest - 1)
    window.imports.import_schemas(Side.EXTRACTION, [tmp_path / "not_there.json"])
    assert now(window) == newest
    assert window.notice.action.text() == "Back to now"


def test_nothing_that_edits_is_offered_while_an_earlier_state_is_shown(window: Window) -> None:
    clear_one(window)
    table = window.actions_table
    before = {id_ for id_ in table.rows if not table.rows[id_].is_hint and table[id_].isEnabled()}
    window.history.looking.look_at(now(window) - 1)
    after = {id_ for id_ in table.rows if not table.rows[id_].is_hint and table[id_].isEnabled()}
    assert {"undo", "import_schema", "import_csv", "new_entity"} <= before - after
    assert {"back_to_now", "name_state", "publish", "find", "run"} <= after
    assert not window.head.undo.isEnabled()
    assert not window.review.confirm_button.isEnabled()
    window.history.looking.come_back()
    assert {id_ for id_ in table.rows if not table.rows[id_].is_hint and table[id_].isEnabled()} == before


def test_what_was_selected_comes_back_with_the_states_that_have_it(window: Window) -> None:
    document = window.project.value
    key = max((b for b in document.matrix.blocks() if b.elements), key=lambda b: b.version).key
    chosen = Selected(place_of_version(document, Side.EXTRACTION, key[0]), place_of_version(document, Side.CDM, key[1]))
    window.selection.choose(chosen)
    window.history.looking.look_at(1)
    assert window.selection.current.source is None
    window.history.looking.look_at(now(window) - 1)
    window.history.looking.come_back()
    assert window.selection.current == chosen


def test_what_is_chosen_in_an_earlier_state_stays_chosen_on_the_way_back(window: Window) -> None:
    document = window.project.value
    blocks = sorted(b.key for b in document.matrix.blocks() if b.elements)
    first, other = (
        Selected(place_of_version(document, Side.EXTRACTION, v), place_of_version(document, Side.CDM, w))
        for v, w in (blocks[0], blocks[1])
    )
    window.selection.choose(first)
    window.history.looking.look_at(now(window) - 1)
    window.selection.choose(other)
    window.history.looking.come_back()
    assert window.selection.current == other


def test_an_edit_from_elsewhere_does_not_end_looking_back(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    newest = now(window)
    window.history.looking.look_at(newest - 1)
    shown = window.project.value
    with Workbench.open(sample.project) as other:
        block = next(b for b in other.document.matrix.blocks() if b.elements)
        other.do(SetElements(block.key, zeros=(block.elements[0],)))
        window.upkeep.look()
    assert window.project.value is shown
    assert window.history.banner.words.text().startswith(f"You look at state {newest - 1} of {newest + 1}")
    window.history.looking.come_back()
    assert window.project.value.state == newest + 1


def test_merging_in_the_background_leaves_an_earlier_state_in_front(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    clear_one(window)
    window.history.looking.look_at(now(window) - 1)
    shown = window.project.value
    window.upkeep.merge(workbench)
    assert window.project.value is shown
    window.history.looking.come_back()
    assert window.project.value is workbench.document


def test_closing_a_project_while_looking_back_opens_the_next_one_at_its_newest_state(
    window: Window, sample: SampleFolder
) -> None:
    path = window.project.workbench.path if window.project.workbench is not None else sample.project
    window.history.looking.look_at(2)
    window.actions_table["close"].trigger()
    assert not window.history.banner.isVisible()
    window.show_project(Workbench.open(path))
    assert looks_back(window) is None
    assert window.project.can_edit


class Held(Jobs):
    """Jobs that wait to be let go, one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Semaphore(0)
        self.begun: list[str] = []

    def start(self, title, task, done, **more):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN003, ANN201 - as there
        self.begun.append(title)

        def gated(watch):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
            self.gate.acquire(timeout=20)
            return task(watch)

        return super().start(title, gated, done, **more)


def test_a_quick_hand_sees_what_is_ready_and_ends_where_it_stopped(window: Window, qtbot: QtBot) -> None:
    """Of many wishes in a row the first and the last are rebuilt; none is rebuilt beside another one."""
    jobs = Held()
    looking = EarlierStateController(window.project, window.selection, jobs)
    shown: list[int | None] = []
    window.project.looked.connect(lambda: shown.append(window.project.looks_back))
    try:
        for state in (20, 30, 40, 50):
            looking.look_at(state)
        assert jobs.begun == ["Going to state 20"]
        jobs.gate.release()
        qtbot.waitUntil(lambda: shown == [20])
        assert jobs.begun == ["Going to state 20", "Going to state 50"]
        jobs.gate.release()
        qtbot.waitUntil(lambda: shown == [20, 50])
    finally:
        jobs.gate.release(9)
        jobs.stop()


def test_coming_back_forgets_what_is_still_being_rebuilt(window: Window, qtbot: QtBot) -> None:
    jobs = Held()
    looking = EarlierStateController(window.project, window.selection, jobs)
    try:
        looking.look_at(20)
        looking.come_back()
        jobs.gate.release()
        qtbot.waitUntil(lambda: not jobs.running)
        assert looks_back(window) is None
    finally:
        jobs.stop()


# the list


def test_the_list_reads_on_while_somebody_scrolls(window: Window) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    block = next(b for b in workbench.document.matrix.blocks() if b.elements)
    for _ in range(PAGE):
        workbench.do(SetElements(block.key, zeros=block.elements[:1]), EditOrigin.WINDOW)
        workbench.do(SetElements(block.key, ones=block.elements[:1]), EditOrigin.WINDOW)
    model = StateModel(SynchronousJobs(), lambda: workbench)
    QAbstractItemModelTester(model, _FATAL)
    model.show(StateFilter())
    newest = workbench.document.state
    assert len(model.rows) == PAGE
    while model.canFetchMore(model.index(-1)):
        model.fetchMore(model.index(-1))
    states = [state for row in model.rows for state in range(row.state, row.before, -1)]
    assert states == list(range(newest, 0, -1))
    workbench.do(SetElements(block.key, zeros=block.elements[:1]), EditOrigin.WINDOW)
    resets: list[object] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.show(StateFilter())
    states = [state for row in model.rows for state in range(row.state, row.before, -1)]
    assert states == list(range(newest + 1, 0, -1))
    assert resets == []
    model.show(StateFilter.of("no such words"))
    assert model.rows == ()


def test_the_list_follows_the_slider_to_a_state_that_was_not_read_yet(window: Window, qtbot: QtBot) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    block = next(b for b in workbench.document.matrix.blocks() if b.elements)
    for _ in range(PAGE // 2):
        workbench.do(SetElements(block.key, zeros=block.elements[:1]), EditOrigin.WINDOW)
        workbench.do(SetElements(block.key, ones=block.elements[:1]), EditOrigin.WINDOW)
    window.project.catch_up()
    show_history(window)
    panel = window.history.panel
    qtbot.waitUntil(lambda: bool(panel.model.rows) and panel.model.row_of(5) is None)
    window.history.looking.look_at(5)
    qtbot.waitUntil(lambda: [state.state for state in panel.chosen] == [5])
    qtbot.waitUntil(lambda: panel.difference.heading.text() == "What state 5 changed")
    assert panel.view.visualRect(panel.view.currentIndex()).intersects(panel.view.viewport().rect())


def test_the_filter_finds_by_words_person_and_name(window: Window, qtbot: QtBot) -> None:
    workbench = window.project.workbench
    assert workbench is not None
    clear_one(window)
    workbench.name_state(now(window), "Before the audit")
    show_history(window)
    panel = window.history.panel
    QTest.keyClicks(panel.box, "who:ada audit")
    qtbot.waitUntil(lambda: len(panel.model.rows) == 1)
    assert panel.model.rows[0].name == "Before the audit"
    panel.box.clear()
    QTest.keyClicks(panel.box, "who:nobody")
    qtbot.waitUntil(panel.note.isVisible)
    assert panel.note.text() == "No state passes this filter."
    panel.box.clear()
    QTest.mouseClick(panel.weights[next(iter(panel.weights))], LEFT)
    qtbot.waitUntil(lambda: bool(panel.model.rows) and all(state.name for state in panel.model.rows))


def test_enter_looks_at_the_state_that_the_keyboard_is_on(window: Window) -> None:
    clear_one(window)
    show_history(window)
    view = window.history.panel.view
    assert view.hasFocus()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert looks_back(window) is None
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert looks_back(window) == now(window) - 1


def test_an_older_state_is_meant_only_while_the_keyboard_is_on_it(window: Window) -> None:
    clear_one(window)
    show_history(window)
    QTest.keyClick(window.history.panel.view, Qt.Key.Key_Down)
    assert window.history.meant == now(window) - 1
    window.map.matrix.setFocus()
    assert window.history.meant is None


def test_the_chosen_states_are_copied_as_text(window: Window) -> None:
    clear_one(window)
    show_history(window)
    press_row(window, now(window))
    QTest.keyClick(window.history.panel.view, Qt.Key.Key_C, CTRL)
    number, title, name, who, *_ = QApplication.clipboard().text().split("\t")
    assert (int(number), name, who) == (now(window), "", "Ada")
    assert title.startswith("Cleared ")


# undoing


def test_a_state_is_undone_from_the_history_after_one_question(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    block, element = clear_one(window)
    cleared = now(window)
    other = next(b for b in window.project.value.matrix.blocks() if b.elements and b.key != block.key and not b.losses)
    assert window.project.do(SetElements(other.key, zeros=other.elements[:1]))
    asked = answer(monkeypatch, "undo")
    window.history.looking.look_at(cleared)
    QTest.mouseClick(window.history.banner.undo, LEFT)
    assert len(asked) == 1
    assert asked[0].startswith("Undo “Unmap ")
    assert looks_back(window) is None
    assert element in elements(window, block.key)
    assert other.elements[0] not in elements(window, other.key)
    assert now(window) == cleared + 2


def test_a_state_that_was_changed_since_is_not_undone_and_the_refusal_says_why(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    block, element = clear_one(window)
    cleared = now(window)
    assert window.project.do(SetElements(block.key, ones=(element,)))
    asked = answer(monkeypatch, "undo")
    window.history.looking.look_at(cleared)
    window.actions_table["undo_state"].trigger()
    assert len(asked) == 2
    assert now(window) == cleared + 1


# why


def test_why_tells_who_mapped_the_selected_element_and_leads_to_that_state(window: Window, qtbot: QtBot) -> None:
    block, element = clear_one(window)
    assert window.project.do(SetElements(block.key, ones=(element,)))
    select(window, block.key, element)
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_Y, BOTH)
    panel = window.history.why
    qtbot.waitUntil(lambda: len(panel.model.rows) >= 3)
    words = [row.pill for row, _ in panel.model.rows]
    assert words[:2] == ["set", "cleared"]
    assert panel.model.rows[0][0].facts.startswith(f"Ada, just now · state {now(window)} · ")
    cleared = panel.model.index(1)
    QTest.mouseClick(panel.view.viewport(), LEFT, pos=panel.view.visualRect(cleared).center())
    assert looks_back(window) == now(window) - 1


def test_why_follows_the_selection_and_says_when_there_is_nothing(window: Window, qtbot: QtBot) -> None:
    document = window.project.value
    block = next(b for b in document.matrix.blocks() if b.elements)
    select(window, block.key, block.elements[0])
    window.actions_table["why"].trigger()
    panel = window.history.why
    source = place_of_version(document, Side.EXTRACTION, block.key[0], block.elements[0].p)
    window.selection.choose(Selected(source))
    qtbot.waitUntil(lambda: panel.where.text().startswith("Attribute of "))
    assert panel.model.rows
    window.selection.choose(Selected())
    qtbot.waitUntil(lambda: panel.note.text().startswith("Select a cell"))


def test_why_never_tells_of_something_else_than_what_is_selected(window: Window) -> None:
    first, second = [b for b in window.project.value.matrix.blocks() if b.elements][:2]
    jobs = HeldJobs()
    panel = WhyPanel(window.project, window.selection, window.history.looking, jobs)
    select(window, first.key, first.elements[0])
    panel.read()
    jobs.release()
    words = panel.heading.text(), panel.where.text()
    select(window, second.key, second.elements[0])
    panel.read()
    select(window, first.key, first.elements[0])
    panel.read()
    jobs.release()
    assert (panel.heading.text(), panel.where.text()) == words
    select(window, second.key, second.elements[0])
    panel.read()
    window.selection.choose(Selected())
    panel.read()
    jobs.release()
    assert panel.note.text().startswith("Select a cell")
    jobs.stop()
    panel.deleteLater()
    jobs.deleteLater()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(10, "just now"), (61, "1 minute ago"), (7_200, "2 hours ago"), (3 * 86_400, "3 days ago")],
)
def test_moments_are_told_as_people_tell_them(seconds: int, words: str) -> None:
    noon = 1_792_670_400_000  # 22 October 2026 12:00 UTC: no change of the clocks near by
    assert ago(noon - seconds * 1000, noon) == words


def test_a_test_run_maps_with_the_state_that_is_shown(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    clear_one(window)
    asked: list[RunRequest] = []
    monkeypatch.setattr(window.spark, "run", lambda _workbench, request: asked.append(request))
    window.run_page.setup.source.setText("messages")
    window.actions_table["run"].trigger()
    window.history.looking.look_at(now(window) - 1)
    window.actions_table["run"].trigger()
    assert [request.state for request in asked] == [None, now(window) - 1]
