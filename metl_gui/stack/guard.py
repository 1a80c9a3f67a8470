"""Ends what a program started once that program is gone, however it went: ``python -I guard.py``.

It is told on its standard input what was started, and does its work when that closes, which even SIGKILL cannot
prevent. It runs without this package, so that it starts at once and needs nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "METL_COMPONENT"
"""Name of the environment variable that all processes of a component carry."""
START, END, FOLDER, FORGET = "start", "end", "folder", "forget"
"""The first words of the lines it is told."""

_POLITE_SECONDS = 5.0
_ROUNDS = 100
_ROUND_SECONDS = 0.05
_PROCESSES = Path("/proc")
_STILL = {"T", "t", "Z", "X"}


def process_ids() -> Iterator[int]:
    """Yield every process of this computer."""
    for entry in _PROCESSES.iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def stat_of(process_id: int) -> list[str]:
    """Return what ``/proc`` says after a process's name, the state first; empty when it is gone or a zombie."""
    try:
        fields = (_PROCESSES / str(process_id) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[:1] == ["Z"] else fields


def born(process_id: int) -> str:
    """Return when a process began, in ticks since this computer did; empty when it is gone."""
    fields = stat_of(process_id)
    return fields[19] if len(fields) > 19 else ""


def children_of(process_id: int) -> list[int]:
    """Return every process below one."""
    parents = {found: int(fields[1]) for found in process_ids() if (fields := stat_of(found))}
    below: list[int] = []
    for found, parent in parents.items():
        if parent == process_id:
            below += [found, *_below(found, parents)]
    return below


def _below(process_id: int, parents: dict[int, int]) -> Iterator[int]:
    for found, parent in parents.items():
        if parent == process_id:
            yield found
            yield from _below(found, parents)


def marked(mark: str) -> list[int]:
    """Return the processes that carry a mark, wherever they stand: workers of Spark leave the group they began in."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for process_id in process_ids():
        with contextlib.suppress(OSError):
            if wanted in (_PROCESSES / str(process_id) / "environ").read_bytes().split(b"\0"):
                found.append(process_id)
    return [process_id for process_id in found if stat_of(process_id)]


def family(process_id: int, mark: str) -> list[int]:
    """Return a process, what it started, and what carries its mark."""
    # Number 0 stands for a process that is gone, and is the parent of the first of all.
    own = [process_id, *children_of(process_id)] if process_id > 1 and stat_of(process_id) else []
    return list(dict.fromkeys([*own, *marked(mark)]))


def signal_all(process_ids_: list[int], number: int) -> None:
    """Send a signal to processes, as far as they are there."""
    for process_id in process_ids_:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process_id, number)


def is_stopped(process_id: int) -> bool:
    """Whether every thread of a process stands still, or it is gone; a stop waits for a processor like all else."""
    try:
        threads = [(thread / "stat").read_text() for thread in (_PROCESSES / str(process_id) / "task").iterdir()]
    except OSError:
        return not stat_of(process_id)  # else a thread has just ended
    return all(text.rpartition(")")[2].split()[0] in _STILL for text in threads)


def end(process_id: int, mark: str, polite: int = 0) -> None:
    """End a component with all it started.

    Args:
        process_id: the process that was started.
        mark: what its processes carry in their environment.
        polite: the signal at which it puts its things in order and ends; 0 for none.
    """
    if polite and process_id > 1 and stat_of(process_id):
        signal_all([process_id, *children_of(process_id)], signal.SIGCONT)
        signal_all([process_id], polite)
        last = time.monotonic() + _POLITE_SECONDS
        while time.monotonic() < last and stat_of(process_id):
            time.sleep(_ROUND_SECONDS)
    for _ in range(_ROUNDS):
        left = family(process_id, mark)
        signal_all(left, signal.SIGKILL)
        if not left:
            return
        time.sleep(_ROUND_SECONDS)


def _watch() -> None:
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    started: dict[int, tuple[str, str, int]] = {}
    folders: dict[str, None] = {}
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == START:
            number, mark, polite = rest.split(" ")
            started[int(number)] = (born(int(number)), mark, int(polite))
        elif word == END:
            started.pop(int(rest), None)
        elif word == FOLDER:
            folders[rest] = None
        elif word == FORGET:
            folders.pop(rest, None)
    for process_id, (birth, mark, polite) in reversed(started.items()):
        # A number that somebody else has by now is only looked for by its mark.
        end(process_id if birth and born(process_id) == birth else 0, mark, polite)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _watch()
