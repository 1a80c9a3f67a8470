"""Timelines of keys: which key is shown, of those that there are and of members that no message has brought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.warehouse_model import Fact
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.warehouse.late_trials import LateTrials
from metl_gui.ui.warehouse.page import WarehousePage
from metl_gui.ui.warehouse.row_reasons import RowReasons
from metl_gui.ui.warehouse.target_mode import state_reader
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.workbench.session import Workbench


class KeyTimelines(QObject):
    """Shows a key of the target that the page names, off the window's thread; of several keys the newest.

    Args:
        context: what controllers share.
        page: with the timeline and the target.
    """

    def __init__(self, context: AppContext, page: WarehousePage) -> None:
        super().__init__(context.window)
        self._context, self._page, self._project = context, page, context.project
        self._late, self.reasons = LateTrials(context, page), RowReasons(context, page)
        self._opening = NewestJob(context.jobs, self)
        self._place: tuple[str, ...] = ()
        page.timeline.key_wanted.connect(self.choose_key)
        page.timeline.offered.connect(context.actions.refresh)
        page.load.target.textChanged.connect(self.follow)
        page.load.mode.changed.connect(self.follow)

    def clear(self) -> None:
        """Show no key, and none that is being read."""
        self._opening.cancel()
        self.reasons.cancel()
        self._late.begin(None)
        self._page.timeline.clear()

    def follow(self) -> None:
        """Show no key any more that is of another target, mode or model than the page names now."""
        page = self._page
        place = page.load.target_text, page.load.mode.mode, page.model.name
        if place != self._place:
            self._place = place
            self.clear()

    def choose_key(self) -> None:
        """Ask for a key of the dimension that is shown."""
        table = self._page.shown
        if self._project.workbench is not None and self._page.timeline.choose.isEnabled():
            task = partial(
                _keys,
                state_reader(self._project, self._page.load.mode.mode),
                self._page.load.target_text,
                table,
                self._page.model.name,
            )
            self._opening.start(f"Reading keys of {table}", task, self._offer_keys)

    def show_missing(self) -> None:
        """List the members that no message has brought to the target; one that is chosen is shown in its time."""
        workbench, target, model = self._project.workbench, self._page.load.target_text, self._page.model.name
        if workbench is not None and self._page.load.audit.isEnabled():
            task = partial(_missing, workbench, target, model)
            self._opening.start("Reading the members that are missing", task, self._offer_missing)

    def _offer_missing(self, outcome: JobOutcome[tuple[MissingMember, ...]]) -> None:
        if outcome.error is not None:
            self._refuse(outcome.error)
        elif outcome.value:
            choices = [ChoiceRow(TwoLines(f"{m.dimension} {', '.join(m.key)}", m.words), m) for m in outcome.value]
            chooser = Chooser("Members that no message has brought", choices, self._context.window)
            chooser.chosen.connect(self._show_missing)
            dialogs.show_about(self._project, chooser)
        elif outcome.value is not None:
            self._context.notify("Every member that facts refer to is there.")

    def _show_missing(self, member: MissingMember) -> None:
        self._show_row(member.dimension, member.key)

    def show_rows(self, table: str, keys: Sequence[tuple[str, ...]]) -> None:
        """Show a row of a dimension in its time, or tell why one of a fact is so; of several ask for one."""
        if len(keys) == 1:
            self._show_row(table, keys[0])
        elif keys:
            choices = [ChoiceRow(TwoLines(f"{table} {', '.join(key)}", ""), key) for key in keys]
            chooser = Chooser(f"Row of {table} to look at", choices, self._context.window)
            chooser.chosen.connect(partial(self._show_row, table))
            dialogs.show_about(self._project, chooser)

    def _show_row(self, table: str, key: tuple[str, ...]) -> None:
        self._page.show_table(table)
        if isinstance(self._page.shown_table, Fact):
            self.reasons.explain(table, key)
            return
        self._page.timeline_dock.show()
        self._page.timeline_dock.raise_()
        self._show_key(key)

    def _offer_keys(self, outcome: JobOutcome[tuple[tuple[str, ...], ...]]) -> None:
        if outcome.error is not None:
            self._refuse(outcome.error)
        if outcome.value is None:
            return
        choices = [ChoiceRow(TwoLines(", ".join(key), ""), key) for key in outcome.value]
        chooser = Chooser(f"Key of {self._page.shown}", choices, self._context.window, typed="Show {}")
        chooser.chosen.connect(self._show_key)
        dialogs.show_about(self._project, chooser)

    def _show_key(self, chosen: tuple[str, ...] | str) -> None:
        key = tuple(part.strip() for part in chosen.split(",")) if isinstance(chosen, str) else chosen
        table, model = self._page.shown, self._page.model.name
        task = partial(
            _history,
            state_reader(self._project, self._page.load.mode.mode),
            self._page.load.target_text,
            table,
            key,
            model,
        )
        self._opening.start(f"Reading the history of {table}", task, self._show_history)

    def _show_history(self, outcome: JobOutcome[KeyHistory]) -> None:
        if outcome.value is not None:
            self.show_history(outcome.value)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def show_history(self, history: KeyHistory) -> None:
        """Show a key in its time; what late messages would do can be tried with it."""
        self._late.begin(history)
        self._page.timeline.show_history(history)
        self._page.timeline.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _refuse(self, error: Exception) -> None:
        self._context.notify(str(error), is_good=False)


# Tasks of jobs. What they import would keep the window from being shown: parsers of SQL, and the database.


def _missing(workbench: Workbench, target: str, model: str, _watch: Watch) -> tuple[MissingMember, ...]:
    from metl_gui.workbench.loads.warehouse_loads import warehouse_status

    return warehouse_status(workbench, target, model).missing


def _keys(
    state: Callable[[], Document], target: str, table: str, model: str, _watch: Watch
) -> tuple[tuple[str, ...], ...]:
    from metl_gui.workbench.loads.key_histories import dimension_keys

    return dimension_keys(state(), target, table, model)


def _history(
    state: Callable[[], Document], target: str, table: str, key: tuple[str, ...], model: str, _watch: Watch
) -> KeyHistory:
    from metl_gui.workbench.loads.key_histories import dimension_key_history

    return dimension_key_history(state(), target, table, key, model)
