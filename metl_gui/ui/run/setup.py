"""What is run, from where, to where, on what; and the runs there were."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.engine.runs import Format
from metl_gui.store.states import NamedState
from metl_gui.ui.choice import Choice
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.history_list import HistoryList
from metl_gui.ui.run.mode import ModeSwitch
from metl_gui.ui.run.target_box import TargetBox
from metl_gui.ui.surface import Surface
from metl_gui.workbench.running import PRODUCTION, RunRequest

_OWN_FOLDER = "a folder of the run's own"
_NEW_FOLDER = "a new or empty folder"
_FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("jsonl", "JSON lines", "Messages as they are sent, one a line"),
    ("parquet", "Parquet", "One typed table an entity"),
)


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
        self.source, self.sink = QLineEdit(), QLineEdit()
        self.source.setPlaceholderText("A file, a folder or a pattern")
        self.source.setAccessibleName("From")
        self.sink.setPlaceholderText(_OWN_FOLDER)
        self.sink.setAccessibleName("To")
        self.format = Choice()
        self.format.setAccessibleName("Format of the messages")
        for at, (_, words, tip) in enumerate(_FORMATS):
            self.format.addItem(words)
            self.format.setItemData(at, tip, 3)
        self.by_date = QCheckBox("by date")
        self.by_date.setToolTip("A folder for each day below that of the entity")
        self.by_date.setAccessibleName("Folders by date")
        self.target = TargetBox()
        self.mode = ModeSwitch()
        self.files = _link("File…", "Choose a file of messages")
        self.folder = _link("Folder…", "Choose a folder of messages")
        self.into = _link("Folder…", "Folder for the messages")
        self.run_button = KeyButton("Test run", "F5", "primary")
        self.stop_button = KeyButton("Stop")
        self.stop_button.setEnabled(False)
        self.history = HistoryList()
        self._build()
        self.files.clicked.connect(self.choose_file)
        self.folder.clicked.connect(self.choose_folder)
        self.into.clicked.connect(self.choose_sink)
        self.mode.changed.connect(self._show_mode)
        self.run_button.clicked.connect(self.run_wanted)
        self.stop_button.clicked.connect(self.stop_wanted)
        self._show_mode()

    @property
    def at_hand(self) -> QWidget:
        """What gets the keyboard when the page comes to the front."""
        return self.history.view if self.history.model.entries else self.run_button

    @property
    def request(self) -> RunRequest:
        """What the fields ask for."""
        is_production = self.mode.mode == PRODUCTION
        return RunRequest(
            self.source.text().strip(),
            self.sink.text().strip(),
            spark=self.target.text,
            mode=self.mode.mode,
            include_unconfirmed=is_production and self.mode.unconfirmed.isChecked(),
            format=_FORMATS[self.format.currentIndex()][0],
            by_date=self.by_date.isChecked(),
            follow=is_production and self.mode.follow.isChecked(),
            freeze=is_production and self.mode.follow.isChecked() and self.mode.freeze.isChecked(),
        )

    @property
    def test_request(self) -> RunRequest:
        """What the fields ask of a test, whatever mode is chosen; the folder of production is for production."""
        sink = "" if self.mode.mode == PRODUCTION else self.sink.text().strip()
        kind = _FORMATS[self.format.currentIndex()][0]
        source = self.source.text().strip()
        return RunRequest(source, sink, spark=self.target.text, format=kind, by_date=self.by_date.isChecked())

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

    def choose_file(self) -> None:
        """Ask for one file of messages."""
        path, _ = QFileDialog.getOpenFileName(self, "Messages to map", self._start())
        if path:
            self.source.setText(path)

    def choose_folder(self) -> None:
        """Ask for a folder of messages."""
        path = QFileDialog.getExistingDirectory(self, "Folder of messages to map", self._start())
        if path:
            self.source.setText(path)

    def choose_sink(self) -> None:
        """Ask for the folder of the messages."""
        path = QFileDialog.getExistingDirectory(self, "New or empty folder for the messages", self.sink.text())
        if path:
            self.sink.setText(path)

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
        self.sink.setPlaceholderText(_NEW_FOLDER if is_production else _OWN_FOLDER)

    def _start(self) -> str:
        return str(Path(self.source.text() or Path.home()))

    def _build(self) -> None:
        fields = QVBoxLayout()
        fields.setContentsMargins(12, 0, 12, 0)
        fields.setSpacing(4)
        fields.addLayout(_titled("From", self.files, self.folder))
        fields.addWidget(self.source)
        fields.addSpacing(4)
        fields.addLayout(_titled("To", self.into))
        fields.addWidget(self.sink)
        how = QHBoxLayout()
        how.setSpacing(8)
        how.addWidget(self.format, 1)
        how.addWidget(self.by_date)
        fields.addLayout(how)
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


def _link(words: str, name: str) -> KeyButton:
    link = KeyButton(words, kind="link")
    link.set_height(20)
    link.setAccessibleName(name)
    return link


def _titled(words: str, *links: KeyButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(2)
    row.addWidget(plain_label(words))
    row.addStretch(1)
    for link in links:
        row.addWidget(link)
    return row
