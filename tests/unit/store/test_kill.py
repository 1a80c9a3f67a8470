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
    yield from started("tests.unit.store.writer")


@pytest.fixture(scope="module")
def compacting_writer() -> Iterator[Writer]:
    yield from started("tests.unit.store.compacting_writer")


def started(module: str) -> Iterator[Writer]:
    command = [sys.executable, "-m", module]
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


@pytest.mark.slow
def test_a_kill_while_publishing_or_compacting_leaves_every_kept_state_as_it_was(
    compacting_writer: Writer, tmp_path: Path
) -> None:
    random = Random()
    path, compacted = tmp_path / "none", 0
    digests: dict[int, str] = {}
    last_live: int | None = None
    for number in range(KILLS // 2):
        if number % KILLS_PER_FILE == 0:
            path, last_live = tmp_path / f"{number}.metl", None
            states = range(1, new_file(path)[0] + 1)
            with ProjectFile.open(path, for_editing=False) as project:
                digests = {state: digest(project.document(state), with_counters=False) for state in states}
        lines = random.randint(0, 4 * MOST_LINES)
        said = compacting_writer.killed_at(path, lines, random.uniform(0, LONGEST_DELAY_SECONDS))
        digests |= {int(facts[0]): facts[1] for word, *facts in said if word == "try"}
        compacted += sum(word == "compacted" for word, *_ in said)
        with ProjectFile.open(path, for_editing=True) as project:
            live = project.kept.states.live()
            assert live in allowed_live(last_live, said), f"kill {number}: {said[-3:]}"
            last_live = live
            kept = project.history()
            assert sum(edit.states for edit in kept) == project.state()
            assert {found.state for found in project.kept.states.named()} <= {edit.state for edit in kept}
            for edit in kept:
                assert digest(project.document(edit.state), with_counters=False) == digests[edit.state]
            assert project._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            # A state that was tried but not reached may be reached by another edit next time.
            digests = {state: found for state, found in digests.items() if state <= project.state()}
    assert compacted > KILLS // 2


def allowed_live(last: int | None, said: list[list[str]]) -> set[int | None]:
    """Tell what may be live: what was reported last, or what was being published."""
    found: set[int | None] = {last}
    for word, *facts in said:
        if word == "published":
            found = {int(facts[0])}
        elif word == "trying" and facts[0] == "publish":
            found.add(int(facts[1]))
    return found
