"""Test or production: what a run maps with, said in words before it is started."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.store.repositories.states import NamedState
from metl_gui.ui.moments import on
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.lane_choice import LaneChoice
from metl_gui.workbench.running import PRODUCTION, TEST, Mode

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
        self._group = QButtonGroup(self)
        self.buttons = {mode: KeyButton(mode.capitalize(), kind="segment") for mode in _MODES}
        self.words = plain_label(_TEST_WORDS, "small")
        self.words.setWordWrap(True)
        self.unconfirmed = QCheckBox("Map what nobody has confirmed too")
        self.follow = QCheckBox("Go on when the source fills further")
        self.freeze = QCheckBox("Stay with this state")
        self.freeze.setToolTip("Else a state that is published meanwhile is taken between two batches or transactions")
        self.lane = LaneChoice()
        self.publish = KeyButton("Publish this state…", kind="link")
        self._build()
        self._group.idClicked.connect(self._tell)
        self.publish.clicked.connect(self.publish_wanted)
        self.follow.toggled.connect(self._say)
        self.lane.changed.connect(self._say)
        self._say()

    @property
    def mode(self) -> Mode:
        """What is chosen."""
        return PRODUCTION if self.buttons[PRODUCTION].isChecked() else TEST

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
        self.buttons[mode].setChecked(True)
        self._tell()

    def show_live(self, live: NamedState | None) -> None:
        """Say which published state production uses."""
        self._live = live
        self._say()

    def _tell(self, _id: int = 0) -> None:
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
        name = f" “{live.name}”" if live.name else ""
        who = f" by {live.published_who}" if live.published_who else ""
        when = f", {on(live.published_ms)}" if live.published_ms is not None else ""
        return f"Maps with state {live.state:,}{name}, published{who}{when}. {_HELD_WORDS}"

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(0)
        for at, (mode, button) in enumerate(self.buttons.items()):
            button.setCheckable(True)
            button.setProperty("edge", "first" if at == 0 else "last")
            button.setAccessibleName(f"{mode.capitalize()} run")
            self._group.addButton(button, at)
            row.addWidget(button, 1)
        self.buttons[TEST].setChecked(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addWidget(self.words)
        layout.addWidget(self.lane)
        for box in (self.unconfirmed, self.follow, self.freeze):
            layout.addWidget(box)
        link = QHBoxLayout()
        link.addWidget(self.publish)
        link.addStretch(1)
        layout.addLayout(link)
