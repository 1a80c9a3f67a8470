"""The states as a list that is read page by page, as far as somebody scrolls.

A state is one line: its number, what was done, its pills, who and when at the right.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.text import ago, number_of, on
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import pill_width
from metl_gui.ui.widgets.rows import (
    RIGHT,
    Index,
    RowDelegate,
    RowRoles,
    RowsModel,
    paint_right_pill,
    paint_words,
    quiet_ink,
)
from metl_gui.workbench.history.states import PastState, StateFilter, StatePage, states_page
from metl_gui.workbench.session import Workbench

PAGE = 100
_MARGIN = 20


class StateModel(RowsModel[PastState]):
    """The states that pass a filter, newest first.

    Signals:
        read: a page has come, or could not be read: the error is the argument, ``None`` without one.

    Args:
        jobs: where pages are read.
        opened: gives the project, ``None`` while there is none.
    """

    read = Signal(object)

    def __init__(self, jobs: Jobs, opened: Callable[[], Workbench | None], parent: QObject | None = None) -> None:
        super().__init__(RowRoles(self._spoken, self._tip, key=attrgetter("state")), parent)
        self._reading = NewestJob(jobs, self)
        self._opened = opened
        self._wanted = StateFilter()
        self._below: int | None = None
        self._has_more = self._is_busy = False
        self.live: int | None = None
        self.shown = 0

    def show(self, wanted: StateFilter, live: int | None = None) -> None:
        """Begin anew with a filter; with the same one as before, as much is read again as stands there."""
        is_same = wanted == self._wanted
        self._wanted, self.live = wanted, live
        self._read(None, max(PAGE, len(self.rows) + _MARGIN) if is_same else PAGE)

    def look(self, state: int) -> None:
        """Mark another state as the one that the window shows."""
        before, self.shown = self.shown, state
        for each in (before, state):
            index = self.index_of(each)
            if index.isValid():
                self.dataChanged.emit(index, index)

    def reach(self, state: int) -> bool:
        """Read on until a state, where the filter lets all pass; whether there is anything to read for that."""
        if not (self._has_more and self._wanted.is_empty and self.rows and state < self.rows[-1].state):
            return False
        self._read(self._below, self.rows[-1].state - state + PAGE)
        return True

    # Qt's questions

    def canFetchMore(self, parent: Index) -> bool:
        """Whether scrolling on brings more."""
        return not parent.isValid() and self._has_more and not self._is_busy

    def fetchMore(self, parent: Index) -> None:
        """Read the next page."""
        if self.canFetchMore(parent):
            self._read(self._below, PAGE)

    def _spoken(self, state: PastState) -> str:
        marks = "".join(f", {words}" for words, _kind in marks_of(state, self.live))
        return f"State {state.state}, {state.title}{marks}, {state.who}, {ago(state.when_ms)}"

    def _tip(self, state: PastState) -> str:
        return tip_of(state, self.live)

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
            self.grow_rows(page.states)
        else:
            self.insert_rows(len(self.rows), page.states)


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


class StateDelegate(RowDelegate[PastState]):
    """Paints the rows of a ``StateModel``; a triangle stands before the state that the window shows."""

    kind, height_px = PastState, ROW_PX

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: PastState, is_selected: bool) -> None:
        """Paint one row."""
        model, theme = index.model(), themes.current()
        if not isinstance(model, StateModel):
            return
        is_shown = row.state == model.shown
        if is_shown:
            _point(painter, QPointF(box.left() + _PAD, box.center().y()))
        widest = f"{max(model.rows[0].state, row.state):,}"
        left = box.left() + _PAD + 8 + themes.text_width("0" * len(widest), themes.small())
        painter.setFont(themes.small(bold=is_shown))
        painter.setPen(theme.accent if is_shown else quiet_ink(is_selected))
        painter.drawText(QRectF(box.left(), box.top(), left - box.left(), box.height()), RIGHT, f"{row.state:,}")
        left += _GAP + 2
        right = self._paint_marks(painter, box, left, row, model)
        right = _paint_person(painter, box, left, right, row, is_selected)
        title = QRectF(left, box.top(), max(right - left, 0.0), box.height())
        paint_words(painter, title, row.title, themes.scaled(1.0, bold=is_shown or bool(row.name)), theme.text)

    def _paint_marks(self, painter: QPainter, box: QRectF, left: float, state: PastState, model: StateModel) -> float:
        """Paint the pills from the right as far as the title keeps its room, and return where they begin."""
        right = box.right() - _PAD
        for whole, kind in marks_of(state, model.live):
            words = _shortened(whole)
            if right - pill_width(words) - left < themes.px(_LEAST_TITLE_PX):
                break
            right = paint_right_pill(painter, QRectF(left, box.top(), right - left, box.height()), words, kind) - 6
        return right


def _paint_person(
    painter: QPainter, box: QRectF, left: float, right: float, state: PastState, is_selected: bool
) -> float:
    """Paint who and when, where there is room; return where the title ends."""
    for words in (f"{state.who} · {ago(state.when_ms)}", ago(state.when_ms)):
        width = themes.text_width(words, themes.small())
        if right - width - left >= themes.px(_LEAST_TITLE_PX):
            painter.setFont(themes.small())
            painter.setPen(quiet_ink(is_selected))
            painter.drawText(QRectF(right - width - 2, box.top(), width + 2, box.height()), RIGHT, words)
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
