"""The list of the runs of a project: those that go on now, then those that are over, the newest first.

One of them is shown, two are compared. Each row is made from what is known of its run.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QMenu, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.ui.project.text import duration, now_ms, on
from metl_gui.ui.run.progress import FollowedRun, kind_words, moment_words, source_words, title_words
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.rows import RowRoles, RowsModel
from metl_gui.ui.widgets.two_line_list import WORDS_ROLE, TwoLineDelegate, TwoLines
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.values import Value
from metl_gui.workbench.runs.history import PastRun, RunStatus


class RunEntry(Value):
    """One run.

    Args:
        run_id: its id.
        words: what its row says.
        spoken: the row as it is read aloud.
        tip: more of it.
        is_live: it goes on, here or in a process of its own.
        run: what is known of it: a logged run, or one that goes on.
    """

    run_id: str
    words: TwoLines
    spoken: str
    tip: str = ""
    is_live: bool = False
    run: object = None


RUN_ROLES = RowRoles[RunEntry](
    attrgetter("spoken"), attrgetter("tip"), {WORDS_ROLE: attrgetter("words")}, attrgetter("run_id")
)
_NOTHING = "Runs stand here, the newest first. A test run maps your sample messages with what is on the screen."
_PAIR = 2


class RunList(QWidget):
    """A heading, the list, and what is done with two of its rows.

    Signals:
        chosen: the ``RunEntry`` that is to be shown.
        comparison_wanted: two ``RunEntry``s, the older one first.
        link_wanted: the id of a run that a link is wanted to.
    """

    chosen = Signal(object)
    comparison_wanted = Signal(object)
    link_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = RowsModel(RUN_ROLES, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setAccessibleName("Run history")
        self.view.setItemDelegate(TwoLineDelegate(self.view))
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setUniformItemSizes(True)
        self.compare = KeyButton("Compare", kind="link")
        self.compare.set_height(22)
        self.nothing = plain_label(_NOTHING, "small")
        self.nothing.setWordWrap(True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setContentsMargins(12, 2, 12, 0)
        self._waits_for_second: RunEntry | None = None
        self._build()
        self.view.selectionModel().selectionChanged.connect(self._selected)
        self.view.activated.connect(self._activated)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.compare.clicked.connect(self.compare_selected)
        self._say()

    def show_entries(self, entries: Sequence[RunEntry]) -> None:
        """List other runs; the selected ones stay selected where they are still there."""
        before = [entry.run_id for entry in self.selected]
        if tuple(entries) != self.model.rows:
            self.model.grow_rows(entries)
        if before and [entry.run_id for entry in self.selected] != before:
            self._select(before)
        self.view.setVisible(bool(entries))
        self.nothing.setVisible(not entries)
        self._say()

    def select(self, run_id: str) -> None:
        """Select a run without showing it."""
        self._select([run_id])

    @property
    def selected(self) -> tuple[RunEntry, ...]:
        """The selected runs, the older one first."""
        rows = sorted((index.row() for index in self.view.selectionModel().selectedRows()), reverse=True)
        return tuple(self.model.rows[row] for row in rows)

    def compare_selected(self) -> None:
        """Compare two selected runs; with one selected, the next one that is clicked is compared with it."""
        pair = self.selected
        if len(pair) == _PAIR:
            self._waits_for_second = None
            self.comparison_wanted.emit(pair)
        elif len(pair) == 1:
            self._waits_for_second = pair[0]
            self.view.setFocus()
        self._say()

    def changeEvent(self, event: QEvent) -> None:
        """Lay the rows out again for another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "view"):
            self.view.scheduleDelayedItemsLayout()

    def _select(self, run_ids: Sequence[str]) -> None:
        choice = self.view.selectionModel()
        choice.blockSignals(True)
        choice.clearSelection()
        for index in (self.model.index_of(run_id) for run_id in run_ids):
            if index.isValid():
                choice.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.Select)
        choice.blockSignals(False)
        self.view.viewport().update()
        self._say()

    def _selected(self) -> None:
        pair, first = self.selected, self._waits_for_second
        if len(pair) == 1 and first is not None and pair[0].run_id != first.run_id:
            self._waits_for_second = None
            self._select([first.run_id, pair[0].run_id])
            self.comparison_wanted.emit(self.selected)
        elif len(pair) == 1 and first is None:
            self.chosen.emit(pair[0])
        self._say()

    def _activated(self, index: QModelIndex) -> None:
        entry = self.model.row_at(index)
        if len(self.selected) == _PAIR:
            self.compare_selected()
        elif entry is not None:
            self.chosen.emit(entry)

    def _say(self) -> None:
        """Say what the button does now."""
        many = len(self.selected)
        waits = self._waits_for_second is not None and many == 1
        words = {1: "Compare with…", _PAIR: "Compare these two"}.get(many, "")
        self.compare.setText("Choose the other one" if waits else words)
        self.compare.setVisible(bool(words) and len(self.model.rows) > 1)
        self.compare.updateGeometry()

    def _show_menu(self, at: QPoint) -> None:
        if not self.selected:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if len(self.model.rows) > 1:
            menu.addAction(self.compare.text()).triggered.connect(self.compare_selected)
        run_id = self.selected[0].run_id
        if len(self.selected) == 1 and run_id != OWN:
            menu.addAction("Copy link").triggered.connect(lambda: self.link_wanted.emit(run_id))
        menu.popup(self.view.viewport().mapToGlobal(at))

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(plain_label("History", "panelTitle"))
        head.addStretch(1)
        head.addWidget(self.compare)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.nothing, 1)
        layout.addWidget(self.view, 1)


OWN = "this window's run"
_PILLS = {
    RunStatus.RUNNING: ("live", "good"),
    RunStatus.STOPPED: ("stopped", "plain"),
    RunStatus.FAILED: ("failed", "bad"),
    RunStatus.DIED: ("died", "bad"),
    RunStatus.CANCELLED: ("cancelled", "plain"),
    RunStatus.KILLED: ("killed", "bad"),
}


def entry_of_past(run: PastRun) -> RunEntry:
    """Make the row of a run of the history; one that goes on says for how long."""
    report = run.report.as_json()
    is_live = run.status is RunStatus.RUNNING
    pill, kind = _PILLS.get(run.status, (duration(run.report.seconds), "plain"))
    source = source_words(run.report.source)
    if is_live:
        title, facts = f"{kind_words(report)} · {source}", f"state {run.state:,} · {_age(run)}"
    else:
        until = " until then" if run.report.outcome else ""
        read = number_of(run.report.read, "record")
        title, facts = title_words(report), f"{read}{until} · {moment_words(run.when_ms)}"
    name = kind_words(report) if run.report.is_replay else f"{kind_words(report)} run"
    tip = "\n".join(part for part in (run.report.source, on(run.when_ms), *map(in_window, run.problems)) if part)
    words = TwoLines(title, facts, pill, kind, short=f"{kind_words(report)} {run.state}")
    return RunEntry(run.run_id, words, f"{name}, state {run.state}, {facts}, {pill}", tip, is_live, run)


def entry_of_own(run: FollowedRun, source: str) -> RunEntry:
    """Make the row of the run that this window does just now."""
    words = TwoLines(run.title, source_words(source), "running", "accent")
    return RunEntry(OWN, words, f"{run.title}, running", source, is_live=True, run=run)


def _age(run: PastRun) -> str:
    seconds = max(now_ms() - run.when_ms, 0) / 1000
    return "just begun" if seconds < 60 else duration(seconds // 60 * 60)
