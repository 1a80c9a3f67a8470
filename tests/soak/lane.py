"""The lane of the soak, as its user has it: started, gone on with, replayed and stopped by commands."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metl_gui.core.runs.events import LaneProgressed, LaneTroubled, RunFailed
from metl_gui.engine.runs.event_log import EventTail
from metl_gui.errors import RunError
from metl_gui.stack import component, guard
from metl_gui.workbench.user_folders import read_facts
from tests.helpers.killing import HOST, PRODUCTION, WORKER, command_of
from tests.helpers.machine_code import kernel_cache
from tests.soak.servers import Servers

GROUP = "soak-lane"
_ROOT = Path(__file__).resolve().parents[2]
_COMMAND_SECONDS = 600.0
_SAID_LINES = 200
_COMMAND = "import sys; from metl_gui.cli.main import main; sys.exit(main())"
_SIGNS = (
    ("production", PRODUCTION),
    ("java", "java"),
    ("host", HOST),
    ("workers", WORKER),
)
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Memory(NamedTuple):
    """What the processes of a lane hold, in MiB."""

    production: int = 0
    host: int = 0
    java: int = 0
    workers: int = 0

    def __str__(self) -> str:
        """Write it for people."""
        return ", ".join(f"{name} {mib:,} MiB" for name, mib in self._asdict().items())


class Lane:
    """One lane.

    Args:
        servers: what it reads and writes.
        project: the project file.
        folder: everything of its commands is below.
        wait_seconds: how long a partition waits for an unknown version.
    """

    def __init__(self, servers: Servers, project: Path, folder: Path, wait_seconds: float) -> None:
        self.servers = servers
        self.project = project
        self.wait_seconds = wait_seconds
        self.run_id = ""
        self.newest: LaneProgressed | None = None
        self.troubles: list[str] = []
        self._mark = secrets.token_hex(8)
        self._environment = {
            **os.environ,
            **kernel_cache(),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            guard.MARK: self._mark,
        }
        self._run = folder
        self._heard = time.monotonic()
        self._tail: EventTail | None = None
        self._look = threading.Lock()

    def start(self) -> None:
        """Start it as a process that stays."""
        told = self.metl(
            "run", self.project, "--source", self.servers.source, "--sink", self.servers.sink, "--errors",
            self.servers.errors, "--mode", "production", "--follow", "--lane", "fast", "--group", GROUP, "--wait",
            self.wait_seconds, "--create-topics", "--detach", "--spark", "local[2]",
        )  # fmt: skip
        self.run_id, self._run = told["run_id"], Path(told["folder"])
        self._tail = EventTail(self._run / "events.jsonl")
        self._guard()

    def resume(self) -> None:
        """Go on with it after its process died."""
        self.metl("runs", self.project, "--resume", self.run_id, "--detach")
        self._guard()

    def replay(self) -> dict[str, Any]:
        """Map again what was set aside, and return the report."""
        return self.metl(
            "replay", self.project, "--errors", self.servers.errors, "--sink", self.servers.sink, "--mode",
            "production", "--spark", "local[1]",
        )  # fmt: skip

    def stop(self) -> None:
        """End it in order."""
        self.metl("runs", self.project, "--stop", self.run_id)

    def report(self) -> dict[str, Any]:
        """Return its report."""
        told: dict[str, Any] = self.metl("runs", self.project, "--show", self.run_id)["report"]
        return told

    def said(self) -> list[str]:
        """Return what its processes wrote into their log, the last of it where that is long."""
        try:
            return (self._run / "process.log").read_text(errors="replace").splitlines()[-_SAID_LINES:]
        except OSError:
            return []

    def end(self) -> None:
        """End whatever is left of it."""
        guard.end(self.process_id, self._mark)

    def metl(self, *arguments: object) -> dict[str, Any]:
        """Run a command and return its document.

        Raises:
            RunError: it ended with another code than 0; the error says what it said.
        """
        done = subprocess.run(
            [sys.executable, "-c", _COMMAND, *map(str, arguments), "--json"],
            cwd=_ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise RunError(f"metl {arguments[0]} ended with {done.returncode}.", done.stderr.strip()[-1500:])
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def look(self) -> LaneProgressed | None:
        """Read what it tells, and return how far it is."""
        with self._look:
            for event in self._tail.read() if self._tail is not None else ():
                if isinstance(event, LaneProgressed):
                    self.newest, self._heard = event, time.monotonic()
                elif isinstance(event, LaneTroubled):
                    self.troubles.append(event.text)
                elif isinstance(event, RunFailed):
                    self.troubles.append(f"{event.title} {event.text}")
            return self.newest

    @property
    def read(self) -> int:
        """How many records it has read."""
        return self.newest.tally.read if self.newest is not None else 0

    @property
    def lag(self) -> int:
        """How many records are there that it has not read."""
        return sum(one.lag for one in self.newest.partitions) if self.newest is not None else 0

    @property
    def waiting(self) -> int:
        """How many records wait for a version."""
        return self.newest.waiting if self.newest is not None else 0

    @property
    def silent_seconds(self) -> float:
        """For how long it has not told anything."""
        return time.monotonic() - self._heard

    @property
    def state(self) -> int:
        """What it maps with."""
        return self.newest.state if self.newest is not None else 0

    @property
    def set_aside(self) -> int:
        """How many records it set aside."""
        return self.newest.tally.set_aside if self.newest is not None else 0

    @property
    def process_id(self) -> int:
        """Of the process of the run, 0 when it is gone."""
        facts = read_facts(self._run)
        return facts.holder.process_id if facts is not None and facts.lives else 0

    def processes(self, kind: str) -> list[int]:
        """Return its processes of one kind: ``production``, ``host``, ``java`` or ``workers``."""
        return [one for one in guard.marked(self._mark) if _kind_of(one) == kind]

    def memory(self) -> Memory:
        """Look what its processes hold."""
        found = dict.fromkeys(Memory._fields, 0)
        for one in guard.marked(self._mark):
            kind = _kind_of(one)
            if kind:
                found[kind] += resident(one)
        return Memory(**found)

    def _guard(self) -> None:
        component.guard_process(self.process_id, self._mark, signal.SIGTERM)


def resident(process_id: int) -> int:
    """Return what a process holds of the computer's memory, in MiB."""
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * _PAGE >> 20
    except (OSError, IndexError):
        return 0


def _kind_of(process_id: int) -> str:
    command = command_of(process_id)
    return next((kind for kind, sign in _SIGNS if sign in command), "")


def workers_of(daemons: Sequence[int]) -> list[int]:
    """Return those of some daemons and workers of Spark that another one of them started."""
    return [one for one in daemons if any(one in guard.children_of(other) for other in daemons)]
