"""The status bar: project, cell under the pointer, what is selected, what waits, the state, the running job."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Progress
from metl_gui.ui.jobs.jobs import Job
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided, PlaceLabel
from metl_gui.ui.widgets.notice import NoticeStrip
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_tip

_ROOM_FOR_STATES_PX = 1_250
_ROOM_FOR_COUNTS_PX, _ROOM_FOR_BOTH_PX = 800, 1_250
_NOTICE_SHARE, _NOTICE_STRETCH = 0.5, 8
_TELLS_TIME_MS = 2_000
"""Before that nobody can say how long a job takes."""


class StatusBar(QStatusBar):
    """Shows facts; a press on a number goes to what it counts.

    Signals:
        elements_wanted: the list of the elements.
        review_wanted: what waits for a decision.
        selection_wanted: what is selected.
        history_wanted: the states.
        second_wanted: the next block that waits for a second person.
        production_wanted: the production run that goes on.
        watched_wanted: what came of the registries that are watched.
    """

    elements_wanted = Signal()
    review_wanted = Signal()
    selection_wanted = Signal()
    history_wanted = Signal()
    second_wanted = Signal()
    production_wanted = Signal()
    watched_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.project = Elided(is_snug=True)
        self.place = PlaceLabel()
        self.job_words = Elided(is_snug=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the running job")
        self.stop = KeyButton("Stop", kind="link")
        self.stop.setAccessibleName("Stop the running job")
        self.selected = _number("Fit what is selected")
        self.elements = _number("List the elements")
        self.blocks = _number("Go to what waits for a decision")
        self.second = _number("Go to the next block that waits for a second person")
        self.production = _number("Show the production run that goes on")
        self.watched = _number("Show what came of the registries that are watched")
        self.state, self.mode = _number("Show the history"), QLabel()
        self.addWidget(self.project)
        self.addWidget(self.place, 1)
        for widget in (
            self.job_words,
            self.bar,
            self.stop,
            self.watched,
            self.production,
            self.mode,
            self.selected,
            self.elements,
            self.blocks,
            self.second,
        ):
            self.addPermanentWidget(widget)
        self.addPermanentWidget(self.state)
        self.stop.set_height(20)
        self._job: Job | None = None
        self._blocks_words = ""
        self._has_document = self._has_notice = False
        self._notice: NoticeStrip | None = None
        self._state_words = self._live_words = self._production_words = self._watched_words = ""
        self._clock = QElapsedTimer()
        self.stop.clicked.connect(self._stop)
        self.second.clicked.connect(self.second_wanted)
        self.second.hide()
        self.watched.clicked.connect(self.watched_wanted)
        self.watched.hide()
        self.production.clicked.connect(self.production_wanted)
        self.production.hide()
        self.state.clicked.connect(self.history_wanted)
        self.selected.clicked.connect(self.selection_wanted)
        self.elements.clicked.connect(self.elements_wanted)
        self.blocks.clicked.connect(self.review_wanted)
        self.show_job(None)
        self.show_selected(Selected())
        self.dress()

    def hold(self, notice: NoticeStrip) -> None:
        """Give a notice room at the left as long as it is there: beside the place, or for want of room in its stead."""
        self.insertWidget(0, notice, _NOTICE_STRETCH)
        self._notice = notice
        notice.hide()
        notice.shown.connect(self._make_room)

    def _make_room(self, has_notice: bool) -> None:
        self._has_notice = has_notice
        self._fit_counts()

    def _fit_notice(self, has_room: bool) -> None:
        if self._notice is not None:
            most = round(self.width() * _NOTICE_SHARE)
            self._notice.setMaximumWidth(min(self._notice.whole_width, most) if has_room else themes.NO_LIMIT_PX)

    def dress(self) -> None:
        """Follow the scale."""
        self.bar.setFixedWidth(themes.px(80))
        self.job_words.setMaximumWidth(themes.px(230))
        self.project.setMaximumWidth(themes.px(200))
        self._fit_counts()

    def show_place(self, words: str) -> None:
        """Show the full paths of what is pointed at or selected."""
        self.place.say(words)

    def show_project(self, name: str, path: str) -> None:
        """Show which project is open."""
        self.project.setText(name)
        self._fit_counts()
        self.project.setAccessibleDescription(path)

    def show_selected(self, selected: Selected) -> None:
        """Show how many nodes are selected, when that is more than the place says."""
        counts = ((len(selected.sources), "field", "left"), (len(selected.targets), "field", "right"))
        words = [f"{count:,} {where}" for count, _, where in counts if count > 1]
        self.selected.setText(" · ".join(words) + " selected" if words else "")
        self.selected.setVisible(bool(words))

    def show_document(self, document: Document | None, waiting: int, is_read_only: bool) -> None:
        """Show counts and state."""
        self._has_document = document is not None
        if document is None:
            self.mode.clear()
            self._fit_counts()
            return
        blocks, ones = document.matrix.block_count, document.matrix.ones
        confirmed = document.matrix.confirmed
        self.elements.setText(number_of(ones, "element"))
        self._blocks_words = f"{confirmed:,} of {number_of(blocks, 'block')} confirmed"
        self._fit_counts()
        self.blocks.setToolTip(f"{waiting:,} decision{'s wait' if waiting != 1 else ' waits'}")
        self._state_words = f"State {document.state:,}"
        self._show_state()
        self.mode.setText("read only" if is_read_only else "")

    def show_live(self, state: int | None, tip: str) -> None:
        """Say which state is published last, ``None`` for none."""
        self._live_words = f"published {state:,}" if state is not None else ""
        self.state.setToolTip(tip)
        self._show_state()

    def show_second(self, count: int) -> None:
        """Show how many blocks wait for a second person, where the project asks for one."""
        self.second.setText(f"{count:,} wait{'s' if count == 1 else ''} for a second person")
        self.second.setVisible(count > 0)
        self.second.updateGeometry()

    def show_production(self, words: str, tip: str) -> None:
        """Say which production runs go on, empty for none."""
        self._production_words = words
        self.production.setToolTip(tip)
        self.production.setVisible(bool(words))
        self._fit_production()

    def show_watched(self, words: str, tip: str) -> None:
        """Say which registries are watched, empty for none."""
        self._watched_words = words
        self.watched.setToolTip(plain_tip(tip))
        self.watched.setVisible(bool(words))
        self._fit_production()

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: what is in the bar gives way."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the state of production out where there is no room; what is published stands at the end anyway."""
        super().resizeEvent(event)
        self._fit_production()
        self._fit_counts()

    def _fit_production(self) -> None:
        is_narrow = self.width() < themes.px(_ROOM_FOR_STATES_PX)
        watched = self._watched_words
        self.watched.setText(watched.partition(" ")[0] if is_narrow and not watched.startswith("@") else watched)
        self.watched.setAccessibleName(watched)
        self.watched.updateGeometry()
        words = self._production_words
        self.production.setText(words.partition(" · ")[0] if is_narrow else words)
        self.production.setAccessibleName(words)
        self.production.updateGeometry()

    def _fit_counts(self) -> None:
        """Leave the counts out that stand elsewhere too where the place would have no room beside them."""
        is_narrow = self.width() < themes.px(_ROOM_FOR_COUNTS_PX)
        has_counts = self._has_document and not (is_narrow and self._has_notice)
        self.elements.setVisible(has_counts and not is_narrow)
        self.blocks.setVisible(has_counts)
        self.state.setVisible(has_counts)
        has_room = self.width() >= themes.px(_ROOM_FOR_BOTH_PX)
        self.place.setVisible(has_room or not self._has_notice)
        self._fit_notice(has_room)
        self.project.setVisible(bool(self.project.text()) and not is_narrow and not self._has_notice)
        self.blocks.setText(self._blocks_words.removesuffix(" confirmed") if is_narrow else self._blocks_words)
        self.blocks.setAccessibleName(self._blocks_words)
        self.blocks.updateGeometry()
        self._show_state()

    def _show_state(self) -> None:
        live = self._live_words if self.width() >= themes.px(_ROOM_FOR_COUNTS_PX) else ""
        self.state.setText(" · ".join(words for words in (self._state_words, live) if words))
        self.state.updateGeometry()

    def show_job(self, job: Job | None) -> None:
        """Show the progress of a job, or none."""
        if self._job is not None and job is not self._job:
            self._job.progressed.disconnect(self._progress)
        if job is not None and job is not self._job:
            job.progressed.connect(self._progress)
            self._clock.start()
            self.job_words.setText(f"{job.title}…")
            self.bar.setRange(0, 0)
        self._job = job
        for widget in (self.job_words, self.bar, self.stop):
            widget.setVisible(job is not None)

    def _progress(self, progress: Progress) -> None:
        # The bar has no numbers beside it, so it needs no unit.
        words = progress.text.removesuffix("bytes").rstrip(":; ")
        if progress.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * progress.done / progress.total))
            words += time_left(self._clock.elapsed(), progress)
        else:
            self.bar.setRange(0, 0)
        self.job_words.setText(words)

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()


def time_left(elapsed_ms: int, progress: Progress) -> str:
    """Say how long the rest takes at the speed so far, nothing while nobody can say."""
    if elapsed_ms < _TELLS_TIME_MS or not progress.total or progress.done <= 0:
        return ""
    seconds = elapsed_ms / 1000 * (progress.total - progress.done) / progress.done
    if seconds < 1:
        return ""
    return f", {seconds:.0f} s left" if seconds < 90 else f", {seconds / 60:.0f} min left"


def _number(description: str) -> KeyButton:
    button = KeyButton("", kind="number")
    button.set_height(20)
    button.setAccessibleDescription(description)
    return button
