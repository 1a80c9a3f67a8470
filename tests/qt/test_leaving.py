"""Leaving while a run goes on in the window: asked before, waited for or stopped, and the run is in the history."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.progress import Watch
from metl_gui.core.runs.events import EngineEvent, RunProgressed
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunError
from metl_gui.ui.importing import commands as importing
from metl_gui.ui.run.progress import FollowedRun
from metl_gui.ui.shell.shutdown import QUITTING, RunQuestion
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.loads import warehouse_loads
from metl_gui.workbench.runs.history import PastRun, runs
from metl_gui.workbench.runs.mapping_run import RunRequest
from metl_gui.workbench.session import Workbench
from tests.helpers.killing import below, command_of
from tests.helpers.long_runs import many_files
from tests.helpers.run_requests import replay_request, run_request
from tests.qt.conftest import activate
from tests.qt.recorded_runs import keep_live, progress

_RUN_MS = 180_000


@pytest.fixture
def lasting(threaded: Window, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Iterator[Window]:
    """Return a window with real threads, whose runs last until somebody acts."""
    monkeypatch.setenv("METL_KERNEL_CACHE", "/dev/null/nowhere")
    yield threaded
    threaded.run_page.stop()
    qtbot.waitUntil(lambda: not threaded.spark.is_running, timeout=_RUN_MS)


def start(window: Window, source: Path, qtbot: QtBot) -> None:
    """Start a test run, and wait until it has counted something."""

    def has_counted(event: EngineEvent) -> bool:
        return isinstance(event, RunProgressed) and event.tally.read > 0

    window.run_page.setup.source.setText(str(source))
    with qtbot.waitSignal(window.spark.told, timeout=_RUN_MS, check_params_cb=has_counted):
        window.actions_table["run"].trigger()


def asked(window: Window) -> RunQuestion:
    question = window.leaving.question
    assert question is not None
    assert question.isVisible()
    return question


def press(window: Window, answer: str) -> None:
    QTest.mouseClick(asked(window).buttons[answer], Qt.MouseButton.LeftButton)


def kept(project: Path) -> list[PastRun]:
    with Workbench.open(project, for_editing=False) as workbench:
        return list(runs(workbench))


@pytest.mark.spark
def test_quitting_during_a_run_asks_and_goes_on_until_it_is_stopped_which_the_history_shows(
    lasting: Window, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = lasting
    activate(window)
    start(window, many_files(sample.messages / "payments.jsonl", tmp_path / "long", 400), qtbot)
    QTest.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    question = asked(window)
    assert question.windowTitle() == "Quit while a test run goes on?"
    QTest.keyClick(question, Qt.Key.Key_Escape)
    assert (window.leaving.question, window.isVisible(), window.spark.is_running) == (None, True, True)

    assert not window.close()
    press(window, "wait")
    assert asked(window).buttons["cancel"].text() == "Do not quit"
    with qtbot.waitSignal(window.spark.told, timeout=_RUN_MS):
        pass
    assert asked(window).facts.text() == window.run_page.head.facts.text()
    QTest.keyClick(asked(window), Qt.Key.Key_Escape)
    assert (window.leaving.question, window.isVisible(), window.spark.is_running) == (None, True, True)

    window.close()
    press(window, "stop")
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=_RUN_MS)
    (run,) = kept(sample.project)
    assert (run.status, run.outcome) == ("cancelled", "cancelled")
    assert 0 < run.report.read == run.report.mapped + run.report.filtered + run.report.set_aside + run.report.skipped
    assert not (run.folder / "messages").exists()


@pytest.mark.spark
def test_a_window_that_is_to_wait_closes_by_itself_when_the_run_has_finished(
    lasting: Window, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = lasting
    start(window, many_files(sample.messages / "payments.jsonl", tmp_path / "short", 12), qtbot)
    window.close()
    QTest.keyClick(asked(window), Qt.Key.Key_Return)  # the first answer is to wait
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=_RUN_MS)
    (run,) = kept(sample.project)
    assert (run.outcome, run.report.read) == ("finished", 12 * 1_408)


@pytest.mark.spark
def test_a_window_that_is_to_wait_stays_when_the_run_fails_and_says_why(
    lasting: Window, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = lasting
    start(window, many_files(sample.messages / "payments.jsonl", tmp_path / "long", 400), qtbot)
    window.close()
    press(window, "wait")
    spark = window.spark.process.process_id
    assert spark is not None
    with qtbot.waitSignal(window.spark.ended, timeout=_RUN_MS):
        os.kill(next(i for i in below(spark) if "java" in command_of(i)), signal.SIGKILL)
    assert (window.leaving.question, window.isVisible()) == (None, True)
    assert window.run_page.failure.isVisible()
    assert window.run_page.head.pill.text() == "killed"
    listed = window.run_page.setup.history.model
    qtbot.waitUntil(lambda: [entry.words.pill for entry in listed.rows] == ["killed"], timeout=_RUN_MS)


@pytest.mark.spark
def test_another_project_in_place_of_one_with_a_run_asks_in_the_same_way(
    lasting: Window, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = lasting
    other = tmp_path / "other.metl"
    assert window.project.workbench is not None
    assert window.project.workbench.save_copy(other)
    start(window, many_files(sample.messages / "payments.jsonl", tmp_path / "long", 400), qtbot)
    window.actions_table["close"].trigger()
    assert asked(window).windowTitle() == "Close fx while a test run goes on?"
    press(window, "cancel")
    window.commands.open(other)
    assert asked(window).windowTitle() == "Open other while a test run goes on?"
    press(window, "cancel")
    assert (window.opening.job, window.spark.is_running) == (None, True)
    window.commands.open(other)
    with qtbot.waitSignal(window.projects.shown, timeout=_RUN_MS):
        press(window, "stop")
    assert window.project.workbench is not None
    assert window.project.workbench.path == other
    assert [run.outcome for run in kept(sample.project)] == ["cancelled"]


class LoggingOut:
    """Stands for Qt's session manager, of which Python can make none."""

    def __init__(self, may_ask: bool = True) -> None:
        self.may_ask = may_ask
        self.said: list[str] = []

    def allowsInteraction(self) -> bool:  # noqa: N802 - as Qt names it
        return self.may_ask

    def release(self) -> None:
        self.said.append("go on")

    def cancel(self) -> None:
        self.said.append("stay")


