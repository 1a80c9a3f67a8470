"""The line across every page while an earlier state is looked at: which one, and the ways on from there."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from metl_gui.ui.document import OpenProject
from metl_gui.ui.elided import Elided
from metl_gui.ui.history.looking import Looking
from metl_gui.ui.moments import ago
from metl_gui.ui.pill import KeyButton


class PastBanner(QFrame):
    """Says that the window looks back, and leads away from there.

    Signals:
        back_wanted: the newest state is to be shown.
        comparison_wanted: what differs between the state and now.
        undo_wanted: the edit that made the state is to be taken back.
    """

    back_wanted = Signal()
    comparison_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, project: OpenProject, looking: Looking, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project, self._looking = project, looking
        self.setProperty("surface", "past")
        self.setAccessibleName("An earlier state is shown")
        self.words = Elided(kind="heading")
        self.compare = KeyButton("Compare with now", kind="link")
        self.undo = KeyButton("Undo this…", kind="link")
        self.back = KeyButton("Back to now", "Alt+Home")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 14, 4)
        row.setSpacing(10)
        row.addWidget(self.words, 1)
        for button in (self.compare, self.undo, self.back):
            button.set_height(26)
            row.addWidget(button)
        self.back.clicked.connect(self.back_wanted)
        self.compare.clicked.connect(self.comparison_wanted)
        self.undo.clicked.connect(self.undo_wanted)
        looking.shown.connect(self.refresh)
        self.refresh()

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that the buttons have now, by the actions' ids."""
        self.back.key = keys.get("back_to_now", "")
        self.back.updateGeometry()

    def refresh(self) -> None:
        """Say what is shown, nothing while that is the newest state."""
        state, told = self._project.looks_back, self._looking.told
        self.setVisible(state is not None)
        if state is None:
            return
        parts = [f"You look at state {state:,} of {self._looking.newest:,}"]
        if told is not None:
            parts += [f"“{told.name}”"] if told.name else []
            parts += [told.title, f"{told.who}, {ago(told.when_ms)}"]
        workbench = self._project.workbench
        self.words.setText(" · ".join([*parts, "read only"]))
        self.undo.setVisible(workbench is not None and workbench.is_for_editing)
