"""Whose a folder is: a locked file beside it, which the system lets go of when its run ends in any way.

Where nobody but the system may write beside a place, as beside the volume of a container, the place itself is locked.

A partial folder is one run's alone, by its name. The place where outputs go is held by one run at a time, whatever it
is to the run and whichever process, window or command line that belongs to.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import msgspec

from metl_gui.errors import RunError
from metl_gui.file_locks import lock
from metl_gui.own_files import is_closed, is_own, make_folder, open_file

SUFFIX = ".owner"
HELD_SUFFIX = ".lock"

_DYING_SECONDS = 5.0
"""A process that was killed a moment ago may still be on its way out."""

_MOST_BYTES = 1_000
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}


def owner_of(partial: Path) -> Path:
    """Return where the owner of a partial folder is written down."""
    return partial.with_suffix(SUFFIX)


def owner_of_run(run_folder: Path) -> Path:
    """Return where it is written down that a run lives."""
    return run_folder / SUFFIX


class RunLock:
    """Holds what a run writes while the run lives.

    Args:
        path: the file.
        run_id: the run, written down for whoever comes after it.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.path = path
        self._file: IO[bytes] = open_file(path, "wb")
        # Where a file system knows no locks the file stays empty: it counts as held for ever, so nothing is removed.
        with contextlib.suppress(OSError):
            lock(self._file)
            self._file.write(f"{run_id}\n".encode())
            self._file.flush()

    def release(self) -> None:
        """Hold it no longer; the file stays for whoever removes what was held."""
        self._file.close()


def run_of_dead(path: Path) -> str | None:
    """Return the run that wrote a file of an owner when it is dead; ``None`` when it lives or nobody knows."""
    try:
        with path.open() as file:
            lock(file)
            return file.read(100).strip() or None
    except (OSError, UnicodeDecodeError):
        return None


class LockHolder(msgspec.Struct, frozen=True):
    """Who holds a place.

    Args:
        run: the run.
        since_ms: when it began to.
        process, host: what to look for.
    """

    run: str
    since_ms: int
    process: int
    host: str

    @property
    def words(self) -> str:
        """Who, since when, and where, for people."""
        since = datetime.fromtimestamp(self.since_ms / 1000, UTC)
        return f"run {self.run} since {since:%Y-%m-%d %H:%M:%S} UTC, process {self.process} on {self.host}"


