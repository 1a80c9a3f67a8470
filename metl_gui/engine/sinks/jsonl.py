"""Write what one task makes: JSON lines, one part in each folder.

Parts carry the task and its attempt in their names, so a second attempt never touches what a first one left.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from pathlib import Path

from metl_gui.engine.failures import TaskError
from metl_gui.errors import RunError

_FLUSH_BYTES = 8 << 20


class JsonlParts:
    """The parts of one task attempt.

    Args:
        name: the name of the parts, without suffix.
        made: folders that are there already; when they are gone, the run was cancelled and they must not come back.

    Files are opened only to append what has gathered, so any number of folders needs one open file.
    """

    def __init__(self, name: str, made: Collection[Path] = ()) -> None:
        self.made = made
        self.name = f"{name}.jsonl"
        self._written: dict[Path, None] = {}
        self._waiting: dict[Path, list[bytes | memoryview]] = {}
        self._waiting_bytes = 0

    def append(self, folder: Path, lines: Sequence[bytes | memoryview]) -> None:
        """Take lines for the part in a folder."""
        self._waiting.setdefault(folder, []).extend(lines)
        self._waiting_bytes += sum(map(len, lines))
        if self._waiting_bytes >= _FLUSH_BYTES:
            self._flush()

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        self._flush()
        return [str(path) for path in self._written]

    def _flush(self) -> None:
        for folder, lines in self._waiting.items():
            try:
                self._write(folder, lines)
            except FileNotFoundError:
                raise  # the run was cancelled and its folders are gone
            except OSError as error:
                raise TaskError(_unwritable(folder, error)) from error
        self._waiting.clear()
        self._waiting_bytes = 0

    def _write(self, folder: Path, lines: Sequence[bytes | memoryview]) -> None:
        path = folder / self.name
        if path not in self._written:
            if folder not in self.made:
                folder.mkdir(exist_ok=True)
            self._written[path] = None
        with path.open("ab") as file:
            file.write(b"\n".join(lines) + b"\n")


def _unwritable(folder: Path, error: OSError) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(
            "The disk is full: the outputs do not fit.",
            f"{folder}. Nothing was kept.",
            "Free some space and run again.",
        )
    return RunError(
        "A part of the outputs cannot be written.",
        f"{folder}: {error.strerror or error}. Nothing was kept.",
        "Look whether the folder is still there and yours to write, then run again.",
    )
