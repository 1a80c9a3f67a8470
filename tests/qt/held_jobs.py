"""Jobs that begin only when a test says so: for what happens between a question and its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metl_gui.ui.jobs.jobs import Job, Jobs, Task


class HeldJobs(Jobs):
    """Begins a task only when it is told to, on the thread that tells it."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Callable[[], None]] = []

    def _begin(self, job: Job, task: Task[Any]) -> None:
        self._running[job] = None
        self.held.append(lambda: job.work(task))

    def release(self) -> None:
        """Do all that waits; what that starts waits again."""
        held, self.held = self.held, []
        for begin in held:
            begin()
