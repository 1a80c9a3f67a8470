"""Files that come to the window: looked at in a job, shown on the sheet, used as its buttons say.

``InterruptedImport`` says that an import was interrupted, and goes on with it or forgets it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt
from PySide6.QtGui import QGuiApplication

from metl_gui.core.progress import Watch
from metl_gui.core.project.pending_imports import Remainder
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.drop.dry_run import DryRunController
from metl_gui.ui.drop.sheet import Act, DropOffer, DroppedPart, DropSheet, parts_of, refusal_words
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.text import number_of
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show
from metl_gui.workbench.importing.dropped_files import RecognizedFiles, recognize
from metl_gui.workbench.importing.schema_import import remainders, words
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window


_NO_PROJECT = "Open or make a project first, then drop them again."
_MOST_REFUSED = 8
_MOST_PASTED = 10_000


class DropController(QObject):
    """What comes to one window."""

    trials: DryRunController

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._found = RecognizedFiles()
        self._looking = NewestJob(window.jobs, self)
        self.trials = DryRunController(window)

    def paste(self) -> None:
        """Look at files that were copied in a file manager, or whose paths were copied as text."""
        paths = files_in(QGuiApplication.clipboard().mimeData())
        if paths:
            self.look_at(paths)
        else:
            self._window.notify("No files were copied: copy some in a file manager, or copy their paths.")

    def look_at(self, paths: list[Path]) -> None:
        """Find out what files are, and show it."""
        window = self._window
        document = window.project.value
        workbench = window.project.workbench
        why_not = window.project.why_not if workbench is not None else _NO_PROJECT
        aside = window.jobs.worker.call

        def task(watch: Watch) -> tuple[RecognizedFiles, tuple[DroppedPart, ...]]:
            found = aside(partial(recognize, tuple(paths)), watch)
            return found, parts_of(found, document, why_not, workbench is not None)

        self._looking.start("Looking at what was dropped", task, self._show)

    def _show(self, outcome: JobOutcome[tuple[RecognizedFiles, tuple[DroppedPart, ...]]]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._window)
        if outcome.value is None:
            return
        self._found, parts = outcome.value
        sheet = DropSheet(parts, refusal_words(self._found, _MOST_REFUSED), self._window)
        sheet.wanted.connect(self._do, Qt.ConnectionType.QueuedConnection)
        show(sheet)

    def _do(self, offer: DropOffer) -> None:
        commands, window = self._window.commands, self._window
        match offer.act:
            case Act.OPEN if offer.path is not None:
                commands.open(offer.path)
            case Act.ADD_EXTRACTION:
                commands.add_schemas(Side.EXTRACTION, self._found)
            case Act.ADD_CDM:
                commands.add_schemas(Side.CDM, self._found)
            case Act.ONLY_TRY:
                self.trials.try_reading(self._found.schemas)
            case Act.ADD_FROM_MESSAGES:
                commands.import_schemas(Side.EXTRACTION, list(self._found.messages))
            case Act.ADD_TABLE if offer.path is not None:
                commands.import_table(offer.path)
            case Act.READ_ANSWERS if offer.path is not None:
                window.show_page(1)
                window.review_commands.read(offer.path)
            case Act.USE | Act.TRY:
                window.show_page(2 if offer.act is Act.TRY else 0)
                window.run_page.setup.source.setText(self._found.message_source)
                if offer.act is Act.TRY:
                    window.run()
                else:
                    window.preview.keep(self._found.message_source)
            case _:
                return


def files_in(data: QMimeData | None) -> list[Path]:
    """Return the files that dragged or copied data names: as addresses, or as paths one on each line."""
    if data is None:
        return []
    if data.hasUrls():
        return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]
    lines = data.text()[: _MOST_PASTED * 100].splitlines()[:_MOST_PASTED] if data.hasText() else []
    paths = [Path(line.strip().strip("\"'")).expanduser() for line in lines if line.strip()]
    return paths if paths and all(_is_file_path(path) for path in paths) else []


def _is_file_path(path: Path) -> bool:
    try:
        return path.is_absolute() and path.exists()
    except (OSError, ValueError):
        return False


class InterruptedImport(QObject):
    """What imports into the project of one window have still to add."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._looking = NewestJob(window.jobs, self)
        self.left: tuple[Remainder, ...] = ()
        window.project.opened.connect(self._opened)

    @property
    def is_there(self) -> bool:
        """Whether something is left to do."""
        return bool(self.left)

    def look(self) -> None:
        """Find out what is left, and say it."""
        workbench = self._window.project.workbench
        if workbench is not None and workbench.is_for_editing and workbench.kept.pending_imports.all():
            self._looking.start("Looking at an interrupted import", lambda _watch: remainders(workbench), self._say)
        else:
            self._keep(())

    def forget(self) -> None:
        """Let it go; what was added stays."""
        workbench = self._window.project.workbench
        if workbench is None:
            return
        count = sum(len(left.declarations) for left in self.left)
        for left in self.left:
            workbench.kept.pending_imports.end(left.began.id)
        self._keep(())
        self._window.notify(f"{number_of(count, 'version')} of the interrupted import will not be added.")

    def _opened(self, workbench: Workbench | None) -> None:
        self._looking.cancel()
        self._keep(())
        if workbench is not None:
            self.look()

    def _say(self, outcome: JobOutcome[tuple[Remainder, ...]]) -> None:
        self._keep(outcome.value or ())
        for left in self.left:
            self._window.notify(words(left), "Go on", self._window.commands.resume_imports, is_good=False)

    def _keep(self, left: tuple[Remainder, ...]) -> None:
        self.left = left
        self._window.actions_table.refresh()
