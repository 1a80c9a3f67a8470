"""How a project file comes to be: made new, or migrated from an older version after a backup."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path

from metl_gui.errors import ProjectError
from metl_gui.store import lease
from metl_gui.store.connection import connect, connect_new, writing
from metl_gui.store.failures import damaged, translated
from metl_gui.store.tables import MIGRATIONS, VERSION, file_version, make_tables, migrate

SUFFIX = ".metl"


def make_file(path: Path) -> None:
    """Make an empty project file; it appears under its name only when it is whole.

    Raises:
        ProjectError: the name is taken, or is not that of a project file.
    """
    if path.suffix != SUFFIX:
        raise ProjectError(
            f"{path.name} is not a name for a project file.", hint=f"Call it {path.stem or 'project'}{SUFFIX}."
        )
    if path.exists():
        raise _taken(path)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        connection = connect_new(draft)
        try:
            make_tables(connection, str(uuid.uuid4()), time.time_ns() // 1_000_000)
        finally:
            connection.close()
        _give_name(draft, path)
    finally:
        draft.unlink(missing_ok=True)
        draft.with_name(f"{draft.name}-journal").unlink(missing_ok=True)
    _sync_folder(path.parent)


def copy_file(path: Path, target: Path) -> None:
    """Copy a project as it was last committed, with its history; the copy appears under its name when it is whole.

    Raises:
        ProjectError: the name is taken, or the file is no project.
    """
    if target.exists():
        raise _taken(target)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}")
    try:
        with translated(path), closing(connect(path)) as source:
            source.execute("PRAGMA schema_version").fetchone()  # what is no project is told before the copy is
            with translated(target), closing(connect_new(draft)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE").fetchone()
        _give_name(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> Path | None:
    """Migrate an older file after a backup beside it.

    Returns:
        The backup, ``None`` when nothing had to be done.

    Raises:
        ProjectError: the file is of a newer version than this program, or somebody edits it.
    """
    found = file_version(connection)
    if found > VERSION:
        raise newer(path, found)
    if found == VERSION:
        return None
    if any(version not in MIGRATIONS for version in range(found, VERSION)):
        raise damaged(path, f"It says that it has version {found}, which never was")
    with writing(connection):
        lease.refuse_if_held(connection)
        backup = _back_up(path, found)
        migrate(connection)
    return backup


def newer(path: Path, found: int) -> ProjectError:
    """Say that a file was written by a later program."""
    return ProjectError(
        f"{path.name} was written by a newer version of METL Workbench.",
        f"The file has version {found}; this program knows versions up to {VERSION}.",
        "Update this program to open it.",
    )


def _back_up(path: Path, version: int) -> Path:
    """Copy the file as it was last committed, through a connection of its own."""
    backup = _free_name(path, version)
    with closing(connect(path)) as source, closing(connect_new(backup)) as copy:
        try:
            source.backup(copy)
        except BaseException:
            backup.unlink()
            raise
    return backup


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


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
