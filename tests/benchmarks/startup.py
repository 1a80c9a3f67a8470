"""CPU time that ``metl`` takes before it does anything, for people who type it and scripts that call it often."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.harness import Case, quartiles

TARGET_SECONDS = 0.3


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure the help and a command's help, each in processes of their own."""
    for arguments in (["--help"], ["import", "--help"]):
        times = [cpu_seconds([sys.executable, "-m", "metl_gui.cli.main", *arguments]) for _ in range(rounds)]
        low, high = quartiles(times)
        name = f"metl {' '.join(arguments)}"
        note = "user and system time" + (", few rounds" if quick else "")
        yield Case(name, statistics.median(times), None, "s CPU", TARGET_SECONDS, low=low, high=high, note=note)


def cpu_seconds(command: list[str]) -> float:
    """Run a command to its end and return the user and system time that it and its children took."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return round(spent, 3)
