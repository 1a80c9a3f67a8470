"""One question at a time: asking again stops the job before, whose answer nobody hears any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from metl_gui.ui.jobs import Job, Jobs, Outcome, Task

T = TypeVar("T")


class NewestJob:
    """The job of what was asked last.

    Args:
        jobs: where it is done.
        asker: who hears the answer; when it is destroyed, nothing is asked any more.
    """

    def __init__(self, jobs: Jobs, asker: QObject) -> None:
        self._jobs = jobs
        self._job: Job | None = None
        self._asked: object = None
        asker.destroyed.connect(self.cancel)

    def start(self, title: str, task: Task[T], done: Callable[[Outcome[T]], None], *, is_quiet: bool = False) -> Job:
        """Ask; see ``Jobs.start``. An outcome that is not of the newest question is dropped."""
        self.cancel()
        mine = self._asked = object()

        def ended(outcome: Outcome[T]) -> None:
            if mine is self._asked:
                self._asked = self._job = None
                done(outcome)

        job = self._jobs.start(title, task, ended, is_quiet=is_quiet)
        if mine is self._asked:
            self._job = job
        return job

    def cancel(self) -> None:
        """Ask nothing any more."""
        job, self._asked, self._job = self._job, None, None
        if job is not None:
            job.cancel()
