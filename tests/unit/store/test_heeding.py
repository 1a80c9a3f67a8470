"""Long work on a project file ends when it is cancelled, and at Ctrl+C."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.progress import Watch
from metl_gui.errors import RunCancelled
from metl_gui.store.creation import copy_file
from metl_gui.store.project_file import ProjectFile
from metl_gui.workbench.cancellable_queries import cancellable_queries
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n WHERE x < 0"

_INTERRUPTED = f"""\
import contextlib, io, sys
from pathlib import Path
from metl_gui.cli.commands import finished
from metl_gui.cli.output import Output
from metl_gui.store.project_file import ProjectFile
out = Output(as_json=False, stdout=sys.stdout, stderr=sys.stderr)
def command():
    with ProjectFile.open(Path(sys.argv[1]), for_editing=True) as project:
        with out.watching() if sys.argv[2] == "watched" else contextlib.nullcontext():
            with getattr(project, sys.argv[3])() as connection:
                print("asking", flush=True)
                connection.execute("{ENDLESS}").fetchone()
    return 0
sys.exit(finished(command, out, debug=True))
"""


@pytest.mark.parametrize("way", ["_reading", "_editing"])
@pytest.mark.parametrize("kind", ["watched", "plain"])
def test_ctrl_c_ends_a_command_whose_query_would_not_end_and_gives_the_project_back(
    path: Path, kind: str, way: str
) -> None:
    ProjectFile.create(path).close()
    command = [sys.executable, "-c", _INTERRUPTED, str(path), kind, way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "asking\n"
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Cancelled." in told
    assert "Traceback" not in told
    assert [found.name for found in path.parent.iterdir()] == ["fx.metl"]
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.holder() is None


@pytest.mark.parametrize("way", ["_reading", "_editing", "_appending"])
def test_cancelling_ends_a_query_and_the_project_goes_on(editing: Editing, way: str) -> None:
    editing.small_world()
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    with (
        cancellable_queries(Watch(is_cancelled=stop.is_set)),
        pytest.raises(RunCancelled),
        getattr(editing.project, way)() as connection,
    ):
        connection.execute(ENDLESS).fetchone()
    editing.schema("fx.payments", "3", "id:int64")
    assert parts(editing.project.document()) == parts(editing.document)


def test_an_edit_that_is_cancelled_while_it_is_written_leaves_the_file_as_it_was(editing: Editing) -> None:
    editing.small_world()
    before = parts(editing.project.document())
    with (
        cancellable_queries(Watch(is_cancelled=lambda: True)),
        pytest.raises(RunCancelled),
        editing.project._editing() as connection,
    ):
        connection.execute(f"DELETE FROM edits WHERE state < 3 OR state > ({ENDLESS})")
    assert parts(editing.project.document()) == before
    assert len(editing.project.history()) == 4


def test_what_is_cancelled_by_one_thread_goes_on_for_others(editing: Editing) -> None:
    editing.small_world()
    with cancellable_queries(Watch(is_cancelled=lambda: True)):
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(editing.project._connection.execute(COUNTED).fetchone()))
        thread.start()
        thread.join()
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            editing.project._connection.execute(COUNTED).fetchone()
    assert found == [(3_000_000,)]
    assert editing.project._connection.execute(COUNTED).fetchone() == (3_000_000,)


COUNTED = f"{ENDLESS.partition(' SELECT count')[0]} SELECT x FROM n WHERE x = 3000000 LIMIT 1"


def test_a_copy_that_is_cancelled_leaves_nothing(path: Path, tmp_path: Path) -> None:
    with ProjectFile.create(path) as project:
        project.kept.samples.include(1, bytes(range(256)) * 9, EditContext("ada", 5))
    with cancellable_queries(Watch(is_cancelled=lambda: True)), pytest.raises(RunCancelled):
        copy_file(path, tmp_path / "copy.metl")
    assert [found.name for found in tmp_path.iterdir()] == ["fx.metl"]


def test_every_connection_expects_a_file_that_was_made_to_do_harm(editing: Editing) -> None:
    connection = editing.project._connection
    for name, value in (("trusted_schema", 0), ("cell_size_check", 1), ("mmap_size", 0), ("synchronous", 2)):
        assert connection.execute(f"PRAGMA {name}").fetchone() == (value,), name
    with pytest.raises(sqlite3.OperationalError, match="not authorized"):
        connection.execute("SELECT load_extension('evil')")
    connection.execute("ATTACH ':memory:' AS one")
    with pytest.raises(sqlite3.OperationalError, match="too many attached databases"):
        connection.execute("ATTACH ':memory:' AS two")
