"""One of a few choices, as buttons that look like one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from metl_gui.ui.widgets.pill import KeyButton


class Segments(QWidget):
    """Buttons of which one is down; the first at the beginning.

    Args:
        choices: what each stands for, and its words.

    Signals:
        clicked: somebody pressed one.
    """

    clicked = Signal()

    def __init__(self, choices: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = {choice: KeyButton(words, kind="segment") for choice, words in choices}
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        edges = ["first", *["middle"] * (len(choices) - 2), "last"]
        for at, (button, edge) in enumerate(zip(self.buttons.values(), edges, strict=True)):
            button.setCheckable(True)
            button.setChecked(at == 0)
            button.setProperty("edge", edge)
            self._group.addButton(button, at)
            row.addWidget(button, 1)
        self._group.idClicked.connect(self._tell)

    @property
    def choice(self) -> str:
        """What is chosen."""
        return next(choice for choice, button in self.buttons.items() if button.isChecked())

    def choose(self, choice: str) -> None:
        """Choose."""
        self.buttons[choice].setChecked(True)

    def _tell(self, _at: int) -> None:
        self.clicked.emit()
