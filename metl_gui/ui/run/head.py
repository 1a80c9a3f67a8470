"""Which run is shown and how it is: a line above the figures, with the way to the other views of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from metl_gui.core.runs.report import RunReport
from metl_gui.errors import MetlError
from metl_gui.ui.run.progress import (
    FollowedRun,
    count_words,
    counted_words,
    in_place_words,
    moment_words,
    source_words,
    title_words,
)
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton, Pill
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.runs.history import PastRun, RunStatus

VIEWS = ("Run", "Lane", "Details", "Speed", "Compare")
LANE = VIEWS.index("Lane")
_PILLS = {RunStatus.FAILED: "bad", RunStatus.DIED: "bad", RunStatus.KILLED: "bad"}
_COUNTS = {RunStatus.DIED: in_place_words, RunStatus.CANCELLED: counted_words, RunStatus.KILLED: counted_words}
_STEPS = 1000
_BAR_PX = 110


class RunHead(QWidget):
    """Title, state, progress, and a switch between the views.

    Signals:
        view_wanted: the number of a view.
        acted: the button for the run that is shown was pressed.
    """

    view_wanted = Signal(object)
    acted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = Elided("", "heading", is_snug=True)
        self.pill = Pill()
        self.facts = Elided("", "dim")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the run")
        self.act = KeyButton("")
        self.act.setAccessibleDescription(
            "A production run ends in order, between two batches, and can go on from there"
        )
        self.views = [KeyButton(words, kind="segment") for words in VIEWS]
        self._group = QButtonGroup(self)
        self._build()
        self._group.idClicked.connect(self._tell)
        self.act.clicked.connect(self.acted)
        self.clear()
        self.offer_lane(False)
        self.show_view(0)
        self.dress()

    def say(self, title: str, facts: str, state: str, kind: str = "plain") -> None:
        """Name the run and say how it is.

        Args:
            title: which run.
            facts: when, how much, how long.
            state: one or two words for the pill.
            kind: of the pill.
        """
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.facts.setText(facts)
        self.pill.say(state, kind)

    def say_followed(self, run: FollowedRun, *, is_own: bool) -> None:
        """Name a run that goes on, in this window or in a process of its own, and say how far it is."""
        self.say(run.title, run.facts, *(("running", "accent") if is_own else ("live", "good")))
        self.show_progress(None if run.is_endless else run.share)

    def say_ended(self, report: RunReport) -> None:
        """Name a run that has just ended, and say how much it read."""
        counts = report.as_json()
        facts = f"{count_words(counts)} · {source_words(report.source)}"
        self.say(title_words(counts), facts, "stopped" if report.is_stopped else "finished")
        self.show_progress(None)

    def say_past(self, run: PastRun) -> None:
        """Name a run of the history, and say what became of it."""
        counts = run.report.as_json()
        counted = _COUNTS.get(run.status, count_words)(counts)
        facts = f"{counted} · {moment_words(run.when_ms)} · {source_words(run.report.source)}"
        self.say(title_words(counts), facts, run.status.value, _PILLS.get(run.status, "plain"))

    def clear(self) -> None:
        """Show no run."""
        self.say("", "", "")
        self.offer("")
        self.show_progress(None)

    def show_progress(self, share: float | None) -> None:
        """Show how much of the source is behind, ``None`` for nothing to show; below 0 nobody knows how much."""
        self.bar.setVisible(share is not None)
        if share is not None:
            show_share(self.bar, share)

    def offer(self, words: str) -> None:
        """Offer to do something with the run that is shown; nothing where there are no words."""
        self.act.setText(words)
        self.act.setVisible(bool(words))
        self.act.updateGeometry()

    def offer_lane(self, is_lane: bool) -> None:
        """Offer the view of lanes, where one is shown."""
        self.views[LANE].setVisible(is_lane)

    def show_view(self, number: int) -> None:
        """Check the button of a view."""
        self.views[number].setChecked(True)

    def dress(self) -> None:
        """Follow the scale."""
        self.bar.setFixedWidth(themes.px(_BAR_PX))

    def _tell(self, number: int) -> None:
        self.view_wanted.emit(number)

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (self.title, self.pill):
            row.addWidget(widget)
        row.addWidget(self.facts, 1)
        row.addWidget(self.bar)
        row.addWidget(self.act)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for at, button in enumerate(self.views):
            button.setCheckable(True)
            button.set_height(28)
            edge = "first" if at == 0 else "last" if at == len(self.views) - 1 else "middle"
            button.setProperty("edge", edge)
            self._group.addButton(button, at)
            segments.addWidget(button)
        row.addLayout(segments)


def show_share(bar: QProgressBar, share: float) -> None:
    """Show how much is behind, from 0 to 1; below 0 nobody knows how much."""
    bar.setRange(0, _STEPS if share >= 0 else 0)
    bar.setValue(round(_STEPS * max(share, 0.0)))


class FailureCard(QFrame):
    """Why a run failed, in words, within the page.

    Signals:
        again_wanted: the run is to be started again.
    """

    again_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "failure")
        self.title, self.text = plain_label("", "heading"), plain_label("", "dim")
        self.text.setWordWrap(True)
        self.again = KeyButton("Run again")
        self.close_button = KeyButton("Close", kind="link")
        for button in (self.again, self.close_button):
            button.set_height(24)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.text)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 10, 8)
        row.addLayout(words, 1)
        row.addWidget(self.again)
        row.addWidget(self.close_button)
        self.again.clicked.connect(self.again_wanted)
        self.close_button.clicked.connect(self.hide)
        self.hide()

    def show_error(self, error: MetlError) -> None:
        """Say what happened, to what, and what to do."""
        self.show_words(*dialogs.words_of(error))

    def show_words(self, title: str, text: str, can_run_again: bool = True) -> None:
        """Say what happened, and offer to run again where that is known here."""
        title, text = in_window(title), in_window(text)
        self.again.setVisible(can_run_again)
        self.title.setText(title)
        self.text.setText(text)
        self.setAccessibleName(f"{title} {text}")
        self.show()
