"""The line above the answers of a panel: a filter box, what is said, a pin."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from metl_gui.ui.pause import pause
from metl_gui.ui.plain import plain_label

_DELAY_MS = 60


class AnswerBar(QWidget):
    """A filter box and a pin.

    Signals:
        typed: the text to filter by, a little after the last letter.
        unpinned: the panel follows the selection again.
    """

    typed = Signal(object)
    unpinned = Signal()

    def __init__(self, what: str, has_filter: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QLineEdit()
        self.box.setPlaceholderText("Filter   words   in:   type:   is:review")
        self.box.setAccessibleName(f"Filter {what}")
        self.box.setClearButtonEnabled(True)
        self.box.setMaximumWidth(420)
        if not has_filter:
            self.box.hide()
        self.note = plain_label(kind="small")
        self.pin = QPushButton("Pin")
        self.pin.setProperty("kind", "quiet")
        self.pin.setCheckable(True)
        self.pin.setToolTip("Keep these answers when something else is selected")
        self.pin.setAccessibleName(f"Pin {what}")
        self._timer = pause(self, _DELAY_MS, self._tell)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.box, 3)
        row.addWidget(self.note)
        row.addStretch(1)
        row.addWidget(self.pin)
        self.box.textChanged.connect(self._wait)
        self.pin.toggled.connect(self._toggled)

    @property
    def is_pinned(self) -> bool:
        """Whether the panel stays as it is."""
        return self.pin.isChecked()

    def _wait(self, _text: str) -> None:
        self._timer.start()

    def _tell(self) -> None:
        self.typed.emit(self.box.text())

    def _toggled(self, is_pinned: bool) -> None:
        self.pin.setText("Pinned" if is_pinned else "Pin")
        if not is_pinned:
            self.unpinned.emit()
