"""How the Spark process lives and dies: killed, hung, without Java, with a master that is not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.runs.events import EngineEvent, RunFailed, RunProgressed, RunStopped, SessionFailed
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import RunCancelled, RunError, SetupError
from metl_gui.stack.guard import children_of
from tests.spark.conftest import SpecOf


def _is_running(process_id: int) -> bool:
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_until_gone(process_ids: list[int], seconds: float = 20) -> list[int]:
    end = time.monotonic() + seconds
    while (left := [i for i in process_ids if _is_running(i)]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _java_of(spark: SparkProcess) -> int:
    return next(i for i in children_of(_id_of(spark)) if _program_of(i) == "java")


def _program_of(process_id: int) -> str:
    """Return the name of a process's program, nothing for one that has just ended."""
    try:
        return Path(f"/proc/{process_id}/exe").readlink().name
    except OSError:
        return ""


def _once_records_flow(act: Callable[[], None], events: list[EngineEvent]) -> Callable[[EngineEvent], None]:
    """Make an event sink that acts when the first records have been read."""
    is_done: list[bool] = []

    def take(event: EngineEvent) -> None:
        events.append(event)
        if isinstance(event, RunProgressed) and event.tally.read and not is_done:
            is_done.append(True)
            act()

    return take


def _outputs(folder: Path) -> list[str]:
    """What a run left beside its own record."""
    record = {"run", "run/spec.json", "run/events.jsonl"}
    return sorted({path.relative_to(folder).as_posix() for path in folder.rglob("*")} - record)


def _id_of(spark: SparkProcess) -> int:
    assert spark.process_id is not None
    return spark.process_id


def test_a_jvm_that_dies_fails_the_run_in_words_and_the_next_run_has_a_new_one(
    slow_spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, long_source: Path
) -> None:
    slow_spark.wait_until_ready()
    events: list[EngineEvent] = []
    kill = _once_records_flow(lambda: os.kill(_java_of(slow_spark), signal.SIGKILL), events)
    with pytest.raises(RunError) as caught:
        slow_spark.run(spec_of(long_source), kill)
    assert "memory" in caught.value.hint
    assert isinstance(events[-1], RunFailed)
    assert _outputs(tmp_path) == []
    assert slow_spark.run(spec_of(long_source, limit=5)).read == 5


def test_a_killed_host_fails_the_run_in_words_takes_its_jvm_along_and_the_next_run_has_a_new_one(
    slow_spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, long_source: Path
) -> None:
    slow_spark.wait_until_ready()
    below = children_of(_id_of(slow_spark))
    kill = _once_records_flow(lambda: os.kill(_id_of(slow_spark), signal.SIGKILL), [])
    with pytest.raises(RunError) as caught:
        slow_spark.run(spec_of(long_source), kill)
    assert caught.value.hint
    assert _wait_until_gone(below) == []
    assert _outputs(tmp_path) == []
    assert slow_spark.run(spec_of(long_source, limit=5)).read == 5


def test_a_hung_host_is_ended_by_a_cancel_which_does_not_wait_until_it_wakes(
    slow_spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, long_source: Path
) -> None:
    slow_spark.wait_until_ready()
    everything = [_id_of(slow_spark), *children_of(_id_of(slow_spark))]
    events: list[EngineEvent] = []

    def hang_and_cancel() -> None:
        os.kill(_id_of(slow_spark), signal.SIGSTOP)
        slow_spark.cancel()

    with pytest.raises(RunCancelled):
        slow_spark.run(spec_of(long_source), _once_records_flow(hang_and_cancel, events))
    assert isinstance(events[-1], RunStopped)
    assert _wait_until_gone(everything) == []
    assert _outputs(tmp_path) == []


def test_cancel_does_not_wait_for_spark_whose_session_takes_the_next_run(
    slow_spark: SparkProcess, spec_of: SpecOf, tmp_path: Path, long_source: Path
) -> None:
    slow_spark.wait_until_ready()
    host, java = _id_of(slow_spark), _java_of(slow_spark)
    events: list[EngineEvent] = []

    def hang_and_cancel() -> None:
        os.kill(java, signal.SIGSTOP)
        slow_spark.cancel()

    with pytest.raises(RunCancelled):
        slow_spark.run(spec_of(long_source), _once_records_flow(hang_and_cancel, events))
    assert isinstance(events[-1], RunStopped)
    assert _outputs(tmp_path) == []
    os.kill(java, signal.SIGCONT)
    assert slow_spark.run(spec_of(long_source, limit=5)).read == 5
    assert slow_spark.process_id == host


