"""Where topics are read from when nothing says where an earlier run ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from metl_gui.errors import UserError
from metl_gui.ui.choice import Choice
from metl_gui.ui.elided import Elided
from metl_gui.ui.plain import plain_label

_EARLIEST, _LATEST, _TIME, _OFFSETS = range(4)
_CHOICES = (
    "with the earliest record that is there",
    "with what comes from now on",
    "with the first record at or after a time",
    "with offsets",
)
_EXAMPLES = {_TIME: "2026-11-22T05:00:00Z", _OFFSETS: "topic/partition/offset, with commas between"}


class StartRow(QWidget):
    """A choice, and a line where the choice needs one.

    Signals:
        changed: something else is chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice, self.line, self.fault = Choice(), QLineEdit(), Elided("", "small")
        self.choice.addItems(_CHOICES)
        self.choice.setAccessibleName("Where to begin")
        label = plain_label("Begin")
        label.setBuddy(self.choice)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for part, share in ((label, 0), (self.choice, 0), (self.line, 2), (self.fault, 3)):
            row.addWidget(part, share)
        self.choice.currentIndexChanged.connect(self._choose)
        self.line.textChanged.connect(self._tell)
        self._choose(_EARLIEST)

    @property
    def text(self) -> str:
        """Where to begin, as a run is told."""
        at = self.choice.currentIndex()
        return {_EARLIEST: "earliest", _LATEST: "latest"}.get(at, self.line.text().strip())

    @property
    def is_good(self) -> bool:
        """Whether it can be read."""
        return not self.fault.text()

    def show_start(self, text: str) -> None:
        """Show where to begin."""
        at = {"": _EARLIEST, "earliest": _EARLIEST, "latest": _LATEST}.get(text, -1)
        if at < 0:
            at = _OFFSETS if "/" in text else _TIME
        self.choice.setCurrentIndex(at)
        if at in _EXAMPLES:
            self.line.setText(text)

    def _choose(self, at: int) -> None:
        self.line.setVisible(at in _EXAMPLES)
        self.line.setPlaceholderText(_EXAMPLES.get(at, ""))
        self.line.setAccessibleName(_CHOICES[at].removeprefix("with ").capitalize())
        self.line.setText(f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:00:00Z}" if at == _TIME else "")
        self._tell()

    def _tell(self, _text: str = "") -> None:
        from metl_gui.engine.kafka.starting import parse_start  # loads Kafka's client, which no page needs before

        try:
            parse_start(self.text)
            is_missing = self.choice.currentIndex() in _EXAMPLES and not self.text
            self.fault.setText("Say where." if is_missing else "")
        except UserError as error:
            self.fault.setText(f"✗ {error.title}")
        self.changed.emit()
