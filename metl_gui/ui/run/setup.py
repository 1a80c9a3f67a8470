"""What is run, from where, to where, on what; and the runs there were."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from metl_gui.store.repositories.states import NamedState
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.run.history_list import HistoryList
from metl_gui.ui.run.mode import ModeSwitch
from metl_gui.ui.run.place_fields import FORMATS, PlaceFields
from metl_gui.ui.run.target_box import TargetBox
from metl_gui.ui.surface import Surface
from metl_gui.workbench.running import PRODUCTION, RunRequest


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
        self.history = HistoryList()
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
        return self.history.view if self.history.model.entries else self.run_button

    @property
    def request(self) -> RunRequest:
        """What the fields ask for."""
        is_production, places, mode = self.mode.mode == PRODUCTION, self.places, self.mode
        follows = is_production and mode.follows
        return RunRequest(
            self.source.text().strip(),
            self.sink.text().strip(),
            spark=self.target.text,
            mode=mode.mode,
            errors=places.topic_choices.errors if places.is_to_topics else "",
            include_unconfirmed=is_production and mode.unconfirmed.isChecked(),
            format=FORMATS[self.format.currentIndex()][0],
            by_date=self.by_date.isChecked() and not places.is_to_topics,
            follow=follows,
            freeze=follows and mode.freeze.isChecked(),
            lane="fast" if is_production and mode.is_fast else "batch",
            start=places.topic_choices.start if places.is_from_topics else "",
            has_tombstones=places.is_to_topics and places.topic_choices.has_tombstones,
            wait_seconds=mode.lane.wait_seconds if is_production and mode.is_fast else 0.0,
        )

    @property
    def test_request(self) -> RunRequest:
        """What the fields ask of a test, whatever mode is chosen; where production writes is for production."""
        if self.mode.mode != PRODUCTION:
            return self.request
        kind = FORMATS[self.format.currentIndex()][0]
        start = self.places.topic_choices.start if self.places.is_from_topics else ""
        by_date = self.by_date.isChecked()
        return RunRequest(self.source.text().strip(), spark=self.target.text, format=kind, by_date=by_date, start=start)

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
