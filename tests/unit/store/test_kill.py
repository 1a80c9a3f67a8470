"""Killing the writing process at any moment loses no committed edit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from metl_gui.store.project_file import ProjectFile
from tests.helpers.histories import start
from tests.unit.store.contents import digest

ROOT = Path(__file__).parents[3]
KILLS = 200
KILLS_PER_FILE = 20
MOST_LINES = 8
LONGEST_DELAY_SECONDS = 0.01


class Writer:
    """The program that edits, and what it said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def killed_at(self, path: Path, lines: int, delay_seconds: float) -> list[list[str]]:
        """Let it edit a file, kill it so long after its n-th line, and return all it said about its edits."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        process_id = int(self._line()[1])
        said = [self._line() for _ in range(lines)]
        time.sleep(delay_seconds)
        os.kill(process_id, signal.SIGKILL)
        while (line := self._line())[0] != "end":
            said.append(line)
        assert int(line[1]) == signal.SIGKILL
        return said

    def _line(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()


@pytest.fixture(scope="module")
def writer() -> Iterator[Writer]:
    command = [sys.executable, "-m", "tests.unit.store.writer"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Writer(process)
        process.communicate()


def new_file(path: Path) -> tuple[int, str]:
    """Make a project with something in it; its state and digest."""
    with ProjectFile.create(path) as project:
        for transition in start().log:
            project.commit(transition)
        document = project.document()
        return document.state, digest(document)


def allowed(last: tuple[int, str], said: list[list[str]]) -> set[tuple[int, str]]:
    """Tell what the file may hold: the last commit that was reported, or the one that was under way."""
    found = {last}
    tried = last
    for word, *facts in said:
        if word == "open":
            assert (int(facts[0]), facts[1]) in found
            found = {(int(facts[0]), facts[1])}
        elif word == "try":
            tried = int(facts[0]), facts[1]
            found.add(tried)
        else:
            assert int(facts[0]) == tried[0]
            found = {tried}
    return found


@pytest.mark.slow
def test_a_kill_at_any_of_200_random_moments_leaves_the_last_committed_state(writer: Writer, tmp_path: Path) -> None:
    random = Random()
    path, last, committed = tmp_path / "none", (0, ""), 0
    for number in range(KILLS):
        if number % KILLS_PER_FILE == 0:
            path = tmp_path / f"{number}.metl"
            last = new_file(path)
        said = writer.killed_at(path, random.randint(0, MOST_LINES), random.uniform(0, LONGEST_DELAY_SECONDS))
        with ProjectFile.open(path, for_editing=True) as project:
            document = project.document()
            found = document.state, digest(document)
            assert found in allowed(last, said), f"kill {number}: {said[-3:]}"
            assert [edit.state for edit in project.history(1)] == [document.state]
            candidate = project.undo_candidate()
            assert candidate is not None
            assert candidate.group == document.state
            integrity = project._connection.execute("PRAGMA integrity_check").fetchall()
        assert integrity == [("ok",)]
        committed += found[0] - last[0]
        last = found
    assert committed > KILLS
