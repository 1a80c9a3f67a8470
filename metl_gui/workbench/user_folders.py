"""What the program keeps outside a project file, per user and project id; processes of production runs.

Run folders hold raw records, so they are in the cache and go after 30 days; the demo's projects are the user's own and
are kept with the user's data. Source: docs/reference/environment.md, "Folders".

The run folder of a production run says who its process is, whether it lives, and how far its life is
(``ProcessFacts``). Where the process is on this computer, the system is asked, by number and time of start: clocks that
jump and numbers that are used again mislead nobody. Elsewhere its heartbeat counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import signal
import time
from enum import StrEnum
from pathlib import Path

import msgspec

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.own_files import atomic_write, cache_folder, close_all, data_folder, settings_folder, write_file
from metl_gui.store.lease import LeaseHolder

PROCESS = "process.json"
STOP = "stop"
HEARTBEAT_SECONDS = 5.0
_LOOK_SECONDS = 0.05
_END_OF_TIMES_MS = 4_102_444_800_000
"""The year 2100."""


class ProcessPhase(StrEnum):
    """How far the life of a process is."""

    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"


class ProcessFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a production run says of its process.

    Args:
        run_id: the run.
        holder: the process: number, time of start, computer, when it was heard of last.
        phase: how far it is.
        beats: how often it said so; grows whatever the clock does.
    """

    run_id: str
    holder: LeaseHolder
    phase: ProcessPhase = ProcessPhase.STARTING
    beats: int = 0

    @property
    def lives(self) -> bool:
        """Whether the process is there and has not ended."""
        return self.phase is not ProcessPhase.ENDED and not self.holder.is_gone

    @property
    def has_died(self) -> bool:
        """Whether it is gone without having ended."""
        return self.phase is not ProcessPhase.ENDED and self.holder.is_gone


def read_facts(folder: Path) -> ProcessFacts | None:
    """Read what the process of a run folder says; None when there never was one, or it cannot be read."""
    try:
        facts = msgspec.json.decode((folder / PROCESS).read_bytes(), type=ProcessFacts)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    # To the system a number below 1 is many processes; and times beyond all calendars cannot be shown.
    is_sound = facts.holder.process_id > 0 and 0 <= facts.holder.since_ms < _END_OF_TIMES_MS
    return facts if is_sound else None


def write_facts(folder: Path, facts: ProcessFacts) -> ProcessFacts:
    """Say that the process lives, and how far it is; whole or not at all."""
    holder = msgspec.structs.replace(facts.holder, heartbeat_ms=time.time_ns() // 1_000_000)
    facts = msgspec.structs.replace(facts, holder=holder, beats=facts.beats + 1)
    atomic_write(folder / PROCESS, msgspec.json.encode(facts))
    return facts


def request_stop(folder: Path) -> None:
    """Ask the process of a run folder to stop; on this computer it hears so at once, elsewhere when it looks.

    Raises:
        OSError: the folder cannot be written.
    """
    write_file(folder / STOP, b"")
    facts = read_facts(folder)
    if facts is not None and facts.lives and facts.holder.is_here:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(facts.holder.process_id, signal.SIGTERM)


def wait_until_over(folder: Path, seconds: float, watch: Watch = UNWATCHED) -> bool:
    """Wait until the process of a run folder has ended or died, for some seconds at most; whether it has."""
    end = time.monotonic() + seconds
    while (facts := read_facts(folder)) is not None and facts.lives:
        if time.monotonic() > end or watch.is_cancelled:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


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


def loads_folder(project_id: str) -> Path:
    """Return where the locks of the loads of a project lie."""
    return cache_folder() / "loads" / _name_of(project_id)


def kept_samples_folder(project_id: str) -> Path:
    """Return where the sample messages of a project are kept, beside its run folders."""
    return cache_folder() / "samples" / _name_of(project_id)


def known_project_path(project_id: str) -> Path:
    """Return the file that says where a project lies that was opened here."""
    return data_folder() / "projects" / _name_of(project_id)


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
