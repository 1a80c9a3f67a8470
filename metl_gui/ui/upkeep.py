"""What the window does by itself while a project is open: follow other programs' edits, merge the overlay when idle."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from metl_gui.core.matrix.document import Document
from metl_gui.errors import MetlError, UserError
from metl_gui.ui.document import Changed, OpenProject
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.session import Workbench

MANY_EDITED = 2_000
"""So many edited blocks make reading slower than the columns are; then they are merged."""

_LOOK_MS = 2_000
_IDLE_MS = 5_000


class Upkeep(QObject):
    """Looks every other second; starts a job only while no other one goes on.

    Signals:
        failed: a ``MetlError``, once for each project and kind of failure.
    """

    failed = Signal(object)

    def __init__(self, project: OpenProject, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._jobs = jobs
        self._told = ""
        self._since_change = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)

    def look(self) -> None:
        """Start what is due."""
        workbench = self._project.workbench
        if workbench is None or self._jobs.running:
            return
        try:
            has_moved_on = workbench.has_moved_on()
        except UserError as error:
            self._tell(error)
            return
        if has_moved_on:
            self._jobs.start("Reading what was changed elsewhere", lambda _watch: workbench.reload(), self._read)
        elif self._project.looks_back is not None:
            return  # what is merged is the newest state, which nobody reads just now
        elif self._project.value.matrix.edited_count > MANY_EDITED and self._since_change.elapsed() >= _IDLE_MS:
            self.merge(workbench)

    def merge(self, workbench: Workbench) -> None:
        """Merge what was edited into the columns; what is shown stays as it is."""

        def task(_watch: Watch) -> Document:
            merged = workbench.merge_overlay()
            merged.matrix.sort_rows()
            return merged

        self._jobs.start("Putting edits in order", task, self._merged)

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()

    def _opened(self, workbench: Workbench | None) -> None:
        self._told = ""
        self._since_change.start()
        if workbench is None:
            self._timer.stop()
        else:
            self._timer.start()

    def _changed(self, _changed: Changed) -> None:
        self._since_change.restart()

    def _read(self, outcome: Outcome[Document]) -> None:
        if outcome.error is not None:
            self._tell(outcome.error)
        self._project.catch_up()

    def _merged(self, outcome: Outcome[Document]) -> None:
        if outcome.error is not None:
            self._tell(outcome.error)
        self._project.take_merged()

    def _tell(self, error: MetlError) -> None:
        if str(error) != self._told:
            self._told = str(error)
            self.failed.emit(error)
