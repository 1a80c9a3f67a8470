"""Kill a part of a production run: the run itself, the host of its Spark, the JVM, a Python worker."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from metl_gui.stack.guard import children_of
from metl_gui.workbench.runs.production import LiveRun
from metl_gui.workbench.user_folders import read_facts

_WAIT_SECONDS = 90


def below(process_id: int) -> list[int]:
    """Every process below one, those of a child behind it; found in one look, as some look until a moment comes."""
    return children_of(process_id)


def command_of(process_id: int) -> str:
    try:
        return Path(f"/proc/{process_id}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def module(name: str) -> str:
    """Return the name of a module as it stands in the command line of a process, once it is sure that there is one.

    A process that is looked for by the name of a module which was renamed would never be found, and nothing killed.
    """
    assert importlib.util.find_spec(name) is not None, f"there is no module {name}"
    return name


HOST, PRODUCTION = module("metl_gui.engine.host"), module("metl_gui.workbench.production_process")
WORKER = module("metl_gui.engine.tasks.worker_daemon")
"""What stands in command lines: of the process of Spark, of that of a production run, of a Python worker."""

_SIGNS = {"host": HOST, "jvm": "java", "worker": WORKER}


def end_everything(run: LiveRun) -> None:
    end_process_of(run.folder)


def end_process_of(folder: Path) -> None:
    """Kill the process of a run folder, where one lives, with everything below it."""
    facts = read_facts(folder)
    if facts is not None and facts.lives:
        for process_id in (facts.holder.process_id, *below(facts.holder.process_id)):
            with contextlib.suppress(ProcessLookupError):  # what was below the one before may end with it
                os.kill(process_id, signal.SIGKILL)


def wait_for(is_so: Callable[[], bool], look_seconds: float = 0.02) -> None:
    """Look again and again until something is so; what takes long to look at takes cores from what it waits for."""
    end = time.monotonic() + _WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(look_seconds)


def places(folder: Path) -> Counter[tuple[str, str, str]]:
    """Every message by its position, entity and content without what names the run."""
    lines = (line for part in folder.rglob("*.jsonl") for line in part.read_bytes().splitlines())
    found = (json.loads(line) for line in lines)
    return Counter((m["source"]["position"], m["entity"], json.dumps(m["payload"])) for m in found)


def committed(run: LiveRun) -> int:
    """Return the number of the newest batch that is in place."""
    names = (run.folder / "checkpoint" / "batches").glob("0*.json")
    return max((int(path.stem) for path in names), default=0)


def victim(run: LiveRun, what: str) -> int:
    """Find a process of a run: itself, the host of its Spark, the JVM, or a Python worker."""
    facts = read_facts(run.folder)
    assert facts is not None
    own = facts.holder.process_id
    if what == "production":
        return own
    found = [process_id for process_id in below(own) if _SIGNS[what] in command_of(process_id)]
    return found[-1] if found else 0


def kill(run: LiveRun, what: str) -> None:
    wait_for(lambda: victim(run, what) > 0)
    os.kill(victim(run, what), signal.SIGKILL)


def kill_after_a_batch(run: LiveRun, what: str, chance: random.Random) -> None:
    """Wait for a batch, then kill at some moment of those that follow: one is planned, mapped or put in place."""
    before = committed(run)
    wait_for(lambda: committed(run) > before or not run.is_alive)
    threading.Event().wait(chance.random() * 0.4)
    kill(run, what)
