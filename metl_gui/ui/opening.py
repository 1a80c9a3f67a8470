"""Opening a project beside the window: the file is read and laid out in a job, then shown in one go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from metl_gui.core.project.masks import schemas_with_masks
from metl_gui.core.review_index import ReviewIndex
from metl_gui.ui.jobs import Job, Jobs, Outcome
from metl_gui.ui.matrix.content import Content, content_of
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, eq=False)
class Prepared:
    """A project that is open, with what would take too long to work out in the window.

    Args:
        workbench: the project.
        content: its matrix, laid out.
        review: what waits for a decision.
    """

    workbench: Workbench
    content: Content
    review: ReviewIndex


class Opening(QObject):
    """Opens one project at a time; beginning another one gives up the one before.

    Signals:
        began: the name of the project that is being opened.
        progressed: a ``Progress``.
        ended: an ``Outcome`` with a ``Prepared``; one that was given up is told too, as cancelled.
    """

    began = Signal(object)
    progressed = Signal(object)
    ended = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._unshown: list[Workbench] = []

    @property
    def job(self) -> Job | None:
        """The job that goes on."""
        return self._job

    def start(self, path: Path, make: Callable[[Watch], Workbench], done: Callable[[Outcome[Prepared]], None]) -> None:
        """Open a project in a job.

        Args:
            path: what is opened, for its name.
            make: opens or makes it, on another thread.
            done: called on the window's thread when it has ended.
        """
        self.cancel()
        mine: list[Job] = []

        def task(watch: Watch) -> Prepared:
            workbench = make(watch)
            self._unshown.append(workbench)
            return self._prepare(workbench, watch)

        def end(outcome: Outcome[Prepared]) -> None:
            if outcome.value is not None:
                self._unshown.remove(outcome.value.workbench)
            if not mine or self._job is mine[0]:
                self._job = None
            elif outcome.value is not None:  # given up after its last step: nobody wants it any more
                outcome.value.workbench.close()
                outcome = Outcome(is_cancelled=True)
            self.ended.emit(outcome)
            done(outcome)

        self.began.emit(path.stem)
        job = self._jobs.start(f"Opening {path.name}", task, end)
        if job in self._jobs.running:
            mine.append(job)
            self._job = job
            job.progressed.connect(self.progressed)

    def cancel(self) -> None:
        """Give up what is being opened."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()

    def close_unshown(self) -> None:
        """Close what was opened but never shown, when the window closes meanwhile; its threads have ended."""
        for workbench in self._unshown:
            workbench.close()
        self._unshown.clear()

    def _prepare(self, workbench: Workbench, watch: Watch) -> Prepared:
        try:
            document = workbench.document
            content = content_of(document, watch)
            watch.step("Looking for what waits")
            review = ReviewIndex.of(document)
            document.matrix.sort_rows()
            schemas_with_masks(document.extraction)  # kept for as long as the project is open
            return Prepared(workbench, content, review)
        except BaseException:
            self._unshown.remove(workbench)
            workbench.close()
            raise
