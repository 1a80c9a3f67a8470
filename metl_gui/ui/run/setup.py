"""The left side of the Run page: what is run, from where, to where, on what; and the runs there were.

Test or production: what a run maps with is said before it is started. From topics to topics there is a choice of
lanes, each with what it means for who reads the messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.project.named_states import NamedState
from metl_gui.core.runs.run_spec import Lane, MappingSpec, Mode, RunPolicy, SinkSpec, SourceSpec
from metl_gui.ui.run.history import RunList
from metl_gui.ui.run.progress import published_words
from metl_gui.ui.run.setup_fields import FORMATS, PlaceFields, TargetBox
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.segments import Segments
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST, RunRequest

_LANES: tuple[tuple[Lane, str], ...] = (("batch", "In batches"), ("fast", "Fast lane"))
_WORDS: dict[Lane, str] = {
    "batch": "At least once, seconds behind: a failure may repeat messages.",
    "fast": "Exactly once for readers of what is committed, milliseconds behind.",
}
_MORE: dict[Lane, str] = {
    "batch": "Batch after batch. A message that comes again after a failure has the position that it had before.",
    "fast": "Each record and its messages in one transaction. Consumers must read committed messages only.\n"
    "Goes on until somebody stops it.",
}
_WAIT_WORDS = "Wait for a version that nobody knows yet"
_MOST_SECONDS = 3_600.0


class LaneChoice(QWidget):
    """Two buttons in one, the words below them, and how long a fast lane waits for an unknown version.

    Signals:
        changed: another lane was chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lanes = Segments(_LANES)
        self.buttons = self._lanes.buttons
        self.words = plain_label("", "small")
        self.words.setWordWrap(True)
        self.wait = QDoubleSpinBox()
        self.wait.setRange(0.0, _MOST_SECONDS)
        self.wait.setDecimals(1)
        self.wait.setSuffix(" s")
        for line in self.wait.findChildren(QLineEdit):  # the style sheet's own padding is not for what lies in a box
            line.setTextMargins(6, 0, 0, 0)
        self.wait.setAccessibleName(_WAIT_WORDS)
        self.wait.setToolTip("Then its records are set aside. What waits meanwhile is shown on the lane's page.")
        self._build()
        self._lanes.clicked.connect(self._tell)
        self._say()

    @property
    def lane(self) -> Lane:
        """What is chosen."""
        return "fast" if self._lanes.choice == "fast" else "batch"

    @property
    def wait_seconds(self) -> float:
        """How long a partition waits."""
        return self.wait.value() if self.lane == "fast" else 0.0

    def choose(self, lane: Lane) -> None:
        """Choose a lane."""
        self._lanes.choose(lane)
        self._tell()

    def _tell(self) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        self.words.setText(_WORDS[self.lane])
        self.words.setToolTip(_MORE[self.lane])
        self._waiting.setVisible(self.lane == "fast")

    def _build(self) -> None:
        for lane, _ in _LANES:
            self.buttons[lane].setAccessibleDescription(f"{_WORDS[lane]} {_MORE[lane]}")
        self._lanes.choose("fast")
        self._waiting = QWidget()
        waiting = QHBoxLayout(self._waiting)
        waiting.setContentsMargins(0, 0, 0, 0)
        waiting.setSpacing(8)
        label = plain_label(_WAIT_WORDS, "small")
        label.setWordWrap(True)
        label.setBuddy(self.wait)
        waiting.addWidget(label, 1)
        waiting.addWidget(self.wait)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._lanes)
        layout.addWidget(self.words)
        layout.addWidget(self._waiting)


_MODES: tuple[Mode, ...] = (TEST, PRODUCTION)
_TEST_WORDS = "Maps with what is on the screen. What nobody has confirmed is mapped too, and counted."
_HELD_WORDS = "Confirmed blocks only. What needs review is held: its messages are set aside whole."
_UNPUBLISHED = "Nothing is published yet, and production uses published states only."


