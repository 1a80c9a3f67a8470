"""What came of trying a profile: one line for each thing that was tried."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.profile_check import ProfileCheck

_GOOD, _BAD, _GOES_ON = "✓", "✗", "…"


class TrialPane(QWidget):
    """Shows how far a trial is, and then what it met."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = plain_label("", "heading")
        self.heading.setWordWrap(True)
        self.hint = plain_label("", "dim")
        self.hint.setWordWrap(True)
        self._lines: list[QWidget] = []
        self._done: list[str] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._layout.addWidget(self.heading)
        self._layout.addWidget(self.hint)
        self.say("")

    def show_step(self, heading: str, step: str, hint: str) -> None:
        """Show which step a trial is at, below those that will do."""
        done = [each for each in self._done if each != step]
        self.say(heading, hint)
        self._done = [*done, step]
        for each in self._done:
            self._add(_line(each, "", _GOES_ON if each == step else _GOOD))

    def say(self, heading: str, hint: str = "") -> None:
        """Show words alone: how far it is, or what is at fault."""
        self._done = []
        for line in self._lines:
            self._layout.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines.clear()
        self._show(heading, hint)

    def show_check(self, check: ProfileCheck) -> None:
        """Show what came of a trial."""
        self.say("")
        for step in check.steps:
            self._add(_line(step.title, f"{step.text} ({step.seconds:.1f} s)", _GOOD if step.is_ok else _BAD))
        taken = sum(step.seconds for step in check.steps)
        verdict = f"{check.verdict.rstrip('.')}; tried in {taken:.1f} s." if check.is_ok else check.verdict
        self._show(verdict, check.hint)

    def _add(self, line: QWidget) -> None:
        self._lines.append(line)
        self._layout.insertWidget(self._layout.count() - 1, line)

    def _show(self, heading: str, hint: str) -> None:
        for label, words in ((self.heading, heading), (self.hint, hint)):
            label.setText(words)
            label.setVisible(bool(words))


def _line(title: str, text: str, mark: str) -> QWidget:
    theme = themes.current()
    line = QWidget()
    sign = QLabel(mark)
    colour = {_GOOD: theme.good, _BAD: theme.bad}.get(mark, theme.dim)
    sign.setStyleSheet(f"color: {colour.name()}; font-weight: 600;")
    sign.setAccessibleName({_GOOD: "Done", _BAD: "Failed"}.get(mark, "Is being tried"))
    sign.setMinimumWidth(themes.px(12))
    name, words = plain_label(title), plain_label(text, "dim")
    name.setMinimumWidth(themes.px(96))
    words.setWordWrap(True)
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for part, share in ((sign, 0), (name, 0), (words, 1)):
        row.addWidget(part, share, Qt.AlignmentFlag.AlignTop)
    return line
