"""How far the tasks of a run are, and how long it still takes.

Each task appends a line to one file several times a second, the host adds them up. The numbers are for people who wait;
the exact counts come with the results of the tasks that succeeded. The time left follows from the bytes that were read
and how fast they went lately.

Units: seconds of a clock that only grows; the time of day may jump.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from metl_gui.core.runs.report import Tally, Unit
from metl_gui.own_files import open_file

INTERVAL_SECONDS = 0.25

ATTRIBUTES_NOTED = 500
"""A note names attributes where there are so many at most: it is kept with the run."""


class TaskProgress(msgspec.Struct, frozen=True):
    """What one attempt of a task has counted so far."""

    task: int
    attempt: int
    is_done: bool
    tally: Tally


class ProgressNotes:
    """The writing end, in a task.

    Args:
        path: the file of the run; where it cannot be reached or written, nothing is noted.
        task, attempt: whose notes these are.
    """

    def __init__(self, path: str, task: int, attempt: int) -> None:
        self.path = path
        self.task = task
        self.attempt = attempt
        self._next = time.monotonic() + INTERVAL_SECONDS

    def is_due(self) -> bool:
        """Return whether it is time for a line."""
        return time.monotonic() >= self._next

    def note(self, tally: Tally, *, is_done: bool = False) -> None:
        """Append a line if it is time for one."""
        if not is_done and not self.is_due():
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        # A project may have 100,000 versions and attributes, and every note is kept with the run.
        is_wide = sum(map(len, tally.by_attribute.values())) > ATTRIBUTES_NOTED
        brief = msgspec.structs.replace(tally, by_version={}, by_attribute={} if is_wide else tally.by_attribute)
        line = msgspec.json.encode(TaskProgress(self.task, self.attempt, is_done, brief)) + b"\n"
        # Notes are for people who wait: a full disk or a share that is away fails where records are written.
        with contextlib.suppress(OSError):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(file, line)
            finally:
                os.close(file)


class ProgressSum:
    """The reading end, in the host.

    Args:
        path: the file of the run; created empty unless it is there.
        task_bytes: how many bytes of the source each task reads, or records.
        unit: which of the two.
    """

    def __init__(self, path: Path, task_bytes: Sequence[int], unit: Unit = "bytes") -> None:
        self.path = path
        self.task_bytes = task_bytes
        self.unit: Unit = unit
        self._offset = 0
        self._finished = Tally()
        self._finished_bytes = 0
        self._running: dict[int, TaskProgress] = {}
        self._done: set[int] = set()
        open_file(path, "ab").close()

    def read(self) -> tuple[Tally, int]:
        """Return what is counted so far and how many bytes, or records, of the source are behind."""
        text = b""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            # Two computers that write at the same time may mix their lines; each note stands for all before it.
            with contextlib.suppress(msgspec.DecodeError):
                self._take(msgspec.json.decode(line, type=TaskProgress))
        total, behind = Tally(), self._finished_bytes
        total.add(self._finished)
        for progress in self._running.values():
            total.add(progress.tally)
            done = progress.tally.bytes_in if self.unit == "bytes" else progress.tally.read
            behind += min(done, self.task_bytes[progress.task])
        return total, behind

    def _take(self, progress: TaskProgress) -> None:
        if progress.task in self._done:
            return
        if progress.is_done:
            self._running.pop(progress.task, None)
            self._done.add(progress.task)
            self._finished.add(progress.tally)
            self._finished_bytes += self.task_bytes[progress.task]
        else:
            self._running[progress.task] = progress


_WINDOW_SECONDS = 20.0
_LEAST_SECONDS = 1.0


class TimeLeft:
    """Tells the time left of one run."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def after(self, seconds: float, bytes_read: int, bytes_left: int) -> float | None:
        """Return about how many seconds are left; None while too little is known.

        Args:
            seconds: since the run began.
            bytes_read: what is behind; it may fall when a task is done again.
            bytes_left: what is in front.
        """
        self._seen.append((seconds, bytes_read))
        while len(self._seen) > 2 and self._seen[1][0] <= seconds - _WINDOW_SECONDS:
            self._seen.popleft()
        if bytes_left <= 0:
            return 0.0
        since, read = self._seen[0]
        if seconds - since < _LEAST_SECONDS or bytes_read <= read:
            return None
        return round(bytes_left * (seconds - since) / (bytes_read - read), 1)
