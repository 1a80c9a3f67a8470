"""What came of trying a profile: one line for each thing that was tried."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.profile_check import CheckStep, ProfileCheck

_GOOD, _BAD = "✓", "✗"


class TrialPane(QWidget):
    """Shows how far a trial is, and then what it met."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = plain_label("", "heading")
        self.heading.setWordWrap(True)
        self.hint = plain_label("", "dim")
        self.hint.setWordWrap(True)
        self._lines: list[QWidget] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self._layout.addWidget(self.heading)
        self._layout.addWidget(self.hint)
        self.say("")

    def say(self, heading: str, hint: str = "") -> None:
        """Show words alone: how far it is, or what is at fault."""
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
            line = _line(step)
            self._lines.append(line)
            self._layout.insertWidget(self._layout.count() - 1, line)
        taken = sum(step.seconds for step in check.steps)
        verdict = f"{check.verdict.rstrip('.')}; tried in {taken:.1f} s." if check.is_ok else check.verdict
        self._show(verdict, check.hint)

    def _show(self, heading: str, hint: str) -> None:
        for label, words in ((self.heading, heading), (self.hint, hint)):
            label.setText(words)
            label.setVisible(bool(words))


def _line(step: CheckStep) -> QWidget:
    theme = themes.current()
    line = QWidget()
    mark = QLabel(_GOOD if step.is_ok else _BAD)
    mark.setStyleSheet(f"color: {(theme.good if step.is_ok else theme.bad).name()}; font-weight: 600;")
    mark.setAccessibleName("Done" if step.is_ok else "Failed")
    title = plain_label(step.title)
    title.setMinimumWidth(themes.px(96))
    text = plain_label(f"{step.text} ({step.seconds:.1f} s)", "dim")
    text.setWordWrap(True)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    for part, share in ((mark, 0), (title, 0), (text, 1)):
        row.addWidget(part, share, Qt.AlignmentFlag.AlignTop)
    return line
