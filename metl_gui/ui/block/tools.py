"""The few controls of the block editor that stand in the title line of its dock."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget


class BlockTools(QWidget):
    """Previous and next block, and the switch to the versions.

    Signals:
        stepped: how many blocks further, -1 or 1.
    """

    stepped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back = _button("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Previous block of this schema")
        self.forward = _button("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next block of this schema")
        self.versions = _button("Versions", "How this block changed from version to version")
        self.versions.setCheckable(True)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(2)
        for button in (self.back, self.forward, self.versions):
            self.row.addWidget(button)
        self.back.clicked.connect(self._go_back)
        self.forward.clicked.connect(self._go_forward)

    def say_keys(self, action_named: Callable[[str], QAction | None]) -> None:
        """Say in the tooltips by which keys the buttons can be had, as a person may have changed them."""
        names = {"previous_block": self.back, "next_block": self.forward, "block_versions": self.versions}
        for name, button in names.items():
            action = action_named(name)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) if action is not None else ""
            what = button.accessibleName()
            button.setToolTip(f"{what} ({keys})" if keys else what)

    def _go_back(self) -> None:
        self.stepped.emit(-1)

    def _go_forward(self) -> None:
        self.stepped.emit(1)


def _button(words: str, what: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(what)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button
