"""Progress of long work: a bar that redraws itself on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TextIO

from metl_gui.cli.plain_text import printable
from metl_gui.workbench.progress import Progress

_WIDTH = 24
_REDRAW_SECONDS = 0.1
_LINE_SECONDS = 5.0


class ProgressBar:
    """Shows how far one piece of work is.

    Args:
        stream: where to; a terminal gets the bar.
        clock: seconds, ever growing.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._shown = ""
        self._text = ""
        self._last = -_LINE_SECONDS

    def show(self, progress: Progress) -> None:
        """Show the progress, unless something was shown a moment ago."""
        now = self._clock()
        if not self._due(progress, now):
            return
        self._last, self._text = now, progress.text
        if self._terminal:
            line = printable(bar(progress))
            self._write(f"\r{line}{' ' * (len(self._shown) - len(line))}")
            self._shown = line
        else:
            self._write(printable(f"{progress.text}{_counts(progress)}") + "\n")

    def clear(self) -> None:
        """Take the bar off the terminal so that other words can be written."""
        if self._shown:
            self._write(f"\r{' ' * len(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        # A terminal that is gone, or a pipe that nobody reads, does not end the work.
        with contextlib.suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    def _due(self, progress: Progress, now: float) -> bool:
        wait = _REDRAW_SECONDS if self._terminal else _LINE_SECONDS
        if now - self._last >= wait:
            return True
        if self._terminal:
            is_finished = progress.total is not None and progress.done >= progress.total
            return is_finished or progress.text != self._text
        # Another kind of work begins: say what is waited for, since no counts may follow soon.
        return progress.total is None and progress.text.split(" ")[0] != self._text.split(" ")[0]


def bar(progress: Progress) -> str:
    """Draw progress on one line."""
    if not progress.total:
        return f"{progress.text}{_counts(progress)}"
    part = min(1.0, progress.done / progress.total)
    full = round(part * _WIDTH)
    return f"[{'#' * full}{'.' * (_WIDTH - full)}] {part:4.0%} {progress.text}{_counts(progress)}"


def _counts(progress: Progress) -> str:
    if progress.total:
        return f" {progress.done:,}/{progress.total:,}"
    return f" {progress.done:,}" if progress.done else ""
