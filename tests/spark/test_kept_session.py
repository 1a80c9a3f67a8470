"""A kept session serves one command after another of the same kind, each alone, and leaves nothing when it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.core.runs.target import parse_target
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.execution.kept_session import (
    KeptConnection,
    SessionNote,
    connect_kept,
    kept_sessions,
    sessions_folder,
    stop_kept,
)
from metl_gui.errors import RunCancelled, RunError
from metl_gui.workbench.demo.sample import fresh_copy
from tests.helpers.killing import below, command_of
from tests.spark.conftest import SpecOf, order_record

pytestmark = pytest.mark.spark

TARGET = parse_target("local[2]")
_SECONDS = 60.0


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.05)


def leave(connection: KeptConnection) -> None:
    reader = threading.Thread(target=lambda: list(connection.lines()))
    reader.start()
    connection.clear(reader)


def is_gone(process: int) -> bool:
    return not is_alive(process)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def named(spec_of: SpecOf, source: Path, folder: Path, name: str, **others: object) -> RunSpec:
    """Make the spec of a run with places of its own."""
    places = {place: str(folder / f"{place}-{name}") for place in ("folder", "errors")}
    return spec_of(source, str(folder / f"out-{name}"), **places, **others)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cache folder of the test's own, so that its sessions are no other's, and are ended with it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ("longer than the address of a socket can be " * 3)))
    yield
    stop_kept()
    assert kept_sessions() == ()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(b"".join(order_record(number) + b"\n" for number in range(100)))
    return path


@pytest.mark.usefixtures("own_cache")
def test_commands_share_a_session_that_is_listed_for_its_owner_alone_and_ends_when_it_is_told(
    source: Path, spec_of: SpecOf, tmp_path: Path
) -> None:
    used = []
    for number in range(2):
        with SparkProcess(TARGET, is_kept=True) as spark:
            assert spark.run(named(spec_of, source, tmp_path, str(number))).read == 100
            used.append(spark.process_id)
    (note,) = kept_sessions()
    assert used == [note.process] * 2
    assert note.target == TARGET.shown
    until(lambda: kept_sessions()[0].idle_since_ms is not None)
    folder = sessions_folder()
    assert [path.name for path in (folder, *folder.iterdir()) if path.lstat().st_mode & 0o077] == []
    written = [sorted(path.read_bytes() for path in (tmp_path / f"out-{number}").rglob("*.jsonl")) for number in (0, 1)]
    assert written[0] == written[1] != []
    children = below(note.process)
    assert [one.process for one in stop_kept()] == [note.process]
    until(lambda: all(map(is_gone, (note.process, *children))))
    assert not list(folder.glob("*.sock"))
    assert kept_sessions() == stop_kept() == ()


@pytest.mark.usefixtures("own_cache")
def test_a_run_leaves_its_session_to_the_load_of_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    sample, messages = fresh_copy(), str(tmp_path / "messages")
    target, spark = f"duckdb:{tmp_path / 'fx.duckdb'}", ("--spark", TARGET.master, "--keep-session", "--json")
    source = "--source", str(sample.messages / "payments.jsonl"), "--sink", messages
    used: list[SessionNote] = []
    told: dict[str, int] = {}
    for command in (
        ("run", str(sample.project), *source, *spark),
        ("warehouse", "load", str(sample.project), "--source", messages, "--target", target, *spark),
    ):
        assert main(command) == 0
        until(lambda: all(note.idle_since_ms is not None for note in kept_sessions()))
        used += kept_sessions()
        told = json.loads(capsys.readouterr().out)
    assert [note.process for note in used] == [used[0].process] * 2
    assert used[0].idle_since_ms != used[1].idle_since_ms  # the load had it, and gave it back
    assert told["appended"] == told["messages"] > 0
    assert main(["doctor", "--stop-session"]) == 0
    until(partial(is_gone, used[0].process))
    assert kept_sessions() == ()


@pytest.mark.usefixtures("own_cache")
def test_a_session_that_has_a_client_sends_others_away_who_have_one_of_their_own(
    source: Path, spec_of: SpecOf, tmp_path: Path
) -> None:
    with SparkProcess(TARGET, is_kept=True) as first, SparkProcess(TARGET, is_kept=True) as second:
        (note,) = kept_sessions()
        assert first.process_id == note.process
        assert second.process_id not in {None, note.process}
        assert connect_kept(TARGET) is None
        assert second.run(named(spec_of, source, tmp_path, "second")).read == 100
        own = second.process_id
    assert own is not None
    assert (is_alive(own), is_alive(note.process)) == (False, True)


@pytest.mark.usefixtures("own_cache")
def test_a_client_that_goes_away_amid_its_run_takes_the_session_along_and_a_cancelled_one_leaves_it(
    spec_of: SpecOf, tmp_path: Path
) -> None:
    source = tmp_path / "growing.jsonl"
    source.write_bytes(order_record(1) + b"\n")

    def begun(spark: SparkProcess, name: str) -> threading.Thread:
        """Begin a run that goes on until it is told to end."""
        is_begun = threading.Event()
        spec = named(spec_of, source, tmp_path, name, checkpoint=str(tmp_path / f"places-{name}"), follow=True)

        def run() -> None:
            with contextlib.suppress(RunCancelled, RunError):
                spark.run(spec, lambda _event: is_begun.set())

        thread = threading.Thread(target=run)
        thread.start()
        assert is_begun.wait(_SECONDS)
        return thread

    with SparkProcess(TARGET, is_kept=True) as spark:
        run = begun(spark, "cancelled")
        spark.cancel()
        run.join(_SECONDS)
        process = spark.process_id
    assert process is not None
    with SparkProcess(TARGET, is_kept=True) as spark:
        assert spark.process_id == process
        run = begun(spark, "left")
    run.join(_SECONDS)
    until(partial(is_gone, process))
    assert kept_sessions() == ()


@pytest.mark.usefixtures("own_cache")
def test_a_session_whose_java_or_process_was_killed_is_followed_by_another(
    source: Path, spec_of: SpecOf, tmp_path: Path
) -> None:
    used = []
    for number in range(3):
        with SparkProcess(TARGET, is_kept=True) as spark:
            assert spark.run(named(spec_of, source, tmp_path, str(number))).read == 100
            process = spark.process_id
        assert process is not None
        used.append(process)
        if number == 0:
            os.kill(process, signal.SIGKILL)
        else:
            os.kill(next(one for one in below(process) if "java" in command_of(one).split()[0]), signal.SIGKILL)
        until(partial(is_gone, process))
    assert len(set(used)) == 3


@pytest.mark.usefixtures("own_cache")
def test_a_session_ends_when_no_client_has_come_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METL_SESSION_SECONDS", "1")
    connection = connect_kept(TARGET)
    assert connection is not None
    process = connection.process_id
    leave(connection)
    until(partial(is_gone, process))
    assert not list(sessions_folder().glob("*.sock"))


@pytest.mark.usefixtures("own_cache")
def test_nonsense_from_a_client_ends_its_connection_and_not_the_session() -> None:
    first = connect_kept(TARGET)
    assert first is not None
    first.write(b"{not a command\n")
    assert list(first.lines()) == []
    leave(first)
    with SparkProcess(TARGET, is_kept=True) as spark:
        assert spark.process_id == first.process_id


@pytest.mark.usefixtures("own_cache")
def test_a_session_that_hangs_keeps_nobody_waiting_and_the_note_of_a_killed_one_names_no_process_to_end() -> None:
    first = connect_kept(TARGET)
    assert first is not None
    leave(first)
    os.kill(first.process_id, signal.SIGSTOP)
    try:
        assert connect_kept(TARGET) is None
    finally:
        os.kill(first.process_id, signal.SIGKILL)
    until(partial(is_gone, first.process_id))
    assert [path.name for path in sessions_folder().glob("*.json")] != []
    second = connect_kept(TARGET)
    assert second is not None
    assert [note.process for note in kept_sessions()] in ([], [second.process_id])
    leave(second)
