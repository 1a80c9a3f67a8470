"""The states as a list that is read page by page, as far as somebody scrolls.

A row is one line: its number, what was done, its pills, who and when at the right. What stands for several states, an
edit and its undo or everything of an import, has a triangle: a click on it, or Right and Left, unfolds and folds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from metl_gui.core.counted import number_of
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.text import ago, on
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
from metl_gui.workbench.history.state_rows import rows_page
from metl_gui.workbench.history.states import PastState, StateFilter, StatePage
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
        super().__init__(RowRoles(self._spoken, self._tip, key=attrgetter("before")), parent)
        self._at: dict[object, int] = {}
        self._unfolded: set[int] = set()
        self._whole: dict[int, PastState] = {}
        self._of: Workbench | None = None
        self._reading = NewestJob(jobs, self)
        self._opened = opened
        self._wanted = StateFilter()
        self._below: int | None = None
        self._has_more = self._is_busy = False
        self.live: int | None = None
        self.shown = 0

    def index_of(self, key: object) -> QModelIndex:
        """Return the index of the row that a state, by its number, stands in."""
        return self.index(self._at.get(key, -1))

    def row_of(self, key: object) -> int | None:
        """Return where the row stands that a state is in."""
        return self._at.get(key)

    def can_fold(self, row: PastState) -> bool:
        """Whether a row is one of several that were unfolded."""
        return row.before in self._whole

    def is_first_unfolded(self, row: PastState) -> bool:
        """Whether a row is the newest of those that were unfolded together."""
        return self.can_fold(row) and self._whole[row.before].state == row.state

    def unfold(self, index: Index) -> None:
        """Show the states that a row stands for, each as a row."""
        row = self.row_at(index)
        if row is not None and row.folded:
            self._unfolded.add(row.state)
            self._replace(index.row(), 1, row.folded)
            self._whole.update((part.before, row) for part in row.folded)

    def fold(self, index: Index) -> None:
        """Show those that were unfolded as one row again."""
        row = self.row_at(index)
        whole = self._whole.get(row.before) if row is not None else None
        if whole is not None:
            self._unfolded.discard(whole.state)
            for part in whole.folded:
                del self._whole[part.before]
            self._replace(self._at[whole.state], len(whole.folded), (whole,))

    def _replace(self, at: int, count: int, rows: tuple[PastState, ...]) -> None:
        """Put rows in place of others."""
        self.beginRemoveRows(QModelIndex(), at, at + count - 1)
        self._keep(self.rows[:at] + self.rows[at + count :])
        self.endRemoveRows()
        self.insert_rows(at, rows)

    def _keep(self, rows: tuple[PastState, ...]) -> None:
        super()._keep(rows)
        self._at = {each.state: at for at, row in enumerate(rows) for each in (*row.folded, row)}

    def _unfold_again(self, rows: Iterable[PastState]) -> tuple[PastState, ...]:
        """Keep unfolded what is unfolded, when rows are read again."""
        found: list[PastState] = []
        for row in rows:
            if row.folded and row.state in self._unfolded:
                self._whole.update((part.before, row) for part in row.folded)
                found += row.folded
            else:
                found.append(row)
        return tuple(found)

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
        folds = ", folded" if state.folded else ""
        return f"State {state.state}, {state.done}{folds}{marks}, {state.who}, {ago(state.when_ms)}"

    def _tip(self, state: PastState) -> str:
        return tip_of(state, self.live)

    def _read(self, below: int | None, limit: int) -> None:
        workbench = self._opened()
        self._is_busy = workbench is not None
        if workbench is not self._of:
            self._of = workbench
            self._unfolded.clear()  # states of another project have the same numbers
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
            "Reading the history", lambda watch: rows_page(workbench, wanted, limit, below, watch), done
        )

    def _take(self, page: StatePage, is_first: bool) -> None:
        self._below, self._has_more = page.below, page.below is not None
        if is_first:
            self._whole.clear()
            self.grow_rows(self._unfold_again(page.states))
        else:
            self.insert_rows(len(self.rows), self._unfold_again(page.states))


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


_MOST_PARTS = 8


def tip_of(state: PastState, live: int | None) -> str:
    """Say everything of a state, one thing a line."""
    lines = [f"State {state.state:,}", state.done]
    lines += [f"Named “{state.name}”"] if state.name else []
    lines += [f"{state.who}, {on(state.when_ms)} ({ago(state.when_ms)})"]
    lines += [f"Stands for states {state.before + 1:,} to {state.state:,}"] if state.states > 1 else []
    lines += [f"{part.state:,}  {part.done}" for part in state.folded[:_MOST_PARTS]]
    lines += [f"and {len(state.folded) - _MOST_PARTS:,} more"] if len(state.folded) > _MOST_PARTS else []
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
_TRIANGLE_PX = 14


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
        left = box.left() + _number_width(model, row)
        painter.setFont(themes.small(bold=is_shown))
        painter.setPen(theme.accent if is_shown else quiet_ink(is_selected))
        painter.drawText(QRectF(box.left(), box.top(), left - box.left(), box.height()), RIGHT, f"{row.state:,}")
        left += _GAP + 2
        if row.folded or model.is_first_unfolded(row):
            _triangle(painter, QPointF(left + 4 * themes.scale(), box.center().y()), is_open=not row.folded)
        if row.folded or model.can_fold(row):
            left += themes.px(_TRIANGLE_PX)
        right = self._paint_marks(painter, box, left, row, model)
        right = _paint_person(painter, box, left, right, row, is_selected)
        title = QRectF(left, box.top(), max(right - left, 0.0), box.height())
        paint_words(painter, title, row.done, themes.scaled(1.0, bold=is_shown or bool(row.name)), theme.text)

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


def _number_width(model: StateModel, row: PastState) -> float:
    """Return how far a number of a state reaches from the left of its row."""
    widest = f"{max(model.rows[0].state, row.state):,}"
    return _PAD + 8 + themes.text_width("0" * len(widest), themes.small())


def _triangle(painter: QPainter, at: QPointF, *, is_open: bool) -> None:
    corners = ((-4, -2), (4, -2), (0, 3)) if is_open else ((-2, -4), (-2, 4), (3, 0))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().dim)
    painter.drawPolygon([at + QPointF(*corner) * themes.scale() for corner in corners])


def _point(painter: QPainter, at: QPointF) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(themes.current().accent)
    painter.drawPolygon([at + QPointF(-4, -4), at + QPointF(-4, 4), at + QPointF(2, 0)])


def _shortened(words: str) -> str:
    font = QFont(themes.scaled(0.85, bold=True))
    return QFontMetricsF(font).elidedText(words, Qt.TextElideMode.ElideRight, themes.px(_LONGEST_NAME_PX))


class StateView(QListView):
    """The list of a ``StateModel``."""

    def __init__(self, model: StateModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._states = model
        self.setAccessibleName("States")
        self.setModel(model)
        self.setItemDelegate(StateDelegate(self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setProperty("isMain", True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Unfold a row with Right, fold it with Left; the keyboard stays on it."""
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self._turn(self.currentIndex(), unfolds=event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold a row whose triangle is pressed; that chooses nothing."""
        index = self.indexAt(event.position().toPoint())
        row = self._states.row_at(index) if event.button() is Qt.MouseButton.LeftButton else None
        if row is None or not (row.folded or self._states.is_first_unfolded(row)):
            super().mousePressEvent(event)
            return
        left = self.visualRect(index).left() + _number_width(self._states, row) + _GAP
        if left - 2 <= event.position().x() <= left + themes.px(_TRIANGLE_PX):
            self._turn(index, unfolds=bool(row.folded))
        else:
            super().mousePressEvent(event)

    def _turn(self, index: QModelIndex, *, unfolds: bool) -> None:
        row, is_current = self._states.row_at(index), index == self.currentIndex()
        if row is None:
            return
        if unfolds:
            self._states.unfold(index)
        else:
            self._states.fold(index)
        if is_current:
            here = self._states.index_of(row.state)
            self.selectionModel().setCurrentIndex(here, QItemSelectionModel.SelectionFlag.ClearAndSelect)
