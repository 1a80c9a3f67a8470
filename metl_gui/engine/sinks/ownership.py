"""Whose a partial folder is: a locked file beside it, which the system lets go of when its run ends in any way."""

from __future__ import annotations

import contextlib
import fcntl
from pathlib import Path
from typing import IO

SUFFIX = ".owner"


def owner_of(partial: Path) -> Path:
    """Return where the owner of a partial folder is written down."""
    return partial.with_suffix(SUFFIX)


def owner_of_run(run_folder: Path) -> Path:
    """Return where it is written down that a run lives."""
    return run_folder / SUFFIX


class Owner:
    """Holds what a run writes while the run lives.

    Args:
        path: the file.
        run_id: the run, written down for whoever comes after it.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.path = path
        self._file: IO[str] = path.open("w")
        # Where a file system knows no locks the file stays empty: it counts as held for ever, so nothing is removed.
        with contextlib.suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.write(f"{run_id}\n")
            self._file.flush()

    def let_go(self) -> None:
        """Hold it no longer; the file stays for whoever removes what was held."""
        self._file.close()


def run_of_dead(path: Path) -> str | None:
    """Return the run that wrote a file of an owner when it is dead; ``None`` when it lives or nobody knows."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file.read(100).strip() or None
    except (OSError, UnicodeDecodeError):
        return None
