"""The process of a production run: who it is, whether it lives, and how far its life is.

Where the process is on this computer, the system is asked, by number and time of start: clocks that jump and numbers
that are used again mislead nobody. Elsewhere its heartbeat counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import time
from enum import StrEnum
from pathlib import Path

import msgspec

from metl_gui.own_files import write_file
from metl_gui.store.lease import Holder
from metl_gui.workbench.progress import UNWATCHED, Watch

PROCESS = "process.json"
STOP = "stop"
HEARTBEAT_SECONDS = 5.0
_LOOK_SECONDS = 0.05
_END_OF_TIMES_MS = 4_102_444_800_000
"""The year 2100."""


class Phase(StrEnum):
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
    holder: Holder
    phase: Phase = Phase.STARTING
    beats: int = 0

    @property
    def lives(self) -> bool:
        """Whether the process is there and has not ended."""
        return self.phase is not Phase.ENDED and not self.holder.is_gone

    @property
    def has_died(self) -> bool:
        """Whether it is gone without having ended."""
        return self.phase is not Phase.ENDED and self.holder.is_gone


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
    holder = dataclasses.replace(facts.holder, heartbeat_ms=time.time_ns() // 1_000_000)
    facts = msgspec.structs.replace(facts, holder=holder, beats=facts.beats + 1)
    partial = folder / f"{PROCESS}.partial"
    write_file(partial, msgspec.json.encode(facts))
    partial.replace(folder / PROCESS)
    return facts


def ask_to_stop(folder: Path) -> None:
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
