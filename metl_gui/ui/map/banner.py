"""The line over the matrix that says what it does not show; hidden must never look deleted."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from metl_gui.ui.map.planes import Planes
from metl_gui.ui.pill import KeyButton


class Banner(QFrame):
    """Follows what the planes hide.

    Signals:
        switched: everything is to be shown, or what was hidden is to be hidden again.
    """

    switched = Signal()

    def __init__(self, planes: Planes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._planes = planes
        self.setProperty("surface", "banner")
        self.setAccessibleName("What the matrix hides")
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.switch = KeyButton("Show everything", "H", "link")
        self.switch.set_height(24)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.setSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.switch)
        self.switch.clicked.connect(self.switched)
        planes.arranged.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Say what is hidden now, or that it is shown for now."""
        now = self._planes.arrangement
        self.setVisible(now.hides)
        parts = [result.words for result in (now.columns, now.rows) if result is not None]
        parts += ["only what is mapped or waits"] if now.is_relevant_only else []
        if self._planes.shows_everything:
            self.words.setText(f"Everything is shown for now ({', '.join(parts)} otherwise)")
            self.switch.setText("Hide it again")
        else:
            self.words.setText(f"Shown: {', '.join(parts)}. Nothing is deleted.")
            self.switch.setText("Show everything")
        self.switch.updateGeometry()
