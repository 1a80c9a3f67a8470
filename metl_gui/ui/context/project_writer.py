"""Jobs that write into the open project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from PySide6.QtCore import QObject

from metl_gui.ui.jobs.jobs import Job, JobOutcome, Jobs, Task
from metl_gui.ui.project.document import OpenProject

T = TypeVar("T")


class Notify(Protocol):
    """Says what came of something, without taking the focus."""

    def __call__(
        self, text: str, action_text: str = "", callback: Callable[[], object] | None = None, is_good: bool = True
    ) -> None:
        """Show a notice.

        Args:
            text: what happened, to what.
            action_text: words of a button.
            callback: what the button does.
            is_good: good news go by themselves; anything else stays until it is closed.
        """


class ProjectWriter(QObject):
    """Starts such jobs, and cancels them when another project is opened or this one closed."""

    def __init__(self, project: OpenProject, jobs: Jobs, notify: Notify, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._jobs, self._notify = project, jobs, notify
        self._writing: list[Job] = []
        project.opened.connect(self._stop)

    def start(self, title: str, task: Task[T], done: Callable[[JobOutcome[T]], None], cost: str = "") -> None:
        """Start a job that writes into the project; where that is closed meanwhile, the job is given up.

        Args:
            title, task, done, cost: as of ``Jobs.start``.
        """
        workbench = self._project.workbench
        if self._project.refuses_now():
            return

        def end(outcome: JobOutcome[T]) -> None:
            if self._project.workbench is workbench:
                done(outcome)
            elif workbench is not None and outcome.value is None:
                self._notify(f"{title} was given up: {workbench.path.name} was closed.", is_good=False)

        job = self._jobs.start(title, task, end, cost=cost)
        self._writing = [each for each in (*self._writing, job) if each in self._jobs.running]

    def _stop(self, _workbench: object) -> None:
        for job in self._writing:
            job.cancel()
        self._writing = []
