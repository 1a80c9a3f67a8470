"""The project that a window has in front: opened, shown, closed, found again next time, maintained meanwhile.

- ``ProjectOpener`` opens it beside the window: the file is read and laid out in a job, then shown in one go.
- ``Projects`` shows and closes it, remembers it for the next window, and keeps it as ours while it is edited.
- ``Maintenance`` is what the window does by itself meanwhile: follow other programs' edits, merge the overlay when
  idle.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.masks import schemas_with_masks
from metl_gui.errors import MetlError, ProjectLockedError, UserError
from metl_gui.ui.jobs.jobs import Job, JobOutcome, Jobs
from metl_gui.ui.matrix.layout.content import PlaneContent, content_of
from metl_gui.ui.project.document import DocumentChange, OpenProject, ReviewIndex
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.shell.view_state import look_again, visit_of
from metl_gui.values import Value
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


class PreparedProject(Value, eq=False):
    """A project that is open, with what would take too long to work out in the window.

    Args:
        workbench: the project.
        content: its matrix, laid out.
        review: what waits for a decision.
    """

    workbench: Workbench
    content: PlaneContent
    review: ReviewIndex


class ProjectOpener(QObject):
    """Opens one project at a time; beginning another one gives up the one before.

    Signals:
        began: the name of the project that is being opened.
        progressed: a ``Progress``.
        ended: a ``JobOutcome`` with a ``PreparedProject``; one that was given up is told too, as cancelled.
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

    def start(
        self, path: Path, make: Callable[[Watch], Workbench], done: Callable[[JobOutcome[PreparedProject]], None]
    ) -> None:
        """Open a project in a job.

        Args:
            path: what is opened, for its name.
            make: opens or makes it, on another thread.
            done: called on the window's thread when it has ended.
        """
        self.cancel()
        mine: list[Job] = []

        def task(watch: Watch) -> PreparedProject:
            workbench = make(watch)
            self._unshown.append(workbench)
            return self._prepare(workbench, watch)

        def end(outcome: JobOutcome[PreparedProject]) -> None:
            if outcome.value is not None:
                self._unshown.remove(outcome.value.workbench)
            if not mine or self._job is mine[0]:
                self._job = None
            elif outcome.value is not None:  # given up after its last step: nobody wants it any more
                outcome.value.workbench.close()
                outcome = JobOutcome(is_cancelled=True)
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

    def _prepare(self, workbench: Workbench, watch: Watch) -> PreparedProject:
        try:
            document = workbench.document
            content = content_of(document, watch)
            watch.step("Looking for what waits")
            review = ReviewIndex.of(document)
            document.matrix.sort_rows()
            schemas_with_masks(document.extraction)  # kept for as long as the project is open
            return PreparedProject(workbench, content, review)
        except BaseException:
            self._unshown.remove(workbench)
            workbench.close()
            raise


_BEAT_MS = 30_000


class Projects(QObject):
    """The project in front of one window.

    Signals:
        shown: a project was opened and is shown as it was looked at last.
    """

    shown = Signal()

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._beat = QTimer(self)
        self._beat.setInterval(_BEAT_MS)
        self._beat.timeout.connect(self._tell_alive)
        window.project.opened.connect(self._opened)

    def show(self, workbench: Workbench, prepared: PreparedProject | None = None) -> None:
        """Show a project that was opened, as it was looked at last.

        Args:
            workbench: the project.
            prepared: what a job has worked out for it; without it that happens here.
        """
        window = self._window
        with window.actions_table.refreshed_once():
            self.close()
            if window.settings.who:
                workbench.who = window.settings.who
            if prepared is not None:
                window.map.take_prepared(prepared.content)
            window.project.open(workbench, prepared.review if prepared is not None else None)
            window.settings.remember_project(workbench.path)
            look_again(window, window.settings.visit(workbench.project_id))
            window.settings.last_open = workbench.path
        self.shown.emit()

    def close(self) -> None:
        """Close the project; how it was looked at is kept."""
        window = self._window
        if window.project.workbench is not None:
            self.keep_visit()
            with window.actions_table.refreshed_once():
                window.selection.choose(Selected())
                window.project.close()
        window.notice.clear()  # what its buttons do is about the project that was closed
        window.settings.last_open = None

    def open_last(self) -> None:
        """Open the project that was open when the window was closed; one that ends the program is tried once only."""
        window = self._window
        path = window.settings.last_open
        if path is None:
            return
        window.settings.last_open = None  # comes back when it is shown
        if path.is_file():
            window.commands.open(path)
        else:
            window.notify(f"{path.name} is not there any more: {path.parent}", is_good=False)

    def open_path(self, path: Path, source: str = "", shows_live: bool = False) -> None:
        """Open the project named on the command line.

        Args:
            path: the project.
            source: start a test run of it, when one is named.
            shows_live: show the production run that goes on.
        """
        window = self._window

        def run() -> None:
            self.shown.disconnect(run)
            workbench = window.project.workbench
            if workbench is not None and workbench.path.resolve() == path.resolve():  # not another one in its place
                if source:
                    window.run_page.setup.source.setText(source)
                    window.actions_table["run"].trigger()
                if shows_live:
                    window.actions_table["live_run"].trigger()

        if source or shows_live:
            self.shown.connect(run)
        window.commands.open(path)

    def keep_visit(self) -> None:
        """Keep how the project is looked at now, for its next opening."""
        workbench = self._window.project.workbench
        if workbench is None:
            return
        try:
            project_id = workbench.project_id
        except UserError:
            return  # the file is not where it was opened
        self._window.settings.save_visit(project_id, visit_of(self._window))

    def stop(self) -> None:
        """Tell no more that somebody is here."""
        self._beat.stop()

    def _opened(self, workbench: Workbench | None) -> None:
        if workbench is not None and workbench.is_for_editing:
            self._beat.start()
        else:
            self._beat.stop()

    def _tell_alive(self) -> None:
        workbench = self._window.project.workbench
        if workbench is None:
            return
        self.keep_visit()  # a killed window comes back too
        try:
            workbench.beat()
        except ProjectLockedError as error:
            self._beat.stop()
            self._window.takeover.tell(error)
        except UserError as error:
            self._window.notify(str(error), is_good=False)


MANY_EDITED = 2_000
"""So many edited blocks make reading slower than the columns are; then they are merged."""

_LOOK_MS = 2_000
_IDLE_MS = 5_000


class Maintenance(QObject):
    """Looks every other second; starts a job only while no other one goes on.

    Signals:
        failed: a ``MetlError``, once for each project and kind of failure.
        taken_over: the ``ProjectLockedError`` that says by whom, as often as that is looked at.
    """

    failed = Signal(object)
    taken_over = Signal(object)

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
            self._look_at_lease(workbench)
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

    def _look_at_lease(self, workbench: Workbench) -> None:
        try:
            workbench.require_lease()
        except ProjectLockedError as error:
            self.taken_over.emit(error)

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

    def _changed(self, _changed: DocumentChange) -> None:
        self._since_change.restart()

    def _read(self, outcome: JobOutcome[Document]) -> None:
        if outcome.error is not None:
            self._tell(outcome.error)
        self._project.catch_up()

    def _merged(self, outcome: JobOutcome[Document]) -> None:
        if outcome.error is not None:
            self._tell(outcome.error)
        self._project.take_merged()

    def _tell(self, error: MetlError) -> None:
        if str(error) != self._told:
            self._told = str(error)
            self.failed.emit(error)
