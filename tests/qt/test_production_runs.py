"""Production runs on the Run page: asked about once, followed in processes of their own, left alone by the window."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.runs.events import StateChanged
from metl_gui.core.runs.report import RunReport
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.runs import production
from metl_gui.workbench.runs.history import runs
from metl_gui.workbench.runs.production import LiveRun, live_runs
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import STOP, ProcessPhase, run_folder
from tests.qt.conftest import end
from tests.qt.recorded_runs import append, course, keep_live, keep_recorded, progress, say_phase
from tests.qt.test_run_history import click_run


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that waits, as one that does a production run."""
    with subprocess.Popen(["sleep", "600"]) as waiting:
        yield waiting
        waiting.kill()


def live_run(window: Window, process: subprocess.Popen[bytes], *, follow: bool = True) -> LiveRun:
    """Let the process do a production run of the project that a window shows."""
    workbench = window.project.workbench
    assert workbench is not None
    return keep_live(workbench, "p1", process.pid, follow, course("p1", 8))


def test_a_production_run_of_another_process_is_listed_followed_and_told_to_stop(
    ran: Window, process: subprocess.Popen[bytes]
) -> None:
    page, run = ran.run_page, live_run(ran, process)
    page.production.look()
    entry = page.setup.history.model.rows[0]
    assert (entry.run_id, entry.words.pill) == ("p1", "live")
    click_run(ran, "p1")
    assert page.figures.read.value.text() == "8,000"
    assert page.head.pill.text() == "live"
    append(run.folder, [progress("p1", 9, bytes_waiting=5_000), StateChanged("p1", 5, "", 3)])
    page.production.tell()
    assert page.figures.read.value.text() == "9,000"
    assert "5 kB behind" in page.head.facts.text()
    assert "goes on when this window is closed" in page.head.facts.text()
    QTest.mouseClick(page.head.act, Qt.MouseButton.LeftButton)
    assert (run.folder / STOP).exists()


def test_the_status_bar_says_that_production_goes_on_and_leads_to_it_from_any_page(
    ran: Window, process: subprocess.Popen[bytes]
) -> None:
    page, workbench, words = ran.run_page, ran.project.workbench, ran.status.production
    assert workbench is not None
    assert not words.isVisible()
    run = live_run(ran, process)
    page.production.look()
    assert words.text() == f"Production live · published state {run.order.spec.mapping.state}"
    ran.show_page(0)
    QTest.mouseClick(words, Qt.MouseButton.LeftButton)
    assert ran.stack.currentWidget() is page
    assert (page.head.pill.text(), page.figures.read.value.text()) == ("live", "8,000")
    other = keep_live(workbench, "p2", process.pid, events=course("p2", 4))
    page.production.look()
    assert words.text().startswith("2 production runs live")
    ran.actions_table["live_run"].trigger()
    assert page.figures.read.value.text() == "4,000"
    ran.resize(1100, 700)
    QApplication.processEvents()
    assert words.text() == "2 production runs live"
    for each in (run, other):
        say_phase(each.folder, each.run_id, ProcessPhase.ENDED, process.pid)
    page.production.look()
    assert not words.isVisible()


def test_closing_the_window_leaves_a_production_run_alone(
    make_window: Callable[[], Window], sample: SampleFolder, process: subprocess.Popen[bytes]
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    run = live_run(window, process)
    window.run_page.production.look()
    window.show_page(2)
    click_run(window, "p1")
    window.close()
    assert run.is_alive
    assert not (run.folder / STOP).exists()


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (ProcessPhase.RUNNING, "The production run of cdc went on while this project was closed"),
        (ProcessPhase.ENDED, "The production run of cdc has finished while this project was closed: 8,000 records"),
    ],
)
def test_the_next_opening_tells_what_production_did_without_the_window_and_leads_to_it(
    make_window: Callable[[], Window],
    sample: SampleFolder,
    process: subprocess.Popen[bytes],
    phase: ProcessPhase,
    words: str,
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project))
    workbench, run = window.project.workbench, live_run(window, process)
    assert workbench is not None
    report = keep_recorded(workbench, "p0", 8, mode="production")
    window.run_page.production.look()
    assert window.status.production.toolTip().endswith("The production run of cdc goes on without this window.")
    window.close()

    if phase is ProcessPhase.ENDED:
        RunFolder(run.folder).write_report(msgspec.structs.replace(report, run_id="p1"))
        say_phase(run.folder, "p1", phase, process.pid)
    again = make_window()
    again.show_project(Workbench.open(sample.project))
    assert again.notice.words.text().startswith(words)
    QTest.mouseClick(again.notice.action, Qt.MouseButton.LeftButton)
    assert again.stack.currentWidget() is again.run_page
    assert again.run_page.run_id == "p1"

    again.close()
    once_more = make_window()
    once_more.show_project(Workbench.open(sample.project))
    assert bool(once_more.notice.isVisible()) is (phase is ProcessPhase.RUNNING)


