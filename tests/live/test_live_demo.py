"""The live demo: the rows of its tables are those in its topics at the end, and nothing outlives who started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from metl_gui.stack.guard import stat_of
from metl_gui.stack.jars import find_maven
from metl_gui.stack.kafka import KAFKA_JARS
from metl_gui.stack.postgres import find_programs
from metl_gui.workbench.user_folders import PROCESS, read_facts
from tests.helpers.killing import below, command_of
from tests.live.conftest import need
from tests.live.test_components import until

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("own servers")]

# Of two releases the one that needs a decision; and it is killed where it would end all in order.
_DEMO = """
import sys, time
from metl_gui.cli import demo, main
from metl_gui.workbench.demo import live_story

live_story.RELEASES = live_story.RELEASES[1:]
told = demo._told

def stay(*arguments):
    told(*arguments)
    time.sleep(600)

demo._told = stay
sys.exit(main.main(["demo", "--live", "--json"]))
"""


# The window is closed by itself once a file is there, as no one sits before it.
_SHOWN = """
import sys
from metl_gui.cli import demo, main

window = '''
import os, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from metl_gui.ui import main
from metl_gui.ui.shell.window import Window

show = Window.show

def shown(self):
    show(self)
    self.looking = QTimer(self, interval=50)
    self.looking.timeout.connect(lambda: Path(os.environ["CLOSE_WINDOW"]).exists() and self.close())
    self.looking.start()

Window.show = shown
sys.exit(main.main(sys.argv[1:]))
'''
demo.window_command = lambda project, *options: [sys.executable, "-c", window, str(project), *options]
sys.exit(main.main(["demo", "--live"]))
"""
_ENDED, _INTERRUPTED = 0, 130
_SECONDS = 120
_SERVERS = 3
"""PostgreSQL, Kafka and Connect."""

Start = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def close_window(tmp_path: Path) -> Path:
    """The file at which the window is closed."""
    return tmp_path / "close"


@pytest.fixture
def start(own_folders: dict[str, str], close_window: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a demo; what it notes is kept in a file."""
    need(find_programs, *(() if KAFKA_JARS.is_fetched else (find_maven,)))
    screen = {"DISPLAY": ":none", "QT_QPA_PLATFORM": "offscreen", "CLOSE_WINDOW": str(close_window)}
    with ExitStack() as stack:
        notes = stack.enter_context((tmp_path / "notes").open("w"))

        def started(script: str) -> subprocess.Popen[str]:
            program = subprocess.Popen(
                [sys.executable, "-c", script],
                env=own_folders | screen,
                stdout=subprocess.PIPE,
                stderr=notes,
                text=True,
            )
            stack.enter_context(program)
            stack.callback(program.kill)
            return program

        yield started


def read_until(program: subprocess.Popen[str], sign: str, tmp_path: Path) -> None:
    """Read what a demo tells until it tells of something."""
    assert program.stdout is not None
    line = program.stdout.readline()
    while line and sign not in line:
        line = program.stdout.readline()
    assert line, (tmp_path / "notes").read_text()


def all_of(program: subprocess.Popen[str], tmp_path: Path) -> list[int]:
    """Return every process that a demo has started."""
    facts = [read_facts(path.parent) for path in tmp_path.rglob(PROCESS)]
    lanes = [one.holder.process_id for one in facts if one is not None and one.lives]
    return [*below(program.pid), *lanes, *(process for lane in lanes for process in below(lane))]


def test_a_release_that_renames_a_column_is_met_without_a_loss_and_all_servers_end_with_a_killed_demo(
    start: Start, tmp_path: Path
) -> None:
    demo = start(_DEMO)
    assert demo.stdout is not None
    lines: list[str] = []
    while not lines or lines[-1] not in {"}\n", ""}:
        lines.append(demo.stdout.readline())
    notes = (tmp_path / "notes").read_text()
    assert lines[-1], notes
    told = json.loads("".join(lines))
    assert "shop.crm.customer@2:customer@1.0.0 lost email" in notes
    (replayed,) = told["replays"]
    assert replayed["mapped"] >= 3
    assert (replayed["set_aside"], replayed["state"]) == (0, told["state"])
    assert set(told["rows"]) == {"customer", "order", "order_line", "payment"}
    assert all(rows["tables"] == rows["topic"] > 0 for rows in told["rows"].values())

    started = all_of(demo, tmp_path)
    assert len(started) > _SERVERS
    os.kill(demo.pid, signal.SIGKILL)
    until(lambda: not any(stat_of(process_id) for process_id in started))


def test_with_its_window_all_that_the_demo_has_started_ends(start: Start, close_window: Path, tmp_path: Path) -> None:
    demo = start(_SHOWN)
    read_until(demo, "The window shows the lane", tmp_path)
    # A process that was started a moment ago has no command line yet.
    until(lambda: any("--live" in command_of(process_id) for process_id in below(demo.pid)))
    started = all_of(demo, tmp_path)
    assert len(started) > _SERVERS
    close_window.touch()
    assert demo.wait(_SECONDS) == _ENDED, (tmp_path / "notes").read_text()
    until(lambda: not any(stat_of(process_id) for process_id in started))


def test_ctrl_c_ends_all_that_the_demo_has_started_so_far(start: Start, tmp_path: Path) -> None:
    demo = start(_SHOWN)
    read_until(demo, "A fast lane starts", tmp_path)
    started = all_of(demo, tmp_path)
    assert len(started) > _SERVERS
    demo.send_signal(signal.SIGINT)
    assert demo.wait(_SECONDS) == _INTERRUPTED, (tmp_path / "notes").read_text()
    until(lambda: not any(stat_of(process_id) for process_id in started))