@pytest.mark.spark
def test_logging_out_asks_too_and_where_nobody_can_be_asked_the_run_is_stopped_and_kept(
    lasting: Window, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = lasting
    start(window, many_files(sample.messages / "payments.jsonl", tmp_path / "long", 400), qtbot)
    asking, silent = LoggingOut(), LoggingOut(may_ask=False)
    QTimer.singleShot(0, lambda: press(window, "cancel"))
    window.leaving.session_ends(asking)
    assert (asking.said, window.spark.is_running) == (["stay"], True)
    window.leaving.session_ends(silent)
    assert (silent.said, window.spark.is_running) == ([], False)
    assert [run.outcome for run in kept(sample.project)] == ["cancelled"]


# without Spark


@pytest.fixture
def running(window: Window, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    """Return a window in which a run goes on, as far as it knows."""
    monkeypatch.setattr(type(window.spark), "is_running", property(lambda _self: True))
    window.run_page.own = FollowedRun("Test · state 12", "r1")
    window.run_page.own.take(progress("r1", 12, 40))
    yield window
    monkeypatch.undo()


def test_a_run_without_an_end_cannot_be_waited_for(running: Window) -> None:
    running.run_page.last_request = run_request("in", follow=True)
    running.close()
    question = asked(running)
    assert list(question.buttons) == ["stop", "cancel"]
    assert "what it has put in place stays" in question.accessibleDescription()
    QTest.keyClick(question, Qt.Key.Key_Escape)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (run_request("in"), "none of its messages is kept"),
        (run_request("in", "kafka://b:9092/{entity}"), "what it has sent stays in its topics"),
        (replay_request("errors"), "none of its messages is kept"),
    ],
)
def test_the_question_says_what_stopping_costs(running: Window, request_: RunRequest, words: str) -> None:
    running.run_page.last_request = request_
    running.close()
    question = asked(running)
    assert words in question.accessibleDescription()
    assert ("replay" in question.windowTitle()) is request_.is_replay
    press(running, "cancel")


def test_the_question_names_the_production_run_that_goes_on_all_the_same(running: Window) -> None:
    workbench = running.project.workbench
    assert workbench is not None
    live = subprocess.Popen(["sleep", "600"])
    try:
        keep_live(workbench, "p1", live.pid)
        running.run_page.production.look()
        running.run_page.last_request = run_request("in")
        running.close()
        words = asked(running).accessibleDescription()
        assert words.endswith("The production run of cdc goes on without this window.")
        press(running, "cancel")
    finally:
        live.kill()
        live.wait()


