"""Where the program keeps what is not in a project file: per user, by project id.

Run folders hold raw records, so they live in the cache and go after 30 days; the demo's projects are the user's own
and live with the user's data. Source: contract.md §2.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import time
from pathlib import Path

from metl_gui.own_files import cache_folder, close_all, data_folder, settings_folder, write_file
from metl_gui.workbench.live_process import read_facts

_log = logging.getLogger(__name__)
KEPT_DAYS = 30
KEPT_SECONDS = KEPT_DAYS * 24 * 3600
_CLOSED = ".closed"
"""In a folder that was closed to everybody but its owner."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


def close_to_others() -> None:
    """Close the folders of this user, and all that earlier versions left open in them, to everybody else, once.

    A folder that cannot be closed is told in the log and looked at again the next time.
    """
    for folder in (cache_folder(), data_folder(), settings_folder()):
        closed = folder / _CLOSED
        try:
            if folder.is_dir() and folder.stat().st_uid == os.getuid() and not closed.exists():
                close_all(folder.resolve())
                write_file(closed, b"")
        except OSError as error:
            _log.warning("%s may be open to others: %s", folder, error)


def runs_folder(project_id: str) -> Path:
    """Return where the run folders of a project lie."""
    return cache_folder() / "runs" / _name_of(project_id)


def run_folder(project_id: str, run_id: str) -> Path:
    """Return the folder of one run of a project."""
    return runs_folder(project_id) / _name_of(run_id)


def kept_samples_folder(project_id: str) -> Path:
    """Return where the sample messages of a project are kept, beside its run folders."""
    return cache_folder() / "samples" / _name_of(project_id)


def samples_folder() -> Path:
    """Return where copies of the sample projects lie."""
    return data_folder() / "samples"


def forget_old_runs(project_id: str, kept_seconds: float = KEPT_SECONDS) -> int:
    """Remove the run folders of a project that are older than the limit.

    Returns:
        How many went; none where the folder cannot be looked into.
    """
    folder = runs_folder(project_id)
    oldest = time.time() - kept_seconds
    try:
        old = [run for run in folder.iterdir() if run.is_dir() and run.stat().st_mtime < oldest]
    except OSError as error:
        _log.debug("old runs are not looked for: %s", error)
        return 0
    gone = [run for run in old if not _lives(run)]
    for run in gone:
        shutil.rmtree(run, ignore_errors=True)
    return len(gone)


def _lives(run: Path) -> bool:
    """Whether a process of production is at work in a folder, however old the clock says it is."""
    facts = read_facts(run)
    return facts is not None and facts.lives


def _name_of(id_: str) -> str:
    """Name a folder after an id; ids come out of project files, and one that is a path must not lead elsewhere."""
    return id_ if _NAME.fullmatch(id_) else hashlib.sha256(id_.encode()).hexdigest()
