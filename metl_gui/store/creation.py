"""How a project file comes to be: made new, or migrated from an older version after a backup."""

from __future__ import annotations

import sqlite3
import stat
import time
import uuid
from contextlib import closing
from pathlib import Path

from metl_gui.errors import ProjectError
from metl_gui.own_files import is_own, sync
from metl_gui.store import lease
from metl_gui.store.sqlite.connection import SUFFIX, back_up, connect, connect_new, writing
from metl_gui.store.sqlite.failures import translated
from metl_gui.store.tables import VERSION, file_version, make_tables, migrate


def make_file(path: Path) -> None:
    """Make an empty project file; it appears under its name only when it is whole.

    Raises:
        ProjectError: the name is taken, or is not that of a project file.
    """
    require_free(path, is_new=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        draft.touch(_mode_in(path), exist_ok=False)
        connection = connect_new(draft)
        try:
            make_tables(connection, str(uuid.uuid4()), time.time_ns() // 1_000_000)
        finally:
            connection.close()
        _give_name(draft, path)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(f"{draft.name}-journal").unlink(missing_ok=True)
    sync(path.parent)


def copy_file(path: Path, target: Path) -> None:
    """Copy a project as it was last committed, with its history; the copy appears under its name when it is whole.

    Raises:
        ProjectError: the name is taken, or the file is no project.
    """
    require_free(target)
    with translated(path), closing(connect(path)) as source:
        source.execute("PRAGMA schema_version").fetchone()  # what is no project is told before the copy is
        copy_open(source, target)


def copy_open(source: sqlite3.Connection, target: Path, editor: lease.LeaseHolder | None = None) -> None:
    """Copy what a connection sees, wherever its file is now.

    Args:
        source: the connection.
        target: the new file.
        editor: who holds the lease of the file, and not that of the copy.

    Raises:
        ProjectError: the name is taken, or the copy cannot be written.
    """
    require_free(target)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
    try:
        with translated(target):
            draft.touch(_mode_in(target), exist_ok=False)
            with closing(connect_new(draft)) as copy:
                back_up(source, copy)
                if editor is not None:
                    lease.release(copy, editor)
                copy.execute("PRAGMA journal_mode=DELETE").fetchone()
            _give_name(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def require_free(path: Path, *, is_new: bool = False) -> None:
    """Make sure that a file can be made, and has the name of a project if people are to find a new one by it.

    Raises:
        ProjectError: the name is taken, or is not that of a project file.
    """
    if is_new and path.suffix != SUFFIX:
        raise ProjectError(
            f"{path.name} is not a name for a project file.", hint=f"Call it {path.stem or 'project'}{SUFFIX}."
        )
    if path.exists():
        raise _taken(path)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> Path | None:
    """Migrate an older file after a backup beside it.

    Returns:
        The backup, ``None`` when nothing had to be done.

    Raises:
        ProjectLockedError: somebody edits it.
    """
    found = file_version(connection)
    if found == VERSION:
        return None
    with writing(connection):
        lease.refuse_if_leased(connection)
        backup = _copied_beside(path, found)
        migrate(connection)
    return backup


def newer(path: Path, found: int) -> ProjectError:
    """Return the error that a file was written by a later program."""
    return ProjectError(
        f"{path.name} was written by a newer version of METL Workbench.",
        f"The file has version {found}; this program knows versions up to {VERSION}.",
        "Update this program to open it.",
    )


def _copied_beside(path: Path, version: int) -> Path:
    """Copy the file as it was last committed, through a connection of its own, for those who may read the file."""
    backup, mode = _free_name(path, version), stat.S_IMODE(path.stat().st_mode)
    backup.touch(mode, exist_ok=False)
    backup.chmod(mode)
    with closing(connect(path)) as source, closing(connect_new(backup)) as copy:
        try:
            back_up(source, copy)
        except BaseException:
            backup.unlink()
            raise
    return backup


def _mode_in(path: Path) -> int:
    """Return the mode of a new file: a project in a folder of a person's is as open as the person's umask says."""
    return 0o600 if is_own(path) else 0o666


def _taken(path: Path) -> ProjectError:
    return ProjectError(f"{path.name} is there already.", f"Path: {path}", "Choose another name, or open it.")


def _give_name(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError:  # a file system without hard links
        draft.rename(path)


def _free_name(path: Path, version: int) -> Path:
    names = (
        path.with_name(f"{path.stem}.version-{version}{n}.backup{SUFFIX}")
        for n in ("", *(f"-{n}" for n in range(2, 1000)))
    )
    return next(name for name in names if not name.exists())
