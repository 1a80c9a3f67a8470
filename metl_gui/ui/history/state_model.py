"""The states as a list that is read page by page, as far as somebody scrolls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from metl_gui.ui.jobs import Jobs, Outcome
from metl_gui.ui.moments import ago, on
from metl_gui.ui.naming import number_of
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.plain import plain_tip
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.timeline import PastState, StateFilter, StatePage, states_page

Index: TypeAlias = QModelIndex | QPersistentModelIndex
STATE_ROLE = int(Qt.ItemDataRole.UserRole) + 11
PAGE = 100
_MARGIN = 20


class StateModel(QAbstractListModel):
    """The states that pass a filter, newest first.

    Signals:
        read: a page has come, or could not be read: the error is the argument, ``None`` without one.

    Args:
        jobs: where pages are read.
        opened: gives the project, ``None`` while there is none.
    """

    read = Signal(object)

    def __init__(self, jobs: Jobs, opened: Callable[[], Workbench | None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = NewestJob(jobs, self)
        self._opened = opened
        self._wanted = StateFilter()
        self._below: int | None = None
        self._has_more = self._is_busy = False
        self.states: tuple[PastState, ...] = ()
        self.live: int | None = None
        self.shown = 0

    def show(self, wanted: StateFilter, live: int | None = None) -> None:
        """Begin anew with a filter; with the same one as before, as much is read again as stands there."""
        is_same = wanted == self._wanted
        self._wanted, self.live = wanted, live
        self._read(None, max(PAGE, len(self.states) + _MARGIN) if is_same else PAGE)

    def look(self, state: int) -> None:
        """Mark another state as the one that the window shows."""
        before, self.shown = self.shown, state
        for each in (before, state):
            at = self.row_of(each)
            if at is not None:
                self.dataChanged.emit(self.index(at), self.index(at))

    def reach(self, state: int) -> bool:
        """Read on until a state, where the filter lets all pass; whether there is anything to read for that."""
        if not (self._has_more and self._wanted.is_empty and self.states and state < self.states[-1].state):
            return False
        self._read(self._below, self.states[-1].state - state + PAGE)
        return True

    def row_of(self, state: int) -> int | None:
        """Return the row of a state, ``None`` where it is not read or does not pass."""
        low, high = 0, len(self.states)
        while low < high:
            middle = (low + high) // 2
            if self.states[middle].state > state:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.states) and self.states[low].state == state else None

    def state_at(self, index: Index) -> PastState | None:
        """Return the state of a row."""
        return self.states[index.row()] if index.isValid() and index.row() < len(self.states) else None

    # Qt's questions

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count what was read."""
        return 0 if parent.isValid() else len(self.states)

    def canFetchMore(self, parent: Index) -> bool:
        """Whether scrolling on brings more."""
        return not parent.isValid() and self._has_more and not self._is_busy

    def fetchMore(self, parent: Index) -> None:
        """Read the next page."""
        if self.canFetchMore(parent):
            self._read(self._below, PAGE)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a state, or its words as one text for screen readers and tooltips."""
        state = self.state_at(index)
        if state is None:
            return None
        if role == STATE_ROLE:
            return state
        if role == Qt.ItemDataRole.DisplayRole:
            marks = "".join(f", {words}" for words, _kind in marks_of(state, self.live))
            return f"State {state.state}, {state.title}{marks}, {state.who}, {ago(state.when_ms)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(tip_of(state, self.live))
        return None

    def _read(self, below: int | None, limit: int) -> None:
        workbench = self._opened()
        self._is_busy = workbench is not None
        if workbench is None:
            self._reading.cancel()
            self._take(StatePage((), None), is_first=True)
            return
        wanted = self._wanted

        def done(outcome: Outcome[StatePage]) -> None:
            self._is_busy = False
            if outcome.value is not None:
                self._take(outcome.value, below is None)
            self.read.emit(outcome.error)

        self._reading.start(
            "Reading the history", lambda watch: states_page(workbench, wanted, limit, below, watch), done
        )

    def _take(self, page: StatePage, is_first: bool) -> None:
        self._below, self._has_more = page.below, page.below is not None
        if is_first:
            self._begin_with(page.states)
        elif page.states:
            self.beginInsertRows(QModelIndex(), len(self.states), len(self.states) + len(page.states) - 1)
            self.states += page.states
            self.endInsertRows()

    def _begin_with(self, states: tuple[PastState, ...]) -> None:
        """Show states from the newest on: what stands there stays, new ones come above it and older ones below."""
        known, numbers = [state.state for state in self.states], [state.state for state in states]
        above = numbers.index(known[0]) if known and known[0] in numbers else -1
        if above < 0 or numbers[above : above + len(known)] != known:
            self.beginResetModel()
            self.states = states
            self.endResetModel()
            return
        if above:
            self.beginInsertRows(QModelIndex(), 0, above - 1)
            self.states = states[: above + len(known)]
            self.endInsertRows()
        if len(states) > len(self.states):
            self.beginInsertRows(QModelIndex(), len(self.states), len(states) - 1)
            self.states = states
            self.endInsertRows()
        self.states = states
        self.dataChanged.emit(self.index(0), self.index(len(states) - 1))


def marks_of(state: PastState, live: int | None) -> list[tuple[str, str]]:
    """Return the pills of a state: their words and their kind."""
    found: list[tuple[str, str]] = []
    if state.state == live:
        found.append(("live", "good"))
    elif state.is_published:
        found.append(("published", "plain"))
    found += [(state.name, "accent")] if state.name else []
    found += [("run" if state.runs == 1 else f"{state.runs:,} runs", "plain")] if state.runs else []
    found += [("exported", "plain")] if state.is_exported else []
    found += [(number_of(state.states, "state"), "plain")] if state.states > 1 else []
    return found


def tip_of(state: PastState, live: int | None) -> str:
    """Say everything of a state, one thing a line."""
    lines = [f"State {state.state:,}", state.title]
    lines += [f"Named “{state.name}”"] if state.name else []
    lines += [f"{state.who}, {on(state.when_ms)} ({ago(state.when_ms)})"]
    lines += [f"Stands for states {state.before + 1:,} to {state.state:,}"] if state.states > 1 else []
    lines += ["Made by a command"] if state.door == "command" else []
    lines += ["Live: production uses it"] if state.state == live else ["Published"] if state.is_published else []
    lines += [f"Used by {number_of(state.runs, 'run')}"] if state.runs else []
    lines += ["Exported"] if state.is_exported else []
    return "\n".join(lines)
