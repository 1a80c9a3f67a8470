"""What is done on the Warehouse page: models proposed, brought in, written out and changed; loads and audits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.models.proposed_tables import proposed_tables, with_proposed
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.search.problems import Problem
from metl_gui.core.warehouse_model import Model, Table
from metl_gui.errors import UserError
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.history.production_state import ProductionState
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.run.processes import SparkRuns
from metl_gui.ui.run.progress import published_words
from metl_gui.ui.warehouse.columns import TableRowChange
from metl_gui.ui.warehouse.key_timelines import KeyTimelines
from metl_gui.ui.warehouse.load_panel import FoundRows
from metl_gui.ui.warehouse.page import WarehousePage
from metl_gui.ui.warehouse.sql_dialog import SqlDialog
from metl_gui.ui.warehouse.star_view import places_json
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.values import Value
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.runs.mapping_run import TEST, RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.star import Places, read_places
from metl_gui.workbench.warehouse.table_rows import (
    TableRow,
    changed_table,
    free_attributes,
    with_column,
    with_table,
    without_row,
)

if TYPE_CHECKING:
    from metl_gui.workbench.exports.warehouse_page import WarehouseDocs
    from metl_gui.workbench.loads.warehouse_loads import AuditReport, LoadedRun
    from metl_gui.workbench.warehouse.models import ModelExport

_HTML = "Pages for a browser (*.html)"
_YAML = "Warehouse models (*.yaml *.yml);;All files (*)"
_ENDS_WITH_WINDOW = "This window does it. Quitting asks first; a load that is stopped leaves the target as it was."
_MOST_PLACES = 2_000
"""Boxes of one project whose places are kept."""
_MANY_TABLES, _PAUSE_MS = 50, 250
"""From so many tables on a model is checked when nothing was changed for a while: painting an edit comes first."""


class ModelFindings(Value):
    """What was found out about one model of one document."""

    document: Document
    model: Model
    problems: tuple[Problem, ...]
    proposed: tuple[Table, ...]


class WarehouseController(QObject):
    """Follows the project, and does what the page asks for.

    Args:
        context: what controllers share.
        spark: runs mappings, and with them loads.
        live: what is published, which targets of production go by.
        spark_target: tells where Spark is to be.
    """

    def __init__(
        self, context: AppContext, spark: SparkRuns, live: ProductionState, spark_target: Callable[[], str]
    ) -> None:
        super().__init__(context.window)
        self._context, self._spark, self._live, self._spark_target = context, spark, live, spark_target
        self.page = WarehousePage()
        self._project = context.project
        self.timelines = KeyTimelines(context, self.page)
        self._looking = NewestJob(context.jobs, self)
        self._reading, self._proving = NewestJob(context.jobs, self), NewestJob(context.jobs, self)
        self._loading: Workbench | None = None
        self._is_dry = False
        self._loaded_place = self._proved_place = self.page.load.place
        self._updater = PanelUpdater(context.project, self.page, self.refresh)
        self._pause = pause(self, _PAUSE_MS, self._look)
        self._connect()

    # following the project

    def refresh(self) -> None:
        """Show the model as it is now, and look at it anew."""
        project, page = self._project, self.page
        kept = self._context.settings.diagram(project.workbench.project_id) if project.workbench is not None else {}
        page.show_models(project.value, page.model.name, read_places(kept), can_edit=project.can_edit)
        self.timelines.follow()
        self._looking.cancel()
        if len(page.model.tables) > _MANY_TABLES:
            self._pause.start()
        else:
            self._look()

    def _look(self) -> None:
        document, model = self._project.value, self.page.model
        if document.model(model.name) is None:
            self._looking.cancel()
            return

        task = partial(_find, document, model)
        self._looking.start("Checking the warehouse model", task, self._looked, is_quiet=True)

    def _looked(self, outcome: JobOutcome[ModelFindings]) -> None:
        found = outcome.value
        if found is not None and found.document is self._project.value and found.model is self.page.model:
            self.page.show_found(found.problems, found.proposed)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _opened(self, workbench: Workbench | None) -> None:
        load = self.page.load
        for job in (self._reading, self._proving):
            job.cancel()
        self._loading = None
        load.clear()
        load.mode.choose(TEST)
        self.timelines.clear()
        captured = SampleFolder(workbench.path.parent).messages if workbench is not None else None
        load.source.setText(str(captured) if captured is not None and captured.is_dir() else "")
        load.target.setText(f"duckdb:{workbench.path.with_suffix('.duckdb')}" if workbench is not None else "")
        self._updater.schedule()

    def _keep_places(self) -> None:
        workbench, moved = self._project.workbench, self.page.star.moved
        if workbench is not None:
            newest = dict(list(moved.items())[-_MOST_PLACES:])
            self._context.settings.save_diagram(workbench.project_id, places_json(newest))

    # models

    def propose(self) -> None:
        """Put a first model into the project, or show what is proposed for the one that there is."""
        workbench = self._project.workbench
        if workbench is None or self._project.refuses_now():
            return
        if self._project.value.models:
            self._show_proposed()
            return
        task = partial(_propose, self._project.value, workbench.path.stem)
        self._reading.start("Proposing a warehouse model", task, self._take)

    def bring(self) -> None:
        """Ask for a file and read a model from it."""
        if self._project.workbench is None or self._project.refuses_now():
            return
        path, _ = QFileDialog.getOpenFileName(self._context.window, "Warehouse model to import", self._folder(), _YAML)
        if path:
            self._reading.start("Reading the warehouse model", partial(_read, Path(path)), self._take)

    def export(self) -> None:
        """Ask for a file and write the model to it."""
        workbench, name = self._project.workbench, self.page.model.name
        if workbench is None or not name:
            return
        start = str(Path(self._folder()) / f"{name}.yaml")
        path, _ = QFileDialog.getSaveFileName(self._context.window, "File for the warehouse model", start, _YAML)
        if path:
            task = partial(_export, workbench, Path(path), name)
            self._context.jobs.start("Writing the warehouse model", task, self._exported)

    def write_dictionary(self) -> None:
        """Ask for a file and write the page of the model to it, boxes as they are arranged here."""
        name = self.page.model.name
        if self._project.workbench is None or not name:
            return
        start = str(Path(self._folder()) / f"{name}.html")
        path, _ = QFileDialog.getSaveFileName(self._context.window, "Page for the warehouse model", start, _HTML)
        if path:
            task = partial(_describe, self._project.value, Path(path), name, dict(self.page.star.moved))
            self._context.jobs.start("Writing the dictionary", task, self._described)

    def _described(self, outcome: JobOutcome[WarehouseDocs]) -> None:
        if outcome.value is not None:
            self._context.notify(f"The dictionary of {outcome.value.model} is in {outcome.value.path}.")
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def choose_model(self, name: str) -> None:
        """Show another model."""
        self.page.show_models(self._project.value, name, self.page.star.moved, can_edit=self._project.can_edit)
        self.timelines.follow()
        self._look()

    def _take(self, outcome: JobOutcome[Model]) -> None:
        if outcome.value is not None:
            if self._project.do(SetModel(outcome.value)):
                self._context.navigate.show_page(PAGES.index("Warehouse"))
                self.choose_model(outcome.value.name)
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _exported(self, outcome: JobOutcome[ModelExport]) -> None:
        if outcome.value is not None:
            self._context.notify(f"The warehouse model {outcome.value.model} is in {outcome.value.path}.")
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _show_proposed(self) -> None:
        self._context.navigate.show_page(PAGES.index("Warehouse"))
        if self.page.proposed:
            self.page.show_table(self.page.proposed[0].name)
        else:
            self._context.notify("Nothing more is proposed: every entity with a key or a time has a table.")

    # tables and columns

    def pick(self, key: str) -> None:
        """Show the table of a box; of an entity the first one that is made of it."""
        kind, _, name = key.partition(":")
        if kind == "entity":
            tables = (*self.page.model.tables, *self.page.proposed)
            name = next((one.name for one in tables if getattr(one, "entity", "") == name), "")
        if name:
            self.page.shown = name
            self.page.show_columns()

    def accept(self) -> None:
        """Take the proposed table that is shown into the model."""
        page = self.page
        if page.is_proposed and not self._project.refuses_now():
            self._project.do(SetModel(with_proposed(page.model, page.proposed, page.shown)))

    def change(self, changed: TableRowChange) -> None:
        """Change a member of a row."""
        table = self.page.shown_table
        if table is None:
            return
        try:
            self._put(table, changed_table(self._project.value, table, changed.row, changed.member, changed.text))
        except UserError as error:
            self._refuse(error)

    def add_column(self) -> None:
        """Ask which attribute becomes a column."""
        table = self.page.shown_table
        if table is None or not self.page.can_edit:
            return
        free = free_attributes(self._project.value, self.page.model, table)
        has_new = any(one.is_new for one in free)
        rows = [
            ChoiceRow(TwoLines(one.path, one.type), one.path, ("New" if one.is_new else "Others") if has_new else "")
            for one in free
        ]
        chooser = Chooser(f"Column for {table.name}", rows, self._context.window)
        chooser.chosen.connect(self._add)
        dialogs.show_about(self._project, chooser)

    def remove(self, row: TableRow) -> None:
        """Remove a column or a reference."""
        table = self.page.shown_table
        if table is not None:
            self._put(table, without_row(table, row))

    def remove_table(self) -> None:
        """Remove the table that is shown."""
        table = self.page.shown_table
        if table is not None and not self.page.is_proposed:
            self._put(table, None)

    def show_problem(self) -> None:
        """Show the table of the first problem; once more, of the next."""
        page = self.page
        found = dict.fromkeys(one.place.partition(": ")[2].partition(".")[0] for one in page.problems)
        names = [name for name in found if page.model.table(name) is not None]
        if names:
            at = names.index(page.shown) + 1 if page.shown in names else 0
            page.show_table(names[at % len(names)])

    def _add(self, path: str) -> None:
        table = self.page.shown_table
        if table is not None:
            self._put(table, with_column(self._project.value, table, path))

    def _put(self, before: Table, after: Table | None) -> None:
        model = self.page.model
        changed = with_table(model, before.name, after)
        if changed != model and not self._project.refuses_now():
            self._project.do(SetModel(changed))

    # loads

    def load(self, *, is_dry: bool = False) -> None:
        """Load what the fields say, or only find out what that would do."""
        workbench, panel = self._project.workbench, self.page.load
        if workbench is None or self._spark.is_running or not panel.load.isEnabled():
            return
        request = panel.request(self._spark_target(), self._project.looks_back)
        if not is_dry and not self._agrees(request):
            return
        self._loading, self._is_dry, self._loaded_place = workbench, is_dry, panel.place
        panel.say("planning" if is_dry else "loading", "accent", "")
        self._spark.load(workbench, request, panel.target_text, self.page.model.name, is_dry=is_dry)

    def _agrees(self, request: RunRequest) -> bool:
        """Ask once with what is published, before messages go into a target of production."""
        live, panel = self.page.load.mode.live, self.page.load
        if live is None:
            return True
        lines = (
            f"It goes by {published_words(live)}: confirmed blocks only.",
            f"From {request.source.address}",
            f"Into {panel.target_text}",
            f"On {request.spark}",
            _ENDS_WITH_WINDOW,
        )
        answers = [("load", "Load production"), ("cancel", "Cancel")]
        return dialogs.ask("Load production?", "\n".join(lines), answers, self._context.window) == "load"

    def _show_live(self, _what: object = None) -> None:
        self.page.load.mode.show_live(self._live.state)

    def plan(self) -> None:
        """Find out what a load of what the fields say would do."""
        self.load(is_dry=True)

    def audit(self) -> None:
        """Prove that the target is right, off the window's thread."""
        workbench, target, model = self._project.workbench, self.page.load.target_text, self.page.model.name
        if workbench is None or not self.page.load.audit.isEnabled():
            return

        mode, self._proved_place = self.page.load.mode.mode, self.page.load.place
        self.page.load.say("auditing", "accent", "Every row is made anew and compared.")
        task = partial(_audit, workbench, target, model, mode)
        self._proving.start(
            "Audit of the warehouse", task, self._audited, cost="It only looks, so that nothing is lost if you stop it."
        )

    def rebuild(self) -> None:
        """Make the tables of the target anew, off the window's thread."""
        workbench, target, model = self._project.workbench, self.page.load.target_text, self.page.model.name
        if workbench is None or not self.page.load.rebuild.isEnabled():
            return

        mode, self._proved_place = self.page.load.mode.mode, self.page.load.place
        self.page.load.say("rebuilding", "accent", "Every table is made anew from the histories.")
        task = partial(_rebuild, workbench, target, model, mode)
        cost = f"If you stop it, the tables in {target} stay as they were."
        self._proving.start("Rebuild of the warehouse", task, self._rebuilt, cost=cost)

    def show_sql(self) -> None:
        """Show the statements of a load."""
        name = self.page.model.name
        if name:
            self._reading.start("Planning a load", partial(_plan, self._project.value, name), self._planned)

    def _planned(self, outcome: JobOutcome[list[str]]) -> None:
        if outcome.value is not None:
            name = self.page.model.name
            dialogs.show_about(self._project, SqlDialog(name, outcome.value, self._context.window))
        elif outcome.error is not None:
            self._refuse(outcome.error)

    def _loaded(self, outcome: JobOutcome[LoadedRun]) -> None:
        workbench, self._loading = self._loading, None
        panel = self.page.load
        if workbench is None or workbench is not self._project.workbench:
            return
        if outcome.value is not None:
            panel.show_load(outcome.value.load, self._loaded_place, is_dry=self._is_dry)
        elif outcome.error is not None:
            panel.say("failed", "bad", dialogs.in_one_line(outcome.error))
        else:
            panel.say("stopped", "plain", "Nothing of it is in the target.")

    def _audited(self, outcome: JobOutcome[AuditReport]) -> None:
        panel = self.page.load
        if outcome.value is not None:
            panel.show_audit(outcome.value, self._proved_place)
        elif outcome.error is not None:
            panel.say("not audited", "bad", dialogs.in_one_line(outcome.error))
        else:
            panel.say("stopped", "plain", "The target was not proved to be right or wrong.")

    def _rebuilt(self, outcome: JobOutcome[LoadReport]) -> None:
        if outcome.value is not None:
            self.page.load.show_load(outcome.value, self._proved_place)
        elif outcome.error is not None:
            self.page.load.say("not rebuilt", "bad", dialogs.in_one_line(outcome.error))
        else:
            self.page.load.say("stopped", "plain", "The tables stay as they were.")

    # all else

    def _refuse(self, error: Exception) -> None:
        self._context.notify(str(error), is_good=False)

    def _folder(self) -> str:
        workbench = self._project.workbench
        return str(workbench.path.parent) if workbench is not None else ""

    def _connect(self) -> None:
        page, panel = self.page, self.page.panel
        panel.empty.propose_wanted.connect(self.propose)
        panel.empty.import_wanted.connect(self.bring)
        panel.line.bring.clicked.connect(self.bring)
        panel.line.export.clicked.connect(self.export)
        panel.line.dictionary.clicked.connect(self.write_dictionary)
        panel.line.sql.clicked.connect(self.show_sql)
        panel.line.model_chosen.connect(self.choose_model)
        panel.line.problems_wanted.connect(self.show_problem)
        page.star.picked.connect(self.pick)
        page.star.accepted.connect(self._accept_box)
        page.star.arranged.connect(self._keep_places)
        page.table.table_chosen.connect(page.show_table)
        page.table.accept_wanted.connect(self.accept)
        page.table.column_wanted.connect(self.add_column)
        page.table.table_removal_wanted.connect(self.remove_table)
        page.table.removal_wanted.connect(self.remove)
        page.table.model.changed.connect(self.change)
        page.load.load_wanted.connect(self.load)
        page.load.plan_wanted.connect(self.plan)
        page.load.stop_wanted.connect(self._spark.stop)
        page.load.audit_wanted.connect(self.audit)
        page.load.rebuild_wanted.connect(self.rebuild)
        page.load.followed.connect(self._follow)
        page.load.offered.connect(self._context.actions.refresh)
        self._spark.busy.connect(page.load.show_busy)
        self._spark.loaded.connect(self._loaded)
        self._spark.load_progressed.connect(page.load.show_progress)
        self._project.opened.connect(self._opened)
        self._project.opened.connect(self._show_live)
        self._live.changed.connect(self._show_live)
        self._project.looked.connect(self._updater.schedule)

    def _follow(self, found: str | FoundRows) -> None:
        """Show the table of what was found, and rows that an audit found something in."""
        table, keys = (found, ()) if isinstance(found, str) else (found.table, found.keys)
        if self.page.model.table(table) is not None:
            self.page.show_table(table)
            self.timelines.show_rows(table, keys)

    def _accept_box(self, key: str) -> None:
        self.pick(key)
        self.accept()


