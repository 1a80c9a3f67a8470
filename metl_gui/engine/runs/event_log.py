"""The events of a run in bounded room, and read while another process writes them.

Where events are many, points of the course (how far the run was) are left out, nothing else: the writer now and then
puts a shorter file in the place of the long one. A reader still reads what was written until then from the old file,
and the rest from the new.

Order: as they came; the first and the last point of a course stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from metl_gui.core.runs.events import (
    BatchCommitted,
    EngineEvent,
    LaneProgressed,
    LoadCommitted,
    RunProgressed,
    decode_event,
)

KEPT_POINTS = 1_000
"""Points of a chart that are kept with a project: more than a screen is wide."""

_Item = TypeVar("_Item")
_POINTS = (RunProgressed, BatchCommitted, LoadCommitted, LaneProgressed)
_COURSE = re.compile(rb'^\{"event":"(?:RunProgressed|BatchCommitted|LoadCommitted|LaneProgressed)"')


def bounded(events: Sequence[EngineEvent], points: int = KEPT_POINTS) -> list[EngineEvent]:
    """Return events with about ``points`` of their course.

    How often each attribute was filled stays in the last of them only; the report has it too.
    """
    kept = thinned(events, [isinstance(event, _POINTS) for event in events], points)
    last = max((at for at, event in enumerate(kept) if isinstance(event, RunProgressed)), default=-1)
    return [_brief(event) if at != last else event for at, event in enumerate(kept)]


def bounded_lines(lines: Sequence[bytes], points: int) -> list[bytes]:
    """Return encoded events with about ``points`` of their course."""
    return thinned(lines, [bool(_COURSE.match(line)) for line in lines], points)


def thinned(items: Sequence[_Item], is_point: Sequence[bool], points: int) -> list[_Item]:
    """Leave points out at even distances until about as many are left as wanted; whatever is no point stays."""
    count = sum(is_point)
    if count <= points:
        return list(items)
    every = -(-count // points)
    kept: list[_Item] = []
    seen = 0
    for item, is_one in zip(items, is_point, strict=True):
        if not is_one:
            kept.append(item)
            continue
        if seen % every == 0 or seen == count - 1:
            kept.append(item)
        seen += 1
    return kept


def _brief(event: EngineEvent) -> EngineEvent:
    if not isinstance(event, RunProgressed) or not event.tally.by_attribute:
        return event
    return msgspec.structs.replace(event, tally=msgspec.structs.replace(event.tally, by_attribute={}))


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
