"""Where the numbers of the Run page lead: from a figure to what it counts, from two runs to what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.ui.run.comparison import ENTITY, REASON, Compared
from metl_gui.ui.run.figures import KERNEL, READ
from metl_gui.ui.run.history_model import HistoryEntry
from metl_gui.workbench.run_history import compare_runs

if TYPE_CHECKING:
    from metl_gui.ui.run.page import RunPage


class Leading(QObject):
    """Follows numbers on one page."""

    def __init__(self, page: RunPage) -> None:
        super().__init__(page)
        self._page = page
        page.figures.followed.connect(self._follow_figure)
        page.setup.history.comparison_wanted.connect(self._compare)
        page.comparison.followed.connect(self._follow_compared)

    def _follow_figure(self, figure: str) -> None:
        if figure == READ:
            self._page.show_details()
        elif figure == KERNEL:
            self._page.show_speed()

    def _compare(self, pair: tuple[HistoryEntry, HistoryEntry]) -> None:
        """Compare two runs; one that goes on is taken as far as it is."""
        known = {run.run_id: run for run in self._page.past_runs}
        a, b = (known.get(entry.run_id) for entry in pair)
        if a is not None and b is not None:
            self._page.comparison.show_comparison(compare_runs(a, b))
            self._page.show_compared()

    def _follow_compared(self, compared: Compared) -> None:
        """Show what a number of a comparison counts."""
        page = self._page
        if compared.kind in (ENTITY, REASON) or (not compared.path and "@" not in compared.name):
            page.setup.history.select(compared.run.run_id)
            page.show_whole()
            page.show_past(compared.run)
            if compared.kind == ENTITY:
                page.messages.show_entity(compared.name)
            elif compared.kind == REASON:
                page.messages.show_reason(compared.name)
        else:
            page.compared.emit(compared)
