"""The process of a Spark session that belongs to one client, and ends with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from metl_gui.engine.kernel.compiled import build
from metl_gui.errors import BugError

STOP_SECONDS = 5.0
_LAST_CALL_SECONDS = 0.1
_ROOT = Path(__file__).resolve().parents[3]


class HostConnection(Protocol):
    """The near end of the process that holds a session.

    Attributes:
        process_id: of the process.
        folder: everything temporary.
        log: what it says.
    """

    process_id: int
    folder: Path
    log: Path

    def write(self, line: bytes) -> None:
        """Send a line.

        Raises:
            OSError, ValueError: it is gone, or is being ended by another thread.
        """

    def lines(self) -> Iterator[bytes]:
        """Return its lines as they come, until it is gone; one thread reads them."""

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""

    def wait(self) -> None:
        """Wait until a process whose lines have ended is gone."""

    def kill(self) -> None:
        """End the process and its JVM, and wait for no more than the last call that it may be in."""

    def end(self) -> None:
        """Tell the process that nothing more comes.

        Raises:
            subprocess.TimeoutExpired: it does not listen.
        """

    def clear(self, reader: threading.Thread) -> None:
        """Wait for the thread that reads its lines, and remove what is this client's."""


def host_environment(temporary: Path | None = None) -> dict[str, str]:
    """Return the environment of a process that holds a session."""
    known = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    # What lies elsewhere stays when the process is ended while Java starts.
    places = {"TMPDIR": str(temporary)} if temporary is not None else {}
    return {**build.named(), **os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(known)), **places}


class OwnProcess:
    """A started process, its pipes and its folder.

    Args:
        priority: added to its niceness.
    """

    def __init__(self, priority: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="metl-spark-"))
        self.log = self.folder / "host.log"
        try:
            self._process = self._started(priority)
        except BaseException:  # a second Ctrl+C breaks off whatever is going on
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.process_id = self._process.pid

    def _started(self, priority: int) -> subprocess.Popen[bytes]:
        temporary = self.folder / "tmp"
        temporary.mkdir()
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "metl_gui.engine.host", str(self.folder), str(priority)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=host_environment(temporary),
                # A Ctrl+C in the terminal is for the program, which cancels the run in order.
                start_new_session=True,
            )

    def write(self, line: bytes) -> None:
        """Send a line."""
        pipe = _pipe(self._process.stdin)
        pipe.write(line)
        pipe.flush()

    def lines(self) -> Iterator[bytes]:
        """Return its lines as they come."""
        return iter(_pipe(self._process.stdout))

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Wait for the end of the process."""
        self._process.wait()

    def kill(self) -> None:
        """End the process and its JVM; ``end`` waits for them."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process_id, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_CALL_SECONDS)

    def end(self) -> None:
        """Have the process end in order."""
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        self._process.wait(STOP_SECONDS)

    def clear(self, reader: threading.Thread) -> None:
        """End whatever is left, and remove its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process_id, signal.SIGKILL)  # a JVM whose host was killed while it started
        self._process.wait()
        reader.join()
        _pipe(self._process.stdout).close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise BugError("the Spark process was started without pipes")
    return stream
