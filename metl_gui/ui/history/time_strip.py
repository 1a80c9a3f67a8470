"""The strip under the matrix with the slider over the states; it is read when it is first seen and grows with them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.document import OpenProject
from metl_gui.ui.elided import Elided
from metl_gui.ui.history.live import Live
from metl_gui.ui.history.looking import Looking
from metl_gui.ui.history.time_slider import TimeSlider
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.moments import ago
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.pause import pause
from metl_gui.ui.pill import KeyButton
from metl_gui.workbench.timeline import Timeline, timeline

_DELAY_MS = 300
_WORDS_PX, _WORDS_SHARE = 300, 0.28
_OLDER, _NEWER = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"


class TimeStrip(QFrame):
    """Follows the project while it is seen.

    Args:
        looking: leads to a state.
        live: what production uses.
        jobs: where the states are read.
    """

    def __init__(
        self, project: OpenProject, looking: Looking, live: Live, jobs: Jobs, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._looking, self._live = project, looking, live
        self._reading = NewestJob(jobs, self)
        self._is_read = self._is_known = False
        self._steps = 0
        self.setProperty("surface", "strip")
        self.setAccessibleName("Time slider")
        self.older, self.newer = KeyButton(_OLDER, kind="quiet"), KeyButton(_NEWER, kind="quiet")
        self.slider = TimeSlider()
        self.words = Elided(kind="small")
        self._timer = pause(self, _DELAY_MS, self.read)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 1, 12, 1)
        row.setSpacing(6)
        for button, words in ((self.older, "One state back"), (self.newer, "One state on")):
            button.setAccessibleName(words)
            button.setToolTip(words)
            button.set_height(24)
        row.addWidget(self.older)
        row.addWidget(self.slider, 1)
        row.addWidget(self.newer)
        row.addWidget(self.words)
        self.words.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.older.clicked.connect(self._step_back)
        self.newer.clicked.connect(self._step_on)
        self.slider.wanted.connect(looking.look_at)
        looking.shown.connect(self._show)
        live.changed.connect(self._live_moved)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        self.hide()
        self.dress()

    def step(self, by: int) -> None:
        """Go some states on, or back, as soon as the states are read."""
        self._steps += by
        if self._is_read:
            self._go()
        else:
            self.read()

    def read(self) -> None:
        """Read all states now."""
        self._timer.stop()
        workbench = self._project.workbench
        if workbench is None:
            self._reading.cancel()
            self._take(Timeline())
            return

        def done(outcome: Outcome[Timeline]) -> None:
            if outcome.value is not None:
                self._take(outcome.value)
                self._is_known, self._is_read = True, self._newest_known == self._looking.newest
            self._go()

        known = self.slider.line if self._is_known else None
        self._reading.start("Reading the history", lambda watch: timeline(workbench, known, watch), done)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the slider most of the room."""
        super().resizeEvent(event)
        self.dress()

    def dress(self) -> None:
        """Follow the scale."""
        self.words.setFixedWidth(min(themes.px(_WORDS_PX), round(self.width() * _WORDS_SHARE)))

    def showEvent(self, event: QShowEvent) -> None:
        """Read what came while nobody looked."""
        super().showEvent(event)
        if not self._is_read:
            self.read()
        self._show()

    def _go(self) -> None:
        steps, self._steps = self._steps, 0
        self.slider.setValue(self.slider.value() + steps)

    def _opened(self, _workbench: object) -> None:
        self._steps = 0
        self._take(Timeline())
        self.read_soon()

    def _changed(self, _changed: object) -> None:
        if self._project.looks_back is None and self._newest_known != self._looking.newest:
            self._is_read = False
            if self.isVisible():
                self._timer.start()

    def _live_moved(self) -> None:
        if self._live.number != self.slider.live:
            self.read_soon()

    @property
    def _newest_known(self) -> int:
        states = self.slider.line.states
        return states[-1] if states else 0

    def read_soon(self) -> None:
        """Read the states again when nothing has changed for a moment; at once when they are next seen."""
        self._is_read = self._is_known = False
        if self.isVisible():
            self._timer.start()

    def _take(self, line: Timeline) -> None:
        self.slider.show_timeline(line, self._looking.state, self._live.number)
        self._show()

    def _show(self) -> None:
        self.slider.show_state(self._looking.state)
        has_any = bool(self.slider.line.states)
        self.older.setEnabled(has_any and self.slider.value() > self.slider.minimum())
        self.newer.setEnabled(has_any and self.slider.value() < self.slider.maximum())
        told, looks_back = self._looking.told, self._project.looks_back
        words = f"Now: state {self._looking.newest:,}"
        if looks_back is not None:
            words = f"State {looks_back:,}"
            words += f" · {told.name or told.title} · {told.who}, {ago(told.when_ms)}" if told is not None else ""
        self.words.setText(words if self._project.workbench is not None else "")

    def _step_back(self) -> None:
        self.step(-1)

    def _step_on(self) -> None:
        self.step(1)

    def take_focus(self) -> None:
        """Put the keyboard on the slider."""
        self.slider.setFocus(Qt.FocusReason.ShortcutFocusReason)
