"""The states as a list that is read page by page, as far as somebody scrolls.

A state is one line: its number, what was done, its pills, who and when at the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.text import ago, number_of, on
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.ui.widgets.two_line_list import paint_row_background
from metl_gui.workbench.history.states import PastState, StateFilter, StatePage, states_page
from metl_gui.workbench.session import Workbench

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

        def done(outcome: JobOutcome[StatePage]) -> None:
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


ROW_PX = 26
_PAD = 12.0
_GAP = 8.0
_LONGEST_NAME_PX = 150
_LEAST_TITLE_PX = 130


class StateDelegate(QStyledItemDelegate):
    """Paints the rows of a ``StateModel``; a triangle stands before the state that the window shows."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """One line high."""
        return QSize(120, themes.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one row."""
        state, model = index.data(STATE_ROLE), index.model()
        if not isinstance(state, PastState) or not isinstance(model, StateModel):
            return
        theme, box = themes.current(), QRectF(option.rect)
        painter.save()
        is_selected = paint_row_background(painter, option)
        quiet = theme.text if is_selected else theme.dim
        is_shown = state.state == model.shown
        if is_shown:
            _point(painter, QPointF(box.left() + _PAD, box.center().y()))
        number = f"{state.state:,}"
        widest = f"{max(model.states[0].state, state.state):,}"
        left = box.left() + _PAD + 8 + themes.text_width("0" * len(widest), themes.small())
        painter.setFont(themes.small(bold=is_shown))
        painter.setPen(theme.accent if is_shown else quiet)
        painter.drawText(QRectF(box.left(), box.top(), left - box.left(), box.height()), _RIGHT, number)
        left += _GAP + 2
        right = self._paint_marks(painter, box, left, state, model)
        right = _paint_person(painter, box, left, right, state, is_selected)
        painter.setFont(themes.scaled(1.0, bold=is_shown or bool(state.name)))
        painter.setPen(theme.text)
        _line(painter, QRectF(left, box.top(), max(right - left, 0.0), box.height()), state.title, _LEFT)
        painter.restore()

    def _paint_marks(self, painter: QPainter, box: QRectF, left: float, state: PastState, model: StateModel) -> float:
        """Paint the pills from the right as far as the title keeps its room, and return where they begin."""
        right = box.right() - _PAD
        for whole, kind in marks_of(state, model.live):
            words = _shortened(whole)
            width = pill_width(words)
            if right - width - left < themes.px(_LEAST_TITLE_PX):
                break
            paint_pill(painter, QRectF(right - width, box.top(), width, box.height()), words, kind)
            right -= width + 6
        return right


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def _paint_person(
    painter: QPainter, box: QRectF, left: float, right: float, state: PastState, is_selected: bool
) -> float:
    """Paint who and when, where there is room; return where the title ends."""
    theme = themes.current()
    for words in (f"{state.who} · {ago(state.when_ms)}", ago(state.when_ms)):
        width = themes.text_width(words, themes.small())
        if right - width - left >= themes.px(_LEAST_TITLE_PX):
            painter.setFont(themes.small())
            painter.setPen(theme.text if is_selected else theme.dim)
            painter.drawText(QRectF(right - width - 2, box.top(), width + 2, box.height()), _RIGHT, words)
            return right - width - _GAP - 4
    return right - _GAP


def _point(painter: QPainter, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().accent)
    painter.drawPolygon([at + QPointF(-4, -4), at + QPointF(-4, 4), at + QPointF(2, 0)])


def _shortened(words: str) -> str:
    font = QFont(themes.scaled(0.85, bold=True))
    return QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideRight, themes.px(_LONGEST_NAME_PX))


def _line(painter: QPainter, box: QRectF, words: str, alignment: Qt.AlignmentFlag) -> None:
    words = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, alignment, words)
