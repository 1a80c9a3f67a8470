"""What all components have in common: folder, ports, and a process that is started, waited for, stopped, killed.

Components that are asked over HTTP are asked here (``ask``, ``answers``). Another process, the guard of this one, ends
our components once this process is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.errors import SetupError
from metl_gui.stack import guard

_lock = threading.Lock()
_guards: dict[int, subprocess.Popen[str]] = {}
"""By the id of the process they watch over: a fork needs one of its own."""


def guard_process(process_id: int, mark: str, polite: int) -> None:
    """Have a component ended when this process ends without having done so."""
    _tell(f"{guard.START} {process_id} {mark} {polite}")


def release_process(process_id: int) -> None:
    """Say that a component has ended."""
    _tell(f"{guard.END} {process_id}")


def guard_folder(folder: Path) -> None:
    """Have a temporary folder removed when this process ends without having done so."""
    _tell(f"{guard.FOLDER} {folder}")


def release_folder(folder: Path) -> None:
    """Say that a temporary folder was removed."""
    _tell(f"{guard.FORGET} {folder}")


def _tell(line: str) -> None:
    with _lock:
        stdin = _own().stdin
        if stdin is not None:
            stdin.write(line + "\n")
            stdin.flush()


def _own() -> subprocess.Popen[str]:
    """Return the guard of this process, which is started when it is first needed."""
    found = _guards.get(os.getpid())
    if found is None:
        # A session of its own: what a terminal sends to us is not for it.
        found = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd="/",
        )
        _guards[os.getpid()] = found
    return found


def dismiss() -> None:
    """End the guard, which ends whatever is left; the next component starts another one."""
    with _lock:
        found = _guards.pop(os.getpid(), None)
        if found is not None and found.stdin is not None:
            found.stdin.close()
            found.wait()


HOST = "127.0.0.1"
_LOOK_SECONDS = 0.05
_SAID_LINES = 12
_TRIES = 3
_FIRST_PORT = 10_000
_PORT_TRIES = 100
_USUAL_START = 32_768
_GIVEN_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_PORT_TAKEN = ("Address already in use", "BindException", "could not bind")


def free_port() -> int:
    """Find a port of this computer that nobody listens at.

    It is below those that the system gives to whoever connects, where it leaves any: one of them could take it while
    its server restarts.
    """
    free = range(_FIRST_PORT, _given_ports_start())
    for port in random.sample(free, min(len(free), _PORT_TRIES)):
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind((HOST, port))
            return port
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def _given_ports_start() -> int:
    """Return the first port that the system gives away by itself."""
    try:
        return int(_GIVEN_PORTS.read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return _USUAL_START


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port of this computer."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


ComponentT = TypeVar("ComponentT", bound="Component")


def keep(stack: contextlib.ExitStack, component: ComponentT, watch: Watch = UNWATCHED) -> ComponentT:
    """Start a component that is stopped when a stack ends; stacks end what they started last first."""
    stack.callback(component.stop)
    return component.start(watch)


class Component(ABC):
    """One program of the stack.

    It is not started by making it. ``with`` starts and stops it. Where this process ends without stopping it, however
    that happens, the guard does.

    Args:
        folder: everything it writes goes here; by default a temporary folder that goes with it.
        ports: the ports it listens at, in its own order; by default free ones.
    """

    title: ClassVar[str]
    """What people call it."""
    start_seconds: ClassVar[float] = 90
    """How long it may take until it answers, on a busy computer."""
    port_count: ClassVar[int] = 1
    polite: ClassVar[int] = 0
    """The signal at which it ends in order; 0 where nothing would be gained, as its folder goes with it."""

    def __init__(self, folder: Path | None = None, ports: Sequence[int] = ()) -> None:
        self._is_own_folder = folder is None
        self._folder = folder
        self.ports = tuple(ports)
        self._has_own_ports = not ports
        self.mark = secrets.token_hex(8)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def folder(self) -> Path:
        """Everything it writes is here."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=f"metl-{type(self).__name__.lower()}-"))
            guard_folder(self._folder)
        return self._folder

    @property
    def port(self) -> int:
        """The first port that it listens at."""
        return self.ports[0]

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "log.txt"

    @property
    def is_alive(self) -> bool:
        """Whether its process is there, paused or not."""
        return self.process is not None and self.process.poll() is None

    @property
    def process_ids(self) -> list[int]:
        """Its process and everything it started."""
        return guard.family(self.process.pid, self.mark) if self.process is not None else []

    def start(self, watch: Watch = UNWATCHED) -> Self:
        """Start it and wait until it answers.

        Raises:
            SetupError: what it needs is missing, or it does not start; the error shows what it said last.
            RunCancelled: the watch was cancelled; it is stopped.
        """
        try:
            for attempt in range(1, _TRIES + 1):
                if not self.ports or (attempt > 1 and self._has_own_ports):
                    self.ports = tuple(free_port() for _ in range(self.port_count))
                self._prepare(watch)
                self._spawn()
                try:
                    self.wait(watch)
                    return self
                except SetupError:
                    if attempt == _TRIES or not self._can_try_again():
                        raise
                    self.kill()
        except BaseException:
            self.stop()
            raise
        return self

    def wait(self, watch: Watch = UNWATCHED) -> None:
        """Wait until it answers.

        Raises:
            SetupError: it ended, or did not answer in time.
            RunCancelled: the watch was cancelled.
        """
        end = time.monotonic() + self.start_seconds
        while not self._answers():
            if not self.is_alive:
                raise self._failed("ended before it answered")
            if time.monotonic() > end:
                raise self._failed(f"did not answer within {self.start_seconds:.0f} seconds")
            watch.step(f"Waiting for {self.title}")
            time.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """End it at once with all it started, as a power cut would; its folder stays."""
        self._end(polite=0)

    def restart(self, watch: Watch = UNWATCHED) -> Self:
        """Kill it, if it is alive, and start it again at the same ports with what it wrote so far."""
        self.kill()
        own, self._has_own_ports = self._has_own_ports, False
        try:
            return self.start(watch)
        finally:
            self._has_own_ports = own

    def pause(self) -> None:
        """Stop it where it stands, as a hung computer would: it keeps its connections and answers nobody."""
        stopped = self.process_ids
        guard.signal_all(stopped, signal.SIGSTOP)
        while not all(map(guard.is_stopped, stopped)):
            time.sleep(_LOOK_SECONDS)

    def go_on(self) -> None:
        """Let it go on after a pause."""
        guard.signal_all(self.process_ids, signal.SIGCONT)

    def stop(self) -> None:
        """End it in order, and remove its folder if that was its own."""
        self._end(self.polite)
        if self._is_own_folder and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            release_folder(self._folder)
            self._folder = None

    def said(self, lines: int = _SAID_LINES) -> str:
        """Return the last lines it said, without the inner parts of Java's stack traces."""
        if self._folder is None or not self.log.is_file():
            return ""
        told = self.log.read_text(errors="replace").splitlines()
        return "\n".join([line for line in told if not line.startswith(("\tat ", "\t... "))][-lines:])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def _prepare(self, watch: Watch) -> None:
        """Make everything it needs to start; called before each start.

        Raises:
            SetupError: something is missing on this computer.
        """

    @abstractmethod
    def _command(self) -> list[str]:
        """Return what is run."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether it does what it is there for."""

    def _can_try_again(self) -> bool:
        """Return whether a start that failed may succeed now: somebody else took the port before it did."""
        return self._has_own_ports and any(mark in self.said(200) for mark in _PORT_TAKEN)

    def _environment(self) -> dict[str, str]:
        """Return what stands in its environment besides ours."""
        return {}

    def _user(self) -> str | None:
        """Return the user that it runs as, where that is not ours."""
        return None

    def _spawn(self) -> None:
        user = pwd.getpwnam(name) if (name := self._user()) else None
        # Python's own settings are for our Python, and not for what else these programs start.
        ours = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(),
                env=ours | self._environment() | {guard.MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                user=user.pw_uid if user else None,
                group=user.pw_gid if user else None,
                extra_groups=[] if user else None,
            )
        guard_process(self.process.pid, self.mark, self.polite)

    def _end(self, polite: int, seconds: float | None = None) -> None:
        if self.process is None:
            return
        if polite and self.is_alive:
            self.go_on()
            self.process.send_signal(polite)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.start_seconds / 6 if seconds is None else seconds)
        guard.end(self.process.pid if self.process.poll() is None else 0, self.mark)
        self.process.wait()
        release_process(self.process.pid)
        self.process = None

    def _failed(self, what: str) -> SetupError:
        return SetupError(
            f"{self.title} does not start.",
            f"It {what}. It said:\n{self.said() or '(nothing)'}",
            "Run `metl doctor --live` to see whether something is missing.",
        )


