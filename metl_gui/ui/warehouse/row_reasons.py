"""Why a row is as it is, a version or a fact: a list of its columns and what brought them.

Each message leads to the cell of the matrix that mapped it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyVersion
from metl_gui.core.dimensional.loads.row_reasons import MessageOrigin, ReferringRow
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.warehouse.page import WarehousePage
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.workbench.loads.message_runs import BroughtMessage
    from metl_gui.workbench.loads.row_reasons import ExplainedRow, SourceCell

_WIDTH = 980
"""Messages and cells have long names, and where they came from stands behind."""
_FIRST = "0001-01-01T00:00:00Z"
"""A time in the first version, which has no beginning."""


class RowReasons(QObject):
    """Tells why a version of the key that the timeline shows is as it is, or a fact.

    Args:
        context: what controllers share.
        page: with the timeline and the target.

    Signals:
        message_wanted: a ``BroughtMessage`` that somebody wants to see.
    """

    message_wanted = Signal(object)

    def __init__(self, context: AppContext, page: WarehousePage) -> None:
        super().__init__(context.window)
        self._context, self._page = context, page
        self._reading = NewestJob(context.jobs, self)
        page.timeline.why_wanted.connect(self.ask)
        page.timeline.fact_wanted.connect(self.choose_fact)

    def ask(self, asked: tuple[KeyHistory, KeyVersion]) -> None:
        """Find out why a version is as it is."""
        history, version = asked
        self.explain(history.table, history.key, version.since.isoformat() if version.since is not None else _FIRST)

    def explain(self, table: str, key: str | tuple[str, ...], at: str = "") -> None:
        """Find out why a row is as it is, off the window's thread; see ``why_row``."""
        workbench = self._context.project.workbench
        if workbench is not None:
            target, model = self._page.load.target_text, self._page.model.name
            task = partial(_why, workbench, target, table, key, at, model)
            self._reading.start(f"Reading a key of {table}", task, self._told)

    def choose_fact(self) -> None:
        """Ask for a fact of the table that is shown, by its grain."""
        workbench, table = self._context.project.workbench, self._page.shown
        if workbench is not None and self._page.timeline.fact.isEnabled():
            task = partial(_facts, workbench, self._page.load.target_text, table, self._page.model.name)
            self._reading.start(f"Reading keys of {table}", task, self._offer_facts)

    def _offer_facts(self, outcome: JobOutcome[tuple[tuple[str, ...], ...]]) -> None:
        table = self._page.shown
        if outcome.error is not None:
            self._context.notify(dialogs.in_one_line(outcome.error), is_good=False)
        elif outcome.value is not None:
            choices = [ChoiceRow(TwoLines(", ".join(key), ""), key) for key in outcome.value]
            chooser = Chooser(f"Fact of {table}, by its grain", choices, self._context.window, typed="Why {} is so")
            chooser.chosen.connect(partial(self._explain_fact, table))
            dialogs.show_about(self._context.project, chooser)

    def _explain_fact(self, table: str, chosen: str | tuple[str, ...]) -> None:
        """Explain a fact that was chosen, or written: values of its grain with commas, or as for ``why_row``."""
        if isinstance(chosen, str) and not chosen.startswith("{"):
            chosen = tuple(part.strip() for part in chosen.split(","))
        self.explain(table, chosen)

    def cancel(self) -> None:
        """Answer nothing any more that was asked."""
        self._reading.cancel()

    def _told(self, outcome: JobOutcome[ExplainedRow]) -> None:
        if outcome.error is not None:
            self._context.notify(dialogs.in_one_line(outcome.error), is_good=False)
        elif outcome.value is not None:
            reason = outcome.value.reason
            named = f"{reason.table} {', '.join(reason.key)}"
            if reason.is_inferred and not reason.inferred_by:
                self._context.notify(f"{named} {reason.inferred_words}")
                return
            version = f", version {reason.version}" if reason.version else ""
            title = f"{named} {reason.inferred_words}" if reason.is_inferred else f"Why {named} is so{version}"
            chooser = Chooser(title, list(_rows(outcome.value)), self._context.window)
            chooser.chosen.connect(self._follow)
            chooser.resize(min(themes.px(_WIDTH), self._context.window.width()), chooser.height())
            dialogs.show_about(self._context.project, chooser)

    def _follow(self, chosen: SourceCell | MessageOrigin | ReferringRow | None) -> None:
        workbench = self._context.project.workbench
        if isinstance(chosen, ReferringRow):
            self.explain(chosen.table, chosen.key)
        elif isinstance(chosen, MessageOrigin):
            if workbench is not None:
                self._reading.start("Looking for a message", partial(_brought, workbench, chosen), self._found)
        else:
            self._go_to(chosen)

    def _found(self, outcome: JobOutcome[BroughtMessage]) -> None:
        if outcome.error is not None:
            self._context.notify(dialogs.in_one_line(outcome.error), is_good=False)
        elif outcome.value is not None:
            self.message_wanted.emit(outcome.value)

    def _go_to(self, cell: SourceCell | None) -> None:
        """Bring the cell that mapped a value."""
        document = self._context.project.value
        if cell is None or cell.key is None or cell.element is None:
            self._context.notify("No cell of the matrix brought it.", is_good=False)
            return
        (v, w), element = cell.key, cell.element
        if document.extraction.find_version(v) is None or document.cdm.find_version(w) is None:
            self._context.notify(f"{cell.block} is not in the state that is shown.", is_good=False)
            return
        source = place_of_version(document, Side.EXTRACTION, v, element.p)
        target = place_of_version(document, Side.CDM, w, element.q)
        self._context.navigate.show_page(PAGES.index("Map"))
        self._context.selection.choose(Selected(source, target))


