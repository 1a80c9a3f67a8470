"""What a worker tells of itself: its Python, its packages, and which files and folders of a run it sees.

Runs on executors before anything is known of them, so it needs nothing but Python and says everything in JSON.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import socket
import sys
from pathlib import Path
from typing import Any

NEEDED = ("pyarrow", "msgspec")
"""What a task cannot do without."""

WANTED = ("numpy", "numba")
"""What makes it faster."""

KAFKA = "confluent_kafka"
"""What a task cannot do without that reads or writes topics."""

MARK = ".metl-look"
"""The file in a folder by whose text a worker knows that it is the same folder."""

_told: dict[str, int] = {}


class WorkerProbe:
    """What is asked of workers, as it travels.

    Args:
        text: ``files``, a list of (path, size); ``folders``, paths that must be written; ``mark``, what the mark in
            each of them says; as JSON.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def answer(self, _row: object) -> str | None:
        """Answer once for each task; nothing for its other rows."""
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt, partition = (context.taskAttemptId(), context.partitionId()) if context else (-1, 0)
        if _told.get("attempt") == attempt:
            return None
        _told["attempt"] = attempt
        return json.dumps({"partition": partition, **_own_facts(), **_seen(json.loads(self.text))})


def _own_facts() -> dict[str, object]:
    return {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": f"{platform.system()} {platform.machine()}",
        "user": str(os.getuid()),
        "packages": {name: _version(name, is_tried=name in NEEDED) for name in (*NEEDED, *WANTED, KAFKA)},
    }


def _seen(wanted: dict[str, Any]) -> dict[str, object]:
    return {
        "files": [why for path, size in wanted["files"] if (why := _why_not_file(path, size))],
        "folders": {path: why for path in wanted["folders"] if (why := _why_not_folder(path, wanted["mark"]))},
    }


def _version(name: str, *, is_tried: bool) -> str:
    """Return the version of a package, empty where it is missing or broken."""
    try:
        if is_tried:
            importlib.import_module(name)
        return importlib.metadata.version(name)
    except Exception:  # noqa: BLE001 - whatever keeps it from being used; the answer says so
        return ""


def _why_not_file(path: str, size: int) -> str:
    try:
        with Path(path).open("rb") as file:
            found = os.fstat(file.fileno()).st_size
    except OSError as error:
        return f"{path}: {error.strerror}"
    return f"{path} has {found:,} bytes there and {size:,} here: it is another file" if found < size else ""


def _why_not_folder(path: str, mark: str) -> str:
    folder = Path(path)
    try:
        if (folder / MARK).read_text() != mark:
            return "it is another folder of the same name"
    except FileNotFoundError:
        return "it is not there"
    except OSError as error:
        return str(error.strerror)
    trial = folder / f"{MARK}-{socket.gethostname()}-{os.getpid()}"
    try:
        trial.write_text(mark)
        trial.unlink()
    except OSError as error:
        return f"it cannot be written: {error.strerror}"
    return ""