# Tasks of jobs. What they import would keep the window from being shown: parsers of SQL and YAML, and the database.


def _find(document: Document, model: Model, _watch: Watch) -> ModelFindings:
    from metl_gui.workbench.warehouse.models import check_models

    return ModelFindings(document, model, check_models(document, model.name).problems, proposed_tables(document, model))


def _propose(document: Document, name: str, _watch: Watch) -> Model:
    from metl_gui.workbench.warehouse.models import proposal

    return proposal(document, name)


def _read(path: Path, _watch: Watch) -> Model:
    from metl_gui.workbench.warehouse.models import model_in

    return model_in(path)


def _export(workbench: Workbench, path: Path, name: str, _watch: Watch) -> ModelExport:
    from metl_gui.workbench.warehouse.models import export_model

    return export_model(workbench, path, name)


def _describe(document: Document, path: Path, name: str, moved: Places, watch: Watch) -> WarehouseDocs:
    from metl_gui.workbench.exports.warehouse_page import write_warehouse_page

    return write_warehouse_page(document, path, name, moved, watch)


def _audit(workbench: Workbench, target: str, model: str, mode: str, _watch: Watch) -> AuditReport:
    from metl_gui.workbench.loads.warehouse_loads import audit_warehouse

    return audit_warehouse(workbench, target, model, mode)


def _rebuild(workbench: Workbench, target: str, model: str, mode: str, watch: Watch) -> LoadReport:
    from metl_gui.workbench.loads.warehouse_loads import rebuild_warehouse

    return rebuild_warehouse(workbench, target, model, watch, mode)


def _plan(document: Document, model: str, _watch: Watch) -> list[str]:
    from metl_gui.workbench.loads.warehouse_loads import plan_sql

    return plan_sql(document, model)
