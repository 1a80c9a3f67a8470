"""A session of Spark on this computer that outlives the command which started it, for the commands after it.

``metl_gui.engine.session_keeper`` holds it, one for each user, version, Python, target and environment: these make its
key. It listens at a Unix socket in a folder that is its owner's alone, serves one client at a time, and ends after ten
minutes without one. A client whose session has another one, or none that answers, starts a session of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

import metl_gui
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.host_process import host_environment
from metl_gui.file_locks import lock
from metl_gui.own_files import cache_folder, is_only_ours, make_folder, open_file

IDLE_SECONDS = 600.0
"""How long a session waits for its next client."""
GREETING = b"at your service\n"
"""The first line of a session that takes a client; a busy one closes without it."""
_FOLDER = "sessions"
_START_SECONDS = 20.0
_GREETING_SECONDS = 5.0
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05
_CREDENTIALS = struct.Struct("3i")
_PASSED_OVER = frozenset(
    ("_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "TERM", "COLORTERM", "WINDOWID", "METL_KEEP_SESSION")
)
"""Variables that differ from command to command, or from shell to shell, and that nothing of a run reads."""


class SessionNote(msgspec.Struct, frozen=True, tag="kept_session"):
    """What a session says of itself in a file beside its socket.

    Args:
        process: its id.
        target: where it runs, as people read it.
        version: of the program.
        since_ms: when it started, in ms since 1970.
        idle_since_ms: when its last client left it; ``None`` while it has one.
    """

    process: int
    target: str
    version: str
    since_ms: int
    idle_since_ms: int | None = None


class SessionPlace:
    """The files of one session.

    Args:
        key: what tells it from others.
        folder: of all sessions.
    """

    def __init__(self, key: str, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / f"{key}.sock"
        self.lock = folder / f"{key}.lock"
        self.note = folder / f"{key}.json"
        self.log = folder / f"{key}.log"

    @contextlib.contextmanager
    def address(self) -> Iterator[str]:
        """The address of the socket: its path may be longer than one can be."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            linked = Path(f"/proc/self/fd/{descriptor}")
            yield str((linked if linked.exists() else self.folder) / self.socket.name)
        finally:
            os.close(descriptor)

    def is_held(self) -> bool:
        """Whether the process that holds the session lives."""
        try:
            with self.lock.open("rb") as file:
                lock(file, is_shared=True)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def read_note(self) -> SessionNote | None:
        """Return what the session says of itself; ``None`` where it is gone or says nothing that can be read."""
        try:
            found = msgspec.json.decode(self.note.read_bytes(), type=SessionNote)
        except (OSError, msgspec.DecodeError):
            return None
        return found if self.is_held() else None


def sessions_folder() -> Path:
    """Return the folder of all kept sessions."""
    return cache_folder() / _FOLDER


def session_key(target: Target) -> str:
    """Return what tells the session for this program, as it was started, from others; nothing of it can be read."""
    mixed = hashlib.sha256()
    parts = [metl_gui.__version__, metl_gui.__file__, sys.executable, sys.version, os.getuid(), target]
    kept = sorted((name, value) for name, value in os.environ.items() if name not in _PASSED_OVER)
    mixed.update(msgspec.json.encode([parts, kept]))
    return mixed.hexdigest()[:20]


def is_possible(target: Target) -> bool:
    """Return whether a session of a target may outlive its client: it is here, and of no secrets."""
    return target.is_local and not target.secrets and hasattr(socket, "AF_UNIX") and hasattr(socket, "SO_PEERCRED")


def connect_kept(target: Target) -> KeptConnection | None:
    """Return a connection to the kept session of a target, which is started where there is none.

    Returns:
        ``None`` where it has a client already, is not possible or does not answer.
    """
    if not is_possible(target):
        return None
    folder = sessions_folder()
    try:
        make_folder(folder)
        if not is_only_ours(folder):
            return None
        place = SessionPlace(session_key(target), folder)
        starting = None if place.is_held() else _start(place)
        return _connected(place, starting)
    except OSError:
        return None


def _start(place: SessionPlace) -> subprocess.Popen[bytes]:
    with open_file(place.log, "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "metl_gui.engine.session_keeper", str(place.folder), place.socket.stem],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=host_environment(),
            cwd="/",  # it may be used from any folder, and keeps none from being removed
            start_new_session=True,
        )
    threading.Thread(target=process.wait, name="kept-session", daemon=True).start()  # it may end before this process
    return process


def _connected(place: SessionPlace, starting: subprocess.Popen[bytes] | None) -> KeptConnection | None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with place.address() as address:
            try:
                client.connect(address)
            except OSError:  # it does not listen yet
                client.close()
                if starting is not None and starting.poll() is not None and not place.is_held():
                    return None
                time.sleep(_LOOK_SECONDS)
                continue
        process, user, _group = _CREDENTIALS.unpack(
            client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        events = client.makefile("rb")
        client.settimeout(_GREETING_SECONDS)
        with contextlib.suppress(OSError):  # it hangs, or was killed just now
            if user == os.getuid() and events.readline(len(GREETING)) == GREETING:
                client.settimeout(None)
                return KeptConnection(place, client, events, process)
        events.close()
        client.close()
        break
    return None


class KeptConnection:
    """One client's connection to a kept session.

    Args:
        place: its files.
        client: the socket.
        events: what the session says.
        process_id: of the session.
    """

    def __init__(self, place: SessionPlace, client: socket.socket, events: IO[bytes], process_id: int) -> None:
        self.process_id, self.folder, self.log = process_id, place.folder, place.log
        self._client, self._events = client, events

    def write(self, line: bytes) -> None:
        """Send a line."""
        self._client.sendall(line)

    def lines(self) -> Iterator[bytes]:
        """Return its lines as they come."""
        with contextlib.suppress(OSError):  # it was killed
            yield from self._events

    @property
    def is_running(self) -> bool:
        """Whether the process is there: its lines end when it is gone."""
        return True

    def wait(self) -> None:
        """Wait for nothing: the process is another's child."""

    def kill(self) -> None:
        """End the process and its JVM."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process_id, signal.SIGKILL)

    def end(self) -> None:
        """Leave the session to the next client."""
        with contextlib.suppress(OSError):
            self._client.shutdown(socket.SHUT_RDWR)

    def clear(self, reader: threading.Thread) -> None:
        """Close the connection."""
        self.end()
        reader.join()
        self._events.close()
        self._client.close()


def kept_sessions() -> tuple[SessionNote, ...]:
    """Return the sessions of this user that wait or work on this computer."""
    return tuple(note for place in _places() if (note := place.read_note()) is not None)


def stop_kept() -> tuple[SessionNote, ...]:
    """End all of them, a run that is going on among them, and return those that there were."""
    stopped = []
    for place in _places():
        note = place.read_note()
        if note is None:
            continue
        stopped.append(note)
        _end(place, note)
    return tuple(stopped)


def _end(place: SessionPlace, note: SessionNote) -> None:
    end = time.monotonic() + _STOP_SECONDS
    with contextlib.suppress(ProcessLookupError):
        os.kill(note.process, signal.SIGTERM)
        while place.is_held() and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
        if place.is_held():
            os.killpg(note.process, signal.SIGKILL)


def _places() -> list[SessionPlace]:
    folder = sessions_folder()
    try:
        return [SessionPlace(path.stem, folder) for path in sorted(folder.glob("*.lock"))]
    except OSError:
        return []
