"""What every run that is going on has, however it is done: the session, what was asked, and who hears of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from metl_gui.core.runs.events import EngineEvent
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.run_folder import RunFolder
from metl_gui.engine.sessions.runtime import Runtime
from metl_gui.errors import RunCancelled
from metl_gui.values import Value


class RunContext(Value):
    """One run on its session.

    Args:
        runtime: the session it runs on.
        spec: what to do.
        emit: takes the events of the run, from more than one thread.
        is_cancelled: set by whoever wants it to end.

    Units:
        started: seconds of a clock that only grows.
    """

    runtime: Runtime
    spec: RunSpec
    emit: Callable[[EngineEvent], None]
    is_cancelled: threading.Event = msgspec.field(default_factory=threading.Event)
    started: float = msgspec.field(default_factory=time.monotonic)

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.spec.run_id

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self.started

    @property
    def folder(self) -> RunFolder:
        """The folder that it leaves behind."""
        return RunFolder(Path(self.spec.policy.folder))

    def check_cancelled(self) -> None:
        """Go no further when somebody wants the run to end.

        Raises:
            RunCancelled: somebody does.
        """
        if self.is_cancelled.is_set():
            raise RunCancelled("the run was cancelled")