def _rows(row: ExplainedRow) -> Iterator[ChoiceRow]:
    """Yield a row for each message that brought a value, below its column; then one for each message."""
    for referring, cells in zip(row.reason.inferred_by, row.referring, strict=True):
        for cell in cells:
            yield ChoiceRow(TwoLines(cell.message.words, cell.words), cell, referring.words)
        asks = TwoLines(f"Why {referring.table} {', '.join(referring.key)} is so", "All its columns")
        yield ChoiceRow(asks, referring, referring.words)
    for column, (_, cells) in zip(row.reason.columns, row.cells, strict=True):
        section = f"{column.column} = {column.value}: {column.how}"
        for cell in cells:
            yield ChoiceRow(TwoLines(cell.message.words, cell.words), cell, section)
        if not cells:
            yield ChoiceRow(TwoLines("No message", column.how), None, section)
    brought = [cell.message for _, cells in (*row.cells, *(("", cells) for cells in row.referring)) for cell in cells]
    for message in dict.fromkeys([*([row.reason.opened_by] if row.reason.opened_by else []), *brought]):
        facts = f"Shows it in the run that brought it, {message.load}"
        yield ChoiceRow(TwoLines(message.words, facts), message, "The messages themselves")


# A task of a job. What it imports would keep the window from being shown: parsers of SQL, and the database.


def _why(
    workbench: Workbench, target: str, table: str, key: str | tuple[str, ...], at: str, model: str, _watch: Watch
) -> ExplainedRow:
    from metl_gui.workbench.loads.row_reasons import why_row

    return why_row(workbench, target, table, key, at, model)


def _brought(workbench: Workbench, message: MessageOrigin, _watch: Watch) -> BroughtMessage:
    from metl_gui.workbench.loads.message_runs import run_of_message

    return run_of_message(workbench, message)


def _facts(workbench: Workbench, target: str, table: str, model: str, _watch: Watch) -> tuple[tuple[str, ...], ...]:
    from metl_gui.workbench.loads.row_reasons import fact_keys

    return fact_keys(workbench, target, table, model)
