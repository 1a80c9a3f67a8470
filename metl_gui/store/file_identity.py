"""Whether a project file is still where it was opened, and still itself.

While it is open somebody may delete it, put another file in its place or copy a backup over it. SQLite goes on then:
it writes into a file that nobody finds any more, lays its log over a backup, and takes away the log of a stranger. So
this is looked at before the file is used, and where it was lost nothing is written any more, by closing neither.

A name that leads elsewhere is told by the number of the file. What was copied over a file leaves its number; but an
editor writes its lease into the file, and every commit renews it, so that a file without this lease, or with one that
is older than was seen in it, is not the one that is edited. What cannot be told is a copy that was made while the
project was open and has all that was written to the file itself since: and it holds the same.
Source: sqlite.org, "How To Corrupt An SQLite Database File", 1.4 and 2.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from metl_gui.errors import ProjectError
from metl_gui.store import lease
from metl_gui.store.sqlite.connection import FileConnection, FileNumber, number_of, writing

_LOG_FILES = ("-wal", "-shm")
_IS_LOGGED = b"\2\2"
"""Bytes 18 and 19 of a file in WAL mode; it stays in it while any editor has it open."""

_TIME_BYTES = 6
_CHUNK_BYTES = 1 << 20


class FileLoss(Enum):
    """What became of a file."""

    DELETED = "It was deleted"
    MOVED = "It was moved or renamed"
    REPLACED = "Another file was put in its place"
    OVERWRITTEN = "Another one was copied over it, a backup perhaps"


class Presence:
    """Follows one file while it is open.

    Args:
        path: where it was opened.
        connection: through which.

    ``newest_state`` is the newest one that was committed or found here.
    """

    def __init__(self, path: Path, connection: FileConnection) -> None:
        self._path = path
        self._connection = connection
        self.newest_state = 0
        self._holder: lease.LeaseHolder | None = None
        self._project_id = ""
        self._is_logged = False
        self._log_files: dict[Path, FileNumber] = {}
        self._at: int | None = None
        self._without: tuple[int, int] | None = None
        """Size and time of the file when the whole of it was looked through in vain."""
        self._latest_ms = 0
        self._is_overwritten = False

    def follow_lease(self, holder: lease.LeaseHolder) -> None:
        """Know the file by the lease that was just taken in it."""
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._is_logged = self._head() == _IS_LOGGED
        for path in (self._path.with_name(self._path.name + ending) for ending in _LOG_FILES):
            if path.exists():
                self._log_files[path] = number_of(path)
        self._project_id, self.newest_state = self._project()
        self._holder = holder

    def loss(self) -> FileLoss | None:
        """Return what became of the file; ``None`` while it is there and itself.

        Raises:
            OSError: its folder cannot be looked at.
            sqlite3.ProgrammingError: it was closed here.
        """
        has_name = self.has_name
        if self._is_overwritten:
            return FileLoss.OVERWRITTEN
        try:
            found = number_of(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return FileLoss.MOVED if has_name else FileLoss.DELETED
        if found != self._connection.file:
            return FileLoss.REPLACED
        self._is_overwritten = self._holder is not None and not self._is_itself(self._holder)
        return FileLoss.OVERWRITTEN if self._is_overwritten else None

    @property
    def has_name(self) -> bool:
        """Whether the file has a name anywhere."""
        return os.fstat(self._connection.descriptor).st_nlink > 0

    def require(self) -> None:
        """Make sure that the file is there and itself.

        Raises:
            ProjectError: says what became of it, and how to save what is shown.
        """
        loss = self.loss()
        if loss is not None:
            raise ProjectError(
                f"{self._path.name} is not where it was opened.",
                f"{loss.value}: {self._path}. Nothing is written to it any more.",
                "What is shown here is not lost: save it with File > Save a copy as. Then open what you want to go on"
                " with.",
            )

    def abandon(self) -> None:
        """Close a file that was lost, without writing to it, and take away the log of ours that lies beside its name.

        A file that lives on under another name gets from its log what was committed to it.
        """
        try:
            if self._is_logged and self.has_name and self.loss() is not FileLoss.OVERWRITTEN:
                if self._holder is not None:
                    with writing(self._connection):
                        lease.release(self._connection, self._holder)
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.abandon()
        for path, number in self._log_files.items():
            if path.exists() and number_of(path) == number:
                path.unlink()

    def _is_itself(self, holder: lease.LeaseHolder) -> bool:
        if self._is_logged and self._head() != _IS_LOGGED:
            return False
        seen_ms = self._seen_ms(holder)
        if seen_ms is None and self._at is None:
            return True  # a reader has kept the lease from getting out of the log into the file
        if seen_ms is not None and seen_ms >= self._latest_ms:
            self._latest_ms = seen_ms
            return True
        return self._is_taken_over(holder)  # which is told to whoever wants to edit

    def _is_taken_over(self, holder: lease.LeaseHolder) -> bool:
        try:
            now = lease.read(self._connection)
            project_id, state = self._project()
        except sqlite3.Error:
            return False
        is_other = now is None or now.token != holder.token
        return is_other and project_id == self._project_id and state >= self.newest_state

    def _project(self) -> tuple[str, int]:
        project_id, state = self._connection.execute("SELECT id, state FROM project").fetchone() or ("", 0)
        return project_id, state

    def _seen_ms(self, holder: lease.LeaseHolder) -> int | None:
        """Return when the lease was last renewed as far as the file itself, without its log, says."""
        mark = _mark(holder)
        if self._at is not None:
            found = self._read(self._at, len(mark) + _TIME_BYTES)
            if found.startswith(mark) and int.from_bytes(found[len(mark) :], "big") >= self._latest_ms:
                return int.from_bytes(found[len(mark) :], "big")
        facts = os.fstat(self._connection.descriptor)
        seen = facts.st_size, facts.st_mtime_ns
        if seen == self._without:
            return None
        latest = None
        for at in self._places(mark):
            renewed_ms = int.from_bytes(self._read(at + len(mark), _TIME_BYTES), "big")
            if latest is None or renewed_ms > latest:
                latest, self._at = renewed_ms, at
        self._without = seen if latest is None else None
        return latest

    def _places(self, mark: bytes) -> Iterator[int]:
        """Search for the lease in the whole file; it seldom changes its place."""
        begin, kept = 0, b""
        while chunk := self._read(begin, _CHUNK_BYTES):
            text, first = kept + chunk, begin - len(kept)
            at = text.find(mark)
            while at >= 0:
                yield first + at
                at = text.find(mark, at + 1)
            begin, kept = begin + len(chunk), text[-(len(mark) - 1) :]

    def _head(self) -> bytes:
        return self._read(18, 2)

    def _read(self, at: int, size: int) -> bytes:
        return os.pread(self._connection.descriptor, size, at)


def _mark(holder: lease.LeaseHolder) -> bytes:
    """Write a lease as it stands in a row of its table, up to the time of its last renewal."""
    # SQLite has forms of their own for 0 and 1, which the first process of a container has as its number.
    sizes = (size for size in (1, 2, 3, 4, 6, 8) if holder.process_id < 1 << (8 * size - 1))
    size = 0 if holder.process_id in (0, 1) else next(sizes)
    texts = holder.token + holder.who + holder.host + holder.machine
    number = holder.process_id.to_bytes(size, "big") if size else b""
    return texts.encode() + number + holder.process_start.encode() + holder.since_ms.to_bytes(_TIME_BYTES, "big")