def test_every_answer_can_be_reached_with_the_keyboard_and_enter_alone_loses_nothing(
    running: Window, qtbot: QtBot
) -> None:
    running.run_page.last_request = run_request("in")
    activate(running)
    running.close()
    question = asked(running)
    qtbot.waitUntil(lambda: QApplication.activeWindow() is question)
    reached = []
    for _ in question.buttons:
        focus = QApplication.focusWidget()
        reached.append(focus.objectName() if focus is not None else "")
        QTest.keyClick(question, Qt.Key.Key_Tab)
    assert reached == ["wait", "stop", "cancel"]
    QTest.keyClick(question, Qt.Key.Key_Return)
    assert question.windowTitle() == "Waiting for the test run"
    assert QApplication.focusWidget() is question.buttons["cancel"]
    QTest.keyClick(question, Qt.Key.Key_Return)
    assert (running.leaving.question, running.isVisible()) == (None, True)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1100, 700), (1600, 1000)])
def test_question_and_waiting_have_room_for_all_their_words(
    running: Window, tmp_path: Path, theme: str, size: tuple[int, int]
) -> None:
    themes.apply(QApplication.instance(), themes.load(theme))  # type: ignore[arg-type]  # an application is there
    running.resize(*size)
    running.show_page(2)
    running.run_page.last_request = run_request("in")
    running.leaving.before(QUITTING, running.close)
    question = asked(running)
    for answer in ("wait", "stop"):
        QApplication.processEvents()
        for button in question.buttons.values():
            assert button.isHidden() or button.width() >= button.sizeHint().width()
        assert question.width() <= size[0]
        picture = running.grab()
        question.render(picture, question.geometry().topLeft() - running.geometry().topLeft())
        assert picture.save(str(tmp_path / f"{answer}-{theme}-{size[0]}.png"))
        press(running, answer)
    press(running, "cancel")


# loads of a warehouse


