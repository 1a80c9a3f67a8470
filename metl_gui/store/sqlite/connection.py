"""Connections to a project file: what is asked of SQLite, and transactions.

While somebody edits, the file is in WAL mode, so that readers never wait; closed, it is one file in rollback mode that
can be copied and read from a folder without write access. On a network file system, a folder of another computer
(``is_on_network``), it stays in rollback mode, as the write-ahead log is not safe there.

Source: sqlite.org, "Write-Ahead Logging", 1 (all processes must be on the same host).
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import sqlite3
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from metl_gui.errors import ProjectError
from metl_gui.store.sqlite.cancellation import install_progress_handler, stop_here
from metl_gui.store.sqlite.failures import damaged, not_a_project

_KINDS = frozenset(
    {
        *("9p", "afp", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "orangefs", "pvfs2", "smb3", "smbfs"),
        *("fuse.davfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs", "fuse.sshfs"),
    }
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def is_on_network(path: Path, mounts: str | None = None) -> bool:
    """Whether a path lies on a network file system.

    Args:
        path: a file or folder.
        mounts: text of ``/proc/self/mounts``; read when not given. Where there is none, the answer is no.
    """
    return _kind_of_mount(path.resolve(), _read_mounts() if mounts is None else mounts) in _KINDS


def _kind_of_mount(path: Path, mounts: str) -> str:
    kinds: dict[Path, str] = {}
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            kinds[Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1]))] = fields[2]
    return next((kinds[folder] for folder in (path, *path.parents) if folder in kinds), "")


def _read_mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "replace")
    except OSError:
        return ""


SUFFIX = ".metl"
"""What the names of project files end in."""
APPLICATION_ID = 0x4D45544C
"""``METL`` in ASCII: what makes an SQLite file a project file."""

WAIT_SECONDS = 5.0
"""How long a lock of another connection is waited for."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 1,  # what VACUUM needs
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
}
"""Several times what our own statements need."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_PAGES_AT_ONCE = 5_000
_log = logging.getLogger(__name__)

FileNumber: TypeAlias = tuple[int, int]
"""Device and number: what a file is known by, whatever it is called."""


@dataclass
class _Open:
    """A file that this process has open through SQLite.

    Args:
        descriptor: reads it past SQLite; closed after the last connection.
        connections: how many there are.
    """

    descriptor: int
    connections: int = 0


_open_here: dict[FileNumber, _Open] = {}
"""The files that this process has open through SQLite.

