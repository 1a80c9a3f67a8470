"""What a command says: its result on stdout as text or as one JSON document, everything else on stderr."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import TextIO

from metl_gui.cli.plain_text import printable, printable_json
from metl_gui.cli.progress_bar import ProgressBar
from metl_gui.errors import UserError
from metl_gui.workbench.progress import Progress, Watch

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SpeechError(UserError):
    """What a command has to say cannot be written to its standard output, a full disk perhaps."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            "The result cannot be written to the standard output.",
            f"{error.strerror or error}. What the command did stays done.",
            "Send the output elsewhere.",
        )


class Output:
    """Where one command's words go.

    Args:
        as_json: whether the result is a JSON document instead of text.
        stdout: for the result.
        stderr: for notes, progress and errors.

    ``was_interrupted`` says whether somebody asked long work to stop.
    """

    def __init__(self, as_json: bool, stdout: TextIO, stderr: TextIO) -> None:
        self.as_json = as_json
        self._stdout = stdout
        self._stderr = stderr
        self._bar = ProgressBar(stderr)
        self.was_interrupted = False

    def result(self, document: Mapping[str, object], lines: Sequence[str]) -> None:
        """Print the result once: the document with ``--json``, else the lines."""
        self._bar.clear()
        try:
            if self.as_json:
                text = json.dumps(document, indent=2, ensure_ascii=False)
                self._stdout.write(f"{printable_json(text)}\n")
            else:
                self._stdout.writelines(f"{printable(line)}\n" for line in lines)
            self._stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SpeechError(error) from error

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
        head = " ".join(part for part in (error.title, error.text) if part)
        self._say([f"error: {head}", *([f"hint: {error.hint}"] if error.hint else [])])
        if self.as_json:
            self.result({"error": {"title": error.title, "text": error.text, "hint": error.hint}}, [])

    @contextlib.contextmanager
    def watching(self) -> Iterator[Watch]:
        """Show the progress of long work; the first Ctrl-C asks it to stop at its next step, the second breaks it off.

        The signals are only taken over on the main thread, where Python allows it.
        """
        stop = threading.Event()

        def interrupted(_number: int, _frame: FrameType | None) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            stop.set()
            self.was_interrupted = True
            self.note("Stopping ...")

        on_main = threading.current_thread() is threading.main_thread()
        # Who ends the program or closes its terminal wants nothing half-written to stay either; nohup is respected.
        taken = [number for number in _ENDINGS if on_main and signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, interrupted) for number in taken}
        watch = Watch(self._told, stop.is_set)
        try:
            with watch.over_queries():
                yield watch
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._bar.clear()

    def _say(self, lines: Sequence[str]) -> None:
        self._bar.clear()
        # Nobody listens to notes any more, but the work they are about goes on.
        with contextlib.suppress(OSError):
            self._stderr.writelines(f"{printable(line)}\n" for line in lines)
            self._stderr.flush()

    def _told(self, progress: Progress) -> None:
        self._bar.show(progress)