class HeldLoad:
    """A load that lasts until the test lets it end, or somebody stops it."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.error: RunError | None = None
        self.result: Any = SimpleNamespace(load=LoadReport(load="l"))

    def __call__(self, *arguments: Any, **_named: Any) -> Any:
        watch = next(each for each in arguments if isinstance(each, Watch))
        watch.step("Loading the warehouse: customer")
        while not self.may_end.wait(0.01):
            watch.step("Loading the warehouse: customer")
        if self.error is not None:
            raise self.error
        return self.result


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldLoad]:
    made = HeldLoad()
    monkeypatch.setattr(warehouse_loads, "load_warehouse", made)
    yield made
    made.may_end.set()


@pytest.fixture
def loading(threaded: Window, held: HeldLoad, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Window:
    """Return a window that loads a target of production."""
    monkeypatch.setattr(dialogs, "ask", lambda *_: "load")
    panel = threaded.warehouse.page.load
    threaded.show_page(3)
    panel.mode.choose("production")
    qtbot.waitUntil(panel.load.isEnabled)
    panel.load.click()
    qtbot.waitUntil(lambda: panel.words.text() == "Loading the warehouse: customer")
    assert not held.may_end.is_set()
    return threaded


def test_quitting_during_a_load_names_it_and_what_stopping_costs_and_stops_it(loading: Window, qtbot: QtBot) -> None:
    loading.close()
    question = asked(loading)
    assert question.windowTitle() == "Quit while a production load of the warehouse goes on?"
    assert f"nothing of it is in {loading.warehouse.page.load.target_text}" in question.accessibleDescription()
    assert question.facts.text() == "Loading the warehouse: customer"
    press(loading, "stop")
    qtbot.waitUntil(lambda: not loading.isVisible())


def test_a_window_that_is_to_wait_for_a_load_closes_when_it_has_ended(
    loading: Window, held: HeldLoad, qtbot: QtBot
) -> None:
    loading.close()
    press(loading, "wait")
    held.may_end.set()
    qtbot.waitUntil(lambda: not loading.isVisible())


def test_a_window_that_is_to_wait_for_a_load_stays_when_that_fails(
    loading: Window, held: HeldLoad, qtbot: QtBot
) -> None:
    loading.show_page(0)
    loading.close()
    press(loading, "wait")
    held.error = RunError("The target is full.")
    held.may_end.set()
    qtbot.waitUntil(lambda: loading.leaving.question is None)
    assert loading.isVisible()
    assert loading.warehouse.page.isVisible()
    assert "The production load of the warehouse failed" in loading.notice.words.text()


def test_where_nobody_can_be_asked_at_the_end_of_the_session_a_load_is_stopped(loading: Window) -> None:
    loading.leaving.session_ends(LoggingOut(may_ask=False))
    assert not loading.spark.is_running


# other jobs that last


@pytest.fixture
def rebuilding(threaded: Window, held: HeldLoad, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Window:
    """Return a window that rebuilds a warehouse, some time after a test run."""
    monkeypatch.setattr(warehouse_loads, "rebuild_warehouse", held)
    held.result = LoadReport(load="")
    threaded.run_page.own = FollowedRun("Test · state 4")
    threaded.show_page(3)
    threaded.warehouse.page.load.target.setText("duckdb:dear.duckdb")
    threaded.warehouse.page.load.rebuild.click()
    qtbot.waitUntil(lambda: threaded.jobs.lasting is not None)
    assert not held.may_end.is_set()
    return threaded


def test_quitting_during_a_rebuild_asks_and_stops_it_and_no_run(rebuilding: Window, qtbot: QtBot) -> None:
    rebuilding.close()
    question = asked(rebuilding)
    assert question.windowTitle() == "Quit while a rebuild of the warehouse goes on?"
    assert "stay as they were" in question.accessibleDescription()
    qtbot.waitUntil(lambda: question.facts.text() == "Loading the warehouse: customer")
    QTest.keyClick(question, Qt.Key.Key_Escape)
    assert (rebuilding.leaving.question, rebuilding.isVisible()) == (None, True)
    rebuilding.close()
    own = rebuilding.run_page.own
    press(rebuilding, "stop")
    qtbot.waitUntil(lambda: not rebuilding.isVisible())
    assert own is not None
    assert not own.is_stopping


def test_a_window_that_is_to_wait_for_a_rebuild_closes_when_it_has_ended(
    rebuilding: Window, held: HeldLoad, qtbot: QtBot
) -> None:
    rebuilding.close()
    press(rebuilding, "wait")
    held.may_end.set()
    qtbot.waitUntil(lambda: not rebuilding.isVisible())


def test_a_window_that_is_to_wait_for_a_rebuild_stays_when_that_fails(
    rebuilding: Window, held: HeldLoad, qtbot: QtBot
) -> None:
    rebuilding.close()
    press(rebuilding, "wait")
    held.error = RunError("The target is full.")
    held.may_end.set()
    qtbot.waitUntil(lambda: rebuilding.leaving.question is None)
    assert rebuilding.isVisible()
    assert "The rebuild of the warehouse failed" in rebuilding.notice.words.text()


def test_where_nobody_can_be_asked_at_the_end_of_the_session_a_rebuild_is_stopped(rebuilding: Window) -> None:
    rebuilding.leaving.session_ends(LoggingOut(may_ask=False))
    assert rebuilding.jobs.lasting is None


def test_quitting_during_an_import_asks_and_what_it_added_stays(
    threaded: Window, monkeypatch: pytest.MonkeyPatch, held: HeldLoad, qtbot: QtBot
) -> None:
    monkeypatch.setattr(importing, "import_sources", lambda *_, watch, **_named: held(watch))
    threaded.imports.import_schemas(Side.EXTRACTION, [Path("waiting")])
    qtbot.waitUntil(lambda: threaded.jobs.lasting is not None)
    threaded.close()
    question = asked(threaded)
    assert question.windowTitle() == "Quit while an import of schemas goes on?"
    assert "offers to go on with it" in question.accessibleDescription()
    press(threaded, "stop")
    qtbot.waitUntil(lambda: not threaded.isVisible())


def test_the_keyboard_is_where_it_was_after_the_job_was_stopped(
    threaded: Window, monkeypatch: pytest.MonkeyPatch, held: HeldLoad, qtbot: QtBot
) -> None:
    activate(threaded)
    monkeypatch.setattr(importing, "import_sources", lambda *_, watch, **_named: held(watch))
    threaded.history.show()
    threaded.imports.import_schemas(Side.EXTRACTION, [Path("waiting")])
    stop, view = threaded.status.stop, threaded.history.panel.view
    qtbot.waitUntil(lambda: threaded.status.job_words.text() == "Loading the warehouse: customer")
    qtbot.waitUntil(view.isVisible)
    view.setFocus()
    QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: threaded.jobs.lasting is None and not stop.isVisible())
    assert QApplication.focusWidget() is view
