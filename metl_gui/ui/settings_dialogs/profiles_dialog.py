"""The connection profiles: a list, the chosen one as a form, and a test of it.

``ConnectionTestPane`` shows what came of a test: one line for each thing that was tried.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.progress import Progress
from metl_gui.errors import MetlError, UserError
from metl_gui.ui.jobs.jobs import Job, JobOutcome, Jobs, NewestJob
from metl_gui.ui.settings_dialogs.connection_fields import KINDS
from metl_gui.ui.settings_dialogs.profile_form import ProfileForm
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import WORDS_ROLE, TwoLineDelegate, TwoLines
from metl_gui.workbench.profiles.connection_test import ConnectionTestResult, test_profile
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, Profile, profiles, remove_profile, save_profile

_GOOD, _BAD, _GOES_ON = "✓", "✗", "…"


class ConnectionTestPane(QWidget):
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

    def show_check(self, check: ConnectionTestResult) -> None:
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
    sign = QLabel(themes.coloured(mark, {_GOOD: theme.good, _BAD: theme.bad}.get(mark, theme.dim)))
    sign.setProperty("kind", "heading")
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


_SIZE = (1000, 660)
_LIST_PX = 270


class ProfilesDialog(FittedDialog):
    """Shows and changes the profiles of this user.

    Signals:
        changed: one was kept or removed.
        wanted: the ``Profile`` that somebody wants to use.

    Args:
        jobs: where profiles are kept and tried: the keyring may ask its owner first.
        chosen: the name of the profile to show first.
        kind: what a new profile leads to at first.
    """

    changed = Signal()
    wanted = Signal(object)

    def __init__(
        self, jobs: Jobs, chosen: str = "", parent: QWidget | None = None, *, kind: ProfileKind = ProfileKind.SPARK
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Connections")
        self._kind = kind
        self._asked, self._test_job = NewestJob(jobs, self), NewestJob(jobs, self)
        self._is_testing = self._tests_next = False
        self._known: tuple[Profile, ...] = ()
        self._shown: str | None = None
        self.list, self.form, self.trial = QListWidget(), ProfileForm(), ConnectionTestPane()
        self.new, self.remove = KeyButton("New"), KeyButton("Remove")
        self.save, self.test = KeyButton("Save", "Ctrl+S", "primary"), KeyButton("Save and test", "Ctrl+T")
        self.stop, self.use, self.close_button = (
            KeyButton("Stop"),
            KeyButton(KINDS[ProfileKind.SPARK].use),
            KeyButton("Close", "Esc"),
        )
        self._build()
        self._connect()
        self._read(chosen)

    def reject(self) -> None:
        """Close, unless somebody would rather go on with what they were writing."""
        if self._may_leave():
            self._test_job.cancel()
            super().reject()

    # the list

    def _read(self, chosen: str) -> None:
        """List the profiles anew and show one of them."""
        try:
            self._known = profiles()
        except UserError as error:
            self._fault(error)
        self.list.blockSignals(True)
        self.list.clear()
        for profile in self._known:
            title = KINDS[profile.kind].title
            item = QListWidgetItem(f"{SIGN}{profile.name}, {title}, {profile.target}")
            item.setData(WORDS_ROLE, TwoLines(f"{SIGN}{profile.name}", profile.target, title))
            self.list.addItem(item)
        names = [profile.name for profile in self._known]
        row = names.index(chosen) if chosen in names else 0 if names else -1
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self._show(self._known[row] if row >= 0 else None)
        (self.list if names else self.form.name).setFocus()

    def _show(self, profile: Profile | None) -> None:
        self._shown = profile.name if profile is not None else None
        self.form.show_profile(profile, self._kind)
        self._enable()

    def _chosen(self, row: int) -> None:
        if not 0 <= row < len(self._known):
            return
        if self._may_leave():
            self.trial.say("")
            self._show(self._known[row])
        else:
            self._point_at_shown()

    def _point_at_shown(self) -> None:
        names = [profile.name for profile in self._known]
        self.list.blockSignals(True)
        self.list.setCurrentRow(names.index(self._shown) if self._shown in names else -1)
        self.list.blockSignals(False)

    def _begin_new(self) -> None:
        if self._may_leave():
            self.trial.say("")
            self._show(None)
            self._point_at_shown()
            self.form.name.setFocus()

    def _may_leave(self) -> bool:
        if not self.form.is_edited:
            return True
        name = f"{SIGN}{self._shown}" if self._shown else "the new profile"
        answers = [("stay", "Go on editing"), ("leave", "Throw them away")]
        if dialogs.ask("There are changes that were not saved.", f"They are of {name}.", answers, self) == "stay":
            return False
        self.form.is_edited = False
        return True

    # keeping and removing

    def _save(self) -> None:
        try:
            profile = self.form.profile
        except UserError as error:
            self._fault(error)
            return
        values = self.form.values
        self._asked.start("Keeping the profile", lambda _watch: save_profile(profile, values), self._saved)

    def _saved(self, outcome: JobOutcome[Profile]) -> None:
        tests_next, self._tests_next = self._tests_next, False
        if outcome.error is not None:
            self._fault(outcome.error)
        elif outcome.value is not None:
            self.trial.say(f"{SIGN}{outcome.value.name} is kept.")
            self._read(outcome.value.name)
            self.changed.emit()
            if tests_next:
                self._begin_test(outcome.value.name)

    def _remove(self) -> None:
        name = self._shown
        if name is None:
            return
        answers = [("remove", "Remove it"), ("keep", "Keep it")]
        if dialogs.ask(f"Remove {SIGN}{name}?", "Its secrets in the keyring go with it.", answers, self) == "remove":
            self.form.is_edited = False
            self._asked.start("Removing the profile", lambda _watch: remove_profile(name), self._removed)

    def _removed(self, outcome: JobOutcome[Profile]) -> None:
        if outcome.error is not None:
            self._fault(outcome.error)
        else:
            self.trial.say("")
            self._read("")
            self.changed.emit()

    # testing

    def _save_and_test(self) -> None:
        if self._shown is not None and not self.form.is_edited:
            self._begin_test(self._shown)
        else:
            self._tests_next = True
            self._save()

    def _begin_test(self, name: str) -> None:
        self._is_testing = True
        self.trial.say(f"Testing {SIGN}{name} …", KINDS[self.form.kind].patience)
        self._enable()
        job: Job = self._test_job.start(f"Test of {SIGN}{name}", lambda watch: test_profile(name, watch), self._tested)
        job.progressed.connect(self._told)

    def _told(self, progress: Progress) -> None:
        title, _, step = progress.text.partition(": ")
        if self._is_testing and step:
            self.trial.show_step(f"{title} …", step.capitalize(), KINDS[self.form.kind].patience)

    def _stop(self) -> None:
        self._test_job.cancel()
        self._is_testing = False
        self.trial.say("The test was stopped.")
        self._enable()

    def _tested(self, outcome: JobOutcome[ConnectionTestResult]) -> None:
        self._is_testing = False
        self._enable()
        if outcome.value is not None:
            self.trial.show_check(outcome.value)
        elif outcome.error is not None:
            self._fault(outcome.error)

    def _use(self) -> None:
        if self._shown is not None and self._may_leave():
            profile = next(each for each in self._known if each.name == self._shown)
            self.accept()
            self.wanted.emit(profile)

    def _fault(self, error: MetlError) -> None:
        self._tests_next = False
        title, rest = dialogs.words_of(error)
        self.trial.say(f"✗ {title}", rest)

    def _enable(self) -> None:
        is_there = self._shown is not None
        self.remove.setEnabled(is_there and not self._is_testing)
        self.use.setText(KINDS[self.form.kind].use)
        self.use.updateGeometry()
        self.use.setEnabled(is_there)
        self.save.setEnabled(self.form.is_edited and not self._is_testing)
        self.test.setEnabled((is_there or self.form.is_edited) and not self._is_testing)
        self.test.setText("Save and test" if self.form.is_edited or not is_there else "Test")
        self.stop.setVisible(self._is_testing)

    # building

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._chosen)
        self.form.edited.connect(self._enable)
        for button, does in (
            (self.new, self._begin_new),
            (self.remove, self._remove),
            (self.save, self._save),
            (self.test, self._save_and_test),
            (self.stop, self._stop),
            (self.use, self._use),
            (self.close_button, self.reject),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(does)
        for keys, button in (("Ctrl+S", self.save), ("Ctrl+T", self.test), ("Ctrl+N", self.new)):
            QShortcut(QKeySequence(keys), self).activated.connect(button.click)

    def _build(self) -> None:
        self.list.setAccessibleName("Profiles")
        self.list.setItemDelegate(TwoLineDelegate(self.list))
        self.list.setFixedWidth(themes.px(_LIST_PX))
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.list, 1)
        below = QHBoxLayout()
        below.addWidget(self.new)
        below.addWidget(self.remove)
        below.addStretch(1)
        left.addLayout(below)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 12, 0)
        column.setSpacing(14)
        column.addWidget(self.form)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        body = QHBoxLayout()
        body.setSpacing(20)
        body.addLayout(left)
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(scroll, 1)
        right.addWidget(self.trial)  # below the form, however long that is
        body.addLayout(right, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.stop, self.test, self.save, self.use, self.close_button):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(plain_label("Connections", "title"))
        layout.addLayout(body, 1)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))
