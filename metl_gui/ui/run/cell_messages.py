"""From a cell of the matrix to the messages that it had a part in: of the last run that kept one, else a sample."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from metl_gui.core.progress import Watch
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.preview.controller import PreviewController
from metl_gui.ui.run.page import RunPage
from metl_gui.workbench.samples.cell_messages import CellUse, cell_use, newest_run_using

_NOTHING = "No run keeps a message that used this cell, and no sample does. Run a test with messages of its schema."
_NO_CELL = "Select a cell to see the messages that used it."


class CellMessages(QObject):
    """Leads from the selected cell to messages.

    Args:
        page: shows messages of runs.
        preview: shows samples.
    """

    def __init__(self, context: AppContext, page: RunPage, preview: PreviewController) -> None:
        super().__init__(context.window)
        self._context, self._page, self._preview = context, page, preview
        self._looking = NewestJob(context.jobs, self)
        context.project.opened.connect(self._opened)

    def show(self) -> None:
        """Show the messages of the last run that used the selected cell; where there is none, a sample that does."""
        selected = self._context.selection.current
        key, element = selected.block, selected.element
        use = cell_use(self._context.project.value, key, element) if key is not None and element is not None else None
        if use is None:
            self._context.notify(_NO_CELL, is_good=False)
            return
        folders = tuple(run.folder for run in self._page.past_runs)

        def task(watch: Watch) -> Path | None:
            return newest_run_using(folders, use, watch)

        def done(outcome: JobOutcome[Path | None]) -> None:
            if not outcome.is_cancelled:
                self._show(use, outcome.value)

        self._looking.start("Looking for messages", task, done)

    def _opened(self, _workbench: object) -> None:
        self._looking.cancel()  # the cell is one of the project before

    def _show(self, use: CellUse, folder: Path | None) -> None:
        run = next((each for each in self._page.past_runs if each.folder == folder), None)
        if run is not None:
            self._context.navigate.show_page(PAGES.index("Run"))
            self._page.show_run(run.run_id)
            self._page.messages.show_use(use)
        elif not self._preview.show_use(use):
            self._context.notify(_NOTHING, is_good=False)
