"""What differs between two states: a heading, how much, and a row for each thing, which leads to its cell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.core.differences.document_difference import Difference, compare
from metl_gui.core.matrix.document import Document
from metl_gui.errors import ProjectError
from metl_gui.ui import asking
from metl_gui.ui import theme as themes
from metl_gui.ui.branch import BranchView
from metl_gui.ui.elided import Elided
from metl_gui.ui.history.difference_model import DifferenceModel
from metl_gui.ui.history.difference_rows import DifferenceGroup, DifferenceRow, as_text, groups_of, summary
from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.matrix.marks_of_difference import ElementMark, marks_of
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.comparing import Opened, difference_of, opened
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.session import Workbench

_OPENED_ROWS = 200
_WHERE_PX = 150
_WHERE_SHARE = 0.26


@dataclass(frozen=True)
class Asked:
    """Two states to compare.

    Args:
        title: what the comparison is called.
        before, after: their numbers; the newest state for ``None``, and for both where another file is compared.
        is_step: it is what one state changed, not a comparison that somebody asked for.
    """

    title: str
    before: int | None
    after: int | None
    is_step: bool = False


@dataclass(frozen=True, eq=False)
class Compared:
    """What came of it; ``marks`` are ``None`` where another file is compared, whose cells the matrix does not have."""

    asked: Asked
    difference: Difference
    groups: tuple[DifferenceGroup, ...]
    marks: tuple[ElementMark, ...] | None


class DifferencePane(QWidget):
    """Compares two states beside the window, and lists what differs.

    Signals:
        told: a ``Compared``, or ``None`` while there is none.
        chosen: the ``DifferenceRow`` to go to.

    Args:
        jobs: where they are compared.
    """

    told = Signal(object)
    chosen = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparing = NewestJob(jobs, self)
        self.compared: Compared | None = None
        self.model = DifferenceModel(self)
        self.view = _view(self.model)
        self.heading, self.words = Elided(kind="heading"), plain_label(kind="dim")
        self.words.setWordWrap(True)
        self.copying = KeyButton("Copy", kind="quiet")
        self.copying.setToolTip("Copy what differs as text (Ctrl+C)")
        self.copying.set_height(22)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self.heading, 1)
        top.addWidget(self.copying)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addLayout(top)
        layout.addWidget(self.words)
        layout.addWidget(self.view, 1)
        self.view.clicked.connect(self._choose)
        self.view.activated.connect(self._choose)
        self.copying.clicked.connect(self.copy)
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self.copy)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.say("", "")

    def ask(self, workbench: Workbench, asked: Asked) -> None:
        """Compare two states; what stood there before goes when the answer has come."""
        now = workbench.document

        def task(watch: Watch) -> Compared:
            watch.step("Comparing states")
            before = _at(workbench, now, asked.before)
            watch.step("Comparing states")
            after = _at(workbench, now, asked.after)
            difference = compare(before, after)
            groups, marks = groups_of(difference, before, after), marks_of(difference, before, after)
            return Compared(asked, difference, groups, marks)

        self._comparing.start("Comparing states", task, self._show)

    def ask_file(self, workbench: Workbench, path: Path) -> None:
        """Compare another project or export with the newest state, and with what lies beside the states."""
        now = workbench.document

        def task(watch: Watch) -> Compared:
            watch.step(f"Reading {path.name}")
            before = opened(str(path))
            after = Opened("", now, workbench.path, workbench.kept.data.read())
            watch.step(f"Comparing {path.name}")
            difference = difference_of(before, after)
            groups = groups_of(difference, before.document, now, is_one_project=False)
            title = f"From {before.title} to now, state {now.state:,}"
            return Compared(Asked(title, None, None), difference, groups, None)

        self._comparing.start(f"Comparing {path.name}", task, self._show)

    def say(self, title: str, words: str) -> None:
        """Show words where a difference would stand."""
        self._comparing.cancel()
        self.heading.setText(title)
        self.words.setText(words)
        self.copying.setVisible(False)
        self.view.setVisible(False)
        if self.model.groups:
            self.model.show_groups(())
        if self.compared is not None:
            self.compared = None
            self.told.emit(None)

    def copy(self) -> None:
        """Copy what differs as text."""
        if self.compared is not None:
            QGuiApplication.clipboard().setText(as_text(self.compared.asked.title, self.compared.groups))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the words most of the room."""
        super().resizeEvent(event)
        self.view.header().resizeSection(1, min(themes.px(_WHERE_PX), round(self.width() * _WHERE_SHARE)))

    def _show(self, outcome: Outcome[Compared]) -> None:
        if outcome.value is None:
            if outcome.error is not None:
                title, text = asking.words_of(outcome.error)
                self.say(title, text)
            return
        found = self.compared = outcome.value
        self.heading.setText(found.asked.title)
        self.words.setText(summary(found.difference))
        self.copying.setVisible(True)
        self.view.setVisible(bool(found.groups))
        self.model.show_groups(found.groups)
        rows = 0
        for at, group in enumerate(found.groups):
            rows += 1 + len(group.rows)
            if rows > _OPENED_ROWS and at:
                break
            self.view.expand(self.model.index(at, 0))
        self.told.emit(found)

    def _choose(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        if isinstance(row, DifferenceRow) and row.leads_somewhere:
            self.chosen.emit(row)


def _at(workbench: Workbench, now: Document, state: int | None) -> Document:
    if state is None or state == now.state:
        return now
    if state > now.state:
        raise ProjectError(f"There is no state {state} yet.")
    return workbench.at_state(state)


def _view(model: DifferenceModel) -> BranchView:
    view = BranchView()
    view.setModel(model)
    view.setAccessibleName("What differs")
    view.setAllColumnsShowFocus(True)
    view.setHeaderHidden(True)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    header = view.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
    return view