class ModeSwitch(QWidget):
    """Two buttons in one, the words below them, and what goes with production.

    Signals:
        changed: another mode was chosen.
        publish_wanted: there is nothing published, and somebody wants to mend that.
    """

    changed = Signal(object)
    publish_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live: NamedState | None = None
        self._is_lane = False
        self._modes = Segments([(mode, mode.capitalize()) for mode in _MODES])
        self.buttons = self._modes.buttons
        self.words = plain_label(_TEST_WORDS, "small")
        self.words.setWordWrap(True)
        self.unconfirmed = QCheckBox("Map what nobody has confirmed too")
        self.follow = QCheckBox("Go on when the source fills further")
        self.freeze = QCheckBox("Stay with this state")
        self.freeze.setToolTip("Else a state that is published meanwhile is taken between two batches or transactions")
        self.lane = LaneChoice()
        self.publish = KeyButton("Publish this state…", kind="link")
        self._build()
        self._modes.clicked.connect(self._tell)
        self.publish.clicked.connect(self.publish_wanted)
        self.follow.toggled.connect(self._say)
        self.lane.changed.connect(self._say)
        self._say()

    @property
    def mode(self) -> Mode:
        """What is chosen."""
        return PRODUCTION if self._modes.choice == PRODUCTION else TEST

    @property
    def can_run(self) -> bool:
        """Whether a run of this mode has something to map with."""
        return self.mode == TEST or self._live is not None

    @property
    def live(self) -> NamedState | None:
        """The state that production uses, ``None`` while nothing is published."""
        return self._live

    @property
    def is_fast(self) -> bool:
        """Whether a fast lane is chosen: from topics to topics, one record after another."""
        return self._is_lane and self.lane.lane == "fast"

    @property
    def follows(self) -> bool:
        """Whether a run is to go on when the source is read; a fast lane always does."""
        return self.is_fast or self.follow.isChecked()

    def show_places(self, *, is_lane: bool) -> None:
        """Offer lanes where messages go from topics to topics."""
        self._is_lane = is_lane
        self._say()

    def choose(self, mode: Mode) -> None:
        """Choose a mode."""
        self._modes.choose(mode)
        self._tell()

    def show_live(self, live: NamedState | None) -> None:
        """Say which published state production uses."""
        self._live = live
        self._say()

    def _tell(self) -> None:
        self._say()
        self.changed.emit(self.mode)

    def _say(self, _is_checked: bool = False) -> None:
        is_production = self.mode == PRODUCTION
        self.words.setText(self._production_words() if is_production else _TEST_WORDS)
        can_run = is_production and self._live is not None
        self.lane.setVisible(can_run and self._is_lane)
        self.unconfirmed.setVisible(can_run)
        self.follow.setVisible(can_run and not self.is_fast)
        self.freeze.setVisible(can_run and self.follows)
        self.publish.setVisible(is_production and self._live is None)

    def _production_words(self) -> str:
        live = self._live
        if live is None:
            return _UNPUBLISHED
        return f"Maps with {published_words(live)}. {_HELD_WORDS}"

    def _build(self) -> None:
        for mode in _MODES:
            self.buttons[mode].setAccessibleName(f"{mode.capitalize()} run")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self._modes)
        layout.addWidget(self.words)
        layout.addWidget(self.lane)
        for box in (self.unconfirmed, self.follow, self.freeze):
            layout.addWidget(box)
        link = QHBoxLayout()
        link.addWidget(self.publish)
        link.addStretch(1)
        layout.addLayout(link)


