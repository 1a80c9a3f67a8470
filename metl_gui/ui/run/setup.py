"""What is run, from where, to where, on what; and the runs there were."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from metl_gui.store.runs import LoggedRun
from metl_gui.store.states import NamedState
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.mode import ModeSwitch
from metl_gui.ui.surface import Surface
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLineDelegate, TwoLines
from metl_gui.workbench.running import PRODUCTION, RunRequest

_OWN_FOLDER = "a folder of the run's own"
_NEW_FOLDER = "a new or empty folder"


class RunSetup(Surface):
    """The left side of the Run page.

    Signals:
        run_wanted, stop_wanted: a button was pressed.
        run_chosen: a ``LoggedRun`` of the history.
    """

    run_wanted = Signal()
    stop_wanted = Signal()
    run_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (300, 600), parent, share=(0.2, 1.0))
        self._is_busy = False
        self._test_key = "F5"
        self.source, self.sink = QLineEdit(), QLineEdit()
        self.source.setPlaceholderText("A file, a folder or a pattern")
        self.source.setAccessibleName("From")
        self.sink.setPlaceholderText(_OWN_FOLDER)
        self.sink.setAccessibleName("To")
        self.spark = QLabel("local[*]")
        self.spark.setProperty("kind", "dim")
        self.mode = ModeSwitch()
        self.files = KeyButton("Files…")
        self.folder = KeyButton("Folder…")
        self.into = KeyButton("Folder…")
        self.into.setAccessibleName("Folder for the messages")
        self.run_button = KeyButton("Test run", "F5", "primary")
        self.stop_button = KeyButton("Stop")
        self.stop_button.setEnabled(False)
        self.history = QListWidget()
        self.history.setAccessibleName("Run history")
        self.history.setItemDelegate(TwoLineDelegate(self.history))
        self.nothing = plain_label("Runs stand here, the newest first.", "small")
        self.nothing.setWordWrap(True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setContentsMargins(12, 2, 12, 0)
        self._build()
        self.files.clicked.connect(self.choose_file)
        self.folder.clicked.connect(self.choose_folder)
        self.into.clicked.connect(self.choose_sink)
        self.mode.changed.connect(self._show_mode)
        self._show_mode()
        self.run_button.clicked.connect(self.run_wanted)
        self.stop_button.clicked.connect(self.stop_wanted)
        self.history.itemClicked.connect(self._chosen)
        self.history.itemActivated.connect(self._chosen)

    @property
    def at_hand(self) -> QWidget:
        """What the keyboard is on when the page comes: the history, or what begins one."""
        return self.history if self.history.count() else self.run_button

    @property
    def request(self) -> RunRequest:
        """What the fields ask for."""
        is_production = self.mode.mode == PRODUCTION
        return RunRequest(
            self.source.text().strip(),
            self.sink.text().strip(),
            mode=self.mode.mode,
            include_unconfirmed=is_production and self.mode.unconfirmed.isChecked(),
        )

    @property
    def test_request(self) -> RunRequest:
        """What the fields ask of a test, whatever mode is chosen; the folder of production is for production."""
        sink = "" if self.mode.mode == PRODUCTION else self.sink.text().strip()
        return RunRequest(self.source.text().strip(), sink)

    def show_busy(self, is_busy: bool) -> None:
        """Enable what makes sense while a run goes on, or not."""
        self._is_busy = is_busy
        self.stop_button.setEnabled(is_busy)
        self._show_mode()

    def show_live(self, live: NamedState | None) -> None:
        """Say which published state production uses."""
        self.mode.show_live(live)
        self._show_mode()

    def show_keys(self, keys: Mapping[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        self._test_key = keys["run"]
        self._show_mode()

    def _show_mode(self, _mode: object = None) -> None:
        """Say on the button what it starts; the key of the test is not that of production."""
        is_production = self.mode.mode == PRODUCTION
        self.run_button.setText("Production run" if is_production else "Test run")
        self.run_button.key = "" if is_production else self._test_key
        self.run_button.setEnabled(not self._is_busy and self.mode.can_run)
        self.run_button.updateGeometry()
        self.run_button.update()
        self.sink.setPlaceholderText(_NEW_FOLDER if is_production else _OWN_FOLDER)

    def show_history(self, runs: list[LoggedRun]) -> None:
        """List the runs of the project, newest first."""
        self.history.clear()
        for run in runs:
            report = run.report
            mode = str(report.get("mode", "test"))
            kind = "Replay" if report.get("is_replay") else mode.capitalize()
            kind += " in production" if report.get("is_replay") and mode == PRODUCTION else ""
            when = datetime.fromtimestamp(run.when_ms / 1000, UTC).astimezone()
            facts = f"{report.get('read', 0):,} records · {when:%d %b %H:%M}"
            item = QListWidgetItem(f"{kind}{'' if report.get('is_replay') else ' run'}, state {run.state}, {facts}")
            seconds = f"{report.get('seconds', 0):.1f} s"
            item.setData(WORDS_ROLE, TwoLines(f"{kind} · state {run.state}", facts, seconds))
            item.setData(Qt.ItemDataRole.UserRole, run)
            self.history.addItem(item)
        self.history.setVisible(bool(runs))
        self.nothing.setVisible(not runs)

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

    def _start(self) -> str:
        return str(Path(self.source.text() or Path.home()))

    def _chosen(self, item: QListWidgetItem) -> None:
        run = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(run, LoggedRun):
            self.run_chosen.emit(run)

    def _build(self) -> None:
        fields = QVBoxLayout()
        fields.setContentsMargins(12, 0, 12, 0)
        fields.setSpacing(6)
        fields.addWidget(QLabel("From"))
        fields.addWidget(self.source)
        choose = QHBoxLayout()
        choose.addWidget(self.files)
        choose.addWidget(self.folder)
        choose.addStretch(1)
        fields.addLayout(choose)
        fields.addSpacing(4)
        fields.addWidget(QLabel("To"))
        to = QHBoxLayout()
        to.addWidget(self.sink, 1)
        to.addWidget(self.into)
        fields.addLayout(to)
        fields.addSpacing(4)
        on = QHBoxLayout()
        on.addWidget(QLabel("On"))
        on.addWidget(self.spark, 1)
        fields.addLayout(on)
        fields.addSpacing(8)
        fields.addWidget(self.mode)
        fields.addSpacing(4)
        fields.addWidget(self.run_button)
        fields.addWidget(self.stop_button)
        fields.addSpacing(14)
        title = QLabel("History")
        title.setProperty("kind", "panelTitle")
        fields.addWidget(title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(fields)
        layout.addWidget(self.nothing, 1)
        layout.addWidget(self.history, 1)
        self.history.hide()
