"""What was settled lately, in one window: reads it beside the window, shows it below the review list, leads back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from metl_gui.core.review.settled import Settled, SettledBlocks, passing
from metl_gui.ui.jobs import Outcome
from metl_gui.ui.moments import clock, now_ms
from metl_gui.ui.newest_job import NewestJob
from metl_gui.ui.pause import pause
from metl_gui.ui.review.settled_detail import SettledDetail
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.settling import midnight_ms, settled_since

if TYPE_CHECKING:
    from metl_gui.ui.window import Window

_DELAY_MS = 60
_MAP = 0


@dataclass(frozen=True)
class _Read:
    """What a job found: all that was settled, and what the filter of the list shows of it."""

    all: SettledBlocks
    shown: tuple[Settled, ...]


class SettlingRoom(QObject):
    """Joins the parts.

    Args:
        window: its review page gets the detail; the strip is in the review list already.
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._page, self._project = window.review, window.project
        self._strip = self._page.list.settled
        self._opened_ms = now_ms()
        self._known: SettledBlocks | None = None
        self._newest = NewestJob(window.jobs, self)
        self._soon = pause(self, _DELAY_MS, self.read)
        self.detail = SettledDetail()
        self._page.add_settled(self.detail)
        self._strip.fold(window.settings.folds_settled)
        self._strip.folded.connect(self._fold)
        self._strip.chosen.connect(self.show)
        self._strip.map_wanted.connect(self.show_on_map)
        self.detail.map_wanted.connect(self.show_on_map)
        self.detail.again_wanted.connect(self.look_again)
        self.detail.undo_wanted.connect(self.ask_and_undo)
        self._page.list.chosen.connect(self._chosen)
        self._page.list.filter.changed.connect(self._read_soon)
        self._page.seen.connect(self.read)  # a new day may have begun, too
        self._project.opened.connect(self._opened)
        self._project.changed.connect(self._changed)

    # what is seen

    def read(self) -> None:
        """Read what was settled since midnight, or since the window was opened where that is longer ago."""
        self._soon.stop()
        workbench, document = self._project.workbench, self._project.value
        if workbench is None or self._project.looks_back is not None:
            self._strip.show_settled(document, (), "")
            self._leave()
            return
        now, known, query = now_ms(), self._known, self._page.list.filter.query
        since = min(midnight_ms(now), self._opened_ms)

        def task(watch: Watch) -> _Read:
            found = settled_since(workbench, since, known, watch)
            return _Read(found, passing(document, found.newest_first(), query, now))

        def done(outcome: Outcome[_Read]) -> None:
            if outcome.value is not None and self._project.workbench is workbench:
                self._known = outcome.value.all
                words = "Settled today" if since >= midnight_ms(now) else f"Settled since {clock(since)}"
                self._show(outcome.value.shown, words)

        self._newest.start("Reading what was settled", task, done)

    def show(self, settled: Settled) -> None:
        """Show a settled block in the place of the cards, to read."""
        if not self._is_here(settled):
            return
        self.detail.show_settled(self._project.value, settled, self._project.can_edit)
        self._page.show_settled(settled.key)
        chain = [self._strip.view, *self.detail.focus_chain()]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    # what is done

    def show_on_map(self, settled: Settled) -> None:
        """Select a settled block on the Map page."""
        if self._is_here(settled):
            self._window.show_page(_MAP)
            self._window.selection.choose(self._page.selected_of(settled.key))

    def look_again(self, settled: Settled) -> None:
        """Take the decision back, so that the block waits again."""
        self._window.history.undo_of(settled.state)

    def ask_and_undo(self, settled: Settled) -> None:
        """Take back what settled the block, after one question that names it."""
        self._window.history.ask_to_undo(settled.state)

    # following

    def _show(self, shown: tuple[Settled, ...], words: str) -> None:
        self._strip.show_settled(self._project.value, shown, words)
        front = self.detail.settled
        if front is None or not self._page.shows_settled:
            return
        again = next((each for each in shown if each.key == front.key), None)
        if again is None:
            self._leave()
        elif again != front and self._is_here(again):
            self.detail.show_settled(self._project.value, again, self._project.can_edit)

    def _is_here(self, settled: Settled) -> bool:
        """Whether both versions are there still; what went is read again in a moment."""
        document, (v, w) = self._project.value, settled.key
        return document.extraction.has_version(v) and document.cdm.has_version(w)

    def _leave(self) -> None:
        """Go to what waits: to the block itself where it does again."""
        front = self.detail.settled
        if front is not None and self._page.shows_settled:
            self._strip.leave()
            self._page.leave_settled(front.key)

    def _chosen(self, item: object) -> None:
        if item is not None:
            self._strip.leave()

    def _opened(self, _workbench: object) -> None:
        self._known = None
        self._leave()
        self._read_soon()

    def _changed(self, _changed: object) -> None:
        self._read_soon()

    def _read_soon(self, _what: object = None) -> None:
        if self._page.isVisible():
            self._soon.start()

    def _fold(self, is_folded: bool) -> None:
        self._window.settings.folds_settled = is_folded
