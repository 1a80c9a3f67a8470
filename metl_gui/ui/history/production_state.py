"""What production uses, as the window shows it everywhere: in the head bar, the status bar, the history."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.project.named_states import NamedState
from metl_gui.errors import UserError
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.text import ago, on
from metl_gui.workbench.publishing.publication import live_state


class ProductionState(QObject):
    """Knows the published state of the open project; looks again when it may be another one.

    Signals:
        changed: another state is live.
        counted: another state is live, or there are more changes since.

    Args:
        window: whenever it comes to the front, another program may have published.

    What was done since the live state is in ``changes_since``; what was done and undone since is none of it.
    """

    changed = Signal()
    counted = Signal()

    def __init__(self, project: OpenProject, window: QWidget) -> None:
        super().__init__(window)
        self._project = project
        self.state: NamedState | None = None
        self.changes_since = 0
        self._told: tuple[NamedState | None, int] = (None, 0)
        project.opened.connect(self.look)
        project.changed.connect(self._count)
        project.looked.connect(self._count)
        window.installEventFilter(self)

    @property
    def number(self) -> int | None:
        """The number of the live state, ``None`` while nothing is published."""
        return self.state.state if self.state is not None else None

    @property
    def words(self) -> str:
        """``live: state 17 · Q3 go-live, 4 changes since``; empty while nothing is published."""
        if self.state is None:
            return ""
        since = self.changes_since
        name = f" · {self.state.name}" if self.state.name else ""
        return f"live: state {self.state.state:,}{name}" + (f", {number_of(since, 'change')} since" if since else "")

    @property
    def short_words(self) -> str:
        """The same where there is little room."""
        if self.state is None:
            return ""
        since = f", {self.changes_since:,} since" if self.changes_since else ""
        return f"live: state {self.state.state:,}{since}"

    @property
    def tip(self) -> str:
        """Who published it, and when."""
        state = self.state
        if state is None or state.published_ms is None:
            return ""
        who = f" by {state.published_who}" if state.published_who else ""
        when = f"{on(state.published_ms)} ({ago(state.published_ms)})"
        return f"Production runs and exports use state {state.state:,}.\nPublished{who}, {when}."

    def look(self, _what: object = None) -> None:
        """Read which state is live."""
        workbench = self._project.workbench
        try:
            self.state = live_state(workbench) if workbench is not None else None
        except UserError:
            self.state = None  # the file is not where it was opened; whoever edits is told
        self._count()

    def _since(self) -> int:
        workbench = self._project.workbench
        if workbench is None or self.state is None:
            return 0
        try:
            return workbench.gestures_since(self.state.state)
        except UserError:
            return self.changes_since  # the file is not where it was opened

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look again when the window comes to the front."""
        if event.type() is QEvent.Type.WindowActivate:
            self.look()
        return super().eventFilter(watched, event)

    def _count(self, _changed: object = None) -> None:
        self.changes_since = self._since()
        now, told = (self.state, self.changes_since), self._told
        self._told = now
        if now[0] != told[0]:
            self.changed.emit()
        if now != told:
            self.counted.emit()
