"""What a run set aside: by reason, from where, how many, and what a person does about it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QMenu, QVBoxLayout, QWidget

from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.runs.run_spec import Mode
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.messages.set_aside import SHOW, next_step, reason_kind, reason_tip, where
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import HEADING_PX, TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.links.set_aside import reason_title
from metl_gui.workbench.runs.replay import StillWaiting, what_waits
from metl_gui.workbench.samples.run_records import first_set_aside

_KEPT_IN_PART = "too_large"
_LOOKED_AT = 20
_WHERE, _STEP = 1, 3
_LOOK_SECONDS = 5.0
"""Between two looks into an error topic."""
_ROOM_FOR_WHERE_PX = 430
_NOTHING_YET = "Nothing so far."
_NOTHING = "Nothing was set aside."
_ALL_DONE = "All of it was replayed."
_GONE = "Its records are not kept any more."


class ErrorStoreContents(Value):
    """What an error store holds for people.

    Args:
        is_there: whether it is kept.
        waiting: what a replay would find.
        where: where the records of each reason come from.
    """

    is_there: bool = False
    waiting: StillWaiting = msgspec.field(default_factory=StillWaiting)
    where: tuple[tuple[str, str], ...] = ()


def read_error_store(errors: str, mode: Mode, reasons: tuple[str, ...]) -> ErrorStoreContents:
    """Look into an error store, or an error topic; one that is gone holds nothing."""
    if is_kafka(errors):
        return ErrorStoreContents(True, what_waits(errors, mode))
    folder = Path(errors)
    if not errors or not folder.is_dir():
        return ErrorStoreContents()
    places = tuple((reason, where(first_set_aside(folder, _LOOKED_AT, reason))) for reason in reasons)
    return ErrorStoreContents(True, what_waits(errors, mode), places)


class SetAsidePanel(QFrame):
    """A card with one row for each reason.

    Signals:
        reason_chosen: the reason whose records are to be shown.
        step_wanted: the reason whose next step is to be taken.
        replay_wanted: the button was pressed.
        link_wanted: the reason that a link is wanted to.
    """

    reason_chosen = Signal(object)
    step_wanted = Signal(object)
    replay_wanted = Signal()
    link_wanted = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self._looking = NewestJob(jobs, self)
        self.waiting = StillWaiting()
        self._counts: tuple[tuple[str, int], ...] = ()
        self._where: dict[str, str] = {}
        self._live: tuple[str, Mode] | None = None
        self._looked_at: dict[str, int] = {}
        self._next_look = 0.0
        self._is_busy = False
        self.model = TableModel(
            [
                TableCell("reason"),
                TableCell("where"),
                TableCell("records", is_number=True),
                TableCell("", is_number=True),
            ]
        )
        self.table = make_table("Set aside by reason", self.model)
        columns = self.table.horizontalHeader()
        for column, mode in enumerate(
            (
                QHeaderView.ResizeMode.ResizeToContents,
                QHeaderView.ResizeMode.Stretch,
                QHeaderView.ResizeMode.ResizeToContents,
                QHeaderView.ResizeMode.ResizeToContents,
            )
        ):
            columns.setSectionResizeMode(column, mode)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.note = Elided("", "small")
        self.replay = KeyButton("Replay these")
        self.replay.set_height(24)
        self.replay.setAccessibleDescription("Maps again what was set aside, with what is on the screen or published")
        self._build()
        self.table.clicked.connect(self._clicked)
        self.table.activated.connect(self._activated)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._show_menu)
        self.table.selectionModel().selectionChanged.connect(self._say)
        self.replay.clicked.connect(self.replay_wanted)
        self.clear()

    def clear(self) -> None:
        """Show that nothing was run."""
        self._looking.cancel()
        self._live, self._looked_at, self._next_look = None, {}, 0.0
        self._where, self.waiting = {}, StillWaiting()
        self.show_counts({})
        self.note.setText("what cannot be mapped yet, and what to do")

    def show_counts(self, by_reason: Mapping[str, int]) -> None:
        """Show how many records were set aside, also while a run goes on."""
        self.note.setText("" if by_reason else _NOTHING_YET)
        self._counts = tuple(sorted(by_reason.items(), key=lambda pair: -pair[1]))
        self.model.show_rows([self._row(reason, count) for reason, count in self._counts])
        self._say()
        if self._live is not None and dict(by_reason) != self._looked_at and time.monotonic() > self._next_look:
            self._look_again()

    def follow(self, errors: str, mode: Mode) -> None:
        """Look what waits in an error topic while its run goes on, whenever there is more of it."""
        self._live = (errors, mode)

    def _look_again(self) -> None:
        if self._live is None:
            return
        errors, mode = self._live
        self._looked_at, self._next_look = dict(self._counts), time.monotonic() + _LOOK_SECONDS
        reasons = tuple(self._looked_at)
        title = "Looking at what waits"
        self._looking.start(title, lambda _watch: read_error_store(errors, mode, reasons), self._take, is_quiet=True)

    def show_report(self, report: Mapping[str, Any]) -> None:
        """Show what a finished run set aside, and what of it still waits."""
        self._live = None
        self._where, self.waiting = {}, StillWaiting()
        self.show_counts(report["by_reason"])
        errors, mode, reasons = str(report.get("errors") or ""), report["mode"], tuple(report["by_reason"])
        self.note.setText("" if reasons else _NOTHING)
        if reasons:
            self._looking.start(
                "Looking at what waits", lambda _watch: read_error_store(errors, mode, reasons), self._take
            )

    def _take(self, outcome: JobOutcome[ErrorStoreContents]) -> None:
        found = outcome.value or ErrorStoreContents()
        self.waiting, self._where = found.waiting, dict(found.where)
        self.show_counts(dict(self._counts))
        if not found.is_there:
            self.note.setText(_GONE)
        elif not self.waiting.reasons and {reason for reason, _ in self._counts} != {_KEPT_IN_PART}:
            self.note.setText(_ALL_DONE)
        else:
            self.note.setText("Enter takes the next step" if self.waiting.is_untouched else "a part was replayed")

    def show_busy(self, is_busy: bool) -> None:
        """Offer no replay while a run goes on."""
        self._is_busy = is_busy
        self._say()

    def _row(self, reason: str, count: int) -> tuple[TableCell, ...]:
        step = next_step(reason)
        return (
            TableCell(reason_title(reason), pill=reason_kind(reason), tip=reason_tip(reason)),
            TableCell(self._where.get(reason, "")),
            TableCell(f"{count:,}", is_number=True),
            TableCell(step.words, is_number=True, is_link=True),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out where records come from when there is no room for it; their texts say it too."""
        super().resizeEvent(event)
        is_narrow = self.width() < themes.px(_ROOM_FOR_WHERE_PX)
        self.table.setColumnHidden(_WHERE, is_narrow)
        self.table.horizontalHeader().setStretchLastSection(is_narrow)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The reasons that a replay is for: that of the selected row, or all that wait."""
        rows = self.table.selectionModel().selectedRows()
        reasons = tuple(self._counts[row.row()][0] for row in rows if row.row() < len(self._counts))
        return reasons or self.waiting.reasons

    def _say(self) -> None:
        """Name what the button would replay: exactly while nothing of it was replayed, as the report counts it."""
        wanted = [reason for reason in self.wanted if reason in self.waiting.reasons]
        count = sum(number for reason, number in self._counts if reason in wanted)
        self.replay.setText(f"Replay these {count:,}" if self.waiting.is_untouched else "Replay what waits")
        self.replay.setEnabled(bool(wanted) and not self._is_busy)
        self.replay.setVisible(bool(self.waiting.reasons))
        self.replay.updateGeometry()

    def _clicked(self, index: QModelIndex) -> None:
        reason = self._counts[index.row()][0]
        if index.column() == _STEP and next_step(reason).kind != SHOW:
            self.step_wanted.emit(reason)
        else:
            self.reason_chosen.emit(reason)

    def _activated(self, index: QModelIndex) -> None:
        """Take the next step by Enter; a double click has chosen the reason already."""
        reason = self._counts[index.row()][0]
        if next_step(reason).kind == SHOW:
            self.reason_chosen.emit(reason)
        else:
            self.step_wanted.emit(reason)

    def _show_menu(self, at: QPoint) -> None:
        row = self.table.indexAt(at).row()
        if not 0 <= row < len(self._counts):
            return
        reason = self._counts[row][0]
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Show its records").triggered.connect(lambda: self.reason_chosen.emit(reason))
        step = next_step(reason)
        if step.kind != SHOW:
            menu.addAction(step.words).triggered.connect(lambda: self.step_wanted.emit(reason))
        menu.addAction("Copy link").triggered.connect(lambda: self.link_wanted.emit(reason))
        menu.popup(self.table.viewport().mapToGlobal(at))

    def _build(self) -> None:
        row = QHBoxLayout()
        title = plain_label("Set aside", "heading")
        title.setMinimumHeight(HEADING_PX)
        row.addWidget(title)
        row.addSpacing(8)
        row.addWidget(self.note, 1)
        row.addWidget(self.replay)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.table, 1)
