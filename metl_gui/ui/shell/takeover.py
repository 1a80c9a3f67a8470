"""What the first window says when another one took its project over: who, since when, and the way to take it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from metl_gui.errors import ProjectLockedError
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window

_WHAT_NOW = "What you did is in it. This window shows what is done there, and changes nothing."


class TakeoverBanner(QFrame):
    """Says that the project was taken over.

    Signals:
        back_wanted: it is to be taken back.
    """

    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "past")
        self.setAccessibleName("The project was taken over")
        self.words = Elided(kind="heading")
        self.back = KeyButton("Take it back")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 14, 4)
        row.setSpacing(10)
        row.addWidget(self.words, 1)
        self.back.set_height(26)
        row.addWidget(self.back)
        self.back.clicked.connect(self.back_wanted)
        self.hide()

    def say(self, words: str) -> None:
        """Say who took it over; nothing hides the banner."""
        self.words.setText(words)
        self.setAccessibleDescription(words)
        self.setVisible(bool(words))


class TakeoverController(QObject):
    """Knows of one window whether its project was taken over, and takes it back."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.error: ProjectLockedError | None = None
        self.banner = TakeoverBanner()
        self.banner.back_wanted.connect(self.take_back)
        window.project.opened.connect(self._opened)
        window.upkeep.taken_over.connect(self.tell)

    def tell(self, error: ProjectLockedError) -> None:
        """Say that the project was taken over, once."""
        if self.error is None:
            self.error = error
            self.banner.say(f"{error.title} {_WHAT_NOW}")
            self._window.facts.refresh()

    def refuse(self) -> None:
        """Say that an edit was not made, with the way to go on."""
        if self.error is None:
            return
        text = f"This edit was not made. {_WHAT_NOW}"
        answers = [("back", "Take it back"), ("close", "Stay read only")]
        if dialogs.ask(self.error.title, text, answers, self._window) == "back":
            self.take_back()

    def take_back(self) -> None:
        """Open the project for editing again; the window that has it says so in the same way."""
        workbench = self._window.project.workbench
        if workbench is not None:
            self._window.commands.open(workbench.path, take_over=True)

    def _opened(self, _workbench: Workbench | None) -> None:
        self.error = None
        self.banner.say("")
