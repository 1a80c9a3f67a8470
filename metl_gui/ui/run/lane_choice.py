"""On which lane records go from topics to topics, with what that means for who reads the messages."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QDoubleSpinBox, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.engine.runs import Lane
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label

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
        self._group = QButtonGroup(self)
        self.buttons = {lane: KeyButton(words, kind="segment") for lane, words in _LANES}
        self.words = plain_label("", "small")
        self.words.setWordWrap(True)
        self.wait = QDoubleSpinBox()
        self.wait.setRange(0.0, _MOST_SECONDS)
        self.wait.setDecimals(1)
        self.wait.setSuffix(" s")
        self.wait.setAccessibleName(_WAIT_WORDS)
        self.wait.setToolTip("Then its records are set aside. What waits meanwhile is shown on the lane's page.")
        self._build()
        self._group.idClicked.connect(self._tell)
        self._say()

    @property
    def lane(self) -> Lane:
        """What is chosen."""
        return "fast" if self.buttons["fast"].isChecked() else "batch"

    @property
    def wait_seconds(self) -> float:
        """How long a partition waits."""
        return self.wait.value() if self.lane == "fast" else 0.0

    def choose(self, lane: Lane) -> None:
        """Choose a lane."""
        self.buttons[lane].setChecked(True)
        self._tell()

    def _tell(self, _id: int = 0) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        self.words.setText(_WORDS[self.lane])
        self.words.setToolTip(_MORE[self.lane])
        self._waiting.setVisible(self.lane == "fast")

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(0)
        for at, button in enumerate(self.buttons.values()):
            button.setCheckable(True)
            button.setAccessibleDescription(f"{_WORDS[_LANES[at][0]]} {_MORE[_LANES[at][0]]}")
            button.setProperty("edge", "first" if at == 0 else "last")
            self._group.addButton(button, at)
            row.addWidget(button, 1)
        self.buttons["fast"].setChecked(True)
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
        layout.addLayout(row)
        layout.addWidget(self.words)
        layout.addWidget(self._waiting)
