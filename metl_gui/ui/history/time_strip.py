"""The strip under the matrix with the slider over the states.

It is read when it is first seen and grows with the states. On the slider stand all states, oldest at the left, with
marks where a state has a name, was published or was run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import groupby

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractSlider, QFrame, QHBoxLayout, QSizePolicy, QToolTip, QWidget

from metl_gui.ui.history.earlier_state import EarlierStateController
from metl_gui.ui.history.production_state import ProductionState
from metl_gui.ui.history.state_list import tip_of
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.text import ago
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.workbench.history.states import PastState, Timeline, Weight, timeline

_HEIGHT_PX = 28
_EDGE_PX = 10.0
_NEAR_PX = 5.0
_KEYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class TimeSlider(QAbstractSlider):
    """Its value is the place of a state among all states.

    A dot is a name, a flag what was published (filled where it is live), a line below a run. Left and Right step from
    state to state, Ctrl+Left and Ctrl+Right from mark to mark, Home and End go to the ends.

    Signals:
        wanted: the number of the state that a hand or a key went to.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Time slider over the states")
        self.line = Timeline()
        self.live: int | None = None
        self.valueChanged.connect(self._moved)

    def sizeHint(self) -> QSize:
        """As wide as there is room for."""
        return QSize(320, themes.px(_HEIGHT_PX))

    def show_timeline(self, line: Timeline, state: int, live: int | None) -> None:
        """Show other states; telling nobody.

        Args:
            line: all states.
            state: the number of the one that is shown.
            live: the number of the one that production uses.
        """
        self.line, self.live = line, live
        with QSignalBlocker(self):
            self.setRange(0, max(len(line.states) - 1, 0))
            self.setPageStep(max(len(line.states) // 10, 1))
        self.show_state(state)

    def show_state(self, state: int) -> None:
        """Stand at a state, or at the one before it where it was not kept; telling nobody."""
        with QSignalBlocker(self):
            self.setValue(max(bisect_right(self.line.states, state) - 1, 0))
        self.setAccessibleDescription(f"State {state:,}, {len(self.line.states):,} in all")
        self.update()

    def step_mark(self, direction: int) -> None:
        """Go to the next state with a mark (1), or to the one before (-1); from the last one to the end."""
        here = self.state_at(self.value())
        numbers = [past.state for past in self.line.weighty]
        at = bisect_right(numbers, here) if direction > 0 else bisect_left(numbers, here) - 1
        if 0 <= at < len(numbers):
            self.setValue(bisect_left(self.line.states, numbers[at]))
        else:
            self.setValue(self.maximum() if direction > 0 else self.minimum())

    def state_at(self, value: int) -> int:
        """Return the number of the state at a place."""
        return self.line.states[value] if 0 <= value < len(self.line.states) else 0

    def x_of(self, value: int) -> float:
        """Return where the state at a place stands, in pixels from the left."""
        span = self.width() - 2 * _EDGE_PX
        return _EDGE_PX + span * value / max(self.maximum(), 1)

    # events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step from mark to mark with Ctrl; the other keys are those of every slider."""
        step = _KEYS.get(Qt.Key(event.key()))
        if step is not None and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.step_mark(step)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go where it was pressed; a mark near by draws the hand to it."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            near = self._mark_near(event.position().x())
            self.setValue(self._value_at(event.position().x()) if near is None else self._place(near))
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the hand."""
        if self.isSliderDown():
            self.setValue(self._value_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self.setSliderDown(False)

    def event(self, event: QEvent) -> bool:
        """Say what stands under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.line.states:
            near = self._mark_near(event.pos().x())
            words = f"State {self.state_at(self._value_at(event.pos().x())):,}"
            QToolTip.showText(event.globalPos(), plain_tip(tip_of(near, self.live)) if near else words, self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line, the marks and the thumb."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, middle, here = themes.current(), self.height() / 2, self.x_of(self.value())
        painter.setPen(QPen(theme.line, 2))
        painter.drawLine(QPointF(_EDGE_PX, middle), QPointF(self.width() - _EDGE_PX, middle))
        painter.setPen(QPen(theme.accent, 2))
        painter.drawLine(QPointF(_EDGE_PX, middle), QPointF(here, middle))
        self._paint_marks(painter, middle)
        thumb = QRectF(here - 4, middle - 8, 8, 16)
        painter.setPen(QPen(theme.panel, 1.5))
        painter.setBrush(theme.accent)
        painter.drawRoundedRect(thumb, 3, 3)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()

    def _paint_marks(self, painter: QPainter, middle: float) -> None:
        """Paint one mark of each kind for each pixel that has any."""
        theme = themes.current()
        placed = ((round(self.x_of(self._place(past))), past) for past in self.line.weighty)
        for x, pasts in groupby(placed, key=lambda pair: pair[0]):
            here = [past for _, past in pasts]
            held = frozenset().union(*(past.weights for past in here))
            if Weight.PUBLISHED in held:
                is_live = any(past.state == self.live for past in here)
                colour = theme.good if is_live else theme.dim
                painter.setPen(QPen(colour, 1.4))
                painter.setBrush(colour if is_live else theme.panel)
                painter.drawLine(QPointF(x, middle - 11), QPointF(x, middle - 2))
                painter.drawPolygon([QPointF(x, middle - 11), QPointF(x + 6, middle - 8.5), QPointF(x, middle - 6)])
            elif Weight.NAMED in held:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.text)
                painter.drawEllipse(QPointF(x, middle - 7), 2.6, 2.6)
            if held & {Weight.RUN, Weight.EXPORTED}:
                painter.setPen(QPen(theme.dim, 1.4))
                painter.drawLine(QPointF(x, middle + 3), QPointF(x, middle + 9))

    # where a state stands

    def _moved(self, value: int) -> None:
        if self.line.states:
            self.wanted.emit(self.state_at(value))

    def _value_at(self, x: float) -> int:
        span = max(self.width() - 2 * _EDGE_PX, 1.0)
        return min(max(round((x - _EDGE_PX) / span * self.maximum()), 0), self.maximum())

    def _place(self, past: PastState) -> int:
        return bisect_left(self.line.states, past.state)

    def _mark_near(self, x: float) -> PastState | None:
        near = min(self.line.weighty, key=lambda past: abs(self.x_of(self._place(past)) - x), default=None)
        return near if near is not None and abs(self.x_of(self._place(near)) - x) <= _NEAR_PX else None


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
        self,
        project: OpenProject,
        looking: EarlierStateController,
        live: ProductionState,
        jobs: Jobs,
        parent: QWidget | None = None,
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

        def done(outcome: JobOutcome[Timeline]) -> None:
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
            words += f" · {told.name or told.done} · {told.who}, {ago(told.when_ms)}" if told is not None else ""
        self.words.setText(words if self._project.workbench is not None else "")

    def _step_back(self) -> None:
        self.step(-1)

    def _step_on(self) -> None:
        self.step(1)

    def take_focus(self) -> None:
        """Put the keyboard on the slider."""
        self.slider.setFocus(Qt.FocusReason.ShortcutFocusReason)
