"""One fast lane from its start to its report, inside the host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from metl_gui.engine.events import EngineEvent
from metl_gui.engine.report import RunReport
from metl_gui.engine.runs import RunSpec
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from metl_gui.engine.runtimes import Runtime


class LaneRun:
    """One fast lane.

    Args:
        runtime: the session it runs on.
        spec: what to do.
        emit: takes the events of the run, from more than one thread.
        is_cancelled: set by whoever wants it to end.
    """

    def __init__(
        self, runtime: Runtime, spec: RunSpec, emit: Callable[[EngineEvent], None], is_cancelled: threading.Event
    ) -> None:
        self.runtime = runtime
        self.spec = spec
        self.emit = emit
        self.is_cancelled = is_cancelled
        self.started = time.monotonic()

    def run(self) -> RunReport:
        """Run until somebody stops it, and return the report.

        Raises:
            RunError: the run cannot start or cannot go on.
        """
        raise RunError("Fast lanes do not start yet.", hint="Leave --lane fast out.")
