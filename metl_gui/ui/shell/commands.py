"""What the actions of the window do beside plain edits: open, export, remove, name."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import PySide6
from PySide6.QtCore import QObject, Qt, qVersion
from PySide6.QtWidgets import QFileDialog

from metl_gui import __version__
from metl_gui.core.changes.draft import perform
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.errors import EditError, ProjectLockedError, UserError
from metl_gui.ui.jobs.jobs import JobOutcome
from metl_gui.ui.palette.dialog import Glossary, Palette, PaletteEntry, entries_of
from metl_gui.ui.project.text import version_words
from metl_gui.ui.shell.projects import PreparedProject
from metl_gui.ui.shell.shutdown import closing, opening
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show
from metl_gui.workbench.demo.sample import fresh_copy
from metl_gui.workbench.publishing.publication import live_state, published_states
from metl_gui.workbench.review.assignments import checked_name
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window
    from metl_gui.workbench.exports.files import ExportResult

T = TypeVar("T")

_PROJECTS = "METL projects (*.metl)"
_ENDING = ".metl"
_SHOWN = 8


class WindowCommands(QObject):
    """The commands of one window."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._project = window.project

    def new_project(self) -> None:
        """Ask for a name and make an empty project."""
        name, _ = QFileDialog.getSaveFileName(self._window, "New project", str(Path.home() / "mapping.metl"), _PROJECTS)
        if name:
            path = _as_project(name)
            self._start_opening(path, lambda _watch: Workbench.create(path), self._opened)

    def ask_and_open(self) -> None:
        """Ask for a project and open it."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Open a project", str(Path.home()), _PROJECTS)
        if name:
            self.open(Path(name))

    def open(self, path: Path, for_editing: bool = True, take_over: bool = False) -> None:
        """Open a project; where somebody else edits it, ask how."""
        path = path.absolute()  # it is remembered, and the next window may be started in another folder
        current = self._project.workbench
        if current is not None and current.is_for_editing and current.path.resolve() == path.resolve():
            self._window.show_page(0)  # it is open here; nobody else holds it
            return

        def done(outcome: JobOutcome[PreparedProject]) -> None:
            if isinstance(outcome.error, ProjectLockedError):
                self._ask_how(path, outcome.error)
            else:
                self._opened(outcome)

        self._start_opening(
            path, lambda watch: Workbench.open(path, for_editing, take_over=take_over, watch=watch), done
        )

    def open_sample(self) -> None:
        """Open a fresh copy of the sample project."""

        def make(watch: Watch) -> Workbench:
            return Workbench.open(fresh_copy(watch=watch).project)

        self._start_opening(Path("the sample project"), make, self._opened)

    def save_copy(self) -> None:
        """Ask for a name and save the project under it as it is here, even if its own file is gone."""
        workbench = self._project.workbench
        if workbench is None:
            return
        start = str(workbench.path.with_name(f"{workbench.path.stem} copy{workbench.path.suffix}"))
        name, _ = QFileDialog.getSaveFileName(self._window, "Save a copy as", start, _PROJECTS)
        if not name:
            return
        path = _as_project(name)

        def done(outcome: JobOutcome[bool]) -> None:
            self._failed_only(outcome)
            if outcome.value is not None:
                rest = "" if outcome.value else " Its history and comments went with the file that was overwritten."
                self._window.notify(f"{path.name} is a copy of this project.{rest}", "Open it", lambda: self.open(path))

        self._window.jobs.start("Saving a copy", lambda _watch: workbench.save_copy(path), done)

    def close_project(self) -> None:
        """Close the project; how it was looked at is kept."""
        workbench = self._project.workbench
        if workbench is not None:
            self._window.leaving.before(closing(workbench.path.stem), self._window.projects.close)

    def ask_and_export(self) -> None:
        """Ask for a format and a place, and export what is published."""
        from metl_gui.ui.exports.dialog import ExportDialog

        workbench = self._project.workbench
        if workbench is None:
            return
        live = live_state(workbench)
        if live is None:
            publish = self._window.actions_table["publish"]
            text = "Nothing is published yet, and exports take what is."
            self._window.notify(text, "Publish…", publish.trigger, is_good=False)
            return
        others = sorted(published_states(workbench), key=lambda named: -named.state)
        states = [live, *(each for each in others if each.state != live.state)]
        name, folder = self._window.settings.last_export
        place = Path(folder) if folder and Path(folder).is_dir() else self._project.folder
        dialog = ExportDialog(workbench, states, self._window.jobs, place, name, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.exported.connect(self._exported)
        self._project.opened.connect(dialog.close)
        dialog.open()

    def export_picture(self) -> None:
        """Ask for a place, and save a picture of the matrix that is worked in."""
        from metl_gui.ui.exports.picture import export_picture

        export_picture(self._window.context, self._window.map.sides.worked_in)

    def remove_version(self) -> None:
        """Remove the selected version, that of the side chosen last where both have one, after naming what goes."""
        versions = ((side, place.version) for side, place in self._window.selection.places)
        edit = next((RemoveVersion(side, version) for side, version in versions if version is not None), None)
        if edit is None:
            self._say("No version is selected.", "Select a version in one of the trees first.")
            return
        document = self._project.value
        words = version_words(document, edit.side, edit.version_id)
        text = f"{_removal_words(document, edit)}. It can be undone."
        answers = [("remove", "Remove it"), ("cancel", "Cancel")]
        if dialogs.ask(f"Remove {words}?", text, answers, self._window) == "remove":
            self._project.do(edit)

    def confirm_smaller(self) -> None:
        """Confirm every waiting block that became smaller, after naming how many."""
        items = [item for item in self._project.review_items() if item.block.verdict.value == "smaller"]
        lost = sum(len(item.losses) for item in items)
        if not items:
            self._say("No block waits that became smaller.", "")
            return
        blocks = number_of(len(items), "block")
        answers = [("confirm", f"Confirm {blocks}"), ("cancel", "Cancel")]
        text = f"{number_of(lost, 'lost element')} will stay empty."
        if dialogs.ask(f"Confirm {blocks} that became smaller?", text, answers, self._window) == "confirm":
            edits = tuple(ConfirmBlock(item.key) for item in items)
            self._project.do(CompositeEdit(f"Confirm all {len(items)} blocks that are smaller", edits))

    def name_state(self) -> None:
        """Give the state that is meant in the history, or else the one that is shown, a name."""
        workbench, meant = self._project.workbench, self._window.history.meant
        if workbench is None:
            return
        state = self._project.value.state if meant is None else meant
        words = f"Name of state {state:,}, as the history shows it."
        name = ""
        while name := dialogs.ask_text("Name this state", words, "Name it", self._window, name):
            try:
                workbench.name_state(state, checked_name(name))
                break
            except EditError as error:
                dialogs.tell(error, self._window)  # and ask again, with what was typed
            except UserError as error:
                dialogs.tell(error, self._window)
                break
        self._window.history.refresh()

    def show_palette(self) -> None:
        """Ask what to do among everything that makes sense now, and do it."""
        window = self._window
        palette = Palette(self.palette_entries(), window.settings.recent_actions, window)
        palette.place_over(window)
        palette.chosen.connect(self._do_entry, Qt.ConnectionType.QueuedConnection)
        show(palette)

    def palette_entries(self) -> tuple[PaletteEntry, ...]:
        """Collect what the palette offers now."""
        window = self._window
        return entries_of(window.actions_table, window.stack.currentWidget(), self.show_glossary)

    def show_keys(self) -> None:
        """Show the sheet of keys."""
        from metl_gui.ui.actions.shortcut_sheet import KeySheet

        show(KeySheet(self._window.actions_table.keymap, self._window))

    def change_keys(self) -> None:
        """Show the dialog in which actions get other keys."""
        from metl_gui.ui.actions.shortcut_sheet import KeysDialog

        show(KeysDialog(self._window.actions_table.keymap, self._window))

    def show_glossary(self, word: str = "") -> None:
        """Show the words of the program, or one of them."""
        show(Glossary(word, self._window))

    def show_about(self) -> None:
        """Say what this is."""
        text = (
            "Maps the schemas of many services to one canonical data model, keeps the mapping when they change, "
            "and runs it on Spark.\n\n"
            f"Qt {qVersion()}, PySide {PySide6.__version__}, Python {platform.python_version()}.\n"
            "Apache License 2.0. The idea is from “METL - a modern ETL pipeline with a dynamic mapping matrix” "
            "(Haase, Röseler, Seidel, 2022)."
        )
        self._say(f"METL Workbench {__version__}", text)

    def _do_entry(self, entry: PaletteEntry) -> None:
        self._window.settings.remember_action(entry.id)
        entry.does()

    def _start_opening(
        self, path: Path, make: Callable[[Watch], Workbench], done: Callable[[JobOutcome[PreparedProject]], None]
    ) -> None:
        """Open a project in the place of the one in front, whose run is asked about first."""
        self._window.leaving.before(opening(path.stem), lambda: self._window.opening.start(path, make, done))

    def _opened(self, outcome: JobOutcome[PreparedProject]) -> None:
        prepared = outcome.value
        if prepared is not None:  # a run may have been started since
            workbench = prepared.workbench
            self._window.leaving.before(
                opening(workbench.path.stem),
                lambda: self._window.show_project(workbench, prepared),
                otherwise=workbench.close,
            )
        self._failed_only(outcome)

    def _ask_how(self, path: Path, error: ProjectLockedError) -> None:
        title, text = dialogs.words_of(error)
        answers = [("read", "Open read only"), ("take", "Take over"), ("cancel", "Cancel")]
        answer = dialogs.ask(title, text, answers, self._window)
        if answer != "cancel":
            self.open(path, for_editing=answer == "take", take_over=answer == "take")

    def _exported(self, done: ExportResult) -> None:
        self._window.settings.remember_export(done.format, done.path.parent)

    def _failed_only(self, outcome: JobOutcome[Any]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._window)

    def _say(self, title: str, text: str) -> None:
        dialogs.ask(title, text, [("close", "Close")], self._window)


def _as_project(name: str) -> Path:
    """Return the file that a name stands for; a dot in it does not begin another ending."""
    path = Path(name)
    return path.with_suffix(_ENDING) if path.suffix.lower() == _ENDING else Path(f"{name}{_ENDING}")


def _removal_words(document: Document, edit: RemoveVersion) -> str:
    """Say what removing a version takes with it, and which blocks the version below takes over."""
    done = perform(document, edit)
    carried = [change.after for change in done.change.blocks if change.after is not None]
    elements = document.matrix.ones - done.after.matrix.ones
    if carried:
        held = sum(len(block.elements) for block in carried)
        below = version_words(done.after, edit.side, carried[0].entity_version)
        kept = f"{number_of(len(carried), 'block')} with {number_of(held, 'element')}"
        gone = f"; {number_of(elements, 'element')} {'goes' if elements == 1 else 'go'}" if elements > 0 else ""
        return f"{kept} {'is' if len(carried) == 1 else 'are'} carried to {below}{gone}"
    blocks = document.matrix.block_count - done.after.matrix.block_count
    if not blocks:
        return "Nothing is mapped in it"
    return f"{number_of(blocks, 'block')} with {number_of(elements, 'element')} go with it"