def test_a_run_that_ends_while_it_is_followed_becomes_one_of_the_past(
    ran: Window, process: subprocess.Popen[bytes]
) -> None:
    page, workbench = ran.run_page, ran.project.workbench
    assert workbench is not None
    run = live_run(ran, process, follow=False)
    page.production.look()
    click_run(ran, "p1")
    report = keep_recorded(workbench, "p1", 8, mode="production")
    RunFolder(run.folder).write_report(report)
    say_phase(run.folder, "p1", ProcessPhase.ENDED, process.pid)
    page.production.tell()
    assert live_runs(workbench.project_id) == ()
    assert (page.report or {})["run_id"] == report.run_id
    assert page.head.pill.text() == "finished"


@pytest.mark.parametrize("answer", ["start", "cancel"])
def test_production_asks_once_and_names_the_state_the_places_and_that_it_outlives_the_window(
    ran: Window, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    page = ran.run_page
    asked: list[str] = []
    started: list[object] = []

    def reply(title: str, text: str, *_: object) -> str:
        asked.append(f"{title}\n{text}")
        return answer

    monkeypatch.setattr(dialogs, "ask", reply)
    monkeypatch.setattr(page.production, "start", lambda _workbench, request: started.append(request))
    page.setup.mode.choose("production")
    page.setup.sink.setText("/out/messages")
    page.setup.format.setCurrentIndex(1)
    page.setup.mode.follow.setChecked(True)
    QTest.mouseClick(page.setup.run_button, Qt.MouseButton.LeftButton)
    live = ran.history.live.state
    assert live is not None
    assert len(asked) == 1
    for part in (
        f"state {live.state} “{live.name}”",
        "/out/messages, as Parquet",
        "closing this window does not stop it",
    ):
        assert part in asked[0]
    assert len(started) == (answer == "start")
    if started:
        request = page.setup.request
        assert started == [request]
        assert (request.sink.format, request.source.follow, request.mapping.is_frozen) == ("parquet", True, False)


def report_of(run: LiveRun) -> RunReport:
    report = run.report()
    assert report is not None
    return report


@pytest.mark.spark
def test_a_real_production_run_is_started_followed_and_outlives_the_window(
    dressed: QApplication, sample: SampleFolder, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogs, "ask", lambda *_: "start")
    source = Path(shutil.copytree(sample.messages, tmp_path / "source"))
    assert dressed.styleSheet()
    window = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    window.show()
    workbench = Workbench.open(sample.project)
    project_id = workbench.project_id
    window.show_project(workbench)
    window.show_page(2)
    page = window.run_page
    page.setup.source.setText(str(source))
    page.setup.sink.setText(str(tmp_path / "messages"))
    page.setup.mode.choose("production")
    page.setup.mode.follow.setChecked(True)
    page.run_chosen()
    qtbot.waitUntil(lambda: page.followed is not None and len(page.followed.course) > 1)
    (run,) = live_runs(project_id)
    assert page.setup.history.model.rows[0].is_live
    qtbot.waitUntil(lambda: report_of(run).read > 0)  # the first batch is in place
    counts = page.followed.counts if page.followed is not None else None
    assert counts is not None
    assert page.figures.read.value.text() == f"{counts['read']:,}"
    end(window)
    try:
        assert run.is_alive
        assert run_folder(project_id, run.run_id) == run.folder
    finally:
        assert production.stop_run(run, 60.0)
    with Workbench.open(sample.project) as again:
        past = next(each for each in runs(again) if each.run_id == run.run_id)
        assert past.report.read > 0
