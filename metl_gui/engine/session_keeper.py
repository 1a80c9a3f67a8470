"""The process that keeps a Spark session for one client after another; started by ``execution.kept_session``.

    python -m metl_gui.engine.session_keeper FOLDER KEY

A client speaks as it does to ``engine.host``. One that goes away while its run is going on, takes the session along, as
with a session of its own; nobody would tell what became of the run.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Never

import msgspec

import metl_gui
from metl_gui.core.runs.events import SessionReady, SessionStarting
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.kept_session import GREETING, IDLE_SECONDS, SessionNote, SessionPlace
from metl_gui.engine.host import Host
from metl_gui.file_locks import lock
from metl_gui.own_files import atomic_write, open_file

_log = logging.getLogger(__name__)

_LEAVING_SECONDS = 0.3
"""How long a client is waited for that may be about to leave, before another one is sent away."""


class KeptHost(Host):
    """A host whose events go to the client of the moment.

    Args:
        folder: everything temporary.
        place: the files of the session.
    """

    def __init__(self, folder: Path, place: SessionPlace) -> None:
        super().__init__(folder, io.BytesIO())
        self.place = place
        self.since_ms = time.time_ns() // 1_000_000
        self.target = ""
        self._starting = threading.Lock()

    def serve_client(self, client: socket.socket) -> None:
        """Obey a client until it goes."""
        self.note(is_idle=False)
        with (
            contextlib.suppress(OSError),  # it is gone already
            client,
            client.makefile("rb") as commands,
            client.makefile("wb") as events,
        ):
            events.write(GREETING)
            events.flush()
            self.events = events
            try:
                self.serve(commands)
            finally:
                self.events = io.BytesIO()
        if self.active is not None or self.refusal is not None:
            self.quit()
        self.note(is_idle=True)

    def note(self, *, is_idle: bool) -> None:
        """Say in a file what this session is and what it does."""
        idle_since_ms = time.time_ns() // 1_000_000 if is_idle else None
        said = SessionNote(os.getpid(), self.target, metl_gui.__version__, self.since_ms, idle_since_ms)
        with contextlib.suppress(OSError):  # only `metl doctor` reads it
            atomic_write(self.place.note, msgspec.json.encode(said))

    def quit(self) -> None:
        """Take the session down and end this process."""
        for path in (self.place.socket, self.place.note):
            path.unlink(missing_ok=True)
        super().quit()

    def _start_session(self, target: Target) -> None:
        with self._starting:
            self.target = target.shown
            self.note(is_idle=False)
            runtime = self.runtime
            if runtime is None and self.refusal is None:
                super()._start_session(target)
                return
        if runtime is None or not runtime.answers():
            self.quit()  # whereupon the client begins again with another one
            return
        self.emit(SessionStarting(target.shown))
        self.emit(SessionReady(target.shown, runtime.version, 0.0, tuple(runtime.workers), runtime.protection))


def keep(host: KeptHost, listener: socket.socket, idle_seconds: float = IDLE_SECONDS) -> None:
    """Serve clients one at a time until none has come for long; who comes meanwhile is sent away."""
    served: threading.Thread | None = None
    listener.settimeout(min(idle_seconds, 1.0))
    idle_since = time.monotonic()
    while True:
        if served is not None and served.is_alive():
            idle_since = time.monotonic()
        elif time.monotonic() - idle_since > idle_seconds:
            return
        with contextlib.suppress(TimeoutError):
            client, _address = listener.accept()
            if served is not None:
                served.join(_LEAVING_SECONDS)
                if served.is_alive():
                    client.close()
                    continue
            client.settimeout(None)
            served = threading.Thread(target=host.serve_client, args=(client,), name="client", daemon=True)
            served.start()


def main(arguments: list[str]) -> None:
    """Keep the session with a key until it is not used any more."""
    place = SessionPlace(arguments[1], Path(arguments[0]))
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    with open_file(place.lock, "ab") as held:
        try:
            lock(held)
        except BlockingIOError:
            return  # another command has started it at the same time
        place.note.unlink(missing_ok=True)  # of one that was killed; its process id may be another's by now
        signal.signal(signal.SIGTERM, _leave)
        host = KeptHost(Path(tempfile.mkdtemp(prefix="metl-spark-")), place)
        (host.folder / "tmp").mkdir()
        os.environ["TMPDIR"] = str(host.folder / "tmp")
        tempfile.tempdir = None
        try:
            with _listening(place) as listener:
                keep(host, listener, float(os.environ.get("METL_SESSION_SECONDS", IDLE_SECONDS)))
        finally:
            host.quit()


def _leave(_number: int, _frame: object) -> Never:
    sys.exit(0)


def _listening(place: SessionPlace) -> socket.socket:
    place.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)
    try:
        with place.address() as address:
            listener.bind(address)
    finally:
        os.umask(before)
    listener.listen()
    return listener


if __name__ == "__main__":
    main(sys.argv[1:])
