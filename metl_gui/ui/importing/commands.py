"""The commands that import schemas and mapping tables, and what interrupted imports have still to add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from metl_gui.core.counted import number_of
from metl_gui.core.edits.unmapped_versions import plan_like_others
from metl_gui.core.project.pending_imports import Remainder
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.project.table_columns import TableColumns
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.importing.column_dialog import ColumnDialog
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.text import some_lines
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.workbench.importing.foreign_table import ForeignTable, foreign_table
from metl_gui.workbench.importing.remote_sources import EVERYTHING, ImportFilter
from metl_gui.workbench.importing.schema_import import (
    ImportResult,
    add_reading,
    added_ids,
    import_sources,
    remainders,
    resume,
    words,
)
from metl_gui.workbench.mapping.table import ColumnTable, MapResult, import_mapping
from metl_gui.workbench.session import EditOrigin, Workbench

_SHOWN = 8
_TABLE_FILES = "Mapping tables (*.csv *.tsv *.xlsx)"
_SCHEMAS = "Import of schemas"
_GOES_ON = "If you stop it, what it has added stays, and the project offers to go on with it."
_NOTHING = "If you stop it, none of the table is in the project."


class ImportCommands(QObject):
    """The imports of one window.

    Signals:
        like_others: ids of versions that are to be mapped like the others of their schemas.
    """

    like_others = Signal(object)

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.window)
        self._context, self._project = context, context.project
        self._reading = NewestJob(context.jobs, self)
        context.project.opened.connect(self._reading.cancel)
        self.interrupted = InterruptedImport(context, self.resume)

    def ask_and_import(self, side: Side) -> None:
        """Ask for schema files and import them."""
        title = "Extraction schemas" if side is Side.EXTRACTION else "Canonical model"
        names, _ = QFileDialog.getOpenFileNames(self._context.window, f"{title} to import", str(self._project.folder))
        if names:
            self.import_schemas(side, [Path(name) for name in names])

    def ask_and_import_folder(self) -> None:
        """Ask for a folder of extraction schemas and import everything in it that can be read."""
        name = QFileDialog.getExistingDirectory(
            self._context.window, "Folder of extraction schemas", str(self._project.folder)
        )
        if name:
            self.import_schemas(Side.EXTRACTION, [Path(name)])

    def import_schemas(self, side: Side, sources: Sequence[Path | str], choice: ImportFilter = EVERYTHING) -> None:
        """Import files and folders of schemas, or what is chosen of registries and databases; update at once."""
        workbench = self._project.workbench
        aside = self._context.jobs.worker.call
        if workbench is not None:
            self._context.writer.start(
                _SCHEMAS,
                lambda watch: import_sources(
                    workbench, side, sources, door=EditOrigin.WINDOW, watch=watch, aside=aside, choice=choice
                ),
                self._imported,
                _GOES_ON,
            )

    def add_schemas(self, side: Side, reading: ReaderResult) -> None:
        """Add schemas that were read from dropped files."""
        workbench = self._project.workbench
        if workbench is not None:
            self._context.writer.start(
                _SCHEMAS,
                lambda watch: add_reading(workbench, side, reading, EditOrigin.WINDOW, watch),
                self._imported,
                _GOES_ON,
            )

    def resume(self) -> None:
        """Go on with imports that were interrupted."""
        workbench = self._project.workbench
        if workbench is not None:
            self._context.writer.start(_SCHEMAS, lambda watch: resume(workbench, watch), self._imported, _GOES_ON)

    def ask_and_import_table(self) -> None:
        """Ask for a mapping table and add its elements."""
        name, _ = QFileDialog.getOpenFileName(
            self._context.window, "Mapping table", str(self._project.folder), _TABLE_FILES
        )
        if name:
            self.import_table(Path(name))

    def import_table(self, path: Path) -> None:
        """Add the elements of a mapping table; of one of another shape ask first which column is what."""
        document = self._project.value
        self._reading.start(
            f"Looking at {path.name}",
            lambda _watch: foreign_table(path, document),
            lambda outcome: self._take_table(path, outcome),
        )

    def _take_table(self, path: Path, outcome: JobOutcome[ForeignTable | None]) -> None:
        self._tell_error(outcome)
        if outcome.value is not None:
            dialog = ColumnDialog(outcome.value, self._context.window)
            dialog.wanted.connect(lambda columns: self._add_table(path, columns))
            show_about(self._project, dialog)
        elif outcome.error is None and not outcome.is_cancelled:
            self._add_table(path)

    def _add_table(self, path: Path, columns: TableColumns | None = None) -> None:
        workbench = self._project.workbench
        if workbench is not None:
            table = path if columns is None else ColumnTable(path, columns)
            self._context.writer.start(
                "Import of a mapping table",
                lambda watch: import_mapping(workbench, table, door=EditOrigin.WINDOW, watch=watch),
                self._mapped,
                _NOTHING,
            )

    def _imported(self, outcome: JobOutcome[ImportResult]) -> None:
        self._project.catch_up()
        self._tell_error(outcome)
        result = outcome.value
        self.interrupted.look()
        if result is None:
            return
        added, waiting = len(result.added), result.needs_review
        title = f"{number_of(added, 'version')} added"
        if result.unchanged:
            title += f", {len(result.unchanged):,} {'were' if len(result.unchanged) != 1 else 'was'} there already"
        if result.refused:
            lines = (f"Refused: {refused.source}: {refused.reason}" for refused in result.refused)
            text = "\n".join(some_lines(lines, _SHOWN))
            told = f"{title}. {number_of(len(result.refused), 'source')} refused."
            self._context.notify(told, "See why", lambda: self._say(title, text), is_good=False)
        elif waiting:
            title += f". {waiting:,} decision{'s wait' if waiting != 1 else ' waits'}."
            self._context.notify(title, "Review now", self._show_review, is_good=False)
        else:
            self._offer(f"{title}.", result)

    def _offer(self, title: str, result: ImportResult) -> None:
        """Tell what was added, with the way to map it where there is one: like other versions, or by suggestions."""
        document, notify = self._project.value, self._context.notify
        new = added_ids(document, result)
        like = plan_like_others(document, new).versions
        is_mapped = any(block.elements for version in new for block in document.matrix.column_set(version))
        is_bulk = len(result.added) > 1 or not document.matrix.ones
        if like:
            words = f"{title} {like:,} can be mapped as another version of the schema is."
            notify(words, "Map likewise", lambda: self.like_others.emit(new))
        elif result.added and is_bulk and not is_mapped and all(document.tree(side).schemas() for side in Side):
            notify(title, "See suggestions", self._context.actions["project_suggestions"].trigger)
        else:
            notify(title)

    def _mapped(self, outcome: JobOutcome[MapResult]) -> None:
        self._project.catch_up()
        self._tell_error(outcome)
        result = outcome.value
        if result is None:
            return
        if result.conflicts:
            lines = (f"Line {conflict.line}: {conflict.reason}" for conflict in result.conflicts)
            title = f"Nothing was written: {number_of(len(result.conflicts), 'line')} cannot be followed"
            self._say(title, "\n".join(some_lines(lines, _SHOWN)))
        else:
            already = f" {result.unchanged:,} were set already." if result.unchanged else ""
            told = f"{number_of(result.set, 'element')} set.{already}"
            if not result.left:
                self._context.notify(told)
                return
            text = "\n".join(some_lines((f"Line {left.words}" for left in result.left), _SHOWN))
            count = number_of(len(result.left), "element")
            self._context.notify(
                f"{told} {count} left.", "See why", lambda: self._say(f"{count} of ranges of versions left", text)
            )

    def _show_review(self) -> None:
        self._context.navigate.show_page(PAGES.index("Review"))

    def _tell_error(
        self, outcome: JobOutcome[ImportResult] | JobOutcome[MapResult] | JobOutcome[ForeignTable | None]
    ) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)

    def _say(self, title: str, text: str) -> None:
        dialogs.ask(title, text, [("close", "Close")], self._context.window)


class InterruptedImport(QObject):
    """What imports into the project of one window have still to add.

    Args:
        resume: goes on with them.
    """

    def __init__(self, context: AppContext, resume: Callable[[], None]) -> None:
        super().__init__(context.window)
        self._context, self._resume = context, resume
        self._looking = NewestJob(context.jobs, self)
        self.left: tuple[Remainder, ...] = ()
        context.project.opened.connect(self._opened)

    @property
    def is_there(self) -> bool:
        """Whether something is left to do."""
        return bool(self.left)

    def look(self) -> None:
        """Find out what is left, and say it."""
        workbench = self._context.project.workbench
        if workbench is not None and workbench.is_for_editing and workbench.kept.pending_imports.all():
            self._looking.start("Looking at an interrupted import", lambda _watch: remainders(workbench), self._say)
        else:
            self._keep(())

    def forget(self) -> None:
        """Let it go; what was added stays."""
        workbench = self._context.project.workbench
        if workbench is None:
            return
        count = sum(len(left.declarations) for left in self.left)
        for left in self.left:
            workbench.kept.pending_imports.end(left.began.id)
        self._keep(())
        self._context.notify(f"{number_of(count, 'version')} of the interrupted import will not be added.")

    def _opened(self, workbench: Workbench | None) -> None:
        self._looking.cancel()
        self._keep(())
        if workbench is not None:
            self.look()

    def _say(self, outcome: JobOutcome[tuple[Remainder, ...]]) -> None:
        self._keep(outcome.value or ())
        for left in self.left:
            self._context.notify(words(left), "Go on", self._resume, is_good=False)

    def _keep(self, left: tuple[Remainder, ...]) -> None:
        self.left = left
        self._context.actions.refresh()
