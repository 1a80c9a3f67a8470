"""The output of a command: its result on stdout as text or as one JSON document, everything else on stderr.

Names come from anywhere, so a terminal must print text and not obey it, and nothing in it may be unseen
(``printable``): control characters are written out, and so is what is there and not seen: what turns the direction of
writing, has no width, or is ignored where it is shown, by which a name looks like another one. JSON has them in its own
escapes, so whoever reads it gets the same values (``printable_json``).

Progress of long work is a bar that redraws itself on a terminal, a line now and then elsewhere.

Source: Unicode 16, general categories Cc, Cf, Zl, Zp, Cs, and the property Default_Ignorable_Code_Point.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import BinaryIO, TextIO

from metl_gui.core.progress import Progress, Watch
from metl_gui.errors import UserError, in_sentences
from metl_gui.workbench.cancellable_queries import cancellable_queries

_BREAKS = "\t\n"
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def printable(line: str) -> str:
    """Write out what is not to be seen in a line; tabs stay."""
    return _UNSEEN.sub(_in_text, line)


def printable_json(document: str) -> str:
    """Write out what is not to be seen in a JSON document; its values stay what they are, and so does its layout."""
    return _UNSEEN.sub(_in_json, document)


class PlainFormatter(logging.Formatter):
    """Writes what is logged such that a terminal prints it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record; its lines stay lines."""
        return "\n".join(map(printable, super().format(record).split("\n")))


def _in_text(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\t":
        return "\t"
    if 0xDC80 <= code < 0xDD00:  # bytes of a file name that are no text come from Python as halves of characters
        return f"\\x{code - 0xDC00:02x}"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def _in_json(found: re.Match[str]) -> str:
    if found[0] in _BREAKS:
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


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


_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ORDER_SECONDS = 5.0
"""How long work that has noticed that it is to stop may put things in order, whatever is pressed."""


class StdoutClosedError(UserError):
    """What a command has to say cannot be written to its standard output, a full disk perhaps."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            "The result cannot be written to the standard output.",
            f"{error.strerror or error}. What the command did stays done.",
            "Send the output elsewhere.",
        )


def ignore(_number: int, _frame: FrameType | None) -> None:
    """Take a signal and do nothing; unlike one that is ignored, processes started from here on still hear it."""


class Output:
    """Where one command's words go.

    Args:
        as_json: whether the result is a JSON document instead of text.
        stdout: for the result.
        stderr: for notes, progress and errors.
        ends_process: the process ends with the command, so that Ctrl+C means nothing more once work was stopped by it.

    ``was_interrupted`` says whether somebody asked long work to stop.
    """

    def __init__(self, as_json: bool, stdout: TextIO, stderr: TextIO, *, ends_process: bool = False) -> None:
        self.as_json = as_json
        self._ends_process = ends_process
        self._stdout = stdout
        self._stderr = stderr
        self._bar = ProgressBar(stderr)
        self.was_interrupted = False

    def result(self, document: Mapping[str, object], lines: Sequence[str]) -> None:
        """Print the result once: the document with ``--json``, else the lines.

        Where whoever reads it has read enough, the rest goes nowhere, and the command goes on to its end.

        Raises:
            StdoutClosedError: it cannot be written for another reason.
        """
        self._bar.clear()
        try:
            if self.as_json:
                text = json.dumps(document, indent=2, ensure_ascii=False)
                self._stdout.write(f"{printable_json(text)}\n")
            else:
                self._stdout.writelines(f"{printable(line)}\n" for line in lines)
            self._stdout.flush()
        except BrokenPipeError:
            self.detach()
        except OSError as error:
            raise StdoutClosedError(error) from error

    def detach(self) -> None:
        """Lead standard output to nowhere, so that Python does not complain about it again at its exit."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stdout.fileno())

    def tell(self, text: str, look: str = "") -> None:
        """Say a part of the result as it happens, on stdout; with ``--json``, where that is one document, as a note.

        Args:
            text: what happens.
            look: what to look at or to do; may be empty.
        """
        lines = [text, *([f"  -> {look}"] if look else [])]
        if self.as_json:
            self._say(lines)
        else:
            self.result({}, lines)

    def note(self, text: str) -> None:
        """Say something that is not the result, at once."""
        self._say(text.split("\n"))

    def error(self, error: UserError) -> None:
        """Say what is at fault and the way out; with ``--json`` also as the document on stdout."""
        self._say([f"error: {in_sentences(error.title, error.text)}", *([f"hint: {error.hint}"] if error.hint else [])])
        if self.as_json:
            self.fail(error)

    def fail(self, error: UserError) -> None:
        """Print the document of a command that failed.

        Raises:
            StdoutClosedError: it cannot be written.
        """
        self.result({"error": {"title": error.title, "text": error.text, "hint": error.hint}}, [])

    def send(self, file: BinaryIO) -> None:
        """Write what a file holds to standard output, as it is.

        Raises:
            StdoutClosedError: it cannot be written, but for a reader who has read enough.
        """
        self._bar.clear()
        try:
            shutil.copyfileobj(file, self._stdout.buffer)
            self._stdout.buffer.flush()
        except BrokenPipeError:
            self.detach()
        except OSError as error:
            raise StdoutClosedError(error) from error

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watch]:
        """Show the progress of long work; the first Ctrl-C asks it to stop at its next step, the second breaks it off.

        Where the process ends with the command, the second does nothing to work that has noticed the first, for as
        long as putting things in order may take, and none does anything once the work is over.
        The signals are only taken over on the main thread, where Python allows it.
        """
        stop, noticed = threading.Event(), threading.Event()
        ends_by = 0.0

        def is_stopped() -> bool:
            if stop.is_set():
                noticed.set()
            return stop.is_set()

        def interrupted(_number: int, _frame: FrameType | None) -> None:
            nonlocal ends_by
            if stop.is_set():
                if self._ends_process and noticed.is_set() and time.monotonic() < ends_by:
                    return  # it ends in order already; broken off, it would leave things behind
                raise KeyboardInterrupt
            stop.set()
            ends_by = time.monotonic() + _ORDER_SECONDS
            self.was_interrupted = True
            self.note("Stopping ...")

        on_main = threading.current_thread() is threading.main_thread()
        # Who ends the program or closes its terminal wants nothing half-written to stay either; nohup is respected.
        taken = [number for number in _ENDINGS if on_main and signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, interrupted) for number in taken}
        watch = Watch(self._told, is_stopped)
        try:
            with cancellable_queries(watch):
                yield watch
        finally:
            is_over = self._ends_process and stop.is_set()
            for number, handler in before.items():
                # What is left is to put things in order; one Ctrl+C more would leave it half done.
                signal.signal(number, ignore if is_over and number == signal.SIGINT else handler)
            self._bar.clear()

    def _say(self, lines: Sequence[str]) -> None:
        self._bar.clear()
        # Nobody listens to notes any more, but the work they are about goes on.
        with contextlib.suppress(OSError):
            self._stderr.writelines(f"{printable(line)}\n" for line in lines)
            self._stderr.flush()

    def _told(self, progress: Progress) -> None:
        self._bar.show(progress)
