"""Jobs: progress and ends arrive on the window's thread, cancel stops, nothing outlives the window."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from metl_gui.core.progress import Progress, Watch
from metl_gui.errors import BugError, EditError
from metl_gui.store.project_file import ProjectFile
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob, SynchronousJobs
from metl_gui.ui.shell.window import Window

pytestmark = pytest.mark.usefixtures("qapp")


def test_progress_and_end_arrive_on_the_windows_thread(qtbot: QtBot) -> None:
    jobs = Jobs()
    seen: list[tuple[str, int]] = []
    ends: list[JobOutcome[Any]] = []
    go = threading.Event()

    def task(watch: Watch) -> int:
        go.wait(10)
        watch.step("half", 1, 2)
        return threading.get_ident()

    def note(progress: Progress) -> None:
        seen.append((progress.text, threading.get_ident()))

    def done(outcome: JobOutcome[int]) -> None:
        ends.append(outcome)
        assert threading.get_ident() == here

    here = threading.get_ident()
    job = jobs.start("work", task, done)
    job.progressed.connect(note)
    with qtbot.waitSignal(job.ended):
        go.set()
    qtbot.waitUntil(lambda: bool(ends))
    assert seen == [("half", here)]
    assert ends[0].value != here
    assert jobs.running == []


def test_a_cancelled_job_ends_within_a_query_that_would_not_end(qtbot: QtBot, tmp_path: Path) -> None:
    jobs = Jobs()
    ends: list[JobOutcome[Any]] = []
    begun = threading.Event()

    def task(_watch: Watch) -> None:
        with ProjectFile.open(path, for_editing=True) as project, project._reading() as connection:
            begun.set()
            connection.execute(
                "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n WHERE x < 0"
            ).fetchone()

    path = tmp_path / "fx.metl"
    ProjectFile.create(path).close()
    job = jobs.start("work", task, ends.append)
    assert begun.wait(10)
    with qtbot.waitSignal(job.ended):
        job.cancel()
    qtbot.waitUntil(lambda: bool(ends))
    assert ends[0].is_cancelled
    assert [found.name for found in tmp_path.iterdir()] == ["fx.metl"]


def test_a_cancelled_job_ends_at_its_next_step(qtbot: QtBot) -> None:
    jobs = Jobs()
    ends: list[JobOutcome[Any]] = []
    begun = threading.Event()

    def task(watch: Watch) -> None:
        begun.set()
        while True:
            watch.step("on and on")

    job = jobs.start("endless", task, ends.append)
    begun.wait(10)
    job.cancel()
    qtbot.waitUntil(lambda: bool(ends))
    assert ends[0].is_cancelled


def test_stopping_all_jobs_leaves_no_thread() -> None:
    jobs = Jobs()

    def task(watch: Watch) -> None:
        while True:
            watch.step("on and on")

    def running() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "job: endless"]

    jobs.start("endless", task, lambda _outcome: None)
    assert running() == ["job: endless"]
    jobs.stop()
    assert running() == []
    QApplication.processEvents()


@pytest.mark.parametrize("jobs", [SynchronousJobs])
def test_an_error_of_the_users_world_is_an_outcome(jobs: type[Jobs]) -> None:
    ends: list[JobOutcome[Any]] = []

    def task(_watch: Watch) -> None:
        raise EditError("No.")

    jobs().start("refused", task, ends.append)
    assert isinstance(ends[0].error, EditError)


def test_an_error_that_nobody_foresaw_is_logged_and_told(caplog: pytest.LogCaptureFixture) -> None:
    ends: list[JobOutcome[Any]] = []

    def task(_watch: Watch) -> None:
        raise ZeroDivisionError("seven")

    SynchronousJobs().start("broken", task, ends.append)
    assert isinstance(ends[0].error, BugError)
    assert "seven" in caplog.text


def test_asking_again_stops_the_job_before_and_only_the_newest_answer_is_heard(qtbot: QtBot) -> None:
    jobs = Jobs()
    newest, answers = NewestJob(jobs, jobs), list[JobOutcome[str]]()
    begun, was_stopped = threading.Event(), threading.Event()

    def first(watch: Watch) -> str:
        begun.set()
        while not watch.is_cancelled:
            begun.wait(0.01)
        was_stopped.set()
        return "first"  # it had its answer before it could stop

    newest.start("first", first, answers.append)
    assert begun.wait(10)
    newest.start("second", lambda _watch: "second", answers.append)
    qtbot.waitUntil(lambda: not jobs.running)
    assert was_stopped.is_set()
    assert [outcome.value for outcome in answers] == ["second"]


def test_nobody_hears_the_answer_of_a_question_that_was_taken_back(qtbot: QtBot) -> None:
    jobs, answers = Jobs(), list[JobOutcome[str]]()
    newest = NewestJob(jobs, jobs)
    newest.start("asked", lambda _watch: "answer", answers.append)
    newest.cancel()
    qtbot.waitUntil(lambda: not jobs.running)
    assert answers == []


def test_nobody_hears_the_answer_of_a_question_whose_asker_is_gone(qtbot: QtBot) -> None:
    jobs, asker, answers = Jobs(), QObject(), list[JobOutcome[str]]()
    may_end = threading.Event()
    NewestJob(jobs, asker).start("asked", lambda watch: str(may_end.wait(10) and watch.is_cancelled), answers.append)
    delete(asker)
    may_end.set()
    qtbot.waitUntil(lambda: not jobs.running)
    assert answers == []


def test_a_question_can_be_asked_from_the_answer_before() -> None:
    jobs, answers = SynchronousJobs(), list[int | None]()
    newest = NewestJob(jobs, jobs)

    def again(outcome: JobOutcome[int]) -> None:
        answers.append(outcome.value)
        if outcome.value != 3:
            newest.start("again", lambda _watch: (outcome.value or 0) + 1, again)

    newest.start("first", lambda _watch: 1, again)
    assert answers == [1, 2, 3]


@pytest.mark.logs(r"a job failed")
def test_a_job_that_broke_is_told_even_where_nobody_looks_at_its_outcome(window: Window) -> None:
    def task(_watch: Watch) -> None:
        raise ZeroDivisionError("a bug of ours")

    def look_at_nothing(_outcome: JobOutcome[None]) -> None:
        pass

    window.jobs.start("breaks", task, look_at_nothing)
    assert "a bug of ours" in window.notice.words.text()
