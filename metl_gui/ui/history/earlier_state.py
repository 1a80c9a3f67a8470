"""Earlier states in the window: the controller that leads there and back, and the line across every page.

A state is rebuilt by a job, then the whole window shows it; one question at a time. While it is shown, the line says
which state it is, and the ways on from there.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.errors import MetlError
from metl_gui.ui.jobs.jobs import Job, JobOutcome, Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selected, Selection, still_there
from metl_gui.ui.project.text import ago
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.values import Value
from metl_gui.workbench.history.states import PastState, find_state
from metl_gui.workbench.session import Workbench


class _Rebuilt(Value, eq=False):
    document: Document
    told: PastState | None


class EarlierStateController(QObject):
    """Leads the window to a state and back.

    While one state is rebuilt, only the newest wish is kept: who drags through a thousand states sees those that can be
    rebuilt meanwhile, and at the end the one where the hand stopped.

    Signals:
        leaving: another state is about to be shown.
        shown: another state is shown, or the newest again.
        failed: a ``MetlError``: the state cannot be shown.

    Args:
        jobs: where a state is rebuilt.
    """

    leaving = Signal()
    shown = Signal()
    failed = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._selection, self._jobs = project, selection, jobs
        self._job: Job | None = None
        self._asked: object = None
        self._wanted: int | None = None
        self._is_showing = False
        self._chosen = self._left = Selected()
        self.told: PastState | None = None
        project.opened.connect(self._opened)
        project.looked.connect(self._looked)

    @property
    def state(self) -> int:
        """The number of the state that is shown, or will be as soon as it is rebuilt."""
        if self._wanted is not None:
            return self._wanted
        looks_back = self._project.looks_back
        return self.newest if looks_back is None else looks_back

    @property
    def newest(self) -> int:
        """The number of the newest state."""
        workbench = self._project.workbench
        return workbench.document.state if workbench is not None else 0

    def look_at(self, state: int) -> None:
        """Show a state as soon as it is rebuilt; the newest one is shown at once."""
        if self._project.workbench is None:
            return
        if state >= self.newest:
            self.come_back()
            return
        self._wanted = state
        if self._asked is None:
            self._rebuild(self._project.workbench, state)

    def come_back(self) -> None:
        """Show the newest state again, with what was selected there before."""
        self.forget()
        if self._project.looks_back is not None:
            self._show(None)

    def look_again(self) -> None:
        """Read again what is told of the state that is shown: it may have a name now."""
        workbench, state = self._project.workbench, self._project.looks_back
        if workbench is not None and state is not None:
            self.told = find_state(workbench, state)
            self.shown.emit()

    def forget(self) -> None:
        """Wish for nothing any more; what is shown stays."""
        job, self._job, self._asked, self._wanted = self._job, None, None, None
        if job is not None:
            job.cancel()

    def _rebuild(self, workbench: Workbench, state: int) -> None:
        mine = self._asked = object()

        def task(watch: Watch) -> _Rebuilt:
            watch.step(f"Going to state {state:,}")
            return _Rebuilt(workbench.at_state(state), find_state(workbench, state))

        def done(outcome: JobOutcome[_Rebuilt]) -> None:
            if mine is self._asked:
                self._rebuilt(workbench, state, outcome)

        job = self._jobs.start(f"Going to state {state:,}", task, done)
        if mine is self._asked:
            self._job = job

    def _rebuilt(self, workbench: Workbench, state: int, outcome: JobOutcome[_Rebuilt]) -> None:
        wanted, self._wanted = self._wanted, None
        self._asked = self._job = None
        if outcome.value is not None:
            self.told = outcome.value.told
            self._show(state, outcome.value.document)
        elif outcome.error is not None:
            self._refuse(outcome.error)
            return
        if wanted is not None and wanted != state:
            self._wanted = wanted
            self._rebuild(workbench, wanted)

    def _refuse(self, error: MetlError) -> None:
        self.failed.emit(error)
        self.shown.emit()  # whoever showed the wish shows again what is so

    def _show(self, state: int | None, document: Document | None = None) -> None:
        """Show a state with what is selected, as far as the state has it; what it lacks comes back with it."""
        if self._project.looks_back is None or self._selection.current != self._left:
            self._chosen = self._selection.current
        self.leaving.emit()
        self._is_showing = True
        try:
            self._project.look_at(state, document)
            self._selection.choose(still_there(self._project.value, self._chosen))
        finally:
            self._is_showing = False
        self._left = self._selection.current
        self._looked()

    def _looked(self) -> None:
        if self._is_showing:
            return  # told once, when what is selected has followed
        if self._project.looks_back is None:
            self.told = None
        self.shown.emit()

    def _opened(self, _workbench: object) -> None:
        self.forget()
        self.told = None
        self.shown.emit()


class PastBanner(QFrame):
    """Says that the window looks back, and leads away from there.

    Signals:
        back_wanted: the newest state is to be shown.
        comparison_wanted: what differs between the state and now.
        undo_wanted: the edit that made the state is to be taken back.
    """

    back_wanted = Signal()
    comparison_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, project: OpenProject, looking: EarlierStateController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project, self._looking = project, looking
        self.setProperty("surface", "past")
        self.setAccessibleName("An earlier state is shown")
        self.words = Elided(kind="heading")
        self.compare = KeyButton("Compare with now", kind="link")
        self.undo = KeyButton("Undo this…", kind="link")
        self.back = KeyButton("Back to now", "Alt+Home")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 14, 4)
        row.setSpacing(10)
        row.addWidget(self.words, 1)
        for button in (self.compare, self.undo, self.back):
            button.set_height(26)
            row.addWidget(button)
        self.back.clicked.connect(self.back_wanted)
        self.compare.clicked.connect(self.comparison_wanted)
        self.undo.clicked.connect(self.undo_wanted)
        looking.shown.connect(self.refresh)
        self.refresh()

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that the buttons have now, by the actions' ids."""
        self.back.key = keys.get("back_to_now", "")
        self.back.updateGeometry()

    def refresh(self) -> None:
        """Say what is shown, nothing while that is the newest state."""
        state, told = self._project.looks_back, self._looking.told
        self.setVisible(state is not None)
        if state is None:
            return
        parts = [f"You look at state {state:,} of {self._looking.newest:,}"]
        if told is not None:
            parts += [f"“{told.name}”"] if told.name else []
            parts += [told.done, f"{told.who}, {ago(told.when_ms)}"]
        workbench = self._project.workbench
        self.words.setText(" · ".join([*parts, "read only"]))
        self.undo.setVisible(workbench is not None and workbench.is_for_editing)
