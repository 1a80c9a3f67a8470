"""Who may edit, and what everybody else is told."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from metl_gui.core.changes.draft import EditContext
from metl_gui.errors import ProjectLockedError
from metl_gui.store.lease import FAR_SILENCE_MS, HIDDEN, LeaseHolder, process_start
from metl_gui.store.project_file import ProjectFile
from tests.unit.store.editing import Editing

ROOT = Path(__file__).parents[3]


@contextmanager
def other_editor(path: Path, who: str) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the lease."""
    command = [sys.executable, "-m", "tests.unit.store.other_process", str(path), who]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        if process.stdin is not None and process.poll() is None:
            process.communicate("close\n")


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path)
    with connection:
        yield connection
    connection.close()


def test_the_second_editor_is_told_who_has_it_and_where(path: Path) -> None:
    ProjectFile.create(path).close()
    with other_editor(path, "ada") as process, pytest.raises(ProjectLockedError) as caught:
        ProjectFile.open(path, for_editing=True, who="bob")
    told = str(caught.value)
    assert f"ada on {socket.gethostname()} (process {process.pid}" in told
    assert "read only" in told


def test_the_lease_is_free_after_the_first_editor_closed(path: Path) -> None:
    ProjectFile.create(path).close()
    with other_editor(path, "ada"):
        pass
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.is_for_editing


def test_the_lease_of_a_killed_process_is_taken_over_without_a_word(path: Path) -> None:
    ProjectFile.create(path).close()
    with other_editor(path, "ada") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with raw(path) as connection:
        assert connection.execute("SELECT who FROM lease").fetchall() == [("ada",)]
    with ProjectFile.open(path, for_editing=True, who="bob") as project:
        holder = project.holder()
        assert holder is not None
        assert holder.who == "bob"


def test_a_second_opening_in_the_same_process_is_refused_too(editing: Editing, path: Path) -> None:
    with pytest.raises(ProjectLockedError, match=rf"edited by ada on .* \(process {os.getpid()}"):
        ProjectFile.open(path, for_editing=True)
    editing.schema("s", "1", "a")


def test_readers_come_and_go_and_add_runs_while_somebody_edits(path: Path) -> None:
    ProjectFile.create(path).close()
    with other_editor(path, "ada"), ProjectFile.open(path, for_editing=False) as reader:
        reader.kept.runs.add({"run_id": "r1", "state": 0})
        assert [run.run_id for run in reader.kept.runs.newest()] == ["r1"]
        assert not reader.is_for_editing


def test_an_editor_that_was_overtaken_turns_read_only_and_keeps_reading(editing: Editing, path: Path) -> None:
    editing.schema("s", "1", "a")
    with ProjectFile.open(path, for_editing=True, who="bob", take_over=True) as project:
        Editing(project).schema("s", "2", "a", "b")
        with pytest.raises(ProjectLockedError, match="taken over by bob"):
            editing.schema("s", "3", "a", "c")
        assert not editing.project.is_for_editing
        assert editing.project.state() == 2
        editing.project.close()
        holder = project.holder()
        assert holder is not None
        assert holder.who == "bob"


def test_an_editor_that_was_overtaken_and_left_alone_again_still_may_not_write(editing: Editing, path: Path) -> None:
    ProjectFile.open(path, for_editing=True, take_over=True).close()
    with pytest.raises(ProjectLockedError, match="taken over and closed since"):
        editing.schema("s", "1", "a")


def test_a_far_editor_counts_as_gone_only_after_a_long_silence(editing: Editing, path: Path) -> None:
    silence = "UPDATE lease SET host = 'far.example', heartbeat_ms = heartbeat_ms - ?"
    with raw(path) as connection:
        connection.execute(silence, (FAR_SILENCE_MS - 60_000,))
    with pytest.raises(ProjectLockedError, match=r"far\.example"):
        ProjectFile.open(path, for_editing=True)
    with raw(path) as connection:
        connection.execute(silence, (60_000,))
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.is_for_editing
    with pytest.raises(ProjectLockedError):
        editing.project.name_state(0, "x", EditContext())


def test_a_heartbeat_renews_the_lease(editing: Editing, path: Path) -> None:
    with raw(path) as connection:
        connection.execute("UPDATE lease SET heartbeat_ms = 5")
    editing.project.beat()
    holder = editing.project.holder()
    assert holder is not None
    assert holder.heartbeat_ms >= holder.since_ms


def test_a_process_number_that_is_used_again_is_not_taken_for_the_editor(editing: Editing, path: Path) -> None:
    with raw(path) as connection:
        connection.execute("UPDATE lease SET process_start = '1'")
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.is_for_editing
    assert editing.project.is_for_editing


def test_a_living_process_has_a_start_and_a_gone_one_has_none() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert process_start(process.pid) == process_start(process.pid) != ""
    process.kill()
    process.communicate()
    assert process_start(process.pid) == ""
    assert not LeaseHolder.here("ada").is_gone


def test_a_process_that_the_system_hides_is_not_taken_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    here = LeaseHolder.here("ada")
    monkeypatch.setattr("metl_gui.store.lease._PROCESSES", Path("/nowhere"))
    assert process_start(os.getpid()) == HIDDEN
    assert not here.is_gone


def test_every_commit_renews_the_lease(editing: Editing, path: Path) -> None:
    with raw(path) as connection:
        connection.execute("UPDATE lease SET heartbeat_ms = 5")
    editing.schema("s", "1", "a")
    holder = editing.project.holder()
    assert holder is not None
    assert holder.heartbeat_ms >= holder.since_ms
