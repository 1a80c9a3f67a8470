"""On which Spark a run is done: what was used lately, the profiles, and how the session is now."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from metl_gui.engine.runs import LOCAL_TARGET
from metl_gui.engine.targets import parse_target
from metl_gui.errors import UserError
from metl_gui.ui import theme as themes
from metl_gui.ui.choice import Choice
from metl_gui.ui.elided import Elided
from metl_gui.ui.pill import KeyButton

_READY, _STARTING = "ready", "starting"
_PROFILE = "@"


class TargetBox(QWidget):
    """A box to type or choose a target in, with the state of the session above it.

    Signals:
        chosen: the text of another target.
        profiles_wanted: the profiles are to be shown.
    """

    chosen = Signal(object)
    profiles_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = Choice()
        self.line = QLineEdit()
        self.box.setLineEdit(self.line)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName("On")
        self.box.setAccessibleDescription("local[*], sc://host:port, spark://host:port, or @ and the name of a profile")
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.profiles = KeyButton("Connections…", kind="link")
        self.profiles.set_height(20)
        self.dot = QLabel("●")
        self.dot.setAccessibleName("State of Spark")
        self.state = Elided("not started", "small")
        self._recent: tuple[str, ...] = ()
        self._profiles: tuple[str, ...] = ()
        self._told = LOCAL_TARGET
        self._build()
        self.show_targets((), ())
        self.box.setEditText(LOCAL_TARGET)
        self.show_state("not started")
        self.profiles.clicked.connect(self.profiles_wanted)
        self.line.editingFinished.connect(self._tell)
        self.box.activated.connect(self._tell)

    @property
    def text(self) -> str:
        """What is chosen."""
        return self.box.currentText().strip() or LOCAL_TARGET

    def choose(self, target: str) -> None:
        """Choose a target."""
        self.box.setEditText(target)
        self._tell()

    def show_targets(self, recent: Iterable[str], profiles: Iterable[str]) -> None:
        """Offer what was used lately, and the profiles by their names."""
        self._recent, self._profiles = tuple(recent), tuple(f"{_PROFILE}{name}" for name in profiles)
        text = self.box.currentText()
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems(list(dict.fromkeys((LOCAL_TARGET, *self._profiles, *self._recent))))
        self.box.setEditText(text)
        self.box.blockSignals(False)

    def show_state(self, words: str) -> None:
        """Say how the session is: ``ready``, ``starting``, or what is wrong with it."""
        theme = themes.current()
        colours = {_READY: theme.good, _STARTING: theme.dim, "not started": theme.faint}
        self.dot.setStyleSheet(f"color: {colours.get(words, theme.bad).name()}")
        self.state.setText(words)
        self.dot.setAccessibleDescription(words)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.show_state(self.state.text())

    def _tell(self) -> None:
        if self.text != self._told:
            self._told = self.text
            self.chosen.emit(self.text)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(QLabel("On"))
        head.addSpacing(4)
        head.addWidget(self.dot)
        head.addWidget(self.state, 1)
        head.addWidget(self.profiles)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.box)


def without_secrets(target: str) -> str:
    """Return a target as it may be remembered: without tokens; empty where it cannot be read."""
    if target.startswith(_PROFILE):
        return target
    try:
        return parse_target(target).master
    except UserError:
        return ""
