"""The editing lease: one editor at a time, named by process, and taken over when that process is gone."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
import uuid
from datetime import datetime
from pathlib import Path

from metl_gui.errors import ProjectLockedError
from metl_gui.values import Value

FAR_SILENCE_MS = 120_000
"""After this long without a heartbeat an editor on another computer counts as gone."""

_PROCESSES = Path("/proc")

HIDDEN = "hidden"
"""The start of a process that is there but cannot be looked at."""


class LeaseHolder(Value):
    """Who edits a project file.

    Args:
        token: names this one opening.
        who: the person.
        host: name of the computer.
        machine: what tells computers and containers of the same name apart, new after each start of the computer.
        process_id, process_start: the process; both, because numbers are used again.
        since_ms, heartbeat_ms: when it was opened, and when it was last heard of (milliseconds since 1970).
    """

    token: str
    who: str
    host: str
    machine: str
    process_id: int
    process_start: str
    since_ms: int
    heartbeat_ms: int

    @classmethod
    def here(cls, who: str) -> LeaseHolder:
        """Describe this process as a new editor."""
        now_ms = time.time_ns() // 1_000_000
        own = os.getpid()
        return cls(uuid.uuid4().hex, who, socket.gethostname(), _machine(), own, process_start(own), now_ms, now_ms)

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this computer, so that the system can be asked about it."""
        return (self.host, self.machine) == (socket.gethostname(), _machine())

    @property
    def is_gone(self) -> bool:
        """Whether the process does not exist any more, or has been silent for too long where we cannot look."""
        if self.is_here:
            return process_start(self.process_id) not in (self.process_start, HIDDEN)
        return time.time_ns() // 1_000_000 - self.heartbeat_ms > FAR_SILENCE_MS

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since_ms / 1000).astimezone()
        return f"{self.who or 'somebody'} on {self.host} (process {self.process_id}, since {since:%Y-%m-%d %H:%M})"


def process_start(process_id: int) -> str:
    """Tell when a process started, in the system's own ticks.

    Returns:
        Empty when there is no such process, ``HIDDEN`` when there is one of which the system tells nothing more.
    """
    try:
        fields = (_PROCESSES / f"{process_id}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return _sign_of_life(process_id)
    return "" if fields[0] in "ZX" else fields[19]


def read(connection: sqlite3.Connection) -> LeaseHolder | None:
    """Return who holds the lease."""
    row = connection.execute(
        "SELECT token, who, host, machine, process_id, process_start, since_ms, heartbeat_ms FROM lease"
    ).fetchone()
    return LeaseHolder(*row) if row else None


def take(connection: sqlite3.Connection, holder: LeaseHolder, *, by_force: bool = False) -> None:
    """Become the editor; inside a transaction.

    Raises:
        ProjectLockedError: a living editor has the lease, and it is not taken by force.
    """
    if not by_force:
        refuse_if_leased(connection)
    connection.execute(
        "INSERT OR REPLACE INTO lease (only, token, who, host, machine, process_id, process_start, since_ms,"
        " heartbeat_ms) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            holder.token,
            holder.who,
            holder.host,
            holder.machine,
            holder.process_id,
            holder.process_start,
            holder.since_ms,
            holder.heartbeat_ms,
        ),
    )


def refuse_if_leased(connection: sqlite3.Connection) -> None:
    """Make sure that nobody edits; the shape of the lease is the same in all versions of the file.

    Raises:
        ProjectLockedError: a living editor has the lease.
    """
    found = read(connection)
    if found is not None and not found.is_gone:
        raise ProjectLockedError(
            f"The project is being edited by {found}.",
            "Only one can edit at a time.",
            "Close it there first, or open it read only, as show, check and run do. The window can take it over.",
        )


def require(connection: sqlite3.Connection, holder: LeaseHolder) -> None:
    """Make sure inside a transaction that we are still the editor.

    Raises:
        ProjectLockedError: somebody took the project over.
    """
    found = read(connection)
    if found is None or found.token != holder.token:
        raise ProjectLockedError(
            f"The project was taken over by {found}." if found else "The project was taken over and closed since.",
            "This edit was not made.",
            "Open the project again to go on editing here.",
        )


def renew(connection: sqlite3.Connection, holder: LeaseHolder) -> None:
    """Say that we are still here; inside a transaction."""
    now_ms = time.time_ns() // 1_000_000
    # Never back, whatever becomes of the clock: by this the file is known.
    renewed = "UPDATE lease SET heartbeat_ms = max(heartbeat_ms, ?) WHERE token = ?"
    connection.execute(renewed, (now_ms, holder.token))


def release(connection: sqlite3.Connection, holder: LeaseHolder) -> None:
    """Give the lease back, if it is still ours; inside a transaction."""
    connection.execute("DELETE FROM lease WHERE token = ?", (holder.token,))


def _sign_of_life(process_id: int) -> str:
    """Ask without ``/proc``: there may be none, or it hides the processes of other users."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return HIDDEN
    return HIDDEN


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"{uuid.getnode():x}"
