"""The guard of this process: the other process that ends our components once this one is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from metl_gui.workbench.components import guard

_lock = threading.Lock()
_guards: dict[int, subprocess.Popen[str]] = {}
"""By the id of the process they watch over: a fork needs one of its own."""


def guard_process(process_id: int, mark: str, polite: int) -> None:
    """Have a component ended when this process ends without having done so."""
    _tell(f"{guard.START} {process_id} {mark} {polite}")


def release_process(process_id: int) -> None:
    """Say that a component has ended."""
    _tell(f"{guard.END} {process_id}")


def guard_folder(folder: Path) -> None:
    """Have a temporary folder removed when this process ends without having done so."""
    _tell(f"{guard.FOLDER} {folder}")


def release_folder(folder: Path) -> None:
    """Say that a temporary folder was removed."""
    _tell(f"{guard.FORGET} {folder}")


def _tell(line: str) -> None:
    with _lock:
        stdin = _own().stdin
        if stdin is not None:
            stdin.write(line + "\n")
            stdin.flush()


def _own() -> subprocess.Popen[str]:
    """Return the guard of this process, which is started when it is first needed."""
    found = _guards.get(os.getpid())
    if found is None:
        # A session of its own: what a terminal sends to us is not for it.
        found = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd="/",
        )
        _guards[os.getpid()] = found
    return found


def dismiss() -> None:
    """End the guard, which ends whatever is left; the next component starts another one."""
    with _lock:
        found = _guards.pop(os.getpid(), None)
        if found is not None and found.stdin is not None:
            found.stdin.close()
            found.wait()
