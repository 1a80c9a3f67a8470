"""Rolling lanes back to an earlier published state, and mapping again what was mapped since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.store.repositories.states import NamedState
from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.lanes.orders import roll_back_words
from metl_gui.ui.moments import on
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.lanes import Lane

if TYPE_CHECKING:
    from metl_gui.engine.lanes.setting_back import PartitionBack

_WIDTH_PX = 520


@dataclass(frozen=True)
class RollBack:
    """What was chosen.

    Args:
        state: a published state.
        repeats: map again what was mapped with the state that is in force.
    """

    state: int
    repeats: bool


class RollBackDialog(QDialog):
    """Says first what will happen.

    Signals:
        agreed: a ``RollBack``.

    Args:
        lane: the lane.
        states: what was published, the newest first.
        since: what the lane has mapped since it took up the state in force.
    """

    agreed = Signal(object)

    def __init__(
        self, lane: Lane, states: Sequence[NamedState], since: Sequence[PartitionBack], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Roll back")
        self._lane, self._since = lane, tuple(since)
        in_force = lane.agreement.in_force if lane.agreement is not None else None
        self._states = [each for each in states if each.state != in_force]
        self.states, self.words = Choice(), plain_label("", "dim")
        self.states.setAccessibleName("State to go back to")
        self.states.addItems([_words(each) for each in self._states])
        self.words.setWordWrap(True)
        records = sum(back.records for back in self._since)
        self.repeats = QCheckBox(f"Map up to {records:,} records again with it")
        self.repeats.setVisible(records > 0)
        self.do, self.close_button = KeyButton("Roll back", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.states.currentIndexChanged.connect(self._say)
        self.repeats.toggled.connect(self._say)
        self.do.clicked.connect(self._agree)
        self.close_button.clicked.connect(self.reject)
        self._say()

    def _say(self, _what: object = None) -> None:
        at = self.states.currentIndex()
        self.do.setEnabled(at >= 0)
        if at < 0:
            self.words.setText("Nothing else was published that one could go back to.")
            return
        self.words.setText(roll_back_words(self._lane, self._states[at].state, self._since))
        self.do.setText("Roll back and repeat" if self.repeats.isChecked() else "Roll back")
        self.do.updateGeometry()

    def _agree(self) -> None:
        chosen = RollBack(self._states[self.states.currentIndex()].state, self.repeats.isChecked())
        self.accept()
        self.agreed.emit(chosen)

    def _build(self) -> None:
        row = QHBoxLayout()
        label = plain_label("Back to")
        label.setBuddy(self.states)
        row.addWidget(label)
        row.addWidget(self.states, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.do, self.close_button):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Roll the lanes back", "title"))
        layout.addLayout(row)
        layout.addWidget(self.words)
        layout.addWidget(self.repeats)
        layout.addStretch(1)
        layout.addLayout(foot)
        self.setMinimumWidth(themes.px(_WIDTH_PX))


def _words(state: NamedState) -> str:
    name = f" “{state.name}”" if state.name else ""
    when = f", published {on(state.published_ms)}" if state.published_ms is not None else ""
    return f"state {state.state:,}{name}{when}"
