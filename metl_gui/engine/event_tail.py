"""Read the events of a run as they are written by another process.

The writer now and then leaves points of the course out by putting a shorter file in the place of the long one; what it
wrote until then is still read from the old one, and the rest from the new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from metl_gui.engine.events import EngineEvent, decode_event


class EventTail:
    """Reads one file of events from its beginning.

    Args:
        path: the file; it may not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None
        self._rest = b""
        self._last = b""

    def read(self) -> Iterator[EngineEvent]:
        """Yield what was written since the last time."""
        if self._file is None and not self._open():
            return
        yield from self._decoded(self._lines())
        if self._was_replaced():
            self._close()
            if self._open():
                yield from self._decoded(self._after_last(list(self._lines())))

    def close(self) -> None:
        """Read no more."""
        self._close()

    def __del__(self) -> None:
        self._close()

    def _open(self) -> bool:
        try:
            self._file = self.path.open("rb")
        except OSError:
            return False
        self._rest = b""
        return True

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self) -> Iterator[bytes]:
        if self._file is None:
            return
        whole, ended, self._rest = (self._rest + self._file.read()).rpartition(b"\n")
        yield from whole.split(b"\n") if ended else ()

    def _decoded(self, lines: Iterator[bytes] | list[bytes]) -> Iterator[EngineEvent]:
        for line in lines:
            self._last = line
            try:
                yield decode_event(line)
            except (msgspec.MsgspecError, RecursionError):
                continue  # of a newer program, or broken by a kill

    def _was_replaced(self) -> bool:
        if self._file is None:
            return False
        try:
            now = self.path.stat()
        except OSError:
            return False
        mine = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino)

    def _after_last(self, lines: list[bytes]) -> list[bytes]:
        """Return what comes after the line that was read last; thinning never takes the newest line."""
        try:
            return lines[len(lines) - lines[::-1].index(self._last) :]
        except ValueError:
            return lines
