"""The first view of a run: figures, chart, messages by entity, set aside, one message before and after.

By entity stands how many messages there are, and how far the attributes that the entity requires are filled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.ui.charts.chart import RunChart
from metl_gui.ui.charts.figures import ASIDE, MAPPED, RATE, Figures
from metl_gui.ui.charts.series import RECORDS, ProgressSeries
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.messages.panel import MessagePanel
from metl_gui.ui.project.text import share
from metl_gui.ui.run.set_aside import SetAsidePanel
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import HEADING_PX, TableCell, TableModel, make_table
from metl_gui.workbench.runs.fill_rates import EntityFilled, filled_of

_FILLED, _BAR = 2, 3
_ROOM_FOR_BARS_PX = 430
_LEAST_BAR_PX = 58
_NAMES_FIRST_PX = 80


class EntityPanel(QFrame):
    """A card with one row for each entity, the largest first.

    Signals:
        entity_chosen: the entity whose messages are to be shown.
        filled_wanted: the entity whose filled attributes are to be shown.
    """

    entity_chosen = Signal(object)
    filled_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.rows: tuple[EntityFilled, ...] = ()
        right = TableCell("required filled", is_number=True)
        self.model = TableModel([TableCell("entity"), TableCell("messages", is_number=True), right, TableCell("")])
        self.table = make_table("Messages by entity", self.model)
        columns = self.table.horizontalHeader()
        modes = QHeaderView.ResizeMode.Stretch, QHeaderView.ResizeMode.ResizeToContents
        for column, mode in enumerate((modes[0], modes[1], modes[1], QHeaderView.ResizeMode.Fixed)):
            columns.setSectionResizeMode(column, mode)
        self.facts = Elided("", "small")
        row = QHBoxLayout()
        title = plain_label("By entity", "heading")
        title.setMinimumHeight(HEADING_PX)
        row.addWidget(title)
        row.addSpacing(8)
        row.addWidget(self.facts, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.table, 1)
        self.table.clicked.connect(self._clicked)
        self.table.activated.connect(self._activated)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the bars what the names can spare, and leave them out when there is no room for both."""
        super().resizeEvent(event)
        self.table.setColumnWidth(
            _BAR, max(themes.px(_LEAST_BAR_PX), self.width() * 2 // 7 - themes.px(_NAMES_FIRST_PX))
        )
        self.table.setColumnHidden(_BAR, self.width() < themes.px(_ROOM_FOR_BARS_PX))

    def clear(self) -> None:
        """Show that nothing was run."""
        self.rows = ()
        self.model.show_rows([])
        self.facts.setText("what a run makes of your messages")

    def show_counts(self, counts: Mapping[str, Any], document: Document) -> None:
        """Show the counts of a run, live or finished.

        Args:
            counts: as the report names them.
            document: says which attributes are required.
        """
        self.rows = filled_of(counts["by_entity"], counts.get("by_attribute") or {}, document)
        most = max((row.messages for row in self.rows), default=1)
        self.model.show_rows([_cells(row, most) for row in self.rows])
        unreviewed = sum((counts.get("from_unreviewed") or {}).values())
        words = number_of(int(counts["messages_out"]), "message")
        self.facts.setText(f"{words} · {unreviewed:,} from unreviewed blocks" if unreviewed else words)

    def _clicked(self, index: QModelIndex) -> None:
        self._choose(index, index.column() == _FILLED)

    def _activated(self, index: QModelIndex) -> None:
        """Show by Enter what is filled; the arrows have shown the messages already."""
        self._choose(index, True)

    def _choose(self, index: QModelIndex, wants_filled: bool) -> None:
        if not 0 <= index.row() < len(self.rows):
            return
        entity = self.rows[index.row()].entity
        (self.filled_wanted if wants_filled else self.entity_chosen).emit(entity)


def _cells(row: EntityFilled, most: int) -> tuple[TableCell, ...]:
    part, whole = row.required
    return (
        TableCell(row.name),
        TableCell(f"{row.messages:,}", is_number=True),
        TableCell(share(part, whole), is_number=True, is_link=bool(row.attributes)),
        TableCell("", share=row.messages / most if most else 0.0, tip=f"{row.messages:,} of {most:,}"),
    )


_GAP_PX = 12
_SHARES = (38, 29, 33)
_LEAST_PX = (132, 144, 104)


class RunBody(QWidget):
    """The panels of one run, and how they lead to each other.

    Args:
        document: gives the newest document.
        jobs: reads what runs kept.

    Signals:
        run_wanted: a test run is to be started.
    """

    run_wanted = Signal()

    def __init__(self, document: Callable[[], Document], jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.figures, self.chart = Figures(), RunChart()
        self.entities, self.aside = EntityPanel(), SetAsidePanel(jobs)
        self.messages = MessagePanel(document, jobs)
        self._build()
        self.figures.followed.connect(self._follow)
        self.entities.entity_chosen.connect(self._show_entity)
        self.chart.run_wanted.connect(self.run_wanted)
        self.aside.reason_chosen.connect(self.messages.show_reason)

    def clear(self) -> None:
        """Show that nothing was run."""
        self.chart.show_course(ProgressSeries())
        self.figures.clear()
        self.entities.clear()
        self.aside.clear()
        self.messages.show_run(None)

    def show_counts(self, counts: Mapping[str, Any], rate: float) -> None:
        """Show the counts of a run, live or finished, as the report names them."""
        self.figures.show_counts(counts, rate)
        self.entities.show_counts(counts, self._document())
        self.aside.show_counts(counts["by_reason"])

    def dress(self) -> None:
        """Follow the scale."""
        for part, least in zip(self._parts, _LEAST_PX, strict=True):
            part.setMinimumHeight(themes.px(least))

    def _follow(self, figure: str) -> None:
        """Go to what a figure counts."""
        if figure == RATE:
            self.chart.show_view(RECORDS)
            self.chart.views.setFocus(Qt.FocusReason.OtherFocusReason)
        elif figure == MAPPED:
            self.entities.table.setFocus(Qt.FocusReason.OtherFocusReason)
        elif figure == ASIDE:
            self.aside.table.setFocus(Qt.FocusReason.OtherFocusReason)
            self.messages.show_reason("")

    def _show_entity(self, entity: str) -> None:
        self.messages.show_entity(entity)
        if self.chart.view.id != RECORDS.id or not self.chart.is_live:
            self.chart.show_entity(entity)

    def _build(self) -> None:
        tables = QWidget()
        row = QHBoxLayout(tables)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP_PX)
        row.addWidget(self.entities, 1)
        row.addWidget(self.aside, 1)
        self._parts = (self.chart, tables, self.messages)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setProperty("surface", "clear")
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(_GAP_PX)
        for at, (part, weight) in enumerate(zip(self._parts, _SHARES, strict=True)):
            parts.addWidget(part)
            parts.setStretchFactor(at, weight)
        parts.setSizes([weight * 100 for weight in _SHARES])  # more than there is: the splitter keeps the proportions
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP_PX)
        layout.addWidget(self.figures)
        layout.addWidget(parts, 1)
        self.dress()
