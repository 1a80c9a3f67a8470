"""What stands in the window while its first project is being opened: its name, how far it is, and a way back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.progress import Progress


class OpeningPage(QWidget):
    """Shows the progress of one job.

    Signals:
        cancel_wanted: it was given up.
    """

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = Elided(kind="title")
        self.words = plain_label(kind="dim")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of opening")
        self.cancel = KeyButton("Cancel", "Esc")
        self.cancel.clicked.connect(self.cancel_wanted)
        self.cancel.setShortcut("Esc")
        holder = QWidget()
        holder.setFixedWidth(themes.px(420))
        column = QVBoxLayout(holder)
        column.setSpacing(10)
        for widget in (self.title, self.bar, self.words):
            column.addWidget(widget)
        row = QHBoxLayout()
        row.addWidget(self.cancel)
        row.addStretch(1)
        column.addLayout(row)
        middle = QVBoxLayout(self)
        middle.addStretch(2)
        middle.addWidget(holder, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)

    def show_name(self, name: str) -> None:
        """Say what is being opened; how far it is comes later."""
        self.title.setText(f"Opening {name}")
        self.words.setText("Reading the project file")
        self.bar.setRange(0, 0)

    def show_progress(self, progress: Progress) -> None:
        """Say how far it is."""
        self.words.setText(progress.text)
        if progress.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * progress.done / progress.total))
        else:
            self.bar.setRange(0, 0)
