"""The history: all states in a list with a filter, and below it what the chosen one changed, or two compared."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from metl_gui.errors import MetlError
from metl_gui.ui.history.difference import ComparisonRequest, DifferencePane
from metl_gui.ui.history.earlier_state import EarlierStateController
from metl_gui.ui.history.production_state import ProductionState
from metl_gui.ui.history.state_list import StateModel, StateView
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.text import on
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.history.states import PastState, StateFilter, Weight
from metl_gui.workbench.mapping.clipboard import spreadsheet_line

_DELAY_MS = 150
_BESIDE_PX = 1_300
"""From this width on titles have room beside what differs; with less the list stands above it."""

_LEAST_PX = 210
_WEIGHTS = ((Weight.NAMED, "Named"), (Weight.PUBLISHED, "Published"))
_NOTHING = "Choose a state to see what it changed; choose two, with Ctrl, to compare them."


class HistoryPanel(Surface):
    """Lists states while it is seen.

    Signals:
        menu_wanted: (the chosen ``PastState``s, the place on the screen) of a menu that is asked for.
        told: a ``str``, how many states there are.

    Args:
        looking: leads to a state.
        live: what production uses.
        jobs: where states are read and compared.
    """

    menu_wanted = Signal(object)
    told = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        looking: EarlierStateController,
        live: ProductionState,
        jobs: Jobs,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("panel", (640, 300), parent, share=(1.0, 0.36))
        self._project, self._looking, self._live = project, looking, live
        self._follows = False
        self.model = StateModel(jobs, lambda: project.workbench, self)
        self.view = StateView(self.model)
        self.difference = DifferencePane(jobs)
        self.box = HintLine("Filter   who:   is:run   is:exported")
        self.weights = {weight: KeyButton(words, kind="quiet") for weight, words in _WEIGHTS}
        self.note = plain_label(kind="dim")
        self._filtering = pause(self, _DELAY_MS, self.read)
        self._asking = pause(self, _DELAY_MS, self._ask_chosen)
        self._reaching = pause(self, _DELAY_MS, self._reach)
        self._updater = PanelUpdater(
            project, self, self.read, lambda _changed: project.looks_back is None, delay_ms=_DELAY_MS
        )
        self._build()
        self._connect()
        self.read_soon()

    @property
    def chosen(self) -> tuple[PastState, ...]:
        """The chosen states, newest first."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedIndexes())
        return tuple(self.model.rows[row] for row in rows if row < len(self.model.rows))

    def read(self) -> None:
        """Read the states that pass the filter now."""
        self._filtering.stop()
        wanted = StateFilter.of(self.box.text())
        weights = {weight for weight, button in self.weights.items() if button.isChecked()}
        self.model.look(self._looking.state)
        self.model.show(StateFilter(wanted.words, wanted.who, wanted.weights | weights), self._live.number)

    def compare(self, before: int, after: int | None, title: str) -> None:
        """Compare two states, whatever is chosen in the list."""
        workbench = self._project.workbench
        self._asking.stop()
        if workbench is not None:
            self.difference.ask(workbench, ComparisonRequest(title, before, after))

    def compare_file(self, path: Path) -> None:
        """Compare another project or export with what the window has now."""
        workbench = self._project.workbench
        self._asking.stop()
        if workbench is not None:
            self.difference.ask_file(workbench, path)

    def choose(self, state: int) -> None:
        """Choose a state in the list, where it is read already; the row that hides it unfolds."""
        index = self.model.index_of(state)
        row = self.model.row_at(index)
        if row is not None and row.state != state:
            self.model.unfold(index)
            index = self.model.index_of(state)
        if index.isValid():
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(index)

    def copy(self) -> None:
        """Copy the chosen states as text, one a line; no spreadsheet takes a name among it for a formula."""
        said = ((str(s.state), s.done, s.name, s.who, on(s.when_ms), *_live(s, self._live)) for s in self.chosen)
        lines = (spreadsheet_line(each)[0] for each in said)
        QGuiApplication.clipboard().setText("\n".join(lines))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stand what differs beside the list where both have room, else below it."""
        super().resizeEvent(event)
        is_narrow = self.width() < themes.px(_BESIDE_PX)
        self.split.setOrientation(Qt.Orientation.Vertical if is_narrow else Qt.Orientation.Horizontal)

    # following

    def _opened(self, _workbench: object) -> None:
        self.box.clear()
        self.difference.say("", _NOTHING)
        self.read_soon()

    def read_soon(self) -> None:
        """Read the states again when nothing has changed for a moment; at once when they are next seen."""
        self._updater.schedule()

    def _shown(self) -> None:
        state = self._looking.state
        if state != self.model.shown:
            self.model.look(state)
            if len(self.chosen) < 2 and self.isVisible():
                self.choose(state)
                self._reaching.start()

    def _reach(self) -> None:
        """Read on as far as the state that the window shows, when a hand on the time slider rests there."""
        self._reaching.stop()
        self._follows = self.isVisible()  # what is read is shown as soon as it is there
        if self._follows and not self.model.reach(self._looking.state):
            self._follows = False

    def _read(self, error: MetlError | None) -> None:
        if error is not None:
            self.note.setText(in_window(str(error)))
        elif not self.model.rows:
            is_empty = self._project.workbench is None or self._project.value.state == 0
            words = "Every edit makes a state, which stands here from then on."
            self.note.setText(words if is_empty else "No state passes this filter.")
        self.note.setVisible(error is not None or not self.model.rows)
        self.view.setVisible(not self.note.isVisible())
        follows, self._follows = self._follows, False
        if self.model.rows and (follows or not self.chosen):
            self.choose(self._looking.state)
        if self.model.rows and not self.view.currentIndex().isValid():
            self.view.selectionModel().setCurrentIndex(self.model.index(0), QItemSelectionModel.SelectionFlag.NoUpdate)
        newest = self._looking.newest
        self.told.emit(f"{newest:,} state{'' if newest == 1 else 's'}")

    # choosing

    def _clicked(self, index: QModelIndex) -> None:
        """Look at what was clicked, unless it was chosen beside another one."""
        state = self.model.row_at(index)
        if state is not None and QGuiApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier:
            self._looking.look_at(state.state)

    def _activated(self, index: QModelIndex) -> None:
        state = self.model.row_at(index)
        if state is not None:
            self._looking.look_at(state.state)

    def _chosen(self) -> None:
        self._asking.start()

    def _ask_chosen(self) -> None:
        """Show what the chosen state changed, or what differs between the oldest and the newest chosen one."""
        self._asking.stop()
        chosen, workbench = self.chosen, self._project.workbench
        if not chosen or workbench is None or not self.isVisible():
            if not chosen:
                self.difference.say("", _NOTHING)
            return
        newest, oldest = chosen[0], chosen[-1]
        if newest is not oldest:
            title = f"From state {oldest.state:,} to state {newest.state:,}"
            self.difference.ask(workbench, ComparisonRequest(title, oldest.state, newest.state))
            return
        which = f"states {newest.before + 1:,} to {newest.state:,}" if newest.states > 1 else f"state {newest.state:,}"
        self.difference.ask(
            workbench, ComparisonRequest(f"What {which} changed", newest.before, newest.state, is_step=True)
        )

    def _ask_menu(self, at: QPoint) -> None:
        if self.chosen:
            self.menu_wanted.emit((self.chosen, self.view.viewport().mapToGlobal(at)))

    # building

    def _build(self) -> None:
        self.box.setAccessibleName("Filter the history")
        self.box.setClearButtonEnabled(True)
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.box, 1)
        for button in self.weights.values():
            button.setCheckable(True)
            button.set_height(24)
            button.toggled.connect(self.read)
            top.addWidget(button)
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.note.setWordWrap(True)
        self.note.hide()
        states, column = QWidget(), QVBoxLayout()
        column.setContentsMargins(0, 0, 6, 0)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        column.addWidget(self.note, 1)
        states.setLayout(column)
        right, beside = QWidget(), QVBoxLayout()
        beside.setContentsMargins(10, 2, 0, 0)
        beside.addWidget(self.difference)
        right.setLayout(beside)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.addWidget(states)
        self.split.addWidget(right)
        self.split.setStretchFactor(0, 5)
        self.split.setStretchFactor(1, 4)
        self.split.setSizes([500, 400])
        self.dress()
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 8)
        layout.addWidget(self.split)

    def dress(self) -> None:
        """Follow the scale: two states at least stay in sight above what they changed."""
        for part in filter(None, (self.split.widget(0), self.split.widget(1))):
            part.setMinimumSize(themes.px(_LEAST_PX), themes.px(_LEAST_PX // 3))

    def _connect(self) -> None:
        self.box.textChanged.connect(self._filtering.start)
        self.view.clicked.connect(self._clicked)
        self.view.activated.connect(self._activated)
        self.view.selectionModel().selectionChanged.connect(self._chosen)
        self.view.customContextMenuRequested.connect(self._ask_menu)
        self.model.read.connect(self._read)
        self._looking.shown.connect(self._shown)
        self._live.counted.connect(self.read_soon)
        self._project.opened.connect(self._opened)
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self.copy)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)


def _live(state: PastState, live: ProductionState) -> tuple[str, ...]:
    return ("live",) if state.state == live.number else ()
