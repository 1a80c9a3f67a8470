"""The cells whose sampled values typed columns refuse, followed while a project is open; looked for by a job."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.workbench.samples.refused_values import NOTHING_REFUSED, RefusedCells, RefusedValueIndex

_DELAY_MS = 400


class RefusedCellFinder(QObject):
    """Looks again some time after an edit, and when samples come or go.

    Signals:
        changed: ``found`` is another.

    Args:
        jobs: where samples are looked at.
    """

    changed = Signal()

    def __init__(self, project: OpenProject, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._jobs = project, jobs
        self._looking = NewestJob(jobs, self)
        self._index: RefusedValueIndex | None = None
        self.found: RefusedCells = NOTHING_REFUSED
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self.look)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        project.samples_changed.connect(self._samples_changed)

    def words(self, key: BlockKey, element: Element) -> str:
        """Say what typed columns refuse of the sampled values of a cell; nothing where they take all of them."""
        found = self.found.get((key, element))
        return str(found) if found is not None else ""

    def look(self) -> None:
        """Look at the samples now."""
        self._timer.stop()
        index, document, newest = self._index, self._project.value, self._project.newest
        aside = self._jobs.worker.call

        def done(outcome: JobOutcome[RefusedCells]) -> None:
            if index is self._index and outcome.value is not None:
                self._take(outcome.value)

        if index is not None:
            title = "Looking at samples"
            self._looking.start(title, lambda watch: index.cells(document, newest, watch, aside), done, is_quiet=True)

    def _take(self, found: RefusedCells) -> None:
        if found != self.found:
            self.found = found
            self.changed.emit()

    def _opened(self, _workbench: object) -> None:
        self._timer.stop()
        self._looking.cancel()
        samples = self._project.samples
        self._index = RefusedValueIndex(samples) if samples is not None else None
        self._take(NOTHING_REFUSED)
        if samples is not None:
            self._timer.start()

    def _changed(self, _changed: DocumentChange) -> None:
        if self._index is not None and (self.found or self._has_samples()):
            self._timer.start()

    def _samples_changed(self) -> None:
        if self._index is not None:
            self._index.forget()
            self._timer.start()

    def _has_samples(self) -> bool:
        samples = self._project.samples
        return samples is not None and bool(samples.schemas)
