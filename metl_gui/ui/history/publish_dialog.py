"""The one question before a state goes live: what production gets, what the checks find, what changes against now."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.project.named_states import NamedState
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.ui.history.difference import ComparisonRequest, DifferencePane
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.publishing.publication import PublishImpact, judge
from metl_gui.workbench.session import Workbench

_SHOWN = 500
_KINDS = {Severity.ERROR: "bad", Severity.WARNING: "review", Severity.NOTE: "plain"}


class PublishDialog(FittedDialog):
    """Shows what publishing means and asks once.

    Signals:
        wanted: (number of the state, its name) to publish.

    Args:
        workbench: the open project.
        state: the state.
        name: the name that it has.
        live: what is live, ``None`` for nothing.
        jobs: where it is checked and compared.
    """

    wanted = Signal(object)

    def __init__(
        self,
        workbench: Workbench,
        state: int,
        name: str,
        live: NamedState | None,
        jobs: Jobs,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._live, self._wants_done = state, live, False
        self.setWindowTitle(f"Publish state {state:,}")
        self.name = QLineEdit(name)
        self.name.setPlaceholderText("Name of the state, such as Q3 go-live (optional)")
        self.name.setAccessibleName("Name of the state")
        self.meaning, self.checks = plain_label(kind="dim"), plain_label(kind="dim")
        for label in (self.meaning, self.checks):
            label.setWordWrap(True)
        self.model: LineModel[Problem] = LineModel(self)
        self.problems = line_view(self.model, "What the checks find")
        self.difference = DifferencePane(jobs)
        self.do, self.cancel = KeyButton("Publish it", "Ctrl+Enter", "primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.do.setEnabled(False)
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)
        self._judging = NewestJob(jobs, self)
        self._judging.start("Checking the state", lambda watch: judge(workbench, state, watch), self._judged)
        self._compare(workbench)

    def accept(self) -> None:
        """Publish; what is not checked yet is published as soon as the checks allow it."""
        if not self.do.isEnabled():
            self._wants_done = True
            return
        self.wanted.emit((self._state, self.name.text().strip()))
        super().accept()

    def done(self, result: int) -> None:
        """Ask nothing any more."""
        self._judging.cancel()
        super().done(result)

    def _compare(self, workbench: Workbench) -> None:
        live = self._live
        if live is None:
            self.difference.say("Nothing is published yet", "This is the first state that production gets.")
        elif live.state == self._state:
            self.difference.say("It is live already", "Publishing it again changes its name only.")
        else:
            title = f"What changes against what is live, state {live.state:,}"
            self.difference.ask(workbench, ComparisonRequest(title, live.state, self._state))

    def _judged(self, outcome: JobOutcome[PublishImpact]) -> None:
        found = outcome.value
        if found is None:
            if outcome.error is not None:
                self.checks.setText(dialogs.in_one_line(outcome.error))
            return
        self.meaning.setText(_meaning(found))
        rows = [(TwoLines(p.message, _facts(p), p.severity.value, _KINDS[p.severity]), p) for p in found.problems]
        self.model.show_rows(rows[:_SHOWN])
        self.problems.setVisible(bool(rows))
        self.checks.setText(_checked(found))
        self.do.setEnabled(not found.errors)
        if self._wants_done and not found.errors:
            self.accept()
        self._wants_done = False

    def _build(self) -> None:
        heading = plain_label(f"Publish state {self._state:,}?", "title")
        live = self._live
        before = f"It replaces state {live.state:,}" + (f", {live.name}." if live.name else ".") if live else ""
        if live is not None and live.state == self._state:
            before = ""
        about = plain_label(f"Production runs and exports use it from then on. {before}".rstrip(), "dim")
        about.setWordWrap(True)
        form = QFormLayout()
        form.addRow("Name", self.name)
        right, column = QWidget(), QVBoxLayout()
        column.setContentsMargins(12, 0, 0, 0)
        column.setSpacing(4)
        title = plain_label("Checks", "heading")
        title.setMinimumHeight(self.difference.copying.sizeHint().height())  # in one line with the other title
        column.addWidget(title)
        column.addWidget(self.checks)
        column.addWidget(self.problems, 1)
        column.addStretch()
        right.setLayout(column)
        self.checks.setText("Checking the state…")
        self.problems.hide()
        self.difference.setContentsMargins(0, 0, 12, 0)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.difference)
        split.addWidget(right)
        split.setSizes([500, 400])
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        foot = QHBoxLayout()
        foot.addWidget(plain_label("Test runs and what you edit are not touched by it.", "small"))
        foot.addStretch(1)
        for button in (self.do, self.cancel):
            button.setAutoDefault(False)
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(about)
        layout.addWidget(self.meaning)
        layout.addLayout(form)
        layout.addWidget(split, 1)
        layout.addLayout(foot)
        self.resize(themes.px(900), themes.px(600))


def _facts(problem: Problem) -> str:
    """Say where it is and what helps."""
    return " · ".join(part for part in (problem.place, in_window(problem.hint)) if part)


def _meaning(found: PublishImpact) -> str:
    parts = [f"{number_of(found.elements, 'element')} in {number_of(found.blocks, 'block')}."]
    if found.held:
        verb = "waits" if found.held == 1 else "wait"
        parts.append(f"{number_of(found.held, 'block')} {verb} for review: messages that need them are held back.")
    if found.unconfirmed:
        verb = "is" if found.unconfirmed == 1 else "are"
        parts.append(f"{number_of(found.unconfirmed, 'block')} {verb} left out because nobody has confirmed them.")
    return " ".join(parts)


def _checked(found: PublishImpact) -> str:
    counts = {severity: sum(p.severity is severity for p in found.problems) for severity in Severity}
    words = ", ".join(number_of(count, severity.value) for severity, count in counts.items() if count)
    if not words:
        return "The checks find nothing."
    if found.errors:
        return f"{words}. It cannot be published before the errors are mended."
    more = f" The first {_SHOWN} are shown." if len(found.problems) > _SHOWN else ""
    return f"{words}. Nothing keeps it from being published.{more}"