Nobody here may open and close such a file past SQLite: when a process closes any descriptor of a file, the system drops
all its locks on it, and the next program that opens and closes the project would take the log away from under its
editor.
"""
_looking = threading.RLock()

_SHARED_LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0x40000002, 510, 0)
_NO_LOCK = struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, 0x40000002, 510, 0)
"""The bytes that SQLite locks for reading, as ``fcntl`` wants to be told. Source: sqlite.org, "File Format", 1.2.4."""


class FileConnection(sqlite3.Connection):
    """A connection that says when its file is not open through it any more."""

    file: FileNumber | None = None

    @property
    def descriptor(self) -> int:
        """Reads the file past SQLite; never to be closed by anybody else."""
        if self.file is None:
            raise sqlite3.ProgrammingError("the file is closed")
        return _open_here[self.file].descriptor

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        super().close()
        with _looking:
            if self.file is not None:
                _forget(self.file)
            self.file = None

    def abandon(self) -> None:
        """Close the file as a kill would: what its log holds is not written to it, and the log stays.

        A lock of ours on its descriptor makes SQLite believe that somebody else still reads the file.
        """
        descriptor = self.descriptor
        with contextlib.suppress(OSError):  # a file system without such locks has no log either
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _SHARED_LOCK)
        try:
            super().close()
        finally:
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _NO_LOCK)
            self.close()


def connect(path: Path) -> FileConnection:
    """Open an existing project file, for writing where the system lets us.

    Raises:
        ProjectError: there is no such file, or it is not a project file.
        sqlite3.Error: SQLite cannot open it.
    """
    with _looking:
        require_project(path)
        file = _remember(path)
    try:
        return _opened_as(path, file)
    except BaseException:
        with _looking:
            _forget(file)
        raise


def _opened_as(path: Path, file: FileNumber) -> FileConnection:
    try:
        connection = _opened(path, "mode=rw")
    except sqlite3.OperationalError:
        if not _can_be_read_as_it_lies(path):
            raise
        connection = _opened(path, "immutable=1")
    connection.file = file
    return connection


def is_database(path: Path) -> bool:
    """Tell by its first bytes whether a file is a database, as projects are, whatever its name.

    Raises:
        OSError: it cannot be read.
    """
    with _looking:
        if number_of(path) in _open_here:
            return True
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC


def connect_new(path: Path) -> FileConnection:
    """Open a file that is not there yet."""
    connection = _opened(path, "mode=rwc")
    with _looking:
        connection.file = _remember(path)
    return connection


def enter_editing_mode(connection: sqlite3.Connection, path: Path) -> None:
    """Let readers read while we write, where the file system can."""
    wanted = "DELETE" if is_on_network(path) else "WAL"
    connection.execute(f"PRAGMA journal_mode={wanted}").fetchone()


def leave_editing_mode(connection: sqlite3.Connection) -> None:
    """Make the file one file again; while others have it open the log stays, until the last of them closes."""
    try:
        connection.execute("PRAGMA busy_timeout=0")
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.OperationalError as error:
        _log.debug("the project file stays in its journal mode: %s", error)


def back_up(source: sqlite3.Connection, copy: sqlite3.Connection) -> None:
    """Copy a whole file as it was last committed; between two parts it can be stopped."""
    source.backup(copy, pages=_PAGES_AT_ONCE, progress=lambda *_: stop_here())


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction that takes the write lock at once; rolled back when anything is raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction in which all reads see the same state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _remember(path: Path) -> FileNumber:
    """Count one more connection to a file, and return what the file is known by."""
    file = number_of(path)
    if file not in _open_here:
        _open_here[file] = _Open(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    _open_here[file].connections += 1
    return file


def _forget(file: FileNumber) -> None:
    known = _open_here[file]
    known.connections -= 1
    if known.connections == 0:
        del _open_here[file]
        os.close(known.descriptor)


def number_of(path: Path) -> FileNumber:
    """Return what the file at a path is known by.

    Raises:
        OSError: there is none, or it cannot be looked at.
    """
    facts = path.stat()
    return facts.st_dev, facts.st_ino


def _opened(path: Path, mode: str) -> FileConnection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=FileConnection
    )
    install_progress_handler(connection)
    try:
        _defend(connection)
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _defend(connection: sqlite3.Connection) -> None:
    """Expect a file that was made to do harm; before its first page is read.

    Source: sqlite.org, "Defense Against The Dark Arts".
    """
    for setting in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
        connection.execute(f"PRAGMA {setting}").fetchone()
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    for kind, most in _LIMITS.items():
        connection.setlimit(kind, most)


def require_project(path: Path) -> None:
    """Refuse what cannot be a project file, by its first bytes.

    Raises:
        ProjectError: there is no such file, or it is not a project file.
        OSError: it cannot be read.
    """
    if path.is_dir():
        raise not_a_project(path, "It is a folder.")
    if not path.exists():
        raise ProjectError(f"There is no project file {path.name}.", f"Looked for: {path}", _way_out(path))
    if not path.is_file():
        # A pipe would be waited for without end.
        raise not_a_project(path, "It is not a regular file.")
    with _looking:
        if number_of(path) in _open_here:
            return  # it was looked at when it was opened
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    if not header:
        raise not_a_project(path, "It is empty.")
    if not header.startswith(_MAGIC[: len(header)]):
        raise not_a_project(path, "It does not begin like one.")
    if len(header) < _HEADER_BYTES:
        raise damaged(path, f"It ends after {len(header)} bytes")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise not_a_project(path, "It is an SQLite database of another program.")


def _way_out(path: Path) -> str:
    """Say what may be meant by a name that no file has, as that of a state for ``diff``, or how a file gets it."""
    before, _, state = path.name.rpartition("@")
    if before.endswith(SUFFIX):
        project = path.with_name(before)
        if project.is_file():
            return f"Name {project}, and the state with --state {state} where the command takes one."
    project = path.with_suffix(SUFFIX)
    with contextlib.suppress(OSError, ValueError):
        for each in sorted(path.parent.glob(f"*{SUFFIX}")):
            if each.name.casefold() == project.name.casefold():
                return f"Did you mean {each}?"
    return f"Make one with: metl new {project}"


def _can_be_read_as_it_lies(path: Path) -> bool:
    """Whether nothing waits in a write-ahead log, in a folder where SQLite cannot make its shared memory file."""
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return not has_log and not os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