def test_a_java_that_hangs_for_good_is_ended_after_a_cancel_and_the_next_run_has_a_new_one(
    slow_spark: SparkProcess, spec_of: SpecOf, long_source: Path
) -> None:
    slow_spark.wait_until_ready()
    everything = [_id_of(slow_spark), *children_of(_id_of(slow_spark))]

    def hang_and_cancel() -> None:
        os.kill(_java_of(slow_spark), signal.SIGSTOP)
        slow_spark.cancel()

    with pytest.raises(RunCancelled):
        slow_spark.run(spec_of(long_source), _once_records_flow(hang_and_cancel, []))
    assert slow_spark.run(spec_of(long_source, limit=5)).read == 5
    assert _wait_until_gone(everything) == []


def test_cancel_while_the_session_still_starts_does_not_wait_until_it_is_there(
    spec_of: SpecOf, long_source: Path
) -> None:
    with SparkProcess("local[2]") as spark:
        threading.Timer(0.3, spark.cancel).start()
        with pytest.raises(RunCancelled):
            spark.run(spec_of(long_source))
        assert not spark.is_ready


def test_stop_leaves_no_process_and_no_folder(spec_of: SpecOf, long_source: Path) -> None:
    spark = SparkProcess("local[1]").start()
    spark.run(spec_of(long_source, limit=5))
    everything, folder = [_id_of(spark), *children_of(_id_of(spark))], spark.folder
    assert folder is not None
    assert folder.is_dir()
    spark.stop()
    assert _wait_until_gone(everything, 2) == []
    assert not folder.exists()


def test_stop_while_the_session_still_starts_leaves_no_process_and_no_folder() -> None:
    spark = SparkProcess("local[1]").start()
    end = time.monotonic() + 20
    while not (below := children_of(_id_of(spark))) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)  # Java's own start, in which it listens to nobody
    everything, folder = [_id_of(spark), *below], spark.folder
    assert below
    spark.stop()
    assert _wait_until_gone(everything, 2) == []
    assert folder is not None
    assert not folder.exists()


def test_a_client_that_is_killed_takes_everything_along() -> None:
    script = (
        "from metl_gui.engine.execution.client import SparkProcess\n"
        "spark = SparkProcess('local[1]').start()\n"
        "spark.wait_until_ready()\n"
        "print(spark.folder, flush=True)\n"
        "import time\n"
        "time.sleep(600)\n"
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", script], cwd=root, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        folder = Path(client.stdout.readline().strip())
        below = children_of(client.pid)
        assert len(below) >= 2
        client.kill()
    assert _wait_until_gone(below) == []
    assert not folder.exists()


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("METL_JVM_FOLDER", str(tmp_path / "nothing"))


@pytest.mark.usefixtures("no_java")
def test_a_computer_without_java_is_told_what_to_do(spec_of: SpecOf, tmp_path: Path) -> None:
    heard: list[EngineEvent] = []
    with SparkProcess(on_event=heard.append) as spark, pytest.raises(SetupError, match="Java 17") as caught:
        spark.run(spec_of(tmp_path))
    assert "metl doctor --fix" in caught.value.hint
    assert isinstance(heard[-1], SessionFailed)


@pytest.mark.usefixtures("no_java")
def test_a_java_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "jdk-11" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    (tmp_path / "jdk-11" / "release").write_text('JAVA_VERSION="11.0.2"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk-11"))
    with pytest.raises(SetupError, match="Java 11"):
        find_java()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("spark://127.0.0.1:1", "master does not answer"),
        ("sc://127.0.0.1:1", "server does not answer"),
        ("yarn-of-another-time", "not known"),
    ],
)
def test_a_target_that_cannot_be_served_fails_the_run_in_words(
    spec_of: SpecOf, tmp_path: Path, target: str, said: str
) -> None:
    with pytest.raises(RunError) as caught, SparkProcess(target) as spark:
        spark.run(spec_of(tmp_path))
    assert said in caught.value.title
    assert "local[*]" in caught.value.hint
