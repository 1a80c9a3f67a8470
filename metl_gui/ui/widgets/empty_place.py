"""A place with nothing in it yet: what it is for, and buttons that fill it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from metl_gui.ui.widgets.plain_text import plain_label


class EmptyPlace(QWidget):
    """Says what a place is for; who derives from it makes the buttons that fill it, and calls ``lay_out``."""

    def __init__(self, parent: QWidget | None = None, title: str = "", text: str = "") -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title, self.text = plain_label(title, "title"), plain_label(text, "dim")
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)

    def lay_out(self, beside: Sequence[QPushButton], below: Sequence[QPushButton] = ()) -> None:
        """Put the words into the middle, buttons beside one another under them, and others below."""
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addStretch(1)
        for button in beside:
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 20)
        layout.setSpacing(10)
        layout.addStretch(1)
        layout.addWidget(self.title)
        layout.addWidget(self.text)
        layout.addSpacing(6)
        layout.addLayout(row)
        for button in below:
            layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
