"""One run as the history of a project knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from metl_gui.engine.report import RunReport


class RunStatus(StrEnum):
    """What became of a run.

    One that stopped or died ran in batches and can go on; of one that was cancelled or killed there are only counts.
    """

    FINISHED = "finished"
    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    DIED = "died"
    CANCELLED = "cancelled"
    KILLED = "killed"


_OUTCOMES = {RunStatus.STOPPED: RunStatus.CANCELLED, RunStatus.DIED: RunStatus.KILLED}


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of a project.

    Args:
        run_id: its id.
        status: what became of it.
        when_ms: when its report was written, or when it began (milliseconds since 1970).
        report: its counts; of one that is going on, what its batches put in place so far; of one that was cancelled or
            killed, what had been counted until then.
        spec: what was asked, where that is known.
        folder: its run folder; it may be gone by now.
    """

    run_id: str
    status: RunStatus
    when_ms: int
    report: RunReport
    spec: Mapping[str, Any]
    folder: Path

    @property
    def mode(self) -> str:
        """``test`` or ``production``."""
        return self.report.mode

    @property
    def state(self) -> int:
        """The state it mapped with, the last one where there were more."""
        return self.report.state

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person should know of it; why it ended before its time comes first."""
        return (*filter(None, (self.report.failure,)), *self.report.problems)

    @property
    def outcome(self) -> RunStatus:
        """How it ended, whether or not it can go on: ``stopped`` is ``cancelled`` too, and ``died`` is ``killed``."""
        return _OUTCOMES.get(self.status, self.status)

    @property
    def can_go_on(self) -> bool:
        """Whether it can be resumed: it ran in batches, and did not reach its end."""
        return bool(self.report.checkpoint) and self.status in {RunStatus.STOPPED, RunStatus.FAILED, RunStatus.DIED}

    def as_json(self) -> dict[str, Any]:
        """Return one row of ``metl runs --json``."""
        return {
            "run_id": self.run_id,
            "status": self.status.value,
            "outcome": self.outcome.value,
            "when_ms": self.when_ms,
            "can_go_on": self.can_go_on,
            "folder": str(self.folder),
            "report": self.report.as_json(),
            "spec": dict(self.spec),
        }
