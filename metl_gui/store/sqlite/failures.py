"""What SQLite and the file system report, as sentences for people."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metl_gui.errors import BugError, ProjectError
from metl_gui.store.sqlite.cancellation import was_stopped

_ALMOST_FULL_BYTES = 256 * 1024
_BASE_CODE = 0xFF


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite or the file system raises about a project file into a ``ProjectError``.

    Raises:
        ProjectError: with the file's name, what happened and the way out.
        RunCancelled: the work of this thread was cancelled.
        BugError: the file is used after it was closed, or SQL is wrong.
    """
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise BugError(f"{path}: {error}") from error
    except sqlite3.Error as error:
        stop = was_stopped() if _code(error) == sqlite3.SQLITE_INTERRUPT else None
        if stop is not None:
            raise stop from error
        raise _of_sqlite(path, error) from error
    except OSError as error:
        raise _of_system(path, error) from error
    except UnicodeDecodeError as error:
        raise damaged(path, f"A text in it is no text ({error})") from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise ProjectError(
            f"A name or number of this edit cannot be stored in {path.name}.",
            f"{error}.",
            "Correct it at its source; nothing was changed.",
        ) from error


def damaged(path: Path, detail: str) -> ProjectError:
    """Return the error that a file is a project file but cannot be read as one."""
    return ProjectError(
        f"{path.name} is damaged.",
        f"{detail[:1].upper()}{detail[1:].rstrip('.')}.",
        "Copy a backup over it, or make a new project and import again.",
    )


def disk_full(path: Path) -> ProjectError:
    """Return the error that nothing more fits on the disk."""
    return ProjectError(
        f"The disk is full: {path.name} could not be written.",
        f"Folder: {path.parent}. What was committed before is safe; this edit was not made.",
        "Free some space and do it again.",
    )


def not_a_project(path: Path, detail: str) -> ProjectError:
    """Return the error that a file is something else."""
    return ProjectError(
        f"{path.name or path} is not a METL project file.",
        detail,
        "Choose a .metl file, or make one with: metl new PROJECT",
    )


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & _BASE_CODE


def _of_sqlite(path: Path, error: sqlite3.Error) -> ProjectError:
    code = _code(error)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_disk_full(path)):
        return disk_full(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ProjectError(
            f"{path.name} is locked by another program.",
            "It was waited for and did not become free.",
            "Close the program that holds it (a backup, a database browser) and try again.",
        )
    if code == sqlite3.SQLITE_READONLY:
        return ProjectError(
            f"{path.name} cannot be written.",
            f"The file, its folder {path.parent} or its disk is read only.",
            "Open it read only, or copy it to a folder of your own.",
        )
    if code == sqlite3.SQLITE_CANTOPEN and not path.parent.exists():
        return ProjectError(
            f"{path.name} cannot be opened.",
            f"There is no folder {path.parent}.",
            "Make the folder first, or name another one.",
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return ProjectError(
            f"{path.name} cannot be opened.",
            f"The folder {path.parent} cannot be read or written by you.",
            "Ask for access, or copy the file to a folder of your own.",
        )
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_project(path, "Its content is not that of a database.")
    if code == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
        return ProjectError(
            f"This edit is too large for {path.name}.", f"{error}.", "Do it in smaller parts; nothing was changed."
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return ProjectError(
            f"{path.name} could not be read or written.",
            f"The computer reports: {error}.",
            "Look whether the disk or network folder is still there, then try again.",
        )
    return damaged(path, str(error))


def _of_system(path: Path, error: OSError) -> ProjectError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path)
    return ProjectError(
        f"{path.name} cannot be opened or written.",
        f"{error.strerror or error}: {path}",
        "Look at the path and at your access to it.",
    )


def _is_disk_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _ALMOST_FULL_BYTES
    except OSError:
        return False
