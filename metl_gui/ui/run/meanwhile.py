"""What became of production runs that went on while no window was there: told when their project is opened again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from metl_gui.core.counted import number_of
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.run.progress import count_words, in_place_words, source_words
from metl_gui.workbench.runs.history import PastRun, RunStatus, runs

if TYPE_CHECKING:
    from metl_gui.ui.run.page import RunPage
    from metl_gui.workbench.runs.production import LiveRun

MOST_RUNS = 20
"""So many production runs are kept of one visit."""

_ENDS = {
    RunStatus.FINISHED: "has finished",
    RunStatus.STOPPED: "was stopped",
    RunStatus.CANCELLED: "was cancelled",
    RunStatus.FAILED: "has failed",
    RunStatus.DIED: "has died",
    RunStatus.KILLED: "was killed",
}
_WELL = (RunStatus.RUNNING, RunStatus.FINISHED, RunStatus.STOPPED)


def goes_on_words(live: Sequence[LiveRun]) -> str:
    """Say that production goes on without the window; nothing where none goes on."""
    if not live:
        return ""
    if len(live) > 1:
        return f"{len(live)} production runs go on without this window."
    source = source_words(live[0].order.spec.source.address)
    return f"The production run of {source} goes on without this window."


def meanwhile_words(found: Sequence[PastRun]) -> str:
    """Say what became of runs that went on without a window."""
    if len(found) == 1:
        run = found[0]
        report = run.report.as_json()
        name = f"The production run of {source_words(run.report.source)}"
        if run.status is RunStatus.RUNNING:
            counted = "" if run.report.failure else f": {in_place_words(report)}"
            return f"{name} went on while this project was closed{counted}."
        return f"{name} {_ENDS[run.status]} while this project was closed: {count_words(report)}."
    going = sum(run.status is RunStatus.RUNNING for run in found)
    ended = [run for run in found if run.status is not RunStatus.RUNNING]
    failed = sum(run.status not in _WELL for run in ended)
    parts = [
        f"{going} still {'go' if going > 1 else 'goes'} on" if going else "",
        f"{len(ended)} {'have' if len(ended) > 1 else 'has'} ended" if ended else "",
        f"{failed} of them not in order" if failed else "",
    ]
    words = ", ".join(part for part in parts if part)
    return f"{number_of(len(found), 'production run')} went on while this project was closed: {words}."


class Meanwhile(QObject):
    """Tells of the production runs of one window that went on without it.

    Args:
        page: shows one of them when that is wanted.
    """

    def __init__(self, context: AppContext, page: RunPage) -> None:
        super().__init__(context.window)
        self._context, self._page = context, page
        self._looking = NewestJob(context.jobs, self)
        self._found: tuple[PastRun, ...] = ()
        context.project.opened.connect(self._looking.cancel)

    def tell(self, run_ids: Sequence[str]) -> None:
        """Find out what became of runs, and say it."""
        workbench, wanted = self._context.project.workbench, set(run_ids[:MOST_RUNS])
        if workbench is not None and wanted:
            self._looking.start(
                "Reading what production did meanwhile",
                lambda _watch: tuple(run for run in runs(workbench) if run.run_id in wanted),
                self._tell,
            )

    def _tell(self, outcome: JobOutcome[tuple[PastRun, ...]]) -> None:
        self._found = outcome.value or ()  # what cannot be read the Run page says
        if self._found:
            is_good = all(run.status in _WELL for run in self._found)
            self._context.notify(meanwhile_words(self._found), "Show", self._show, is_good=is_good)

    def _show(self) -> None:
        self._context.navigate.show_page(PAGES.index("Run"))
        self._page.show_run(self._found[0].run_id)
