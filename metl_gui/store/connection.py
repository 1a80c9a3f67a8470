"""Connections to a project file: what is asked of SQLite, and transactions.

While somebody edits, the file is in WAL mode, so that readers never wait; closed, it is one file in rollback mode that
can be copied and read from a folder without write access. On a network file system it stays in rollback mode.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metl_gui.errors import ProjectError
from metl_gui.store.failures import damaged, not_a_project
from metl_gui.store.network import is_on_network

APPLICATION_ID = 0x4D45544C
"""``METL`` in ASCII: what makes an SQLite file a project file."""

WAIT_SECONDS = 5.0
"""How long a lock of another connection is waited for."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_log = logging.getLogger(__name__)

_File = tuple[int, int]
_open_here: Counter[_File] = Counter()
"""By device and number, the files that this process has open through SQLite.

Nobody here may read such a file past SQLite: when a process closes any descriptor of a file, the system drops all its
locks on it, and the next program that opens and closes the project would take the log away from under its editor.
"""
_looking = threading.RLock()


class _Connection(sqlite3.Connection):
    """A connection that says when its file is not open through it any more."""

    file: _File | None = None

    def close(self) -> None:
        super().close()
        with _looking:
            if self.file is not None:
                _forget(self.file)
            self.file = None


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing project file, for writing where the system lets us.

    Raises:
        ProjectError: there is no such file, or it is not a project file.
        sqlite3.Error: SQLite cannot open it.
    """
    with _looking:
        require_project(path)
        file = _file_of(path)
        _open_here[file] += 1
    try:
        return _opened_as(path, file)
    except BaseException:
        with _looking:
            _forget(file)
        raise


def _opened_as(path: Path, file: _File) -> sqlite3.Connection:
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
        if _open_here[_file_of(path)] > 0:
            return True
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC


def connect_new(path: Path) -> sqlite3.Connection:
    """Open a file that is not there yet."""
    connection = _opened(path, "mode=rwc")
    with _looking:
        connection.file = _file_of(path)
        _open_here[connection.file] += 1
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


def _forget(file: _File) -> None:
    _open_here[file] -= 1
    if _open_here[file] <= 0:
        del _open_here[file]


def _file_of(path: Path) -> _File:
    facts = path.stat()
    return facts.st_dev, facts.st_ino


def _opened(path: Path, mode: str) -> _Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=_Connection
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def require_project(path: Path) -> None:
    """Refuse what cannot be a project file, by its first bytes.

    Raises:
        ProjectError: there is no such file, or it is not a project file.
        OSError: it cannot be read.
    """
    if path.is_dir():
        raise not_a_project(path, "It is a folder.")
    if not path.exists():
        raise ProjectError(
            f"There is no project file {path.name}.", f"Looked for: {path}", f"Make one with: metl new {path}"
        )
    if not path.is_file():
        # A pipe would be waited for without end.
        raise not_a_project(path, "It is not a regular file.")
    with _looking:
        if _open_here[_file_of(path)] > 0:
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


def _can_be_read_as_it_lies(path: Path) -> bool:
    """Whether nothing waits in a write-ahead log, in a folder where SQLite cannot make its shared memory file."""
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return not has_log and not os.access(path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