class RunSetup(Surface):
    """The left side of the Run page.

    Signals:
        run_wanted, stop_wanted: a button was pressed.
    """

    run_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (300, 600), parent, share=(0.22, 1.0))
        self._is_busy = False
        self._test_key = "F5"
        self.places = PlaceFields()
        self.source, self.sink = self.places.source, self.places.sink
        self.format, self.by_date = self.places.format, self.places.by_date
        self.target = TargetBox()
        self.mode = ModeSwitch()
        self.run_button = KeyButton("Test run", "F5", "primary")
        self.stop_button = KeyButton("Stop")
        self.stop_button.setEnabled(False)
        self.history = RunList()
        self._build()
        self.places.changed.connect(self._show_places)
        self.mode.changed.connect(self._show_mode)
        self.run_button.clicked.connect(self.run_wanted)
        self.stop_button.clicked.connect(self.stop_wanted)
        self._show_places()
        self._show_mode()

    @property
    def at_hand(self) -> QWidget:
        """What gets the keyboard when the page comes to the front."""
        return self.history.view if self.history.model.rows else self.run_button

    @property
    def request(self) -> RunRequest:
        """What the fields ask for."""
        is_production, places, mode = self.mode.mode == PRODUCTION, self.places, self.mode
        follows, is_fast = is_production and mode.follows, is_production and mode.is_fast
        return RunRequest(
            SourceSpec(
                address=self.source.text().strip(),
                start=places.topic_choices.start if places.is_from_topics else "",
                follow=follows,
            ),
            SinkSpec(
                address=self.sink.text().strip(),
                errors=places.topic_choices.errors if places.is_to_topics else "",
                format=FORMATS[self.format.currentIndex()][0],
                by_date=self.by_date.isChecked() and not places.is_to_topics,
                has_tombstones=places.is_to_topics and places.topic_choices.has_tombstones,
            ),
            MappingSpec(
                is_frozen=follows and mode.freeze.isChecked(),
                wait_seconds=mode.lane.wait_seconds if is_fast else 0.0,
            ),
            RunPolicy(mode=mode.mode, lane="fast" if is_fast else "batch"),
            spark=self.target.text,
            include_unconfirmed=is_production and mode.unconfirmed.isChecked(),
        )

    @property
    def test_request(self) -> RunRequest:
        """What the fields ask of a test, whatever mode is chosen; where production writes is for production."""
        if self.mode.mode != PRODUCTION:
            return self.request
        start = self.places.topic_choices.start if self.places.is_from_topics else ""
        return RunRequest(
            SourceSpec(address=self.source.text().strip(), start=start),
            SinkSpec(format=FORMATS[self.format.currentIndex()][0], by_date=self.by_date.isChecked()),
            spark=self.target.text,
        )

    def show_busy(self, is_busy: bool) -> None:
        """Offer to stop while a run goes on, else to start one."""
        had_focus = self.run_button.hasFocus() or self.stop_button.hasFocus()
        self._is_busy = is_busy
        self.stop_button.setEnabled(is_busy)
        self._show_mode()
        if had_focus:
            (self.stop_button if is_busy else self.run_button).setFocus()

    def show_live(self, live: NamedState | None) -> None:
        """Say which published state production uses."""
        self.mode.show_live(live)
        self._show_mode()

    def show_keys(self, keys: Mapping[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        self._test_key = keys["run"]
        self.stop_button.key = keys["stop"]
        self._show_mode()

    def choose_folder(self) -> None:
        """Ask for a folder of messages."""
        self.places.choose_folder()

    def _show_places(self) -> None:
        self.mode.show_places(is_lane=self.places.is_from_topics and self.places.is_to_topics)

    def _show_mode(self, _mode: object = None) -> None:
        """Say on the button what it starts; the key of the test is not that of production."""
        is_production = self.mode.mode == PRODUCTION
        self.run_button.setText("Production run…" if is_production else "Test run")
        self.run_button.key = "" if is_production else self._test_key
        self.run_button.setEnabled(not self._is_busy and self.mode.can_run)
        self.run_button.setVisible(not self._is_busy)
        self.stop_button.setVisible(self._is_busy)
        self.run_button.updateGeometry()
        self.run_button.update()
        self.places.show_production(is_production)

    def _build(self) -> None:
        fields = QVBoxLayout()
        fields.setContentsMargins(12, 0, 12, 0)
        fields.setSpacing(4)
        fields.addWidget(self.places)
        fields.addSpacing(4)
        fields.addWidget(self.target)
        fields.addSpacing(8)
        fields.addWidget(self.mode)
        fields.addSpacing(2)
        fields.addWidget(self.run_button)
        fields.addWidget(self.stop_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(fields)
        layout.addWidget(self.history, 1)
