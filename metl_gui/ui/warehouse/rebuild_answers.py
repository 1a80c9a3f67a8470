"""Asks the targets that the window has loaded whether they have to be rebuilt, and takes the answers.

It is a job that waits until nothing is loaded: a file of DuckDB is read while nobody writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from metl_gui.core.dimensional.loads.rebuild_question import RebuildQuestion
from metl_gui.core.progress import Watch
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.warehouse.commands import WarehouseController
from metl_gui.workbench.runs.mapping_run import PRODUCTION, TEST
from metl_gui.workbench.session import Workbench

_DELAY_MS = 800
"""Edits that follow one another ask targets once."""


class RebuildAnswers(QObject):
    """Joins the job, the cards, and the page that rebuilds.

    Args:
        context: what controllers share.
        page: with the cards.
        warehouse: rebuilds.
        is_loading: whether a run or a load goes on.
    """

    def __init__(
        self, context: AppContext, page: ReviewPage, warehouse: WarehouseController, is_loading: Callable[[], bool]
    ) -> None:
        super().__init__(context.window)
        self._context, self._page, self._warehouse, self._is_loading = context, page, warehouse, is_loading
        self._looking = NewestJob(context.jobs, self)
        self._later: set[tuple[str, str]] = set()
        strip = page.list.rebuilds
        strip.rebuild_wanted.connect(self.rebuild)
        strip.keep_wanted.connect(self.keep)
        strip.later_wanted.connect(self.put_off)
        PanelUpdater(context.project, page, self.look, delay_ms=_DELAY_MS, catches_up=False)
        page.seen.connect(self.look)
        warehouse.page.load.held.connect(self._remember)
        context.project.opened.connect(self._opened)

    def look(self) -> None:
        """Ask the targets that were loaded from the window."""
        workbench = self._context.project.workbench
        if workbench is None or self._is_loading():
            return
        known = self._context.settings.warehouses(workbench.project_id)
        targets = [(target, str(one.get("model", ""))) for target, one in known.items()]
        if not targets or not self._context.project.value.models:
            self._looking.cancel()
            self._page.list.rebuilds.show_cards((), can_edit=True)
            return

        def done(outcome: JobOutcome[tuple[RebuildQuestion, ...]]) -> None:
            if outcome.value is not None and self._context.project.workbench is workbench:
                self._show(workbench, outcome.value)

        self._looking.start("Warehouses to rebuild", partial(_ask, workbench, targets), done, is_quiet=True)

    def rebuild(self, question: RebuildQuestion) -> None:
        """Rebuild a target, on the page that shows how far that is."""
        page = self._warehouse.page
        self._looking.cancel()
        self._context.navigate.show_page(PAGES.index("Warehouse"))
        self._warehouse.choose_model(question.model)
        page.load.target.setText(question.target)
        page.load.mode.choose(PRODUCTION if question.mode == PRODUCTION else TEST)
        self._warehouse.rebuild()

    def keep(self, question: RebuildQuestion) -> None:
        """Leave a target as it is: nobody is asked for these changes again."""
        workbench = self._context.project.workbench
        if workbench is None:
            return
        before = self._context.settings.warehouses(workbench.project_id).get(question.target, {})
        save = partial(self._context.settings.save_warehouse, workbench.project_id, question.target, question.model)
        save(question.mark)

        def undo() -> None:
            save(str(before.get("kept", "")))
            self.look()

        self._drop(question)
        self._context.notify(f"{question.target} stays as it is; loads into it are refused.", "Undo", undo)

    def put_off(self, question: RebuildQuestion) -> None:
        """Ask again when the project is opened another time."""
        self._later.add((question.target, question.mark))
        self._drop(question)

    def _drop(self, question: RebuildQuestion) -> None:
        strip = self._page.list.rebuilds
        strip.show_cards(tuple(one for one in strip.shown if one != question), can_edit=True)

    def _show(self, workbench: Workbench, found: tuple[RebuildQuestion, ...]) -> None:
        known = self._context.settings.warehouses(workbench.project_id)
        asked = [one for one in found if known.get(one.target, {}).get("kept") != one.mark]
        shown = tuple(one for one in asked if (one.target, one.mark) not in self._later)
        self._page.list.rebuilds.show_cards(shown, can_edit=True)

    def _remember(self, target: str) -> None:
        workbench = self._context.project.workbench
        if workbench is not None:
            self._context.settings.save_warehouse(workbench.project_id, target, self._warehouse.page.model.name)

    def _opened(self, _workbench: object) -> None:
        self._looking.cancel()
        self._later.clear()
        self._page.list.rebuilds.show_cards((), can_edit=True)


def _ask(workbench: Workbench, targets: list[tuple[str, str]], _watch: Watch) -> tuple[RebuildQuestion, ...]:
    from metl_gui.workbench.loads.rebuild_questions import rebuild_questions  # parsers of SQL, and the database

    return rebuild_questions(workbench, targets)