_HTTP_SECONDS = 20
_HTTP_RETRY_SECONDS = 0.1
_HTTP_TRIES = 50


def ask(
    method: str,
    url: str,
    document: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    again: Collection[int] = (),
) -> Any:
    """Ask a component of ours and return the document it answers with.

    Args:
        method: GET, POST, PUT or DELETE.
        url: what is asked for.
        document: what is sent, as JSON.
        headers: further headers.
        again: the codes after which it is asked again for some seconds.

    Raises:
        SetupError: it refuses, or is not there.
    """
    request = urllib.request.Request(  # noqa: S310 - an address of ours
        url,
        method=method,
        data=json.dumps(document).encode() if document is not None else None,
        headers={"Content-Type": "application/json", **(headers or {})},
    )
    for attempt in range(1, _HTTP_TRIES + 1):
        try:
            with urllib.request.urlopen(request, timeout=_HTTP_SECONDS) as answer:  # noqa: S310 - an address of ours
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            if error.code not in again or attempt == _HTTP_TRIES:
                told = error.read().decode(errors="replace")[:1200]
                raise SetupError(f"{method} {url} was refused with {error.code}.", told) from error
            time.sleep(_HTTP_RETRY_SECONDS)
        except OSError as error:
            raise SetupError(f"{url} cannot be asked.", f"{error}.") from error
    return None


def answers(url: str) -> bool:
    """Whether a component gives what is asked for."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - an address of ours
            return bool(answer.status == 200)
    except OSError:
        return False
