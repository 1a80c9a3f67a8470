"""What goes by before anything is done: CPU time of ``metl``, for people who type it and scripts that call it often.

And the time until a session of Spark takes runs, against one that asks nobody for a secret.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.client import SparkProcess
from tests.benchmarks.harness import OPEN, Case, compared, quartiles

TARGET_SECONDS = 0.3
_GUARDED_TARGET = 0.97


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure the help and a command's help, each in processes of their own."""
    for arguments in (["--help"], ["import", "--help"]):
        times = [cpu_seconds([sys.executable, "-m", "metl_gui.cli.main", *arguments]) for _ in range(rounds)]
        low, high = quartiles(times)
        name = f"metl {' '.join(arguments)}"
        note = "user and system time" + (", few rounds" if quick else "")
        yield Case(name, statistics.median(times), None, "s CPU", TARGET_SECONDS, low=low, high=high, note=note)
    yield compared(
        "a session takes runs, without authentication as baseline",
        [(_session_seconds(Target()), _session_seconds(OPEN)) for _ in range(rounds)],
        unit="s",
        target=_GUARDED_TARGET,
        note="from the start of its process, local[*]",
    )


def cpu_seconds(command: list[str]) -> float:
    """Run a command to its end and return the user and system time that it and its children took."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return round(spent, 3)


def _session_seconds(target: Target) -> float:
    """Return how long a session takes until it takes runs."""
    started = time.perf_counter()
    with SparkProcess(target) as process:
        process.wait_until_ready()
        return time.perf_counter() - started
