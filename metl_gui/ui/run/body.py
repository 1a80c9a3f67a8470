"""The first view of a run: figures, chart, by entity, set aside, one message before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.ui import theme as themes
from metl_gui.ui.jobs import Jobs
from metl_gui.ui.run.aside import AsidePanel
from metl_gui.ui.run.chart import RunChart
from metl_gui.ui.run.chart_views import RECORDS
from metl_gui.ui.run.course import Course
from metl_gui.ui.run.entities import EntityPanel
from metl_gui.ui.run.figures import ASIDE, MAPPED, RATE, Figures
from metl_gui.ui.run.message_panel import MessagePanel

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
        self.entities, self.aside = EntityPanel(), AsidePanel(jobs)
        self.messages = MessagePanel(document, jobs)
        self._build()
        self.figures.followed.connect(self._follow)
        self.entities.entity_chosen.connect(self._show_entity)
        self.chart.run_wanted.connect(self.run_wanted)
        self.aside.reason_chosen.connect(self.messages.show_reason)

    def clear(self) -> None:
        """Show that nothing was run."""
        self.chart.show_course(Course())
        self.figures.clear()
        self.entities.clear()
        self.aside.clear()
        self.messages.show_run(None, None)

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
        for at, (part, share) in enumerate(zip(self._parts, _SHARES, strict=True)):
            parts.addWidget(part)
            parts.setStretchFactor(at, share)
        parts.setSizes([share * 100 for share in _SHARES])  # more than there is: the splitter keeps the proportions
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP_PX)
        layout.addWidget(self.figures)
        layout.addWidget(parts, 1)
        self.dress()
