"""Project files as the programs of earlier versions wrote them; each holds the same few edits, the last one an undo."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from metl_gui.store import tables

FOLDER = Path(__file__).parents[2] / "cases" / "projects"


def write_older(path: Path, version: int, made_in: int | None = None) -> None:
    """Write a file of a version.

    Args:
        path: the new file.
        version: of its tables.
        made_in: an earlier version that it was made in and migrated from.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript((FOLDER / f"version-{made_in or version}.sql").read_text("utf-8"))
        for step in range(made_in or version, version):
            tables.MIGRATIONS[step](tables.utilities(connection))
        connection.execute(f"PRAGMA user_version={version}")
