"""The few controls of the block editor that stand in the title line of its dock."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget


class BlockTools(QWidget):
    """Previous and next block, and the switch to the versions.

    Signals:
        stepped: how many blocks further, -1 or 1.
    """

    stepped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back = _button("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Previous block of this schema", "Alt+Up")
        self.forward = _button(
            "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next block of this schema", "Alt+Down"
        )
        self.versions = _button("Versions", "How this block changed from version to version", "Ctrl+Shift+B")
        self.versions.setCheckable(True)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(2)
        for button in (self.back, self.forward, self.versions):
            self.row.addWidget(button)
        self.back.clicked.connect(self._go_back)
        self.forward.clicked.connect(self._go_forward)

    def _go_back(self) -> None:
        self.stepped.emit(-1)

    def _go_forward(self) -> None:
        self.stepped.emit(1)


def _button(words: str, what: str, keys: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setToolTip(f"{what} ({keys})")
    button.setAccessibleName(what)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button
