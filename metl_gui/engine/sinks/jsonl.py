"""Write what one task makes: JSON lines, one part in each folder.

Parts carry the task and its attempt in their names, so a second attempt never touches what a first one left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from metl_gui.engine.kernel.message_fields import spans_of
from metl_gui.engine.kernel.message_layout import TS_MS
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.sinks.sink import RejectedRecord, date_folder, folder_name, unwritable
from metl_gui.engine.spark.task_errors import TaskError
from metl_gui.errors import UserError
from metl_gui.own_files import make_below, open_file

_FLUSH_BYTES = 8 << 20


class JsonlParts:
    """The parts of one task attempt below one folder.

    Args:
        root: the folder; when it is gone, the run was cancelled and it must not come back.
        name: the name of the parts, without suffix.

    Files are opened only to append what has gathered, so any number of folders needs one open file.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = f"{name}.jsonl"
        self._written: dict[Path, int] = {}
        """How long each part is; one that is not was taken away or changed by somebody else."""

        self._waiting: dict[tuple[str, ...], list[bytes | memoryview]] = {}
        self._waiting_bytes = 0

    def append(self, folder: tuple[str, ...], lines: Iterable[bytes | memoryview]) -> None:
        """Take lines for the part in a folder.

        Args:
            folder: names of the folders that lead to it; none for the root itself.
            lines: one or more lines each, with the line feed of the last.
        """
        waiting = self._waiting.setdefault(folder, [])
        for line in lines:
            waiting.append(line)
            self._waiting_bytes += len(line)
        if self._waiting_bytes >= _FLUSH_BYTES:
            self._flush()

    def write_long(self, folder: tuple[str, ...], write: Callable[[IO[bytes]], None]) -> None:
        """Let a line be written that is too long to be held; what was taken before stands before it."""
        self._flush()
        self._guarded(folder, write)

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        self._flush()
        return [str(path) for path in self._written]

    def _flush(self) -> None:
        for folder, lines in self._waiting.items():
            self._guarded(folder, partial(_write_lines, lines))
        self._waiting.clear()
        self._waiting_bytes = 0

    def _guarded(self, folder: tuple[str, ...], write: Callable[[IO[bytes]], None]) -> None:
        path = self.root.joinpath(*folder, self.name)
        try:
            if path not in self._written:
                make_below(self.root, folder)
                self._written[path] = 0
            with open_file(path, "ab") as file:
                if file.tell() != self._written[path]:
                    raise FileNotFoundError(path)
                write(file)
                self._written[path] = file.tell()
        except OSError as error:
            raise unwritable(path, error) from error
        except UserError as error:
            raise TaskError(error) from error


def _write_lines(lines: list[bytes | memoryview], file: IO[bytes]) -> None:
    file.writelines(lines)


class JsonlSink:
    """Messages as they are, one a line; it takes every record.

    Args:
        folder: holds a folder for each entity.
        name: the name of the parts, without suffix.
        by_date: below each entity a folder for each day.
    """

    def __init__(self, folder: Path, name: str, *, by_date: bool = False) -> None:
        self.parts = JsonlParts(folder, name)
        self.by_date = by_date

    def append(self, outcome: MappedBatch) -> dict[int, RejectedRecord]:
        """Take the messages of a batch; none is refused."""
        if self.by_date:
            self._append_by_date(outcome)
        else:
            for entity, lines in outcome.lines_by_entity().items():
                self.parts.append((folder_name(entity),), (lines,))
        return {}

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        return self.parts.close()

    def _append_by_date(self, outcome: MappedBatch) -> None:
        by_folder: dict[tuple[str, str], list[bytes]] = {}
        names = [folder_name(entity) for entity in outcome.entity_names]
        times, time_ends = spans_of(outcome, (TS_MS,))
        places = np.stack((outcome.starts, outcome.stops + 1, times[0], time_ends[0]), axis=1).tolist()
        text = bytes(outcome.lines())
        for entity, (start, end, time, time_end) in zip(outcome.entities.tolist(), places, strict=True):
            folder = names[entity], date_folder(milliseconds(text[time:time_end]))
            by_folder.setdefault(folder, []).append(text[start:end])
        for folder, lines in by_folder.items():
            self.parts.append(folder, lines)


def milliseconds(written: bytes) -> int | None:
    """Read a time, ``None`` where it is none or no whole number."""
    try:
        return int(written)
    except ValueError:
        return None
