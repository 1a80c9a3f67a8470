"""Runs of the project: finished, cancelled, killed, replayed, in batches that were stopped, and in production."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.compatibility.making.program import SPARK, Program
from tests.helpers.killing import below, command_of
from tests.helpers.long_runs import many_files

_BATCH_BYTES = 60_000
_BATCHES = 3
_TIMES = 400
_WAIT_SECONDS = 600
_NO_MACHINE_CODE = {"METL_KERNEL_CACHE": "/dev/null/nowhere"}
"""Lets a run last until somebody acts."""


def first(program: Program) -> str:
    """Do the run before a waiting version is there, and keep what it set aside."""
    run_id = _run(program, "out/first", "--errors", program.root / "errors")
    shutil.rmtree(program.root / "out/first")
    shutil.copytree(program.root / "errors", program.root / "waiting-errors")
    return run_id


def rest(program: Program) -> dict[str, str]:
    """Do all other runs.

    Returns:
        Their ids, by what they are.
    """
    root, project = program.root, program.project
    found: dict[str, str] = {}
    places = ("--errors", root / "errors", "--sink", root / "out/replayed")
    found["replay"] = program.metl("replay", project, *places, *_ON)["run_id"]
    shutil.rmtree(root / "errors")
    (root / "waiting-errors").rename(root / "errors")
    found["test"] = _run(program, "out/test")
    found["parquet"] = _run(program, "out/parquet", "--format", "parquet", "--by-date")
    found["production"] = _run(program, "out/production", "--mode", "production")
    found["stream"] = _stop_stream(program)
    found["ended"] = _end_production(program)
    found["died"] = _kill_production(program)
    long = many_files(root / "source" / "payments.jsonl", root / "long", _TIMES)
    for name, end in (("cancelled", _cancel), ("killed-spark", _kill_spark), ("switched-off", _switch_off)):
        found[name] = _ended(program, long, end)
    shutil.rmtree(long)
    return found


_ON = ("--spark", SPARK)


def _run(program: Program, sink: str, *more: object) -> str:
    places = ("--source", program.root / "source", "--sink", program.root / sink)
    report = program.metl("run", program.project, *places, *_ON, *more)
    return str(report["run_id"])


def _stop_stream(program: Program) -> str:
    """Stop a test in batches, half-way."""
    root = program.root
    asked = (
        *("--source", root / "source", "--sink", root / "out/stream", "--errors", root / "stream-errors"),
        *("--checkpoint", root / "checkpoint", "--follow", "--batch-bytes", _BATCH_BYTES, *_ON),
    )
    with program.started("run", program.project, *asked) as running:
        wait_for(lambda: _batches(root / "checkpoint") >= _BATCHES, running)
        running.send_signal(signal.SIGINT)
        running.wait(_WAIT_SECONDS)
    return str(json.loads((root / "checkpoint" / "stream.json").read_bytes())["stream"])


def _kill_production(program: Program) -> str:
    """Kill a production run in batches, half-way, with everything below it."""
    run_id = _begin_production(program, "out/died", "died-errors")
    folder = _folder(program, run_id)
    wait_for(lambda: _batches(folder / "checkpoint") >= _BATCHES)
    number = json.loads((folder / "process.json").read_bytes())["holder"]["process_id"]
    for process_id in (number, *below(number)):
        os.kill(process_id, signal.SIGKILL)
    return run_id


def _end_production(program: Program) -> str:
    """Let a production run follow to the end of what there is, and stop it in order."""
    run_id = _begin_production(program, "out/ended", "ended-errors")
    folder = _folder(program, run_id)
    wait_for(lambda: _has_read_all(folder / "checkpoint" / "status.json"))
    program.metl("runs", program.project, "--stop", run_id)
    wait_for(lambda: json.loads((folder / "process.json").read_bytes())["phase"] == "ended")
    program.metl("runs", program.project)  # takes its report into the project
    return run_id


def _begin_production(program: Program, sink: str, errors: str) -> str:
    root, before = program.root, set(folders(program))
    places = ("--source", root / "source", "--sink", root / sink, "--errors", root / errors)
    how = ("--mode", "production", "--follow", "--detach", "--batch-bytes", _BATCH_BYTES)
    program.metl("run", program.project, *places, *how, *_ON)
    (new,) = set(folders(program)) - before
    return new.name


def _ended(program: Program, source: Path, end: Callable[[subprocess.Popen[bytes]], None]) -> str:
    """Begin a run, end it once it has counted something, and return its id."""
    before, sink = set(folders(program)), program.root / "out/unfinished"
    asked = ("run", program.project, "--source", source, "--sink", sink, *_ON)
    with program.started(*asked, **_NO_MACHINE_CODE) as running:
        wait_for(lambda: any(_has_counted(new) for new in set(folders(program)) - before), running)
        end(running)
        running.wait(_WAIT_SECONDS)
    (new,) = set(folders(program)) - before
    return new.name


def _cancel(running: subprocess.Popen[bytes]) -> None:
    running.send_signal(signal.SIGINT)


def _kill_spark(running: subprocess.Popen[bytes]) -> None:
    driver = next(one for one in below(running.pid) if "metl_gui.engine.host" in command_of(one))
    os.kill(driver, signal.SIGKILL)


def _switch_off(running: subprocess.Popen[bytes]) -> None:
    for process_id in (running.pid, *below(running.pid)):
        os.kill(process_id, signal.SIGKILL)


def _batches(checkpoint: Path) -> int:
    return len([*(checkpoint / "batches").glob("0*.json")])


def _has_read_all(status: Path) -> bool:
    try:
        return bool(json.loads(status.read_bytes())["bytes_waiting"] == 0)
    except (OSError, ValueError):
        return False


def _has_counted(run: Path) -> bool:
    try:
        events = [json.loads(line) for line in (run / "events.jsonl").read_bytes().splitlines()]
    except (OSError, ValueError):
        return False
    return any(event.get("tally", {}).get("read") for event in events)


def _folder(program: Program, run_id: str) -> Path:
    return next(folder for folder in folders(program) if folder.name == run_id)


def folders(program: Program) -> Sequence[Path]:
    """Return the folders of all runs."""
    return [folder for folder in (program.root / "cache").glob("*/runs/*/*") if folder.is_dir()]


def wait_for(is_so: Callable[[], bool], running: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for a condition.

    Raises:
        SystemExit: the process that should bring it about has ended before, or it takes too long.
    """
    end = time.monotonic() + _WAIT_SECONDS
    while not is_so():
        if time.monotonic() > end or (running is not None and running.poll() is not None):
            raise SystemExit("a run did not do what was waited for")
        time.sleep(0.02)
