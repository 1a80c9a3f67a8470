"""Files that come to the window: looked at in a job, shown on the sheet, used as its buttons say."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.drop.dry_run import DryRunController
from metl_gui.ui.drop.sheet import Act, DropOffer, DroppedPart, DropSheet, parts_of, refusal_words
from metl_gui.ui.importing.commands import ImportCommands
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show
from metl_gui.workbench.importing.dropped_files import RecognizedFiles, recognize

_NO_PROJECT = "Open or make a project first, then drop them again."
_MOST_REFUSED = 8
_MOST_PASTED = 10_000


class DropController(QObject):
    """What comes to one window.

    Signals:
        project_wanted: the path of a project to open.
        answers_wanted: the path of an answer sheet to read.
        messages_wanted: the source of messages to read samples from.
        run_wanted: the source of messages to map in a test run.
    """

    project_wanted = Signal(object)
    answers_wanted = Signal(object)
    messages_wanted = Signal(object)
    run_wanted = Signal(object)

    def __init__(self, context: AppContext, imports: ImportCommands) -> None:
        super().__init__(context.window)
        self._context, self._imports = context, imports
        self._found = RecognizedFiles()
        self._onto: Side | None = None
        self._looking = NewestJob(context.jobs, self)
        self.trials = DryRunController(context, imports)

    def paste(self) -> None:
        """Look at files that were copied in a file manager, or whose paths were copied as text."""
        paths = files_in(QGuiApplication.clipboard().mimeData())
        if paths:
            self.look_at(paths)
        else:
            self._context.notify("No files were copied: copy some in a file manager, or copy their paths.")

    def look_at(self, paths: list[Path], onto: Side | None = None) -> None:
        """Find out what files are, and show it.

        Args:
            paths: the files and folders.
            onto: the tree that they were dropped on, which schemas go to then; ``None`` for the likelier one.
        """
        project = self._context.project
        document, workbench = project.value, project.workbench
        why_not = project.why_not if workbench is not None else _NO_PROJECT
        aside = self._context.jobs.worker.call

        def task(watch: Watch) -> tuple[RecognizedFiles, tuple[DroppedPart, ...]]:
            found = aside(partial(recognize, tuple(paths)), watch)
            return found, parts_of(found, document, why_not, workbench is not None, onto)

        self._onto = onto
        self._looking.start("Looking at what was dropped", task, self._show)

    def _show(self, outcome: JobOutcome[tuple[RecognizedFiles, tuple[DroppedPart, ...]]]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)
        if outcome.value is None:
            return
        self._found, parts = outcome.value
        sheet = DropSheet(parts, refusal_words(self._found, _MOST_REFUSED), self._context.window)
        sheet.wanted.connect(self._do, Qt.ConnectionType.QueuedConnection)
        show(sheet)

    def _do(self, offer: DropOffer) -> None:
        imports, found = self._imports, self._found
        match offer.act:
            case Act.OPEN if offer.path is not None:
                self.project_wanted.emit(offer.path)
            case Act.ADD_EXTRACTION:
                imports.add_schemas(Side.EXTRACTION, found.schemas)
            case Act.ADD_CDM:
                imports.add_schemas(Side.CDM, found.schemas)
            case Act.ONLY_TRY:
                self.trials.try_reading(found.schemas, self._onto)
            case Act.TRY_MESSAGES if found.message_schemas is not None:
                self.trials.try_reading(found.message_schemas, Side.EXTRACTION)
            case Act.ADD_FROM_MESSAGES if found.message_schemas is not None:
                imports.add_schemas(Side.EXTRACTION, found.message_schemas)
            case Act.ADD_FROM_MESSAGES:
                imports.import_schemas(Side.EXTRACTION, list(found.messages))
            case Act.ADD_TABLE if offer.path is not None:
                imports.import_table(offer.path)
            case Act.READ_ANSWERS if offer.path is not None:
                self.answers_wanted.emit(offer.path)
            case Act.USE:
                self.messages_wanted.emit(found.message_source)
            case Act.TRY:
                self.run_wanted.emit(found.message_source)
            case _:
                return


def files_in(data: QMimeData | None) -> list[Path]:
    """Return the files that dragged or copied data names: as addresses, or as paths one on each line."""
    if data is None:
        return []
    if data.hasUrls():
        return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]
    lines = data.text()[: _MOST_PASTED * 100].splitlines()[:_MOST_PASTED] if data.hasText() else []
    try:
        paths = [Path(line.strip().strip("\"'")).expanduser() for line in lines if line.strip()]
    except (RuntimeError, ValueError):  # a line names the home of somebody who is not known here, or of nobody
        return []
    return paths if paths and all(_is_file_path(path) for path in paths) else []


def _is_file_path(path: Path) -> bool:
    try:
        return path.is_absolute() and path.exists()
    except (OSError, ValueError):
        return False