class PathLock:
    """Holds a place for outputs until it is let go, or this process ends in any way.

    Args:
        place: a folder, which need not be there; the one that it lies in must be.
        run_id: for whom.

    Raises:
        RunError: another run holds it, or a folder that it lies in; the error names that run where it can be known.
        OSError: the file beside it cannot be written, and the place is not there to be locked itself.
    """

    def __init__(self, place: Path, run_id: str) -> None:
        self.path = _lock_of(place)
        self._number = _taken(self.path, place)
        holder = LockHolder(run_id, time.time_ns() // 1_000_000, os.getpid(), socket.gethostname())
        with contextlib.suppress(OSError):  # a folder, or a file that another user made: locked and not written
            os.truncate(self._number, 0)
            os.write(self._number, msgspec.json.encode(holder))
        try:
            if _is_same(self._number, self.path):
                _refuse_locked_folder(place)  # by somebody who may not write beside it
            for parent in Path(os.path.realpath(place)).parents:
                refuse_if_locked(parent)
        except RunError:
            self.release()
            raise

    def release(self) -> None:
        """Hold it no longer."""
        with contextlib.suppress(OSError):
            if _is_same(self._number, self.path):
                self.path.unlink()
        os.close(self._number)


@contextlib.contextmanager
def lock_paths(places: Iterable[Path], run_id: str) -> Iterator[None]:
    """Hold places while the ``with`` block lasts; folders that they lie in are made.

    Raises:
        RunError, OSError: as of ``PathLock``.
    """
    with contextlib.ExitStack() as held:
        for place in places:
            if is_own(place.parent):
                make_folder(place.parent)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
            held.callback(PathLock(place, run_id).release)
        yield


def outermost(places: Iterable[Path]) -> list[Path]:
    """Return those places that lie in no other of them: who holds a folder holds what lies in it."""
    known = list(dict.fromkeys(places))
    return [place for place in known if not any(other in place.parents for other in known)]


def refuse_if_locked(place: Path) -> None:
    """Check whether nobody holds a place; nothing is made.

    Raises:
        RunError: another run holds it.
    """
    path = _lock_of(place)
    if path.name and path.exists():
        with contextlib.suppress(OSError):  # gone, or not for us to open: then whoever wants to hold it finds out
            os.close(_locked(_opened(path, os.O_RDONLY), place, is_shared=True))
    _refuse_locked_folder(place)


def drop_lock(place: Path, run_id: str) -> None:
    """Remove the file beside a place that a dead run left, also where it is on its way out; others keep theirs."""
    path = _lock_of(place)
    with contextlib.suppress(OSError), os.fdopen(_opened(path, os.O_RDWR), "r+b", buffering=0) as file:
        holder = _holder(file.read(_MOST_BYTES))
        if holder is not None and holder.run == run_id:
            lock_when_free(file)
            if _is_same(file.fileno(), path):
                path.unlink()


def lock_when_free(file: IO[bytes] | int, *, is_shared: bool = False) -> None:
    """Lock a file, waiting for a holder that may be dying; where a file system knows no locks it stays as it is.

    Raises:
        BlockingIOError: another process keeps it.
    """
    lock(file, is_shared=is_shared, if_supported=True, seconds=_DYING_SECONDS)


def _lock_of(place: Path) -> Path:
    place = Path(os.path.realpath(place))  # one place, whatever leads there
    return place.with_name(f".{place.name}{HELD_SUFFIX}") if place.name else Path()


def _taken(path: Path, place: Path) -> int:
    """Open the file beside a place, or else the place, and lock it; one that is not there any more is none.

    Who locks the place looks for the file afterwards, and who locks the file for a lock on the place: whichever way two
    runs take, one of them meets the other.
    """
    while True:
        locked = path
        try:
            number = _opened(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
            try:
                number = _opened(path, os.O_RDONLY)  # another user's
            except FileNotFoundError:
                locked = Path(os.path.realpath(place))
                try:
                    number = _opened_folder(locked)
                except OSError:
                    raise error from None
        _locked(number, place)
        if _is_same(number, locked) and (locked == path or not os.path.lexists(path)):
            return number
        os.close(number)


def _refuse_locked_folder(place: Path) -> None:
    with contextlib.suppress(OSError):  # none, or not for us to read
        os.close(_locked(_opened_folder(Path(os.path.realpath(place))), place, is_shared=True))


def _opened(path: Path, flags: int) -> int:
    # Never through a link that somebody laid, and never waiting for the other end of a pipe.
    mode = 0o600 if is_closed(path.parent) else 0o644
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)


def _opened_folder(place: Path) -> int:
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _is_same(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


def _locked(number: int, place: Path, *, is_shared: bool = False) -> int:
    """Lock what was opened, and close it where that is not to be had."""
    try:
        lock_when_free(number, is_shared=is_shared)
    except BlockingIOError as error:
        raise _held(place, _said(number)) from error
    except BaseException:
        os.close(number)
        raise
    return number


def _said(number: int) -> bytes:
    """Read what a holder wrote, and close; a folder says nothing."""
    try:
        return os.read(number, _MOST_BYTES)
    except OSError:
        return b""
    finally:
        os.close(number)


def _held(place: Path, said: bytes) -> RunError:
    holder = _holder(said)
    return RunError(
        "Another run writes there.",
        f"{place} is held by {holder.words if holder is not None else 'another run'}.",
        "Wait until it has ended, or stop it; or give another folder.",
    )


def _holder(said: bytes) -> LockHolder | None:
    """Read who holds a place; damaged files name nobody."""
    try:
        holder = msgspec.json.decode(said, type=LockHolder)
        return holder if holder.words else None  # which a time beyond all calendars has not
    except (msgspec.MsgspecError, ValueError, OverflowError, OSError):
        return None
